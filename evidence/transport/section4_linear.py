"""Votes on: Section 4, linear attention: its formula, its cost, its kernel, and which transport problem it solves."""

import numpy as np
import torch
from numpy.polynomial.hermite_e import hermegauss
from torch.utils.flop_counter import FlopCounterMode

from evidence import Layer, Reading, confirms, float64
from evidence.instances.attention import FEATURES, WIDTH, AttentionProblem, attention_problems
from evidence.transport.conic_plans import PlanProblem, conic_problems
from evidence.transport.variants import own_plan
from numerics import one_sided, tolerances
from numerics.linear import kernel_weights, linear_attention, positive_random_features


def grouped(x: AttentionProblem) -> Reading:
    f, g = (x["f"], x["g"]) if x.seed % 3 == 0 else (x["x"], x["y"])
    values, kernel = x["V"], f @ g.T
    mass = kernel.sum(-1).abs().min()
    size = (f.abs() @ g.abs().T).sum(-1).max()
    routes = {"linear_attention": linear_attention(f, g, values).T, "weights": (kernel_weights(f, g) @ values).T}
    return x.reading(values.abs().max() * size / mass * (1 + size / mass), extra={"x": f, "y": g}, **routes)


@confirms(Layer.TORCH, "transport.s4.linear-attention", on=attention_problems(), corrected=grouped)
def denominator(x: AttentionProblem) -> Reading:
    features = x["y"] - x["y"].mean(0) * (x.seed % 2)  # keys that cancel, for some
    return x.reading(features.abs().sum(), extra={"y": features}, kernel=(x["x"] @ features.T).sum(-1).abs())


@confirms(Layer.TORCH, "transport.s4.linear-complexity", on=attention_problems(), count=10)
def products(x: AttentionProblem) -> Reading:
    with FlopCounterMode(display=False) as counter:
        query, key = ((x[name] @ x["projections"].T).relu() for name in ("Q", "K"))
        linear_attention(query, key, x["V"])
    counted = counter.get_total_flops() / 2  # a product and a sum are two
    assert counted >= (x.n + x.m) * FEATURES * WIDTH
    return x.reading(counter=torch.tensor(counted, dtype=torch.float64))


NODES = 64


def mean_over_projections(x: AttentionProblem) -> Reading:
    """The mean over ω by Gauss and Hermite's rule, a grid of nodes whose weights put the features' 1/F right."""
    nodes, masses = (float64(part).to(x.device) for part in hermegauss(NODES))
    grid = torch.cartesian_prod(*[nodes] * WIDTH)
    mass = torch.cartesian_prod(*[masses / masses.sum()] * WIDTH).prod(-1)
    query, key = (positive_random_features(x[name], grid) for name in ("Q", "K"))
    mean = len(grid) * torch.einsum("ir,jr,r->ij", query, key, mass)
    reach = float((x["Q"][:, None] + x["K"]).abs().max()) * float(nodes.max()) * WIDTH
    error = tolerances.rounding("float64", len(grid), float(mean.max()) * (1 + reach))
    return Reading(x.point(), {"random features": mean}, error)


@confirms(Layer.TORCH, "transport.s4.kernel-approximation", on=attention_problems(), corrected=mean_over_projections)
def kernel_of_fixed_features(x: AttentionProblem) -> Reading:
    query, key = ((x[name] @ x["projections"].T).relu() for name in ("Q", "K"))
    return x.reading(query.sum() * key.sum(), extra={"W": x["projections"]}, relu=query @ key.T)


@confirms(Layer.TORCH, "transport.s4.kernel", on=attention_problems())
def quadratic_form(x: AttentionProblem) -> Reading:
    features, z = x["x"], x["z"]
    size = (features.abs().T @ z.abs()).square().sum()
    return x.reading(size, matrix=z @ (features @ features.T) @ z, norm=(features.T @ z).square().sum())


@confirms(Layer.TORCH, "transport.s4.transport-reading", on=attention_problems(), corrected=own_plan)
def split_mass(x: AttentionProblem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(closed_form=plan * (1 - plan))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def conic_own_plan(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.epsilon * np.log(drawn.kernel), drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, error)


@confirms(Layer.PRIMAL, "transport.s4.transport-reading", on=conic_problems(), corrected=conic_own_plan)
def conic_split_mass(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan * (1 - plan))}, error)
