"""The listing `sinkhorn`.

Claims     transport.listing.sinkhorn            u = a/Kv, v = b/Kᵀu, converged  ⟹  P1 = a, Pᵀ1 = b, P optimal
           transport.listing.sinkhorn.optimal    ⟨R, C⟩ − εH(R) = ⟨P, C⟩ − εH(P) + ε KL(R ‖ P), same marginals
           transport.listing.sinkhorn.columns    Pᵀ1 = b after each round in the log domain  (corrected)
           transport.listing.sinkhorn.shift      P(C + t) = P(C) in the log domain  (corrected)
           transport.listing.sinkhorn.overflow   P_ij = exp(φ_i − C_ij/ε + ψ_j) ≤ b_j in the log domain  (corrected)
Notation   as in `listing_notation`; R any plan with the marginals a and b; φ = log u
References Cuturi (2013) for the iteration
"""

import sympy as sp

from derivations.documents.transport.listing_notation import (
    GUARD,
    HALF,
    C,
    a,
    b,
    entropy,
    eps,
    expense,
    i,
    j,
    k,
    kernel,
    m,
    n,
    scaled,
    source_scaling,
    t,
    target_scaling,
    u,
    v,
)
from derivations.vocabulary import *

T, phi = size("T"), vector("phi", n)
R = coupling("R", a, b)
LARGEST = sp.Integer(2) ** 128 - sp.Integer(2) ** 104


def shifted(source: sp.Expr, target: sp.Expr) -> sp.Expr:
    """C_ij + t."""
    return C[source, target] + t


def one_round(costs: Entries, start: Entry, guard: sp.Expr) -> tuple[Entry, Entry]:
    """New u from v, new v from the new u."""
    weights = kernel(costs)
    new_left = source_scaling(weights, start, guard)
    return new_left, target_scaling(weights, new_left, guard)


def returned(costs: Entries, start: Entry, guard: sp.Expr) -> Entries:
    """The listing's result after one round from any v: u ∘ K ∘ v."""
    return scaled(kernel(costs), *one_round(costs, start, guard))


# ── ten rounds between two points: a = b = (½, ½), K_12 = q², the other entries of K are 1, and no 1e-8 ────────────────────

