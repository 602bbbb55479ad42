"""Section 6 of deciphering and of inference through the conic solver: Theorem 1, and how its solutions behave for small α."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from evidence import Reading, float64
from evidence.instances.mem import MemProblem
from numerics import tolerances
from numerics.primal import mem as conic_mem
from numerics.primal.arguments import Array

HALVINGS = 4


def numbers(problem: MemProblem) -> dict[str, Array]:
    """All drawn values, as NumPy arrays."""
    return {name: tensor.numpy() for name, tensor in problem.drawn.items()}


def conic_evidence_for(problem: MemProblem) -> Array:
    """The z for which the drawn λ is α(μ + z − Σ p_i t_i) with p ∝ u exp⟨t_i, λ⟩."""
    x = numbers(problem)
    weights = x["u"] * np.exp(x["T"] @ x["lam"])
    return np.asarray(x["lam"] / problem.alpha + (weights / weights.sum() - x["u"]) @ x["T"])


def conic_solved(problem: MemProblem, evidence: Array, alpha: float | None = None) -> conic_mem.Estimate:
    """The certified optimum; an uncertified one is an error, not a vote."""
    x = numbers(problem)
    solution = conic_mem.solve(x["T"], x["u"], evidence, problem.alpha if alpha is None else alpha)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def size(problem: MemProblem) -> float:
    """The largest squared length of a template, and 1."""
    return max(1.0, float((numbers(problem)["T"] ** 2).sum(-1).max()))


def conic_reading(problem: MemProblem, value: Array | float, error: float, *magnitudes: float) -> Reading:
    """The solver's result, with its certified error and the rounding of the formula."""
    return Reading(problem.point(), {"cvxpy": float64(value)}, error + problem.tolerance(size(problem), *magnitudes))


def conic_minimizer(problem: MemProblem) -> Reading:
    solution = conic_solved(problem, conic_evidence_for(problem))
    return conic_reading(problem, solution.plan, solution.plan_error)


def conic_estimate(problem: MemProblem) -> Reading:
    solution = conic_solved(problem, conic_evidence_for(problem))
    return conic_reading(problem, solution.mean, solution.mean_error)


def extrapolated(problem: MemProblem, order: int, error: Callable[[float, conic_mem.Estimate], tuple[Array, float]]) -> Reading:
    """The limit of error(α)/α^order over α, α/2, …, with the last difference and the solver's error as its tolerance."""
    z = numbers(problem)["z"]
    alphas = [2 * problem.small / 2**k for k in range(HALVINGS + 1)]
    errors = [error(alpha, conic_solved(problem, z, alpha)) for alpha in alphas]
    column = [value / alpha**order for alpha, (value, _) in zip(alphas, errors, strict=True)]
    best = [column[0]]
    for degree in range(1, HALVINGS + 1):
        column = [y + (y - x) / (2**degree - 1) for x, y in pairwise(column)]
        best.append(column[0])
    last = float(np.abs(best[-1] - best[-2]).max())
    noise = sum(error_bound / alpha**order for alpha, (_, error_bound) in zip(alphas, errors, strict=True))
    return conic_reading(problem, best[-1], last + 4 * noise, size(problem) ** 2)


def conic_maximizer(problem: MemProblem) -> Reading:
    solution = conic_solved(problem, conic_evidence_for(problem))
    return conic_reading(problem, solution.multiplier, solution.multiplier_error)


def conic_second_order(problem: MemProblem) -> Reading:
    z = numbers(problem)["z"]
    return extrapolated(problem, 2, lambda alpha, solution: (solution.multiplier - alpha * z, solution.multiplier_error))


def moments(problem: MemProblem) -> tuple[Array, Array]:
    """μ and Σz, from the definitions."""
    x = numbers(problem)
    center = x["u"] @ x["T"]
    deviation = x["T"] - center
    return center, (x["u"] * (deviation @ x["z"])) @ deviation


def conic_second_of_estimate(problem: MemProblem) -> Reading:
    center, along = moments(problem)
    return extrapolated(problem, 2, lambda alpha, solution: (solution.mean - center - alpha * along, solution.mean_error))


def objective(problem: MemProblem, templates: Array, evidence: Array, alpha: float) -> Reading:
    """P(q) for changed templates, evidence and α."""
    x = numbers(problem)
    value = conic_mem.certify(x["q"], templates, x["u"], evidence, alpha).objective
    error = tolerances.rounding("float64", problem.n * problem.d, alpha * float((templates**2).sum() + evidence @ evidence))
    return conic_reading(problem, value, 4 * error, value)
