"""Appendix D of deciphering in torch: conjugate, dual, true preference and the expansions against the proved expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath as mp
import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import ot_attention as ot
from tests import fifty_digits
from tests.layers import Reading, confirms, float64
from tests.properties.ot_problems import SYMMETRIC, OtProblem, ot_problems

TORCH = Layer.TORCH
ANY, EVEN = ot_problems(), ot_problems(costs=SYMMETRIC)
FEW, FEW_EVEN = ot_problems(max_size=3, max_d=2), ot_problems(max_size=3, max_d=2, costs=SYMMETRIC)


def entropy(x: Tensor) -> Tensor:
    """−Σ x log x."""
    return -torch.xlogy(x, x).sum()


def value(x: OtProblem, plan: Tensor) -> Tensor:
    """⟨M, X⟩ − γ H(X)."""
    return (x["M"] * plan).sum() - x.gamma * entropy(plan)


def reading(x: OtProblem, *magnitudes: Tensor | float, given: dict[str, Any] | None = None, **routes: Tensor) -> Reading:
    """Routes at a problem, with the tolerance for these magnitudes and the routes' own."""
    found = {name: values.detach() for name, values in routes.items()}
    return Reading(x.point(**(given or {})), found, x.tolerance(*magnitudes, *found.values()))


def slope(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """The gradient by autograd."""
    at = at.clone().requires_grad_()
    return torch.autograd.grad(function(at), at, create_graph=True)[0]


def coefficient(function: Callable[[Tensor], Tensor], order: int) -> Tensor:
    """The coefficient of s, s² or s³ of a function of one number s at 0, by autograd."""
    at = torch.zeros((), dtype=torch.float64, requires_grad=True)
    found = function(at)
    for times in range(1, order + 1):
        found = torch.autograd.grad(found, at, create_graph=times < order)[0] / times
    return found


def exact(x: OtProblem) -> ot.Solution:
    """The certified solution of (24)."""
    return ot.solve(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)


def true_mean(x: OtProblem) -> Tensor:
    """μ̃."""
    return ot.true_preference(x["u"], x["M"], x.gamma) @ x["T"]


# ── the problem, the conjugate, the dual ────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.34", on=ANY)
def objective_at_the_solution(x: OtProblem) -> Reading:
    solution, target = exact(x), true_mean(x) + x["z"]
    plan = ot.coupling(x["T"] @ solution.dual, x["u"], x["M"], x.gamma)
    left = x.alpha / 2 * (target - solution.mean).square().sum() + value(x, plan)
    shares = torch.where(x["u"] > 0, plan / x["u"], x["Q"].T).T
    return reading(x, target, given={"lam": solution.dual, "z": target, "R": shares}, at_the_solution=left)


def mean_of_true_preference(x: OtProblem) -> Reading:
    mean = ot.attend(x["T"], torch.zeros_like(x["z"]), x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, x["T"], closed_form=true_mean(x), without_evidence=mean)


confirms(TORCH, "deciphering.35", on=ANY)(mean_of_true_preference)
confirms(TORCH, "deciphering.41", on=EVEN)(mean_of_true_preference)


@confirms(TORCH, "deciphering.40", on=EVEN)
def true_preference(x: OtProblem) -> Reading:
    return reading(x, closed_form=ot.true_preference(x["u"], x["M"], x.gamma),
                   column_sums=ot.coupling(torch.zeros_like(x["g"]), x["u"], x["M"], x.gamma).sum(-1))


@confirms(TORCH, "deciphering.prop1", on=ANY)
def least_value(x: OtProblem) -> Reading:
    return reading(x, x["M"], given={"R": x["Q"]}, at_the_minimizer=value(x, x["Q"].T * x["u"]))


def conjugate(x: OtProblem) -> Reading:
    plan = ot.coupling(x["g"], x["u"], x["M"], x.gamma)
    return reading(x, x["g"], x["M"], closed_form=ot.conjugate(x["g"], x["u"], x["M"], x.gamma),
                   attained=plan.sum(-1) @ x["g"] - value(x, plan))


@confirms(TORCH, "deciphering.36", on=ANY, corrected=conjugate)
def conjugate_for_symmetric_costs(x: OtProblem) -> Reading:
    return conjugate(replace(x, costs="symmetric"))


@confirms(TORCH, "deciphering.37", on=EVEN)
def gradient_of_conjugate(x: OtProblem) -> Reading:
    by_autograd = slope(lambda g: ot.conjugate(g, x["u"], x["M"], x.gamma), x["g"])
    return reading(x, closed_form=ot.transported(x["g"], x["u"], x["M"], x.gamma), autograd=by_autograd)


@confirms(TORCH, "deciphering.38", on=EVEN)
def solution(x: OtProblem) -> Reading:
    found = exact(x)
    return reading(x, found.dual, given={"lam": found.dual}, newton=found.weights)


def dual(x: OtProblem, at: Tensor, target: Tensor) -> Tensor:
    """D(λ) + γH(u)."""
    whole = ot.conjugate(x["T"] @ at, x["u"], x["M"], x.gamma) - x.gamma * entropy(x["u"])
    return target @ at - at @ at / (2 * x.alpha) - whole


@confirms(TORCH, "deciphering.39", on=EVEN)
def largest_dual(x: OtProblem) -> Reading:
    """Against another dual point, which is the maximizer itself for one seed in three."""
    found, target = exact(x), true_mean(x) + x["z"]
    given = {"lam": found.dual, **({"nu": found.dual} if x.seed % 3 == 0 else {})}
    return reading(x, target, found.dual, given=given, newton=dual(x, found.dual, target))


@confirms(TORCH, "deciphering.sD.penalty", on=ANY)
def pull(x: OtProblem) -> Reading:
    found = exact(x)
    return reading(x, found.dual, given={"lam": found.dual}, newton=x.alpha * x["z"] @ found.dual)


# ── the limits ──────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.sD.kernel-limit", on=ot_problems(costs=SYMMETRIC, gammas=(1.0, 0.25)))
def what_leaves(x: OtProblem) -> Reading:
    stays = ot.kernel(x["M"], x.gamma).diagonal()
    return reading(x, 1 / stays, kernel=1 / stays - 1)


def kept(x: OtProblem) -> Reading:
    return reading(x, closed_form=ot.true_preference(x["u"], x["M"], x.gamma))


def proportional(x: OtProblem) -> Reading:
    """‖ũ − u‖² for the u that is proportional to the column sums of exp(−M/γ)."""
    sums = torch.exp(-x["M"] / x.gamma).sum(0)
    prior = sums / sums.sum()
    return reading(x, given={"u": prior}, closed_form=(ot.true_preference(prior, x["M"], x.gamma) - prior).square().sum())


APART = ot_problems(costs=("distances", "symmetric"), gammas=(1.0, 0.25))
confirms(TORCH, "deciphering.sD.preference-limit", on=APART)(kept)
confirms(TORCH, "deciphering.s9.deviates", on=APART, corrected=kept)(proportional)


def measured(x: OtProblem, function: Callable[[Any], list[Any]], order: int) -> Reading:
    """lim f(α)/α^order, in 50 digits."""
    with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD):
        found = fifty_digits.leading(function, order, x.exactly.small)
        values = float64([float(y) for y in found.values])
    second = second_scores(x)
    tolerance = x.tolerance(values, second, x["z"]) + float(found.error)
    return Reading(x.point(Y=x["T"] @ x["z"], W=second), {"50 digits": values}, tolerance)


