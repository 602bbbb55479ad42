"""Votes on: Section 4: the optimization problem, its estimate, and what the KL divergence does in it."""

import numpy as np
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.conic_problem import (
    ConicProblem,
    closest,
    conic_estimate,
    conic_minimizer,
    conic_objective_at_prior,
    problems,
)
from evidence.deciphering.problem import divergence, estimate, information, minimizer, objective_at_prior, restricted
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem
from numerics.primal import mem as conic_mem


def printed_divergence(problem: MemProblem) -> Reading:
    """The same at a positive q, where what is printed is finite."""
    q = (problem.drawn["q"] + problem.prior.cpu()) / 2
    return Reading(
        problem.point() | {"q": q},
        {"torch": information(q.to(problem.device), problem.prior)},
        problem.tolerance(problem.prior.log()),
    )


@confirms(Layer.TORCH, "deciphering.s4.reliability", on=mem_problems(smallest_n=2))
def reliability(problem: MemProblem) -> Reading:
    step = float(problem.drawn["s"])
    values: dict[str, Tensor | float] = {"alpha": problem.alpha, "s": step}
    error = 0.0
    for number, alpha in (("₁", problem.alpha), ("₂", problem.alpha + step)):
        solution = mem.solve(problem.templates, problem.evidence, problem.prior, alpha, tolerance=1e-10)
        deviation = problem.target - solution.mean
        values["r" + number] = deviation.square().sum().cpu()
        values["k" + number] = information(solution.weights, problem.prior).clamp(min=0).cpu()  # 0 but for rounding
        error += 2 * float(solution.mean_error * deviation.norm()) + float(solution.gap)
    return Reading(values, {"Newton": float64(values["r₁"])}, problem.tolerance(problem.target.square()) + error)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.s4.reliability", on=problems(), count=16)
def conic_reliability(drawn: ConicProblem) -> Reading:
    step, values, error = float(drawn["sigma"]), {"alpha": drawn.alpha, "s": float(drawn["sigma"])}, drawn.rounding
    for number, alpha in (("₁", drawn.alpha), ("₂", drawn.alpha + step)):
        solution = conic_mem.solve(drawn["T"], drawn["u"], drawn["z"], alpha)
        assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
        residual = drawn["u"] @ drawn["T"] + drawn["z"] - solution.mean
        squared = float(residual @ residual)
        values |= {"r" + number: squared, "k" + number: max(0.0, solution.objective - alpha / 2 * squared)}
        error += (2 + alpha) * float(np.linalg.norm(residual)) * solution.mean_error + solution.value_error
    return Reading(values, {"cvxpy": float64(values["r₁"])}, error * (1 + 8 / drawn.alpha))


VOTES = [
    Sampled("deciphering.4", Layer.TORCH, objective_at_prior, on=mem_problems()),
    Sampled("deciphering.s4.kl", Layer.TORCH, printed_divergence, on=mem_problems(smallest_n=2), corrected=divergence),
    Sampled("deciphering.s4.kl-finite", Layer.TORCH, restricted, on=mem_problems(smallest_n=2)),
    Sampled("deciphering.s4.minimizer", Layer.TORCH, minimizer, on=mem_problems(smallest_n=2)),
    Sampled("deciphering.5", Layer.TORCH, estimate, on=mem_problems(smallest_n=2)),
    Sampled("deciphering.4", Layer.PRIMAL, conic_objective_at_prior, on=problems(1), count=16),
    Sampled("deciphering.s4.both-requirements", Layer.PRIMAL, closest, on=problems(), count=16),
    Sampled("deciphering.s4.minimizer", Layer.PRIMAL, conic_minimizer, on=problems(), count=16),
    Sampled("deciphering.5", Layer.PRIMAL, conic_estimate, on=problems(), count=16),
]
