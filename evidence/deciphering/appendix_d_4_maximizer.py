"""Votes on: Appendix D, fourth part: the approximate maximizer of the dual, from its quadratic approximation."""

from __future__ import annotations

from typing import Any

from evidence import Layer, Reading, confirms
from evidence.deciphering.conic_transport import CONIC_EVEN, conic_mean_of_true_preference
from evidence.deciphering.transport import (
    ANY,
    EVEN,
    FEW,
    approximation,
    measured,
    reading,
    second_difference,
    slope,
    true_mean,
)
from evidence.instances.ot import OtProblem
from numerics import ot_attention as ot


def second_order_of_dual(x: OtProblem) -> Reading:
    return measured(x, second_difference(lambda dual: dual, x), 2)


confirms(Layer.TORCH, "deciphering.sD.linear", on=FEW, count=10, corrected=second_order_of_dual)(second_order_of_dual)


@confirms(Layer.TORCH, "deciphering.sD.quadratic", on=FEW, count=10)
def maximizers_apart(x: OtProblem) -> Reading:
    def first_entry(s: Any) -> list[Any]:
        return [x.maximizer(s).dual[0] - x.resolvent(s)[0]]

    found = measured(x, first_entry, 2)
    return Reading({**found.point, "a": 1}, {name: y[0] for name, y in found.routes.items()}, found.tolerance)


@confirms(Layer.TORCH, "deciphering.sD.stationarity", on=ANY, count=16)
def slope_of_approximation(x: OtProblem) -> Reading:
    found = slope(lambda at: approximation(x, at, x["z"]), x["lam"])
    return reading(x, x["lam"] / x.alpha, (x["T"] ** 2) * x["lam"].abs().max() / x.gamma, autograd=found)


@confirms(Layer.TORCH, "deciphering.sD.without-means", on=EVEN, count=16)
def slope_around_the_mean(x: OtProblem) -> Reading:
    found = slope(lambda at: approximation(x, at, true_mean(x) + x["z"]), x["lam"])
    return reading(x, x["lam"] / x.alpha, (x["T"] ** 2) * x["lam"].abs().max() / x.gamma, autograd=found)


def mean_of_means(x: OtProblem) -> Reading:
    return reading(x, x["T"], given={"j": 1}, closed_form=true_mean(x))


confirms(Layer.TORCH, "deciphering.46", on=EVEN, count=16, corrected=mean_of_means)(mean_of_means)


@confirms(Layer.TORCH, "deciphering.sD.resolvent", on=ANY, count=16)
def evidence(x: OtProblem) -> Reading:
    nu = ot.resolvent(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, (x["T"] ** 2) * nu.abs().max() / x.gamma, given={"nu": nu}, data=x.alpha * x["z"])


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "deciphering.46", on=CONIC_EVEN, count=16, corrected=conic_mean_of_true_preference)(
    conic_mean_of_true_preference
)
