"""Votes on: Section 4.2: α-entmax from the Tsallis entropy, line by line, and what fixes its two constants."""

import torch
from torch import Tensor

from evidence import Layer, Reading, Value, confirms
from evidence.eot.conic_regularizers import RegularizedProblem, conic_reading, regularized_problems
from evidence.eot.regularizers import Point, bisected, objective, points, reading
from evidence.instances.derivatives import gradient
from numerics import regularizers
from numerics.primal import regularizers as conic_regularizers


def condition(point: Point) -> float:
    """How much an error of a(s_j − θ) = p_j^a grows in p_j, at most: p^(1−a)/a; θ is off by no more than the scores are."""
    positive = point["p"][point["p"] > 0]
    return 2 * float((positive ** (1 - point.a)).max()) / point.a * (1 + 1 / point.a)


def negative_tsallis(p: Tensor, a: float) -> Tensor:
    return (p ** (1 + a) - p).sum() / (a * (1 + a))


def entmax_routes(point: Point) -> dict[str, Tensor]:
    scores = point.tsallis
    return {"closed_form": regularizers.entmax_bisect(scores, 1 + point.a), "bisection": bisected(scores, point.a)}


@confirms(Layer.TORCH, "eot.prop4.3", "eot.33", on=points())
def entmax(point: Point) -> Reading:
    return reading(point, condition(point), **entmax_routes(point))


@confirms(Layer.TORCH, "eot.s4.entmax-threshold", on=points(), corrected=entmax)
def any_threshold(point: Point) -> Reading:
    below: dict[str, Value] = {"theta": (point["s"].min() - 1).cpu()}
    return reading(point, condition(point), below, closed_form=regularizers.entmax_bisect(point["s"], 1 + point.a))


@confirms(Layer.TORCH, "eot.s4.tab1-entmax", on=points())
def support(point: Point) -> Reading:
    routes = {name: (plan / point.a).expand(point.m, point.m) for name, plan in entmax_routes(point).items()}
    return reading(point, condition(point) / point.a, **routes)


@confirms(Layer.TORCH, "eot.25", on=points())
def tsallis_of_uniform(point: Point) -> Reading:
    return reading(point, direct=negative_tsallis(torch.full_like(point["s"], 1 / point.m), point.a))


@confirms(Layer.TORCH, "eot.26", on=points())
def tsallis_objective(point: Point) -> Reading:
    return reading(point, 10, direct=objective(point["v"], point["s"], lambda v: negative_tsallis(v, point.a)))


def tsallis_lagrangian(v: Tensor, point: Point) -> Tensor:
    return objective(v, point["s"], lambda p: negative_tsallis(p, point.a)) + point["lam"] * (1 - v.sum())


@confirms(Layer.TORCH, "eot.27", on=points())
def tsallis_lagrangian_value(point: Point) -> Reading:
    return reading(point, 10, direct=tsallis_lagrangian(point["v"], point))


@confirms(Layer.TORCH, *(f"eot.{number}" for number in range(28, 33)), on=points())
def tsallis_slope(point: Point) -> Reading:
    return reading(point, 10, autograd=gradient(lambda v: tsallis_lagrangian(v, point), point["v"]))


@confirms(Layer.TORCH, "eot.s4.tsallis-convex", on=points())
def tsallis_curvature(point: Point) -> Reading:
    weight = point["v"][0]
    curvature = gradient(lambda x: gradient_of_term(x, point.a), weight)
    return reading(point, 10, {"b": weight.cpu()}, autograd=curvature)


def gradient_of_term(x: Tensor, a: float) -> Tensor:
    """The slope of (x^α − x)/(α(α−1)) by autograd."""
    return gradient(lambda at: negative_tsallis(at, a), x, again=True)


@confirms(Layer.TORCH, "eot.s4.entmax-generalizes", on=points())
def near_one(point: Point) -> Reading:
    near, weight = 1e-7, point["v"][0]
    value = weight * torch.expm1(near * weight.log()) / (near * (1 + near))
    deviation = 2 * near * float(weight) * (1 + abs(float(weight.log()))) ** 2  # the next term of the expansion in α − 1
    return Reading(point.point(b=weight.cpu()), {"expm1": value}, deviation)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.prop4.3", "eot.33", on=regularized_problems(), count=20)
def conic_entmax(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_tsallis(drawn.tsallis, 1 + drawn.a))


@confirms(Layer.PRIMAL, "eot.s4.entmax-threshold", on=regularized_problems(), count=20, corrected=conic_entmax)
def conic_any_threshold(drawn: RegularizedProblem) -> Reading:
    solution = conic_regularizers.solve_tsallis(drawn.own, 1 + drawn.a)
    return conic_reading(drawn, solution, {"theta": float(drawn.own.min() - 1)})


@confirms(Layer.PRIMAL, "eot.s4.tab1-entmax", on=regularized_problems(), count=20)
def conic_support(drawn: RegularizedProblem) -> Reading:
    solution = conic_regularizers.solve_tsallis(drawn.tsallis, 1 + drawn.a)
    return conic_reading(drawn, solution, shape=(drawn.m, drawn.m), scale=1 / drawn.a)
