"""The entropic problem over rows of the simplex: the common part of the programs of one query and of a matrix.

Minimize  J(P) = −Σ_ij P_ij s_ij + ε Σ_ij P_ij log P_ij  over P ≥ 0 with P 1 = 1, stated once for all rows together.

Claims      eot.5, eot.6, eot.thm3.3, eot.113
Notation    s = scores, (n, m), −C in print; ε = epsilon; λ_i = multiplier of row i; x = scaled scores; levels = λ, scaled
Duality     L(P, λ) = J(P) + Σ_i λ_i (1 − Σ_j P_ij). Over P ≥ 0 each entry is minimized by itself: the slope
            −s_ij + ε (log P_ij + 1) − λ_i vanishes at P_ij = exp((s_ij + λ_i)/ε − 1), where that entry's share of L is
            −ε P_ij. Hence  g(λ) = Σ_i λ_i − ε Σ_ij exp((s_ij + λ_i)/ε − 1) ≤ J(P)  for every λ and every plan P.
Scaling     With x_ij = (s_ij − max_j s_ij)/ε, J/ε + Σ_i (max_j s_ij)/ε is the same problem for the scores x and ε = 1. All
            work is done on it: its optimal value is between −n log m and 0, whatever the scores, so that no digits are lost.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from numerics import tolerances
from numerics.primal import conic
from numerics.primal.arguments import Array, check_positive
from numerics.primal.conic import cp

MIN_LOGIT = -40.0
"""Scaled scores below this carry less mass than rounding."""

OVERFLOW = 1e300
"""Sums of numbers beyond this may overflow; −inf is a valid, if useless, bound."""

_NEWTON_STEPS, _POLISHING_STEPS = 64, 8


@dataclass(frozen=True)
class Problem:
    """The scores of n rows, scaled.

    Attributes:
        x: float64, (n, m), with the largest of each row 0.
        peaks: max_j s_ij, float64, (n,).
        epsilon: ε.
    """

    x: Array
    peaks: Array
    epsilon: float

    def levels(self, multipliers: Array) -> Array:
        """Return the multipliers of the scaled problem."""
        return np.asarray((multipliers + self.peaks) / self.epsilon)


@dataclass(frozen=True)
class Certificate:
    """The certificate of a plan by weak duality, in the units of the scores.

    Attributes:
        objective: J(P); ``inf`` for a matrix whose rows are not in the simplex, and so is the gap.
        bound: g(λ), below the objective of every plan.
        gap: a bound on J(P) − J(P*), rounding included.
        multipliers: λ, float64, (n,).
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times ε for each row.
    """

    objective: float
    bound: float
    gap: float
    multipliers: Array
    certified: bool


def scaled(scores: Array, epsilon: float) -> Problem:
    """Return the problem of finite scores (n, m) at ε.

    Raises:
        ValueError: for an epsilon that is not positive and finite, or too small for the spread of the scores.
    """
    check_positive("epsilon", epsilon)
    peaks = scores.max(axis=1)
    with np.errstate(over="ignore"):
        x = (scores - peaks[:, None]) / epsilon
    if not np.isfinite(x).all():
        raise ValueError(f"epsilon: expected the spread of the scores over it to be finite, got {epsilon!r} for {scores!r}")
    return Problem(x, peaks, epsilon)


@lru_cache(maxsize=64)
def _compiled(n: int, m: int) -> tuple[cp.Problem, cp.Parameter, cp.Variable]:
    p, x = cp.Variable((n, m)), cp.Parameter((n, m))
    cost = -cp.sum(cp.multiply(x, p)) - cp.sum(cp.entr(p))
    return cp.Problem(cp.Minimize(cost), [cp.sum(p, axis=1) == 1]), x, p


def program(x: Array) -> tuple[Array, str]:
    """Return the conic solver's plan, its rows put back into the simplex, and its status. (``entr`` implies P ≥ 0.)

    Raises:
        RuntimeError: if the solver returned no plan at all.
    """
    plan, status = _solved(x.shape, x.tobytes())
    return plan.copy(), status


@lru_cache(maxsize=1024)  # claims about one problem are voted on by solving it
def _solved(shape: tuple[int, int], scores: bytes) -> tuple[Array, str]:
    problem, parameter, variable = _compiled(*shape)
    parameter.value = x = np.frombuffer(scores).reshape(shape)
    value, status = conic.solve(problem, variable, x)
    plan = np.clip(value, 0.0, None)
    return plan / plan.sum(axis=1, keepdims=True), status


def best_levels(x: Array) -> Array:
    """Maximize the concave Σ_i λ_i − Σ_ij exp(x_ij + λ_i − 1) by Newton's method.

    The slope 1 − Σ_j exp(x_ij + λ_i − 1) of a row is decreasing and concave, so that from the right of its root the steps
    fall monotonically onto it. λ_i = 1 lies to the right, because max_j x_ij = 0; the root is not below 1 − log m.
    """
    levels = np.ones(len(x))
    for _ in range(_NEWTON_STEPS):
        mass = _row_sums(np.exp(x + levels[:, None] - 1.0))
        step = (1.0 - mass) / mass
        levels = levels + step
        if float(np.abs(step).max()) <= tolerances.eps("float64"):
            break
    return levels


def polish(x: Array, plan: Array) -> Array:
    """Take Newton steps on J along the simplex while they lower it.

    The Hessian of Σ P log P is diag(1/P), so the step that keeps the mass of a row is −P_ij (slope_ij − Σ_l P_il slope_il).
    """
    best, value = plan, _objective(x, plan)
    for _ in range(_POLISHING_STEPS):
        slope = np.log(best, where=best > 0, out=np.zeros_like(best)) - x
        trial = np.clip(best * (1.0 - (slope - (best * slope).sum(axis=1, keepdims=True))), 0.0, None)
        trial /= trial.sum(axis=1, keepdims=True)
        value, previous = _objective(x, trial), value
        if not value < previous:
            break
        best = trial
    return best


def certify(problem: Problem, plan: Array, levels: Array) -> Certificate:
    """Bound the distance of J(P) from its minimum by weak duality, for any P (n, m) and any finite levels (n,)."""
    x, epsilon = problem.x, problem.epsilon
    excess = np.abs(_row_sums(plan) - 1.0) if (plan >= 0).all() else np.full(len(x), math.inf)
    feasible = bool((excess <= tolerances.rounding("float64", x.shape[1])).all())
    exponent = x + levels[:, None] - 1.0
    with np.errstate(over="ignore"):
        mass = np.exp(exponent)
    mass[mass > OVERFLOW] = np.inf
    bound = math.fsum(levels) - math.fsum(mass.ravel())
    objective = gap = math.inf
    if feasible:
        objective = _objective(x, plan)
        # Sums are exact here; every term is off by a few units in the last place of the magnitudes that made it.
        terms = plan * (1.0 + np.abs(x)) + mass * (1.0 + np.abs(x) + np.abs(exponent))
        magnitude = float(terms.sum()) + float(np.abs(levels).sum())
        gap = objective - bound + tolerances.rounding("float64", 1, magnitude) + float(excess @ np.abs(levels))
    shift = math.fsum(problem.peaks)
    return Certificate(
        objective=epsilon * objective - shift,
        bound=epsilon * bound - shift,
        gap=epsilon * gap,
        multipliers=epsilon * levels - problem.peaks,
        certified=0.0 <= gap <= len(x) * tolerances.SOLVER_GAP,
    )


def _objective(x: Array, plan: Array) -> float:
    used = plan > 0
    p = plan[used]
    return math.fsum(p * (np.log(p) - x[used]))


def _row_sums(matrix: Array) -> Array:
    return np.array([math.fsum(row) for row in matrix])
