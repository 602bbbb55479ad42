"""The listings `sinkhorn_divergence` and `compute_attention_ot_divergence`.

Claims     transport.listing.sinkhorn_divergence   S_ε = cm/(m + 1) − ½ε log((m + 1)/(1 + m e^(−c/ε)))  (corrected)
           transport.listing.sinkhorn_divergence.one-cost   p, q on the same points  ⟹  S_ε(δ_x, δ_y) = C_xy
           transport.listing.sinkhorn_divergence.value   OT_ε = ⟨P, C⟩ + ε Σ P log P, not ⟨P, C⟩  (corrected)
           transport.listing.compute_attention_ot_divergence   p = q = 1/n, C = −S: 0 where e^(S/ε) < ∞  (corrected)
           transport.listing.compute_attention_ot_divergence.batch   (Kv)_bi = Σ_j K_bij v_bj  (corrected)
Notation   as in `listing_notation`; x, y, X points; m others at the cost c of a point and of each other; B problems of N tokens
References Feydy et al. (2019) for the divergence; Luise et al. (2018) for the sharp variant, of costs alone
"""

import sympy as sp

from derivations.documents.transport.listing_notation import HALF, C, d, eps, expense, i, j, k, m, n, r, u, v
from derivations.documents.transport.listing_sinkhorn import overflow, scaling_plan
from derivations.vocabulary import *

# ── sinkhorn_divergence ─────────────────────────────────────────────────────────────────────────────────────────────


def dual_value(plan: Entries) -> sp.Expr:
    """ε Σ_i (γ1)_i log u_i + ε Σ_j (γᵀ1)_j log v_j, the least value of ⟨P, C⟩ − ε H(P) over plans with γ's marginals."""
    return eps * total((i, j), plan(i, j) * (sp.log(u[i]) + sp.log(v[j])))


def with_entropy(right_side: sp.Expr) -> Equation:
    """⟨γ, C⟩ + ε Σ γ log γ."""
    return Equation(
        expense(scaling_plan) + eps * total((i, j), xlogx(scaling_plan(i, j))),
        right_side,
        reason="log γ_ij = log u_i + log v_j − C_ij/ε",
    )


# p is all at one of m + 1 points, q is even, and any two points are at the cost c: K is 1 on the diagonal, κ elsewhere
c = positive("c")
near, other = index("g", m + 1), index("h", m)
kappa = sp.exp(-c / eps)
to_all, to_itself = 1 / (m + 1), 1 / ((m + 1) * (1 + m * kappa))  # entries of γ_pq, and the diagonal of γ_qq


def costs() -> tuple[sp.Expr, sp.Expr]:
    """⟨γ_pq, C⟩ and ⟨γ_qq, C⟩; all mass of γ_pp stays where it is."""
    return total(other, to_all * c), total((near, other), kappa * to_itself * c)


def entropies() -> tuple[sp.Expr, sp.Expr]:
    """Σ γ log γ of γ_pq and of γ_qq = K/((m + 1)(1 + m κ)); that of γ_pp is 1 log 1 = 0."""
    stays = -sp.log(m + 1) - sp.log(1 + m * kappa)  # its logarithm on the diagonal; elsewhere −c/ε is added
    return (
        total(near, -to_all * sp.log(m + 1)),
        total(near, to_itself * stays) + total((near, other), kappa * to_itself * (stays - c / eps)),
    )


def listed() -> sp.Expr:
    """The listing's sum, of costs alone."""
    across, within = costs()
    return across - within / 2


def divergence_of_even(right_side: sp.Expr) -> Equation:
    """OT_ε(p, q) − ½ OT_ε(p, p) − ½ OT_ε(q, q), entropies included."""
    across, within = entropies()
    return Equation(listed() + eps * across - eps * within / 2, right_side, reason="the entropies of the plans do not cancel")


def even(sign: int = 1) -> sp.Expr:
    """c m/(m + 1) − ½ ε log((m + 1)/(1 + m κ))."""
    return c * m / (m + 1) - sign * eps * (sp.log(m + 1) - sp.log(1 + m * kappa)) / 2


