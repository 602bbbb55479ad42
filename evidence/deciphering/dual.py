"""Section 6 of deciphering and of inference in torch: the dual, the recovered minimizer, certificates and invariances."""

import torch
from torch import Tensor

from evidence import Reading
from evidence.instances.derivatives import gradient
from evidence.instances.mem import MemProblem
from numerics import mem


def evidence_for(problem: MemProblem) -> Tensor:
    """The z for which the drawn λ maximizes (9), by torch's own softmax: λ/α + Σ_i p_i t_i − μ."""
    weights = torch.softmax(problem.templates @ problem.dual + problem.prior.log(), -1)
    return problem.dual / problem.alpha + (weights - problem.prior) @ problem.templates


def solved(problem: MemProblem, evidence: Tensor) -> mem.Solution:
    """The certified solution; an uncertified one is an error, not a vote."""
    solution = mem.solve(problem.templates, evidence, problem.prior, problem.alpha, tolerance=1e-11)
    assert bool(solution.converged), f"λ* is known to {float(solution.error)} only"
    return solution


def reading(problem: MemProblem, *magnitudes: Tensor | float, error: Tensor | float = 0.0, **routes: Tensor) -> Reading:
    """Routes at a problem whose variables have their drawn values."""
    return Reading(problem.point(), routes, problem.tolerance(*magnitudes, *routes.values()) + float(error))


def spread(problem: MemProblem) -> float:
    """The largest length of a template, and 1."""
    return max(1.0, float(problem.drawn["T"].norm(dim=-1).max()))


def primal(problem: MemProblem, weights: Tensor, evidence: Tensor) -> Tensor:
    return mem.primal_objective(weights, problem.templates, evidence, problem.prior, problem.alpha)


def minimizer(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, spread(problem) ** 2, error=solution.weights_error, solver=solution.weights)


def estimate(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    slope = gradient(lambda dual: mem.log_partition(dual, problem.templates, problem.prior), problem.dual)
    return reading(problem, spread(problem) ** 2, error=solution.mean_error, solver=solution.mean, autograd=slope)
