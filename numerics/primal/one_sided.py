"""One-sided entropic optimal transport (Definition 3.2) as a convex program, with a certificate.

Minimize  J(p) = −Σ_j p_j s_j + ε Σ_j p_j log p_j  over the simplex.  The plan comes from a conic solver, which now and
then stalls at 1e-5; Newton steps on J sharpen it. Its duality gap is computed here, and nothing else decides whether it
is accepted.

Claims      eot.5, eot.6, eot.thm3.3
Notation    s = scores, −C in print; ε = epsilon; λ = multiplier of Σ_j p_j = 1
Duality     L(p, λ) = J(p) + λ (1 − Σ_j p_j). Over p ≥ 0 each coordinate is minimized by itself: the slope
            −s_j + ε (log p_j + 1) − λ vanishes at p_j = exp((s_j + λ)/ε − 1), where that coordinate's share of L is
            −ε p_j. Hence  g(λ) = λ − ε Σ_j exp((s_j + λ)/ε − 1) ≤ J(p)  for every λ and every p in the simplex.
Scaling     With x_j = (s_j − max s)/ε, J/ε + (max s)/ε is the same problem for the scores x and ε = 1. All work is done
            on it: its optimal value is between −log m and 0, whatever the scores, so that no digits are lost.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import tolerances
from numerics.primal import conic

Vector = NDArray[np.float64]

# Columns of the scaled problem below this go unused at first; what that costs shows in the gap.
_WORTHLESS = -40.0

# Sums of numbers beyond this may overflow; −inf is a valid, if useless, bound.
_OVERFLOW = 1e300


@dataclass(frozen=True)
class Solution:
    """A feasible plan and how far from optimal it can be.

    Attributes:
        plan: p, float64, (m,), in the simplex.
        objective: J(p); ``inf`` for a plan outside the simplex, and so is the gap.
        bound: g(λ), below the objective of every plan.
        gap: a bound on J(p) − J(p*), rounding included.
        multiplier: λ.
        status: what the solver said of itself. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times ε.
    """

    plan: Vector
    objective: float
    bound: float
    gap: float
    multiplier: float
    status: str
    certified: bool


def solve(scores: ArrayLike, epsilon: float) -> Solution:
    """Solve the one-sided problem (``eot.6``).

    Args:
        scores: s, finite, (m,) with m ≥ 1, taken as float64.
        epsilon: ε, positive and finite.

    Raises:
        ValueError: for scores or an epsilon other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    x, peak = _scaled(scores, epsilon)
    used = x >= _WORTHLESS
    plan = np.zeros_like(x)
    plan[used], status = _program(x[used])
    return _certify(x, peak, epsilon, _polish(x, plan), _multiplier(x), status)


def certify(plan: ArrayLike, scores: ArrayLike, epsilon: float, multiplier: float | None = None) -> Solution:
    """Certify a plan that comes from elsewhere, with status "given".

    Args:
        plan: p, (m,). One outside the simplex (by more than rounding) gets the gap ``inf``.
        scores: s, finite, (m,).
        epsilon: ε, positive and finite.
        multiplier: λ, finite; without it, the best λ is found by Newton's method.

    Raises:
        ValueError: for shapes or numbers other than these.
    """
    x, peak = _scaled(scores, epsilon)
    p = np.asarray(plan, dtype=np.float64)
    if p.shape != x.shape:
        raise ValueError(f"plan: expected the shape of the scores {x.shape}, got {p.shape}")
    if multiplier is not None and not math.isfinite(multiplier):
        raise ValueError(f"multiplier: expected a finite number, got {multiplier!r}")
    level = _multiplier(x) if multiplier is None else (multiplier + peak) / epsilon
    return _certify(x, peak, epsilon, p, level, "given")