@claim(
    "transport.listing.sinkhorn_divergence",
    "listing",
    title="The Sinkhorn divergence of two distributions",
    latex=r"S_\varepsilon(p,q)=\mathrm{OT}_\varepsilon(p,q)-\tfrac12\mathrm{OT}_\varepsilon(p,p)"
    r"-\tfrac12\mathrm{OT}_\varepsilon(q,q)",
    needs=("transport.listing.sinkhorn.optimal", "transport.listing.sinkhorn_divergence.value"),
)
def sinkhorn_divergence() -> Steps:
    """What is returned is called the Sinkhorn divergence S_ε(p, q), a sum of three values OT_ε of the entropic problem."""
    yield Equation(
        to_itself + total(other, kappa * to_itself),
        1 / (m + 1),
        reason="γ_qq = K/((m + 1)(1 + m κ)) has even rows and, as K is symmetric, columns: u and v are constant",
    )
    yield Fails(
        Equation(listed(), even(), at={m: 1, c: 1, eps: 1}),
        reason="points (1, 0) and (½, ½), C = (0 1; 1 0): the costs give x/2 with x = 1/(1 + 1/e), the values less",
    )


@sinkhorn_divergence.corrected(
    r"\mathrm{OT}_\varepsilon=\langle\gamma,C\rangle+\varepsilon\textstyle\sum\gamma\log\gamma:\quad "
    r"S_\varepsilon\big(\delta_x,\tfrac1{m+1}\mathbf 1\big)=\frac{cm}{m+1}"
    r"-\frac\varepsilon2\log\frac{m+1}{1+me^{-c/\varepsilon}}",
    Severity.SLIP,
    replaces="the sum of costs alone",
)
def sinkhorn_divergence_with_entropy() -> Steps:
    """With ε Σ γ log γ in each term it is S_ε: for a point against m + 1 even ones at the cost c, the value given.

    The costs alone, as the listing sums them, are another quantity, which the literature knows as the sharp variant.
    """
    yield with_entropy(dual_value(scaling_plan))
    yield divergence_of_even(even())


sinkhorn_divergence.twin("the logarithm's sign", lambda: divergence_of_even(even(-1)))
sinkhorn_divergence.twin("half of it", lambda: divergence_of_even(even() / 2))

x, y, X, S = vector("x", d), vector("y", d), vector("X", n, d), vector("S", n, n)


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


@claim(
    "transport.listing.sinkhorn_divergence.one-cost",
    "listing",
    title="One cost matrix for all three terms",
    latex=r"S_\varepsilon(\delta_x,\delta_y)=\|x-y\|^2",
    needs=("transport.listing.sinkhorn_divergence",),
)
def one_cost() -> Steps:
    """The costs from p to q serve for p to p and q to q as well; for single points, without entropy, that can be seen."""
    yield Fails(
        Equation(apart() - apart() / 2 - apart() / 2, apart(), at={d: 1, x.label: [0], y.label: [2]}),
        reason="the points 0 and 2: staying costs as much as going, which makes 0 of 4",
    )


@one_cost.corrected(
    r"S_\varepsilon(\delta_{x_i},\delta_{x_k})=\|x_i-x_k\|^2",
    Severity.HYPOTHESIS,
    under="p and q are distributions on the same points, C the costs between these",
    replaces="the costs from p to q in the terms of p and of q alone",
)
def one_cost_on_common_points() -> Steps:
    """If p and q live on the same points, one matrix serves all three terms, and two points are at their cost."""
    yield Equation(squared(i, i), 0, reason="no cost from a place to itself")
    yield concentrated(squared(i, k))


one_cost.twin("half the cost", lambda: concentrated(squared(i, k) / 2))
one_cost.twin("no square", lambda: concentrated(sp.sqrt(squared(i, k)) * 3))


def forced(costs: Entries) -> sp.Expr:
    """The listing's value for all mass at place i and all mass at place k, whose plans are forced."""
    return costs(i, k) - costs(i, i) / 2 - costs(k, k) / 2


