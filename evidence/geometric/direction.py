"""Sections 2 to 4 and 6 of geometric in torch: inner products, angles, and where the solutions point."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from evidence import Reading
from evidence.instances.scenes import Scene
from numerics import one_sided


def unnormalized_cosine(first: Tensor, second: Tensor) -> Tensor:
    """‖a‖‖b‖cos γ, with torch's cosine."""
    return first.norm() * second.norm() * cosine_similarity(first, second, dim=-1)


def centred(scene: Scene) -> Reading:
    plan = one_sided.plan(scene.x, 1.0)
    return scene.reading(
        {"x": scene.x},
        direct=(plan - plan.mean()) @ (scene.x - scene.x.mean()),
        covariance=torch.cov(torch.stack((plan, scene.x)), correction=0)[0, 1] * scene.m,
    )
