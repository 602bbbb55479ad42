"""The one-sided entropic problem of a whole attention matrix (Appendix A) as one convex program, with a certificate.

Minimize  J(P) = −Σ_ij P_ij s_ij + ε Σ_ij P_ij log P_ij  over the plans U(a, ·): P ≥ 0, P 1 = 1, columns free. The program
is stated once for all queries together; that its rows do not interact is what a reader may learn from its solution.

Claims      eot.113, eot.thmA.6, eot.thmA.7
Notation    s = scores, (n, m), −C in print; ε = epsilon; λ_i = multiplier of row i. Duality and scaling: see ``simplex``
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numerics.primal import simplex
from numerics.primal.arguments import Array, finite, vector


@dataclass(frozen=True)
class Plan:
    """A plan with unit rows and how far from optimal it can be.

    Attributes:
        plan: P, float64, (n, m), nonnegative with unit rows.
        objective: J(P); ``inf`` for a matrix that is not such a plan, and so is the gap.
        bound: the dual objective at the multipliers, below the objective of every plan.
        gap: a bound on J(P) − J(P*), rounding included.
        multipliers: λ, float64, (n,).
        status: as reported by the solver. It decides nothing.
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
    problem = simplex.scaled(finite("scores", scores, "n", "m"), epsilon)
    if float(problem.x.min()) < simplex.MIN_LOGIT:
        raise ValueError(
            f"epsilon: expected the spread of each row over it to be at most {-simplex.MIN_LOGIT:g}, got {epsilon!r}"
        )
    plan, status = simplex.program(problem.x)
    return _plan(problem, simplex.polish(problem.x, plan), simplex.best_levels(problem.x), status)


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
    problem = simplex.scaled(finite("scores", scores, "n", "m"), epsilon)
    matrix = np.asarray(plan, dtype=np.float64)
    if matrix.shape != problem.x.shape:
        raise ValueError(f"plan: expected the shape of the scores {problem.x.shape}, got {matrix.shape}")
    levels = problem.levels(vector("multipliers", multipliers, len(problem.x)))
    return _plan(problem, matrix, levels, "given")


def _plan(problem: simplex.Problem, plan: Array, levels: Array, status: str) -> Plan:
    verdict = simplex.certify(problem, plan, levels)
    return Plan(
        plan=plan,
        objective=verdict.objective,
        bound=verdict.bound,
        gap=verdict.gap,
        multipliers=verdict.multipliers,
        status=status,
        certified=verdict.certified,
    )
