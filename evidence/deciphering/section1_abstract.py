"""Votes on: Abstract and section 1: what the document announces."""

import torch

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.attention_mem import drawn, output_of_layer
from evidence.deciphering.conic_attention import exact_mean
from evidence.deciphering.conic_dual import conic_second_of_estimate
from evidence.deciphering.expansion_approximations import second_of_estimate
from evidence.instances import fifty_digits
from evidence.instances.mem import MemProblem, mem_problems, rounded
from numerics import mem


@confirms(Layer.TORCH, "deciphering.s0.convex", on=mem_problems(smallest_n=2))
def above_its_tangents(problem: MemProblem) -> Reading:
    """At a point of contact too, for one seed in three."""
    free = drawn(problem, p=(problem.n,), v=(problem.n,))
    p, v = (torch.softmax(2 * free[name], -1) for name in ("p", "v"))
    p = v if problem.seed % 3 == 0 else p
    value = mem.primal_objective(p.to(problem.device), problem.templates, problem.evidence, problem.prior, problem.alpha)
    point = problem.point() | {"p": p, "v": v}
    return Reading(point, {"objective": value}, problem.tolerance(value, problem.templates.square(), v.log()))


@confirms(Layer.TORCH, "deciphering.s0.closed-form", on=mem_problems(smallest_n=2), count=12)
def first_order(problem: MemProblem) -> Reading:
    law, z = problem.law, problem.drawn["z"].tolist()
    leading = fifty_digits.leading(
        lambda x: [h - m for h, m in zip(fifty_digits.maximize(law, z, x).estimate, law.mean(), strict=True)], 1, problem.small
    )
    values = rounded(leading.values)
    return Reading(problem.point(), {"50 digits": values}, float(leading.error) + problem.tolerance(values))


VOTES = [
    Sampled(
        "deciphering.s1.solver",
        Layer.TORCH,
        output_of_layer,
        on=mem_problems(smallest_n=2),
        count=16,
        corrected=second_of_estimate,
    ),
    Sampled(
        "deciphering.s1.solver",
        Layer.PRIMAL,
        exact_mean,
        on=mem_problems(smallest_n=2),
        count=8,
        corrected=conic_second_of_estimate,
    ),
]
