"""Section 3, the primer on optimal transport with and without entropy.

Claims     eot.s3.plan-marginals, eot.s3.couplings-exist, eot.s3.transport-is-linear, eot.s3.distance,
           eot.s3.sparse-solutions, eot.s3.entropic-objective, eot.s3.primer-strict-convexity, eot.s3.dense,
           eot.s3.most-entropic, eot.s3.eps-to-infinity, eot.s3.eps-to-zero
Notation   a, b > 0 the marginals; P, R plans in U(a, b); H(P) = −Σ_ij P_ij log P_ij; J_ε(P) = ⟨P, C⟩ − ε H(P)
References the primer in section 3 of the document; Peyré and Cuturi (2019) for the limits
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.sums import derivative, kl, total, xlogx
from derivations.calculus.variables import Kind, coupling, index, interior, positive, simplex, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.eot.notation import eps, h, i, j, k, m, n
from derivations.relations import AtLeast, Equation, Fails, Follows, Limit

a, b = interior("a", n), interior("b", m)
P, R = coupling("P", a, b), coupling("R", a, b)
C = vector("C", n, m)
odds, t = positive("odds"), positive("t")
HALF = sp.S.Half


def plan(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """P_ij."""
    return P[i_, j_]


def rival(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """R_ij."""
    return R[i_, j_]


def independent(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """a_i b_j."""
    return a[i_] * b[j_]


def expense(of) -> sp.Expr:  # type: ignore[no-untyped-def]
    """⟨P, C⟩ = Σ_ij P_ij C_ij."""
    return total((i, j), of(i, j) * C[i, j])


def entropy(of) -> sp.Expr:  # type: ignore[no-untyped-def]
    """H(P) = −Σ_ij P_ij log P_ij."""
    return -total((i, j), xlogx(of(i, j)))


def objective(of) -> sp.Expr:  # type: ignore[no-untyped-def]
    """J_ε(P) = ⟨P, C⟩ − ε H(P)."""
    return expense(of) - eps * entropy(of)


# ── couplings and the linear problem ────────────────────────────────────────────────────────────────────────────────


@claim("eot.s3.plan-marginals", "definition", title="Marginals of a plan", latex=r"\sum_jP_{ij}=a_i,\ \sum_iP_{ij}=b_j")
def plan_marginals() -> Steps:
    """Row sums are what leaves each source, column sums what arrives at each target; both total the same mass."""
    yield Equation(total(i, total(j, P[i, j])), 1, reason="Σ a = 1", about=(P[i, j],))
    yield Equation(total(j, total(i, P[i, j])), 1, reason="Σ b = 1", about=(P[i, j],))


@claim("eot.s3.couplings-exist", "definition", title="The set U(a, b)", needs=("eot.s3.plan-marginals",),
       latex=r"U(a,b)=\{P\ge0: P\mathbf 1=a,\ P^\top\mathbf 1=b\}\ni ab^\top")
def couplings_exist() -> Steps:
    """The set of plans with given marginals is never empty: the independent plan is in it."""
    yield Equation(total(j, independent(i, j)), a[i], reason="Σ b = 1")
    yield Equation(total(i, independent(i, j)), b[j], reason="Σ a = 1")


couplings_exist.twin("the arithmetic mean of the marginals", lambda: Equation(total(j, (a[i] + b[j]) / 2), a[i]))
couplings_exist.twin("the plan is not normalized", lambda: Equation(total(j, a[i] * m * b[j]), a[i]))


@claim("eot.s3.transport-is-linear", "identity", title="Transport is a linear program", needs=("eot.s3.couplings-exist",),
       latex=r"\langle P,C\rangle_F=\sum_{ij}P_{ij}C_{ij}\ \text{is linear in } P")
def transport_is_linear() -> Steps:
    """The total cost is linear in the plan, and so are the constraints that define U(a, b)."""
    mixed = total((i, j), (odds * P[i, j] + R[i, j]) / (1 + odds) * C[i, j])
    yield Equation(total(j, (odds * P[i, j] + R[i, j]) / (1 + odds)), a[i], reason="mixtures keep the marginals")
    yield Equation(mixed, odds / (1 + odds) * expense(plan) + expense(rival) / (1 + odds), reason="sums are linear")


def mixed_cost() -> sp.Expr:
    """The cost of a mixture of two plans."""
    return total((i, j), (odds * P[i, j] + R[i, j]) / (1 + odds) * C[i, j])


transport_is_linear.twin("weights swapped", lambda: Equation(
    mixed_cost(), expense(plan) / (1 + odds) + odds / (1 + odds) * expense(rival)))
transport_is_linear.twin("a plain sum", lambda: Equation(mixed_cost(), expense(plan) + expense(rival)))


@claim("eot.s3.distance", "inequality", title="Transport cost as a distance", needs=("eot.s3.couplings-exist",),
       latex=r"\mathrm{OT}(a,a)=0,\quad \mathrm{OT}(a,c)\le\mathrm{OT}(a,b)+\mathrm{OT}(b,c)")
def distance() -> Steps:
    """Transport is said to measure the distance between distributions, for any cost matrix C ≥ 0."""
    only = simplex("P", n, n)
    yield Fails(Equation(total((i, h), only[i, h] * D[i, h]), 0, at={n: 1, D.label: [[1]]}),
                reason="with one place and C = 1, the distribution is at distance 1 from itself")


second, third = interior("b", n), interior("c", n)
first_leg, second_leg = coupling("P", a, second), coupling("Q", second, third)
D = vector("D", n, n, kind=Kind.NONNEGATIVE)
g = index("g", n)


def glued(start: sp.Expr, end: sp.Expr) -> sp.Expr:
    """Σ_j P_ij Q_jk / b_j: go from i to k by way of every j."""
    return total(g, first_leg[start, g] * second_leg[g, end] / second[g])


def detour() -> sp.Expr:
    """⟨P, D⟩ + ⟨Q, D⟩ − ⟨glued, D⟩."""
    legs = total((i, h), (first_leg[i, h] + second_leg[i, h]) * D[i, h])
    return legs - total((i, h), glued(i, h) * D[i, h])


def triangles(sign: int) -> sp.Expr:
    """Σ_ijk P_ij Q_jk / b_j · (D_ij + D_jk − D_ik)."""
    end = index("k", n)
    return total((i, g, end), first_leg[i, g] * second_leg[g, end] / second[g]
                 * (D[i, g] + D[g, end] - sign * D[i, end]))


@distance.corrected(r"C=D\text{ a metric} \implies \mathrm{OT}\text{ is a metric}", Severity.HYPOTHESIS,
                    under="the cost is a metric on a common set of places (n = m)")
def metric_cost() -> Steps:
    """If the cost is a metric D, staying put costs nothing and plans can be glued, so OT obeys the triangle inequality."""
    yield Equation(total(h, glued(i, h)), a[i], reason="the glued plan starts from a")
    yield Equation(total(i, glued(i, h)), third[h], reason="and ends at c")
    yield Equation(detour(), triangles(1), reason="it costs ⟨P, D⟩ + ⟨Q, D⟩ less a sum of terms D_ij + D_jk − D_ik ≥ 0")


distance.twin("the triangle terms add up", lambda: Equation(detour(), triangles(-1)))
distance.twin("the direct way is forgotten", lambda: Equation(detour(), triangles(0)))


@claim("eot.s3.sparse-solutions", "empirical", title="Optimal plans are often very sparse",
       latex=r"\#\{P^\star_{ij}>0\}\le n+m-1\ \text{at a vertex}", needs=("eot.s3.transport-is-linear",))
def sparse_solutions() -> None:
    """Solutions of the linear problem are often concentrated on few of the n m paths."""


# ── the entropic problem ────────────────────────────────────────────────────────────────────────────────────────────


@claim("eot.s3.entropic-objective", "definition", title="The entropic objective", needs=("eot.s3.transport-is-linear",),
       latex=r"\mathrm{OT}_\varepsilon(a,b)=\min_{P\in U(a,b)}\langle P,C\rangle-\varepsilon H(P)", hypotheses=("ε > 0",))
def entropic_transport() -> Steps:
    """The cost of a plan minus ε times its entropy; the independent plan's entropy is that of a plus that of b."""
    marginal_entropies = -total(i, xlogx(a[i])) - total(j, xlogx(b[j]))
    yield Equation(entropy(independent), marginal_entropies, reason="log a_i b_j = log a_i + log b_j")
    yield Equation(objective(independent), expense(independent) - eps * marginal_entropies, reason="an instance")


