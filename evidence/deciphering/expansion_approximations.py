"""Section 6 of deciphering and of inference: (15)–(18), Theorem 2 and Corollary 1, with orders and constants measured.

The maximizer is computed in 50 digits for α, α/2, α/4, …; the limit of the error over the claimed power of α is held
against the proved constant.  That "=" is false is seen at the drawn α, with the float64 solver."""

from collections.abc import Callable
from typing import Any

import mpmath as mp

from evidence import Reading, float64
from evidence.deciphering.dual import evidence_for, reading, solved, spread
from evidence.deciphering.expansion import lower_bound, reach
from evidence.instances import fifty_digits
from evidence.instances.fifty_digits import Vector
from evidence.instances.mem import MemProblem, rounded


def measured(problem: MemProblem, order: int, error: Callable[[Any, fifty_digits.Maximizer], Vector]) -> Reading:
    """The limit of error(α, λ*(α))/α^order as α → 0."""
    leading = fifty_digits.leading(lambda alpha: error(alpha, problem.maximizer(alpha)), order, problem.small)
    tolerance = problem.tolerance(reach(problem) ** (order + 2)) + float(leading.error)
    return Reading(problem.point(), {"fifty digits": rounded(leading.values)}, tolerance)


@fifty_digits.precise
def times(matrix: Any, vector: Vector) -> Vector:
    """A matrix times a vector, in 50 digits."""
    return list(matrix * mp.matrix(vector))


def evidence(problem: MemProblem) -> list[float]:
    return list(problem.drawn["z"].tolist())


def difference(x: Vector, y: Vector) -> Vector:
    return [p - q for p, q in zip(x, y, strict=True)]


def third_order(problem: MemProblem) -> Reading:
    z, sigma = evidence(problem), problem.law.covariance()

    def error(alpha: Any, optimum: fifty_digits.Maximizer) -> Vector:
        matrix = mp.eye(problem.d) + alpha * sigma
        return difference(optimum.dual, list(mp.lu_solve(matrix, alpha * mp.matrix(z))))

    return measured(problem, 3, error)


def second_order(problem: MemProblem) -> Reading:
    z = evidence(problem)
    return measured(problem, 2, lambda alpha, optimum: difference(optimum.dual, [alpha * x for x in z]))


def maximizer(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, spread(problem) ** 2, error=solution.error, solver=solution.dual)


def second_of_estimate(problem: MemProblem) -> Reading:
    """The coefficient of α² in ĥ, after μ + αΣz is taken off."""
    mean, along = problem.law.mean(), times(problem.law.covariance(), evidence(problem))

    def error(alpha: Any, optimum: fifty_digits.Maximizer) -> Vector:
        return difference(optimum.estimate, [m + alpha * x for m, x in zip(mean, along, strict=True)])

    return measured(problem, 2, error)


def approximate_estimate(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, spread(problem) ** 2, error=solution.mean_error, solver=solution.mean)


def divergent(problem: MemProblem) -> Reading:
    """A lower bound for (17)'s denominator with log-normal u, α = 1/100 and z = 1."""
    value = lower_bound(20.0, 0.01).exp()
    return Reading({"k": float64(20.0), "x": float64(0.01)}, {"quadrature": value}, 1.0)
