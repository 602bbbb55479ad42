"""Votes on: Section 6 of the earlier version: the dual, the approximations, Theorem 2 and Corollary 1."""

import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.conic_dual import conic_estimate, conic_second_of_estimate
from evidence.deciphering.dual import reading, spread
from evidence.deciphering.expansion import log_normal, third_coefficient
from evidence.deciphering.expansion_approximations import approximate_estimate, divergent, second_of_estimate
from evidence.deciphering.problem import more, shares
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


def own_tilt(problem: MemProblem) -> Reading:
    return reading(
        problem,
        closed_form=mem.tilt(problem.dual, problem.templates, problem.prior),
        softmax=torch.softmax(problem.templates @ problem.dual + problem.prior.log(), -1),
    )


@confirms(Layer.TORCH, "inference.s6.superscript", on=mem_problems(smallest_n=2), corrected=own_tilt)
def tilt_of_another(problem: MemProblem) -> Reading:
    """The tilt of u, where v is the preference of another output."""
    other = shares(more(problem, v=(problem.n,))["v"])
    return Reading(problem.point() | {"v": other}, own_tilt(problem).routes, problem.tolerance(1 / other.min()))


@confirms(Layer.TORCH, "inference.cor1", on=mem_problems(), corrected=second_of_estimate, count=16)
def estimate_with_root(problem: MemProblem) -> Reading:
    base = approximate_estimate(problem)
    return Reading({**base.point, "tau": problem.alpha**-2}, base.routes, base.tolerance)


def with_scale(problem: MemProblem, tau: Tensor) -> Reading:
    value = mem.closed_form(problem.templates, problem.evidence, problem.prior, float(tau) ** -0.5)
    return Reading(problem.point() | {"tau": tau.cpu()}, {"closed_form": value}, problem.tolerance(spread(problem) ** 2))


@confirms(Layer.TORCH, "inference.21", on=mem_problems())
def divided_by_root(problem: MemProblem) -> Reading:
    return with_scale(problem, 1 + problem["s"])


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "inference.cor1", on=mem_problems(), count=12, corrected=conic_second_of_estimate)
def conic_estimate_with_root(problem: MemProblem) -> Reading:
    base = conic_estimate(problem)
    return Reading({**base.point, "tau": problem.alpha**-2}, base.routes, base.tolerance)


VOTES = [
    Sampled("inference.15", Layer.TORCH, log_normal, on=mem_problems(), count=24, corrected=third_coefficient),
    Sampled("inference.thm2", Layer.TORCH, divergent, on=mem_problems(), count=16, corrected=second_of_estimate),
]
