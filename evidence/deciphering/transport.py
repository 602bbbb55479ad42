"""Appendix D of deciphering in torch: conjugate, dual, true preference and the expansions against the proved expressions."""

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import torch
from torch import Tensor

from evidence import Reading, float64
from evidence.instances import fifty_digits
from evidence.instances.derivatives import derivative
from evidence.instances.ot import SYMMETRIC, OtProblem, ot_problems
from numerics import ot_attention as ot

ANY, EVEN = ot_problems(), ot_problems(costs=SYMMETRIC)


FEW, FEW_EVEN = ot_problems(max_size=3, max_d=2), ot_problems(max_size=3, max_d=2, costs=SYMMETRIC)


def entropy(x: Tensor) -> Tensor:
    """−Σ x log x."""
    return -torch.xlogy(x, x).sum()


def value(x: OtProblem, plan: Tensor) -> Tensor:
    """⟨M, X⟩ − γ H(X)."""
    return (x["M"] * plan).sum() - x.gamma * entropy(plan)


def reading(x: OtProblem, *magnitudes: Tensor | float, extra: dict[str, Any] | None = None, **routes: Tensor) -> Reading:
    """Routes at a problem, with the tolerance for these magnitudes and the routes' own."""
    results = {name: values.detach() for name, values in routes.items()}
    return Reading(x.point(**(extra or {})), results, x.tolerance(*magnitudes, *results.values()))


def coefficient(function: Callable[[Tensor], Tensor], order: int) -> Tensor:
    """The coefficient of s, s² or s³ of a function of one number s at 0, by autograd."""
    return derivative(function, order) / math.factorial(order)


def true_mean(x: OtProblem) -> Tensor:
    """μ̃."""
    return ot.true_preference(x["u"], x["M"], x.gamma) @ x["T"]


def mean_of_true_preference(x: OtProblem) -> Reading:
    mean = ot.attend(x["T"], torch.zeros_like(x["z"]), x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, x["T"], closed_form=true_mean(x), without_evidence=mean)


def dual(x: OtProblem, lam: Tensor, target: Tensor) -> Tensor:
    """D(λ) + γH(u)."""
    conjugate = ot.conjugate(x["T"] @ lam, x["u"], x["M"], x.gamma) - x.gamma * entropy(x["u"])
    return target @ lam - lam @ lam / (2 * x.alpha) - conjugate


def closed_preference(x: OtProblem) -> Reading:
    return reading(x, closed_form=ot.true_preference(x["u"], x["M"], x.gamma))


APART = ot_problems(costs=("distances", "symmetric"), gammas=(1.0, 0.25))


def measured(x: OtProblem, function: Callable[[Any], list[Any]], order: int) -> Reading:
    """lim f(α)/α^order, in 50 digits."""
    with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD):
        leading = fifty_digits.leading(function, order, x.small)
        values = float64([float(y) for y in leading.values])
    second = second_scores(x)
    tolerance = x.tolerance(values, second, x["z"]) + float(leading.error)
    return Reading(x.point(Y=x["T"] @ x["z"], W=second), {"50 digits": values}, tolerance)


def second_scores(x: OtProblem) -> Tensor:
    """⟨t, w⟩ for w = −Σ̄z/γ."""
    return -(x["T"] @ (ot.mean_covariance(x["T"], x["u"], x["M"], x.gamma) @ x["z"])) / x.gamma


def second_difference(function: Callable[[list[Any]], list[Any]], x: OtProblem) -> Callable[[Any], list[Any]]:
    """(f(2α) − 2f(α) + f(0))/2 for a function of λ*(α): its leading term is f's second-order one."""

    def difference(s: Any) -> list[Any]:
        ends = function(x.maximizer(2 * s).dual), function(x.maximizer(s).dual), function([mp.mpf(0)] * x.d)
        return [(p - 2 * q + r) / 2 for p, q, r in zip(*ends, strict=True)]

    return difference


def second_order_of_weights(x: OtProblem) -> Reading:
    return measured(x, second_difference(x.law.tilted, x), 2)


def approximation(x: OtProblem, lam: Tensor, target: Tensor) -> Tensor:
    """Q(λ), with the second-order form from the average covariance."""
    spread = ot.mean_covariance(x["T"], x["u"], x["M"], x.gamma)
    return target @ lam - lam @ lam / (2 * x.alpha) - true_mean(x) @ lam - lam @ spread @ lam / (2 * x.gamma)
