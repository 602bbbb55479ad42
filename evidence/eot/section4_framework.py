"""Votes on: Section 4.1: scores against a convex regularizer; softmax as the first instance."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from evidence.eot.conic_one_sided import ConicRow, differences, problems
from evidence.eot.conic_regularizers import RegularizedProblem, conic_reading, regularized_problems
from evidence.eot.regularizers import Point, half_square, objective, points, reading
from evidence.instances.derivatives import gradient, jacobian
from numerics import one_sided, regularizers
from numerics.primal import regularizers as conic_regularizers


@confirms(Layer.TORCH, "eot.19", on=points())
def at_the_uniform_vector(point: Point) -> Reading:
    return reading(point, direct=objective(torch.full_like(point["s"], 1 / point.m), point["s"], half_square))


@confirms(Layer.TORCH, "eot.s4.alignment", on=points())
def expected_negative_score(point: Point) -> Reading:
    return reading(point, direct=point["x"] @ -point["s"])


@confirms(Layer.TORCH, "eot.s4.must-be-convex", on=points())
def chord(point: Point) -> Reading:
    share = point["t"] / (1 + point["t"])
    x, y = point["x"], point["y"]
    z = share * x + (1 - share) * y
    at_x, at_y, at_z = (point[f"w{name}"] - q @ point["s"] for name, q in (("x", x), ("y", y), ("z", z)))
    return reading(point, direct=share * at_x + (1 - share) * at_y - at_z)


def chord_gap(point: Point, sign: int) -> Reading:
    """The chord of ±H between x and y, less ±H at the mixture."""
    share, first, second = point["t"] / (1 + point["t"]), point["x"], point["y"]
    ends = share * one_sided.entropy(first) + (1 - share) * one_sided.entropy(second)
    return reading(point, closed_form=sign * (ends - one_sided.entropy(share * first + (1 - share) * second)))


@confirms(Layer.TORCH, "eot.s4.other-convex", on=points(smallest=2), corrected=lambda point: chord_gap(point, -1))
def chord_gap_of_entropy(point: Point) -> Reading:
    return chord_gap(point, 1)


@confirms(Layer.TORCH, "eot.s4.entropy-makes-softmax", on=points())
def slopes_between_keys(point: Point) -> Reading:
    def value(v: Tensor) -> Tensor:
        return objective(v, point["s"], lambda p: point["tau"] * torch.xlogy(p, p).sum())

    slopes = gradient(value, point["v"])
    return reading(point, 10, autograd=slopes[:, None] - slopes)


@confirms(Layer.TORCH, "eot.s4.tab1-softmax", on=points())
def softmax_slopes(point: Point) -> Reading:
    return reading(point, 10, autograd=jacobian(lambda s: torch.softmax(s / point["tau"], -1), point["s"]))


@confirms(Layer.TORCH, "eot.prop4.1", on=points())
def softmax(point: Point) -> Reading:
    scaled = point["s"] / point["tau"]
    return reading(point, softmax=torch.softmax(scaled, -1), limit=regularizers.entmax_bisect(scaled, 1.0))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.prop4.1", on=regularized_problems(), count=20)
def conic_softmax(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_penalized(drawn.own, np.zeros(drawn.m), drawn.tau))


@confirms(Layer.PRIMAL, "eot.s4.tab1-softmax", on=problems(), count=12)
def conic_slopes(drawn: ConicRow) -> Reading:
    slopes, error = differences(drawn)
    return Reading(drawn.point(), {"differences of optima": float64(slopes.T)}, error)
