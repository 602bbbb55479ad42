"""Votes on: Section 4.1: scores against a convex regularizer; softmax as the first instance."""

from __future__ import annotations

import numpy as np
import torch

from evidence import Layer, Reading, confirms
from evidence.eot.conic_regularizers import RegularizedProblem, conic_reading, regularized_problems
from evidence.eot.regularizers import Point, half_square, objective, points, reading
from numerics import regularizers
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


@confirms(Layer.TORCH, "eot.s4.entropy-makes-softmax", on=points())
def recovered_differences(point: Point) -> Reading:
    logs = torch.log_softmax(point["s"] / point["tau"], -1) * point["tau"]
    return reading(point, 10, log_softmax=logs[:, None] - logs)


@confirms(Layer.TORCH, "eot.prop4.1", "eot.s4.tab1-softmax", on=points())
def softmax(point: Point) -> Reading:
    scaled = point["s"] / point["tau"]
    return reading(point, softmax=torch.softmax(scaled, -1), limit=regularizers.entmax_bisect(scaled, 1.0))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.prop4.1", "eot.s4.tab1-softmax", on=regularized_problems(), count=20)
def conic_softmax(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_penalized(drawn.own, np.zeros(drawn.m), drawn.tau))
