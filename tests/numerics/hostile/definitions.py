"""The definitions, in NumPy's extended precision."""

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

Array = Any  # of NumPy's longdouble

D = 2
"""The width of vectors in the table."""


def softmax(x: Array, axis: int = -1) -> Array:
    """Zeros where all is −inf."""
    peak = x.max(axis, keepdims=True)
    terms = np.exp(np.where(x == -np.inf, -np.inf, x - np.where(np.isinf(peak) & (peak < 0), 0, peak)))
    total = terms.sum(axis, keepdims=True)
    return np.where(total == 0, 0, terms / np.where(total == 0, 1, total))


def logsumexp(x: Array, axis: int = -1) -> Array:
    peak = x.max(axis, keepdims=True)
    base = np.where(np.isinf(peak), 0, peak)
    return np.where(np.isinf(peak), peak, np.log(np.exp(x - base).sum(axis, keepdims=True)) + base).squeeze(axis)


def per_row(number: Any) -> Array:
    return np.asarray(number)[..., None]


def log(x: Array) -> Array:
    return np.where(x == 0, -np.inf, np.log(np.where(x == 0, 1, x)))


def entropy(p: Array) -> Array:
    terms = np.where(p < 0, -np.inf, -p * np.log(np.where(p <= 0, 1, p)))
    return np.where(np.isnan(p), np.nan, terms).sum(-1)


def logits(scores: Array, temperature: Any, mask: Array | None) -> Array:
    x = scores / per_row(temperature)
    return x if mask is None else np.where(mask, x, -np.inf)


def objective(plan: Array, scores: Array, temperature: Any = 1.0) -> Array:
    scores = np.where((plan == 0) & (scores == -np.inf), 0, scores)
    return -(plan * scores).sum(-1) - np.asarray(temperature) * entropy(plan)


def jacobian(plan: Array, temperature: Any = 1.0, power: int = 1) -> Array:
    matrix = plan[..., :, None] * (np.eye(plan.shape[-1]) - plan[..., None, :])
    return matrix / (np.asarray(temperature)[..., None, None] ** power)


def fisher_product(plan: Array, x: Array, temperature: Any = 1.0, power: int = 2) -> Array:
    x = np.where(plan == 0, 0, x)
    return plan * (x - (plan * x).sum(-1, keepdims=True)) / per_row(temperature) ** power


def pseudo_inverse_product(plan: Array, x: Array, temperature: Any = 1.0) -> Array:
    live = plan > 0
    inside = natural_direction(plan, x) / np.where(live, plan, 1)
    return natural_direction(plan, inside) * per_row(temperature) ** 2


def natural_direction(plan: Array, utility: Array, temperature: Any = 1.0) -> Array:
    live = plan > 0
    mean = np.where(live, utility, 0).sum(-1, keepdims=True) / np.maximum(live.sum(-1, keepdims=True), 1)
    return np.where(live, utility - mean, 0) * per_row(temperature)


def random_features(query: Array, key: Array, projections: Array, temperature: Any = 1.0) -> Array:
    root = np.sqrt(np.asarray(temperature))[..., None, None]
    a, b = ((x / root) @ projections.swapaxes(-1, -2) for x in (query, key))
    b = b - ((key / root) ** 2).sum(-1, keepdims=True) / 2  # the query's shift cancels in its row
    return logsumexp((a - a.max(-1, keepdims=True))[..., :, None, :] + b[..., None, :, :])


def causal(logits: Array) -> Array:
    return np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, -np.inf)


def kernel_attention(
    query_features: Array, key_features: Array, value: Array, mask: Array | None = None, past: bool = False
) -> Array:
    kernel = query_features @ key_features.swapaxes(-1, -2)
    kernel = np.where(np.tri(*kernel.shape[-2:], dtype=bool), kernel, 0) if past else kernel
    kernel = kernel if mask is None else np.where(mask, kernel, 0)
    mass = kernel.sum(-1, keepdims=True)
    visible = value if mask is None else np.where(mask[..., None], value, 0)
    return np.where(mass == 0, 0, (kernel / np.where(mass == 0, 1, mass)) @ visible)


