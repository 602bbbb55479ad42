"""Votes on: Section 4.2: a linear penalty on distance."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from evidence.eot.conic_regularizers import RegularizedProblem, certified, conic_reading, regularized_problems
from evidence.eot.regularizers import Point, points, reading
from evidence.instances.derivatives import gradient, jacobian
from numerics import regularizers, tolerances
from numerics.primal import regularizers as conic_regularizers


def local_weights(point: Point, gamma: Tensor) -> Tensor:
    """Row i of the weights for every query i."""
    return torch.softmax((point["S"] - gamma * point.distance) / point["tau"], -1)


def local_routes(point: Point) -> dict[str, Tensor]:
    unit = regularizers.alibi_bias(1, point.m, dtype=torch.float64, device=point.device)[0] * 2.0**8
    biased = torch.nn.functional.softmax((point["S"] + point["gamma"] * unit) / point["tau"], -1)
    return {"softmax": local_weights(point, point["gamma"]), "alibi_bias": biased}


@confirms(Layer.TORCH, "eot.35", "eot.36", "eot.43", "eot.prop4.4", on=points())
def locality(point: Point) -> Reading:
    return reading(point, **local_routes(point))


def first_term(point: Point, weights: Tensor) -> Reading:
    direct = point["tau"] * torch.xlogy(weights, weights).sum()
    return reading(point, 1.0, {"q": point["x"].cpu()}, direct=direct)


def first_term_of_any(point: Point) -> Reading:
    return first_term(point, point["x"])


@confirms(Layer.TORCH, "eot.s4.entropy-term", on=points(), corrected=first_term_of_any)
def first_term_of_uniform(point: Point) -> Reading:
    return first_term(point, torch.full_like(point["x"], 1 / point.m))


@confirms(Layer.TORCH, "eot.42", on=points())
def ratios(point: Point) -> Reading:
    routes = {name: plan[:, :, None] / plan[:, None, :] for name, plan in local_routes(point).items()}
    return reading(point, **routes)


@confirms(Layer.TORCH, "eot.s4.additive-penalty", on=points())
def log_odds(point: Point) -> Reading:
    logs = {name: plan.log() for name, plan in local_routes(point).items()}
    return reading(point, 10, **{name: x[:, :, None] - x[:, None, :] for name, x in logs.items()})


def local_objective(plans: Tensor, point: Point) -> Tensor:
    """J(p_i) for every query i."""
    entropic = point["tau"] * torch.xlogy(plans, plans) + point["gamma"] * plans * point.distance
    return (entropic - plans * point["S"]).sum(-1)


@confirms(Layer.TORCH, "eot.37", "eot.38", "eot.39", "eot.41", on=points())
def local_objective_value(point: Point) -> Reading:
    return reading(point, direct=local_objective(point["P"], point))


@confirms(Layer.TORCH, "eot.34", on=points())
def penalty_of_uniform(point: Point) -> Reading:
    uniform = torch.full_like(point["P"], 1 / point.m)
    return reading(point, direct=local_objective(uniform, point) + (uniform * point["S"]).sum(-1))


@confirms(Layer.TORCH, "eot.40", on=points())
def effective_cost(point: Point) -> Reading:
    linear = gradient(
        lambda plans: (local_objective(plans, point) - point["tau"] * torch.xlogy(plans, plans).sum(-1)).sum(), point["P"]
    )
    return reading(point, 10, autograd=linear)


@confirms(Layer.TORCH, "eot.s4.separable", on=points())
def slope_of_all(point: Point) -> Reading:
    return reading(point, 10, autograd=gradient(lambda plans: local_objective(plans, point).sum(), point["P"]))


@confirms(Layer.TORCH, "eot.s4.locality", "eot.s4.tab1-alibi", on=points())
def slope_of_distance(point: Point) -> Reading:
    slopes = jacobian(lambda gamma: (local_weights(point, gamma) * point.distance).sum(-1), point["gamma"])
    return reading(point, 10, autograd=slopes)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def local_plan(drawn: RegularizedProblem) -> conic_regularizers.Solution:
    """The plan of one query with the penalty as a term of its own."""
    penalty = drawn.gamma * np.abs(np.arange(drawn.m) - drawn.query)
    return conic_regularizers.solve_penalized(drawn.own, penalty, drawn.tau)


@confirms(Layer.PRIMAL, "eot.35", "eot.36", "eot.43", "eot.prop4.4", on=regularized_problems(), count=20)
def conic_locality(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, local_plan(drawn))


@confirms(Layer.PRIMAL, "eot.42", on=regularized_problems(), count=20)
def conic_ratios(drawn: RegularizedProblem) -> Reading:
    solution = certified(local_plan(drawn))
    plan: Tensor = float64(solution.plan)
    ratio = plan[:, None] / plan[None, :]
    relative = solution.error / float(plan.min()) + tolerances.rounding("float64", drawn.m, 10.0)
    return Reading(drawn.point(), {"cvxpy": ratio}, 3 * relative * float(ratio.max()))
