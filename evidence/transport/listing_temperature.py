"""Votes on: The listing `analyze_attention_temperature`."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.instances.derivatives import gradient
from evidence.transport import listings as models
from evidence.transport.listing import ANY, PAIRS, SEVERAL, Tokens
from numerics import one_sided


@confirms(Layer.TORCH, "transport.listing.analyze_attention_temperature.slope", on=SEVERAL)
def slope_of_entropy(x: Tokens) -> Reading:
    listing = gradient(lambda e: models.row_entropies(torch.softmax(x["S"] / e, -1), 0.0).mean(), float64(x.epsilon))
    closed = gradient(lambda e: one_sided.entropy(one_sided.plan(x["S"], e)).mean(), float64(x.epsilon))
    return x.reading(x.point("S"), x["S"].square(), listing=listing, closed_form=closed)


@confirms(Layer.TORCH, "transport.listing.analyze_attention_temperature.entropy", on=ANY)
def reported_entropy(x: Tokens) -> Reading:
    weights = torch.softmax(x["S"] / x.epsilon, -1)
    return x.reading(x.point(A=weights), listing=models.row_entropies(weights))


@confirms(Layer.TORCH, "transport.listing.analyze_attention_temperature.max-attention", on=ANY)
def slope_of_largest(x: Tokens) -> Reading:
    gap = x["g"] - x["g"].min()
    listing = gradient(lambda e: torch.softmax(-gap / e, -1)[gap.argmin()], float64(x.epsilon))
    return x.reading(x.point(g=gap), gap, listing=listing)


@dataclass(frozen=True)
class Analyzed:
    """The listing's report for n queries 0, step, … and keys 0, 2, …, at one temperature, and the weights and entropies."""

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
    analysis = analyzed(x)
    return guarded(x, x.point(A=analysis.weights), math.log(analysis.report.effective_size), "right")


@confirms(Layer.TORCH, "transport.listing.analyze_attention_temperature", on=SEVERAL, corrected=log_of_reported_size)
def reported_size(x: Tokens) -> Reading:
    analysis = analyzed(x)
    return guarded(x, x.point(A=analysis.weights), analysis.report.effective_size)


def log_of_size_of_like_queries(x: Tokens) -> Reading:
    """Queries of 0, to which all keys are alike: each has the entropy that is reported for all."""
    analysis = analyzed(x, step=0.0)
    return guarded(x, x.point(A=analysis.weights, H=1.0), [math.log(analysis.report.effective_size)] * x.n, "right")


def size_below_the_mean(x: Tokens) -> Reading:
    analysis = analyzed(x)
    return guarded(x, x.point(h=analysis.entropies), analysis.report.effective_size, "right")


@confirms(Layer.TORCH, "transport.listing.analyze_attention_temperature.average", on=PAIRS, corrected=size_below_the_mean)
def size_of_the_mean(x: Tokens) -> Reading:
    analysis = analyzed(x)
    return guarded(x, x.point(h=analysis.entropies), analysis.report.effective_size)


VOTES = [
    Sampled(
        "transport.listing.analyze_attention_temperature.effective-size",
        Layer.TORCH,
        log_of_size_of_like_queries,
        on=SEVERAL,
        corrected=log_of_size_of_like_queries,
    )
]
