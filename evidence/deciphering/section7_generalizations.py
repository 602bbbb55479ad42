"""Votes on: Section 7: continuous preferences, and the support of the solution."""

from evidence import Layer, Reading, confirms, float64
from evidence.deciphering.attention import Both, both
from evidence.deciphering.conic_attention import drawn, solved
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem
from numerics.attention import attention_weights


@confirms(Layer.TORCH, "deciphering.s7.context-dependent", on=both, count=12)
def by_content(drawn: Both) -> Reading:
    head = drawn.head
    layer = attention_weights(head["T"], head["z"][None], drawn.raw.log(), drawn.alpha)[0]
    return drawn.reading(attention=layer)


@confirms(Layer.TORCH, "deciphering.s7.shared-support", on=mem_problems())
def support(problem: MemProblem) -> Reading:
    weights = mem.tilt(problem.dual, problem.templates, problem.prior)
    return Reading(problem.point(), {"tilt": weights}, problem.tolerance(weights))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.s7.shared-support", on=mem_problems(), count=12)
def conic_support(problem: MemProblem) -> Reading:
    estimate, _, error = solved(drawn(problem), problem.alpha)
    reach = problem.alpha * float(problem.drawn["T"].norm(dim=1).max())  # of weights, per unit of evidence
    allowed = estimate.plan_error + reach * error + problem.tolerance()
    return Reading(problem.point(), {"cvxpy": float64(estimate.plan)}, allowed)
