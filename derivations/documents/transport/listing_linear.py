"""The listing `LinearAttentionAsOT`.

Claims     transport.listing.LinearAttentionAsOT          ⟨X_i, Σ_j Y_j V_j⟩/⟨X_i, Σ_j Y_j⟩ = Σ_j κ_ij V_j/Σ_l κ_il
           transport.listing.LinearAttentionAsOT.plan     κ > 0  ⟹  κ_ij/Σ_l κ_il = argmin ⟨P, −log κ⟩ − H(P)
           transport.listing.LinearAttentionAsOT.rows     κ > 0  ⟹  Σ_j κ_ij/Σ_l κ_il = 1, nothing added
           transport.listing.LinearAttentionAsOT.kernel   one projection: Σ_ik c_i c_k κ_ik = ‖Σ_i c_i X_i‖² ≥ 0
           transport.listing.LinearAttentionAsOT.stable   out(sφ) = out(φ) where the denominator is > 0  (corrected)
Notation   as in `listing_notation`; X[i, f], Y[j, f] ≥ 0 the features of queries and keys, κ_ij = ⟨X_i, Y_j⟩; V[j] one
           coordinate of the values; z_i and y_i a token's projections as a query and as a key, before the ReLU
References Katharopoulos et al. (2020) for linear attention
"""

import sympy as sp

from derivations.documents.transport.listing_notation import GUARD, entropy, expense, f, i, j, k, l, m, n, softmax, t, w
from derivations.vocabulary import *

X, Y = vector("X", n, w, kind=Nonnegative), vector("Y", m, w, kind=Nonnegative)
V = vector("V", m)

# ── LinearAttentionAsOT ─────────────────────────────────────────────────────────────────────────────────────────────


