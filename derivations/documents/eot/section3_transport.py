"""Section 3, the primer: the classical problem has a solution, and why it supposedly needs entropy.

Claims     eot.s3.kantorovich   P in U(a, b) with P_ij c_ij = 0 for all i, j  ⟹  ⟨P, C⟩ ≤ ⟨R, C⟩ for all R in U(a, b)
Notation   a, b the marginals; P, R plans in U(a, b); f, g potentials and c ≥ 0 what they leave of the costs,
           C_ij = f_i + g_j + c_ij
References the primer in section 3 of the document; Villani (2009), chapter 4, for the existence of optimal plans
"""

import sympy as sp

from derivations.documents.eot.notation import i, j, l, m, n
from derivations.vocabulary import *

a, b = simplex("a", n), simplex("b", m)
P, R = coupling("P", a, b), coupling("R", a, b)
f, g = vector("f", n), vector("g", m)
c = vector("c", n, m, kind=Nonnegative)
HALF = sp.S.Half


def independent(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """a_i b_j."""
    return a[i_] * b[j_]


def expense(of: Entries) -> sp.Expr:
    """⟨P, C⟩ = Σ_ij P_ij C_ij."""
    return total((i, j), of(i, j) * (f[i] + g[j] + c[i, j]))


def potentials() -> sp.Expr:
    """⟨a, f⟩ + ⟨b, g⟩."""
    return total(i, a[i] * f[i]) + total(j, b[j] * g[j])


def cheapest(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """If P uses only paths that the potentials leave no cost, every plan costs at least the bound."""
    tight = AtLeast(0, total((i, j), P[i, j] * c[i, j]))
    return Follows(
        (tight,),
        AtLeast(expense(R), bound),
        (sp.S.One,),
        total((i, j), R[i, j] * c[i, j]),
        given=(tight,),
        at=at or {},
        reason="⟨R, C⟩ − ⟨P, C⟩ = Σ R c − Σ P c: the minimum is attained at P",
    )


@claim(
    "eot.s3.kantorovich",
    "definition",
    title="The classical transport problem",
    latex=r"\mathrm{OT}(a,b)\triangleq\min_{P\in U(a,b)}\langle P,C\rangle_F",
    needs=("eot.s3.couplings-exist", "eot.s3.transport-is-linear"),
)
def classical_transport() -> Steps:
    """The minimum of the total cost is attained, on a compact set that is not empty; potentials tell where."""
    yield Equation(total(j, independent(i, j)), a[i], reason="a bᵀ is a plan: the rows")
    yield Equation(total(i, independent(i, j)), b[j], reason="and the columns")
    yield AtLeast(
        a[i],
        P[i, j],
        because=total(l, P[i, l] * (1 - delta(l, j))),
        reason="0 ≤ P_ij ≤ a_i; the cost is linear",
        quotes=(CLOSED_PREIMAGE, HEINE_BOREL, WEIERSTRASS),
    )
    yield AtLeast(expense(P), potentials(), because=total((i, j), P[i, j] * c[i, j]), reason="no plan costs less")
    yield cheapest(expense(P))


SORTED: dict[Variable, Value] = {  # all mass stays where that costs nothing
    n: 2,
    m: 2,
    a.label: [HALF, HALF],
    b.label: [HALF, HALF],
    f.label: [0, 0],
    g.label: [0, 0],
    c.label: [[0, 1], [1, 0]],
    P.label: [[HALF, 0], [0, HALF]],
    R.label: [[HALF, 0], [0, HALF]],
}
classical_transport.twin("every plan costs one more", lambda: cheapest(expense(P) + 1, SORTED))
classical_transport.twin("the independent plan is the cheapest", lambda: cheapest(expense(independent), SORTED))


@claim(
    "eot.s3.practical",
    "empirical",
    title="Entropic transport is often more practical",
    needs=("eot.s3.efficiency",),
    latex=r"\mathrm{OT}_\varepsilon\text{ more practical than }\mathrm{OT}",
)
def practical() -> Undecidable:
    """The regularized problem is said to be often more practical in machine learning."""
    return Undecidable("no task and no measure of practice is stated; of the cost of solving it, see eot.s3.efficiency")


@claim(
    "eot.s3.statistical-issues",
    "external fact",
    title="Entropy overcomes statistical issues of transport",
    latex=r"\mathrm{OT}_\varepsilon(\hat a,\hat b)\text{ estimates better than }\mathrm{OT}(\hat a,\hat b)",
    needs=("eot.s3.kantorovich", "eot.s3.entropic-objective"),
)
def statistical_issues() -> Undecidable:
    """Classical transport is said to have statistical issues, which the entropic term overcomes."""
    return Undecidable(
        "no issue, sample or rate is named; the marginals are given here, and no later line of the document estimates them"
    )
