"""Votes on: Section 7 of the earlier version, limitations: what bounded moments, a small α and normalized templates give."""

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.conic_dual import numbers, objective
from evidence.deciphering.dual import reading, spread
from evidence.deciphering.expansion import log_normal, third_coefficient
from evidence.deciphering.expansion_approximations import second_of_estimate
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@confirms(Layer.TORCH, "inference.s7.growing-templates", on=mem_problems())
def grown(problem: MemProblem) -> Reading:
    s = problem["s"]
    value = mem.primal_objective(problem["q"], s * problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, (s * spread(problem)) ** 2, closed_form=value)


@confirms(Layer.TORCH, "inference.s7.finite-moments", on=mem_problems())
def even_moment(problem: MemProblem) -> Reading:
    r, x = 2, problem["c"]
    value = problem.prior @ (problem.templates @ x) ** (2 * r)
    point = problem.point() | {"x": x.cpu(), "r": r}
    return Reading(point, {"direct": value}, problem.tolerance(value, ((problem.templates @ x) ** 4).sum()), "right")


@confirms(Layer.TORCH, "inference.s7.normalized-templates", on=mem_problems())
def trace(problem: MemProblem) -> Reading:
    _, covariance = mem.moments(problem.templates, problem.prior)
    return Reading(problem.point(), {"moments": covariance.trace()}, problem.tolerance(spread(problem) ** 2), "right")


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "inference.s7.growing-templates", on=mem_problems(), count=12)
def conic_grown(problem: MemProblem) -> Reading:
    x = numbers(problem)
    return objective(problem, x["s"] * x["T"], x["z"], problem.alpha)


VOTES = [
    Sampled("inference.s7.bounded-moments", Layer.TORCH, log_normal, on=mem_problems(), count=24, corrected=third_coefficient),
    Sampled("inference.s7.small-alpha", Layer.TORCH, second_of_estimate, on=mem_problems(), count=16),
]
