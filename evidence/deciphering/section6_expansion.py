"""Votes on: Section 6: the logarithm of the moment generating function, its expansion, and what the expansion needs."""

import math
from typing import Any

import mpmath as mp
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Sampled, Value, choose, confirms, float64
from evidence.deciphering.expansion import (
    homogeneous,
    log_normal,
    quadratic_coefficient,
    reach,
    second_coefficient,
    third_coefficient,
    variance,
)
from evidence.instances import fifty_digits
from evidence.instances.derivatives import gradient
from evidence.instances.fifty_digits import Vector
from evidence.instances.mem import MemProblem, mem_problems, rounded
from numerics import mem, tolerances


@confirms(Layer.TORCH, "deciphering.s6.bounded-moments", count=20, on=choose(k=st.floats(0.5, 8), x=st.floats(0.5, 8)))
def exponential_series(drawn: dict[str, float]) -> Reading:
    terms = [drawn["x"] ** r / math.factorial(r) for r in range(60)]
    point = {name: float64(value) for name, value in drawn.items()} | {"x": float64(drawn["x"])}
    return Reading(point, {"series": float64(math.log(math.fsum(terms)))}, tolerances.rounding("float64", 60, 32))


@confirms(Layer.TORCH, "deciphering.14", on=mem_problems(), count=16)
def remainder_at_the_maximizer(problem: MemProblem) -> Reading:
    mean = problem.law.mean()

    def remainder(alpha: Any) -> Vector:
        dual = problem.maximizer(alpha).dual
        return [problem.law.log_mgf(dual) - mp.fdot(mean, dual) - variance(problem, dual) / 2]

    leading = fifty_digits.leading(remainder, 3, problem.small)
    routes = {"fifty digits": rounded(leading.values)[0]}
    return Reading(problem.point(), routes, problem.tolerance(reach(problem) ** 3) + float(leading.error))


@confirms(Layer.TORCH, "deciphering.s6.quadratic-model", on=mem_problems())
def slope_of_the_model(problem: MemProblem) -> Reading:
    center, covariance = mem.moments(problem.templates, problem.prior)

    def model(dual: Tensor) -> Tensor:
        return dual @ problem.target - dual.square().sum() / (2 * problem.alpha) - center @ dual - dual @ covariance @ dual / 2

    slope = problem.alpha * gradient(model, problem.dual)
    return Reading(problem.point(), {"autograd": slope}, problem.tolerance(reach(problem) ** 2, problem.target))


@confirms(Layer.TORCH, "deciphering.s6.gaussian-exact", on=choose(d=st.integers(1, 2), seed=st.integers(0, 2**31)), count=16)
def gaussian(drawn: dict[str, int]) -> Reading:
    d, step = drawn["d"], 0.25
    generator = torch.Generator().manual_seed(drawn["seed"])
    m, factor, lam = (
        torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-1, 1) for shape in ((d,), (d, d), (d,))
    )
    line = torch.arange(-12, 12 + step, step, dtype=torch.float64)
    grid = torch.cartesian_prod(*[line] * d).reshape(-1, d)  # the trapezoidal rule is exact to rounding for Gaussians
    integrand = (m + grid @ factor.T) @ lam - grid.square().sum(-1) / 2
    value = torch.logsumexp(integrand, 0) + d * math.log(step / math.sqrt(2 * math.pi))
    point: dict[str, Value] = {"d": d, "m": m, "A": factor, "lam": lam}
    return Reading(point, {"quadrature": value}, tolerances.rounding("float64", len(grid), 32))


VOTES = [
    Sampled("deciphering.s6.mgf", Layer.TORCH, second_coefficient, on=mem_problems()),
    Sampled("deciphering.s6.cumulant", Layer.TORCH, homogeneous, on=mem_problems(), count=24, corrected=third_coefficient),
    Sampled("deciphering.13", Layer.TORCH, log_normal, on=mem_problems(), count=24, corrected=quadratic_coefficient),
]
