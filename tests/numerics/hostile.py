"""What the table of hostile inputs is made of: functions with references of their own, classes of inputs, and the judge.

A reference is the definition, in NumPy's extended precision, of the numbers that are given. The judge allows what the input's
own rounding would move the reference by; beyond that a finite number is wrong. What is not finite is right where the reference
is not either, where the input is not, or where a product of what is given leaves the range of the dtype: these are the limits
of docs/conventions.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import linprog
from torch import Tensor

from numerics import attention, fisher, flash, linear, mem, one_sided, priors, regularizers, transport
from numerics import ot_attention as ot
from numerics.continuous import softmax_log_density

Array = Any                                                  # of NumPy's longdouble
Arguments = dict[str, Any]

N, M, D, V = 3, 4, 2, 2


@dataclass(frozen=True)
class Function:
    """A function of tensors, its definition, and the shapes of its tensors.

    Attributes:
        call: from keyword arguments.
        reference: the same from arrays and numbers; the prior, the mask or the temperature may be missing.
        shapes: of the tensor arguments; a shape that starts with N holds rows of their own.
        positive: those that hold probabilities or other positive numbers.
        number: the name of the argument that is a positive number or a tensor of them, if there is one.
        mask: whether there is a boolean mask of the last axis of the result.
        solves: what says, where it iterates, that its result solves the problem.
    """

    call: Callable[..., Any]
    reference: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    positive: tuple[str, ...] = ()
    number: str | None = "temperature"
    mask: bool = False
    solves: Callable[..., bool] | None = None


# ── definitions ─────────────────────────────────────────────────────────────────────────────────────────────────────


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
    b = b - ((key / root) ** 2).sum(-1, keepdims=True) / 2   # what the same does for a query cancels in its row
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
    kept = value if mask is None else np.where(mask[..., None], value, 0)
    return np.where(mass == 0, 0, (kernel / np.where(mass == 0, 1, mass)) @ kept)


def kernel_variance(query: Array, key: Array) -> Array:
    squares = ((query[..., :, None, :] + key[..., None, :, :]) ** 2).sum(-1)
    return np.exp(2 * query @ key.swapaxes(-1, -2) + squares) * -np.expm1(-squares) / 3


def ratio_bias(query: Array, key: Array) -> Array:
    s = query[..., :, None, :] + key[..., None, :, :]
    log_p = query @ key.swapaxes(-1, -2)
    log_p = log_p - logsumexp(log_p)[..., None]
    each = logsumexp(s @ s.swapaxes(-1, -2) + log_p[..., None, :])
    whole = logsumexp(each + log_p)[..., None]
    top = np.maximum(each, whole)
    difference = np.exp(whole - top) - np.exp(each - top)
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
    """By plain half-steps in extended precision, of which a small temperature would need too many: see ``is_balanced``."""
    x = scores / np.asarray(temperature)[..., None, None]
    if bool((x == -np.inf).all()):
        return np.zeros(x.shape)
    n, m = x.shape[-2:]
    x = x - logsumexp(x)[..., None] if first else x
    for _ in range(turns):
        x = x - logsumexp(x, -2)[..., None, :] + np.log(np.longdouble(n) / m)
        x = x - logsumexp(x)[..., None]
    return np.exp(x)


def is_balanced(found: Array, scores: Array, temperature: Any = 1.0) -> bool:
    """Whether weights have the marginals, and a total score that is the largest but for what the entropy is worth."""
    n, m = scores.shape[-2:]
    sums = np.concatenate([found.sum(-1) - 1, (found.sum(-2) * m - n) / n])
    equal = np.concatenate([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    scale = np.abs(scores).max()
    best = linprog(-(scores / scale).ravel().astype(float), A_eq=equal, b_eq=[1.0] * n + [n / m] * m)
    allowed = n * np.log(n * m) * np.longdouble(temperature) / scale + 1e-6
    return bool((np.abs(sums) < 1e-6).all() and -best.fun - (found * scores).sum() / scale <= allowed)


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


# ── the functions ───────────────────────────────────────────────────────────────────────────────────────────────────

ROWS = {"plan": (N, M), "scores": (N, M)}
PROBLEM = {"templates": (M, D), "evidence": (N, D), "prior": (M,)}

FUNCTIONS: dict[str, Function] = {
    "one_sided.plan": Function(
        one_sided.plan, lambda scores, temperature=1.0, mask=None: softmax(logits(scores, temperature, mask)),
        {"scores": (N, M)}, mask=True),
    "one_sided.log_partition": Function(
        one_sided.log_partition, lambda scores, temperature=1.0, mask=None: logsumexp(logits(scores, temperature, mask)),
        {"scores": (N, M)}, mask=True),
    "one_sided.entropy": Function(one_sided.entropy, lambda plan: entropy(plan), {"plan": (N, M)}, ("plan",), None),
    "one_sided.objective": Function(one_sided.objective, objective, ROWS, ("plan",)),
    "one_sided.scores_from": Function(
        one_sided.scores_from, lambda query, keys: query @ keys.swapaxes(-1, -2), {"query": (N, D), "keys": (M, D)}, (), None),
    "one_sided.context": Function(
        one_sided.context, lambda plan, values: plan @ values, {"plan": (N, M), "values": (M, V)}, ("plan",), None),
    "one_sided.utility": Function(
        one_sided.utility, lambda context_gradient, values: -context_gradient @ values.swapaxes(-1, -2),
        {"context_gradient": (N, V), "values": (M, V)}, (), None),
    "one_sided.score_gradient": Function(
        one_sided.score_gradient,
        lambda plan, utility, temperature=1.0: -fisher_product(plan, utility, temperature, 1),
        {"plan": (N, M), "utility": (N, M)}, ("plan",)),
    "one_sided.plan_jacobian": Function(one_sided.plan_jacobian, jacobian, {"plan": (N, M)}, ("plan",)),
    "fisher.potential": Function(
        fisher.potential, lambda scores, temperature=1.0: np.asarray(temperature) * logsumexp(scores / per_row(temperature)),
        {"scores": (N, M)}),
    "fisher.fisher": Function(
        fisher.fisher, lambda plan, temperature=1.0: jacobian(plan, temperature, 2), {"plan": (N, M)}, ("plan",)),
    "fisher.fisher_product": Function(fisher.fisher_product, fisher_product, {"plan": (N, M), "x": (N, M)}, ("plan",)),
    "fisher.natural_direction": Function(
        fisher.natural_direction, natural_direction, {"plan": (N, M), "utility": (N, M)}, ("plan",)),
    "priors.tilted": Function(
        priors.tilted, lambda log_prior, scores: softmax(np.where(log_prior == -np.inf, -np.inf, log_prior + scores)),
        {"log_prior": (N, M), "scores": (N, M)}, (), None),
    "attention.attention_weights": Function(
        attention.attention_weights,
        lambda templates, evidence, log_prior, alpha=1.0: softmax(np.where(
            log_prior == -np.inf, -np.inf, log_prior + alpha * evidence @ templates.swapaxes(-1, -2))),
        {"templates": (M, D), "evidence": (N, D), "log_prior": (N, M)}, (), None),
    "linear.linear_attention": Function(
        linear.linear_attention, kernel_attention,
        {"query_features": (N, D), "key_features": (M, D), "value": (M, V)}, ("query_features", "key_features"), None,
        mask=True),
    "linear.positive_random_features": Function(
        linear.positive_random_features,
        lambda x, projections: np.exp(x @ projections.swapaxes(-1, -2) - (x**2).sum(-1, keepdims=True) / 2) / np.sqrt(
            np.longdouble(projections.shape[-2])),
        {"x": (N, D), "projections": (M, D)}, (), None),
    "linear.random_feature_attention": Function(
        linear.random_feature_attention,
        lambda query, key, value, projections, temperature=1.0:
            softmax(random_features(query, key, projections, temperature)) @ value,
        {"query": (N, D), "key": (M, D), "value": (M, V), "projections": (M, D)}),
    "linear.kernel_variance": Function(
        lambda query, key: linear.kernel_variance(query, key, 3),
        kernel_variance, {"query": (N, D), "key": (M, D)}, (), None),
    "linear.ratio_bias": Function(
        lambda query, key: linear.ratio_bias(query, key, 3), ratio_bias, {"query": (N, D), "key": (M, D)}, (), None),
    "mem.tilt": Function(mem.tilt, tilt, {"dual": (N, D), "templates": (M, D), "prior": (M,)}, ("prior",), None, mask=True),
    "mem.dual_objective": Function(mem.dual_objective, dual_objective, {"dual": (N, D)} | PROBLEM, ("prior",), "alpha"),
    "mem.dual_gradient": Function(mem.dual_gradient, dual_gradient, {"dual": (N, D)} | PROBLEM, ("prior",), "alpha"),
    "mem.primal_objective": Function(
        mem.primal_objective, primal_objective, {"weights": (N, M)} | PROBLEM, ("weights", "prior"), "alpha"),
    "mem.closed_form": Function(mem.closed_form, closed_form, PROBLEM, ("prior",), "alpha"),
    "mem.certificate": Function(lambda **x: mem.certificate(**x).mean, closed_form, PROBLEM, ("prior",), "alpha"),
    "ot.true_preference": Function(
        ot.true_preference,
        lambda prior, cost, temperature=1.0: transported(np.zeros(cost.shape[-2]), prior, cost, temperature),
        {"prior": (M,), "cost": (M, M)}, ("prior",)),
    "ot.transported": Function(
        ot.transported, transported, {"potential": (N, M), "prior": (M,), "cost": (M, M)}, ("prior",)),
    "transport.one_sided_plan": Function(
        transport.one_sided_plan,
        lambda cost, temperature=1.0: softmax(-cost / np.asarray(temperature)[..., None, None]) / cost.shape[-2],
        {"cost": (N, M)}),
    "transport.sinkhorn_weights": Function(
        lambda **x: transport.sinkhorn_weights(**x, half_steps=math.inf), balanced, {"scores": (N, M)}, solves=is_balanced),
    "transport.sinkhorn_weights, two half-steps": Function(
        lambda **x: transport.sinkhorn_weights(**x, half_steps=2), lambda **x: balanced(**x, turns=1, first=True),
        {"scores": (N, M)}),
    "fisher.pseudo_inverse_product": Function(
        fisher.pseudo_inverse_product, pseudo_inverse_product, {"plan": (N, M), "x": (N, M)}, ("plan",)),
    "linear.kernel_weights": Function(
        linear.kernel_weights,
        lambda query_features, key_features, mask=None: kernel_attention(
            query_features, key_features, np.eye(key_features.shape[-2]), mask),
        {"query_features": (N, D), "key_features": (M, D)}, ("query_features", "key_features"), None, mask=True),
    "linear.linear_attention, causal": Function(
        lambda **x: linear.linear_attention(**x, causal=True),
        lambda query_features, key_features, value: kernel_attention(
            query_features, key_features, value, past=True),
        {"query_features": (M, D), "key_features": (M, D), "value": (M, V)}, ("query_features", "key_features"), None),
    "linear.random_feature_attention, causal": Function(
        lambda **x: linear.random_feature_attention(**x, causal=True),
        lambda query, key, value, projections, temperature=1.0:
            softmax(causal(random_features(query, key, projections, temperature))) @ value,
        {"query": (M, D), "key": (M, D), "value": (M, V), "projections": (M, D)}),
    "mem.log_partition": Function(
        mem.log_partition,
        lambda dual, templates, prior=None: logsumexp(
            products(dual, templates) + log(weighted(prior, templates.shape[-2]))),
        {"dual": (N, D), "templates": (M, D), "prior": (M,)}, ("prior",), None),
    "mem.moments": Function(
        mem.moments, lambda templates, weights: mean_of(weights, templates), {"templates": (M, D), "weights": (N, M)},
        ("weights",), None),
    "ot.kernel": Function(
        ot.kernel, lambda cost, temperature=1.0: softmax(-cost / np.asarray(temperature)[..., None, None], -2),
        {"cost": (N, M)}),
    "ot.conjugate": Function(
        ot.conjugate, conjugate, {"potential": (N, M), "prior": (M,), "cost": (M, M)}, ("prior",)),
    "ot.mean_covariance": Function(
        ot.mean_covariance, mean_covariance, {"templates": (M, D), "prior": (M,), "cost": (M, M)}, ("prior",)),
    "ot.resolvent": Function(
        ot.resolvent, ot_resolvent, {"templates": (M, D), "evidence": (D,), "prior": (M,), "cost": (M, M)}, ("prior",)),
    "mem.resolvent": Function(mem.resolvent, mem_resolvent, PROBLEM, ("prior",), "alpha"),
    "ot.squared_distance": Function(
        ot.squared_distance, squared_distance, {"templates": (N, D), "sources": (M, D)}, (), None),
    "regularizers.entmax_bisect at α = 1": Function(
        lambda X: regularizers.entmax_bisect(X, 1.0), lambda X: softmax(X), {"X": (N, M)}, (), None),
    "regularizers.entmax_bisect at α = 2": Function(
        lambda X: regularizers.entmax_bisect(X, 2.0, n_iter=100), lambda X: simplex_projection(X), {"X": (N, M)}, (), None),
    "regularizers.sparsemax": Function(
        lambda X: regularizers.sparsemax(X), lambda X: simplex_projection(X), {"X": (N, M)}, (), None),
    "continuous.softmax_log_density": Function(
        lambda points, mean: softmax_log_density(points, mean, torch.eye(D)), log_density,
        {"points": (N, D), "mean": (D,)}, (), None),
    "flash.tiled_attention": Function(
        lambda query, key, value, temperature=1.0: flash.tiled_attention(query, key, value, None, temperature, tile=3).output,
        lambda query, key, value, temperature=1.0:
            softmax(query @ key.swapaxes(-1, -2) / np.asarray(temperature)[..., None, None]) @ value,
        {"query": (N, D), "key": (M, D), "value": (M, V)}),
}


def base(function: Function, dtype: torch.dtype) -> Arguments:
    """Ordinary arguments: normal numbers, and probabilities where they are meant."""
    g = torch.Generator().manual_seed(0)
    found: Arguments = {}
    for name, shape in function.shapes.items():
        x = torch.randn(shape, generator=g, dtype=torch.float64)
        found[name] = (x.softmax(-1) if name in function.positive else x).to(dtype)
    return found


# ── classes of inputs ───────────────────────────────────────────────────────────────────────────────────────────────


def entry(value: float) -> Callable[[Tensor], Tensor]:
    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x.view(-1)[0] = value
        return x
    return change


def strided(x: Tensor) -> Tensor:
    return x.new_zeros(*x.shape[:-1], 2 * x.shape[-1])[..., ::2].copy_(x)


TENSORS: dict[str, Callable[[Tensor], Any]] = {
    "as it is": lambda x: x,
    "an axis of size 1": lambda x: x[None],
    "two problems": lambda x: torch.stack((x, x.flip(-1))),
    "no problem": lambda x: x[None][:0],
    "no last axis": lambda x: x[..., :0],
    "no rows": lambda x: x[:0],
    "one column": lambda x: x[..., :1],
    "a number": lambda x: x.reshape(-1)[0],
    "rows expanded": lambda x: x[..., :1, :].expand(x.shape) if x.ndim > 1 else x[:1].expand(x.shape),
    "last axis expanded": lambda x: x[..., :1].expand(x.shape),
    "not contiguous": strided,
    "float16": lambda x: x.half(),
    "bfloat16": lambda x: x.bfloat16(),
    "float32": lambda x: x.float(),
    "integers": lambda x: x.long(),
    "booleans": lambda x: x > 0,
    "complex": lambda x: x.to(torch.complex128),
    "sparse": lambda x: x.to_sparse(),
    "meta": lambda x: x.to("meta"),
    "a list": lambda x: x.tolist(),
    "nothing": lambda _: None,
    "made in inference mode": lambda x: torch.inference_mode()(x.clone)(),
    "that requires a gradient": lambda x: x.clone().requires_grad_(),
    "zeros": torch.zeros_like,
    "one zero": entry(0.0),
    "minus what it was": lambda x: -x,
    "three times": lambda x: 3 * x,
    "an offset of 1e8": lambda x: x + 1e8,
    "a scale of 1e8": lambda x: x * 1e8,
    "a scale of 1e30": lambda x: x * 1e30,
    "a scale of 1e200": lambda x: x * 1e200,
    "a scale of 1e-30": lambda x: x * 1e-30,
    "denormal": lambda x: x * torch.finfo(x.dtype).tiny / 8,
    "the largest": lambda x: torch.full_like(x, torch.finfo(x.dtype).max),
    "a NaN": entry(math.nan),
    "a +inf": entry(math.inf),
    "a −inf": entry(-math.inf),
    "all −inf": lambda x: torch.full_like(x, -math.inf),
    "all NaN": lambda x: torch.full_like(x, math.nan),
}

NUMBERS: dict[str, Any] = {
    "1e-3": 1e-3, "1e3": 1e3, "zero": 0.0, "negative": -1.0, "NaN": math.nan, "+inf": math.inf, "denormal": 5e-324, "text": "1",
    "True": True, "None in its place": [1.0],
    "tensor": torch.tensor(0.5, dtype=torch.float64), "float32 tensor": torch.tensor(0.5),
    "tensor 1e-300": torch.tensor(1e-300, dtype=torch.float64), "tensor 1e-20": torch.tensor(1e-20, dtype=torch.float64),
    "tensor zero": torch.tensor(0.0, dtype=torch.float64), "tensor negative": torch.tensor(-1.0, dtype=torch.float64),
    "tensor NaN": torch.tensor(math.nan, dtype=torch.float64), "tensor of integers": torch.tensor(1),
    "tensor of another shape": torch.ones(7, dtype=torch.float64), "meta tensor": torch.ones((), device="meta"),
    "sparse tensor": torch.ones(1).to_sparse(),
}

MASKS: dict[str, Any] = {
    "all": torch.ones(M, dtype=torch.bool), "some": torch.arange(M) != 1, "none": torch.zeros(M, dtype=torch.bool),
    "too long": torch.ones(M + 1, dtype=torch.bool), "integers": torch.ones(M, dtype=torch.long), "a list": [True] * M,
    "sparse": torch.ones(M).to_sparse(), "meta": torch.ones(M, dtype=torch.bool, device="meta"),
}


def cells(function: Function, dtype: torch.dtype) -> Iterator[tuple[str, str, Arguments]]:
    """Every input of the table: what it is called, the argument that is changed, and all arguments."""
    for name in function.shapes:
        for kind, change in TENSORS.items():
            given = base(function, dtype)
            yield f"{name}: {kind}", name, given | {name: change(given[name])}
    if function.number is not None:
        for kind, number in NUMBERS.items():
            yield f"{function.number}: {kind}", function.number, base(function, dtype) | {function.number: number}
    for kind, mask in MASKS.items() if function.mask else ():
        yield f"mask: {kind}", "mask", base(function, dtype) | {"mask": mask}


# ── the judge ───────────────────────────────────────────────────────────────────────────────────────────────────────

_DRAWS = 6


def judge(function: Function, changed: str, given: Arguments) -> str:
    """Return "right", "refused" or "limit", or what is wrong."""
    try:
        result = function.call(**given)
        result = result[0] if isinstance(result, tuple) else result
    except ValueError as error:
        return "refused" if _names(str(error), changed, function) else f"ValueError that does not name {changed}: {error}"
    except RuntimeError as error:
        if function.solves is not None and re.match(r"sinkhorn: 1 of 1 problems did not converge .*at this temp", str(error)):
            return "limit"
        return f"RuntimeError: {error}"
    except Exception as error:  # whatever it is, it is no clear error
        return f"{type(error).__name__}: {str(error)[:80]}"
    if not all(_is_real(given[name]) for name in given if name != "mask"):
        return "accepted what is no dense floating tensor or number"
    try:
        return _compared(function, result, given)
    except (ValueError, TypeError) as error:
        return f"accepted what has no definition ({error})"


def _names(message: str, changed: str, function: Function) -> bool:
    """Whether an error names the argument that was changed, or one that must go with it."""
    found = re.match(r"(\w+): expected .*, got .+", message, re.DOTALL)
    return found is not None and (found[1] == changed or found[1] in (*function.shapes, "mask", "keys", "values", "x", "cost"))


def _is_real(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x.is_floating_point() and x.layout == torch.strided and not x.is_meta
    return x is None or (isinstance(x, float | int) and not isinstance(x, bool))


def _wide(x: Any) -> Any:
    if x is None:                                            # a reference that has no default for it fails
        return None
    if not isinstance(x, Tensor):
        return np.longdouble(x)
    return x.numpy() if x.dtype == torch.bool else x.detach().double().numpy().astype(np.longdouble)


def _compared(function: Function, result: Tensor, given: Arguments) -> str:
    dtype = result.dtype
    unit = np.longdouble(torch.finfo(torch.float32 if dtype.itemsize == 2 else dtype).eps)
    arrays = {name: _wide(x) for name, x in given.items()}
    if function.number in given:                             # in the dtype of the data, as the conventions say
        data = {x.dtype for name, x in given.items() if isinstance(x, Tensor) and name in function.shapes}
        narrow = torch.as_tensor(given[function.number], dtype=next(iter(data)))
        arrays[str(function.number)] = _wide(narrow)
        if not bool((narrow >= torch.finfo(narrow.dtype).tiny).all()) and not function.solves:
            return "limit" if bool(result.isnan().any()) else f"a number for {given[function.number]}"
    with np.errstate(all="ignore"):
        expected = np.asarray(function.reference(**arrays))
        if tuple(expected.shape) != tuple(result.shape):
            return f"shape {tuple(result.shape)}, expected {tuple(expected.shape)}"
        moved = np.zeros(expected.shape, dtype=np.longdouble)
        random = np.random.default_rng(0)
        for _ in range(_DRAWS):
            near = {name: x if x is None or x.dtype == bool else x * (1 + unit * random.uniform(-1, 1, x.shape))
                    for name, x in arrays.items()}
            moved = np.fmax(moved, np.abs(np.asarray(function.reference(**near)) - expected))
        found = _wide(result)
        verdict = _entries(found, expected, moved, dtype, given)
        if verdict.startswith("silent") and function.solves is not None and function.solves(found, **arrays):
            return "right"
        return verdict


def _entries(found: Array, expected: Array, moved: Array, dtype: torch.dtype, given: Arguments) -> str:
    finfo, size = torch.finfo(dtype), sum(x.numel() for x in given.values() if isinstance(x, Tensor))
    allowed = 64 * moved + 16 * size * finfo.eps * np.abs(expected) + 16 * size * finfo.eps * finfo.tiny + 16 * finfo.tiny
    computed = torch.float32 if dtype.itemsize == 2 else dtype
    allowed = np.where(np.isnan(allowed), np.inf, allowed)
    same = (np.abs(found - expected) <= allowed) | (found == expected) | (np.isnan(found) & np.isnan(expected))
    beyond = np.abs(expected) + allowed > np.longdouble(finfo.max)
    same |= beyond & ~np.isfinite(found) & ~np.isnan(found)
    if bool(same.all()):
        return "right"
    if bool((np.isfinite(found) & ~same).any()):
        at = tuple(int(x) for x in np.argwhere(np.isfinite(found) & ~same)[0])
        return f"silent: {float(found[at]):.6g} where {float(expected[at]):.6g} is right, at {at}"
    wide = [_wide(x) for name, x in given.items() if name != "mask" and x is not None]
    if not all(bool(np.isfinite(x).all()) for x in wide):
        return "limit"
    magnitudes = sorted((float(max(np.abs(x).max(initial=0), 1 / np.abs(x).max(initial=1e-300))) for x in wide), reverse=True)
    reach = np.longdouble(magnitudes[0]) * max(magnitudes[0], magnitudes[1] if len(magnitudes) > 1 else 1) * size
    return "limit" if reach > torch.finfo(computed).max else "NaN or inf where the result can be stored"
