"""The overview: attention matrices as solutions of transport problems.

Claims     transport.s0.interpretation   softmax(S/τ) = argmin ⟨P, C⟩ − ε H(P) with unit rows, C = −εS/τ
Notation   as in `notation`; the temperature τ of the attention is any, and so is the ε of the problem
References the overview of the document
"""

import sympy as sp

from derivations.documents.eot.notation import tau
from derivations.documents.transport.notation import S, eps, h, i, j, softmax, solves
from derivations.vocabulary import *

weights = softmax(S, tau)


def attached(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """ε S_ij/τ, the score that fits ε."""
    return eps * S[query, key] / tau


def solution(candidate: Entries) -> UniquePlan:
    """The candidate is the only solution for the costs −ε S/τ."""
    return solves(attached, eps, candidate)


@claim(
    "transport.s0.interpretation",
    "optimality",
    title="Attention matrices solve a semi-relaxed entropic transport problem",
    latex=r"A=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,C\rangle-\varepsilon H(P)\ \text{for some } C,\varepsilon",
)
def interpretation() -> Steps:
    """Every self-attention matrix is the solution of some entropic transport problem that fixes one marginal only."""
    yield Equation(total(j, weights(i, j)), 1, reason="each query gives one unit; what arrives is free", about=(S[i, j], tau))
    yield solution(weights)


interpretation.twin("the solution for ε = 2τ", lambda: solution(softmax(S, 2 * tau)))
interpretation.twin(
    "normalized over the queries",
    lambda: solution(lambda query, key: sp.exp(S[query, key] / tau) / total(h, sp.exp(S[h, key] / tau))),
)


@claim(
    "transport.s0.recent-research",
    "external fact",
    title="Recent research has shown it",
    needs=("transport.s0.interpretation",),
    latex=r"\text{shown in the two references of the footnotes}",
)
def recent_research() -> Undecidable:
    """That attention matrices solve such a problem exactly is said to be a finding of the two works that are cited."""
    return Undecidable(
        "neither work ships with the project, and the title that is given for the first looks wrong; that the "
        "statement itself is true is proved here, whoever found it"
    )


@claim(
    "transport.s0.basis",
    "equivalence",
    title="Intuition, and a basis for new variants",
    needs=("transport.s0.interpretation",),
    latex=r"\text{OT}\to\text{geometric intuition, new variants of attention}",
)
def basis() -> Undecidable:
    """The reading is said to give geometric intuition and a theoretical basis for designing new variants of attention."""
    return Undecidable("intuition has no measure, and no variant is named here; those that are named later are judged there")
