"""Sections 2 to 4 and 6 of geometric in torch: inner products, angles, and where the solutions point."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, scaled_dot_product_attention

from derivations.claims import Layer
from numerics import one_sided, regularizers
from tests.bridge import Value
from tests.layers import Reading, confirms
from tests.properties.eot_forward import gradient
from tests.properties.eot_regularizers import Point, points
from tests.properties.geometric_scenes import FEATURES, WIDTH, Scene, scenes

TORCH = Layer.TORCH


def unnormalized_cosine(first: Tensor, second: Tensor) -> Tensor:
    """‖a‖‖b‖cos γ, with torch's cosine."""
    return first.norm() * second.norm() * cosine_similarity(first, second, dim=-1)


@confirms(TORCH, "geometric.2", on=scenes())
def similarity(scene: Scene) -> Reading:
    return scene.reading({"p": scene.p, "x": scene.x}, inner=scene.p @ scene.x, cosine=unnormalized_cosine(scene.p, scene.x))


@confirms(TORCH, "geometric.3", on=scenes())
def regularized_similarity(scene: Scene) -> Reading:
    omega = torch.xlogy(scene.p, scene.p).sum()
    return scene.reading({"p": scene.p, "x": scene.x, "omega": omega}, cosine=unnormalized_cosine(scene.p, scene.x) - omega,
                         closed_form=-one_sided.objective(scene.p, scene.x, 1.0))


@confirms(TORCH, "geometric.5", on=scenes())
def similarity_with_summary(scene: Scene) -> Reading:
    return scene.reading({"p": scene.p, "f": scene.x}, inner=scene.p @ scene.x, cosine=unnormalized_cosine(scene.p, scene.x))


@confirms(TORCH, "geometric.s2.same-space", on=scenes())
def coordinates(scene: Scene) -> Reading:
    width = 1 + scene.seed % 3
    surplus = torch.empty(scene.m, width).numel() - torch.empty(scene.m).numel()
    return scene.reading({"D": width}, counted=torch.tensor(float(surplus), dtype=torch.float64))


# ── the linear program ──────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "geometric.s2.basis-vector", on=scenes())
def best_corner(scene: Scene) -> Reading:
    top = scene.x.max()
    given = {"p": scene.p, "top": top, "s": top - scene.x, "best": scene.best}
    return scene.reading(given, largest=(torch.eye(scene.m, dtype=torch.float64, device=scene.device) @ scene.x).max())


@confirms(TORCH, "geometric.s2.corner", on=scenes(smallest=2, kinds=("any", "small", "one")))
def lost_to_corner(scene: Scene) -> Reading:
    top, second = scene.x.topk(2).values
    margin = top - second
    extra = (top - margin - scene.x).clamp(min=0)
    given = {"p": scene.p, "top": top, "margin": margin, "h": extra, "best": scene.best}
    return scene.reading(given, direct=scene.x.max() - scene.p @ scene.x)


@confirms(TORCH, "geometric.s2.not-the-direction", on=scenes())
def squared_sine(scene: Scene) -> Reading:
    cosines = cosine_similarity(torch.eye(scene.m, dtype=torch.float64, device=scene.device)[scene.best - 1], scene.x, dim=-1)
    return scene.reading({"x": scene.x, "best": scene.best}, cosine=scene.x.square().sum() * (1 - cosines**2))


# ── the regularized problem ─────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "geometric.4", on=scenes())
def solution(scene: Scene) -> Reading:
    return scene.reading({"x": scene.x}, closed_form=one_sided.plan(scene.x, 1.0), softmax=torch.softmax(scene.x, -1))


@confirms(TORCH, "geometric.s6.framing", on=scenes())
def solution_of_framing(scene: Scene) -> Reading:
    return scene.reading({"f": scene.x}, closed_form=one_sided.plan(scene.x, 1.0), softmax=torch.softmax(scene.x, -1))


@confirms(TORCH, "geometric.s3.close-to-practice", on=scenes())
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


def cooled(point: Point) -> Reading:
    scene = Scene(point.m, point.seed, "any", point.device)
    return scene.reading(apart(point["s"]) | {"tau": point.drawn["tau"]}, right=True, scale=2.0,
                         closed_form=one_sided.plan(point["s"], float(point["tau"])).max())


@confirms(TORCH, "geometric.s3.avoid-corners", on=points(smallest=2), corrected=cooled)
def sparse_solution(point: Point) -> Reading:
    scene = Scene(point.m, point.seed, "any", point.device)
    return scene.reading(point.point(), right=True, sparsemax=regularizers.sparsemax(point.quadratic))


@confirms(TORCH, "geometric.s3.unique-inside", on=scenes(smallest=2))
def inside(scene: Scene) -> Reading:
    return scene.reading(apart(scene.x), right=True, closed_form=one_sided.plan(scene.x, 1.0).max(),
                         softmax=torch.softmax(scene.x, -1).max())


def centred(scene: Scene) -> Reading:
    plan = one_sided.plan(scene.x, 1.0)
    return scene.reading({"x": scene.x}, direct=(plan - plan.mean()) @ (scene.x - scene.x.mean()),
                         covariance=torch.cov(torch.stack((plan, scene.x)), correction=0)[0, 1] * scene.m)


@confirms(TORCH, "geometric.s3.direction", "geometric.s4.direction", on=scenes(smallest=2), corrected=centred)
def closer_than_corner(scene: Scene) -> Reading:
    cosines = cosine_similarity(one_sided.plan(scene.x, 1.0), scene.x, dim=-1)
    return scene.reading({"x": scene.x, "best": scene.best}, cosine=cosines)


# ── summaries ───────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "geometric.s4.summary", on=scenes())
def projected(scene: Scene) -> Reading:
    data, direction = scene.draw("X", scene.m, FEATURES), scene.draw("v", FEATURES)
    return scene.reading({"D": FEATURES, "X": data, "v": direction, "p": scene.p}, direct=scene.p @ (data @ direction))


def of_summary(scene: Scene) -> Reading:
    return scene.reading({"f": scene.x}, closed_form=one_sided.plan(scene.x, 1.0))


@confirms(TORCH, "geometric.s4.points-along-summary", on=scenes(smallest=2), corrected=of_summary)
def maximizer_of_5(scene: Scene) -> Reading:
    corner = torch.eye(scene.m, dtype=torch.float64, device=scene.device)[scene.best - 1]
    return scene.reading({"f": scene.x}, corner=corner)


@confirms(TORCH, "geometric.s4.important", on=scenes())
def ratios(scene: Scene) -> Reading:
    plan = one_sided.plan(scene.x, 1.0)
    ratio = plan[:, None] / plan
    autograd = gradient(lambda f: (one_sided.log_partition(f, 1.0)), scene.x)
    return scene.reading({"f": scene.x}, closed_form=ratio, autograd=autograd[:, None] / autograd)


@confirms(TORCH, "geometric.7", on=scenes())
def unnormalized(scene: Scene) -> Reading:
    return scene.reading({"f": scene.x}, torch=torch.softmax(scene.x, -1) * torch.logsumexp(scene.x, -1).exp())
