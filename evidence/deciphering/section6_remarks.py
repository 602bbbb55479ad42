"""Votes on: Section 6: where (18) is exact, and what the text says about small α and uniform u."""

import numpy as np
import torch

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.conic_dual import conic_reading, conic_solved, extrapolated, moments, numbers, size
from evidence.deciphering.dual import evidence_for, reading, spread
from evidence.deciphering.expansion_approximations import difference, measured
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@confirms(Layer.TORCH, "deciphering.s6.exact", on=mem_problems())
def monotone(problem: MemProblem) -> Reading:
    y = problem["c"]
    ends = [mem.moments(problem.templates, mem.tilt(x, problem.templates, problem.prior))[0] for x in (problem.dual, y)]
    value = (problem.dual - y) @ (ends[0] - ends[1])
    return Reading(problem.point() | {"y": y.cpu()}, {"moments": value}, problem.tolerance(value, spread(problem) ** 2))


@confirms(Layer.TORCH, "deciphering.s6.small-dual", on=mem_problems())
def squared_evidence(problem: MemProblem) -> Reading:
    value = problem.alpha**2 * evidence_for(problem).square().sum()
    return reading(problem, spread(problem) ** 2, softmax=value)


def first_of_estimate(problem: MemProblem) -> Reading:
    mean = problem.law.mean()
    return measured(problem, 1, lambda alpha, maximizer: difference(maximizer.estimate, mean))


@confirms(Layer.TORCH, "deciphering.s6.uniform", on=mem_problems())
def dot_product_attention(problem: MemProblem) -> Reading:
    closed = mem.closed_form(problem.templates, problem.evidence, None, problem.alpha)
    query, keys = problem.evidence[None, None], problem.templates[None]
    attention = torch.nn.functional.scaled_dot_product_attention(query, keys, keys, scale=problem.alpha)[0, 0]
    return reading(problem, spread(problem) ** 2, closed_form=closed, attention=attention)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.s6.small-dual", on=mem_problems(), count=12)
def conic_squared_evidence(problem: MemProblem) -> Reading:
    x = numbers(problem)
    solution = conic_solved(problem, x["z"])
    residual = problem.prior.numpy() @ x["T"] + x["z"] - solution.mean
    value = problem.alpha**2 * float(x["z"] @ x["z"])
    error = 4 * problem.alpha * (1 + problem.alpha) * solution.mean_error * (size(problem) + float(np.abs(x["z"]).sum()))
    base = conic_reading(problem, value, error, value)
    return Reading({**base.point, "lam": float64(problem.alpha * residual)}, base.routes, base.tolerance)


@confirms(Layer.PRIMAL, "deciphering.s6.close-to-mean", on=mem_problems(), count=12)
def conic_first_of_estimate(problem: MemProblem) -> Reading:
    center, _ = moments(problem)
    return extrapolated(problem, 1, lambda alpha, solution: (solution.mean - center, solution.mean_error))


VOTES = [Sampled("deciphering.s6.close-to-mean", Layer.TORCH, first_of_estimate, on=mem_problems(), count=16)]
