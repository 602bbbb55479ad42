"""The one-sided entropic problem of a whole attention matrix (Appendix A) as one convex program, with a certificate.

Minimize  J(P) = −Σ_ij P_ij s_ij + ε Σ_ij P_ij log P_ij  over the plans U(a, ·): P ≥ 0, P 1 = 1, columns free. The program
is stated once for all queries together; that its rows do not interact is what a reader may learn from its solution.

Claims      eot.113, eot.thmA.6, eot.thmA.7
Notation    s = scores, (n, m), −C in print; ε = epsilon; λ_i = multiplier of row i
Duality     L(P, λ) = J(P) + Σ_i λ_i (1 − Σ_j P_ij) is minimized over P ≥ 0 at P_ij = exp((s_ij + λ_i)/ε − 1), so that
            Σ_i λ_i − ε Σ_ij exp((s_ij + λ_i)/ε − 1)  lies below J(P) for every λ and every plan P.
Scaling     With x_ij = (s_ij − max_j s_ij)/ε the problem becomes the same one for x and ε = 1, less a constant a row.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import tolerances
from numerics.primal import conic

Array = NDArray[np.float64]

# Sums of numbers beyond this may overflow; −inf is a valid, if useless, bound.
_OVERFLOW = 1e300

# Scaled scores below this carry less mass than rounding; scores that spread further are refused.
_WORTHLESS = -40.0


@dataclass(frozen=True)
class Plan:
    """A plan with unit rows and how far from optimal it can be.

    Attributes:
        plan: P, float64, (n, m), nonnegative with unit rows.
        objective: J(P); ``inf`` for a matrix that is not such a plan, and so is the gap.
        bound: the dual objective at the multipliers, below the objective of every plan.
        gap: a bound on J(P) − J(P*), rounding included.
        multipliers: λ, float64, (n,).
        status: what the solver said of itself. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times ε for each row.
    """

    plan: Array
    objective: float
    bound: float
    gap: float
    multipliers: Array
    status: str
    certified: bool


def solve(scores: ArrayLike, epsilon: float) -> Plan:
    """Solve the problem of the whole matrix as one program (``eot.113``).

    Args:
        scores: s, finite, (n, m) with n, m ≥ 1, no two in a row further apart than 40 ε.
        epsilon: ε, positive and finite.

    Raises:
        ValueError: for scores or an epsilon other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    x, peaks = _scaled(scores, epsilon)
    if float(x.min()) < _WORTHLESS:
        raise ValueError(f"epsilon: expected the spread of each row over it to be at most {-_WORTHLESS:g}, got {epsilon!r}")
    plan, levels, status = _program(x)
    return _certify(x, peaks, epsilon, _polish(x, plan), levels, status)


def certify(plan: ArrayLike, scores: ArrayLike, epsilon: float, multipliers: ArrayLike) -> Plan:
    """Certify a plan that comes from elsewhere, with status "given".

    Args:
        plan: P, (n, m). One whose rows are not in the simplex (by more than rounding) gets the gap ``inf``.
        scores: s, finite, (n, m).
        epsilon: ε, positive and finite.
        multipliers: λ, finite, (n,). Every λ gives a valid bound.

    Raises:
        ValueError: for shapes or numbers other than these.
    """
    x, peaks = _scaled(scores, epsilon)
    matrix, levels = np.asarray(plan, dtype=np.float64), np.asarray(multipliers, dtype=np.float64)
    if matrix.shape != x.shape:
        raise ValueError(f"plan: expected the shape of the scores {x.shape}, got {matrix.shape}")
    if levels.shape != peaks.shape or not np.isfinite(levels).all():
        raise ValueError(f"multipliers: expected {peaks.size} finite numbers, got {levels!r}")
    return _certify(x, peaks, epsilon, matrix, (levels + peaks) / epsilon, "given")