q, z, s = positive("q"), positive("z"), positive("s")
PAIR: dict[Variable, Value] = {
    n: 2,
    m: 2,
    a.label: [HALF, HALF],
    C.label: [[0, 1], [0, 0]],
    eps: sp.Rational(1, 10),
    i: 1,
    T: 10,
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
    scale = q * (1 + s)  # z = (1 − s)/(q (1 + s))
    yield Equation(scale + (1 - s), (1 + q) - s * (1 - q), reason="scale · (1 + z)")
    yield Equation(2 * scale + (1 + q**2) * (1 - s), (1 + q) ** 2 - s * (1 - q) ** 2, reason="scale · above")
    yield Equation(
        (1 + q**2) * (1 + s) + 2 * q * (1 - s),
        (1 + q) ** 2 + s * (1 - q) ** 2,
        reason="scale · below/q: so that a round multiplies s by (1 − q)²/(1 + q)²",
    )
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
    return row_sum(
        scaled(kernel(C), source_scaling(kernel(C), v, sp.S.Zero), v),
        right_side,
        reason="the v in the plan is the v that u was made from: the round changes nothing",
    )


@claim(
    "transport.listing.sinkhorn",
    "listing",
    title="Sinkhorn's iteration returns the optimal plan",
    latex=r"\gamma=\mathtt{sinkhorn}(a,b,C,\varepsilon)\implies\gamma\mathbf 1=a,\ \gamma^\top\mathbf 1=b",
    hypotheses=("ten rounds by default", "1e-8 is added to each denominator"),
    needs=("eot.s3.entropic-objective",),
)
def sinkhorn() -> Steps:
    """After ten rounds, whatever the costs and ε, the listing returns a plan as the optimal one between a and b."""
    yield from two_points()
    yield Fails(
        Equation(first_row(T), a[i], at=PAIR),
        reason="cost 1 for one pair and ε = 1/10: ten rounds are not enough, and nothing tells",
    )


@sinkhorn.corrected(
    r"u=a/Kv,\ v=b/K^\top u\implies\gamma\mathbf 1=a,\ \gamma^\top\mathbf 1=b,\ \gamma\text{ optimal}",
    Severity.HYPOTHESIS,
    under="the rounds have converged, and nothing is added to the denominators",
    replaces="rows after ten rounds",
)
def sinkhorn_at_the_end() -> Steps:
    """A plan that a further round would not change, with no 1e-8 in the denominators, has both marginals and is optimal."""
    back = scaled(kernel(C), u, target_scaling(kernel(C), u, sp.S.Zero))
    yield Equation(total(i, back(i, j)), b[j], reason="v = b/Kᵀu: the columns are right")
    yield duality(eps * (1 - total((i, j), scaling_plan(i, j))))
    yield stationary(a[i])


sinkhorn.twin("one for each row", lambda: stationary(sp.S.One))
sinkhorn.twin("twice the mass", lambda: stationary(2 * a[i]))


def scaling_plan(source: sp.Expr, target: sp.Expr) -> sp.Expr:
    """u_i K_ij v_j for any scalings."""
    return scaled(kernel(C), u, v)(source, target)


def objective(plan: Entries) -> sp.Expr:
    """⟨P, C⟩ − ε H(P)."""
    return expense(plan) - eps * entropy(plan)


def dual() -> sp.Expr:
    """ε Σ_i a_i log u_i + ε Σ_j b_j log v_j."""
    return eps * (total(i, a[i] * sp.log(u[i])) + total(j, b[j] * sp.log(v[j])))


def duality(rest: sp.Expr) -> AtLeast:
    """⟨R, C⟩ − ε H(R) is at least the dual value."""
    return AtLeast(
        objective(R),
        dual() + rest,
        because=eps * total((i, j), kl(R[i, j], scaling_plan(i, j))),
        reason="what is left is ε KL(R ‖ γ), so that γ is the best plan with its own marginals, and the only one",
    )


@claim(
    "transport.listing.sinkhorn.optimal",
    "optimality",
    title="What is returned is optimal between its own marginals",
    latex=r"\langle R,C\rangle-\varepsilon H(R)\ge\varepsilon\big(1-\textstyle\sum_{ij}\gamma_{ij}"
    r"+\langle a,\log u\rangle+\langle b,\log v\rangle\big),\quad"
    r"\langle\gamma,C\rangle-\varepsilon H(\gamma)=\varepsilon\sum_{ij}\gamma_{ij}(\log u_i+\log v_j)",
    needs=("eot.s3.entropic-objective",),
)
def optimal() -> Steps:
    """Whatever the scalings, the returned plan minimizes cost less ε times entropy over all plans with its own marginals."""
    own = eps * (total((i, j), scaling_plan(i, j) * sp.log(u[i])) + total((i, j), scaling_plan(i, j) * sp.log(v[j])))
    yield Equation(objective(scaling_plan), own, reason="so the bound below is attained at γ, if a and b are its marginals")
    yield duality(eps * (1 - total((i, j), scaling_plan(i, j))))


optimal.twin(
    "the target's scaling counts twice",
    lambda: duality(eps * (1 - total((i, j), scaling_plan(i, j))) + 1 + total(j, b[j] * sp.log(v[j])) ** 2),
)
optimal.twin("one more than the dual value", lambda: duality(eps * (2 - total((i, j), scaling_plan(i, j)))))


def column_sum(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """Σ_i P_ij after a round from any v."""
    return Equation(
        total(i, returned(C, v, guard)(i, j)),
        right_side,
        reason="v = b/Kᵀu comes last",
        at={}
        if guard == 0
        else {n: 1, m: 1, a.label: [1], b.label: [1], C.label: [[4]], v.label: [1], eps: sp.Rational(1, 10)},
    )


@claim(
    "transport.listing.sinkhorn.columns",
    "listing",
    title="Columns of the plan",
    latex=r"\gamma^\top\mathbf 1=b",
    needs=("transport.listing.sinkhorn",),
)
def columns() -> Steps:
    """The round ends with v, so that the target gets what it should, however few the rounds."""
    yield Fails(column_sum(GUARD, b[j]), reason="a single pair of cost 4 at ε = 1/10: exp(−40) is nothing beside 1e-8")


@columns.corrected(
    r"\gamma^\top\mathbf 1=b\quad\text{with }v=b/K^\top u\text{ in the log domain}",
    Severity.SLIP,
    replaces="a round with the 1e-8",
)
def columns_without_guard() -> Steps:
    """In the log domain, where no denominator vanishes and nothing is added, the columns are met after every round."""
    yield column_sum(sp.S.Zero, b[j])


columns.twin("uniform columns", lambda: column_sum(sp.S.Zero, 2 / m))
columns.twin("half of it", lambda: column_sum(sp.S.Zero, b[j] / 2))


def shifted_plan(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """γ_ij for the costs C + t, after a round from any v."""
    return Equation(
        returned(shifted, v, guard)(i, j),
        right_side,
        reason="u takes exp(t/ε), and v does not change",
        at={}
        if guard == 0
        else {n: 1, m: 1, a.label: [1], b.label: [1], C.label: [[0]], t: 4, v.label: [1], eps: sp.Rational(1, 10)},
    )


@claim(
    "transport.listing.sinkhorn.shift",
    "listing",
    title="A constant added to all costs changes nothing",
    latex=r"\gamma(C+t\,\mathbf 1\mathbf 1^\top)=\gamma(C)",
    needs=("transport.listing.sinkhorn.optimal",),
)
def shift() -> Steps:
    """The optimal plan depends on differences of costs only, and so should what is returned."""
    yield Fails(
        shifted_plan(GUARD, returned(C, v, GUARD)(i, j)),
        reason="a single pair: moving all costs by 4 at ε = 1/10 loses nearly all the mass to the 1e-8",
    )


@shift.corrected(r"\gamma(C+t)=\gamma(C)\quad\text{in the log domain}", Severity.SLIP, replaces="a round with the 1e-8")
def shift_without_guard() -> Steps:
    """In the log domain, where no denominator vanishes and nothing is added, a round is the same for C and for C + t."""
    yield shifted_plan(sp.S.Zero, returned(C, v, sp.S.Zero)(i, j))


shift.twin("the plan grows with exp(−t/ε)", lambda: shifted_plan(sp.S.Zero, returned(C, v, sp.S.Zero)(i, j) * sp.exp(-t / eps)))
shift.twin("the plan grows with exp(t/ε)", lambda: shifted_plan(sp.S.Zero, returned(C, v, sp.S.Zero)(i, j) * sp.exp(t / eps)))


def part(source: sp.Expr, target: sp.Expr) -> sp.Expr:
    """exp(φ_i − C_ij/ε), the share of the target j that the source i would give, before it is scaled."""
    return sp.exp(phi[source] - C[source, target] / eps)


def representable(bound: sp.Expr) -> AtLeast:
    """γ_ij ≤ bound, where γ_ij = exp(φ_i − C_ij/ε + ψ_j) with ψ_j = log b_j − log Σ_k exp(φ_k − C_kj/ε)."""
    others = b[j] * total(k, part(k, j) * (1 - sp.KroneckerDelta(k, i))) / total(k, part(k, j))
    return AtLeast(
        bound,
        b[j] * part(i, j) / total(k, part(k, j)),
        because=others + bound - b[j],
        reason="what the target j gets from the other sources is never negative",
    )


@claim(
    "transport.listing.sinkhorn.overflow",
    "listing",
    title="The kernel is a matrix of float32 numbers",
    latex=r"\exp(-C_{ij}/\varepsilon)\le(2-2^{-23})2^{127}",
    hypotheses=("float32, as torch makes them by default",),
)
def overflow() -> Steps:
    """The kernel exp(−C/ε) is computed as it stands, so that it must be a number of the format, for every finite cost."""
    yield Fails(
        AtLeast(LARGEST, kernel(C)(i, j), at={n: 1, m: 1, C.label: [[-9]], eps: sp.Rational(1, 10)}),
        reason="a score of 9, the cost −9, at ε = 1/10: exp(90) is inf in float32, and the plan is inf · 0 = NaN",
    )


@overflow.corrected(
    r"\gamma_{ij}=\exp\big(\varphi_i-C_{ij}/\varepsilon+\psi_j\big)\le b_j,"
    r"\quad\psi_j=\log b_j-\mathrm{LSE}_k(\varphi_k-C_{kj}/\varepsilon)",
    Severity.SLIP,
    replaces="the kernel, by what is exponentiated in the log domain",
)
def overflow_in_logarithms() -> Steps:
    """In the log domain only the plan is exponentiated, and no entry of it exceeds what its target gets."""
    yield representable(b[j])


overflow.twin("at most half of it", lambda: representable(b[j] / 2))
overflow.twin("at most a quarter of it", lambda: representable(b[j] / 4))


def entries(right_side: sp.Expr) -> Equation:
    """The number of entries of C and γ."""
    return Equation(
        total((i, j), sp.S.One), right_side, reason="a count only: which shapes go through is seen by running the listing"
    )


@claim(
    "transport.listing.sinkhorn.shapes",
    "listing",
    title="As many sources as targets, called `batch`",
    latex=r"a,b\in\mathbb R^{\mathtt{batch}},\ C\in\mathbb R^{\mathtt{batch}\times\mathtt{batch}}",
    needs=("transport.listing.sinkhorn",),
)
def shapes() -> Steps:
    """The docstring gives both distributions one length, that of a batch, and a square matrix of costs."""
    yield Fails(
        Equation(total((i, j), sp.S.One), n**2, at={n: 1, m: 2}),
        reason="the lengths are numbers of points: one source and two targets go through, a batch of problems does not",
    )


@shapes.corrected(
    r"a\in\mathbb R^n,\ b\in\mathbb R^m,\ C,\gamma\in\mathbb R^{n\times m}\quad\text{(one problem)}", Severity.WORDING
)
def shapes_of_one_problem() -> Steps:
    """One problem goes in, with n sources, m targets and n · m costs."""
    yield entries(n * m)


shapes.twin("as many sources as targets", lambda: entries(m**2))
shapes.twin("a batch of two problems", lambda: entries(2 * n * m))
