"""Votes on: Section 6.1: the primal value function, the envelope theorem and the potential it leads to."""

import numpy as np
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.conic_dual import value_error
from evidence.eot.conic_one_sided import STEP, ConicRow, error, problems, solved
from evidence.eot.potential import number, reading, value
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.def6.1", on=rows(), count=16)
def least_value(row: Row) -> Reading:
    return reading(row, closed_form=value(row.s, row))


@confirms(Layer.TORCH, "eot.65", on=rows(), count=16)
def objective(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.objective(number(row, "p"), row.s, row.tau))


@confirms(Layer.TORCH, "eot.66", on=rows(), count=16)
def plan(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau), softmax=row.weights)


@confirms(Layer.TORCH, "eot.s6.trade-off", on=rows(), count=16)
def best_trade_off(row: Row) -> Reading:
    return reading(row, closed_form=-value(row.s, row))


@confirms(Layer.TORCH, "eot.s6.sensitivity", on=rows(), count=16)
def sensitivity(row: Row) -> Reading:
    slope = gradient(lambda t: value(row.s + t * row.u, row), number(row, "t"))
    return reading(row, row.u, (1 + number(row, "t")) * row.u / row.tau, autograd=slope)


@confirms(Layer.TORCH, "eot.s6.second-order", on=rows(), count=16)
def second_order(row: Row) -> Reading:
    t = number(row, "t")
    slope = gradient(lambda t: one_sided.objective(one_sided.plan(row.s + t * row.u, row.tau), row.s, row.tau), t)
    largest = row.u.abs().max()
    return reading(row, (1 + row.s.abs().max() + t * largest) * (1 + largest) ** 2 / row.tau, autograd=slope)


def value_slope(row: Row) -> Reading:
    return reading(row, autograd=gradient(lambda s: value(s, row), row.s))


def slope_in_plan(row: Row) -> Tensor:
    """∇_p J at p*."""
    return gradient(lambda p: one_sided.objective(p, row.s, row.tau), one_sided.plan(row.s, row.tau))


def along_the_simplex(row: Row) -> Reading:
    slope = slope_in_plan(row)
    return reading(row, slope, autograd=slope @ (number(row, "x") - number(row, "y")))


@confirms(Layer.TORCH, "eot.s6.flat", on=rows(), count=16, corrected=along_the_simplex)
def flat(row: Row) -> Reading:
    return reading(row, autograd=slope_in_plan(row))


@confirms(Layer.TORCH, "eot.s6.information", on=rows(), count=16)
def along_the_ray(row: Row) -> Reading:
    t = number(row, "t")
    return reading(row, (1 + t) * row.s.abs().max() / row.tau, autograd=gradient(lambda t: value(t * row.s, row), t))


@confirms(Layer.TORCH, "eot.s6.up-to-constant", on=rows(), count=16)
def another_potential(row: Row) -> Reading:
    return reading(row, autograd=gradient(lambda s: number(row, "γ") - value(s, row), row.s))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.def6.1", on=problems())
def conic_least_value(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.objective)}, value_error(drawn, solution))


@confirms(Layer.PRIMAL, "eot.66", on=problems())
def conic_plan(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, error(solution, drawn.epsilon))


def conic_value_slope(drawn: ConicRow) -> Reading:
    slopes, worst = [], 0.0
    for j in range(drawn.m):
        step = STEP * np.eye(drawn.m)[j]
        ahead, behind = solved(drawn.scores + step, drawn.epsilon), solved(drawn.scores - step, drawn.epsilon)
        slopes.append((ahead.objective - behind.objective) / (2 * STEP))
        worst = max(worst, value_error(drawn, ahead), value_error(drawn, behind))
    third_derivative = 1 / drawn.epsilon**2  # |∂³V/∂s_j³| = p(1−p)|1−2p|/τ² ≤ 1/τ²
    deviation = STEP**2 / 6 * third_derivative + worst / STEP
    return Reading(drawn.point(), {"differences of optimal values": float64(slopes)}, deviation)


VOTES = [
    Sampled(("eot.lem6.2", *(f"eot.{n}" for n in range(67, 71))), Layer.TORCH, value_slope, on=rows(), count=16),
    Sampled("eot.s6.landscape", Layer.TORCH, value_slope, on=rows(), count=16, corrected=value_slope),
    Sampled(("eot.lem6.2", "eot.67", "eot.70"), Layer.PRIMAL, conic_value_slope, on=problems(), count=10),
    Sampled("eot.s6.landscape", Layer.PRIMAL, conic_value_slope, on=problems(), count=10, corrected=conic_value_slope),
]
