"""Votes on: Section 2: the theorem and its lemma, with the printed proof line by line."""

import math

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence import Layer, Reading, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.instances.derivatives import gradient
from evidence.transport.conic_plans import CONIC_WIDTH, PlanProblem, conic_problems
from evidence.transport.theorem import slopes, solution, weights
from numerics import one_sided


@confirms(Layer.TORCH, "transport.thm1", on=attention_problems())
def theorem(x: AttentionProblem) -> Reading:
    return x.reading(extra=None, shipped=weights(x, x.eps), **solution(x.scaled, x.eps))


@confirms(Layer.TORCH, "transport.lem1", "transport.s2.row-softmax", on=attention_problems())
def lemma(x: AttentionProblem) -> Reading:
    slope = gradient(lambda s: x.eps * (s / x.eps).logsumexp(-1).sum(), x["S"])
    return x.reading(extra=None, conjugate=slope, **solution(x["S"], x.eps))


@confirms(Layer.TORCH, "transport.s2.attention", on=attention_problems(), count=20)
def output(x: AttentionProblem) -> Reading:
    total = x.scaled.exp().sum(-1, keepdim=True)
    return x.reading(total, shipped=(scaled_dot_product_attention(x["Q"], x["K"], x["V"]) * total).T)


@confirms(Layer.TORCH, "transport.s2.scores", on=attention_problems())
def slope_of_score(x: AttentionProblem) -> Reading:
    return x.reading(autograd=slopes(x))


def lagrangian(plan: Tensor, x: AttentionProblem) -> Tensor:
    """J(W) + Σ_i λ_i (Σ_j W_ij − 1)."""
    return one_sided.objective(plan, x["S"], x.eps).sum() + (x["lam"] * (plan.sum(-1) - 1)).sum()


@confirms(Layer.TORCH, "transport.s2.lagrangian", on=attention_problems())
def value_of_lagrangian(x: AttentionProblem) -> Reading:
    return x.reading((x["W"] * x["S"]).sum(), x["W"].sum(), closed_form=lagrangian(x["W"], x))


@confirms(Layer.TORCH, "transport.s2.stationary", "transport.s2.solved", on=attention_problems())
def slope_of_lagrangian(x: AttentionProblem) -> Reading:
    return x.reading(x["S"], x["lam"], autograd=gradient(lambda plan: lagrangian(plan, x), x["W"]))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "transport.thm1", on=conic_problems())
def conic_theorem(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.raw / math.sqrt(CONIC_WIDTH), drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, error)


@confirms(Layer.PRIMAL, "transport.lem1", "transport.s2.row-softmax", on=conic_problems())
def conic_lemma(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, error)
