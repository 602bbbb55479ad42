"""The transport chapter's sections 0 and 2 in torch: the theorem, the lemma, the proof, the physical reading."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.nn.functional import scaled_dot_product_attention

from derivations.claims import Layer
from numerics import one_sided
from numerics.transport import one_sided_plan
from tests.layers import Reading, confirms
from tests.properties.eot_appendix import arriving_mass, batches
from tests.properties.eot_forward import entropy_slope, gradient
from tests.properties.rows import rows
from tests.properties.transport_problems import WIDTH, Problem, by_pot, problems

TORCH = Layer.TORCH
ROOT = WIDTH**0.5


def solution(scores: Tensor, epsilon: float) -> dict[str, Tensor]:
    """The plan with unit rows for these scores, by three routes."""
    mass = torch.ones_like(scores[:, 0])
    return {"closed_form": one_sided.plan(scores, epsilon), "pot": by_pot(scores, epsilon),
            "one_sided_plan": one_sided_plan(-scores, mass, temperature=epsilon)}


def weights(x: Problem, epsilon: float) -> Tensor:
    """Shipped attention with the identity for values."""
    return scaled_dot_product_attention(x["Q"], x["K"], torch.eye(x.m, dtype=torch.float64, device=x.device),
                                        scale=1 / (ROOT * epsilon))


@confirms(TORCH, "transport.s0.interpretation", on=problems())
def interpretation(x: Problem) -> Reading:
    return x.reading(**solution(x.eps * x["S"] / x.tau, x.eps))


@confirms(TORCH, "transport.thm1", "transport.s7.optimization", on=problems())
def theorem(x: Problem) -> Reading:
    return x.reading(shipped=weights(x, x.eps), **solution(x.scaled, x.eps))


@confirms(TORCH, "transport.lem1", "transport.s2.row-softmax", on=problems())
def lemma(x: Problem) -> Reading:
    slope = gradient(lambda s: x.eps * (s / x.eps).logsumexp(-1).sum(), x["S"])
    return x.reading(conjugate=slope, **solution(x["S"], x.eps))


@confirms(TORCH, "transport.s2.attention", on=problems(), count=20)
def output(x: Problem) -> Reading:
    total = x.scaled.exp().sum(-1, keepdim=True)
    return x.reading(total, shipped=(scaled_dot_product_attention(x["Q"], x["K"], x["V"]) * total).T)


def slopes(x: Problem) -> Tensor:
    """∂S_ij/∂Q_ir."""
    keys = x["K"]
    return torch.einsum("ijir->ijr", jacobian(lambda query: one_sided.scores_from(query, keys) / ROOT, x["Q"]))


@confirms(TORCH, "transport.s2.scores", on=problems())
def slope_of_score(x: Problem) -> Reading:
    return x.reading(autograd=slopes(x))


@confirms(TORCH, "transport.s2.cost", on=problems())
def slope_of_cost(x: Problem) -> Reading:
    return x.reading(autograd=-slopes(x))


confirms(TORCH, "transport.s2.constraint", on=batches())(arriving_mass)
confirms(TORCH, "transport.s2.entropy-spreads", on=rows())(entropy_slope)


@confirms(TORCH, "transport.s2.particles", on=problems())
def total_mass(x: Problem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(float(x.n), given={"P": plan}, closed_form=plan.sum())


def lagrangian(plan: Tensor, x: Problem) -> Tensor:
    """J(W) + Σ_i λ_i (Σ_j W_ij − 1)."""
    return one_sided.objective(plan, x["S"], x.eps).sum() + (x["lam"] * (plan.sum(-1) - 1)).sum()


@confirms(TORCH, "transport.s2.lagrangian", on=problems())
def value_of_lagrangian(x: Problem) -> Reading:
    return x.reading((x["W"] * x["S"]).sum(), x["W"].sum(), closed_form=lagrangian(x["W"], x))


@confirms(TORCH, "transport.s2.stationary", "transport.s2.solved", on=problems())
def slope_of_lagrangian(x: Problem) -> Reading:
    return x.reading(x["S"], x["lam"], autograd=gradient(lambda plan: lagrangian(plan, x), x["W"]))


def against_uniform(x: Problem) -> Reading:
    plan = x["R"]
    value = one_sided.objective(plan, x["S"], x.eps).sum()
    return x.reading(x["S"].sum(), float(x.n), given={"P": plan}, closed_form=value)


@confirms(TORCH, "transport.s2.uniform-target", on=problems(), corrected=against_uniform)
def arriving(x: Problem) -> Reading:
    return x.reading(float(x.n), closed_form=one_sided.plan(x["S"], x.eps).sum(0))
