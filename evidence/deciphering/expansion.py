"""Section 6 and Appendix A of deciphering, and Section 6 of inference: moments, cumulants and the expansion of log M."""

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import torch
from torch import Tensor

from evidence import Reading, float64
from evidence.instances import fifty_digits
from evidence.instances.derivatives import derivative
from evidence.instances.fifty_digits import Vector
from evidence.instances.mem import MemProblem, rounded
from numerics import mem, tolerances

LENGTH = 1e-2  # where the ray t ↦ tλ is first measured


def reach(problem: MemProblem) -> float:
    """What ⟨t_i, λ⟩ and ⟨t_i, z⟩ are at most, and 1: a moment of order r is at most its r-th power."""
    vectors = torch.stack([problem.drawn["lam"], problem.drawn["z"], torch.ones(problem.d, dtype=torch.float64)])
    return max(1.0, float((problem.drawn["T"].abs() @ vectors.abs().T).max()))


@fifty_digits.precise
def along_the_ray(problem: MemProblem, order: int, lower: Callable[[Any], Any]) -> tuple[Tensor, float]:
    """The coefficient of t^order in log M(tλ), after `lower(t)` is taken off, and its error."""
    lam = problem.drawn["lam"].tolist()
    leading = fifty_digits.leading(lambda t: [problem.law.log_mgf([t * x for x in lam]) - lower(t)], order, LENGTH)
    return rounded(leading.values)[0], float(leading.error)


def log_m(problem: MemProblem) -> Callable[[Tensor], Tensor]:
    """t ↦ log M(tλ)."""
    templates, prior, lam = (problem.drawn[name] for name in ("T", "u", "lam"))
    return lambda t: mem.log_partition(t * lam, templates, prior)


@fifty_digits.precise
def linear(problem: MemProblem) -> Any:
    """⟨μ, λ⟩ in 50 digits."""
    return mp.fdot(problem.law.mean(), problem.drawn["lam"].tolist())


@fifty_digits.precise
def variance(problem: MemProblem, along: Vector) -> Any:
    """⟨x, Σx⟩ in 50 digits."""
    vector = mp.matrix(along)
    return (vector.T * problem.law.covariance() * vector)[0]


def second_coefficient(problem: MemProblem) -> Reading:
    templates, prior, lam = (problem.drawn[name] for name in ("T", "u", "lam"))
    value = derivative(lambda t: mem.log_partition(t * lam, templates, prior).exp(), 2) / 2
    return Reading(problem.point(), {"autograd": value}, problem.tolerance(reach(problem) ** 2))


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
