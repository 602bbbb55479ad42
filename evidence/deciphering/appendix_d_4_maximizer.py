"""Votes on: Appendix D, fourth part: the approximate maximizer of the dual, from its quadratic approximation."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.conic_transport import CONIC_EVEN, conic_mean_of_true_preference
from evidence.deciphering.transport import ANY, EVEN, FEW, approximation, measured, reading, second_difference, true_mean
from evidence.instances.derivatives import gradient
from evidence.instances.ot import OtProblem
from numerics import ot_attention as ot


def second_order_of_dual(x: OtProblem) -> Reading:
    return measured(x, second_difference(lambda dual: dual, x), 2)


@confirms(Layer.TORCH, "deciphering.sD.quadratic", on=FEW, count=10)
def maximizers_apart(x: OtProblem) -> Reading:
    def first_entry(s: Any) -> list[Any]:
        return [x.maximizer(s).dual[0] - x.resolvent(s)[0]]

    limit = measured(x, first_entry, 2)
    return Reading({**limit.point, "a": 1}, {name: y[0] for name, y in limit.routes.items()}, limit.tolerance)


def slope_of_approximation(x: OtProblem) -> Reading:
    slope = gradient(lambda lam: approximation(x, lam, x["z"]), x["lam"])
    return reading(x, x["lam"] / x.alpha, (x["T"] ** 2) * x["lam"].abs().max() / x.gamma, autograd=slope)


def slope_around_the_mean(x: OtProblem) -> Reading:
    slope = gradient(lambda lam: approximation(x, lam, true_mean(x) + x["z"]), x["lam"])
    return reading(x, x["lam"] / x.alpha, (x["T"] ** 2) * x["lam"].abs().max() / x.gamma, autograd=slope)


def at_the_maximizer(x: OtProblem, left: Callable[[Tensor], Tensor]) -> Reading:
    """A left side at the λ* of (39), which a certified solver found; the derivations eliminate z by it."""
    optimum = ot.solve(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)
    sizes = x["z"], optimum.dual / x.alpha, (x["T"] ** 2) * optimum.dual.abs().max() / x.gamma
    return reading(x, *sizes, extra={"lam": optimum.dual}, newton=left(optimum.dual))


def slope_at_the_maximizer(x: OtProblem) -> Reading:
    return at_the_maximizer(x, lambda dual: gradient(lambda lam: approximation(x, lam, true_mean(x) + x["z"]), dual))


def evidence_alone(x: OtProblem) -> Reading:
    return at_the_maximizer(x, lambda dual: x["z"])


def scaled_evidence(x: OtProblem) -> Reading:
    return at_the_maximizer(x, lambda dual: x.alpha * x["z"])


def mean_of_means(x: OtProblem) -> Reading:
    return reading(x, x["T"], extra={"j": 1}, closed_form=true_mean(x))


def evidence(x: OtProblem) -> Reading:
    nu = ot.resolvent(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, (x["T"] ** 2) * nu.abs().max() / x.gamma, extra={"nu": nu}, data=x.alpha * x["z"])


VOTES = [
    Sampled("deciphering.sD.linear", Layer.TORCH, second_order_of_dual, on=FEW, count=10, corrected=second_order_of_dual),
    Sampled(
        "deciphering.sD.stationarity", Layer.TORCH, slope_at_the_maximizer, on=ANY, count=16, corrected=slope_of_approximation
    ),
    Sampled("deciphering.sD.without-means", Layer.TORCH, evidence_alone, on=EVEN, count=16, corrected=slope_around_the_mean),
    Sampled("deciphering.46", Layer.TORCH, mean_of_means, on=EVEN, count=16, corrected=mean_of_means),
    Sampled("deciphering.sD.resolvent", Layer.TORCH, scaled_evidence, on=ANY, count=16, corrected=evidence),
    Sampled(
        "deciphering.46",
        Layer.PRIMAL,
        conic_mean_of_true_preference,
        on=CONIC_EVEN,
        count=16,
        corrected=conic_mean_of_true_preference,
    ),
]
