"""Section 7, first half: the Fisher information matrix of the attention distribution.

Claims     eot.88               F = (D − p pᵀ)/τ²
           eot.82               ∂log p_i/∂s_j = (δ_ij − p_j)/τ
           eot.s7.metric        vᵀFv = Σ_jk p_j p_k (v_j − v_k)²/(2τ²) ≥ 0, and = 0 for constant v only
           eot.s7.fixed-query   q ≠ 0 fixed, k_j = s_j q/‖q‖²  ⟹  ⟨q, k_j⟩ = s_j: it is the keys that vary  (corrected)
Notation   p = softmax(s/τ); F_jk = E_{i∼p}[∂log p_i/∂s_j · ∂log p_i/∂s_k], always from this definition;
           v a tangent vector in the scores; π any point of the open simplex; D = diag(p)
References Definitions 7.1 and 7.2 of the document and the first step of the proof of Theorem 7.3; Amari (1998)
"""

import sympy as sp

from derivations.documents.eot.notation import K, Q, d, j, k, m, partition, r, s, similarity, softmax, tau
from derivations.vocabulary import *

p = softmax(s, tau)
Z = partition(s, tau)
i, c = index("i", m), index("c", d)
v = vector("v", m)
pi = interior("π", m)


def log_slope(event: sp.Expr, key: sp.Expr) -> sp.Expr:
    """∂log p_i/∂s_j."""
    return derivative(sp.log(p(event)), s[key])


def fisher(row: sp.Expr = j, column: sp.Expr = k) -> sp.Expr:
    """F_jk = Σ_i p_i ∂log p_i/∂s_j ∂log p_i/∂s_k."""
    return total(i, p(i) * log_slope(i, row) * log_slope(i, column))


def covariance(row: sp.Expr = j, column: sp.Expr = k) -> sp.Expr:
    """(D − p pᵀ)_jk."""
    return p(row) * delta(row, column) - p(row) * p(column)


def length() -> sp.Expr:
    """vᵀFv."""
    return total((j, k), v[j] * fisher(j, k) * v[k])


def spread() -> sp.Expr:
    """Σ_jk p_j p_k (v_j − v_k)²/(2τ²), the variance of v over τ²."""
    return total((j, k), p(j) * p(k) * (v[j] - v[k]) ** 2) / (2 * tau**2)


# ── Definitions 7.1 and 7.2 ─────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.def7.1",
    "definition",
    title="The statistical manifold of attention",
    hypotheses=("τ > 0",),
    latex=r"\{p(s):s\in\mathbb R^m\}=\mathrm{int}\,\Delta^{m-1}",
    needs=("eot.49",),
)
def statistical_manifold() -> Steps:
    """Softmax maps the scores onto the open simplex, a manifold of dimension m − 1, one less than there are scores."""
    yield AtLeast(p(j), 0, strict=True, reason="each value is inside the simplex,")
    yield Equation(total(j, p(j)), 1, about=(s[j],), reason="as the weights sum to 1;")
    shifted = softmax(lambda key: s[key] + tau, tau)
    yield Equation(shifted(j), p(j), reason="scores that differ by a constant give one distribution;")
    yield Equation(softmax(lambda key: tau * sp.log(pi[key]), tau)(j), pi[j], about=(tau,), reason="and s = τ log π gives π")


def of_parallel_keys(key: sp.Expr) -> sp.Expr:
    """⟨q, k_j⟩ for the keys k_j = s_j q/‖q‖²."""
    return total(r, Q[r] * (s[key] * Q[r] / total(c, Q[c] ** 2)))


@claim(
    "eot.s7.fixed-query",
    "equivalence",
    title="Scores that vary for a fixed query and keys",
    needs=("eot.def3.1",),
    latex=r"q,\{k_j\}\text{ fixed}:\ s\in\mathbb R^m",
    part_of="eot.def7.1",
)
def fixed_query() -> Steps:
    """The scores are said to range over R^m for a fixed query and fixed keys, of which they are functions."""
    yield Fails(
        Equation(s[j], similarity(j), at={m: 2, d: 1, Q.label: [1], K.label: [[1], [0]], s.label: [0, 1], j: 1}),
        reason="q = 1 with keys 1 and 0 has the scores (1, 0) and no others: the family is one point",
    )


@fixed_query.corrected(r"q\ne0\text{ fixed},\ k_j=s_jq/\|q\|^2:\quad\langle q,k_j\rangle=s_j", Severity.SLIP)
def free_keys() -> Steps:
    """For a fixed query q ≠ 0 the scores take every value in R^m as the keys vary."""
    yield parallel(s[j])


