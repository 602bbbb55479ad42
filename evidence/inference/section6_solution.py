"""Votes on: Section 6 of the earlier version: the dual, the approximations, Theorem 2 and Corollary 1."""

from __future__ import annotations

import torch
from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.deciphering.conic_dual import (
    conic_estimate,
    conic_maximizer,
    conic_minimizer,
    conic_second_of_estimate,
    conic_second_order,
)
from evidence.deciphering.dual import estimate, minimizer, reading, spread
from evidence.deciphering.expansion import homogeneous, log_normal, second_coefficient, third_coefficient
from evidence.deciphering.expansion_approximations import (
    approximate_estimate,
    divergent,
    maximizer,
    second_of_estimate,
    second_order,
    third_order,
)
from evidence.deciphering.problem import more, shares
from evidence.deciphering.section6_approximation import generalized_attention
from evidence.deciphering.section6_expansion import remainder_at_the_maximizer, slope_of_the_model
from evidence.deciphering.section6_remarks import conic_squared_evidence, squared_evidence
from evidence.deciphering.section6_theorem1 import beaten, conic_beaten, conic_least_value, least_value
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem

confirms(Layer.TORCH, "inference.12", on=mem_problems())(least_value)


confirms(Layer.TORCH, "inference.thm1", "inference.13", on=mem_problems(), corrected=minimizer)(beaten)


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


confirms(Layer.TORCH, "inference.14", on=mem_problems(), corrected=estimate)(beaten)


confirms(Layer.TORCH, "inference.s6.small-dual", on=mem_problems())(squared_evidence)


confirms(Layer.TORCH, "inference.s6.mgf", on=mem_problems())(second_coefficient)


confirms(Layer.TORCH, "inference.s6.cumulant", on=mem_problems(), corrected=third_coefficient, count=24)(homogeneous)


confirms(Layer.TORCH, "inference.15", on=mem_problems(), corrected=third_coefficient, count=24)(log_normal)


confirms(Layer.TORCH, "inference.16", on=mem_problems(), count=16)(remainder_at_the_maximizer)


confirms(Layer.TORCH, "inference.s6.quadratic-model", on=mem_problems())(slope_of_the_model)


confirms(Layer.TORCH, "inference.17", on=mem_problems(), corrected=third_order, count=16)(maximizer)


confirms(Layer.TORCH, "inference.18", on=mem_problems(), corrected=second_order, count=16)(maximizer)


confirms(Layer.TORCH, "inference.19", "inference.20", on=mem_problems(), corrected=second_of_estimate, count=16)(
    approximate_estimate
)


confirms(Layer.TORCH, "inference.thm2", on=mem_problems(), corrected=second_of_estimate, count=16)(divergent)


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


confirms(Layer.TORCH, "inference.s6.discrete", on=mem_problems(smallest_n=2))(generalized_attention)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "inference.12", on=mem_problems(), count=12)(conic_least_value)


confirms(Layer.PRIMAL, "inference.thm1", "inference.13", on=mem_problems(), count=12, corrected=conic_minimizer)(conic_beaten)


confirms(Layer.PRIMAL, "inference.14", on=mem_problems(), count=12, corrected=conic_estimate)(conic_beaten)


confirms(Layer.PRIMAL, "inference.s6.small-dual", on=mem_problems(), count=12)(conic_squared_evidence)


confirms(Layer.PRIMAL, "inference.18", on=mem_problems(), count=12, corrected=conic_second_order)(conic_maximizer)


confirms(Layer.PRIMAL, "inference.19", "inference.20", on=mem_problems(), count=8, corrected=conic_second_of_estimate)(
    conic_estimate
)


@confirms(Layer.PRIMAL, "inference.cor1", on=mem_problems(), count=12, corrected=conic_second_of_estimate)
def conic_estimate_with_root(problem: MemProblem) -> Reading:
    base = conic_estimate(problem)
    return Reading({**base.point, "tau": problem.alpha**-2}, base.routes, base.tolerance)
