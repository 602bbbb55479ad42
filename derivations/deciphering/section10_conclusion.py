"""Section 10: what the conclusion sums up.

Claims     deciphering.s10.well-explained, deciphering.s10.support-removed, deciphering.s10.mechanism,
           deciphering.s10.justification
Notation   C[i, j] the cost M of template i and template j; gamma = γ
References section 10 of the document, the first paragraph of which repeats the abstract; "Broader impact" asserts
           nothing that could be checked
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import positive, vector
from derivations.catalogue import Steps, Undecidable, claim, reprint
from derivations.deciphering.notation import alpha, evidence, i, inner, j, k, n, u
from derivations.deciphering.section7_attention import two_pieces
from derivations.relations import AtLeast

cost, gamma = vector("C", n, n), positive("gamma")



@claim("deciphering.s10.well-explained", "empirical", title="The framework explains attention in BERT and T5 well",
       latex=r"\text{the framework explains the attention inference in BERT and T5}", needs=("deciphering.fig4",))
def well_explained() -> Undecidable:
    """The deviations are said to show that the framework explains attention in pretrained models well."""
    return Undecidable("no measure of explanation is stated, and the deviation that was measured does not see the layer's "
                       "output (deciphering.s8.as-a-result)")


def transported(floor: sp.Expr) -> AtLeast:
    """(25) at template i, for a preference on all templates, against a lower bound."""
    def kernel(template: sp.Expr, source: sp.Expr) -> sp.Expr:
        return sp.exp((alpha * inner(template, evidence) - cost[template, source]) / gamma)

    return AtLeast(total(j, u[j] * kernel(i, j) / total(k, kernel(k, j))), floor, strict=True,
                   reason="exponentials of finite costs are positive: every template gets weight from every u_j")


@claim("deciphering.s10.support-removed", "inequality", title="Transport removes the constraint on the support",
       latex=r"p^*(t)>0\ \forall t\in\mathcal A", needs=("deciphering.25",), hypotheses=("the costs are finite",))
def support_removed() -> Steps:
    """Attention based on optimal transport gives weight to every template, whatever the support of the preference is."""
    yield transported(sp.S.Zero)


support_removed.twin("at least the preference", lambda: transported(u[i]))
support_removed.twin("at least half of a uniform share", lambda: transported(1 / (2 * n)))

reprint("deciphering.s10.mechanism", of=two_pieces,
        latex=r"\text{a preference over the templates, adjusted by a noisy estimate of the mean's shift}")


@claim("deciphering.s10.justification", "equivalence", title="A principled justification",
       needs=("deciphering.s8.as-a-result",),
       latex=r"\text{a principled justification for the design of attention modules}")
def justification() -> Undecidable:
    """The document says that it justifies the design of attention modules by a principle."""
    return Undecidable("a judgement of the whole, without a criterion")
