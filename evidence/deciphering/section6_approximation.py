"""Votes on: Section 6: the approximations (15)–(18), each with its order and its constant, and where "=" is true."""

import torch

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.conic_dual import conic_estimate, conic_maximizer, conic_second_of_estimate, conic_second_order
from evidence.deciphering.dual import reading, spread
from evidence.deciphering.expansion_approximations import (
    approximate_estimate,
    divergent,
    maximizer,
    second_of_estimate,
    second_order,
    third_order,
)
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@confirms(Layer.TORCH, "deciphering.s6.invertible", on=mem_problems())
def quadratic_form(problem: MemProblem) -> Reading:
    y = problem["c"]
    _, covariance = mem.moments(problem.templates, problem.prior)
    value = y @ (y + problem.alpha * covariance @ y)
    return Reading(problem.point() | {"y": y.cpu()}, {"moments": value}, problem.tolerance(value, spread(problem) ** 2))


@confirms(Layer.TORCH, "deciphering.fn7", on=mem_problems())
def unit_covariance(problem: MemProblem) -> Reading:
    z, d = problem.evidence, problem.d
    corners = torch.cat([torch.eye(d, dtype=z.dtype), -torch.eye(d, dtype=z.dtype)]).to(z.device) * d**0.5
    matrix = (1 + problem.alpha) * torch.eye(d, dtype=z.dtype, device=z.device)
    return reading(
        problem, resolvent=mem.resolvent(corners, z, None, problem.alpha), solve=torch.linalg.solve(matrix, problem.alpha * z)
    )


@confirms(Layer.TORCH, "deciphering.s6.discrete", on=mem_problems(smallest_n=2))
def generalized_attention(problem: MemProblem) -> Reading:
    query, keys = problem.evidence[None, None], problem.templates[None]
    attention = torch.nn.functional.scaled_dot_product_attention(
        query, keys, keys, attn_mask=problem.prior.log()[None, None], scale=problem.alpha
    )[0, 0]
    by_moments, _ = mem.moments(problem.templates, mem.tilt(problem.alpha * problem.evidence, problem.templates, problem.prior))
    closed = mem.closed_form(problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, spread(problem) ** 2, closed_form=closed, moments=by_moments, attention=attention)


VOTES = [
    Sampled("deciphering.15", Layer.TORCH, maximizer, on=mem_problems(), count=16, corrected=third_order),
    Sampled("deciphering.16", Layer.TORCH, maximizer, on=mem_problems(), count=16, corrected=second_order),
    Sampled(
        ("deciphering.17", "deciphering.18"),
        Layer.TORCH,
        approximate_estimate,
        on=mem_problems(),
        count=16,
        corrected=second_of_estimate,
    ),
    Sampled("deciphering.thm2", Layer.TORCH, divergent, on=mem_problems(), count=16, corrected=second_of_estimate),
    Sampled("deciphering.16", Layer.PRIMAL, conic_maximizer, on=mem_problems(), count=12, corrected=conic_second_order),
    Sampled(
        ("deciphering.17", "deciphering.18"),
        Layer.PRIMAL,
        conic_estimate,
        on=mem_problems(),
        count=8,
        corrected=conic_second_of_estimate,
    ),
]
