"""Votes on: The listings `sinkhorn_divergence` and `compute_attention_ot_divergence`."""

import math
import warnings

import pytest
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.transport import listings as models
from evidence.transport.listing import ANY, PAIRS, SEVERAL, SQUARE, WIDTH, Tokens, balanced
from evidence.transport.listing_sinkhorn import kernel_in_float32, log_domain_plan
from numerics import tolerances, transport


def point_and_even_mass(x: Tokens) -> tuple[dict[str, Value], Tensor, Tensor, Tensor]:
    """The point of the claim, costs c between any two of n + 1 points, all mass at the first, and even mass."""
    price = 0.5 + float(x["g"][0])
    eye = torch.eye(x.n + 1, dtype=torch.float64, device=x.device)
    return x.point(m=x.n, c=price), price * (1 - eye), eye[0], torch.full_like(eye[0], 1 / (x.n + 1))


def divergence_of_values(x: Tokens) -> Reading:
    point, cost, p, q = point_and_even_mass(x)
    divergence = transport.sinkhorn_divergence(cost, cost, cost, p, q, x.epsilon)
    return x.reading(point, 10 * cost, replacement=divergence)


@confirms(Layer.TORCH, "transport.listing.sinkhorn_divergence", on=ANY, corrected=divergence_of_values)
def divergence_of_costs(x: Tokens) -> Reading:
    point, cost, p, q = point_and_even_mass(x)
    return x.reading(point, 10 * cost, listing=models.sinkhorn_divergence(p, q, cost, x.epsilon))


def points_in_common(x: Tokens) -> Reading:
    points = x["points"] / 2
    cost = (points[:, None] - points[None]).square().sum(-1)
    mass = torch.eye(x.n, dtype=torch.float64, device=x.device)
    replacement = transport.sinkhorn_divergence(cost, cost, cost, mass[:, None], mass[None, :], 1.0)
    allowed = 10 * models.GUARD * math.exp(float(cost.max())) * max(1.0, float(cost.max()))
    return Reading(x.point(X=points), {"listing": all_pairs(x, cost, 1.0), "replacement": replacement}, allowed)


@confirms(Layer.TORCH, "transport.listing.sinkhorn_divergence.one-cost", on=PAIRS, count=16, corrected=points_in_common)
def two_points(x: Tokens) -> Reading:
    one, cost = torch.ones(1, dtype=torch.float64, device=x.device), (x["x"] - x["y"]).square().sum()
    return x.reading(x.point("x", "y"), cost, listing=models.sinkhorn_divergence(one, one, cost.reshape(1, 1)))


def all_pairs(x: Tokens, cost: Tensor, epsilon: float) -> Tensor:
    """The listing's value for all mass at place i and all mass at place k, (i, k)."""
    mass = torch.eye(x.n, dtype=torch.float64, device=x.device)
    return torch.stack([torch.stack([models.sinkhorn_divergence(p, q, cost, epsilon) for q in mass]) for p in mass])


def distances_of_points(x: Tokens) -> Reading:
    points = x["points"] / 2
    cost = (points[:, None] - points[None]).square().sum(-1)
    allowed = 10 * models.GUARD * math.exp(float(cost.max())) * max(1.0, float(cost.max()))
    return Reading(x.point(X=points), {"listing": all_pairs(x, cost, 1.0)}, allowed)


@confirms(Layer.TORCH, "transport.listing.sinkhorn_divergence.distance", on=PAIRS, count=16, corrected=distances_of_points)
def values_of_scores(x: Tokens) -> Reading:
    return x.reading(x.point(S=x["O"]), 1e3, listing=all_pairs(x, -x["O"], 1.0))


def value_with_entropy(x: Tokens) -> Reading:
    solution = balanced(x)
    left, right = x["a"] * (solution.row_potential / x.epsilon).exp(), x["b"] * (solution.column_potential / x.epsilon).exp()
    value = solution.value + x.epsilon * (torch.xlogy(x["a"], x["a"]).sum() + torch.xlogy(x["b"], x["b"]).sum())
    direct = (solution.plan * x["C"]).sum() + x.epsilon * torch.xlogy(solution.plan, solution.plan).sum()
    return x.reading(x.point("C", u=left, v=right), 1e3, solver=value, plan=direct)


@confirms(Layer.TORCH, "transport.listing.sinkhorn_divergence.value", on=SEVERAL, corrected=value_with_entropy)
def sum_of_costs(x: Tokens) -> Reading:
    left, right = models.scalings(x["a"], x["b"], x["C"], x.epsilon)
    plan = models.sinkhorn(x["a"], x["b"], x["C"], x.epsilon)
    return x.reading(x.point("C", u=left, v=right), listing=(plan * x["C"]).sum())


def always_zero(x: Tokens) -> Reading:
    """Inputs that the listing accepts in float32: one token, features of width 1; and one head, called as it should be."""
    query, key = torch.randn(2, x.n, 1, generator=torch.Generator().manual_seed(x.seed)).to(x.device)
    scores = (query @ key.mT).double()
    mass = torch.full((x.n,), 1 / x.n, dtype=torch.float64, device=x.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a transpose of three axes
        one = models.attention_divergence(query[None, :1], key[None, :1], x.epsilon)
    plan = transport.sinkhorn(-scores, mass, mass, x.epsilon).plan
    return x.reading(
        x.point(a=mass, S=scores, P=plan),
        one_token=one.double(),
        width_1=models.attention_divergence(query, key, x.epsilon).double(),
        one_head=models.sinkhorn_divergence(mass, mass, -scores, x.epsilon),
    )


def column_of_scalings(x: Tokens) -> Reading:
    """A kernel of ones meets a column of ones: it adds up how many they are."""
    kernel = torch.ones(x.m, x.n, x.n, device=x.device)
    sums = kernel @ torch.ones(x.m, x.n, device=x.device).unsqueeze(-1)
    return Reading({"B": x.m, "N": x.n}, {"repaired": sums[0, 0, 0].double()}, tolerances.rounding("float64", 1))


@confirms(Layer.TORCH, "transport.listing.compute_attention_ot_divergence.batch", on=SEVERAL, corrected=column_of_scalings)
def rows_of_scalings(x: Tokens) -> Reading:
    """The second axis from the end of v is what a matrix meets."""
    query = torch.ones(x.m, x.n, WIDTH, device=x.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a transpose of three axes, warned about once per process
        with pytest.raises(RuntimeError):
            models.attention_divergence(query, query, x.epsilon)
    return Reading(
        {"B": x.m, "N": x.n}, {"listing": float64(models.start_of_keys(query).shape[-2])}, tolerances.rounding("float64", 1)
    )


@confirms(
    Layer.TORCH, "transport.listing.compute_attention_ot_divergence.overflow", on=ANY, corrected=log_domain_plan, count=24
)
def kernel_of_a_score(x: Tokens) -> Reading:
    """One token whose score overflows the kernel: the listing gives NaN."""
    score = torch.full((1, 1, 1), 100 * x.epsilon, device=x.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a transpose of three axes
        assert bool(models.attention_divergence(score, torch.ones_like(score), x.epsilon).isnan())
    return kernel_in_float32(x)


VOTES = [
    Sampled("transport.listing.compute_attention_ot_divergence", Layer.TORCH, always_zero, on=SQUARE, corrected=always_zero)
]
