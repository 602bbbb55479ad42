"""Votes on: “Regularizing the Optimization Problem”: when the solution leaves the corners, and where it points."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, scaled_dot_product_attention

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.eot.regularizers import Point, points
from evidence.geometric.conic_weights import WeightsProblem, conic_centred, conic_solution, problems, reading, regularized
from evidence.geometric.direction import centred, unnormalized_cosine
from evidence.instances.scenes import WIDTH, Scene, scenes
from numerics import one_sided
from numerics.primal.arguments import Array


@confirms(Layer.TORCH, "geometric.3", on=scenes())
def regularized_similarity(scene: Scene) -> Reading:
    omega = torch.xlogy(scene.p, scene.p).sum()
    return scene.reading(
        {"p": scene.p, "x": scene.x, "omega": omega},
        cosine=unnormalized_cosine(scene.p, scene.x) - omega,
        closed_form=-one_sided.objective(scene.p, scene.x, 1.0),
    )


@confirms(Layer.TORCH, "geometric.4", on=scenes())
def solution(scene: Scene) -> Reading:
    return scene.reading({"x": scene.x}, closed_form=one_sided.plan(scene.x, 1.0), softmax=torch.softmax(scene.x, -1))


@confirms(Layer.TORCH, "geometric.s3.close-to-practice", on=scenes())
def shipped_attention(scene: Scene) -> Reading:
    query, keys = scene.draw("Q", WIDTH), scene.draw("K", scene.m, WIDTH)
    identity = torch.eye(scene.m, dtype=torch.float64, device=scene.device)
    weights = scaled_dot_product_attention(query[None], keys, identity)[0]
    return scene.reading({"d": WIDTH, "s": keys @ query}, scale=WIDTH, torch=weights)


def apart(values: Tensor) -> dict[str, Value]:
    """The largest value, whose weight is the one nearest to 1, and the others."""
    largest = values.argmax()
    away = torch.arange(values.numel(), device=values.device) != largest
    return {"others": values.numel() - 1, "x_t": values[largest].cpu(), "x": values[away].cpu()}


@confirms(Layer.TORCH, "geometric.s3.avoid-corners", on=points(smallest=2))
def cooled(point: Point) -> Reading:
    scene = Scene(point.m, point.seed, "any", device=point.device)
    return scene.reading(
        apart(point["s"]) | {"tau": point.drawn["tau"]},
        right=True,
        scale=2.0,
        closed_form=one_sided.plan(point["s"], float(point["tau"])).max(),
    )


@confirms(Layer.TORCH, "geometric.s3.unique-inside", on=scenes(smallest=2))
def inside(scene: Scene) -> Reading:
    return scene.reading(
        apart(scene.x), right=True, closed_form=one_sided.plan(scene.x, 1.0).max(), softmax=torch.softmax(scene.x, -1).max()
    )


@confirms(Layer.TORCH, "geometric.s3.direction", on=scenes(smallest=2), corrected=centred)
def closer_than_corner(scene: Scene) -> Reading:
    cosines = cosine_similarity(one_sided.plan(scene.x, 1.0), scene.x, dim=-1)
    return scene.reading({"x": scene.x, "best": scene.best}, cosine=cosines)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "geometric.3", on=problems(), count=16)
def regularized_value(drawn: WeightsProblem) -> Reading:
    """The dual bound, which no plan enters, against the objective in lengths and the angle at the plan found."""
    solution, _ = regularized(drawn.x)
    omega = float((solution.plan * np.log(solution.plan)).sum())
    values: dict[str, Value] = {"p": float64(solution.plan), "x": float64(drawn.x), "omega": omega}
    return reading(drawn, values, solution.gap, dual=-solution.bound)


@confirms(Layer.PRIMAL, "geometric.s3.close-to-practice", on=problems(), count=16)
def scaled_products(drawn: WeightsProblem) -> Reading:
    products = drawn.keys @ drawn.query
    solution, error = regularized(products / np.sqrt(3))
    return reading(drawn, {"d": 3, "s": float64(products)}, error, conic=solution.plan)


def conic_apart(x: Array) -> dict[str, Value]:
    """The largest entry, whose weight is the one nearest to 1, and the others."""
    largest = int(x.argmax())
    return {"others": x.size - 1, "x_t": float(x[largest]), "x": float64(np.delete(x, largest))}


@confirms(Layer.PRIMAL, "geometric.s3.avoid-corners", on=problems(smallest=2), count=16)
def conic_cooled(drawn: WeightsProblem) -> Reading:
    solution, error = regularized(drawn.x, drawn.tau)
    return reading(drawn, conic_apart(drawn.x) | {"tau": drawn.tau}, error, right=True, conic=float(solution.plan.max()))


@confirms(Layer.PRIMAL, "geometric.s3.unique-inside", on=problems(smallest=2), count=16)
def conic_inside(drawn: WeightsProblem) -> Reading:
    solution, error = regularized(drawn.x)
    return reading(drawn, conic_apart(drawn.x), error, right=True, conic=float(solution.plan.max()))


@confirms(Layer.PRIMAL, "geometric.s3.direction", on=problems(smallest=2), count=16, corrected=conic_centred)
def conic_closer_than_corner(drawn: WeightsProblem) -> Reading:
    solution, error = regularized(drawn.x)
    cosine = float(solution.plan @ drawn.x / np.linalg.norm(solution.plan) / np.linalg.norm(drawn.x))
    error = 2 * error * np.sqrt(drawn.m)  # ‖p‖ ≥ 1/√m, and a direction turns by at most 2|dp|/‖p‖
    return reading(drawn, {"x": float64(drawn.x), "best": drawn.best}, error, conic=cosine)


VOTES = [Sampled("geometric.4", Layer.PRIMAL, conic_solution, on=problems(), count=16)]