def _scaled(scores: ArrayLike, epsilon: float) -> tuple[Array, Array]:
    s = np.asarray(scores, dtype=np.float64)
    if s.ndim != 2 or s.size == 0 or not np.isfinite(s).all():
        raise ValueError(f"scores: expected finite numbers (n, m) with n, m ≥ 1, got {s!r}")
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon: expected a positive finite number, got {epsilon!r}")
    peaks: Array = s.max(axis=1)
    with np.errstate(over="ignore"):
        x = (s - peaks[:, None]) / epsilon
    if not np.isfinite(x).all():
        raise ValueError(f"epsilon: expected the spread of the scores over it to be finite, got {epsilon!r}")
    return x, peaks


@lru_cache(maxsize=64)
def _compiled(n: int, m: int) -> tuple[cp.Problem, cp.Parameter, cp.Variable]:
    p, x = cp.Variable((n, m)), cp.Parameter((n, m))
    cost = -cp.sum(cp.multiply(x, p)) - cp.sum(cp.entr(p))
    return cp.Problem(cp.Minimize(cost), [cp.sum(p, axis=1) == 1]), x, p


def _program(x: Array) -> tuple[Array, Array, str]:
    """Return the solver's plan, its rows put back into the simplex, multipliers and status. (``entr`` implies P ≥ 0.)"""
    problem, parameter, variable = _compiled(*x.shape)
    parameter.value = x
    value, status = conic.solve(problem, variable, x)
    plan = np.clip(value, 0.0, None)
    prices = -np.asarray(problem.constraints[0].dual_value, dtype=np.float64)  # the solver's sign is the other one
    return plan / plan.sum(axis=1, keepdims=True), _ascend(x, prices), status


def _ascend(x: Array, levels: Array) -> Array:
    """Raise the concave Σ_i λ_i − Σ_ij exp(x_ij + λ_i − 1) by Newton's method, safe from the right of its root."""
    levels = np.minimum(np.maximum(levels, 1.0 - math.log(x.shape[1])), 1.0)
    for _ in range(64):
        mass = np.exp(x + levels[:, None] - 1.0).sum(axis=1)
        step = (1.0 - mass) / mass
        levels = levels + step
        if float(np.abs(step).max()) <= tolerances.eps("float64"):
            break
    return levels


def _polish(x: Array, plan: Array) -> Array:
    """Take Newton steps on J along the plans while they lower it; the Hessian is diag(1/P)."""
    best, value = plan, _objective(x, plan)
    for _ in range(8):
        slope = np.log(best, where=best > 0, out=np.zeros_like(best)) - x
        trial = np.clip(best * (1.0 - (slope - (best * slope).sum(axis=1, keepdims=True))), 0.0, None)
        trial /= trial.sum(axis=1, keepdims=True)
        value, before = _objective(x, trial), value
        if not value < before:
            break
        best = trial
    return best


def _objective(x: Array, plan: Array) -> float:
    positive = plan > 0
    p = plan[positive]
    return math.fsum(p * (np.log(p) - x[positive]))


def _certify(x: Array, peaks: Array, epsilon: float, plan: Array, levels: Array, status: str) -> Plan:
    n, m = x.shape
    excess = np.abs(plan.sum(axis=1) - 1.0) if (plan >= 0).all() else np.full(n, math.inf)
    feasible = bool((excess <= tolerances.rounding("float64", m)).all())
    exponent = x + levels[:, None] - 1.0
    with np.errstate(over="ignore"):
        mass = np.exp(exponent)
    mass[mass > _OVERFLOW] = np.inf
    bound = math.fsum(levels) - math.fsum(mass.ravel())
    objective = gap = math.inf
    if feasible:
        objective = _objective(x, plan)
        # Sums are exact here; every term is off by a few units in the last place of the magnitudes that made it.
        terms = plan * (1.0 + np.abs(x)) + mass * (1.0 + np.abs(x) + np.abs(exponent))
        magnitude = float(terms.sum()) + float(np.abs(levels).sum())
        gap = objective - bound + tolerances.rounding("float64", 1, magnitude) + float(excess @ np.abs(levels))
    shift = math.fsum(peaks)
    return Plan(
        plan=plan,
        objective=epsilon * objective - shift,
        bound=epsilon * bound - shift,
        gap=epsilon * gap,
        multipliers=epsilon * levels - peaks,
        status=status,
        certified=0.0 <= gap <= n * tolerances.SOLVER_GAP,
    )