def second_scores(x: OtProblem) -> Tensor:
    """⟨t, w⟩ for w = −Σ̄z/γ."""
    return -(x["T"] @ (ot.mean_covariance(x["T"], x["u"], x["M"], x.gamma) @ x["z"])) / x.gamma


def second_difference(of: Callable[[list[Any]], list[Any]], x: OtProblem) -> Callable[[Any], list[Any]]:
    """(f(2α) − 2f(α) + f(0))/2 for a function of λ*(α): its leading term is f's second-order one."""
    def difference(s: Any) -> list[Any]:
        ends = of(x.exactly.maximizer(2 * s)), of(x.exactly.maximizer(s)), of([mp.mpf(0)] * x.d)
        return [(p - 2 * q + r) / 2 for p, q, r in zip(*ends, strict=True)]

    return difference


def solution_in_the_limit(x: OtProblem) -> Reading:
    return measured(x, lambda s: x.exactly.weights(x.exactly.maximizer(s)), 0)


confirms(TORCH, "deciphering.sD.alpha-to-zero", on=FEW_EVEN, count=10)(solution_in_the_limit)


def second_order_of_dual(x: OtProblem) -> Reading:
    return measured(x, second_difference(lambda dual: dual, x), 2)


def second_order_of_weights(x: OtProblem) -> Reading:
    return measured(x, second_difference(x.exactly.weights, x), 2)


confirms(TORCH, "deciphering.sD.linear", on=FEW, count=10, corrected=second_order_of_dual)(second_order_of_dual)
confirms(TORCH, "deciphering.25", on=FEW, count=10, corrected=second_order_of_weights)(second_order_of_weights)
confirms(TORCH, "deciphering.47", on=FEW_EVEN, count=10, corrected=second_order_of_weights)(second_order_of_weights)


@confirms(TORCH, "deciphering.sD.quadratic", on=FEW, count=10)
def maximizers_apart(x: OtProblem) -> Reading:
    def first_entry(s: Any) -> list[Any]:
        return [x.exactly.maximizer(s)[0] - x.exactly.resolvent(s)[0]]

    found = measured(x, first_entry, 2)
    return Reading({**found.point, "a": 1}, {name: y[0] for name, y in found.routes.items()}, found.tolerance)


@confirms(TORCH, "deciphering.sD.same-as-25", on=EVEN)
def closed_form(x: OtProblem) -> Reading:
    return reading(x, weights=ot.weights(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma))


# ── the expansion of the dual ───────────────────────────────────────────────────────────────────────────────────────


def cumulant(x: OtProblem, at: Tensor, j: int) -> Tensor:
    """log M_j(λ/γ) for the j-th column's distribution."""
    return torch.logsumexp(x["Q"][j].log() + x["T"] @ at / x.gamma, 0)


