"""Section 9 and Appendix D of deciphering through the conic solver, which knows no closed form."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from derivations.claims import Layer
from numerics.primal import coupling
from numerics.primal import optimal_transport as transport
from tests.layers import Reading, confirms, float64
from tests.properties.ot_problems import SYMMETRIC, OtProblem, ot_problems

PRIMAL = Layer.PRIMAL
Array = NDArray[np.float64]


def problems(costs: tuple[str, ...] = ("distances", "symmetric", "ties", "any"), smallest: int = 1,
             gammas: tuple[float, ...] = (1.0, 0.5, 3.0)) -> st.SearchStrategy[OtProblem]:
    """Small problems."""
    return ot_problems(smallest=smallest, max_size=3, max_d=2, costs=costs, gammas=gammas, alphas=(1.0, 0.5, 2.0))


ANY, EVEN = problems(), problems(SYMMETRIC)


def array(x: OtProblem, name: str) -> Array:
    """A drawn tensor as an array."""
    return np.asarray(x.drawn[name].numpy())


def certified(plan: transport.Plan) -> transport.Plan:
    """The certified optimum; an uncertified one is an error, not a vote."""
    assert plan.certified, f"the solver left a gap of {plan.gap} with status {plan.status}"
    return plan


def preferred(x: OtProblem) -> transport.Plan:
    """The minimizer of W over p."""
    return certified(transport.minimize_marginal(array(x, "u"), array(x, "M"), x.gamma))


def attention(x: OtProblem) -> transport.Attention:
    """The solution of (24)."""
    found = transport.solve(array(x, "T"), array(x, "u"), array(x, "z"), array(x, "M"), x.alpha, x.gamma)
    certified(found)
    return found


def shares(x: OtProblem, plan: Array) -> Array:
    """x(i|j) = X_ij/u_j as rows j; any distribution where u_j = 0."""
    u = array(x, "u")
    rows = np.where(u > 0, plan / np.where(u > 0, u, 1.0), 1.0 / x.N).T
    return np.asarray(rows / rows.sum(-1, keepdims=True))


def reach(x: OtProblem) -> float:
    """The largest ‖t_i‖: where λ moves, the weights move by at most 2·reach/γ times that (ℓ1), their mean by reach²/γ."""
    return float(np.linalg.norm(array(x, "T"), axis=1).max())


def centre_error(x: OtProblem) -> float:
    """How far the μ̃ that the solver found may be off."""
    return reach(x) * preferred(x).plan_error


def dual_error(x: OtProblem, found: transport.Attention) -> float:
    """How far the solver's λ may be from λ*: for its own μ̃, and as ‖λ* − λ*'‖ ≤ α‖μ̃ − μ̃'‖."""
    return found.multiplier_error + x.alpha * centre_error(x)


# ── W, its minimizer and its conjugate ──────────────────────────────────────────────────────────────────────────────


@confirms(PRIMAL, "deciphering.23", on=ANY, count=16)
def cost_of_transport(x: OtProblem) -> Reading:
    logits = (array(x, "g")[:, None] - array(x, "M")) / x.gamma
    raw = np.exp(logits - logits.max(0))
    rows = (raw / raw.sum(0)) @ array(x, "u")
    found = certified(transport.solve_coupling(rows / math.fsum(rows), array(x, "u"), array(x, "M"), x.gamma))
    steepest = float(np.abs(array(x, "g")).max()) + x.gamma      # ∂W/∂p = g: what the rounding of p does
    return Reading(x.point(), {"cvxpy": float64(found.objective)},
                   found.value_error + x.tolerance(steepest, found.objective))


@confirms(PRIMAL, "deciphering.prop1", on=ANY, count=16)
def least_value(x: OtProblem) -> Reading:
    found = preferred(x)
    return Reading(x.point(R=float64(shares(x, found.plan))), {"cvxpy": float64(found.objective)},
                   found.value_error + x.tolerance(found.objective))


@confirms(PRIMAL, "deciphering.40", "deciphering.sD.preference-limit", on=EVEN, count=16)
def true_preference(x: OtProblem) -> Reading:
    found = preferred(x)
    return Reading(x.point(), {"cvxpy": float64(found.marginal)}, found.plan_error + x.tolerance(1.0))


APART = problems(("distances", "symmetric"), gammas=(1.0, 0.5))


@confirms(PRIMAL, "deciphering.s9.deviates", on=APART, count=16, corrected=true_preference)
def proportional(x: OtProblem) -> Reading:
    """‖ũ − u‖² for the u that is proportional to the column sums of exp(−M/γ)."""
    sums = np.exp(-array(x, "M") / x.gamma).sum(0)
    prior = sums / math.fsum(sums)
    found = certified(transport.minimize_marginal(prior, array(x, "M"), x.gamma))
    off = float(np.square(found.marginal - prior).sum())
    return Reading(x.point(u=float64(prior)), {"cvxpy": float64(off)}, found.plan_error**2 + x.tolerance(1.0))


def with_product_cost(x: OtProblem) -> Reading:
    """W_γ for the cost −γ log u(t) − γ log u(t')."""
    p, prior = array(x, "R")[0], array(x, "R")[-1]
    logs = np.log(prior)
    cost = -x.gamma * (logs[:, None] + logs)
    found = certified(transport.solve_coupling(p, prior, cost, x.gamma))
    point = x.point(p=float64(p), v=float64(prior), P=float64(found.plan))
    return Reading(point, {"cvxpy": float64(found.objective)}, found.value_error + x.tolerance(cost.max()))


confirms(PRIMAL, "deciphering.s9.rewritten", on=APART, count=16, corrected=with_product_cost)(true_preference)


