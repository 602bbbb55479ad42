"""Votes on: Section 9: the problem with entropic transport, and the weights that solve it."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.conic_transport import CONIC_ANY, array, certified, preferred, problems, shares
from evidence.deciphering.transport import FEW, coefficient, reading, second_order_of_weights, true_mean, value
from evidence.deciphering.transport_sharing import ANY
from evidence.instances.ot import OtProblem, ot_problems
from numerics import ot_attention as ot
from numerics.primal import optimal_transport as transport


@confirms(Layer.TORCH, "deciphering.24", on=ANY)
def objective_without_evidence(x: OtProblem) -> Reading:
    at_zero = ot.solve(x["T"], torch.zeros_like(x["z"]), x["u"], x["M"], x.alpha, x.gamma)
    plan = ot.coupling(x["T"] @ at_zero.dual, x["u"], x["M"], x.gamma)
    left = x.alpha / 2 * (true_mean(x) - at_zero.mean).square().sum() + value(x, plan)
    return reading(x, x["M"], extra={"R": x["Q"]}, at_the_solution=left)


@confirms(Layer.TORCH, "deciphering.s9.rewritten", on=ot_problems(costs=("distances", "symmetric")))
def with_product_cost(x: OtProblem) -> Reading:
    """⟨M, X⟩ − γ H(X) at X = p uᵀ for the cost −γ log u(t) − γ log u(t')."""
    p, prior = x["R"][0], torch.softmax(x["g"], -1)
    logs, plan = prior.log(), p[:, None] * prior
    value = -x.gamma * ((logs[:, None] + logs) * plan).sum() + x.gamma * torch.xlogy(plan, plan).sum()
    return reading(x, x.gamma * logs, extra={"p": p, "v": prior, "P": plan}, at_the_product=value)


@confirms(Layer.TORCH, "deciphering.s9.ot-attention", on=ANY)
def mean_of_attention(x: OtProblem) -> Reading:
    weights = ot.weights(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)
    attended = ot.attend(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, (x["T"] ** 2) * (1 + x.alpha * x["z"].abs().max()) / x.gamma, weights=weights @ x["T"], attended=attended)


@confirms(Layer.TORCH, "deciphering.s9.ot-first-order", on=ANY, count=16)
def first_order_of_mean(x: OtProblem) -> Reading:
    def attended(strength: Tensor) -> Tensor:
        return ot.transported(strength * (x["T"] @ x["z"]), x["u"], x["M"], x.gamma) @ x["T"]

    def entry(a: int) -> Callable[[Tensor], Tensor]:
        return lambda strength: attended(strength)[a]

    slopes = torch.stack([coefficient(entry(a), 1) for a in range(x.d)])
    return reading(x, (x["T"] ** 2).sum() * x["z"] / x.gamma, autograd=slopes)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.s9.rewritten", on=problems(("distances", "symmetric"), gammas=(1.0, 0.5)), count=16)
def conic_with_product_cost(x: OtProblem) -> Reading:
    """W_γ for the cost −γ log u(t) − γ log u(t')."""
    p, prior = array(x, "R")[0], array(x, "R")[-1]
    logs = np.log(prior)
    cost = -x.gamma * (logs[:, None] + logs)
    solved = certified(transport.solve_coupling(p, prior, cost, x.gamma))
    point = x.point(p=float64(p), v=float64(prior), P=float64(solved.plan))
    return Reading(point, {"cvxpy": float64(solved.objective)}, solved.value_error + x.tolerance(cost.max()))


@confirms(Layer.PRIMAL, "deciphering.24", on=CONIC_ANY, count=16)
def least_objective_without_evidence(x: OtProblem) -> Reading:
    centre = preferred(x)
    solved = transport.solve(array(x, "T"), array(x, "u"), 0 * array(x, "z"), array(x, "M"), x.alpha, x.gamma)
    certified(solved)
    error = float(np.abs(array(x, "T")).max()) * centre.plan_error
    return Reading(
        x.point(R=float64(shares(x, solved.plan))),
        {"cvxpy": float64(solved.objective)},
        solved.value_error + centre.value_error + x.alpha * x.d * error**2 + x.tolerance(solved.objective),
    )


VOTES = [Sampled("deciphering.25", Layer.TORCH, second_order_of_weights, on=FEW, count=10, corrected=second_order_of_weights)]
