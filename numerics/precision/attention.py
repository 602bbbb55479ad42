"""References for attention over vectors: tiles, features, and the closed forms of the maximum entropy on the mean.

Matrices are given by their rows. A single query stands for all of them: they do not interact.
"""

from collections.abc import Sequence

from numerics.precision.exact import Exact, dot, joined, products, transposed
from numerics.precision.rows import centred, softmax

Matrix = Sequence[Exact]


def attention(query: Exact, keys: Matrix, values: Matrix, tau: Exact) -> Exact:
    """The output of one query, and log Z."""
    s = products(keys, query) / tau
    terms = (s - s.max()).exp()
    total = terms.sum()
    weighted = products(transposed(values), terms)
    return joined([weighted / total, total.log() + s.max()])


def attention_backward(query: Exact, keys: Matrix, values: Matrix, tau: Exact, upward: Exact) -> Exact:
    """The derivatives of ⟨upward, output⟩ in the query, the keys and the values."""
    p = softmax(products(keys, query) / tau)
    slope = centred(p, products(values, upward)) / tau
    down = products(transposed(keys), slope)
    return joined([down, *(slope[j] * query for j in range(len(slope))), *(p[j] * upward for j in range(len(p)))])


def kernel_weights(query: Exact, keys: Matrix) -> Exact:
    """Weights in proportion to inner products of features."""
    kernel = products(keys, query)
    return kernel / kernel.sum()


def linear_attention(query: Exact, keys: Matrix, values: Matrix) -> Exact:
    """The output with these weights."""
    kernel = products(keys, query)
    return products(transposed(values), kernel) / kernel.sum()


def random_features(x: Exact, projections: Matrix) -> Exact:
    """exp(⟨ω, x⟩ − ‖x‖²/2)/√F."""
    logarithm = products(projections, x) - dot(x, x) / 2.0
    count = Exact.of([len(projections)], x.peak).power(Exact.of([0.5], x.peak))
    return logarithm.exp() / count


def random_feature_attention(query: Exact, keys: Matrix, values: Matrix, projections: Matrix, tau: Exact) -> Exact:
    """Attention with the features of q/√τ and k/√τ, of which only quotients count."""
    root = tau.power(Exact.of([0.5], tau.peak))
    q, k = query / root, [key / root for key in keys]
    a = products(projections, q)
    b = [products(projections, key) - dot(key, key) / 2.0 for key in k]
    logarithms = [a + part for part in b]
    top = joined(logarithms).max()
    kernel = joined((part - top).exp().sum() for part in logarithms)
    return products(transposed(values), kernel) / kernel.sum()


def kernel_variance(query: Exact, key: Exact, features: int) -> Exact:
    """exp(2⟨q, k⟩ + ‖q + k‖²)(1 − exp(−‖q + k‖²))/F."""
    both = query + key
    size = dot(both, both)
    return (dot(query, key) * 2.0 + size).exp() * -(-size).expm1() / float(features)


# ── maximum entropy on the mean ─────────────────────────────────────────────────────────────────────────────────────


def log_prior(prior: Exact) -> Exact:
    """The log of the normalized prior."""
    return prior.log() - prior.sum().log()


def tilt(dual: Exact, templates: Matrix, prior: Exact) -> Exact:
    """u e^{⟨t, λ⟩} over its sum."""
    return softmax(products(templates, dual) + log_prior(prior))


def mem_log_partition(dual: Exact, templates: Matrix, prior: Exact) -> Exact:
    """log Σ u e^{⟨t, λ⟩}."""
    s = products(templates, dual) + log_prior(prior)
    return (s - s.max()).exp().sum().log() + s.max()


def normalized(prior: Exact) -> Exact:
    """The normalized prior."""
    return log_prior(prior).exp()


def mean(weights: Exact, templates: Matrix) -> Exact:
    """Σ p t."""
    return products(transposed(templates), weights)


def closed_form(templates: Matrix, evidence: Exact, prior: Exact, alpha: Exact) -> Exact:
    """The mean of the weights tilted by αz."""
    return mean(tilt(alpha * evidence, templates, prior), templates)


def dual_objective(dual: Exact, templates: Matrix, evidence: Exact, prior: Exact, alpha: Exact) -> Exact:
    """⟨λ, z⟩ − ‖λ‖²/2α − log Σ u e^{⟨t − μ, λ⟩}."""
    mu = mean(normalized(prior), templates)
    s = products(templates, dual) - dot(mu, dual) + log_prior(prior)
    inside = (s - s.max()).exp().sum().log() + s.max()
    return dot(dual, evidence - dual / (alpha * 2.0)) - inside


def dual_gradient(dual: Exact, templates: Matrix, evidence: Exact, prior: Exact, alpha: Exact) -> Exact:
    """z − λ/α + Σ (u − p) t."""
    return evidence - dual / alpha + mean(normalized(prior) - tilt(dual, templates, prior), templates)


def primal_objective(weights: Exact, templates: Matrix, evidence: Exact, prior: Exact, alpha: Exact) -> Exact:
    """α/2 ‖z + Σ (u − p) t‖² + Σ p log(p/u)."""
    residual = evidence + mean(normalized(prior) - weights, templates)
    live = [i for i, x in enumerate(weights.value) if x != 0]
    divergence = dot(weights[live], weights[live].log()) - dot(weights[live], log_prior(prior)[live])
    return alpha / 2.0 * dot(residual, residual) + divergence


def resolvent(templates: Matrix, evidence: Exact, prior: Exact, alpha: Exact) -> Exact:
    """α(I + αΣ)⁻¹z in two dimensions, by Cramer's rule; its error is that of a Cholesky factorization."""
    u = normalized(prior)
    mu = mean(u, templates)
    apart = transposed([t - mu for t in templates])
    a, b, d = (alpha * dot(u * apart[i], apart[j]) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, d, (x, y) = a + 1.0, d + 1.0, (evidence[0], evidence[1])
    determinant = (a * d - b * b).exactly()
    solution = joined([d * x - b * y, a * y - b * x]).exactly() / determinant
    # A perturbation of the matrix by δ moves the solution by M⁻¹δM⁻¹z.
    rows = [joined([d, -b]).exactly() / determinant, joined([-b, a]).exactly() / determinant]
    entries = joined([a.abs(), b.abs(), d.abs()])
    perturbation = [(entries.error + entries.size)[[0, 1]], (entries.error + entries.size)[[1, 2]]]
    errors = [float(row @ solution.size) for row in perturbation]
    error = [float(row.size @ errors) for row in rows]
    return alpha * solution.off_by(solution.size + error)