def each(x: OtProblem, function: Callable[[int], Tensor]) -> Tensor:
    """One number for each template."""
    return torch.stack([function(j) for j in range(x.N)])


@confirms(TORCH, "deciphering.sD.conditional", on=ANY)
def mass(x: OtProblem) -> Reading:
    return reading(x, kernel=ot.kernel(x["M"].T, x.gamma).sum(0))


@confirms(TORCH, "deciphering.42", on=ANY)
def inner_sum(x: OtProblem) -> Reading:
    logits = ((x["T"] @ x["lam"])[None, :] - x["M"]) / x.gamma
    return reading(x, logits, logsumexp=torch.logsumexp(logits, -1))


@confirms(TORCH, "deciphering.43", on=ANY, count=16)
def second_cumulant(x: OtProblem) -> Reading:
    found = each(x, lambda j: coefficient(lambda s: cumulant(x, s * x["v"], j), 2))
    return reading(x, (x["T"] @ x["v"] / x.gamma) ** 2, autograd=found)


def third_cumulant(x: OtProblem) -> Reading:
    found = each(x, lambda j: coefficient(lambda s: cumulant(x, s * x["v"], j), 3))
    return reading(x, 1.0, (x["T"] @ x["v"] / x.gamma).abs() ** 3, autograd=found)


@confirms(TORCH, "deciphering.sD.cumulant", on=ANY, count=16, corrected=third_cumulant)
def not_homogeneous(x: OtProblem) -> Reading:
    found = each(x, lambda j: cumulant(x, 4 * x["lam"], j) * cumulant(x, x["lam"], j))
    return reading(x, found, given={"j": 1}, autograd=found[0])


@confirms(TORCH, "deciphering.44", on=ANY, count=16)
def first_cumulant(x: OtProblem) -> Reading:
    found = each(x, lambda j: coefficient(lambda s: cumulant(x, s * x["v"], j), 1))
    return reading(x, x["T"] @ x["v"] / x.gamma, autograd=found)


@confirms(TORCH, "deciphering.45", on=ANY, count=16)
def covariances(x: OtProblem) -> Reading:
    ones = torch.eye(x.N, dtype=torch.float64, device=x.device)
    found = ot.mean_covariance(x["T"], ones, x["M"], x.gamma)
    return reading(x, x["T"] ** 2, closed_form=found.permute(1, 2, 0))


def approximation(x: OtProblem, at: Tensor, target: Tensor) -> Tensor:
    """Q(λ), with the second-order form from the average covariance."""
    spread = ot.mean_covariance(x["T"], x["u"], x["M"], x.gamma)
    return target @ at - at @ at / (2 * x.alpha) - true_mean(x) @ at - at @ spread @ at / (2 * x.gamma)


@confirms(TORCH, "deciphering.sD.dual-expanded", on=ANY, count=16)
def dual_to_second_order(x: OtProblem) -> Reading:
    found = coefficient(lambda s: dual(x, s * x["v"], x["z"]), 2)
    return reading(x, x["v"] ** 2 / x.alpha, (x["T"] @ x["v"]) ** 2 / x.gamma,
                   given={"Z": torch.ones(x.N, dtype=torch.float64)}, autograd=found)


def bracket(x: OtProblem) -> Reading:
    zero = torch.zeros_like(x["z"])
    found = -approximation(x, x["lam"], zero) - x["lam"] @ x["lam"] / (2 * x.alpha)
    return reading(x, (x["T"] @ x["lam"]) ** 2 / x.gamma, given={"j": 1}, closed_form=found)


confirms(TORCH, "deciphering.sD.dual-third-line", on=ANY, count=16, corrected=bracket)(bracket)


@confirms(TORCH, "deciphering.sD.stationarity", on=ANY, count=16)
def slope_of_approximation(x: OtProblem) -> Reading:
    found = slope(lambda at: approximation(x, at, x["z"]), x["lam"])
    return reading(x, x["lam"] / x.alpha, (x["T"] ** 2) * x["lam"].abs().max() / x.gamma, autograd=found)


@confirms(TORCH, "deciphering.sD.without-means", on=EVEN, count=16)
def slope_around_the_mean(x: OtProblem) -> Reading:
    found = slope(lambda at: approximation(x, at, true_mean(x) + x["z"]), x["lam"])
    return reading(x, x["lam"] / x.alpha, (x["T"] ** 2) * x["lam"].abs().max() / x.gamma, autograd=found)


def mean_of_means(x: OtProblem) -> Reading:
    return reading(x, x["T"], given={"j": 1}, closed_form=true_mean(x))


confirms(TORCH, "deciphering.46", on=EVEN, count=16, corrected=mean_of_means)(mean_of_means)


@confirms(TORCH, "deciphering.sD.resolvent", on=ANY, count=16)
def evidence(x: OtProblem) -> Reading:
    nu = ot.resolvent(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, (x["T"] ** 2) * nu.abs().max() / x.gamma, given={"nu": nu}, data=x.alpha * x["z"])
