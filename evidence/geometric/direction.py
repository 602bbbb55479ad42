"""Sections 2 to 4 and 6 of geometric in torch: inner products, angles, and where the solutions point."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from evidence import Reading, Value
from evidence.instances.scenes import Scene
from numerics import one_sided


def unnormalized_cosine(first: Tensor, second: Tensor) -> Tensor:
    """‖a‖‖b‖cos γ, with torch's cosine."""
    return first.norm() * second.norm() * cosine_similarity(first, second, dim=-1)


def apart(plan: Tensor, x: Tensor) -> dict[str, Value]:
    """How far weights and data go from their means, and the products of what is centred."""
    weights, data = plan - plan.mean(), x - x.mean()
    return {
        "A": weights.max(),
        "B": -weights.min(),
        "C": data.max(),
        "D": -data.min(),
        "N": weights @ data,
        "Np": weights @ weights,
        "Nx": data @ data,
    }


def centred(scene: Scene) -> Reading:
    """(|S| − 1)² N², which bounds the squared lengths: by the product of what is centred, and by torch's covariance."""
    plan = one_sided.plan(scene.x, 1.0)
    covariance = scene.m * torch.cov(torch.stack((plan, scene.x)), correction=0)[0, 1]
    products = {"direct": (plan - plan.mean()) @ (scene.x - scene.x.mean()), "covariance": covariance}
    routes = {name: ((scene.m - 1) * each).square() for name, each in products.items()}
    return scene.reading({name: abs(value) for name, value in apart(plan, scene.x).items()}, **routes)
