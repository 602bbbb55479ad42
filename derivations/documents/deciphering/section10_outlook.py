"""Section 10: what is generally assumed, and what is new.

Claims     deciphering.s10.narrowing   what is assumed and what is new: judgements without a criterion, both open
References the second paragraph of section 10 of the document
"""

from derivations.vocabulary import *


@claim(
    "deciphering.s10.narrowing",
    "external fact",
    title="Attention narrows the search, as in humans",
    latex=r"\text{generally assumed: attention narrows the search space in transformers}",
    needs=("deciphering.s9.regular-attention",),
)
def narrowing() -> Undecidable:
    """It is said to be generally assumed that attention narrows the search in transformers as it does in humans."""
    return Undecidable(
        "what is generally assumed, without a source; by (18) it is the preference that narrows, where it is 0, "
        "and the weights of all other templates are positive"
    )


@claim(
    "deciphering.s10.novel-approach",
    "external fact",
    title="A novel approach: the local problem of a component",
    latex=r"\text{isolate a component, and ask for the local problem that it solves}",
    needs=("deciphering.s2.hopfield",),
)
def novel_approach() -> Undecidable:
    """To isolate a component and to ask which problem it solves is called a novel approach, successfully demonstrated."""
    return Undecidable(
        "a claim of priority, without a comparison: Ramsauer et al. (2021), whom the document cites, isolate "
        "attention and derive it from an energy that it lowers"
    )