def at_least(bound: sp.Expr) -> AtLeast:
    """The same for squared distances."""
    return AtLeast(
        forced(squared), bound, because=squared(i, k) - bound, reason="‖x_i − x_k‖², and 0 only where the points are one"
    )


@claim(
    "transport.listing.sinkhorn_divergence.distance",
    "listing",
    title="A regularized distance",
    latex=r"S_\varepsilon(\delta_i,\delta_k)\ge0",
    needs=("transport.listing.sinkhorn_divergence.one-cost",),
)
def distance() -> Steps:
    """The docstring calls the value a regularized distance of optimal transport, for any cost matrix: never negative."""
    yield Fails(
        AtLeast(forced(lambda first, second: -S[first, second]), 0, at={n: 2, S.label: [[0, 1], [1, 0]], i: 1, k: 2}),
        reason="costs −S of two places that resemble each other more than themselves: the value is −1; and only with "
        "as many targets as sources, since p with p takes a square matrix",
    )


@distance.corrected(
    r"C_{ik}=\|x_i-x_k\|^2:\quad S_\varepsilon(\delta_{x_i},\delta_{x_k})\ge0",
    Severity.HYPOTHESIS,
    replaces="any costs and distributions, by squared distances of common points and two single points",
)
def distance_of_points() -> Steps:
    """For squared distances of common points the value for two points is their cost, which is not negative."""
    yield Equation(forced(squared), squared(i, k), reason="staying at a place costs nothing")
    yield at_least(sp.S.Zero)


distance.twin("at least one", lambda: at_least(sp.S.One))
distance.twin("twice the cost", lambda: at_least(2 * squared(i, k)))


@claim(
    "transport.listing.sinkhorn_divergence.value",
    "listing",
    title="The three terms as values of the entropic problem",
    latex=r"\mathrm{OT}_\varepsilon(p,q)=\langle\gamma,C\rangle-\varepsilon H(\gamma)",
    needs=("transport.listing.sinkhorn.optimal",),
)
def value() -> Steps:
    """The terms are called OT_ε, whose definition has the entropy; the listing sums γ C."""
    yield Fails(
        Equation(
            expense(scaling_plan),
            dual_value(scaling_plan),
            at={n: 1, m: 2, u.label: [1], v.label: [HALF, HALF], C.label: [[0, 0]], eps: 1},
        ),
        reason="one point against two at no cost: the sum is 0, the least value −log 2",
    )


@value.corrected(
    r"\langle\gamma,C\rangle-\varepsilon H(\gamma)=\varepsilon\textstyle\sum_{ij}\gamma_{ij}(\log u_i+\log v_j)",
    Severity.SLIP,
    replaces="the sum of costs alone",
)
def value_with_entropy() -> Steps:
    """With ε Σ γ log γ added, each term is the least value, which the logarithms of the scalings give too."""
    yield with_entropy(dual_value(scaling_plan))


value.twin(
    "the source's scalings alone", lambda: with_entropy(eps * total((i, j), scaling_plan(i, j) * (sp.log(u[i]) - sp.log(v[j]))))
)
value.twin("twice the value", lambda: with_entropy(2 * dual_value(scaling_plan) + eps))

# ── compute_attention_ot_divergence ─────────────────────────────────────────────────────────────────────────────────

a, key, inner = interior("a", n), index("j", n), index("l", n)
P = coupling("P", a, a)


def measure(first: sp.Expr, second: sp.Expr, third: sp.Expr) -> sp.Expr:
    """⟨γ, −S⟩, weighted for the three calls: the plan P, and P with its rows or its columns rescaled to the marginal a."""
    rows = a[i] * P[i, key] / total(inner, P[i, inner])
    columns = a[key] * P[i, key] / total(k, P[k, key])
    paid = [-total((i, key), plan * S[i, key]) for plan in (P[i, key], rows, columns)]
    return first * paid[0] - second * paid[1] - third * paid[2]


