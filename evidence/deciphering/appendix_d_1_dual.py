"""Votes on: Appendix D, first part: the problem with transport in it, its conjugate and its dual."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.conic_transport import (
    CONIC_ANY,
    CONIC_EVEN,
    array,
    certified,
    conic_mean_of_true_preference,
    preferred,
    shares,
)
from evidence.deciphering.transport import (
    ANY,
    EVEN,
    FEW_EVEN,
    dual,
    mean_of_true_preference,
    measured,
    reading,
    true_mean,
    value,
)
from evidence.instances.derivatives import gradient
from evidence.instances.ot import OtProblem
from numerics import ot_attention as ot
from numerics.primal import optimal_transport as transport


def exact(x: OtProblem) -> ot.Solution:
    """The certified solution of (24)."""
    return ot.solve(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)


@confirms(Layer.TORCH, "deciphering.34", on=ANY)
def objective_at_the_solution(x: OtProblem) -> Reading:
    solution, target = exact(x), true_mean(x) + x["z"]
    plan = ot.coupling(x["T"] @ solution.dual, x["u"], x["M"], x.gamma)
    left = x.alpha / 2 * (target - solution.mean).square().sum() + value(x, plan)
    shares = torch.where(x["u"] > 0, plan / x["u"], x["Q"].T).T
    return reading(x, target, extra={"lam": solution.dual, "z": target, "R": shares}, at_the_solution=left)


def conjugate(x: OtProblem) -> Reading:
    plan = ot.coupling(x["g"], x["u"], x["M"], x.gamma)
    return reading(
        x,
        x["g"],
        x["M"],
        closed_form=ot.conjugate(x["g"], x["u"], x["M"], x.gamma),
        attained=plan.sum(-1) @ x["g"] - value(x, plan),
    )


@confirms(Layer.TORCH, "deciphering.36", on=ANY, corrected=conjugate)
def conjugate_for_symmetric_costs(x: OtProblem) -> Reading:
    return conjugate(x.with_costs("symmetric"))


@confirms(Layer.TORCH, "deciphering.37", on=EVEN)
def gradient_of_conjugate(x: OtProblem) -> Reading:
    by_autograd = gradient(lambda g: ot.conjugate(g, x["u"], x["M"], x.gamma), x["g"])
    return reading(x, closed_form=ot.transported(x["g"], x["u"], x["M"], x.gamma), autograd=by_autograd)


@confirms(Layer.TORCH, "deciphering.38", on=EVEN)
def solution(x: OtProblem) -> Reading:
    optimum = exact(x)
    return reading(x, optimum.dual, extra={"lam": optimum.dual}, newton=optimum.weights)


@confirms(Layer.TORCH, "deciphering.39", on=EVEN)
def largest_dual(x: OtProblem) -> Reading:
    """Against another dual point, which is the maximizer itself for one seed in three."""
    optimum, target = exact(x), true_mean(x) + x["z"]
    extra = {"lam": optimum.dual, **({"nu": optimum.dual} if x.seed % 3 == 0 else {})}
    return reading(x, target, optimum.dual, extra=extra, newton=dual(x, optimum.dual, target))


@confirms(Layer.TORCH, "deciphering.sD.penalty", on=ANY)
def linear_term(x: OtProblem) -> Reading:
    optimum = exact(x)
    return reading(x, optimum.dual, extra={"lam": optimum.dual}, newton=x.alpha * x["z"] @ optimum.dual)


def solution_in_the_limit(x: OtProblem) -> Reading:
    return measured(x, lambda s: x.maximizer(s).weights, 0)


def at_a_positive_alpha(x: OtProblem) -> Reading:
    optimum = exact(x)
    return replace(reading(x, optimum.dual, extra={"lam": optimum.dual}, newton=optimum.weights), computed="right")


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def attention(x: OtProblem) -> transport.Attention:
    """The solution of (24)."""
    solved = transport.solve(array(x, "T"), array(x, "u"), array(x, "z"), array(x, "M"), x.alpha, x.gamma)
    certified(solved)
    return solved


def reach(x: OtProblem) -> float:
    """The largest ‖t_i‖: where λ moves, the weights move by at most 2·reach/γ times that (ℓ1), their mean by reach²/γ."""
    return float(np.linalg.norm(array(x, "T"), axis=1).max())


def centre_error(x: OtProblem) -> float:
    """How far the μ̃ that the solver found may be off."""
    return reach(x) * preferred(x).plan_error


def dual_error(x: OtProblem, solved: transport.Attention) -> float:
    """How far the solver's λ may be from λ*: for its own μ̃, and as ‖λ* − λ*'‖ ≤ α‖μ̃ − μ̃'‖."""
    return solved.multiplier_error + x.alpha * centre_error(x)


