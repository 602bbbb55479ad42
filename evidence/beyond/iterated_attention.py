"""Votes on: Iterated attention: a second pass reduces the distance from the exact query by one order of α."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.beyond import output_bounds
from evidence.beyond.output_bounds import squared
from evidence.beyond.search import Free, Problem, sought
from evidence.deciphering.dual import solved, spread
from evidence.deciphering.expansion_approximations import difference, evidence, measured, times
from evidence.instances import fifty_digits
from evidence.instances.fifty_digits import Vector
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@fifty_digits.precise
def second_query(problem: MemProblem, alpha: Any) -> Vector:
    """α(z + μ − h(αz)), in 50 digits."""
    z = evidence(problem)
    shift = difference(problem.law.mean(), problem.law.mean([alpha * x for x in z]))
    return [alpha * (x + y) for x, y in zip(z, shift, strict=True)]


@fifty_digits.precise
def two_terms(problem: MemProblem, alpha: Any) -> Vector:
    """αz − α²Σz, in 50 digits."""
    z = evidence(problem)
    along = times(problem.law.covariance(), z)
    return [alpha * x - alpha**2 * y for x, y in zip(z, along, strict=True)]


@confirms(Layer.TORCH, "beyond.third-order", on=mem_problems(), count=16)
def third_term(problem: MemProblem) -> Reading:
    return measured(problem, 3, lambda alpha, maximizer: difference(maximizer.dual, two_terms(problem, alpha)))


@confirms(Layer.TORCH, "beyond.second-pass", on=mem_problems(), count=16)
def third_term_of_second_pass(problem: MemProblem) -> Reading:
    return measured(problem, 3, lambda alpha, _: difference(second_query(problem, alpha), two_terms(problem, alpha)))


@confirms(Layer.TORCH, "beyond.pass-certificate", on=mem_problems())
def shift_of_one_pass(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.evidence)
    certificate = mem.certificate(problem.templates, problem.evidence, problem.prior, problem.alpha)
    shift = solution.mean - problem.prior @ problem.templates
    value = problem.alpha**2 * certificate.shift.square()
    point = problem.point() | {"lam": solution.dual.cpu(), "g": shift.cpu()}
    error = float(solution.error) * (1 + problem.alpha) ** 2 * spread(problem) ** 2
    return Reading(point, {"certificate": value}, problem.tolerance(value, spread(problem) ** 2) + error)


# ── any number of passes ────────────────────────────────────────────────────────────────────────────────────────────


def iterated(free: Free) -> Mapping[str, Tensor]:
    """A problem with its solution, and the query λ_{k−1} of the k-th pass, k one less than the number of templates."""
    x = output_bounds.solved(free)
    first = x["alpha"][:, None] * output_bounds.evidence(x)
    prior_mean = mean(x["u"], x["T"])
    query = first
    for _ in range(passes(x["T"].shape[1]) - 1):
        query = first + x["alpha"][:, None] * (prior_mean - mean(mem.tilt(query, x["T"], x["u"]), x["T"]))
    estimate = mean(mem.tilt(x["lam"], x["T"], x["u"]), x["T"])
    return {**x, "y": query, "E": estimate - mean(mem.tilt(query, x["T"], x["u"]), x["T"])}


def mean(weights: Tensor, templates: Tensor) -> Tensor:
    """Σ_i p_i t_i."""
    return (weights[..., None] * templates).sum(-2)


def passes(m: int) -> int:
    """k, for m templates."""
    return m - 1


def iterate_sides(x: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """q^(2k+2) α²‖z‖²/(1 + q)² and ‖λ_k − λ*‖² = α²‖ĥ − h(λ_{k−1})‖²."""
    order = 2 * passes(x["T"].shape[1]) + 2
    reach = x["kappa"] ** order / (1 + x["kappa"]) ** 2 * x["alpha"] ** 2 * squared(output_bounds.evidence(x))
    return reach, x["alpha"] ** 2 * squared(x["E"])


ITERATED = Problem(
    output_bounds.shapes, iterated, iterate_sides, least=1e-6, scale=1.0, counts=lambda m: {"n": m, "d": 2, "k": passes(m)}
)


VOTES = [sought("beyond.iterates", ITERATED)]
