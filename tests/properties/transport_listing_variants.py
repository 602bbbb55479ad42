"""The listings on linear attention and on temperature in torch, beside our replacements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import linear, one_sided
from tests.bridge import Value
from tests.layers import Reading, confirms, float64
from tests.listings import models
from tests.properties.transport_listing import ANY, PAIRS, SEVERAL, Tokens

TORCH = Layer.TORCH


# ── LinearAttentionAsOT ─────────────────────────────────────────────────────────────────────────────────────────────


def linear_output(x: Tokens, guard: float, scale: float = 1.0) -> Tensor:
    """One coordinate of what the listing's core returns."""
    return models.linear_attention(scale * x["X"][None], scale * x["Y"][None], x["V"][None, :, None], guard)[0, :, 0]


@confirms(TORCH, "transport.listing.LinearAttentionAsOT", on=SEVERAL)
def kernel_attention(x: Tokens) -> Reading:
    return x.reading(x.point("X", "Y", "V"), x["X"], x["Y"], x["V"], listing=linear_output(x, models.GUARD))


def kernel_plan(x: Tokens) -> Reading:
    affinity = x["X"] @ x["Y"].mT
    values = torch.eye(x.m, dtype=torch.float64, device=x.device)
    listing = models.linear_attention(x["X"][None], x["Y"][None], values[None], 0.0)[0]
    return x.reading(x.point(G=affinity), affinity, listing=listing, closed_form=linear.kernel_weights(x["X"], x["Y"]),
                     one_sided=one_sided.plan(affinity.log()))


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.plan", on=ANY, corrected=kernel_plan)
def plan_of_small_features(x: Tokens) -> Reading:
    """Features of 1e-4: the solution of the problem, against the quotient with 1e-8 below."""
    query, key = 1e-4 * x["X"], 1e-4 * x["Y"]
    return x.reading(x.point("V", X=query, Y=key), one_sided=one_sided.plan((query @ key.mT).log()))


def rows_of_kernel(x: Tokens) -> Reading:
    weights = linear.kernel_weights(x["X"], x["Y"])
    return x.reading(x.point(G=x["X"] @ x["Y"].mT), closed_form=weights.sum(-1))


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.rows", on=ANY, corrected=rows_of_kernel)
def rows_of_features_cut_to_zero(x: Tokens) -> Reading:
    features = models.relu_features(-x["X"], torch.eye(2, dtype=torch.float64, device=x.device))
    weights = models.linear_attention(features[None], x["Y"][None], torch.ones_like(x["Y"][None, :, :1]))[0, :, 0]
    return x.reading(x.point("Y", X=features), listing=weights)


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.kernel", on=ANY)
def energy(x: Tokens) -> Reading:
    """The smallest energy is that of the kernel's matrix, here at one vector c, which is 0 for one seed in three."""
    c = x["c"] if x.seed % 3 else torch.zeros_like(x["c"])
    features = models.relu_features(x["points"], torch.eye(2, dtype=torch.float64, device=x.device))
    return x.reading(x.point(c=c, z=x["points"]), c, features, model=c @ (features @ features.mT) @ c)


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.features", on=ANY)
def relu(x: Tokens) -> Reading:
    one = float64([[1.0]]).to(x.device)
    return x.reading(x.point("t"), listing=models.relu_features(x["t"].reshape(1, 1), one)[0, 0])


def rescaled_without_guard(x: Tokens) -> Reading:
    scale = 1 + float(x["g"][0])
    closed = linear.linear_attention(scale * x["X"], scale * x["Y"], x["V"][:, None])[:, 0]
    return x.reading(x.point("X", "Y", "V", s=scale), x["V"], scale, model=linear_output(x, 0.0, scale), closed_form=closed)


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.stable", on=ANY, corrected=rescaled_without_guard)
def small_features(x: Tokens) -> Reading:
    return x.reading(x.point("X", "Y", "V", s=1e-4), x["V"], listing=linear_output(x, models.GUARD, 1e-4))


