"""One-sided entropic optimal transport (Definition 3.2) as a convex program, with a certificate.

Minimize  J(p) = −Σ_j p_j s_j + ε Σ_j p_j log p_j  over the simplex.  The plan comes from a conic solver, which now and
then stalls at 1e-5; Newton steps on J sharpen it. Its duality gap is computed in ``simplex``, of which this is the problem
of a single row, and nothing else decides whether it is accepted.

Claims      eot.5, eot.6, eot.thm3.3
Notation    s = scores, −C in print; ε = epsilon; λ = multiplier of Σ_j p_j = 1
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numerics.primal import simplex
from numerics.primal.arguments import Array, finite


@dataclass(frozen=True)
class Solution:
    """A feasible plan and how far from optimal it can be.

    Attributes:
        plan: p, float64, (m,), in the simplex.
        objective: J(p); ``inf`` for a plan outside the simplex, and so is the gap.
        bound: g(λ), below the objective of every plan.
        gap: a bound on J(p) − J(p*), rounding included.
        multiplier: λ.
        status: as reported by the solver. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times ε.
    """

    plan: Array
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
    problem = simplex.scaled(finite("scores", scores, "m")[None], epsilon)
    used = problem.x[0] >= simplex.MIN_LOGIT  # what that costs shows in the gap
    plan = np.zeros_like(problem.x)
    plan[:, used], status = simplex.program(problem.x[:, used])
    return _solution(problem, simplex.polish(problem.x, plan), simplex.best_levels(problem.x), status)


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
    problem = simplex.scaled(finite("scores", scores, "m")[None], epsilon)
    p = np.asarray(plan, dtype=np.float64)
    if p.shape != problem.x.shape[1:]:
        raise ValueError(f"plan: expected the shape of the scores {problem.x.shape[1:]}, got {p.shape}")
    if multiplier is None:
        levels = simplex.best_levels(problem.x)
    elif math.isfinite(multiplier):
        levels = problem.levels(np.array([multiplier]))
    else:
        raise ValueError(f"multiplier: expected a finite number, got {multiplier!r}")
    return _solution(problem, p[None], levels, "given")


def _solution(problem: simplex.Problem, plan: Array, levels: Array, status: str) -> Solution:
    verdict = simplex.certify(problem, plan, levels)
    return Solution(
        plan=plan[0],
        objective=verdict.objective,
        bound=verdict.bound,
        gap=verdict.gap,
        multiplier=float(verdict.multipliers[0]),
        status=status,
        certified=verdict.certified,
    )