def mean_of_true_preference(x: OtProblem) -> Reading:
    found, templates = preferred(x), array(x, "T")
    return Reading(x.point(j=1), {"cvxpy": float64(found.marginal @ templates)},
                   found.plan_error * float(np.abs(templates).max()) + x.tolerance(templates.max()))


confirms(PRIMAL, "deciphering.35", on=ANY, count=16)(mean_of_true_preference)
confirms(PRIMAL, "deciphering.41", on=EVEN, count=16)(mean_of_true_preference)
confirms(PRIMAL, "deciphering.46", on=EVEN, count=16, corrected=mean_of_true_preference)(mean_of_true_preference)


def solved_conjugate(x: OtProblem) -> transport.Plan:
    """sup_p ⟨g, p⟩ − W."""
    return certified(transport.conjugate(array(x, "g"), array(x, "u"), array(x, "M"), x.gamma))


def conjugate(x: OtProblem) -> Reading:
    found = solved_conjugate(x)
    return Reading(x.point(), {"cvxpy": float64(found.objective)}, found.value_error + x.tolerance(found.objective))


@confirms(PRIMAL, "deciphering.36", on=ANY, count=16, corrected=conjugate)
def conjugate_for_symmetric_costs(x: OtProblem) -> Reading:
    return conjugate(replace(x, costs="symmetric"))


@confirms(PRIMAL, "deciphering.37", on=EVEN, count=16)
def gradient_of_conjugate(x: OtProblem) -> Reading:
    found = solved_conjugate(x)
    return Reading(x.point(), {"cvxpy": float64(found.marginal)}, found.plan_error + x.tolerance(1.0))


# ── the problem and its dual ────────────────────────────────────────────────────────────────────────────────────────


def with_dual(x: OtProblem, found: transport.Attention, **given: Tensor) -> dict[str, int | float | Tensor]:
    """The point with the multiplier for λ*."""
    return x.point(lam=float64(found.multiplier), **given)


@confirms(PRIMAL, "deciphering.34", on=ANY, count=16)
def least_objective(x: OtProblem) -> Reading:
    found = attention(x)
    target = float64(found.centre + array(x, "z"))
    return Reading(with_dual(x, found, z=target, R=float64(shares(x, found.plan))), {"cvxpy": float64(found.objective)},
                   found.value_error + x.tolerance(found.objective, target))


@confirms(PRIMAL, "deciphering.24", on=ANY, count=16)
def least_objective_without_evidence(x: OtProblem) -> Reading:
    centre = preferred(x)
    found = transport.solve(array(x, "T"), array(x, "u"), 0 * array(x, "z"), array(x, "M"), x.alpha, x.gamma)
    certified(found)
    off = float(np.abs(array(x, "T")).max()) * centre.plan_error
    return Reading(x.point(R=float64(shares(x, found.plan))), {"cvxpy": float64(found.objective)},
                   found.value_error + centre.value_error + x.alpha * x.d * off**2 + x.tolerance(found.objective))


@confirms(PRIMAL, "deciphering.38", on=EVEN, count=16)
def solution(x: OtProblem) -> Reading:
    found = attention(x)
    off = found.plan_error + 2 * reach(x) / x.gamma * (dual_error(x, found) + found.multiplier_error)
    return Reading(with_dual(x, found), {"cvxpy": float64(found.marginal)}, off + x.tolerance(1.0))


@confirms(PRIMAL, "deciphering.39", on=EVEN, count=16)
def largest_dual(x: OtProblem) -> Reading:
    found = attention(x)
    u = array(x, "u")[array(x, "u") > 0]
    constant = x.gamma * float((u * np.log(u)).sum())            # −γH(u), which the printed objective leaves out
    size = max(float(np.linalg.norm(found.multiplier)), float(np.linalg.norm(array(x, "nu"))))
    evidence_error = centre_error(x) + dual_error(x, found) * (1 / x.alpha + reach(x) ** 2 / x.gamma)
    return Reading(with_dual(x, found), {"cvxpy": float64(found.objective - constant)},
                   found.value_error + 2 * size * evidence_error + x.tolerance(found.objective, size))


@confirms(PRIMAL, "deciphering.sD.penalty", on=ANY, count=16)
def pull(x: OtProblem) -> Reading:
    found = attention(x)
    slope = x.alpha * float(np.linalg.norm(array(x, "z"))) + 2 * float(np.linalg.norm(found.multiplier)) + 1
    left = x.alpha * float(array(x, "z") @ found.multiplier)
    return Reading(with_dual(x, found), {"cvxpy": float64(left)},
                   slope * dual_error(x, found) + x.tolerance(found.multiplier.max(), left))


# ── γ → 0 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def entropic_value(x: OtProblem) -> Reading:
    places, p, u = array(x, "T"), array(x, "R")[0], array(x, "u")
    if x.seed % 3 == 0:                                          # equal places: all the entropy there is
        places, p, u = 0 * places, np.full(x.N, 1 / x.N), np.full(x.N, 1 / x.N)
    distance = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
    cost = distance**1.5
    found = certified(transport.solve_coupling(p, u, cost, x.gamma))
    cheapest = coupling.solve_transport(cost, p, u)
    assert cheapest.certified, f"the solver left a gap of {cheapest.gap} with status {cheapest.status}"
    point = {"N": x.N, "gamma": x.gamma, "rho": 1.5, "D": float64(distance), "R": float64(cheapest.plan), "p": float64(p),
             "u": float64(u), "P": float64(found.plan)}
    return Reading(point, {"cvxpy": float64(found.objective)}, found.value_error + cheapest.gap + x.tolerance(cost.max()))


confirms(PRIMAL, "deciphering.s9.wasserstein", on=problems(("distances",), gammas=(1.0, 0.2, 0.05)), count=16,
         corrected=entropic_value)(entropic_value)