def _scaled(scores: ArrayLike, epsilon: float) -> tuple[Vector, float]:
    s = np.asarray(scores, dtype=np.float64)
    if s.ndim != 1 or s.size == 0 or not np.isfinite(s).all():
        raise ValueError(f"scores: expected finite numbers (m,) with m ≥ 1, got {s!r}")
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon: expected a positive finite number, got {epsilon!r}")
    peak = float(s.max())
    with np.errstate(over="ignore"):
        x = (s - peak) / epsilon
    if not np.isfinite(x).all():
        raise ValueError(f"epsilon: expected the spread of the scores over it to be finite, got {epsilon!r} for {s!r}")
    return x, peak


@lru_cache(maxsize=64)
def _compiled(m: int) -> tuple[cp.Problem, cp.Parameter, cp.Variable]:
    p, x = cp.Variable(m), cp.Parameter(m)
    return cp.Problem(cp.Minimize(-(x @ p) - cp.sum(cp.entr(p))), [cp.sum(p) == 1]), x, p


def _program(x: Vector) -> tuple[Vector, str]:
    """Return the solver's plan, put back into the simplex, and its status. (``entr`` implies p ≥ 0.)"""
    problem, parameter, variable = _compiled(x.size)
    parameter.value = x
    value, status = conic.solve(problem, variable, x)
    plan = np.clip(value, 0.0, None)
    return plan / plan.sum(), status


def _multiplier(x: Vector) -> float:
    """Maximize the concave g(λ) = λ − Σ_j exp(x_j + λ − 1) by Newton's method.

    Its slope 1 − Σ_j exp(x_j + λ − 1) is decreasing and concave, so that from the right of its root the steps fall
    monotonically onto it. λ = 1 lies to the right, because max x = 0; the root is not below 1 − log m.
    """
    level = 1.0
    for _ in range(64):
        mass = math.fsum(np.exp(x + level - 1.0))
        step = (1.0 - mass) / mass
        level += step
        if abs(step) <= tolerances.eps("float64"):
            break
    return level


def _polish(x: Vector, plan: Vector) -> Vector:
    """Take Newton steps on J along the simplex while they lower it.

    The Hessian of Σ p log p is diag(1/p), so the step that keeps the mass is −p_j (slope_j − Σ_l p_l slope_l).
    """
    best, value = plan, _objective(x, plan)
    for _ in range(8):
        slope = np.log(best, where=best > 0, out=np.zeros_like(best)) - x
        trial = np.clip(best * (1.0 - (slope - best @ slope)), 0.0, None)
        trial /= trial.sum()
        value, before = _objective(x, trial), value
        if not value < before:
            break
        best = trial
    return best


def _objective(x: Vector, plan: Vector) -> float:
    positive = plan > 0
    p = plan[positive]
    return math.fsum(p * (np.log(p) - x[positive]))


def _certify(x: Vector, peak: float, epsilon: float, plan: Vector, level: float, status: str) -> Solution:
    excess = abs(math.fsum(plan) - 1.0) if (plan >= 0).all() else math.inf
    feasible = excess <= tolerances.rounding("float64", x.size)
    exponent = x + level - 1.0
    with np.errstate(over="ignore"):
        mass = np.exp(exponent)
    mass[mass > _OVERFLOW] = np.inf
    bound = level - math.fsum(mass)
    objective = gap = math.inf
    if feasible:
        objective = _objective(x, plan)
        # Sums are exact here; every term is off by a few units in the last place of the magnitudes that made it.
        magnitude = float(plan @ (1.0 + np.abs(x)) + mass @ (1.0 + np.abs(x) + np.abs(exponent))) + abs(level)
        gap = objective - bound + tolerances.rounding("float64", 1, magnitude) + excess * abs(level)
    return Solution(
        plan=plan,
        objective=epsilon * objective - peak,
        bound=epsilon * bound - peak,
        gap=epsilon * gap,
        multiplier=epsilon * level - peak,
        status=status,
        certified=0.0 <= gap <= tolerances.SOLVER_GAP,
    )
