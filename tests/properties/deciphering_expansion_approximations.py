"""Section 6 of deciphering and of inference: (15)–(18), Theorem 2 and Corollary 1, with orders and constants measured.

The maximizer is computed in 50 digits for α, α/2, α/4, …; the limit of the error over the claimed power of α is held
against the proved constant.  That "=" is false is seen at the drawn α, with the float64 solver.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import mem
from tests import fifty_digits
from tests.layers import Reading, confirms, float64
from tests.properties.deciphering_dual import evidence_for, reading, solved, spread
from tests.properties.deciphering_expansion import lower_bound, reach
from tests.properties.mem_problems import MemProblem, mem_problems, rounded

TORCH = Layer.TORCH
COUNT = 16
mp = fifty_digits.mp


def measured(problem: MemProblem, order: int, error: Callable[[object, fifty_digits.Maximizer], list[object]]) -> Reading:
    """The limit of error(α, λ*(α))/α^order as α → 0."""
    found = fifty_digits.leading(lambda alpha: error(alpha, problem.maximizer(alpha)), order, problem.small)
    tolerance = problem.tolerance(reach(problem) ** (order + 2)) + float(found.error)
    return Reading(problem.point(), {"fifty digits": rounded(found.values)}, tolerance)


@fifty_digits.precise
def times(matrix: object, vector: list[object]) -> list[object]:
    """A matrix times a vector, in 50 digits."""
    return list(matrix * mp.matrix(vector))  # type: ignore[operator]


def evidence(problem: MemProblem) -> list[float]:
    return list(problem.drawn["z"].tolist())


def difference(x: list[object], y: list[object]) -> list[object]:
    return [p - q for p, q in zip(x, y, strict=True)]  # type: ignore[operator]


# ── λ* ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def third_order(problem: MemProblem) -> Reading:
    z, sigma = evidence(problem), problem.law.covariance()

    def error(alpha: object, found: fifty_digits.Maximizer) -> list[object]:
        matrix = mp.eye(problem.d) + alpha * sigma
        return difference(found.dual, list(mp.lu_solve(matrix, alpha * mp.matrix(z))))

    return measured(problem, 3, error)


def second_order(problem: MemProblem) -> Reading:
    z = evidence(problem)
    return measured(problem, 2, lambda alpha, found: difference(found.dual, [alpha * x for x in z]))  # type: ignore[operator]


def maximizer(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, spread(problem) ** 2, error=solution.error, solver=solution.dual)


confirms(TORCH, "deciphering.15", "inference.17", on=mem_problems(), corrected=third_order, count=COUNT)(maximizer)
confirms(TORCH, "deciphering.16", "inference.18", on=mem_problems(), corrected=second_order, count=COUNT)(maximizer)


@confirms(TORCH, "deciphering.fn7", on=mem_problems())
def unit_covariance(problem: MemProblem) -> Reading:
    z, d = problem.evidence, problem.d
    corners = torch.cat([torch.eye(d, dtype=z.dtype), -torch.eye(d, dtype=z.dtype)]).to(z.device) * d**0.5
    matrix = (1 + problem.alpha) * torch.eye(d, dtype=z.dtype, device=z.device)
    return reading(problem, resolvent=mem.resolvent(corners, z, None, problem.alpha),
                   solve=torch.linalg.solve(matrix, problem.alpha * z))


# ── ĥ ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def first_of_estimate(problem: MemProblem) -> Reading:
    mean = problem.law.mean()
    return measured(problem, 1, lambda alpha, found: difference(found.estimate, mean))


confirms(TORCH, "deciphering.s6.close-to-mean", on=mem_problems(), count=COUNT)(first_of_estimate)


def second_of_estimate(problem: MemProblem) -> Reading:
    """The coefficient of α² in ĥ, after μ + αΣz is taken off."""
    mean, along = problem.law.mean(), times(problem.law.covariance(), evidence(problem))

    def error(alpha: object, found: fifty_digits.Maximizer) -> list[object]:
        return difference(found.estimate, [m + alpha * x for m, x in zip(mean, along, strict=True)])  # type: ignore[operator]

    return measured(problem, 2, error)


def estimate(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, spread(problem) ** 2, error=solution.mean_error, solver=solution.mean)


confirms(TORCH, "deciphering.17", "deciphering.18", "inference.19", "inference.20", on=mem_problems(),
         corrected=second_of_estimate, count=COUNT)(estimate)
confirms(TORCH, "inference.s7.small-alpha", on=mem_problems(), count=COUNT)(second_of_estimate)


def divergent(problem: MemProblem) -> Reading:
    """A lower bound for (17)'s denominator with log-normal u, α = 1/100 and z = 1."""
    value = lower_bound(20.0, 0.01).exp()
    return Reading({"k": float64(20.0), "x": float64(0.01)}, {"quadrature": value}, 1.0)


confirms(TORCH, "deciphering.thm2", "inference.thm2", "inference.sC.assumptions", on=mem_problems(),
         corrected=second_of_estimate, count=COUNT)(divergent)


@confirms(TORCH, "inference.cor1", on=mem_problems(), corrected=second_of_estimate, count=COUNT)
def estimate_with_root(problem: MemProblem) -> Reading:
    found = estimate(problem)
    return Reading({**found.point, "tau": problem.alpha**-2}, found.routes, found.tolerance)


def with_scale(problem: MemProblem, tau: Tensor) -> Reading:
    value = mem.closed_form(problem.templates, problem.evidence, problem.prior, float(tau) ** -0.5)
    return Reading(problem.point() | {"tau": tau.cpu()}, {"closed_form": value}, problem.tolerance(spread(problem) ** 2))


@confirms(TORCH, "inference.21", on=mem_problems())
def divided_by_root(problem: MemProblem) -> Reading:
    return with_scale(problem, 1 + problem["s"])


@confirms(TORCH, "deciphering.s6.discrete", "inference.s6.discrete", on=mem_problems(smallest_n=2))
def generalized_attention(problem: MemProblem) -> Reading:
    query, keys = problem.evidence[None, None], problem.templates[None]
    attention = torch.nn.functional.scaled_dot_product_attention(
        query, keys, keys, attn_mask=problem.prior.log()[None, None], scale=problem.alpha)[0, 0]
    by_moments, _ = mem.moments(problem.templates, mem.tilt(problem.alpha * problem.evidence, problem.templates, problem.prior))
    closed = mem.closed_form(problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, spread(problem) ** 2, closed_form=closed, moments=by_moments, attention=attention)


@confirms(TORCH, "deciphering.s6.uniform", on=mem_problems())
def dot_product_attention(problem: MemProblem) -> Reading:
    closed = mem.closed_form(problem.templates, problem.evidence, None, problem.alpha)
    query, keys = problem.evidence[None, None], problem.templates[None]
    attention = torch.nn.functional.scaled_dot_product_attention(query, keys, keys, scale=problem.alpha)[0, 0]
    return reading(problem, spread(problem) ** 2, closed_form=closed, attention=attention)
