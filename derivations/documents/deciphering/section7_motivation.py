"""Section 7: statements about T5 beside (18), and why another support may be useful.

Claims     deciphering.s7.faster-norm   T5's layer normalization does less with each number: no recentering and no bias
References "T5 transformer implicitly adopts …", footnote 9 and the end of section 7; section 9 where it repeats the last one
"""

from derivations.vocabulary import *


@claim(
    "deciphering.s7.like-the-original",
    "external fact",
    title="T5's transformers are quite similar to the original ones",
    latex=r"\text{T5}\sim\text{Vaswani et al., BERT}",
    needs=("deciphering.s7.trainable-positions", "deciphering.fn9", "deciphering.22"),
)
def like_the_original() -> Undecidable:
    """The implementation of T5's transformers is said to be quite similar to that of the original ones."""
    return Undecidable(
        "similarity has no measure here; T5 has biases on scores for sinusoids, no division by √d′, no biases "
        "of its linear maps, and a normalization before each block that only rescales"
    )


@claim(
    "deciphering.s7.faster-norm",
    "empirical",
    title="T5's normalization makes training and inference faster",
    latex=r"\text{simplified layer normalization}\implies\text{faster}",
    needs=("deciphering.fn9",),
)
def faster_norm() -> None:
    """T5's layer normalization was simplified for speed: it does less with each number."""


@claim(
    "deciphering.s7.synonyms",
    "equivalence",
    title="Synonyms should not matter, so a shared support may be undesired",
    latex=r"\text{synonyms in the source leave the target unaffected}",
    needs=("deciphering.s7.shared-support", "deciphering.s9.shares-weight"),
)
def unaffected_by_synonyms() -> Undecidable:
    """A translation should be unaffected by synonyms, it is said, which have similar templates and do not alter the meaning."""
    return Undecidable(
        "what one wishes of a translation, and a hypothesis about embeddings; what OT-based attention does for "
        "templates that are similar is deciphering.s9.shares-weight"
    )