# ── analyze_attention_temperature ───────────────────────────────────────────────────────────────────────────────────


def derivative(function, at: float) -> Tensor:  # type: ignore[no-untyped-def]
    """d/dε by autograd."""
    epsilon = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(function(epsilon), epsilon)[0]


@confirms(TORCH, "transport.listing.analyze_attention_temperature.slope", on=SEVERAL)
def slope_of_entropy(x: Tokens) -> Reading:
    listing = derivative(lambda e: models.row_entropies(torch.softmax(x["S"] / e, -1), 0.0).mean(), x.epsilon)
    closed = derivative(lambda e: one_sided.entropy(one_sided.plan(x["S"], e)).mean(), x.epsilon)
    return x.reading(x.point("S"), x["S"].square(), listing=listing, closed_form=closed)


@confirms(TORCH, "transport.listing.analyze_attention_temperature.entropy", on=ANY)
def reported_entropy(x: Tokens) -> Reading:
    weights = torch.softmax(x["S"] / x.epsilon, -1)
    return x.reading(x.point(A=weights), listing=models.row_entropies(weights))


@confirms(TORCH, "transport.listing.analyze_attention_temperature.max-attention", on=ANY)
def slope_of_largest(x: Tokens) -> Reading:
    gap = x["g"] - x["g"].min()
    listing = derivative(lambda e: torch.softmax(-gap / e, -1)[gap.argmin()], x.epsilon)
    return x.reading(x.point(g=gap), gap, listing=listing)


@dataclass(frozen=True)
class Analyzed:
    """What the listing reports for n queries 0, step, … and keys 0, 2, …, at one temperature, and the weights and entropies."""

    report: models.Report
    weights: Tensor
    entropies: Tensor


def analyzed(x: Tokens, step: float = 1.0) -> Analyzed:
    """Rows of different entropies; for tied tokens all nearly log m."""
    temperature = 200.0 if x.tied else 1.0
    query = step * torch.arange(x.n, dtype=torch.float64, device=x.device)[:, None]
    key = 2 * torch.arange(x.m, dtype=torch.float64, device=x.device)[:, None]
    weights = torch.softmax(query @ key.mT / temperature, -1)
    return Analyzed(models.analyze(query, key, key, (temperature,))[0], weights, models.row_entropies(weights, 0.0))


def guarded(x: Tokens, point: dict[str, Value], value: float | list[float], side: Literal["left", "right"] = "left") -> Reading:
    """A number that the listing reports, off by its 1e-8."""
    return Reading(point, {"listing": float64(value)}, 20 * x.m * models.GUARD, side)


def log_of_reported_size(x: Tokens) -> Reading:
    found = analyzed(x)
    return guarded(x, x.point(A=found.weights), math.log(found.report.effective_size), "right")


@confirms(TORCH, "transport.listing.analyze_attention_temperature", on=SEVERAL, corrected=log_of_reported_size)
def reported_size(x: Tokens) -> Reading:
    found = analyzed(x)
    return guarded(x, x.point(A=found.weights), found.report.effective_size)


def log_of_size_of_like_queries(x: Tokens) -> Reading:
    """Queries of 0, to which all keys are alike: each has the entropy that is reported for all."""
    found = analyzed(x, step=0.0)
    return guarded(x, x.point(A=found.weights, H=1.0), [math.log(found.report.effective_size)] * x.n, "right")


confirms(TORCH, "transport.listing.analyze_attention_temperature.effective-size", on=SEVERAL,
         corrected=log_of_size_of_like_queries)(log_of_size_of_like_queries)


def size_below_the_mean(x: Tokens) -> Reading:
    found = analyzed(x)
    return guarded(x, x.point(h=found.entropies), found.report.effective_size, "right")


@confirms(TORCH, "transport.listing.analyze_attention_temperature.average", on=PAIRS, corrected=size_below_the_mean)
def size_of_the_mean(x: Tokens) -> Reading:
    found = analyzed(x)
    return guarded(x, x.point(h=found.entropies), found.report.effective_size)
