"""Votes on: Iterated attention: a second pass takes one more order of α off the distance from the exact query."""

from __future__ import annotations

from evidence import Layer, Reading, confirms
from evidence.deciphering.dual import solved, spread
from evidence.deciphering.expansion_approximations import difference, evidence, measured, times
from evidence.instances import fifty_digits
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem

mp = fifty_digits.mp


@fifty_digits.precise
def second_query(problem: MemProblem, alpha: object) -> list[object]:
    """α(z + μ − h(αz)), in 50 digits."""
    z = evidence(problem)
    shift = difference(problem.law.mean(), problem.law.mean([alpha * x for x in z]))  # type: ignore[operator]
    return [alpha * (x + y) for x, y in zip(z, shift, strict=True)]  # type: ignore[operator]


@fifty_digits.precise
def two_terms(problem: MemProblem, alpha: object) -> list[object]:
    """αz − α²Σz, in 50 digits."""
    z = evidence(problem)
    along = times(problem.law.covariance(), z)
    return [alpha * x - alpha**2 * y for x, y in zip(z, along, strict=True)]  # type: ignore[operator]


@confirms(Layer.TORCH, "beyond.third-order", on=mem_problems(), count=16)
def third_term(problem: MemProblem) -> Reading:
    return measured(problem, 3, lambda alpha, found: difference(found.dual, two_terms(problem, alpha)))


@confirms(Layer.TORCH, "beyond.second-pass", on=mem_problems(), count=16)
def third_term_of_second_pass(problem: MemProblem) -> Reading:
    return measured(problem, 3, lambda alpha, _: difference(second_query(problem, alpha), two_terms(problem, alpha)))


@confirms(Layer.TORCH, "beyond.pass-certificate", on=mem_problems())
def shift_of_one_pass(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.evidence)
    found = mem.certificate(problem.templates, problem.evidence, problem.prior, problem.alpha)
    shift = solution.mean - problem.prior @ problem.templates
    value = problem.alpha**2 * found.shift.square()
    point = problem.point() | {"lam": solution.dual.cpu(), "g": shift.cpu()}
    off = float(solution.error) * (1 + problem.alpha) ** 2 * spread(problem) ** 2
    return Reading(point, {"certificate": value}, problem.tolerance(value, spread(problem) ** 2) + off)
