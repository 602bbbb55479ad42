"""Votes on: “Naive Attention Weights”: the inner product as an unnormalized cosine, and where it is largest."""

import numpy as np
import torch
from torch.nn.functional import cosine_similarity

from evidence import Layer, Reading, Value, confirms, float64
from evidence.geometric.conic_weights import WeightsProblem, linear, problems, reading, vertex
from evidence.geometric.direction import unnormalized_cosine
from evidence.instances.scenes import Scene, scenes


@confirms(Layer.TORCH, "geometric.2", on=scenes())
def similarity(scene: Scene) -> Reading:
    return scene.reading({"p": scene.p, "x": scene.x}, inner=scene.p @ scene.x, cosine=unnormalized_cosine(scene.p, scene.x))


@confirms(Layer.TORCH, "geometric.s2.same-space", on=scenes())
def coordinates(scene: Scene) -> Reading:
    width = 1 + scene.seed % 3
    surplus = torch.empty(scene.m, width).numel() - torch.empty(scene.m).numel()
    return scene.reading({"D": width}, counted=torch.tensor(float(surplus), dtype=torch.float64))


@confirms(Layer.TORCH, "geometric.s2.basis-vector", on=scenes())
def best_corner(scene: Scene) -> Reading:
    top = scene.x.max()
    values: dict[str, Value] = {"p": scene.p, "top": top, "s": top - scene.x, "best": scene.best}
    return scene.reading(values, largest=(torch.eye(scene.m, dtype=torch.float64, device=scene.device) @ scene.x).max())


@confirms(Layer.TORCH, "geometric.s2.corner", on=scenes(smallest=2, kinds=("any", "small", "one")))
def lost_to_corner(scene: Scene) -> Reading:
    top, second = scene.x.topk(2).values
    margin = top - second
    excess = (top - margin - scene.x).clamp(min=0)
    values = {"p": scene.p, "top": top, "margin": margin, "h": excess, "best": scene.best}
    return scene.reading(values, direct=scene.x.max() - scene.p @ scene.x)


@confirms(Layer.TORCH, "geometric.s2.not-the-direction", on=scenes())
def squared_sine(scene: Scene) -> Reading:
    cosines = cosine_similarity(torch.eye(scene.m, dtype=torch.float64, device=scene.device)[scene.best - 1], scene.x, dim=-1)
    return scene.reading({"x": scene.x, "best": scene.best}, cosine=scene.x.square().sum() * (1 - cosines**2))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "geometric.s2.basis-vector", on=problems(), count=16)
def optimal_value(drawn: WeightsProblem) -> Reading:
    plan, gap = vertex(drawn.x)
    top = float(drawn.x.max())
    values: dict[str, Value] = {"p": float64(drawn.any), "top": top, "s": float64(top - drawn.x), "best": drawn.best}
    return reading(drawn, values, gap, linear_program=float(plan @ drawn.x))


@confirms(Layer.PRIMAL, "geometric.s2.corner", on=problems(smallest=2, kinds=("any", "one")), count=16)
def lost_by_any(drawn: WeightsProblem) -> Reading:
    plan, gap = vertex(drawn.x)
    top, second = np.sort(drawn.x)[::-1][:2]
    values: dict[str, Value] = {
        "p": float64(drawn.any),
        "top": float(top),
        "margin": float(top - second),
        "h": float64(np.clip(second - drawn.x, 0, None)),
        "best": drawn.best,
    }
    return reading(drawn, values, gap, linear_program=float((plan - drawn.any) @ drawn.x))


@confirms(Layer.PRIMAL, "geometric.s2.not-the-direction", on=problems(smallest=2, kinds=("any", "one")), count=16)
def sine(drawn: WeightsProblem) -> Reading:
    plan, gap = vertex(drawn.x)
    margin = float(-np.diff(np.sort(drawn.x)[::-1][:2])[0])
    squared = float((plan @ plan) * (drawn.x @ drawn.x) - (plan @ drawn.x) ** 2)
    return reading(drawn, {"x": float64(drawn.x), "best": drawn.best}, 60 * drawn.m * gap / margin, linear_program=squared)


@confirms(Layer.PRIMAL, "geometric.2", on=problems(), count=16)
def conic_unnormalized_cosine(drawn: WeightsProblem) -> Reading:
    """The dual bound, which no plan enters, against the cosine at the plan found; where all p are optimal, at any of them."""
    solution, x = linear(drawn.x), float64(drawn.x)
    plan = drawn.any if np.ptp(drawn.x) == 0 else drawn.m * solution.plan[0]
    return reading(drawn, {"p": float64(plan), "x": x, "f": x}, drawn.m * solution.gap, dual=-drawn.m * solution.bound)
