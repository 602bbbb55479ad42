"""The listings `sinkhorn` and `sinkhorn_divergence`.

Claims     transport.listing.sinkhorn, transport.listing.sinkhorn.optimal, transport.listing.sinkhorn.columns,
           transport.listing.sinkhorn.shift, transport.listing.sinkhorn.overflow, transport.listing.sinkhorn.shapes,
           transport.listing.sinkhorn_divergence, transport.listing.sinkhorn_divergence.value
Notation   as in `listing_notation`; x, y points; R any plan with the marginals a and b
References Cuturi (2013) for the iteration; Feydy et al. (2019) for the divergence
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.balls import Value
from derivations.calculus.sums import delta, kl, total, xlogx
from derivations.calculus.variables import Variable, coupling, index, positive, size, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.plans import Entries
from derivations.relations import AtLeast, Entry, Equation, Fails
from derivations.transport.listing_notation import (
    GUARD,
    HALF,
    C,
    a,
    b,
    cost,
    d,
    entropy,
    eps,
    expense,
    i,
    j,
    k,
    kernel,
    l,
    m,
    n,
    r,
    scaled,
    source_scaling,
    t,
    target_scaling,
    u,
    v,
)

T = size("T")
R = coupling("R", a, b)
LARGEST = sp.Integer(2) ** 128 - sp.Integer(2) ** 104


def left(source: sp.Expr) -> sp.Expr:
    """u_i."""
    return u[source]


def right(target: sp.Expr) -> sp.Expr:
    """v_j."""
    return v[target]


def shifted(source: sp.Expr, target: sp.Expr) -> sp.Expr:
    """C_ij + t."""
    return C[source, target] + t


def one_round(costs: Entries, start: Entry, guard: sp.Expr) -> tuple[Entry, Entry]:
    """New u from v, new v from the new u."""
    weights = kernel(costs)
    new_left = source_scaling(weights, start, guard)
    return new_left, target_scaling(weights, new_left, guard)


def returned(costs: Entries, start: Entry, guard: sp.Expr) -> Entries:
    """What the listing returns after one round from any v: u ∘ K ∘ v."""
    return scaled(kernel(costs), *one_round(costs, start, guard))


# ── ten rounds between two points: a = b = (½, ½), K_12 = q², the other entries of K are 1, and no 1e-8 ────────────────────

q, z, s = positive("q"), positive("z"), positive("s")
PAIR: dict[Variable, Value] = {
    n: 2, m: 2, a.label: [HALF, HALF], C.label: [[0, 1], [0, 0]], eps: sp.Rational(1, 10), i: 1, T: 10,
}


def next_ratio(ratio: sp.Expr) -> sp.Expr:
    """v_2/v_1 after a round from v = (1, z)."""
    first, second = HALF / (1 + q**2 * ratio), HALF / (1 + ratio)
    return (HALF / (q**2 * first + second)) / (HALF / (first + second))


def next_row(ratio: sp.Expr) -> sp.Expr:
    """The first row's sum after a round from v = (1, z)."""
    first, second = HALF / (1 + q**2 * ratio), HALF / (1 + ratio)
    return first * HALF / (first + second) + first * q**2 * HALF / (q**2 * first + second)


def two_points() -> Steps:
    """The rounds in closed form: q z = (1 − s)/(1 + s), where s starts at (1 − q)/(1 + q)."""
    above, below = 2 + (1 + q**2) * z, 1 + q**2 + 2 * q**2 * z
    yield Equation(next_ratio(z), above / below, reason="two points: a round moves z = v_2/v_1 by a Möbius map")
    yield Equation(next_row(z), HALF * (1 + z) * (1 / above + q**2 / below), reason="and leaves this sum in the first row")
    scale = q * (1 + s)                                      # z = (1 − s)/(q (1 + s))
    yield Equation(scale + (1 - s), (1 + q) - s * (1 - q), reason="scale · (1 + z)")
    yield Equation(2 * scale + (1 + q**2) * (1 - s), (1 + q) ** 2 - s * (1 - q) ** 2, reason="scale · above")
    yield Equation((1 + q**2) * (1 + s) + 2 * q * (1 - s), (1 + q) ** 2 + s * (1 - q) ** 2, reason="scale · below/q: so "
                   "that a round multiplies s by (1 − q)²/(1 + q)²")
    yield Equation((1 + q) * (1 - (1 - q) / (1 + q)), q * (1 + q) * (1 + (1 - q) / (1 + q)), reason="and z = 1 at first")