def parallel(right: sp.Expr) -> Equation:
    """The score of k_j = s_j q/‖q‖² against an expression."""
    return Equation(of_parallel_keys(j), right, given=(Differs(total(c, Q[c] ** 2), 0),), reason="⟨q, q⟩ = ‖q‖²")


fixed_query.twin("the query's length remains", lambda: parallel(s[j] * total(c, Q[c] ** 2)))
fixed_query.twin("the sign", lambda: parallel(-s[j]))


@claim(
    "eot.s7.metric",
    "inequality",
    title="F(s) is a metric in the scores",
    needs=("eot.78",),
    latex=r"\|v\|>0\implies v^\top F(s)\,v>0",
    part_of="eot.def7.1",
)
def metric() -> Steps:
    """The Fisher-Rao metric, hence a positive definite form, is said to be given by the m × m matrix F(s)."""
    yield Equation(total(k, fisher(j, k)), 0, about=(s[j],), reason="F sends the constant vector to 0, for every m and s")
    yield Fails(
        AtLeast(length(), 0, strict=True, at={m: 2, v.label: [1, 1], s.label: [0, 0], tau: 1}),
        reason="v = (1, 1) has length 0; the rank is m − 1, the dimension of the simplex",
    )


@metric.corrected(
    r"v^\top Fv=\tfrac1{2\tau^2}\sum_{jk}p_jp_k(v_j-v_k)^2\ge0,\ =0\text{ only for constant } v",
    Severity.HYPOTHESIS,
    under="scores that differ by a constant vector are identified",
)
def metric_modulo_constants() -> Steps:
    """The form is the variance of v over τ², which vanishes for constant v only: a metric on scores modulo constants."""
    yield AtLeast(length(), 0, because=spread(), reason="each term is ≥ 0, with p_j p_k > 0")
    yield Equation(length(), spread(), reason="so it is 0 only if all v_j are equal")


metric.twin("every pair counts twice", lambda: Equation(length(), 2 * spread()))
metric.twin("the second moment", lambda: Equation(length(), total(j, p(j) * v[j] ** 2) / tau**2))


@claim(
    "eot.def7.2", "definition", title="The Fisher information matrix", needs=("eot.78",), latex=r"F(s)\in\mathbb R^{m\times m}"
)
def information_matrix() -> Steps:
    """The second moments of the score function of the policy: a symmetric and positive semidefinite matrix."""
    yield Equation(total(i, p(i) * log_slope(i, j)), 0, about=(s[j], tau), reason="the score function has mean 0")
    yield AtLeast(length(), 0, because=spread(), reason="a covariance matrix")


@claim(
    "eot.78",
    "definition",
    title="F as an expectation",
    needs=("eot.49",),
    latex=r"F_{jk}\triangleq\mathbb E_{i\sim p}\left[\frac{\partial\log p_i}{\partial s_j}\frac{\partial\log p_i}"
    r"{\partial s_k}\right]=\sum_ip_i\frac{\partial\log p_i}{\partial s_j}\frac{\partial\log p_i}{\partial s_k}",
)
def as_expectation() -> Steps:
    """The mean over the keys of products of log-slopes equals minus the mean of second log-slopes, as it must."""
    yield Equation(fisher(), -mean_curvature(), reason="E[∂log p ∂log p] = −E[∂²log p], since Σ_i ∂²p_i = 0")


def mean_curvature() -> sp.Expr:
    """E_{i∼p}[∂²log p_i/∂s_j∂s_k]."""
    return total(i, p(i) * derivative(log_slope(i, j), s[k]))


as_expectation.twin("the sign", lambda: Equation(fisher(), mean_curvature()))
as_expectation.twin("the uniform expectation", lambda: Equation(fisher(), total(i, log_slope(i, j) * log_slope(i, k)) / m))


# ── computing it ────────────────────────────────────────────────────────────────────────────────────────────────────


def log_weight() -> sp.Expr:
    """log p_i, from softmax."""
    return sp.log(p(i))


@claim("eot.80", "identity", title="The log-probability", needs=("eot.81",), latex=r"\log p_i=\frac{s_i}\tau-\log Z")
def log_probability() -> Steps:
    """The log-weight is the scaled score less log Z."""
    yield Equation(log_weight(), s[i] / tau - sp.log(Z), reason="log of a quotient")


