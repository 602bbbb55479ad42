"""Votes on: Appendix B, first half: the problem without constraint, and its value as a conjugate."""

import numpy as np

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.appendix import conjugate, maximizer, potential, value
from evidence.eot.conic_appendix import conic_conjugate, conic_maximizer, slack
from evidence.eot.conic_one_sided import STEP, ConicRow, problems, solved
from evidence.eot.forward import reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows


@confirms(Layer.TORCH, "eot.129", "eot.130", on=rows())
def optimal_value(row: Row) -> Reading:
    return reading(row, row.s, row.tau, closed_form=value(row), potential=-potential(row))


@confirms(Layer.TORCH, "eot.sB.step-gradient", "eot.sB.step-conjugate", on=rows())
def gradient_of_conjugate(row: Row) -> Reading:
    return reading(row, row.s, autograd=gradient(lambda s: potential(row, s), row.s))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.129", "eot.130", on=problems())
def conic_optimal_value(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.objective)}, slack(drawn, solution.gap))


@confirms(Layer.PRIMAL, "eot.sB.step-gradient", "eot.sB.step-conjugate", on=problems(), count=12)
def slope_of_conjugate(drawn: ConicRow) -> Reading:
    slopes, worst = [], 0.0
    for j in range(drawn.m):
        step = STEP * np.eye(drawn.m)[j]
        ahead, behind = solved(drawn.scores + step, drawn.epsilon), solved(drawn.scores - step, drawn.epsilon)
        slopes.append((behind.objective - ahead.objective) / (2 * STEP))
        worst = max(worst, slack(drawn, ahead.gap), slack(drawn, behind.gap))
    third_derivative = 1 / drawn.epsilon**2  # |∂³φ/∂s_j³| = p(1 − p)|1 − 2p|/τ²
    return Reading(drawn.point(), {"differences of optima": float64(slopes)}, STEP**2 / 6 * third_derivative + worst / STEP)


VOTES = [
    Sampled(("eot.126", "eot.128", "eot.sB.penalty", "eot.sB.step-unconstrained"), Layer.TORCH, maximizer, on=rows()),
    Sampled(("eot.131", "eot.sB.step-value"), Layer.TORCH, conjugate, on=rows()),
    Sampled(
        ("eot.126", "eot.128", "eot.sB.penalty", "eot.sB.step-unconstrained"), Layer.PRIMAL, conic_maximizer, on=problems()
    ),
    Sampled(("eot.131", "eot.sB.step-value"), Layer.PRIMAL, conic_conjugate, on=problems()),
]
