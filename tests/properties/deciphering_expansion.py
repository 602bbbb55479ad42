"""Section 6 and Appendix A of deciphering, and Section 6 of inference: moments, cumulants and the expansion of log M."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import mem, tolerances
from tests import fifty_digits
from tests.layers import Reading, choose, confirms, float64
from tests.properties.mem_problems import MemProblem, mem_problems, rounded

TORCH = Layer.TORCH
LENGTH = 1e-2                                                # where the ray t ↦ tλ is first measured


def reach(problem: MemProblem) -> float:
    """What ⟨t_i, λ⟩ and ⟨t_i, z⟩ are at most, and 1: a moment of order r is at most its r-th power."""
    vectors = torch.stack([problem.drawn["lam"], problem.drawn["z"], torch.ones(problem.d, dtype=torch.float64)])
    return max(1.0, float((problem.drawn["T"].abs() @ vectors.abs().T).max()))


def derivative(function: Callable[[Tensor], Tensor], order: int) -> Tensor:
    """The derivative of a function of one variable at 0, by autograd as often as wanted."""
    t = torch.zeros((), dtype=torch.float64, requires_grad=True)
    value = function(t)
    for _ in range(order):
        value = torch.autograd.grad(value, t, create_graph=True, allow_unused=True)[0] if value.requires_grad else None
        if value is None:
            return torch.zeros((), dtype=torch.float64)
    return value.detach()


@fifty_digits.precise
def along_the_ray(problem: MemProblem, order: int, lower: Callable[[object], object]) -> tuple[Tensor, float]:
    """The coefficient of t^order in log M(tλ), after `lower(t)` is taken off, and its error."""
    lam = problem.drawn["lam"].tolist()
    found = fifty_digits.leading(lambda t: [problem.law.log_mgf([t * x for x in lam]) - lower(t)], order, LENGTH)
    return rounded(found.values)[0], float(found.error)


def log_m(problem: MemProblem) -> Callable[[Tensor], Tensor]:
    """t ↦ log M(tλ)."""
    templates, prior, lam = (problem.drawn[name] for name in ("T", "u", "lam"))
    return lambda t: mem.log_partition(t * lam, templates, prior)


@fifty_digits.precise
def linear(problem: MemProblem) -> object:
    """⟨μ, λ⟩ in 50 digits."""
    return fifty_digits.mp.fdot(problem.law.mean(), problem.drawn["lam"].tolist())


@fifty_digits.precise
def variance(problem: MemProblem, along: list[object]) -> object:
    """⟨x, Σx⟩ in 50 digits."""
    at = fifty_digits.mp.matrix(along)
    return (at.T * problem.law.covariance() * at)[0]


# ── moments ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def second_coefficient(problem: MemProblem) -> Reading:
    templates, prior, lam = (problem.drawn[name] for name in ("T", "u", "lam"))
    value = derivative(lambda t: mem.log_partition(t * lam, templates, prior).exp(), 2) / 2
    return Reading(problem.point(), {"autograd": value}, problem.tolerance(reach(problem) ** 2))


confirms(TORCH, "deciphering.s6.mgf", "inference.s6.mgf", on=mem_problems())(second_coefficient)


@confirms(TORCH, "deciphering.26", on=mem_problems(), corrected=second_coefficient)
def without_exponential(problem: MemProblem) -> Reading:
    templates, prior, lam = (problem.drawn[name] for name in ("T", "u", "lam"))
    value = derivative(lambda t: prior @ (templates @ (t * lam)), 2) / 2
    return Reading(problem.point(), {"autograd": value}, problem.tolerance(reach(problem) ** 2))


def derivatives_at_zero(problem: MemProblem) -> tuple[Tensor, Tensor]:
    """M'(0) and M''(0) by autograd."""
    def m(at: Tensor) -> Tensor:
        return mem.log_partition(at, problem.templates, problem.prior).exp()

    zero = torch.zeros_like(problem.dual)
    return torch.autograd.functional.jacobian(m, zero), torch.autograd.functional.hessian(m, zero)


@confirms(TORCH, "deciphering.27", on=mem_problems())
def gradient(problem: MemProblem) -> Reading:
    return Reading(problem.point(), {"autograd": derivatives_at_zero(problem)[0]}, problem.tolerance(reach(problem)))


