"""Section 6 of eot through the conic solver: the optimal value, the dual program, gradients by differences of values."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import one_sided
from tests.layers import Reading, confirms, float64
from tests.primal.eot_one_sided import STEP, Drawn, error, problems, solved

PRIMAL = Layer.PRIMAL


def value_error(drawn: Drawn, solution: one_sided.Solution) -> float:
    """How far the objective may be from the optimal value: the gap, and rounding."""
    return solution.gap + tolerances.rounding("float64", drawn.m, 1 + float(np.abs(drawn.scores).max()) + drawn.epsilon)


@confirms(PRIMAL, "eot.def6.1", on=problems())
def least_value(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.objective)}, value_error(drawn, solution))


@confirms(PRIMAL, "eot.66", on=problems())
def plan(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, error(solution, drawn.epsilon))


@confirms(PRIMAL, "eot.rem6.4", "eot.rem6.5", on=problems())
def minus_value(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(-solution.objective)}, value_error(drawn, solution))


# ── the dual program ────────────────────────────────────────────────────────────────────────────────────────────────


def dual_optimum(drawn: Drawn) -> tuple[float, float]:
    """The maximum of g(λ) = λ − τ Σ_j exp((s_j + λ − τ)/τ) by the solver, and how far it may be off.

    g is recomputed at the λ that the solver returned; weak duality against the certified primal value bounds the error.
    """
    level, tau, scores = cp.Variable(), drawn.epsilon, drawn.scores
    problem = cp.Problem(cp.Maximize(level - tau * cp.sum(cp.exp((scores + level - tau) / tau))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the gap tells
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerances.SOLVER, tol_gap_rel=tolerances.SOLVER,
                      tol_feas=tolerances.SOLVER)
    assert level.value is not None, f"the solver returned no multiplier: {problem.status}"
    found = float(level.value)
    value = found - tau * float(np.exp((scores + found - tau) / tau).sum())
    primal = solved(scores, tau)
    off = value_error(drawn, primal)
    assert value <= primal.objective + off, "weak duality fails"
    gap = primal.objective - value + off
    assert gap <= 1e3 * tolerances.SOLVER_GAP * tau, f"the solver left a gap of {gap} with status {problem.status}"
    return value, gap


def dual_value(drawn: Drawn) -> Reading:
    value, gap = dual_optimum(drawn)
    return Reading(drawn.point(), {"cvxpy, the dual program": float64(value)}, gap)


confirms(PRIMAL, "eot.thm6.3", "eot.s6.dual-value", on=problems(), corrected=dual_value, count=16)(dual_value)
confirms(PRIMAL, "eot.s6.strong-duality", on=problems(), count=16)(dual_value)


@confirms(PRIMAL, "eot.71", on=problems())
def level_of_the_plan(drawn: Drawn) -> Reading:
    """s_j − τ log p_j of the solver's plan, and τ − λ* of its certificate."""
    solution = solved(drawn.scores, drawn.epsilon)
    level = drawn.scores - drawn.epsilon * np.log(solution.plan)
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    mirrored = np.full(drawn.m, drawn.epsilon - solution.multiplier)
    off = drawn.epsilon * 2 * relative + value_error(drawn, solution)
    return Reading(drawn.point(), {"plan": float64(level), "multiplier": float64(mirrored)}, off)


# ── derivatives of the optimal value, by differences of optimal values ──────────────────────────────────────────────


def value_slope(drawn: Drawn) -> Reading:
    slopes, worst = [], 0.0
    for j in range(drawn.m):
        step = STEP * np.eye(drawn.m)[j]
        ahead, behind = solved(drawn.scores + step, drawn.epsilon), solved(drawn.scores - step, drawn.epsilon)
        slopes.append((ahead.objective - behind.objective) / (2 * STEP))
        worst = max(worst, value_error(drawn, ahead), value_error(drawn, behind))
    third_derivative = 1 / drawn.epsilon**2                  # |∂³V/∂s_j³| = p(1−p)|1−2p|/τ² ≤ 1/τ²
    off = STEP**2 / 6 * third_derivative + worst / STEP
    return Reading(drawn.point(), {"differences of optimal values": float64(slopes)}, off)


confirms(PRIMAL, "eot.lem6.2", "eot.67", "eot.70", on=problems(), count=10)(value_slope)
confirms(PRIMAL, "eot.s6.landscape", on=problems(), corrected=value_slope, count=10)(value_slope)