entropic_transport.twin("entropies multiply", lambda: Equation(
    entropy(independent), total(i, xlogx(a[i])) * total(j, xlogx(b[j]))))
entropic_transport.twin("entropy is penalized", lambda: Equation(
    objective(independent), expense(independent) + eps * entropy(independent)))


def mixture(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """A mixture of the plan P and the positive plan a bᵀ."""
    return (odds * P[i_, j_] + a[i_] * b[j_]) / (1 + odds)


def chord_gap(sign: int, strength: sp.Expr) -> AtLeast:
    """J_ε on a segment from P to a bᵀ lies below its chord."""
    chord = (odds * (expense(plan) - strength * entropy(plan)) + expense(independent) - strength * entropy(independent)) / (
        1 + odds)
    gap = total((i, j), (odds * kl(P[i, j], mixture(i, j)) + kl(a[i] * b[j], mixture(i, j))) / (1 + odds))
    curve = expense(mixture) - strength * entropy(mixture)
    return AtLeast(sign * chord, sign * curve, because=strength * gap, reason="the gap is ε times a sum of divergences")


@claim("eot.s3.primer-strict-convexity", "inequality", title="The entropic objective is strictly convex on plans",
       latex=r"\varepsilon>0\implies J_\varepsilon \text{ strictly convex on } U(a,b)", needs=("eot.s3.entropic-objective",))
def primer_strict_convexity() -> Steps:
    """Along segments of U(a, b) the objective lies strictly below its chord, so at most one plan is optimal."""
    yield chord_gap(1, eps)


primer_strict_convexity.twin("concave", lambda: chord_gap(-1, eps))
primer_strict_convexity.twin("entropy is penalized", lambda: chord_gap(1, -eps))


@claim("eot.s3.dense", "inequality", title="The entropic solution has no zeros", needs=("eot.s3.primer-strict-convexity",),
       latex=r"P^\star_{ij}>0\ \text{for all } i,j")
def dense() -> Steps:
    """The unique solution is said to be dense for all marginals a and b."""
    source = simplex("a", n)
    yield Fails(AtLeast(source[i], 0, strict=True, at={n: 2, source.label: [1, 0], i: 2}),
                reason="with m = 1 the only plan is P_i1 = a_i, and a = (1, 0) is a distribution")


@dense.corrected(r"a,b>0\implies P^\star_{ij}>0", Severity.HYPOTHESIS, under="every a_i > 0 and every b_j > 0")
def dense_for_positive_marginals() -> Steps:
    """If all marginals are positive, a zero entry can never be optimal: filling it from a bᵀ has slope −∞."""
    yield AtLeast(independent(i, j), 0, strict=True, reason="a bᵀ is a plan without zeros")
    slope = derivative(t * independent(i, j) * sp.log(t * independent(i, j)), t)
    yield Limit(slope, t, sp.S.Zero, -sp.oo, reason="so P + t(a bᵀ − P) is better than P for small t > 0")


def entry_slope(power: int) -> sp.Expr:
    """Slope at a zero entry when the regularizer is a power instead of the entropy."""
    return derivative((t * independent(i, j)) ** power, t)


dense.twin("a quadratic regularizer does it too", lambda: Limit(entry_slope(2), t, sp.S.Zero, -sp.oo))
dense.twin("the linear cost does it alone", lambda: Limit(entry_slope(1) * C[i, j], t, sp.S.Zero, -sp.oo))


@claim("eot.s3.most-entropic", "inequality", title="a bᵀ is the plan of greatest entropy", needs=("eot.s3.entropic-objective",),
       latex=r"H(P)\le H(ab^\top)=H(a)+H(b)")
def most_entropic() -> Steps:
    """No plan has more entropy than the independent one, and the difference is the divergence from it."""
    yield AtLeast(entropy(independent), entropy(plan), because=total((i, j), kl(P[i, j], independent(i, j))),
                  reason="H(a bᵀ) − H(P) = Σ kl(P_ij ‖ a_i b_j)")


most_entropic.twin("at most that of a", lambda: AtLeast(-total(i, xlogx(a[i])), entropy(plan)))
most_entropic.twin("half of it", lambda: AtLeast(entropy(independent) / 2, entropy(plan)))


def divergence() -> sp.Expr:
    """KL(P ‖ a bᵀ)."""
    return total((i, j), kl(P[i, j], independent(i, j)))


def closeness(rate: sp.Expr) -> Follows:
    """If P is optimal, its divergence from a bᵀ is at most rate times the cost it saves."""
    return Follows((AtLeast(objective(independent), objective(plan)),),
                   AtLeast(rate * (expense(independent) - expense(plan)), divergence()), (1 / eps,),
                   reason="optimality against a bᵀ; H(a bᵀ) − H(P) = KL")


@claim("eot.s3.eps-to-infinity", "limit", title="ε → ∞ gives the independent plan", needs=("eot.s3.most-entropic",),
       latex=r"\mathrm{KL}(P_\varepsilon\|ab^\top)\le\tfrac1\varepsilon\langle ab^\top-P_\varepsilon,C\rangle\to0")
def eps_to_infinity() -> Steps:
    """For large ε the cost is ignored: the optimal plan tends to a bᵀ at rate 1/ε in divergence."""
    yield Limit(C[i, j] / eps, eps, sp.oo, sp.S.Zero, reason="the costs are bounded, so the bound below vanishes")
    yield closeness(1 / eps)


eps_to_infinity.twin("at rate 1/ε²", lambda: closeness(1 / eps**2))
eps_to_infinity.twin("it costs more than a bᵀ", lambda: closeness(-1 / eps))


# ── ε → 0 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim("eot.s3.eps-to-zero", "limit", title="ε → 0 gives the sparse classical solution", needs=("eot.s3.sparse-solutions",),
       latex=r"P_\varepsilon\to\text{ the sparse classical solution}")
