"""Section 3, the primer on optimal transport with and without entropy.

Claims     eot.s3.distance                  C a metric  ⟹  OT(a, a) = 0 and OT(a, c) ≤ OT(a, b) + OT(b, c)
           eot.s3.primer-strict-convexity   ε > 0  ⟹  J_ε is strictly convex on U(a, b), and one plan is optimal
           eot.s3.primer-trade-off          ε < ε'  ⟹  H(P_ε) ≤ H(P_ε') and ⟨P_ε, C⟩ ≤ ⟨P_ε', C⟩
           eot.s3.dense                     every a_i > 0 and b_j > 0  ⟹  P*_ij > 0 for all i, j
           eot.s3.most-entropic             H(P) ≤ H(abᵀ) = H(a) + H(b) for P in U(a, b)
Notation   a, b the marginals, a₊, b₊ positive ones; P, R plans in U(a, b); H(P) = −Σ_ij P_ij log P_ij; J_ε(P) = ⟨P, C⟩ − ε H(P)
References the primer in section 3 of the document; Peyré and Cuturi (2019) for the limits
"""

from dataclasses import replace

import sympy as sp

from derivations.documents.eot.notation import eps, h, i, j, l, m, n
from derivations.documents.eot.section3_existence import scalar_convexity
from derivations.vocabulary import *

a, b = interior("a", n), interior("b", m)
P, R = coupling("P", a, b), coupling("R", a, b)
a0, b0 = simplex("a", n), simplex("b", m)
P0, R0 = coupling("P", a0, b0), coupling("R", a0, b0)
C = vector("C", n, m)
odds, t = positive("odds"), positive("t")
HALF = sp.S.Half