def nothing(right_side: sp.Expr) -> Equation:
    """The value, for any plan with the marginals of all three calls."""
    return Equation(
        measure(sp.S.One, HALF, HALF),
        right_side,
        reason="p = q: rescaling changes nothing, the three calls end with one plan, and 1 − ½ − ½ = 0",
    )


@claim(
    "transport.listing.compute_attention_ot_divergence",
    "listing",
    title="A measure of how concentrated attention is",
    latex=r"\text{lower}=\text{more concentrated}",
    needs=("transport.listing.sinkhorn_divergence",),
)
def divergence() -> Steps:
    """The value is to be lower for concentrated attention than for attention that is spread out."""
    spread = measure(sp.S.One, HALF, HALF)
    yield nothing(sp.S.Zero)
    yield Fails(
        AtLeast(spread, sp.S.Zero, strict=True, at={n: 1, a.label: [1], P.label: [[1]], S.label: [[1]]}),
        reason="one token: both marginals are uniform, p = q, so the value is 0; softmax weights do not enter",
    )


@divergence.corrected(
    r"S_\varepsilon\text{'s listing at }p=q=\tfrac1n\mathbf 1,\ C=-S:\quad 0"
    r"\ \text{where }e^{S/\varepsilon}\text{ is a number of the format}",
    Severity.FATAL,
)
def divergence_is_zero() -> Steps:
    """Called head by head, with marginals of length n, the listing gives 0 for all Q and K that it can take: it tells nothing.

    It computes exp(S/ε), in float32 and at the default ε up to scores of 8.87: beyond it gives NaN.

    As printed it stops with an error for more than one token, in (B, N, d) with N ≥ 2 and in (N, d) with N, d ≥ 2; what
    goes through, B = N = 1 or (N, d) with N = 1 or d = 1, gives 0.
    """
    yield nothing(sp.S.Zero)


divergence.twin("half the cost of the plan", lambda: nothing(measure(sp.S.One, HALF, sp.S.Zero)))
divergence.twin("the cost of the plan", lambda: nothing(measure(sp.S.One, sp.S.Zero, sp.S.Zero)))

B, N = size("B"), size("N")
token = index("j", N)


def met(right_side: sp.Expr) -> Equation:
    """The number of entries of v that one problem's kernel multiplies in K v."""
    return Equation(
        total(token, sp.S.One), right_side, reason="a count only: which shapes go through is seen by running the listing"
    )


@claim(
    "transport.listing.compute_attention_ot_divergence.batch",
    "listing",
    title="Queries and keys in a batch",
    latex=r"Q,K\in\mathbb R^{B\times N\times d}:\quad K\in\mathbb R^{B\times N\times N},\ v\in\mathbb R^{B\times N},\ Kv",
    needs=("transport.listing.compute_attention_ot_divergence",),
)
def batch() -> Steps:
    """The marginals are made for a batch of B problems with N tokens each, so the function is to take such a batch."""
    yield Fails(
        Equation(B, N, at={B: 1, N: 2}),
        reason="K @ v takes v, of shape (B, N), for one matrix with B rows: one problem of two tokens stops there; "
        "B = N stops at the plan, B = N = 1 alone goes through",
    )


@batch.corrected(
    r"v\in\mathbb R^{B\times N\times1}:\quad(Kv)_{bi}=\sum_{j=1}^NK_{bij}v_{bj}",
    Severity.FATAL,
    replaces="the shape of v, by how many of its entries a row of K meets",
)
def batch_of_columns() -> Steps:
    """With the scalings as columns, `v.unsqueeze(-1)`, each kernel meets the N entries of its own problem."""
    yield met(N)


batch.twin("one more than there are", lambda: met(N + 1))
batch.twin("those of all problems", lambda: met(B * N))

reprint(
    "transport.listing.compute_attention_ot_divergence.overflow",
    of=overflow,
    title="The kernel of the scores in float32",
    latex=r"\exp(S_{ij}/\varepsilon)\le(2-2^{-23})2^{127},\quad C=-S",
    statement="The kernel of the costs −S must be a number of the format, for every score; a single score of 10 makes NaN.",
)