log_probability.twin("the sign of log Z", lambda: Equation(log_weight(), s[i] / tau + sp.log(Z)))
log_probability.twin("log Z is divided by τ", lambda: Equation(log_weight(), (s[i] - sp.log(Z)) / tau))


@claim("eot.81", "definition", title="The partition sum once more", needs=("eot.50",), latex=r"Z=\sum_le^{s_l/\tau}")
def partition_sum() -> Steps:
    """The sum of exponentials, whose logarithm has the weights over τ as its gradient."""
    yield Equation(derivative(sp.log(Z), s[j]), p(j) / tau, reason="(1/Z) e^{s_j/τ}/τ")


partition_sum.twin("τ is lost", lambda: Equation(derivative(sp.log(Z), s[j]), p(j)))
partition_sum.twin("Z is not divided by", lambda: Equation(derivative(sp.log(Z), s[j]), sp.exp(s[j] / tau) / tau))


@claim(
    "eot.82",
    "identity",
    title="The log-slopes",
    needs=("eot.80",),
    latex=r"\frac{\partial\log p_i}{\partial s_j}=\frac{\delta_{ij}}\tau-\frac{\partial\log Z}{\partial s_j}"
    r"=\frac{\delta_{ij}}\tau-\frac1Z\frac{e^{s_j/\tau}}\tau=\tfrac1\tau(\delta_{ij}-p_j)",
)
def log_slopes() -> Steps:
    """The derivative of a log-weight is the indicator of its own score less the weight of that score, over τ."""
    yield Equation(log_slope(i, j), delta(i, j) / tau - derivative(sp.log(Z), s[j]), reason="(80)")
    yield Equation(log_slope(i, j), delta(i, j) / tau - sp.exp(s[j] / tau) / tau / Z, reason="(81)")
    yield Equation(log_slope(i, j), (delta(i, j) - p(j)) / tau, reason="p_j = e^{s_j/τ}/Z")


log_slopes.twin("p_i for p_j", lambda: Equation(log_slope(i, j), (delta(i, j) - p(i)) / tau))
log_slopes.twin("τ is lost", lambda: Equation(log_slope(i, j), delta(i, j) - p(j)))


def centred(row: sp.Expr) -> sp.Expr:
    """δ_ij − p_j."""
    return delta(i, row) - p(row)


@claim(
    "eot.83",
    "identity",
    title="Log-slopes inserted",
    needs=("eot.78", "eot.82"),
    latex=r"F_{jk}=\sum_ip_i\left(\tfrac1\tau(\delta_{ij}-p_j)\right)\left(\tfrac1\tau(\delta_{ik}-p_k)\right)",
)
def slopes_inserted() -> Steps:
    """Both log-slopes with their values."""
    yield Equation(fisher(), total(i, p(i) * (centred(j) / tau) * (centred(k) / tau)), reason="(82) twice")


slopes_inserted.twin("one factor 1/τ", lambda: Equation(fisher(), total(i, p(i) * (centred(j) / tau) * centred(k))))
slopes_inserted.twin(
    "p_i for p_j", lambda: Equation(fisher(), total(i, p(i) * ((delta(i, j) - p(i)) / tau) * (centred(k) / tau)))
)


@claim(
    "eot.84",
    "identity",
    title="1/τ² leaves the sum",
    needs=("eot.83",),
    latex=r"=\tfrac1{\tau^2}\sum_ip_i(\delta_{ij}-p_j)(\delta_{ik}-p_k)",
)
def temperature_leaves() -> Steps:
    """Both factors 1/τ are common to all terms."""
    yield Equation(fisher(), total(i, p(i) * centred(j) * centred(k)) / tau**2, reason="τ has no i")


temperature_leaves.twin("1/τ", lambda: Equation(fisher(), total(i, p(i) * centred(j) * centred(k)) / tau))
temperature_leaves.twin("p_i is lost", lambda: Equation(fisher(), total(i, centred(j) * centred(k)) / tau**2))


def expanded(signs: tuple[int, int, int]) -> sp.Expr:
    """δ_ij δ_ik − p_k δ_ij − p_j δ_ik + p_j p_k, with signs to tamper with."""
    first, second, third = signs
    return delta(i, j) * delta(i, k) + first * p(k) * delta(i, j) + second * p(j) * delta(i, k) + third * p(j) * p(k)