def independent(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """a_i b_j."""
    return a[i_] * b[j_]


def expense(of: Entries) -> sp.Expr:
    """⟨P, C⟩ = Σ_ij P_ij C_ij."""
    return total((i, j), of(i, j) * C[i, j])


def entropy(of: Entries) -> sp.Expr:
    """H(P) = −Σ_ij P_ij log P_ij."""
    return -total((i, j), xlogx(of(i, j)))


def objective(of: Entries) -> sp.Expr:
    """J_ε(P) = ⟨P, C⟩ − ε H(P)."""
    return expense(of) - eps * entropy(of)


def zero_rows() -> AtLeast:
    """A place without mass carries none: P_ij ≤ a_i, so it drops out of every sum, and a > 0 is no restriction."""
    rest = total(l, P0[i, l] * (1 - sp.KroneckerDelta(l, j)))
    return AtLeast(a0[i], P0[i, j], because=rest, reason="so rows with a_i = 0 (and columns with b_j = 0) may be left out")


# ── couplings and the linear problem ────────────────────────────────────────────────────────────────────────────────


@claim("eot.s3.plan-marginals", "definition", title="Marginals of a plan", latex=r"\sum_jP_{ij}=a_i,\ \sum_iP_{ij}=b_j")
def plan_marginals() -> Steps:
    """Row sums are what leaves each source, column sums what arrives at each target; both total the same mass."""
    yield Equation(total(i, total(j, P0[i, j])), 1, reason="Σ a = 1", about=(P0[i, j],))
    yield Equation(total(j, total(i, P0[i, j])), 1, reason="Σ b = 1", about=(P0[i, j],))


@claim(
    "eot.s3.couplings-exist",
    "definition",
    title="The set U(a, b)",
    needs=("eot.s3.plan-marginals",),
    latex=r"P=ab^\top\implies P\mathbf 1=a,\ P^\top\mathbf 1=b",
)
def couplings_exist() -> Steps:
    """The set of plans with given marginals is never empty: the independent plan is in it."""
    yield Equation(total(j, a0[i] * b0[j]), a0[i], reason="Σ b = 1")
    yield Equation(total(i, a0[i] * b0[j]), b0[j], reason="Σ a = 1")


couplings_exist.twin("the arithmetic mean of the marginals", lambda: Equation(total(j, (a0[i] + b0[j]) / 2), a0[i]))
couplings_exist.twin("the plan is not normalized", lambda: Equation(total(j, a0[i] * m * b0[j]), a0[i]))


first_matrix, second_matrix = vector("X", n, m), vector("Y", n, m)
times, plus_times = scalar("x"), scalar("y")


def combined(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """x X + y Y, any combination of any two matrices."""
    return times * first_matrix[i_, j_] + plus_times * second_matrix[i_, j_]


@claim(
    "eot.s3.transport-is-linear",
    "identity",
    title="Transport is a linear program",
    needs=("eot.s3.couplings-exist",),
    latex=r"\langle P,C\rangle_F=\sum_{ij}P_{ij}C_{ij}\ \text{is linear in } P,\quad U(a,b)=\{P\ge0:P\mathbf 1=a,\ "
    r"P^\top\mathbf 1=b\}",
)
def transport_is_linear() -> Steps:
    """The total cost is linear in the plan, and so are the constraints that define U(a, b)."""
    yield Equation(
        total(j, combined(i, j)),
        times * total(j, first_matrix[i, j]) + plus_times * total(j, second_matrix[i, j]),
        reason="of any matrices row sums are linear,",
    )
    yield Equation(
        total(i, combined(i, j)),
        times * total(i, first_matrix[i, j]) + plus_times * total(i, second_matrix[i, j]),
        reason="column sums are linear,",
    )
    yield Equation(
        expense(combined),
        times * expense(first_matrix) + plus_times * expense(second_matrix),
        reason="so is the cost; P ≥ 0 is linear as it is;",
    )
    yield Equation(total(j, mixed(i, j)), a0[i], reason="so mixtures of plans keep their rows,")
    yield Equation(total(i, mixed(i, j)), b0[j], reason="keep their columns,")
    yield AtLeast(mixed(i, j), 0, reason="and have entries ≥ 0,")
    yield Equation(
        expense(mixed), odds / (1 + odds) * expense(P0) + expense(R0) / (1 + odds), reason="and cost the mixture of the costs"
    )


def mixed(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """A mixture of two plans."""
    return (odds * P0[i_, j_] + R0[i_, j_]) / (1 + odds)


transport_is_linear.twin(
    "weights swapped", lambda: Equation(expense(mixed), expense(P0) / (1 + odds) + odds / (1 + odds) * expense(R0))
)
transport_is_linear.twin("a plain sum", lambda: Equation(expense(mixed), expense(P0) + expense(R0)))


@claim(
    "eot.s3.distance",
    "inequality",
    title="Transport cost as a distance",
    needs=("eot.s3.couplings-exist",),
    latex=r"\mathrm{OT}(a,a)=0,\quad \mathrm{OT}(a,c)\le\mathrm{OT}(a,b)+\mathrm{OT}(b,c)",
)
def distance() -> Steps:
    """Transport is said to measure the distance between distributions, for any cost matrix C ≥ 0."""
    only = simplex("P", n, n)
    yield Fails(
        Equation(total((i, h), only[i, h] * D[i, h]), 0, at={n: 2, D.label: [[1, 1], [1, 1]]}),
        reason="with C = 1 everywhere each distribution is at distance 1 from itself",
    )


second, third = interior("b", n), interior("c", n)
first_leg, second_leg = coupling("P", a, second), coupling("Q", second, third)
D = vector("D", n, n, kind=Nonnegative)
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
    return total((i, g, end), first_leg[i, g] * second_leg[g, end] / second[g] * (D[i, g] + D[g, end] - sign * D[i, end]))


@distance.corrected(
    r"C=D\text{ a metric} \implies \mathrm{OT}(a,a)=0,\ \mathrm{OT}(a,c)\le\mathrm{OT}(a,b)+\mathrm{OT}(b,c)",
    Severity.HYPOTHESIS,
    under="the cost is a metric on a common set of places (n = m)",
    replaces="the triangle inequality",
)
def metric_cost() -> Steps:
    """If the cost is a metric D, staying put costs nothing and plans can be glued, so OT obeys the triangle inequality."""
    stay = total((i, h), a[i] * delta(i, h) * D[i, h])
    yield Equation(total(h, a[i] * delta(i, h)), a[i], reason="the diagonal plan goes from a to a")
    yield Equation(stay, total(i, a[i] * D[i, i]), reason="and costs nothing, for D_ii = 0")
    yield Equation(
        total((i, h), first_leg[h, i] * D[i, h]),
        total((i, h), first_leg[i, h] * D[h, i]),
        reason="the transposed plan costs the same, for D is symmetric",
    )
    yield Equation(total(h, glued(i, h)), a[i], reason="the glued plan starts from a")
    yield Equation(total(i, glued(i, h)), third[h], reason="and ends at c")
    yield Equation(detour(), triangles(1), reason="it costs ⟨P, D⟩ + ⟨Q, D⟩ less a sum of terms D_ij + D_jk − D_ik ≥ 0")


distance.twin("the triangle terms add up", lambda: Equation(detour(), triangles(-1)))
distance.twin("the direct way is forgotten", lambda: Equation(detour(), triangles(0)))


@claim(
    "eot.s3.sparse-solutions",
    "empirical",
    title="Optimal plans are often very sparse",
    latex=r"\#\{P^\star_{ij}>0\}\le n+m-1\ \text{at a vertex}",
    needs=("eot.s3.transport-is-linear",),
)
def sparse_solutions() -> None:
    """Solutions of the linear problem are often concentrated on few of the n m paths."""


@claim(
    "eot.s3.efficiency",
    "empirical",
    title="Entropic transport is cheaper to compute",
    latex=r"\text{cost of } \mathrm{OT}_\varepsilon < \text{cost of } \mathrm{OT}",
)
def efficiency() -> Undecidable:
    """The regularized problem is said to be computationally more efficient, the classical one expensive to solve."""
    return Undecidable("no size, accuracy, ε or algorithm is stated, and the order changes with each of them")


# ── the entropic problem ────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.s3.entropic-objective",
    "definition",
    title="The entropic objective",
    needs=("eot.s3.transport-is-linear",),
    latex=r"\mathrm{OT}_\varepsilon(a,b)=\min_{P\in U(a,b)}\langle P,C\rangle-\varepsilon H(P)",
    hypotheses=("ε > 0",),
)
def entropic_transport() -> Steps:
    """The cost of a plan minus ε times its entropy; the independent plan's entropy is that of a plus that of b."""
    yield Equation(entropy(product), marginal_entropies(), reason="log a_i b_j = log a_i + log b_j")
    yield Equation(objective(product), expense(product) - eps * marginal_entropies(), reason="an instance")


def product(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """a_i b_j, with marginals that may have zeros."""
    return a0[i_] * b0[j_]


def marginal_entropies() -> sp.Expr:
    """H(a) + H(b)."""
    return -total(i, xlogx(a0[i])) - total(j, xlogx(b0[j]))


entropic_transport.twin(
    "the entropy of a alone", lambda: Equation(objective(product), expense(product) + eps * total(i, xlogx(a0[i])))
)
entropic_transport.twin(
    "entropy is penalized", lambda: Equation(objective(product), expense(product) + eps * marginal_entropies())
)


def entry_gap(i_: sp.Expr, j_: sp.Expr) -> sp.Expr:
    """Jensen's gap of φ at one entry."""
    return (odds * xlogx(P0[i_, j_]) + xlogx(R0[i_, j_])) / (1 + odds) - xlogx(mixed(i_, j_))


def plan_gap(strength: sp.Expr) -> Equation:
    """The chord of J_ε between two plans less J_ε, against `strength` times the gaps of φ."""
    chord = (odds * objective(P0) + objective(R0)) / (1 + odds)
    return Equation(chord - objective(mixed), strength * total((i, j), entry_gap(i, j)), reason="the linear part cancels")


@claim(
    "eot.s3.primer-strict-convexity",
    "inequality",
    title="The entropic objective is strictly convex, its minimum unique",
    latex=r"\varepsilon>0\implies J_\varepsilon \text{ strictly convex on } U(a,b)",
    needs=("eot.s3.entropic-objective",),
)
def primer_strict_convexity() -> Steps:
    """Between any two plans J_ε lies strictly below its chord; it is continuous on a compact set: one plan is optimal."""
    yield zero_rows()
    yield from scalar_convexity()
    yield replace(plan_gap(eps), quotes=(HEINE_BOREL, WEIERSTRASS))


primer_strict_convexity.twin("concave", lambda: plan_gap(-eps))
primer_strict_convexity.twin("ε is lost", lambda: plan_gap(sp.S.One))


@claim(
    "eot.s3.primer-trade-off",
    "inequality",
    title="ε trades cost for entropy",
    needs=("eot.s3.entropic-objective",),
    latex=r"\varepsilon<\varepsilon'\implies H(P_\varepsilon)\le H(P_{\varepsilon'}),\ "
    r"\langle P_\varepsilon,C\rangle\le\langle P_{\varepsilon'},C\rangle",
)
def primer_trade_off() -> Steps:
    """With a larger ε the optimal plan has at least as much entropy and costs at least as much."""
    yield trade_off(AtLeast(expense(R0), expense(P0)), ((eps + odds) / odds, eps / odds))
    yield trade_off(AtLeast(entropy(R0), entropy(P0)), (1 / odds, 1 / odds))


def trade_off(conclusion: AtLeast, weights: tuple[sp.Expr, sp.Expr]) -> Follows:
    """The consequence if P is optimal for ε and R for ε + t, t > 0."""
    stronger = eps + odds
    optimal_for_less = AtLeast(objective(R0), objective(P0))
    optimal_for_more = AtLeast(expense(P0) - stronger * entropy(P0), expense(R0) - stronger * entropy(R0))
    premises = (optimal_for_less, optimal_for_more)
    return Follows(premises, conclusion, weights, given=premises, reason="both optimalities, added up")


primer_trade_off.twin("entropy falls", lambda: trade_off(AtLeast(entropy(P0), entropy(R0)), (1 / odds, 1 / odds)))
primer_trade_off.twin("entropy grows by t", lambda: trade_off(AtLeast(entropy(R0), entropy(P0) + odds), (1 / odds, 1 / odds)))


@claim(
    "eot.s3.dense",
    "inequality",
    title="The entropic solution has no zeros",
    needs=("eot.s3.primer-strict-convexity",),
    latex=r"P^\star_{ij}>0\ \text{for all } i,j",
)
def dense() -> Steps:
    """The unique solution is said to be dense for all marginals a and b."""
    yield zero_rows()
    yield Fails(
        AtLeast(
            P0[i, j],
            0,
            strict=True,
            at={n: 2, m: 2, a0.label: [1, 0], b0.label: [HALF, HALF], P0.label: [[HALF, HALF], [0, 0]], i: 2, j: 1},
        ),
        reason="and a = (1, 0) is a distribution: P_21 = P_22 = 0 (nor does strict convexity alone make a minimum dense)",
    )


@dense.corrected(
    r"a,b>0\implies P^\star_{ij}>0",
    Severity.HYPOTHESIS,
    under="every a_i > 0 and every b_j > 0",
    replaces="positivity of the optimal entries",
)
def dense_for_positive_marginals() -> Steps:
    """If all marginals are positive, a zero entry can never be optimal: filling it from a bᵀ has slope −∞."""
    yield AtLeast(independent(i, j), 0, strict=True, reason="a bᵀ is a plan without zeros")
    slope = derivative(t * independent(i, j) * sp.log(t * independent(i, j)), t)
    yield Limit(slope, t, sp.S.Zero, -sp.oo, reason="so P + t(a bᵀ − P) is better than P for small t > 0")


def entry_slope(power: int) -> sp.Expr:
    """Slope at a zero entry when the regularizer is a power instead of the entropy."""
    return derivative((t * independent(i, j)) ** power, t)


dense.twin("a quadratic regularizer does it too", lambda: Limit(entry_slope(2), t, sp.S.Zero, -sp.oo))
dense.twin("a linear term does it too", lambda: Limit(entry_slope(1), t, sp.S.Zero, -sp.oo))


@claim(
    "eot.s3.most-entropic",
    "inequality",
    title="a bᵀ is the plan of greatest entropy",
    needs=("eot.s3.entropic-objective",),
    latex=r"H(P)\le H(ab^\top)=H(a)+H(b)",
)
def most_entropic() -> Steps:
    """No plan has more entropy than the independent one, and the difference is the divergence from it."""
    yield zero_rows()
    yield AtLeast(
        entropy(independent),
        entropy(P),
        because=total((i, j), kl(P[i, j], independent(i, j))),
        reason="H(a bᵀ) − H(P) = Σ kl(P_ij ‖ a_i b_j)",
    )


most_entropic.twin("at most that of a", lambda: AtLeast(-total(i, xlogx(a[i])), entropy(P)))
most_entropic.twin("half of it", lambda: AtLeast(entropy(independent) / 2, entropy(P)))
