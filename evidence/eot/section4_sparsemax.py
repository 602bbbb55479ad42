"""Votes on: Section 4.2: sparsemax from the squared Euclidean norm, with its multipliers line by line."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.eot.conic_regularizers import (
    RegularizedProblem,
    certified,
    conic_close_to_others,
    conic_reading,
    regularized_problems,
)
from evidence.eot.regularizers import Point, bisected, close_to_others, half_square, objective, points, reading
from evidence.instances.derivatives import gradient
from numerics import regularizers, tolerances
from numerics.primal import regularizers as conic_regularizers


@confirms(Layer.TORCH, "eot.prop4.2", on=points())
def sparsemax(point: Point) -> Reading:
    return reading(point, closed_form=regularizers.sparsemax(point.quadratic), bisection=bisected(point.quadratic, 1.0))


def shifted(point: Point) -> Tensor:
    """p − μ − λ."""
    return point["p"] - point["mu"] - point["lam"]


@confirms(Layer.TORCH, "eot.24", "eot.s4.complementary-slackness", on=points())
def sparsemax_by_multiplier(point: Point) -> Reading:
    scores = shifted(point)
    return reading(point, closed_form=regularizers.sparsemax(scores), bisection=bisected(scores, 1.0))


@confirms(Layer.TORCH, "eot.20", on=points())
def quadratic_objective(point: Point) -> Reading:
    return reading(point, direct=objective(point["v"], point["s"], half_square))


def quadratic_lagrangian(v: Tensor, point: Point) -> Tensor:
    return objective(v, point["s"], half_square) + point["lam"] * (1 - v.sum()) - (point["nu"] * v).sum()


@confirms(Layer.TORCH, "eot.21", on=points())
def quadratic_lagrangian_value(point: Point) -> Reading:
    return reading(point, direct=quadratic_lagrangian(point["v"], point))


@confirms(Layer.TORCH, "eot.22", "eot.23", on=points())
def quadratic_slope(point: Point) -> Reading:
    return reading(point, autograd=gradient(lambda v: quadratic_lagrangian(v, point), point["v"]))


@confirms(Layer.TORCH, "eot.s4.threshold", on=points())
def spent(point: Point) -> Reading:
    scores = point.quadratic
    used = regularizers.sparsemax(scores) > 0
    threshold = (scores[used].sum() - 1) / used.sum()
    return reading(point, closed_form=(scores - threshold).clamp(min=0).sum())


def dense(point: Point) -> Reading:
    return reading(point, closed_form=regularizers.sparsemax(point["theta"] + point["w"]))


def product_of_two(point: Point) -> Reading:
    scores = point["s"][:1].expand(2)
    threshold = scores[0] - 0.5
    extra: dict[str, Value] = {"s": scores.cpu(), "theta": threshold.cpu()}
    return reading(point, 1.0, extra, closed_form=regularizers.sparsemax(scores).prod())


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.prop4.2", on=regularized_problems(), count=20)
def conic_sparsemax(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_quadratic(drawn.theta + drawn.p - drawn.mu))


@confirms(Layer.PRIMAL, "eot.24", "eot.s4.complementary-slackness", on=regularized_problems(), count=20)
def conic_sparsemax_by_multiplier(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_quadratic(drawn.p - drawn.mu - drawn.lam))


def conic_dense(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_quadratic(drawn.theta + drawn.inside))


def conic_product_of_two(drawn: RegularizedProblem) -> Reading:
    scores = np.repeat(drawn.own[:1], 2)
    solution = certified(conic_regularizers.solve_quadratic(scores))
    point = drawn.point(s=float64(scores), theta=float(scores[0] - 0.5))
    product = torch.prod(float64(solution.plan))
    return Reading(point, {"cvxpy": product}, 2 * solution.error + tolerances.rounding("float64", 2))


VOTES = [
    Sampled("eot.s4.sparsemax-sparse", Layer.TORCH, product_of_two, on=points(), corrected=close_to_others),
    Sampled("eot.s4.tab1-sparsemax", Layer.TORCH, product_of_two, on=points(), corrected=dense),
    Sampled(
        "eot.s4.sparsemax-sparse",
        Layer.PRIMAL,
        conic_product_of_two,
        on=regularized_problems(),
        count=20,
        corrected=conic_close_to_others,
    ),
    Sampled(
        "eot.s4.tab1-sparsemax", Layer.PRIMAL, conic_product_of_two, on=regularized_problems(), count=20, corrected=conic_dense
    ),
]
