"""Section 8: what the conclusion sums up.

Claims     inference.s8.preferences   p_i ∝ w_i exp(α⟨t_i, z⟩), w > 0  ⟹  Σ_i p_i = 1, whatever makes w and z
References section 8 of the document; its first paragraph repeats the abstract
"""

from derivations.documents.deciphering.section7_attention import any_functions
from derivations.vocabulary import *

reprint(
    "inference.s8.preferences",
    of=any_functions,
    latex=r"\text{the preference weights need not be derived from positional encodings}",
)


@claim(
    "inference.s8.first-work",
    "external fact",
    title="The first principled justification",
    needs=("inference.s7.solves-the-problem",),
    latex=r"\text{the first principled justification for the design of attention modules}",
)
def first_work() -> Undecidable:
    """The document calls itself the first work to present a principled justification for attention modules."""
    return Undecidable(
        "a claim of priority without a criterion for what counts; Ramsauer et al. [20], which it cites, derives "
        "attention from an energy"
    )