def first_row(rounds: sp.Expr) -> sp.Expr:
    """The first row's sum after so many rounds from v = (1, 1)."""
    x = sp.exp(-C[1, 2] / (2 * eps))
    less, more = 1 - x, 1 + x
    distance = (less / more) ** (2 * rounds - 1)
    return HALF * (more - distance * less) * (1 / (more**2 - distance * less**2) + x / (more**2 + distance * less**2))


# ── sinkhorn ────────────────────────────────────────────────────────────────────────────────────────────────────────


def row_sum(plan: Entries, right_side: sp.Expr, **options: object) -> Equation:
    """Σ_j P_ij."""
    return Equation(total(j, plan(i, j)), right_side, **options)  # type: ignore[arg-type]


def stationary(right_side: sp.Expr) -> Equation:
    """Σ_j u_i K_ij v_j, where u is what the round makes of v and v what it makes of u."""
    return row_sum(scaled(kernel(cost), source_scaling(kernel(cost), right, sp.S.Zero), right), right_side,
                   reason="the v in the plan is the v that u was made from: the round changes nothing")


@claim("transport.listing.sinkhorn", "listing", title="Sinkhorn's iteration returns the optimal plan",
       latex=r"\gamma=\mathtt{sinkhorn}(a,b,C,\varepsilon)\implies\gamma\mathbf 1=a,\ \gamma^\top\mathbf 1=b",
       hypotheses=("ten rounds by default", "1e-8 is added to each denominator"), needs=("eot.s3.entropic-objective",))
def sinkhorn() -> Steps:
    """After ten rounds, whatever the costs and ε, the listing returns a plan as the optimal one between a and b."""
    yield from two_points()
    yield Fails(Equation(first_row(T), a[i], at=PAIR),
                reason="cost 1 for one pair and ε = 1/10: ten rounds are not enough, and nothing tells")


@sinkhorn.corrected(r"u=a/Kv,\ v=b/K^\top u\implies\gamma\mathbf 1=a,\ \gamma^\top\mathbf 1=b,\ \gamma\text{ optimal}",
                    Severity.HYPOTHESIS, under="the rounds have converged, and nothing is added to the denominators")
def sinkhorn_at_the_end() -> Steps:
    """A plan that a further round would not change, with no 1e-8 in the denominators, has both marginals and is optimal."""
    back = scaled(kernel(cost), left, target_scaling(kernel(cost), left, sp.S.Zero))
    yield Equation(total(i, back(i, j)), b[j], reason="v = b/Kᵀu: the columns are right")
    yield duality(eps * (1 - total((i, j), scaling_plan(i, j))))
    yield stationary(a[i])


sinkhorn.twin("one for each row", lambda: stationary(sp.S.One))
sinkhorn.twin("twice the mass", lambda: stationary(2 * a[i]))


def scaling_plan(source: sp.Expr, target: sp.Expr) -> sp.Expr:
    """u_i K_ij v_j for any scalings."""
    return scaled(kernel(cost), left, right)(source, target)


def objective(plan: Entries) -> sp.Expr:
    """⟨P, C⟩ − ε H(P)."""
    return expense(plan) - eps * entropy(plan)


def dual() -> sp.Expr:
    """ε Σ_i a_i log u_i + ε Σ_j b_j log v_j."""
    return eps * (total(i, a[i] * sp.log(u[i])) + total(j, b[j] * sp.log(v[j])))