def affinity(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij = ⟨X_i, Y_j⟩."""
    return total(f, X[query, f] * Y[key, f])


def shares(guard: sp.Expr) -> Entries:
    """(i, j) ↦ κ_ij/(Σ_l κ_il + guard)."""
    return lambda query, key: affinity(query, key) / (total(l, affinity(query, l)) + guard)


def in_linear_time(right_side: sp.Expr) -> Equation:
    """⟨X_i, Σ_j Y_j V_j⟩/(⟨X_i, Σ_j Y_j⟩ + guard): no n × m matrix."""
    gathered = total(f, X[i, f] * total(j, Y[j, f] * V[j]))
    return Equation(
        gathered / (total(f, X[i, f] * total(j, Y[j, f])) + GUARD),
        right_side,
        reason="sums over keys and features change places",
    )


@claim(
    "transport.listing.LinearAttentionAsOT",
    "listing",
    title="Kernel attention without its matrix",
    latex=r"\frac{\phi(q_i)^\top\sum_j\phi(k_j)v_j^\top}{\phi(q_i)^\top\sum_j\phi(k_j)+10^{-8}}"
    r"=\sum_j\frac{\langle\phi(q_i),\phi(k_j)\rangle}{\sum_l\langle\phi(q_i),\phi(k_l)\rangle+10^{-8}}v_j",
    hypotheses=("1e-8 is added to both denominators",),
)
def linear_attention() -> Steps:
    """Keys are gathered with their values first, at a cost linear in n and m: the output is exactly that of the weights κ."""
    yield in_linear_time(total(j, shares(GUARD)(i, j) * V[j]))


linear_attention.twin(
    "normalized over the queries", lambda: in_linear_time(total(j, affinity(i, j) / (total(k, affinity(k, j)) + GUARD) * V[j]))
)
linear_attention.twin("not normalized", lambda: in_linear_time(2 * total(j, affinity(i, j) * V[j])))

G = vector("G", n, m, kind=Positive)


def solves(candidate: Entries) -> UniquePlan:
    """The candidate is the only minimizer of ⟨P, −log κ⟩ − H(P) over plans with unit rows and free columns."""

    def objective(of: Entries) -> sp.Expr:
        return -expense(of, lambda x, y: sp.log(G[x, y])) - entropy(of)

    return UniquePlan(objective, candidate, n, m, sp.S.One, reason="what another plan costs more is Σ_ij kl(R_ij ‖ W_ij)")


def normalized(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """W_ij = κ_ij/Σ_l κ_il."""
    return G[query, key] / total(l, G[query, l])


def guarded() -> UniquePlan:
    """The listing's result, as a solution for the cost −log κ with its own features."""

    def objective(of: Entries) -> sp.Expr:
        return -expense(of, lambda x, y: sp.log(affinity(x, y))) - entropy(of)

    return UniquePlan(objective, shares(GUARD), n, m, sp.S.One, at={n: 1, m: 1, w: 1, X.label: [[0]], Y.label: [[1]]})


@claim(
    "transport.listing.LinearAttentionAsOT.plan",
    "optimality",
    title="Linear attention is a semi-relaxed plan",
    latex=r"W=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-\log\kappa\rangle-H(P)",
    needs=("transport.listing.AttentionAsOT", "transport.listing.LinearAttentionAsOT"),
)
def linear_plan() -> Steps:
    """The weights solve the same problem as softmax attention, at ε = 1 and for the cost −log κ of the module's kernel."""
    yield Fails(guarded(), reason="a query whose features are all cut to 0 has no mass to transport")


@linear_plan.corrected(
    r"\kappa>0:\quad\frac{\kappa_{ij}}{\sum_l\kappa_{il}}"
    r"=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-\log\kappa\rangle-H(P)",
    Severity.HYPOTHESIS,
    under="κ > 0, and nothing is added to the denominator",
    replaces="the kernel of ReLU features, which may be 0, and the 1e-8",
)
def linear_plan_of_positive_kernels() -> Steps:
    """For a positive kernel and without the 1e-8 they do, exactly: nothing is approximated."""
    yield solves(normalized)


linear_plan.twin("the kernel is the score", lambda: solves(softmax(G, sp.S.One)))
linear_plan.twin("the kernel is the cost", lambda: solves(lambda x, y: 1 / G[x, y] / total(l, 1 / G[x, l])))


def mass(right_side: sp.Expr) -> Equation:
    """Σ_j W_ij."""
    return Equation(total(j, normalized(i, j)), right_side, reason="nothing is added to the denominator, which is > 0")


@claim(
    "transport.listing.LinearAttentionAsOT.rows",
    "listing",
    title="Rows of linear attention",
    latex=r"W\mathbf 1=\mathbf 1",
    needs=("transport.listing.LinearAttentionAsOT",),
)
def rows() -> Steps:
    """The weights of each query are to sum to one, as in every plan of the semi-relaxed problem."""
    yield Fails(
        Equation(total(j, shares(GUARD)(i, j)), 1, at={n: 1, m: 1, w: 1, X.label: [[0]], Y.label: [[1]]}),
        reason="a query whose features are all cut to 0, as ReLU(−1) is: no weight at all, the output is 0",
    )


@rows.corrected(
    r"\kappa>0\implies\sum_j\frac{\kappa_{ij}}{\sum_l\kappa_{il}}=1",
    Severity.HYPOTHESIS,
    under="κ > 0, and nothing is added to the denominator",
    replaces="the kernel of ReLU features, which may be 0, and the 1e-8",
)
def rows_of_positive_kernels() -> Steps:
    """For a positive kernel, and without the 1e-8, the rows sum to one, exactly."""
    yield mass(sp.S.One)


rows.twin("rows of mass two", lambda: mass(sp.Integer(2)))
rows.twin("rows of mass 1/n", lambda: mass(1 / (2 * n)))

c, z, y = vector("c", n), vector("z", n, w), vector("y", n, w)


def between(keys: sp.IndexedBase) -> sp.Expr:
    """Σ_ik c_i c_k ⟨max(z_i, 0), max(y_k, 0)⟩ for the projected queries z_i and keys y_k of the same tokens."""
    return total((i, k), c[i] * c[k] * total(f, plus(z[i, f]) * plus(keys[k, f])))


def energy(bound: sp.Expr) -> AtLeast:
    """The same with one projection for both."""
    square = total(f, total(i, c[i] * plus(z[i, f])) ** 2)
    return AtLeast(between(z), bound, because=square - bound, reason="a sum of squares, which is 0 for repeated points")


@claim(
    "transport.listing.LinearAttentionAsOT.kernel",
    "listing",
    title="A positive definite kernel",
    needs=("transport.s4.kernel",),
    latex=r"\sum_{ih}c_ic_h\langle\mathrm{ReLU}(q_i),\mathrm{ReLU}(k_h)\rangle\ge0",
)
def positive_definite() -> Steps:
    """The kernel between tokens is to be positive definite, as the text asks of the kernel of linear attention."""
    yield Fails(
        AtLeast(between(y), 0, at={n: 2, w: 1, z.label: [[1], [0]], y.label: [[0], [1]], c.label: [1, -1]}),
        reason="queries and keys have projections of their own, so that the matrix need not be symmetric: here it is "
        "(0 1; 0 0), whose symmetric part has the eigenvalue −1/2",
    )


@positive_definite.corrected(
    r"W_q=W_k:\quad\sum_{ik}c_ic_k\,\kappa(x_i,x_k)"
    r"=\Big\|\sum_ic_i\,\mathrm{ReLU}(W_qx_i)\Big\|^2\ge0",
    Severity.HYPOTHESIS,
    under="one projection serves queries and keys, and “definite” is read as semi-definite",
    replaces="keys with a projection of their own",
)
def semi_definite() -> Steps:
    """As a function of two projected points the kernel is positive semi-definite, as inner products of features are."""
    yield energy(sp.S.Zero)


positive_definite.twin("at least the squares", lambda: energy(1 + 2 * total(i, c[i] ** 2) * total((i, f), plus(z[i, f]) ** 2)))
positive_definite.twin("bounded away from zero", lambda: energy(sp.S.One))


def rectified(bound: sp.Expr) -> AtLeast:
    """⟨max(z_i, 0), max(y_k, 0)⟩ is at least a bound."""
    return AtLeast(total(f, plus(z[i, f]) * plus(y[k, f])), bound, reason="so that no weight is negative; all may be 0")


@claim(
    "transport.listing.LinearAttentionAsOT.features",
    "listing",
    title="Positive, sparse features",
    latex=r"\mathrm{ReLU}(t)=\max(t,0)>0",
)
def features() -> Steps:
    """Comments call the kernel and the features positive, and sparse."""
    yield Fails(
        AtLeast(plus(t), 0, strict=True, at={t: -1}), reason="ReLU(−1) = 0: what is cut to 0 is what makes the features sparse"
    )


@features.corrected(
    r"\phi(x)=\max(Wx,0)\ge0,\quad\kappa\ge0",
    Severity.WORDING,
    replaces="“positive”, by what is so of the features and their kernel",
)
def not_negative() -> Steps:
    """They are never negative, and neither is their kernel; where all features of a query are 0, so are all its weights."""
    yield AtLeast(plus(t), 0, reason="the positive part")
    yield rectified(sp.S.Zero)


features.twin("at least one", lambda: rectified(sp.S.One))
features.twin("at least the product before the ReLU", lambda: rectified(total(f, z[i, f] * y[k, f])))

s = positive("s")
SMALL: dict[Variable, Value] = {n: 1, m: 1, w: 1, X.label: [[1]], Y.label: [[1]], V.label: [1], s: sp.Rational(1, 10**4)}


def rescaled(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """The output for the features s X and s Y."""
    gathered = total(f, s * X[i, f] * total(j, s * Y[j, f] * V[j]))
    some = () if guard else (AtLeast(total(j, affinity(i, j)), 0, strict=True),)
    return Equation(
        gathered / (total(f, s * X[i, f] * total(j, s * Y[j, f])) + guard),
        right_side,
        at=SMALL if guard else {},
        given=some,
        reason="s² in the numerator and in the denominator",
    )


def output(guard: sp.Expr) -> sp.Expr:
    """Σ_j W_ij V_j."""
    return total(j, affinity(i, j) * V[j]) / (total(j, affinity(i, j)) + guard)


@claim(
    "transport.listing.LinearAttentionAsOT.stable",
    "listing",
    title="Numerically stable linear attention",
    latex=r"\mathrm{out}_i(sX,sY)=\mathrm{out}_i(X,Y)",
    needs=("transport.listing.LinearAttentionAsOT",),
)
def stable() -> Steps:
    """A comment calls the computation numerically stable; small features are to give the output of large ones."""
    yield Fails(
        rescaled(GUARD, output(GUARD)),
        reason="features of 1e-4: the kernel is 1e-8, what is added is as large, half is lost; in float16 the 1e-8 "
        "is 0, and a query without an active feature gives 0/0, NaN",
    )


@stable.corrected(
    r"\mathrm{out}(s\,\phi)=\mathrm{out}(\phi)\quad\text{where the denominator is }>0",
    Severity.SLIP,
    replaces="the output with the 1e-8 in its denominator",
)
def stable_without_guard() -> Steps:
    """Where the denominator is positive nothing need be added, and the scale of the features does not matter."""
    yield rescaled(sp.S.Zero, output(sp.S.Zero))


stable.twin("the output grows with s²", lambda: rescaled(sp.S.Zero, s**2 * output(sp.S.Zero)))
stable.twin("the output falls with s", lambda: rescaled(sp.S.Zero, output(sp.S.Zero) / s))
