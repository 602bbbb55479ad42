"""Votes on: Appendix A: the derivation of (13), line by line."""

from collections.abc import Callable

import mpmath as mp
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Sampled, choose, confirms, float64
from evidence.deciphering.expansion import log_normal, quadratic_coefficient, reach, second_coefficient
from evidence.instances import derivatives, fifty_digits
from evidence.instances.mem import MemProblem, mem_problems, rounded
from numerics import mem, tolerances


@confirms(Layer.TORCH, "deciphering.26", on=mem_problems(), corrected=second_coefficient)
def without_exponential(problem: MemProblem) -> Reading:
    templates, prior, lam = (problem.drawn[name] for name in ("T", "u", "lam"))
    value = derivatives.derivative(lambda t: prior @ (templates @ (t * lam)), 2) / 2
    return Reading(problem.point(), {"autograd": value}, problem.tolerance(reach(problem) ** 2))


def derivatives_at_zero(problem: MemProblem) -> tuple[Tensor, Tensor]:
    """M'(0) and M''(0) by autograd."""

    def m(lam: Tensor) -> Tensor:
        return mem.log_partition(lam, problem.templates, problem.prior).exp()

    zero = torch.zeros_like(problem.dual)
    return derivatives.jacobian(m, zero), derivatives.hessian(m, zero)


@confirms(Layer.TORCH, "deciphering.27", on=mem_problems())
def gradient(problem: MemProblem) -> Reading:
    return Reading(problem.point(), {"autograd": derivatives_at_zero(problem)[0]}, problem.tolerance(reach(problem)))


@confirms(Layer.TORCH, "deciphering.28", on=mem_problems())
def hessian(problem: MemProblem) -> Reading:
    return Reading(problem.point(), {"autograd": derivatives_at_zero(problem)[1]}, problem.tolerance(reach(problem) ** 2))


@confirms(Layer.TORCH, "deciphering.sA.covariance", on=mem_problems())
def covariance(problem: MemProblem) -> Reading:
    first, second = derivatives_at_zero(problem)
    _, central = mem.moments(problem.templates, problem.prior)
    routes = {"autograd": second - torch.outer(first, first), "moments": central}
    return Reading(problem.point(), routes, problem.tolerance(reach(problem) ** 2))


LETTERS = choose(m1=st.floats(-2, 2), m2=st.floats(0, 4), rho=st.floats(-1, 1))


def second_of(drawn: dict[str, float], function: Callable[[Tensor], Tensor]) -> Reading:
    """The coefficient of t² in f(y), y = m₁t + m₂t²/2 + ρt²."""
    value = derivatives.derivative(lambda t: function(drawn["m1"] * t + (drawn["m2"] / 2 + drawn["rho"]) * t**2), 2) / 2
    return Reading({name: float64(x) for name, x in drawn.items()}, {"autograd": value}, tolerances.rounding("float64", 8, 16))


@confirms(Layer.TORCH, "deciphering.sA.series-inserted", "deciphering.sA.collected", on=LETTERS, count=20)
def logarithm(drawn: dict[str, float]) -> Reading:
    return second_of(drawn, torch.log1p)


@confirms(Layer.TORCH, "deciphering.sA.little-o", on=LETTERS, count=20)
def square(drawn: dict[str, float]) -> Reading:
    return second_of(drawn, torch.square)


def in_one_letter(drawn: dict[str, float]) -> Reading:
    leading = fifty_digits.leading(lambda t: [mp.log(1 + t) - t + t**2 / 2 - t**3 / 3], 4, 0.25, halvings=12)
    routes = {"fifty digits": rounded(leading.values)[0], "autograd": derivatives.derivative(torch.log1p, 4) / 24}
    return Reading({"x": float64(drawn["x"])}, routes, tolerances.rounding("float64", 8) + float(leading.error))


@confirms(Layer.TORCH, "deciphering.29", on=choose(x=st.floats(0.5, 2)), corrected=in_one_letter, count=10)
def in_two_letters(drawn: dict[str, float]) -> Reading:
    x = float64(drawn["x"])
    value = derivatives.derivative(lambda t: torch.log(x.exp()), 4) / 24
    return Reading({"x": x}, {"autograd": value}, tolerances.rounding("float64", 8))


VOTES = [
    Sampled("deciphering.sA.result", Layer.TORCH, log_normal, on=mem_problems(), count=24, corrected=quadratic_coefficient)
]
