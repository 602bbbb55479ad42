"""Votes on: Section 1: the transport problem, the entropic one, and Sinkhorn's iteration."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.transport.conic_plans import PlanProblem, conic_problems, dual, half_steps
from evidence.transport.sinkhorn import Iterates, entropy, iterates
from numerics import tolerances
from numerics.primal.arguments import Array
from numerics.transport import sinkhorn


def independent(x: AttentionProblem) -> Tensor:
    """The plan for costs that are all zero: a bᵀ."""
    return sinkhorn(torch.zeros_like(x["C"]), x["a"], x["b"], x.eps).plan


def best(x: AttentionProblem) -> Tensor:
    """The optimal coupling of a and b."""
    return sinkhorn(x["C"], x["a"], x["b"], x.eps).plan


@confirms(Layer.TORCH, "transport.s1.kantorovich", on=attention_problems())
def mixed_cost(x: AttentionProblem) -> Reading:
    odds, plan, rival = float(x["W"][0, 0]), best(x), independent(x)
    mixture = (odds * plan + rival) / (1 + odds)
    return x.reading(x["C"].abs().sum(), extra={"odds": odds, "P": plan, "R": rival}, direct=(mixture * x["C"]).sum())


@confirms(Layer.TORCH, "transport.s1.entropic", on=attention_problems())
def objective_of_independent(x: AttentionProblem) -> Reading:
    plan = independent(x)
    return x.reading(x["C"].abs().sum(), direct=(plan * x["C"]).sum() - x.eps * entropy(plan))


@confirms(Layer.TORCH, "transport.s1.kl", on=attention_problems())
def divergence_from_independent(x: AttentionProblem) -> Reading:
    solved = sinkhorn(x["C"], x["a"], x["b"], x.eps)
    logs = (solved.plan / (x["a"][:, None] * x["b"])).log()
    value = (solved.value - (solved.plan * x["C"]).sum()) / x.eps
    return x.reading(x["C"].abs().max() / x.eps, logs, extra={"P": solved.plan}, direct=(solved.plan * logs).sum(), value=value)


@confirms(Layer.TORCH, "transport.s1.sinkhorn", on=iterates(2.0))
def left_over(x: Iterates) -> Reading:
    value, direct = x.least
    after = x.dual(x.steps + 1)
    return x.reading(value=value - after, direct=direct - after)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def divergence(plan: Array, other: Array) -> float:
    """KL(P ‖ R) of two matrices of one mass."""
    positive = plan > 0
    return float((plan[positive] * np.log(plan[positive] / other[positive])).sum())


def steepest(plan: Array, other: Array) -> float:
    """By how much KL(P ‖ R) moves with P, at most, for each unit of ℓ1."""
    return float(1 + np.abs(np.log(plan[plan > 0] / other[plan > 0])).max())


@confirms(Layer.PRIMAL, "transport.s1.sinkhorn", on=conic_problems())
def conic_left_over(drawn: PlanProblem) -> Reading:
    values, best, error = half_steps(drawn, 2.0)
    f, g, cost = values["f"], values["g"], values["C"]
    after = f + drawn.epsilon * np.log(drawn.a / np.exp((f[:, None] + g - cost) / drawn.epsilon).sum(axis=1))
    left_over = best.objective - dual(drawn, after, g, cost)
    return Reading(drawn.point(**values), {"cvxpy": float64(left_over)}, error)


@confirms(Layer.PRIMAL, "transport.s1.kl", on=conic_problems())
def conic_divergence_from_independent(drawn: PlanProblem) -> Reading:
    best, product = drawn.coupled(drawn.cost, drawn.a, drawn.b), np.outer(drawn.a, drawn.b)
    error = 2 * steepest(best.plan, product) * (best.infeasibility + tolerances.rounding("float64", product.size))
    logs = 1 + float(np.abs(np.log(product)).max())
    return Reading(drawn.point(P=best.plan), {"cvxpy": float64(divergence(best.plan, product))}, error * logs)