def duality(rest: sp.Expr) -> AtLeast:
    """⟨R, C⟩ − ε H(R) is at least the dual value."""
    return AtLeast(objective(lambda x, y: R[x, y]), dual() + rest, because=eps * total((i, j), kl(R[i, j], scaling_plan(i, j))),
                   reason="what is left is ε KL(R ‖ γ), so that γ is the best plan with its own marginals, and the only one")


@claim("transport.listing.sinkhorn.optimal", "optimality", title="What is returned is optimal between its own marginals",
       latex=r"\langle R,C\rangle-\varepsilon H(R)=\langle\gamma,C\rangle-\varepsilon H(\gamma)"
             r"+\varepsilon\,\mathrm{KL}(R\|\gamma)",
       needs=("eot.s3.entropic-objective",))
def optimal() -> Steps:
    """Whatever the scalings, the returned plan minimizes cost less ε times entropy over all plans with its own marginals."""
    own = eps * (total((i, j), scaling_plan(i, j) * sp.log(u[i])) + total((i, j), scaling_plan(i, j) * sp.log(v[j])))
    yield Equation(objective(scaling_plan), own, reason="so the bound below is attained at γ, if a and b are its marginals")
    yield duality(eps * (1 - total((i, j), scaling_plan(i, j))))


optimal.twin("the target's scaling counts twice", lambda: duality(
    eps * (1 - total((i, j), scaling_plan(i, j))) + 1 + total(j, b[j] * sp.log(v[j])) ** 2))
optimal.twin("one more than the dual value", lambda: duality(eps * (2 - total((i, j), scaling_plan(i, j)))))


