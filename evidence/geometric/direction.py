"""Sections 2 to 4 and 6 of geometric in torch: inner products, angles, and where the solutions point."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from evidence import Reading
from evidence.instances.scenes import Scene
from numerics import one_sided


def unnormalized_cosine(first: Tensor, second: Tensor) -> Tensor:
    """‖a‖‖b‖cos γ, with torch's cosine."""
    product: Tensor = first.norm() * second.norm() * cosine_similarity(first, second, dim=-1)
    return product


def apart(plan: Tensor, x: Tensor) -> dict[str, Tensor]:
    """How far weights and data go from their means, their product, and by how much bounds of their lengths are too large."""
    weights, data = plan - plan.mean(), x - x.mean()
    ends = {"A": weights.max(), "B": -weights.min(), "C": data.max(), "D": -data.min(), "N": weights @ data}
    spare = [
        (len(x) * top * low / (part @ part) - 1).nan_to_num(nan=0.0).clamp(min=0)
        for top, low, part in ((ends["A"], ends["B"], weights), (ends["C"], ends["D"], data))
    ]
    return {name: value.clamp(min=0) for name, value in ends.items()} | {"g": spare[0], "h": spare[1]}


def centred(scene: Scene) -> Reading:
    """The product of the squared lengths of centred weights and data, at most (|S| − 1)² N²: direct, and by torch.cov."""
    plan = one_sided.plan(scene.x, 1.0)
    weights, data = plan - plan.mean(), scene.x - scene.x.mean()
    covariance = scene.m * torch.cov(torch.stack((plan, scene.x)), correction=0)
    return scene.reading(
        apart(plan, scene.x),
        right=True,
        direct=(weights @ weights) * (data @ data),
        covariance=covariance[0, 0] * covariance[1, 1],
    )
