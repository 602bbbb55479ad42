"""Section 3, the primer: the entropic plan as ε grows and as it falls to 0.

Claims     eot.s3.eps-to-infinity   KL(P_ε ‖ abᵀ) ≤ ⟨abᵀ − P_ε, C⟩/ε → 0 as ε → ∞
           eot.s3.eps-to-zero       0 ≤ ⟨P_ε − R, C⟩ ≤ ε log(nm) and H(P_ε) ≥ H(R) for every optimal R  (corrected)
Notation   a, b the positive marginals; P, R plans in U(a, b); H(P) = −Σ_ij P_ij log P_ij; J_ε(P) = ⟨P, C⟩ − ε H(P)
References the primer in section 3 of the document; Peyré and Cuturi (2019) for the limits
"""

import sympy as sp

from derivations.documents.eot.notation import eps, h, i, j, k, m, n
from derivations.documents.eot.section3_primer import (
    HALF,
    C,
    P,
    R,
    a,
    b,
    entropy,
    expense,
    independent,
    objective,
    t,
    zero_rows,
)
from derivations.vocabulary import *


def divergence() -> sp.Expr:
    """KL(P ‖ a bᵀ)."""
    return total((i, j), kl(P[i, j], independent(i, j)))


def closeness(rate: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """If P is optimal, its divergence from a bᵀ is at most rate times the cost it saves."""
    better = AtLeast(objective(independent), objective(P))
    return Follows(
        (better,),
        AtLeast(rate * (expense(independent) - expense(P)), divergence()),
        (1 / eps,),
        at=at or {},
        given=(better,),
        reason="optimality against a bᵀ; H(a bᵀ) − H(P) = KL",
    )


@claim(
    "eot.s3.eps-to-infinity",
    "limit",
    title="ε → ∞ gives the independent plan",
    needs=("eot.s3.most-entropic",),
    latex=r"\mathrm{KL}(P_\varepsilon\|ab^\top)\le\tfrac1\varepsilon\langle ab^\top-P_\varepsilon,C\rangle,\quad"
    r"\lim_{\varepsilon\to\infty}C_{ij}/\varepsilon=0",
)
def eps_to_infinity() -> Steps:
    """For large ε the cost is ignored: the divergence from a bᵀ is at most the cost saved over ε, and vanishes."""
    yield zero_rows()
    yield Limit(
        C[i, j] / eps, eps, sp.oo, sp.S.Zero, reason="the costs are bounded, so the bound below vanishes", quotes=(SQUEEZE,)
    )
    yield closeness(1 / eps)


NEARLY_OPTIMAL: dict[Variable, Value] = {  # better than a bᵀ at ε = 4, where the saved cost is 0.06
    n: 2,
    m: 2,
    a.label: [HALF, HALF],
    b.label: [HALF, HALF],
    C.label: [[0, 1], [1, 0]],
    eps: sp.Integer(4),
    P.label: [[sp.Rational(7, 25), sp.Rational(11, 50)], [sp.Rational(11, 50), sp.Rational(7, 25)]],
}
eps_to_infinity.twin("the saved cost over ε²", lambda: closeness(1 / eps**2, NEARLY_OPTIMAL))
eps_to_infinity.twin("it costs more than a bᵀ", lambda: closeness(-1 / eps))


# ── ε → 0 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.s3.eps-to-zero",
    "limit",
    title="ε → 0 gives the sparse classical solution",
    needs=("eot.s3.sparse-solutions",),
    latex=r"P_\varepsilon\to\text{ the sparse classical solution}",
)
def eps_to_zero() -> Steps:
    """As ε → 0 the solution is said to approach the classical solution, which is sparse."""
    constant = positive("κ")
    gap = constant * (total((i, j), P[i, j]) - 1) - eps * entropy(P) + eps * entropy(independent)
    yield Equation(gap, eps * divergence(), reason="if all costs are equal, a bᵀ is optimal for every ε > 0")
    entries = sp.Mul(*[independent(sp.Integer(row), sp.Integer(column)) for row in (1, 2) for column in (1, 2)])
    yield Fails(
        Limit(entries, eps, sp.S.Zero, sp.S.Zero, about=(n, m), at={n: 2, m: 2, a.label: [HALF, HALF], b.label: [HALF, HALF]}),
        reason="so all 4 > n + m − 1 entries survive: the limit is dense, though sparse plans are optimal too",
    )


def optimal() -> AtLeast:
    """P is optimal for ε: no plan R does better."""
    return AtLeast(objective(R), objective(P))


def cheapest() -> AtLeast:
    """R is optimal for ε = 0: P costs at least as much."""
    return AtLeast(expense(P), expense(R))


@eps_to_zero.corrected(
    r"0\le\langle P_\varepsilon,C\rangle-\langle R,C\rangle\le\varepsilon\log(nm),\quad H(P_\varepsilon)"
    r"\ge H(R)\ \text{for every optimal } R",
    Severity.HYPOTHESIS,
    replaces="the limit",
)
def largest_entropy_solution() -> Steps:
    """The plan tends to the optimal plan of largest entropy, which is sparse only if no dense plan is optimal too."""
    top = AtLeast(
        sp.log(n * m),
        entropy(P),
        because=total((k, h), kl(P[h, k], 1 / (n * m))),
        about=(P[i, j],),
        reason="no plan has more entropy than log nm",
    )
    yield top
    yield AtLeast(-xlogx(t), t * (1 - t), because=t * kl(1, t), reason="≥ 0 for t ≤ 1, so no plan has negative entropy")
    yield Follows(
        (optimal(),),
        AtLeast(expense(R) + eps * (entropy(P) - entropy(R)), expense(P)),
        (sp.S.One,),
        given=(optimal(),),
        reason="so the extra cost is at most ε log nm, and vanishes",
        quotes=(SQUEEZE,),
    )
    yield Follows(
        both := (optimal(), cheapest()),
        AtLeast(entropy(P), entropy(R)),
        (1 / eps, 1 / eps),
        given=both,
        reason="each limit point is optimal and has the largest entropy among optimal plans: there is one such",
        quotes=(BOLZANO_WEIERSTRASS,),
    )


def least_entropy(bound: sp.Expr) -> Follows:
    """H(P_ε) ≥ bound, tried where the costs are 0 and 1 and P is not yet close to the classical plan R."""
    swap = {
        n: 2,
        m: 2,
        a.label: [HALF, HALF],
        b.label: [HALF, HALF],
        C.label: [[0, 1], [1, 0]],
        eps: HALF,
        R.label: [[HALF, 0], [0, HALF]],
        P.label: [[HALF * 7 / 8, HALF / 8], [HALF / 8, HALF * 7 / 8]],
    }
    return Follows(both := (optimal(), cheapest()), AtLeast(entropy(P), bound), (1 / eps, 1 / eps), at=swap, given=both)


eps_to_zero.twin("the entropy of the independent plan", lambda: least_entropy(entropy(independent)))
eps_to_zero.twin("more entropy by log 2", lambda: least_entropy(entropy(R) + sp.log(2)))
