"""Section 10: what the conclusion sums up.

Claims     deciphering.s10.support-removed   p*(t) > 0 for every t in 𝒜, with costs in ℝ₊
           deciphering.s10.mechanism         log(p_i/p_j) = log(u_i/u_j) + α⟨t_i − t_j, z⟩
Notation   as in section9_sharing.py: N templates in 𝒜, n of them in the input, K the costs between the two
References section 10 of the document, the first paragraph of which repeats the abstract; "Broader impact" asserts
           nothing that could be checked
"""

import sympy as sp

from derivations.documents.deciphering.section7_attention import two_pieces
from derivations.documents.deciphering.section9_sharing import FINITE, all_templates, outside, positive_weight
from derivations.vocabulary import *


@claim(
    "deciphering.s10.well-explained",
    "empirical",
    title="The framework explains attention in BERT and T5 well",
    latex=r"\text{the framework explains the attention inference in BERT and T5}",
    needs=("deciphering.fig4",),
)
def well_explained() -> Undecidable:
    """The deviations are said to show that the framework explains attention in pretrained models well."""
    return Undecidable(
        "no measure of explanation is stated, and the deviation that was measured does not see the layer's "
        "output (deciphering.s8.as-a-result)"
    )


@claim(
    "deciphering.s10.support-removed",
    "inequality",
    title="Transport removes the constraint on the support",
    latex=r"p^*(t)>0\ \forall t\in\mathcal A",
    hypotheses=(FINITE,),
    needs=("deciphering.s9.all-templates", "deciphering.s9.regular-attention"),
)
def support_removed() -> Steps:
    """Templates that the preference leaves out get no weight from the divergence, and some from transport."""
    yield outside(sp.S.Zero)
    yield positive_weight(sp.S.Zero)


for name, wrong in all_templates.twins.items():
    support_removed.twin(name, wrong)

reprint(
    "deciphering.s10.mechanism",
    of=two_pieces,
    latex=r"\text{a preference over the templates, adjusted by a noisy estimate of the mean's shift}",
)


@claim(
    "deciphering.s10.justification",
    "equivalence",
    title="A principled justification",
    needs=("deciphering.s8.as-a-result",),
    latex=r"\text{a principled justification for the design of attention modules}",
)
def justification() -> Undecidable:
    """The document says that it justifies the design of attention modules by a principle."""
    return Undecidable("a judgement of the whole, without a criterion")