def solved_conjugate(x: OtProblem) -> transport.Plan:
    """sup_p ⟨g, p⟩ − W."""
    return certified(transport.conjugate(array(x, "g"), array(x, "u"), array(x, "M"), x.gamma))


def conic_conjugate(x: OtProblem) -> Reading:
    conjugate = solved_conjugate(x)
    return Reading(x.point(), {"cvxpy": float64(conjugate.objective)}, conjugate.value_error + x.tolerance(conjugate.objective))


@confirms(Layer.PRIMAL, "deciphering.36", on=CONIC_ANY, count=16, corrected=conic_conjugate)
def conic_conjugate_for_symmetric_costs(x: OtProblem) -> Reading:
    return conic_conjugate(x.with_costs("symmetric"))


@confirms(Layer.PRIMAL, "deciphering.37", on=CONIC_EVEN, count=16)
def conic_gradient_of_conjugate(x: OtProblem) -> Reading:
    conjugate = solved_conjugate(x)
    return Reading(x.point(), {"cvxpy": float64(conjugate.marginal)}, conjugate.plan_error + x.tolerance(1.0))


def with_dual(x: OtProblem, solved: transport.Attention, **values: Tensor) -> dict[str, int | float | Tensor]:
    """The point with the multiplier for λ*."""
    return x.point(lam=float64(solved.multiplier), **values)


@confirms(Layer.PRIMAL, "deciphering.34", on=CONIC_ANY, count=16)
def least_objective(x: OtProblem) -> Reading:
    solved = attention(x)
    target = float64(solved.centre + array(x, "z"))
    return Reading(
        with_dual(x, solved, z=target, R=float64(shares(x, solved.plan))),
        {"cvxpy": float64(solved.objective)},
        solved.value_error + x.tolerance(solved.objective, target),
    )


@confirms(Layer.PRIMAL, "deciphering.38", on=CONIC_EVEN, count=16)
def conic_solution(x: OtProblem) -> Reading:
    solved = attention(x)
    error = solved.plan_error + 2 * reach(x) / x.gamma * (dual_error(x, solved) + solved.multiplier_error)
    return Reading(with_dual(x, solved), {"cvxpy": float64(solved.marginal)}, error + x.tolerance(1.0))


@confirms(Layer.PRIMAL, "deciphering.39", on=CONIC_EVEN, count=16)
def conic_largest_dual(x: OtProblem) -> Reading:
    solved = attention(x)
    u = array(x, "u")[array(x, "u") > 0]
    constant = x.gamma * float((u * np.log(u)).sum())  # −γH(u), which the printed objective leaves out
    size = max(float(np.linalg.norm(solved.multiplier)), float(np.linalg.norm(array(x, "nu"))))
    evidence_error = centre_error(x) + dual_error(x, solved) * (1 / x.alpha + reach(x) ** 2 / x.gamma)
    return Reading(
        with_dual(x, solved),
        {"cvxpy": float64(solved.objective - constant)},
        solved.value_error + 2 * size * evidence_error + x.tolerance(solved.objective, size),
    )


@confirms(Layer.PRIMAL, "deciphering.sD.penalty", on=CONIC_ANY, count=16)
def conic_pull(x: OtProblem) -> Reading:
    solved = attention(x)
    slope = x.alpha * float(np.linalg.norm(array(x, "z"))) + 2 * float(np.linalg.norm(solved.multiplier)) + 1
    left = x.alpha * float(array(x, "z") @ solved.multiplier)
    error = slope * dual_error(x, solved) + x.tolerance(solved.multiplier.max(), left)
    return Reading(with_dual(x, solved), {"cvxpy": float64(left)}, error)


VOTES = [
    Sampled("deciphering.35", Layer.TORCH, mean_of_true_preference, on=ANY),
    Sampled(
        "deciphering.sD.alpha-to-zero", Layer.TORCH, at_a_positive_alpha, on=FEW_EVEN, count=10, corrected=solution_in_the_limit
    ),
    Sampled("deciphering.35", Layer.PRIMAL, conic_mean_of_true_preference, on=CONIC_ANY, count=16),
]
