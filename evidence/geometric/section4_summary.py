"""Votes on: “Summarizing the Data”: vectors at each location, replaced by one number each."""

import numpy as np
import torch

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.geometric.conic_weights import WeightsProblem, problems, reading, regularized, vertex
from evidence.geometric.direction import unnormalized_cosine
from evidence.geometric.section2_naive import conic_unnormalized_cosine
from evidence.instances.derivatives import gradient
from evidence.instances.scenes import FEATURES, Scene, scenes
from numerics import one_sided


@confirms(Layer.TORCH, "geometric.5", on=scenes())
def similarity_with_summary(scene: Scene) -> Reading:
    return scene.reading({"p": scene.p, "f": scene.x}, inner=scene.p @ scene.x, cosine=unnormalized_cosine(scene.p, scene.x))


@confirms(Layer.TORCH, "geometric.s4.summary", on=scenes())
def projected(scene: Scene) -> Reading:
    data, direction = scene.draw("X", scene.m, FEATURES), scene.draw("v", FEATURES)
    return scene.reading({"D": FEATURES, "X": data, "v": direction, "p": scene.p}, direct=scene.p @ (data @ direction))


def of_summary(scene: Scene) -> Reading:
    return scene.reading({"f": scene.x}, closed_form=one_sided.plan(scene.x, 1.0))


@confirms(Layer.TORCH, "geometric.s4.points-along-summary", on=scenes(smallest=2), corrected=of_summary)
def maximizer_of_5(scene: Scene) -> Reading:
    corner = torch.eye(scene.m, dtype=torch.float64, device=scene.device)[scene.best - 1]
    return scene.reading({"f": scene.x}, corner=corner)


@confirms(Layer.TORCH, "geometric.s4.important", on=scenes())
def ratios(scene: Scene) -> Reading:
    plan = one_sided.plan(scene.x, 1.0)
    ratio = plan[:, None] / plan
    autograd = gradient(lambda f: one_sided.log_partition(f, 1.0), scene.x)
    return scene.reading({"f": scene.x}, closed_form=ratio, autograd=autograd[:, None] / autograd)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def conic_of_summary(drawn: WeightsProblem) -> Reading:
    solution, error = regularized(drawn.x)
    return reading(drawn, {"f": float64(drawn.x)}, error, conic=solution.plan)


@confirms(
    Layer.PRIMAL,
    "geometric.s4.points-along-summary",
    on=problems(smallest=2, kinds=("any", "one")),
    count=16,
    corrected=conic_of_summary,
)
def conic_maximizer_of_5(drawn: WeightsProblem) -> Reading:
    plan, gap = vertex(drawn.x)
    margin = float(-np.diff(np.sort(drawn.x)[::-1][:2])[0])
    return reading(drawn, {"f": float64(drawn.x)}, gap / margin, linear_program=plan)


@confirms(Layer.PRIMAL, "geometric.s4.important", on=problems(), count=16)
def conic_ratios(drawn: WeightsProblem) -> Reading:
    solution, error = regularized(drawn.x)
    ratio = solution.plan[:, None] / solution.plan[None, :]
    return reading(drawn, {"f": float64(drawn.x)}, 3 * error / float(solution.plan.min()) * float(ratio.max()), conic=ratio)


VOTES = [Sampled("geometric.5", Layer.PRIMAL, conic_unnormalized_cosine, on=problems(), count=16)]