def kernel_variance(query: Array, key: Array) -> Array:
    squares = ((query[..., :, None, :] + key[..., None, :, :]) ** 2).sum(-1)
    return np.exp(2 * query @ key.swapaxes(-1, -2) + squares) * -np.expm1(-squares) / 3


def ratio_bias(query: Array, key: Array) -> Array:
    s = query[..., :, None, :] + key[..., None, :, :]
    log_p = query @ key.swapaxes(-1, -2)
    log_p = log_p - logsumexp(log_p)[..., None]
    each = logsumexp(s @ s.swapaxes(-1, -2) + log_p[..., None, :])
    log_total = logsumexp(each + log_p)[..., None]
    top = np.maximum(each, log_total)
    difference = np.exp(log_total - top) - np.exp(each - top)
    return np.where(difference == 0, 0, np.exp(log_p + top) * difference) / 3


def weighted(prior: Array | None, n: int, mask: Array | None = None) -> Array:
    u = np.full(n, 1.0, dtype=np.longdouble) if prior is None else np.where(prior < 0, np.nan, prior)
    u = u if mask is None else np.where(mask, u, 0)
    total = u.sum(-1, keepdims=True)
    return np.where(total == 0, 0, u / np.where(total == 0, 1, total))


def products(vectors: Array, templates: Array) -> Array:
    return (vectors[..., None, :] * templates).sum(-1)


def mean_of(weights: Array, templates: Array) -> Array:
    return (weights[..., None] * templates).sum(-2)


def tilt(dual: Array, templates: Array, prior: Array | None = None, mask: Array | None = None) -> Array:
    return softmax(products(dual, templates) + log(weighted(prior, templates.shape[-2], mask)))


def dual_objective(dual: Array, templates: Array, evidence: Array, prior: Array | None = None, alpha: Any = 1.0) -> Array:
    u = weighted(prior, templates.shape[-2])
    inside = logsumexp(products(dual, templates - mean_of(u, templates)[..., None, :]) + log(u))
    value = (dual * evidence).sum(-1) - (dual**2).sum(-1) / (2 * np.asarray(alpha)) - inside
    return np.where(u.sum(-1) == 0, 0, value)


def dual_gradient(dual: Array, templates: Array, evidence: Array, prior: Array | None = None, alpha: Any = 1.0) -> Array:
    u = weighted(prior, templates.shape[-2])
    value = evidence - dual / per_row(alpha) + mean_of(u - tilt(dual, templates, prior), templates)
    return np.where(u.sum(-1, keepdims=True) == 0, 0, value)


def primal_objective(weights: Array, templates: Array, evidence: Array, prior: Array | None = None, alpha: Any = 1.0) -> Array:
    u = weighted(prior, templates.shape[-2])
    residual = evidence + mean_of(u - weights, templates)
    divergence = -entropy(weights) - np.where((weights == 0) & (u == 0), 0, weights * log(u)).sum(-1)
    value = np.asarray(alpha) / 2 * (residual**2).sum(-1) + divergence
    return np.where(u.sum(-1) == 0, 0, value)


def closed_form(templates: Array, evidence: Array, prior: Array | None = None, alpha: Any = 1.0) -> Array:
    return mean_of(tilt(per_row(alpha) * evidence, templates, prior), templates)


def transported(potential: Array, prior: Array, cost: Array, temperature: Any = 1.0) -> Array:
    q = softmax((potential[..., :, None] - cost) / np.asarray(temperature)[..., None, None], -2)
    return (q * prior[..., None, :]).sum(-1)


def balanced(scores: Array, temperature: Any = 1.0, turns: int = 400, first: bool = False) -> Array:
    """By plain half-steps in extended precision; small temperatures would need too many: see ``is_balanced``."""
    x = scores / np.asarray(temperature)[..., None, None]
    if bool((x == -np.inf).all()):
        return np.zeros(x.shape)
    n, m = x.shape[-2:]
    x = x - logsumexp(x)[..., None] if first else x
    for _ in range(turns):
        x = x - logsumexp(x, -2)[..., None, :] + np.log(np.longdouble(n) / m)
        x = x - logsumexp(x)[..., None]
    return np.exp(x)