@confirms(TORCH, "deciphering.28", on=mem_problems())
def hessian(problem: MemProblem) -> Reading:
    return Reading(problem.point(), {"autograd": derivatives_at_zero(problem)[1]}, problem.tolerance(reach(problem) ** 2))


@confirms(TORCH, "deciphering.sA.covariance", on=mem_problems())
def covariance(problem: MemProblem) -> Reading:
    first, second = derivatives_at_zero(problem)
    _, central = mem.moments(problem.templates, problem.prior)
    routes = {"autograd": second - torch.outer(first, first), "moments": central}
    return Reading(problem.point(), routes, problem.tolerance(reach(problem) ** 2))


@confirms(TORCH, "deciphering.s6.bounded-moments", "inference.s7.bounded-moments", count=20,
          on=choose(k=st.floats(0.5, 8), x=st.floats(0.5, 8)))
def exponential_series(drawn: dict[str, float]) -> Reading:
    terms = [drawn["x"] ** r / math.factorial(r) for r in range(60)]
    point = {name: float64(value) for name, value in drawn.items()} | {"x": float64(drawn["x"])}
    return Reading(point, {"series": float64(math.log(math.fsum(terms)))}, tolerances.rounding("float64", 60, 32))


# ── cumulants ───────────────────────────────────────────────────────────────────────────────────────────────────────


def third_coefficient(problem: MemProblem) -> Reading:
    lam, first = problem.drawn["lam"].tolist(), linear(problem)
    second = variance(problem, lam)
    measured, error = along_the_ray(problem, 3, lambda t: t * first + t**2 * second / 2)
    routes = {"fifty digits": measured, "autograd": derivative(log_m(problem), 3) / 6}
    return Reading(problem.point(), routes, problem.tolerance(reach(problem) ** 3) + error)


def homogeneous(problem: MemProblem) -> Reading:
    """log M(4λ) log M(λ), which is (log M(2λ))² for a homogeneous function."""
    values = [mem.log_partition(scale * problem.dual, problem.templates, problem.prior) for scale in (4, 1)]
    return Reading(problem.point(), {"closed_form": values[0] * values[1]}, problem.tolerance((4 * reach(problem)) ** 2))


confirms(TORCH, "deciphering.s6.cumulant", "inference.s6.cumulant", on=mem_problems(), corrected=third_coefficient, count=24)(
    homogeneous)


def quadratic_coefficient(problem: MemProblem) -> Reading:
    first = linear(problem)
    measured, error = along_the_ray(problem, 2, lambda t: t * first)
    routes = {"fifty digits": measured, "autograd": derivative(log_m(problem), 2) / 2}
    return Reading(problem.point(), routes, problem.tolerance(reach(problem) ** 2) + error)




def log_normal_mean(function: Callable[[Tensor], Tensor]) -> Tensor:
    """log E exp f(g), g standard normal, by the trapezoidal rule on a range that holds all of the mass."""
    step = 1 / 16
    g = torch.arange(-40, 80, step, dtype=torch.float64)
    return torch.logsumexp(function(g) - g.square() / 2, 0) + math.log(step / math.sqrt(2 * math.pi))


def lower_bound(k: float, x: float) -> Tensor:
    """log E[(exW/k)^k] for a log-normal W, which log M(x) exceeds, by quadrature."""
    return log_normal_mean(lambda g: k * (g + 1 + math.log(x) - math.log(k)))


def log_normal(problem: MemProblem) -> Reading:
    bound = lower_bound(20.0, 0.1)
    point = problem.point() | {"x": float64(0.1), "k": float64(20.0)}
    return Reading(point, {"quadrature": bound}, tolerances.rounding("float64", 2000, float(bound)), "right")


confirms(TORCH, "deciphering.13", "deciphering.sA.result", on=mem_problems(), corrected=quadratic_coefficient, count=24)(
    log_normal)
confirms(TORCH, "inference.15", on=mem_problems(), corrected=third_coefficient, count=24)(log_normal)


