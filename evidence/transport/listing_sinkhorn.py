"""Votes on: The listing `sinkhorn`."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.conic_couplings import CouplingProblem, entropic, problems
from evidence.transport import listings as models
from evidence.transport.listing import ANY, SEVERAL, Tokens, balanced
from numerics import tolerances, transport

ROUNDS = 10  # of the listing


def converged_rows(x: Tokens) -> Reading:
    solution = balanced(x)
    scaling = x["b"] * (solution.column_potential / x.epsilon).exp()
    return x.reading(x.point("C", "a", v=scaling), 1e3, solver=solution.plan.sum(-1))


@confirms(Layer.TORCH, "transport.listing.sinkhorn", on=SEVERAL, corrected=converged_rows)
def rows_of_ten_rounds(x: Tokens) -> Reading:
    plan = models.sinkhorn(x["a"], x["b"], x["C"], 0.1 * x.epsilon)
    return x.reading(x.point("C", "a", eps=0.1 * x.epsilon, T=ROUNDS), listing=plan.sum(-1))


@confirms(Layer.TORCH, "transport.listing.sinkhorn.optimal", on=ANY)
def value_of_what_is_returned(x: Tokens) -> Reading:
    left, right = models.scalings(x["a"], x["b"], x["C"], x.epsilon, guard=0.0)
    plan = models.sinkhorn(x["a"], x["b"], x["C"], x.epsilon, guard=0.0)
    value = (plan * x["C"]).sum() + x.epsilon * torch.xlogy(plan, plan).sum()
    return x.reading(x.point("C", a=plan.sum(-1), b=plan.sum(-2), R=plan, u=left, v=right), x["C"], listing=value)


def returned_plan(x: Tokens, guard: float, cost: Tensor) -> Tensor:
    """The plan after one round from v."""
    left, right = models.scalings(x["a"], x["b"], cost, x.epsilon, 1, guard, x["v"])
    return left[:, None] * models.kernel(cost, x.epsilon) * right


def columns_without_guard(x: Tokens) -> Reading:
    plan = returned_plan(x, 0.0, x["C"])
    return x.reading(x.point("C", "a", "b", "v"), model=plan.sum(0), solver=balanced(x).plan.sum(0))


@confirms(Layer.TORCH, "transport.listing.sinkhorn.columns", on=ANY, corrected=columns_without_guard)
def columns_with_guard(x: Tokens) -> Reading:
    cost, epsilon = x["C"] + 2, 0.1 * x.epsilon
    plan = models.sinkhorn(x["a"], x["b"], cost, epsilon)
    previous = models.scalings(x["a"], x["b"], cost, epsilon, ROUNDS - 1)[1]
    return x.reading(x.point("a", "b", C=cost, eps=epsilon, v=previous), listing=plan.sum(0))


def shifted_without_guard(x: Tokens) -> Reading:
    return x.reading(x.point("C", "a", "b", "v", "t"), 1e2, model=returned_plan(x, 0.0, x["C"] + x["t"]))


@confirms(Layer.TORCH, "transport.listing.sinkhorn.shift", on=ANY, corrected=shifted_without_guard)
def shifted_with_guard(x: Tokens) -> Reading:
    shift = 12.0 * x.epsilon
    return x.reading(x.point("C", "a", "b", "v", t=shift), 1e-3, listing=returned_plan(x, models.GUARD, x["C"] + shift))


def log_domain_plan(x: Tokens) -> Reading:
    """Costs that overflow the kernel in float32, to the solver."""
    cost = (x["C"] - 100 * x.epsilon).float()
    solution = transport.sinkhorn(cost, x["a"].float(), x["b"].float(), x.epsilon)
    logarithm = x["a"].log() + solution.row_potential.double() / x.epsilon
    exponent = float(torch.cat([logarithm, cost.double().flatten() / x.epsilon]).abs().max())
    return Reading(
        x.point("b", C=cost.double(), phi=logarithm),
        {"solver": solution.plan.double()},
        tolerances.marginals("float32", x.n + x.m, exponent),
        "right",
    )


@confirms(Layer.TORCH, "transport.listing.sinkhorn.overflow", on=ANY, corrected=log_domain_plan)
def kernel_in_float32(x: Tokens) -> Reading:
    """The listing returns inf in float32; the intended value is computed in float64."""
    cost = x["C"] - 100 * x.epsilon
    assert bool(models.kernel(cost.float(), x.epsilon).isinf().all())
    exact = models.kernel(cost, x.epsilon)
    return Reading(x.point(C=cost), {"listing": exact}, tolerances.rounding("float64", 1, 200 * float(exact.max())), "right")


def numbers_held(x: Tokens) -> Reading:
    plan = models.sinkhorn(x["a"], x["b"], x["C"], x.epsilon)
    assert plan.shape == x["C"].shape
    return Reading(x.point(), {"listing": float64(plan.numel())}, tolerances.rounding("float64", 1))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "transport.listing.sinkhorn.optimal", on=problems())
def optimal_value(drawn: CouplingProblem) -> Reading:
    """The least value of ⟨R, C⟩ − ε H(R), against the bound that scalings give after many rounds."""
    solution = entropic(drawn, drawn.cost)
    kernel, target = np.exp(-drawn.cost / drawn.epsilon), np.ones(drawn.m)
    for _ in range(500):
        source = drawn.a / (kernel @ target)
        target = drawn.b / (kernel.T @ source)
    point = drawn.point() | {"R": float64(solution.plan), "u": float64(source), "v": float64(target)}
    scale = 1 + float(np.abs(drawn.cost).max()) + drawn.epsilon * np.log(drawn.n * drawn.m)
    steepest = float(np.abs(np.log(solution.plan.clip(1e-300))).max()) * drawn.epsilon + scale
    deviation = (
        max(solution.gap, 0.0)
        + steepest * solution.infeasibility
        + tolerances.rounding("float64", drawn.n * drawn.m, 10 * scale)
    )
    return Reading(point, {"cvxpy": float64(solution.objective)}, deviation)


VOTES = [Sampled("transport.listing.sinkhorn.shapes", Layer.TORCH, numbers_held, on=ANY, corrected=numbers_held)]