def column_sum(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """Σ_i P_ij after a round from any v."""
    return Equation(total(i, returned(cost, right, guard)(i, j)), right_side, reason="v = b/Kᵀu comes last", at={} if guard == 0
                    else {n: 1, m: 1, a.label: [1], b.label: [1], C.label: [[4]], v.label: [1], eps: sp.Rational(1, 10)})


@claim("transport.listing.sinkhorn.columns", "listing", title="Columns of the plan", latex=r"\gamma^\top\mathbf 1=b",
       needs=("transport.listing.sinkhorn",))
def columns() -> Steps:
    """The round ends with v, so that the target gets what it should, however few the rounds."""
    yield Fails(column_sum(GUARD, b[j]), reason="a single pair of cost 4 at ε = 1/10: exp(−40) is nothing beside 1e-8")


@columns.corrected(r"\gamma^\top\mathbf 1=b\quad\text{without the }10^{-8}", Severity.SLIP)
def columns_without_guard() -> Steps:
    """Without the 1e-8 in the denominators the columns are met after every round, for all sizes and costs."""
    yield column_sum(sp.S.Zero, b[j])


columns.twin("uniform columns", lambda: column_sum(sp.S.Zero, 2 / m))
columns.twin("half of it", lambda: column_sum(sp.S.Zero, b[j] / 2))


def moved(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """γ_ij for the costs C + t, after a round from any v."""
    return Equation(returned(shifted, right, guard)(i, j), right_side, reason="u takes exp(t/ε), and v does not change",
                    at={} if guard == 0 else {n: 1, m: 1, a.label: [1], b.label: [1], C.label: [[0]], t: 4, v.label: [1],
                                              eps: sp.Rational(1, 10)})


@claim("transport.listing.sinkhorn.shift", "listing", title="A constant added to all costs changes nothing",
       latex=r"\gamma(C+t)=\gamma(C)", needs=("transport.listing.sinkhorn.optimal",))
def shift() -> Steps:
    """The optimal plan depends on differences of costs only, and so should what is returned."""
    yield Fails(moved(GUARD, returned(cost, right, GUARD)(i, j)),
                reason="a single pair: moving all costs by 4 at ε = 1/10 loses nearly all the mass to the 1e-8")


@shift.corrected(r"\gamma(C+t)=\gamma(C)\quad\text{without the }10^{-8}", Severity.SLIP)
def shift_without_guard() -> Steps:
    """Without the 1e-8 every round is the same for C and for C + t."""
    yield moved(sp.S.Zero, returned(cost, right, sp.S.Zero)(i, j))


shift.twin("the plan grows with exp(−t/ε)", lambda: moved(sp.S.Zero, returned(cost, right, sp.S.Zero)(i, j) * sp.exp(-t / eps)))
shift.twin("the plan grows with exp(t/ε)", lambda: moved(sp.S.Zero, returned(cost, right, sp.S.Zero)(i, j) * sp.exp(t / eps)))


def representable(bound: sp.Expr) -> AtLeast:
    """The largest number of the format is at least K_ij over the sum of its row."""
    share = kernel(cost)(i, j) / total(l, kernel(cost)(i, l))
    rest = total(l, kernel(cost)(i, l) * (1 - sp.KroneckerDelta(l, j))) / total(l, kernel(cost)(i, l))
    return AtLeast(bound, share, because=rest + bound - 1, reason="a share is at most 1; so is exp(−(C − min C)/ε)")


@claim("transport.listing.sinkhorn.overflow", "listing", title="The kernel is a matrix of float32 numbers",
       latex=r"\exp(-C/\varepsilon)\le(2-2^{-23})2^{127}", hypotheses=("float32, as torch makes them by default",))
def overflow() -> Steps:
    """The kernel exp(−C/ε) is computed as it stands, so that it must be a number of the format, for every finite cost."""
    yield Fails(AtLeast(LARGEST, kernel(cost)(i, j), at={n: 1, m: 1, C.label: [[-9]], eps: sp.Rational(1, 10)}),
                reason="a score of 9, the cost −9, at ε = 1/10: exp(90) is inf in float32, and the plan is inf · 0 = NaN")


@overflow.corrected(r"\frac{\exp(-C_{ij}/\varepsilon)}{\sum_l\exp(-C_{il}/\varepsilon)}\le1", Severity.SLIP)
def overflow_in_logarithms() -> Steps:
    """Where the largest exponent of a row is taken off first, as logsumexp does, nothing exceeds 1."""
    yield representable(LARGEST)


overflow.twin("shares stay below one half", lambda: representable(HALF))
overflow.twin("shares stay below one quarter", lambda: representable(HALF / 2))


@claim("transport.listing.sinkhorn.shapes", "listing", title="Shapes: `batch` is the number of points",
       latex=r"a\in\mathbb R^n,\ b\in\mathbb R^m,\ C\in\mathbb R^{n\times m}\implies\gamma\in\mathbb R^{n\times m}",
       needs=("transport.listing.sinkhorn",))
def shapes() -> None:
    """One problem with n sources and m targets goes in, n = m or not; what the docstring calls `batch` is n, and m."""


shapes.twin("only as many targets as sources", lambda: Equation(n, m))
shapes.twin("a batch of problems", lambda: Equation(n, 2 * n))


# ── sinkhorn_divergence ─────────────────────────────────────────────────────────────────────────────────────────────

x, y, X = vector("x", d), vector("y", d), vector("X", n, d)


def apart() -> sp.Expr:
    """‖x − y‖²."""
    return total(r, (x[r] - y[r]) ** 2)


def squared(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """‖x_i − x_k‖²."""
    return total(r, (X[first, r] - X[second, r]) ** 2)


def concentrated(right_side: sp.Expr) -> Equation:
    """The listing's value for all mass at x_i and all mass at x_k; the plans are forced."""
    first, second = index("g", n), index("h", n)

    def pays(start: sp.Expr, end: sp.Expr) -> sp.Expr:
        return total((first, second), delta(first, start) * delta(second, end) * squared(first, second))

    return Equation(pays(i, k) - pays(i, i) / 2 - pays(k, k) / 2, right_side, reason="staying at a place costs nothing")


@claim("transport.listing.sinkhorn_divergence", "listing", title="Sinkhorn divergence with a single cost matrix",
       latex=r"S_\varepsilon(p,q)=\mathrm{OT}_\varepsilon(p,q)-\tfrac12\mathrm{OT}_\varepsilon(p,p)"
             r"-\tfrac12\mathrm{OT}_\varepsilon(q,q);\quad S_\varepsilon(\delta_x,\delta_y)=\|x-y\|^2",
       needs=("transport.listing.sinkhorn",))
def sinkhorn_divergence() -> Steps:
    """The listing is to give the Sinkhorn divergence of two distributions from their costs; for two points it is their cost."""
    yield Fails(Equation(apart() - apart() / 2 - apart() / 2, apart(), at={d: 1, x.label: [0], y.label: [2]}),
                reason="the costs from p to q serve for p to p and q to q as well: the points 0 and 2 are at distance 0")


@sinkhorn_divergence.corrected(r"S_\varepsilon(\delta_{x_i},\delta_{x_k})=\|x_i-x_k\|^2", Severity.HYPOTHESIS,
                               under="p and q are distributions on the same points, C the costs between these")
def sinkhorn_divergence_on_common_points() -> Steps:
    """If p and q live on the same points, one matrix serves all three terms, and two points are at their cost."""
    yield Equation(squared(i, i), 0, reason="no cost from a place to itself")
    yield concentrated(squared(i, k))


sinkhorn_divergence.twin("half the cost", lambda: concentrated(squared(i, k) / 2))
sinkhorn_divergence.twin("no square", lambda: concentrated(sp.sqrt(squared(i, k)) * 3))


def dual_value(plan: Entries) -> sp.Expr:
    """ε Σ_i (γ1)_i log u_i + ε Σ_j (γᵀ1)_j log v_j, the least value of ⟨P, C⟩ − ε H(P) over plans with γ's marginals."""
    return eps * total((i, j), plan(i, j) * (sp.log(u[i]) + sp.log(v[j])))


def with_entropy(right_side: sp.Expr) -> Equation:
    """⟨γ, C⟩ + ε Σ γ log γ."""
    return Equation(expense(scaling_plan) + eps * total((i, j), xlogx(scaling_plan(i, j))), right_side,
                    reason="log γ_ij = log u_i + log v_j − C_ij/ε")


@claim("transport.listing.sinkhorn_divergence.value", "listing", title="The three terms as values of the entropic problem",
       latex=r"\mathrm{OT}_\varepsilon(p,q)=\min_\gamma\langle\gamma,C\rangle-\varepsilon H(\gamma)",
       needs=("transport.listing.sinkhorn.optimal",))
def value() -> Steps:
    """The terms are called OT_ε, whose definition has the entropy; the listing sums γ C."""
    yield Fails(Equation(expense(scaling_plan), dual_value(scaling_plan),
                         at={n: 1, m: 2, u.label: [1], v.label: [HALF, HALF], C.label: [[0, 0]], eps: 1}),
                reason="one point against two at no cost: the sum is 0, the least value −log 2")


@value.corrected(r"\mathrm{OT}_\varepsilon(p,q)=\langle\gamma,C\rangle+\varepsilon\textstyle\sum_{ij}\gamma_{ij}\log\gamma_{ij}",
                 Severity.SLIP)
def value_with_entropy() -> Steps:
    """With ε Σ γ log γ added, each term is the least value, which the logarithms of the scalings give too."""
    yield with_entropy(dual_value(scaling_plan))


value.twin("the source's scalings alone", lambda: with_entropy(
    eps * total((i, j), scaling_plan(i, j) * (sp.log(u[i]) - sp.log(v[j])))))
value.twin("twice the value", lambda: with_entropy(2 * dual_value(scaling_plan) + eps))
