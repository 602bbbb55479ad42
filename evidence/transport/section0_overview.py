"""Votes on: The overview: attention matrices as solutions of transport problems."""

from evidence import Layer, Reading, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.transport.conic_plans import PlanProblem, conic_problems
from evidence.transport.theorem import solution


@confirms(Layer.TORCH, "transport.s0.interpretation", on=attention_problems())
def interpretation(x: AttentionProblem) -> Reading:
    return x.reading(extra=None, **solution(x.eps * x["S"] / x.tau, x.eps))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "transport.s0.interpretation", on=conic_problems())
def conic_interpretation(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.epsilon**2 * drawn.scores, drawn.epsilon)  # ε S/τ with τ = 1/ε
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, error)
