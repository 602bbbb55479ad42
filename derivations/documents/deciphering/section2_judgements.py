"""Section 2: what follows from other papers, in the document's judgement.

Claims     deciphering.s2.convex-relaxation   what other papers show, in the document's judgement: all three open
References the second and third paragraph of section 2 of the document; Sahiner et al. (2022)
"""

from derivations.vocabulary import *


@claim(
    "deciphering.s2.interpretability",
    "external fact",
    title="That weights are not unique complicates interpretability",
    latex=r"\text{non-uniqueness complicates interpretability}",
    needs=("deciphering.s2.not-identifiable",),
)
def interpretability() -> Undecidable:
    """Weights that are not identifiable are said to make attention harder to interpret."""
    return Undecidable(
        "interpretability has no measure here; that the weights are not determined by the output is "
        "deciphering.s2.not-identifiable, and the document goes on to interpret them itself"
    )


@claim(
    "deciphering.s2.convex-relaxation",
    "external fact",
    title="Sahiner et al. (2022) on convex relaxations",
    latex=r"\text{Sahiner et al. (2022): element-wise functions in place of the softmax}",
)
def convex_relaxation() -> Undecidable:
    """Another paper is said to relax attention convexly, with element-wise functions in place of the softmax."""
    return Undecidable("what a paper contains is beyond proof and code, and nothing in the document rests on it")


@claim(
    "deciphering.s2.closed-forms-in-the-limit",
    "external fact",
    title="Closed forms that need infinite width",
    latex=r"\text{width}\to\infty:\ \text{closed forms not available in the finite regime}",
    needs=("deciphering.s2.gaussian-process",),
)
def closed_forms_in_the_limit() -> Undecidable:
    """Wide networks are said to have closed-form characterizations that finite ones do not have."""
    return Undecidable(
        "the class of closed forms is not named, and the theorem behind it is one of other papers, quoted "
        "without its hypotheses"
    )