@claim(
    "eot.85",
    "identity",
    title="The product expanded",
    needs=("eot.84",),
    latex=r"=\tfrac1{\tau^2}\sum_ip_i(\delta_{ij}\delta_{ik}-p_k\delta_{ij}-p_j\delta_{ik}+p_jp_k)",
)
def product_expanded() -> Steps:
    """The product of the two differences has four terms."""
    yield Equation(fisher(), total(i, p(i) * expanded((-1, -1, 1))) / tau**2, reason="multiplied out")


product_expanded.twin("the last sign", lambda: Equation(fisher(), total(i, p(i) * expanded((-1, -1, -1))) / tau**2))
product_expanded.twin("a middle sign", lambda: Equation(fisher(), total(i, p(i) * expanded((-1, 1, 1))) / tau**2))


@claim(
    "eot.s7.four-terms",
    "identity",
    title="The four sums",
    needs=("eot.85",),
    latex=r"\sum_ip_i\delta_{ij}\delta_{ik}=p_j\delta_{jk},\ \sum_ip_i(-p_k\delta_{ij})=-p_jp_k,\ "
    r"\sum_ip_i(-p_j\delta_{ik})=-p_kp_j,\ \sum_ip_ip_jp_k=p_jp_k",
)
def four_terms() -> Steps:
    """Each delta picks one term of the sum over i, and the last sum is that of all weights."""
    yield Equation(total(i, -p(i) * p(k) * delta(i, j)), -p(j) * p(k), reason="i = j only")
    yield Equation(total(i, -p(i) * p(j) * delta(i, k)), -p(k) * p(j), reason="i = k only")
    yield Equation(total(i, p(i) * p(j) * p(k)), p(j) * p(k), reason="Σ_i p_i = 1")
    yield Equation(total(i, p(i) * delta(i, j) * delta(i, k)), p(j) * delta(j, k), reason="i = j and i = k only")


def both_deltas() -> sp.Expr:
    """Σ_i p_i δ_ij δ_ik."""
    return total(i, p(i) * delta(i, j) * delta(i, k))


four_terms.twin("without the delta", lambda: Equation(both_deltas(), p(j) * p(k)))
four_terms.twin("squared", lambda: Equation(both_deltas(), p(j) ** 2 * delta(j, k)))


def entries(products: int) -> sp.Expr:
    """(p_j δ_jk − c p_j p_k)/τ²."""
    return (p(j) * delta(j, k) - products * p(j) * p(k)) / tau**2


@claim(
    "eot.86",
    "identity",
    title="The sums combined",
    needs=("eot.s7.four-terms",),
    latex=r"F_{jk}=\tfrac1{\tau^2}(p_j\delta_{jk}-p_jp_k-p_jp_k+p_jp_k)",
)
def sums_combined() -> Steps:
    """The four sums in their order."""
    yield Equation(fisher(), (p(j) * delta(j, k) - p(j) * p(k) - p(k) * p(j) + p(j) * p(k)) / tau**2, reason="four terms")


sums_combined.twin("the last sign", lambda: Equation(fisher(), entries(3)))
sums_combined.twin("the products cancel", lambda: Equation(fisher(), entries(0)))


@claim("eot.87", "identity", title="The entries of F", needs=("eot.86",), latex=r"=\tfrac1{\tau^2}(p_j\delta_{jk}-p_jp_k)")
def fisher_entries() -> Steps:
    """One product of weights remains."""
    yield Equation(fisher(), entries(1), reason="−1 − 1 + 1 = −1")


fisher_entries.twin("the sign", lambda: Equation(fisher(), entries(-1)))
fisher_entries.twin("one τ", lambda: Equation(fisher(), tau * entries(1)))


@claim("eot.88", "identity", title="F in matrix form", needs=("eot.87",), latex=r"F(s)=\tfrac1{\tau^2}(D-pp^\top)")
def fisher_matrix() -> Steps:
    """The Fisher matrix is diag(p) less the outer product of p with itself, over τ²; its rows sum to zero."""
    yield Equation(total(k, fisher(j, k)), 0, about=(s[j],), reason="D1 = p and p pᵀ1 = p")
    yield Equation(fisher(), covariance() / tau**2, reason="(diag p)_jk = p_j δ_jk, (p pᵀ)_jk = p_j p_k")


fisher_matrix.twin("the outer product is lost", lambda: Equation(fisher(), p(j) * delta(j, k) / tau**2))
fisher_matrix.twin("one τ", lambda: Equation(fisher(), covariance() / tau))
