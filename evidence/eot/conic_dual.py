"""Section 6 of eot through the conic solver: the optimal value, the dual program, gradients by differences of values."""

import warnings

import numpy as np

from evidence import Reading, float64
from evidence.eot.conic_one_sided import ConicRow, solved
from numerics import tolerances
from numerics.primal import one_sided
from numerics.primal.conic import cp


def value_error(drawn: ConicRow, solution: one_sided.Solution) -> float:
    """How far the objective may be from the optimal value: the gap, and rounding."""
    return solution.gap + tolerances.rounding("float64", drawn.m, 1 + float(np.abs(drawn.scores).max()) + drawn.epsilon)


def dual_optimum(drawn: ConicRow) -> tuple[float, float]:
    """The maximum of g(λ) = λ − τ Σ_j exp((s_j + λ − τ)/τ) by the solver, and how far it may be off.

    g is recomputed at the λ that the solver returned; weak duality against the certified primal value bounds the error.
    """
    level, tau, scores = cp.Variable(), drawn.epsilon, drawn.scores
    problem = cp.Problem(cp.Maximize(level - tau * cp.sum(cp.exp((scores + level - tau) / tau))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the gap tells
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=tolerances.SOLVER, tol_gap_rel=tolerances.SOLVER, tol_feas=tolerances.SOLVER
        )
    assert level.value is not None, f"the solver returned no multiplier: {problem.status}"
    multiplier = float(level.value)
    value = multiplier - tau * float(np.exp((scores + multiplier - tau) / tau).sum())
    primal = solved(scores, tau)
    error = value_error(drawn, primal)
    assert value <= primal.objective + error, "weak duality fails"
    gap = primal.objective - value + error
    assert gap <= 1e3 * tolerances.SOLVER_GAP * tau, f"the solver left a gap of {gap} with status {problem.status}"
    return value, gap


def dual_value(drawn: ConicRow) -> Reading:
    value, gap = dual_optimum(drawn)
    return Reading(drawn.point(), {"cvxpy, the dual program": float64(value)}, gap)