@confirms(TORCH, "deciphering.14", "inference.16", on=mem_problems(), count=16)
def remainder_at_the_maximizer(problem: MemProblem) -> Reading:
    mean = problem.law.mean()

    def remainder(alpha: object) -> list[object]:
        dual = problem.maximizer(alpha).dual
        return [problem.law.log_mgf(dual) - fifty_digits.mp.fdot(mean, dual) - variance(problem, dual) / 2]

    found = fifty_digits.leading(remainder, 3, problem.small)
    routes = {"fifty digits": rounded(found.values)[0]}
    return Reading(problem.point(), routes, problem.tolerance(reach(problem) ** 3) + float(found.error))


@confirms(TORCH, "deciphering.s6.quadratic-model", "inference.s6.quadratic-model", on=mem_problems())
def slope_of_the_model(problem: MemProblem) -> Reading:
    center, covariance = mem.moments(problem.templates, problem.prior)
    at = problem.dual.clone().requires_grad_()
    model = at @ problem.target - at.square().sum() / (2 * problem.alpha) - center @ at - at @ covariance @ at / 2
    slope = problem.alpha * torch.autograd.grad(model, at)[0]
    return Reading(problem.point(), {"autograd": slope}, problem.tolerance(reach(problem) ** 2, problem.target))


# ── Gaussian u ──────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s6.gaussian-exact", on=choose(d=st.integers(1, 2), seed=st.integers(0, 2**31)), count=16)
def gaussian(drawn: dict[str, int]) -> Reading:
    d, step = drawn["d"], 0.25
    generator = torch.Generator().manual_seed(drawn["seed"])
    m, factor, lam = (torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-1, 1)
                      for shape in ((d,), (d, d), (d,)))
    line = torch.arange(-12, 12 + step, step, dtype=torch.float64)
    grid = torch.cartesian_prod(*[line] * d).reshape(-1, d)      # the trapezoidal rule is exact to rounding for Gaussians
    integrand = (m + grid @ factor.T) @ lam - grid.square().sum(-1) / 2
    value = torch.logsumexp(integrand, 0) + d * math.log(step / math.sqrt(2 * math.pi))
    point = {"d": d, "m": m, "A": factor, "lam": lam}
    return Reading(point, {"quadrature": value}, tolerances.rounding("float64", len(grid), 32))


# ── Appendix A ──────────────────────────────────────────────────────────────────────────────────────────────────────

LETTERS = choose(m1=st.floats(-2, 2), m2=st.floats(0, 4), rho=st.floats(-1, 1))


def second_of(drawn: dict[str, float], function: Callable[[Tensor], Tensor]) -> Reading:
    """The coefficient of t² in f(y), y = m₁t + m₂t²/2 + ρt²."""
    value = derivative(lambda t: function(drawn["m1"] * t + (drawn["m2"] / 2 + drawn["rho"]) * t**2), 2) / 2
    return Reading({name: float64(x) for name, x in drawn.items()}, {"autograd": value}, tolerances.rounding("float64", 8, 16))


@confirms(TORCH, "deciphering.sA.series-inserted", "deciphering.sA.collected", on=LETTERS, count=20)
def logarithm(drawn: dict[str, float]) -> Reading:
    return second_of(drawn, torch.log1p)


@confirms(TORCH, "deciphering.sA.little-o", on=LETTERS, count=20)
def square(drawn: dict[str, float]) -> Reading:
    return second_of(drawn, torch.square)


def in_one_letter(drawn: dict[str, float]) -> Reading:
    found = fifty_digits.leading(
        lambda t: [fifty_digits.mp.log(1 + t) - t + t**2 / 2 - t**3 / 3], 4, 0.25, halvings=12)
    routes = {"fifty digits": rounded(found.values)[0], "autograd": derivative(torch.log1p, 4) / 24}
    return Reading({"x": float64(drawn["x"])}, routes, tolerances.rounding("float64", 8) + float(found.error))


@confirms(TORCH, "deciphering.29", on=choose(x=st.floats(0.5, 2)), corrected=in_one_letter, count=10)
def in_two_letters(drawn: dict[str, float]) -> Reading:
    x = float64(drawn["x"])
    value = derivative(lambda t: torch.log(x.exp()), 4) / 24
    return Reading({"x": x}, {"autograd": value}, tolerances.rounding("float64", 8))
