"""The listings `LinearAttentionAsOT` and `analyze_attention_temperature`.

Claims     transport.listing.LinearAttentionAsOT, transport.listing.LinearAttentionAsOT.plan,
           transport.listing.LinearAttentionAsOT.rows, transport.listing.LinearAttentionAsOT.kernel,
           transport.listing.LinearAttentionAsOT.features, transport.listing.LinearAttentionAsOT.stable,
           transport.listing.analyze_attention_temperature, transport.listing.analyze_attention_temperature.entropy,
           transport.listing.analyze_attention_temperature.max-attention,
           transport.listing.analyze_attention_temperature.effective-size,
           transport.listing.analyze_attention_temperature.average
Notation   as in `listing_notation`; X[i, f], Y[j, f] ≥ 0 the features of queries and keys, κ_ij = ⟨X_i, Y_j⟩; V[j] one
           coordinate of the values; h_i the entropy of row i of the weights
References Katharopoulos et al. (2020) for linear attention
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.balls import Value
from derivations.calculus.powers import plus
from derivations.calculus.sums import derivative, kl, total, xlogx
from derivations.calculus.variables import Kind, Variable, positive, scalar, stochastic, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.plans import Entries, UniquePlan
from derivations.relations import AtLeast, Equation, Fails
from derivations.transport.listing_notation import (
    GUARD,
    HALF,
    S,
    entropy,
    eps,
    expense,
    f,
    i,
    j,
    k,
    l,
    m,
    n,
    score,
    softmax,
    t,
    w,
)

X, Y = vector("X", n, w, kind=Kind.NONNEGATIVE), vector("Y", m, w, kind=Kind.NONNEGATIVE)
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
    return Equation(gathered / (total(f, X[i, f] * total(j, Y[j, f])) + GUARD), right_side,
                    reason="sums over keys and features change places")


@claim("transport.listing.LinearAttentionAsOT", "listing", title="Kernel attention without its matrix",
       latex=r"\frac{\phi(q_i)^\top\sum_j\phi(k_j)v_j^\top}{\phi(q_i)^\top\sum_j\phi(k_j)}"
             r"=\sum_j\frac{\langle\phi(q_i),\phi(k_j)\rangle}{\sum_l\langle\phi(q_i),\phi(k_l)\rangle}v_j",
       hypotheses=("1e-8 is added to both denominators",))
def linear_attention() -> Steps:
    """Keys are gathered with their values first, at a cost linear in n and m: the output is exactly that of the weights κ."""
    yield in_linear_time(total(j, shares(GUARD)(i, j) * V[j]))


linear_attention.twin("normalized over the queries", lambda: in_linear_time(
    total(j, affinity(i, j) / (total(k, affinity(k, j)) + GUARD) * V[j])))
linear_attention.twin("not normalized", lambda: in_linear_time(2 * total(j, affinity(i, j) * V[j])))

G = vector("G", n, m, kind=Kind.POSITIVE)


def solves(candidate: Entries) -> UniquePlan:
    """The candidate is the only minimizer of ⟨P, −log κ⟩ − H(P) over plans with unit rows and free columns."""
    def objective(of: Entries) -> sp.Expr:
        return -expense(of, lambda x, y: sp.log(G[x, y])) - entropy(of)

    return UniquePlan(objective, candidate, n, m, sp.S.One, reason="what another plan costs more is Σ_ij kl(R_ij ‖ W_ij)")


def normalized(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """W_ij = κ_ij/Σ_l κ_il."""
    return G[query, key] / total(l, G[query, l])


@claim("transport.listing.LinearAttentionAsOT.plan", "optimality", title="Linear attention is a semi-relaxed plan",
       latex=r"W=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-\log\kappa\rangle-H(P)", hypotheses=("κ > 0",),
       needs=("transport.listing.AttentionAsOT", "transport.listing.LinearAttentionAsOT"))
def linear_plan() -> Steps:
    """The weights solve the same problem as softmax attention, at ε = 1 and for the cost −log κ: nothing is approximated."""
    yield solves(normalized)


linear_plan.twin("the kernel is the score", lambda: solves(softmax(lambda x, y: G[x, y], sp.S.One)))
linear_plan.twin("the kernel is the cost", lambda: solves(lambda x, y: 1 / G[x, y] / total(l, 1 / G[x, l])))


def mass(right_side: sp.Expr) -> Equation:
    """Σ_j W_ij."""
    return Equation(total(j, normalized(i, j)), right_side, reason="nothing is added to the denominator, which is > 0")


@claim("transport.listing.LinearAttentionAsOT.rows", "listing", title="Rows of linear attention", latex=r"W\mathbf 1=\mathbf 1",
       needs=("transport.listing.LinearAttentionAsOT",))
def rows() -> Steps:
    """The weights of each query are to sum to one, as in every plan of the semi-relaxed problem."""
    yield Fails(Equation(total(j, shares(GUARD)(i, j)), 1, at={n: 1, m: 1, w: 1, X.label: [[0]], Y.label: [[1]]}),
                reason="a query whose features are all cut to 0, as ReLU(−1) is: no weight at all, the output is 0")


@rows.corrected(r"\kappa>0\implies W\mathbf 1=\mathbf 1\quad\text{without the }10^{-8}", Severity.HYPOTHESIS,
                under="each query shares an active feature with some key, and nothing is added to the denominator")
def rows_of_positive_kernels() -> Steps:
    """For a kernel with positive rows, and without the 1e-8, the rows sum to one, exactly."""
    yield mass(sp.S.One)


rows.twin("rows of mass two", lambda: mass(sp.Integer(2)))
rows.twin("rows of mass 1/n", lambda: mass(1 / (2 * n)))

c = vector("c", n)
Z = vector("Y", n, w, kind=Kind.NONNEGATIVE)


def energy(bound: sp.Expr) -> AtLeast:
    """Σ_ik c_i c_k ⟨X_i, X_k⟩."""
    square = total(f, total(i, c[i] * X[i, f]) ** 2)
    return AtLeast(total((i, k), c[i] * c[k] * total(f, X[i, f] * X[k, f])), bound, because=square - bound,
                   reason="a sum of squares")


@claim("transport.listing.LinearAttentionAsOT.kernel", "listing", title="A positive definite kernel",
       needs=("transport.listing.LinearAttentionAsOT",),
       latex=r"\sum_{ik}c_ic_k\langle\phi_q(x_i),\phi_k(x_k)\rangle\ge0")
def positive_definite() -> Steps:
    """The text asks for a positive definite kernel; the module has one map for queries and another one for keys."""
    apart = total((i, k), c[i] * c[k] * total(f, X[i, f] * Z[k, f]))
    yield Fails(AtLeast(apart, 0, at={n: 2, w: 1, X.label: [[1], [0]], Z.label: [[0], [1]], c.label: [1, -1]}),
                reason="two tokens, one feature: the kernel between them is (0 1; 0 0), not even symmetric")


@positive_definite.corrected(r"\phi_q=\phi_k\implies\sum_{ik}c_ic_k\langle\phi(x_i),\phi(x_k)\rangle\ge0", Severity.HYPOTHESIS,
                             under="queries and keys share one feature map")
def positive_definite_with_one_map() -> Steps:
    """With a single feature map the kernel is a Gram matrix, so positive semidefinite."""
    yield energy(sp.S.Zero)


positive_definite.twin("at least the squares", lambda: energy(1 + 2 * total(i, c[i] ** 2) * total((i, f), X[i, f] ** 2)))
positive_definite.twin("bounded away from zero",
                       lambda: energy(sp.S.One + total((i, k), c[i] * c[k] * total(f, X[i, f] * X[k, f]))))


def feature(bound: sp.Expr) -> AtLeast:
    """ReLU(t)."""
    return AtLeast(plus(t), bound, because=plus(t) - bound, reason="the positive part")


@claim("transport.listing.LinearAttentionAsOT.features", "listing", title="Sparse features that are never negative",
       latex=r"\phi(x)=\max(Wx,0)\ge0")
def features() -> Steps:
    """The features are never negative, and 0 for half of all directions: positive in the sense of ≥ 0, and sparse."""
    yield Equation(plus(-(t**2)), 0, reason="where the projection is not positive there is an exact zero")
    yield feature(sp.S.Zero)


features.twin("at least one", lambda: feature(sp.S.One))
features.twin("at least t + 1", lambda: feature(t + 1))

s = positive("s")
SMALL: dict[Variable, Value] = {n: 1, m: 1, w: 1, X.label: [[1]], Y.label: [[1]], V.label: [1], s: sp.Rational(1, 10**4)}


def rescaled(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """The output for the features s X and s Y."""
    gathered = total(f, s * X[i, f] * total(j, s * Y[j, f] * V[j]))
    return Equation(gathered / (total(f, s * X[i, f] * total(j, s * Y[j, f])) + guard), right_side, at=SMALL if guard else {},
                    reason="s² in the numerator and in the denominator")


def output(guard: sp.Expr) -> sp.Expr:
    """Σ_j W_ij V_j."""
    return total(j, affinity(i, j) * V[j]) / (total(j, affinity(i, j)) + guard)


@claim("transport.listing.LinearAttentionAsOT.stable", "listing", title="Numerically stable linear attention",
       latex=r"\mathrm{out}(s\,\phi)=\mathrm{out}(\phi)", needs=("transport.listing.LinearAttentionAsOT",))
def stable() -> Steps:
    """A comment calls the computation numerically stable; small features are to give the output of large ones."""
    yield Fails(rescaled(GUARD, output(GUARD)),
                reason="features of 1e-4: the kernel is 1e-8, what is added is as large, half is lost")


@stable.corrected(r"\mathrm{out}(s\,\phi)=\mathrm{out}(\phi)\quad\text{without the }10^{-8}", Severity.SLIP)
def stable_without_guard() -> Steps:
    """Without the 1e-8 the scale of the features does not matter."""
    yield rescaled(sp.S.Zero, output(sp.S.Zero))


stable.twin("the output grows with s²", lambda: rescaled(sp.S.Zero, s**2 * output(sp.S.Zero)))
stable.twin("the output falls with s", lambda: rescaled(sp.S.Zero, output(sp.S.Zero) / s))

# ── analyze_attention_temperature ───────────────────────────────────────────────────────────────────────────────────


def row_entropy(plan: Entries, query: sp.Expr) -> sp.Expr:
    """h_i = −Σ_j A_ij log A_ij."""
    return -total(j, xlogx(plan(query, j)))


def variance(query: sp.Expr) -> sp.Expr:
    """Σ_j A_ij (S_ij − Σ_l A_il S_il)²."""
    plan = softmax(score, eps)
    return total(j, plan(query, j) * S[query, j] ** 2) - total(j, plan(query, j) * S[query, j]) ** 2


def slope(right_side: sp.Expr) -> Equation:
    """d/dε of the mean entropy of the rows."""
    mean = total(i, row_entropy(softmax(score, eps), i)) / n
    return Equation(derivative(mean, eps), right_side, reason="row by row; a variance, so never negative")


@claim("transport.listing.analyze_attention_temperature", "listing", title="Entropy grows with the temperature",
       latex=r"\frac{d}{d\varepsilon}\frac1n\sum_iH(A_i)=\frac1{n\varepsilon^3}\sum_i\mathrm{Var}_{A_i}(S_i)\ge0",
       needs=("eot.s3.trade-off",))
def temperature() -> Steps:
    """From one temperature to the next the mean entropy of the rows grows, at the rate of the variance of the scores."""
    yield slope(total(i, variance(i)) / (n * eps**3))


temperature.twin("the sign", lambda: slope(-total(i, variance(i)) / (n * eps**3)))
temperature.twin("one power of ε too few", lambda: slope(total(i, variance(i)) / (2 * n * eps**2)))

A = stochastic("A", n, m)


def guarded(query: sp.Expr) -> sp.Expr:
    """−Σ_j A_ij log(A_ij + 1e-8), what is reported."""
    return -total(j, A[query, j] * sp.log(A[query, j] + GUARD))


def reported(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """The reported entropy of a row."""
    return AtLeast(guarded(i), bound, because=because, reason="log(1 + x) ≤ x, entry by entry")


def plain() -> sp.Expr:
    """H(A_i) − m · 1e-8."""
    return row_entropy(lambda x, y: A[x, y], i) - m * GUARD


@claim("transport.listing.analyze_attention_temperature.entropy", "listing", title="The reported entropy is the entropy",
       latex=r"-\sum_jA_{ij}\log(A_{ij}+10^{-8})\ge H(A_i)-m\,10^{-8}")
def reported_entropy() -> Steps:
    """The 1e-8 in the logarithm, which zeros need, costs at most 1e-8 for each key; a one-hot row reports −1e-8."""
    yield reported(plain(), total(j, kl(A[i, j], A[i, j] + GUARD)))


reported_entropy.twin("more than the entropy", lambda: reported(plain() + sp.Rational(1, 10)))
reported_entropy.twin("twice the entropy", lambda: reported(2 * plain() + 1))

gap = vector("g", m, kind=Kind.NONNEGATIVE)


def largest(right_side: sp.Expr) -> Equation:
    """d/dε of the largest weight, 1/Σ_l exp(−g_l/ε) with g_l = max S − S_l ≥ 0."""
    top = 1 / total(l, sp.exp(-gap[l] / eps))
    return Equation(derivative(top, eps), right_side, reason="never positive, as g ≥ 0")


def drop(power: int) -> sp.Expr:
    """Σ_l g_l exp(−g_l/ε)/(ε^power Z²)."""
    return total(l, gap[l] * sp.exp(-gap[l] / eps)) / (eps**power * total(l, sp.exp(-gap[l] / eps)) ** 2)


@claim("transport.listing.analyze_attention_temperature.max-attention", "listing",
       title="The largest weight falls with the temperature",
       latex=r"\frac{d}{d\varepsilon}\max_jA_{ij}=-\frac{\sum_lg_le^{-g_l/\varepsilon}}{\varepsilon^2Z^2}\le0,"
             r"\quad g_l=\max_jS_{ij}-S_{il}")
def max_attention() -> Steps:
    """The largest weight of a row, reported as its concentration, falls as the temperature grows; among ties it is 1/m."""
    yield largest(-drop(2))


max_attention.twin("the sign", lambda: largest(drop(2)))
max_attention.twin("one power of ε too few", lambda: largest(-drop(1) / 2))

TWO: dict[Variable, Value] = {n: 1, m: 2, A.label: [[HALF, HALF]]}
heads = scalar("H", Kind.POSITIVE)


def counted(bound: sp.Expr) -> AtLeast:
    """m against exp H(A_i)."""
    return AtLeast(sp.log(m), bound, because=total(j, kl(A[i, j], 1 / m)), reason="log m − H(A_i) = Σ kl(A_ij ‖ 1/m)")


@claim("transport.listing.analyze_attention_temperature.effective-size", "listing",
       title="The effective number of heads attended to",
       latex=r"\exp H(A_i)\le n_{\mathrm{heads}}")
def effective_size() -> Steps:
    """A comment calls the exponential of the entropy the effective number of heads that are attended to."""
    yield Fails(AtLeast(sp.log(heads), row_entropy(lambda x, y: A[x, y], i), at={**TWO, heads: 1}),
                reason="one head and two keys with equal scores: two of what is counted, which are keys")


@effective_size.corrected(r"1\le\exp H(A_i)\le m\quad\text{(keys)}", Severity.WORDING)
def effective_keys() -> Steps:
    """It is the effective number of keys: at most m, and m only for the uniform row."""
    yield counted(row_entropy(lambda x, y: A[x, y], i))


effective_size.twin("one key fewer", lambda: AtLeast(sp.log(m), row_entropy(lambda x, y: A[x, y], i) + HALF))
effective_size.twin("its square", lambda: AtLeast(sp.log(m), 2 * row_entropy(lambda x, y: A[x, y], i) + GUARD * 10**7))

h = vector("h", n)


def average_first(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """(1/n) Σ_i exp h_i."""
    return AtLeast(total(i, sp.exp(h[i])) / n, bound, because=because, reason="Jensen's inequality, with what is lost")


@claim("transport.listing.analyze_attention_temperature.average", "listing", title="The mean effective size",
       latex=r"\mathtt{effective\_size}=\frac1n\sum_i\exp H(A_i)",
       needs=("transport.listing.analyze_attention_temperature.effective-size",))
def average() -> Steps:
    """The exponential is followed by a mean; but the entropy has been averaged already."""
    yield Fails(Equation(sp.exp(total(i, h[i]) / n), total(i, sp.exp(h[i])) / n, at={n: 2, h.label: [0, 1]}),
                reason="two queries with entropies 0 and 1: exp ½ = 1.65 is reported, the mean is 1.86")


@average.corrected(r"\frac1n\sum_i\exp H(A_i)\ge\exp\Big(\frac1n\sum_iH(A_i)\Big)=\mathtt{effective\_size}", Severity.SLIP)
def geometric_average() -> Steps:
    """What is reported is the geometric mean, never more than the mean, and less unless all rows have the same entropy."""
    middle = sp.exp(total(i, h[i]) / n)
    yield average_first(middle, total(i, kl(middle, sp.exp(h[i]))) / n)


average.twin("the other way round", lambda: average_first(2 * sp.exp(total(i, h[i]) / n)))
average.twin("the largest of them", lambda: average_first(total(i, sp.exp(h[i])) / n + GUARD * 10**7))
