"""The functions of the table, each with its definition and the shapes of its arguments."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numerics import attention, fisher, flash, linear, mem, one_sided, priors, regularizers, transport
from numerics import ot_attention as ot
from numerics.continuous import softmax_log_density
from tests.numerics.hostile.definitions import (
    D,
    balanced,
    causal,
    closed_form,
    conjugate,
    dual_gradient,
    dual_objective,
    entropy,
    fisher_product,
    is_balanced,
    jacobian,
    kernel_attention,
    kernel_variance,
    log,
    log_density,
    logits,
    logsumexp,
    mean_covariance,
    mean_of,
    mem_resolvent,
    natural_direction,
    objective,
    ot_resolvent,
    per_row,
    primal_objective,
    products,
    pseudo_inverse_product,
    random_features,
    ratio_bias,
    simplex_projection,
    softmax,
    squared_distance,
    tilt,
    transported,
    weighted,
)

Arguments = dict[str, Any]

N, M, V = 3, 4, 2


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


ROWS = {"plan": (N, M), "scores": (N, M)}
PROBLEM = {"templates": (M, D), "evidence": (N, D), "prior": (M,)}

FUNCTIONS: dict[str, Function] = {
    "one_sided.plan": Function(
        one_sided.plan,
        lambda scores, temperature=1.0, mask=None: softmax(logits(scores, temperature, mask)),
        {"scores": (N, M)},
        mask=True,
    ),
    "one_sided.log_partition": Function(
        one_sided.log_partition,
        lambda scores, temperature=1.0, mask=None: logsumexp(logits(scores, temperature, mask)),
        {"scores": (N, M)},
        mask=True,
    ),
    "one_sided.entropy": Function(one_sided.entropy, lambda plan: entropy(plan), {"plan": (N, M)}, ("plan",), None),
    "one_sided.objective": Function(one_sided.objective, objective, ROWS, ("plan",)),
    "one_sided.scores_from": Function(
        one_sided.scores_from, lambda query, keys: query @ keys.swapaxes(-1, -2), {"query": (N, D), "keys": (M, D)}, (), None
    ),
    "one_sided.context": Function(
        one_sided.context, lambda plan, values: plan @ values, {"plan": (N, M), "values": (M, V)}, ("plan",), None
    ),
    "one_sided.utility": Function(
        one_sided.utility,
        lambda context_gradient, values: -context_gradient @ values.swapaxes(-1, -2),
        {"context_gradient": (N, V), "values": (M, V)},
        (),
        None,
    ),
    "one_sided.score_gradient": Function(
        one_sided.score_gradient,
        lambda plan, utility, temperature=1.0: -fisher_product(plan, utility, temperature, 1),
        {"plan": (N, M), "utility": (N, M)},
        ("plan",),
    ),
    "one_sided.plan_jacobian": Function(one_sided.plan_jacobian, jacobian, {"plan": (N, M)}, ("plan",)),
    "fisher.potential": Function(
        fisher.potential,
        lambda scores, temperature=1.0: np.asarray(temperature) * logsumexp(scores / per_row(temperature)),
        {"scores": (N, M)},
    ),
    "fisher.fisher": Function(
        fisher.fisher, lambda plan, temperature=1.0: jacobian(plan, temperature, 2), {"plan": (N, M)}, ("plan",)
    ),
    "fisher.fisher_product": Function(fisher.fisher_product, fisher_product, {"plan": (N, M), "x": (N, M)}, ("plan",)),
    "fisher.natural_direction": Function(
        fisher.natural_direction, natural_direction, {"plan": (N, M), "utility": (N, M)}, ("plan",)
    ),
    "priors.tilted": Function(
        priors.tilted,
        lambda log_prior, scores: softmax(np.where(log_prior == -np.inf, -np.inf, log_prior + scores)),
        {"log_prior": (N, M), "scores": (N, M)},
        (),
        None,
    ),
    "attention.attention_weights": Function(
        attention.attention_weights,
        lambda templates, evidence, log_prior, alpha=1.0: softmax(
            np.where(log_prior == -np.inf, -np.inf, log_prior + alpha * evidence @ templates.swapaxes(-1, -2))
        ),
        {"templates": (M, D), "evidence": (N, D), "log_prior": (N, M)},
        (),
        None,
    ),
    "linear.linear_attention": Function(
        linear.linear_attention,
        kernel_attention,
        {"query_features": (N, D), "key_features": (M, D), "value": (M, V)},
        ("query_features", "key_features"),
        None,
        mask=True,
    ),
    "linear.positive_random_features": Function(
        linear.positive_random_features,
        lambda x, projections: (
            np.exp(x @ projections.swapaxes(-1, -2) - (x**2).sum(-1, keepdims=True) / 2)
            / np.sqrt(np.longdouble(projections.shape[-2]))
        ),
        {"x": (N, D), "projections": (M, D)},
        (),
        None,
    ),
    "linear.random_feature_attention": Function(
        linear.random_feature_attention,
        lambda query, key, value, projections, temperature=1.0: (
            softmax(random_features(query, key, projections, temperature)) @ value
        ),
        {"query": (N, D), "key": (M, D), "value": (M, V), "projections": (M, D)},
    ),
    "linear.kernel_variance": Function(
        lambda query, key: linear.kernel_variance(query, key, 3), kernel_variance, {"query": (N, D), "key": (M, D)}, (), None
    ),
    "linear.ratio_bias": Function(
        lambda query, key: linear.ratio_bias(query, key, 3), ratio_bias, {"query": (N, D), "key": (M, D)}, (), None
    ),
    "mem.tilt": Function(mem.tilt, tilt, {"dual": (N, D), "templates": (M, D), "prior": (M,)}, ("prior",), None, mask=True),
    "mem.dual_objective": Function(mem.dual_objective, dual_objective, {"dual": (N, D)} | PROBLEM, ("prior",), "alpha"),
    "mem.dual_gradient": Function(mem.dual_gradient, dual_gradient, {"dual": (N, D)} | PROBLEM, ("prior",), "alpha"),
    "mem.primal_objective": Function(
        mem.primal_objective, primal_objective, {"weights": (N, M)} | PROBLEM, ("weights", "prior"), "alpha"
    ),
    "mem.closed_form": Function(mem.closed_form, closed_form, PROBLEM, ("prior",), "alpha"),
    "mem.certificate": Function(lambda **x: mem.certificate(**x).mean, closed_form, PROBLEM, ("prior",), "alpha"),
    "ot.true_preference": Function(
        ot.true_preference,
        lambda prior, cost, temperature=1.0: transported(np.zeros(cost.shape[-2]), prior, cost, temperature),
        {"prior": (M,), "cost": (M, M)},
        ("prior",),
    ),
    "ot.transported": Function(ot.transported, transported, {"potential": (N, M), "prior": (M,), "cost": (M, M)}, ("prior",)),
    "transport.one_sided_plan": Function(
        transport.one_sided_plan,
        lambda cost, temperature=1.0: softmax(-cost / np.asarray(temperature)[..., None, None]) / cost.shape[-2],
        {"cost": (N, M)},
    ),
    "transport.sinkhorn_weights": Function(
        lambda **x: transport.sinkhorn_weights(**x, half_steps=math.inf), balanced, {"scores": (N, M)}, solves=is_balanced
    ),
    "transport.sinkhorn_weights, two half-steps": Function(
        lambda **x: transport.sinkhorn_weights(**x, half_steps=2),
        lambda **x: balanced(**x, turns=1, first=True),
        {"scores": (N, M)},
    ),
    "fisher.pseudo_inverse_product": Function(
        fisher.pseudo_inverse_product, pseudo_inverse_product, {"plan": (N, M), "x": (N, M)}, ("plan",)
    ),
    "linear.kernel_weights": Function(
        linear.kernel_weights,
        lambda query_features, key_features, mask=None: kernel_attention(
            query_features, key_features, np.eye(key_features.shape[-2]), mask
        ),
        {"query_features": (N, D), "key_features": (M, D)},
        ("query_features", "key_features"),
        None,
        mask=True,
    ),
    "linear.linear_attention, causal": Function(
        lambda **x: linear.linear_attention(**x, causal=True),
        lambda query_features, key_features, value: kernel_attention(query_features, key_features, value, past=True),
        {"query_features": (M, D), "key_features": (M, D), "value": (M, V)},
        ("query_features", "key_features"),
        None,
    ),
    "linear.random_feature_attention, causal": Function(
        lambda **x: linear.random_feature_attention(**x, causal=True),
        lambda query, key, value, projections, temperature=1.0: (
            softmax(causal(random_features(query, key, projections, temperature))) @ value
        ),
        {"query": (M, D), "key": (M, D), "value": (M, V), "projections": (M, D)},
    ),
    "mem.log_partition": Function(
        mem.log_partition,
        lambda dual, templates, prior=None: logsumexp(products(dual, templates) + log(weighted(prior, templates.shape[-2]))),
        {"dual": (N, D), "templates": (M, D), "prior": (M,)},
        ("prior",),
        None,
    ),
    "mem.moments": Function(
        mem.moments,
        lambda templates, weights: mean_of(weights, templates),
        {"templates": (M, D), "weights": (N, M)},
        ("weights",),
        None,
    ),
    "ot.kernel": Function(
        ot.kernel, lambda cost, temperature=1.0: softmax(-cost / np.asarray(temperature)[..., None, None], -2), {"cost": (N, M)}
    ),
    "ot.conjugate": Function(ot.conjugate, conjugate, {"potential": (N, M), "prior": (M,), "cost": (M, M)}, ("prior",)),
    "ot.mean_covariance": Function(
        ot.mean_covariance, mean_covariance, {"templates": (M, D), "prior": (M,), "cost": (M, M)}, ("prior",)
    ),
    "ot.resolvent": Function(
        ot.resolvent, ot_resolvent, {"templates": (M, D), "evidence": (D,), "prior": (M,), "cost": (M, M)}, ("prior",)
    ),
    "mem.resolvent": Function(mem.resolvent, mem_resolvent, PROBLEM, ("prior",), "alpha"),
    "ot.squared_distance": Function(ot.squared_distance, squared_distance, {"templates": (N, D), "sources": (M, D)}, (), None),
    "regularizers.entmax_bisect at α = 1": Function(
        lambda X: regularizers.entmax_bisect(X, 1.0), lambda X: softmax(X), {"X": (N, M)}, (), None
    ),
    "regularizers.entmax_bisect at α = 2": Function(
        lambda X: regularizers.entmax_bisect(X, 2.0, n_iter=100), lambda X: simplex_projection(X), {"X": (N, M)}, (), None
    ),
    "regularizers.sparsemax": Function(
        lambda X: regularizers.sparsemax(X), lambda X: simplex_projection(X), {"X": (N, M)}, (), None
    ),
    "continuous.softmax_log_density": Function(
        lambda points, mean: softmax_log_density(points, mean, torch.eye(D)),
        log_density,
        {"points": (N, D), "mean": (D,)},
        (),
        None,
    ),
    "flash.tiled_attention": Function(
        lambda query, key, value, temperature=1.0: flash.tiled_attention(query, key, value, None, temperature, tile=3).output,
        lambda query, key, value, temperature=1.0: (
            softmax(query @ key.swapaxes(-1, -2) / np.asarray(temperature)[..., None, None]) @ value
        ),
        {"query": (N, D), "key": (M, D), "value": (M, V)},
    ),
}


def base(function: Function, dtype: torch.dtype) -> Arguments:
    """Ordinary arguments: normal numbers, or probabilities where required."""
    g = torch.Generator().manual_seed(0)
    arguments: Arguments = {}
    for name, shape in function.shapes.items():
        x = torch.randn(shape, generator=g, dtype=torch.float64)
        arguments[name] = (x.softmax(-1) if name in function.positive else x).to(dtype)
    return arguments