def is_balanced(plan: Array, scores: Array, temperature: Any = 1.0) -> bool:
    """Whether weights have the marginals, and a total score that is maximal up to the value of the entropy."""
    n, m = scores.shape[-2:]
    sums = np.concatenate([plan.sum(-1) - 1, (plan.sum(-2) * m - n) / n])
    equal = np.concatenate([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    scale = np.abs(scores).max()
    best = linprog(-(scores / scale).ravel().astype(float), A_eq=equal, b_eq=[1.0] * n + [n / m] * m)
    allowed = n * np.log(n * m) * np.longdouble(temperature) / scale + 1e-6
    return bool((np.abs(sums) < 1e-6).all() and -best.fun - (plan * scores).sum() / scale <= allowed)


def conjugate(potential: Array, prior: Array, cost: Array, temperature: Any = 1.0) -> Array:
    gamma = np.asarray(temperature)
    inside = logsumexp((potential[..., :, None] - cost) / gamma[..., None, None], -2)
    return gamma * (entropy(prior) + np.where(prior == 0, 0, prior * inside).sum(-1))


def mean_covariance(templates: Array, prior: Array, cost: Array, temperature: Any = 1.0) -> Array:
    q = softmax(-cost / np.asarray(temperature)[..., None, None], -2)
    means = q.swapaxes(-1, -2) @ templates
    apart = templates[..., :, None, :] - means[..., None, :, :]
    weights = q * prior[..., None, :]
    return np.einsum("...ij,...ijk,...ijl->...kl", weights, apart, apart)


def solved(matrix: Array, right: Array) -> Array:
    """The solution of a 2 × 2 system, by Cramer's rule."""
    (a, b), (c, d) = np.moveaxis(matrix[..., 0, :], -1, 0), np.moveaxis(matrix[..., 1, :], -1, 0)
    x, y = np.moveaxis(right, -1, 0)
    return np.stack(np.broadcast_arrays(d * x - b * y, a * y - c * x), -1) / (a * d - b * c)[..., None]


def ot_resolvent(templates: Array, evidence: Array, prior: Array, cost: Array, temperature: Any = 1.0) -> Array:
    sigma = mean_covariance(templates, prior, cost, temperature)
    return solved(np.eye(D) + sigma / np.asarray(temperature)[..., None, None], evidence)


def mem_resolvent(templates: Array, evidence: Array, prior: Array | None = None, alpha: Any = 1.0) -> Array:
    u = weighted(prior, templates.shape[-2])
    apart = templates - mean_of(u, templates)[..., None, :]
    sigma = np.einsum("...i,...ik,...il->...kl", u, apart, apart)
    value = per_row(alpha) * solved(np.eye(D) + np.asarray(alpha)[..., None, None] * sigma, evidence)
    return np.where(u.sum(-1, keepdims=True) == 0, 0, value)


def squared_distance(templates: Array, sources: Array | None = None) -> Array:
    sources = templates if sources is None else sources
    return ((templates[..., :, None, :] - sources[..., None, :, :]) ** 2).sum(-1)


def simplex_projection(x: Array) -> Array:
    top = x.max(-1, keepdims=True)
    x = x - np.where(np.isinf(top), 0, top)
    ordered = -np.sort(-x, axis=-1)
    sizes = np.arange(1, x.shape[-1] + 1)
    sums = np.where(ordered == -np.inf, 0, ordered).cumsum(-1)
    inside = (1 + sizes * ordered > sums) & (ordered != -np.inf)
    k = np.maximum(inside.sum(-1, keepdims=True), 1)
    tau = (np.take_along_axis(sums, k - 1, -1) - 1) / k
    return np.where((x == -np.inf).all(-1, keepdims=True), 0, np.maximum(x - tau, 0))


def log_density(points: Array, mean: Array) -> Array:
    value = -((points - mean[..., None, :]) ** 2).sum(-1) / 2 - D / 2 * np.log(2 * np.longdouble(math.pi))
    return np.where(np.isnan(points).any(-1), np.nan, value)