def eps_to_zero() -> Steps:
    """As ε → 0 the solution is said to approach the classical solution, which is sparse."""
    constant = positive("κ")
    gap = constant * (total((i, j), P[i, j]) - 1) - eps * entropy(plan) + eps * entropy(independent)
    yield Equation(gap, eps * divergence(), reason="if all costs are equal, a bᵀ is optimal for every ε > 0")
    yield Fails(Limit(independent(i, j), eps, sp.S.Zero, sp.S.Zero,
                      at={n: 2, m: 2, a.label: [HALF, HALF], b.label: [HALF, HALF]}),
                reason="so no entry tends to 0: the limit is dense, though sparse optimal plans exist")


def optimal() -> AtLeast:
    """P is optimal for ε: no plan R does better."""
    return AtLeast(objective(rival), objective(plan))


def cheapest() -> AtLeast:
    """R is optimal for ε = 0: P costs at least as much."""
    return AtLeast(expense(plan), expense(rival))


@eps_to_zero.corrected(r"0\le\langle P_\varepsilon,C\rangle-\langle R,C\rangle\le\varepsilon\log(nm),\quad H(P_\varepsilon)"
                       r"\ge H(R)\ \text{for every optimal } R", Severity.HYPOTHESIS)
def largest_entropy_solution() -> Steps:
    """The plan tends to the optimal plan of largest entropy, which is sparse only if no dense plan is optimal too."""
    top = AtLeast(sp.log(n * m), entropy(plan), because=total((k, h), kl(P[h, k], 1 / (n * m))), about=(P[i, j],),
                  reason="no plan has more entropy than log nm")
    yield top
    yield Follows((optimal(),), AtLeast(expense(rival) + eps * (entropy(plan) - entropy(rival)), expense(plan)),
                  (sp.S.One,), reason="so the extra cost is at most ε log nm, and vanishes")
    yield Follows((optimal(), cheapest()), AtLeast(entropy(plan), entropy(rival)), (1 / eps, 1 / eps),
                  reason="each limit point is optimal and has the largest entropy among optimal plans: there is one such")


eps_to_zero.twin("the independent plan", lambda: Follows(
    (optimal(), cheapest()), AtLeast(entropy(plan), entropy(independent)), (1 / eps, 1 / eps)))
eps_to_zero.twin("more entropy by log 2", lambda: Follows(
    (optimal(), cheapest()), AtLeast(entropy(plan), entropy(rival) + sp.log(2)), (1 / eps, 1 / eps)))
