"""Votes on: The exact query as the solution of a linear system, and the error of the system that is solved in its place."""

from collections.abc import Mapping

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Finding, Layer, Outcome, Reading, Run, Value, choose, confirms, float64, observes
from evidence.beyond.search import Free, Problem, sought
from evidence.deciphering.dual import reading, spread
from evidence.instances.derivatives import along
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem, tolerances
from numerics.primal import mem as conic_mem

Values = Mapping[str, Tensor]


# ── the mean covariance ─────────────────────────────────────────────────────────────────────────────────────────────


@confirms(Layer.TORCH, "beyond.mean-covariance", on=mem_problems())
def speed_of_the_mean(problem: MemProblem) -> Reading:
    start = float64(0.25 + problem.seed % 7 / 4)

    def mean(t: Tensor) -> Tensor:
        return mem.tilt(t * problem.dual, problem.templates, problem.prior) @ problem.templates

    speed = along(mean, start, torch.ones_like(start))
    base = reading(problem, spread(problem) ** 3, autograd=speed)
    return Reading({**base.point, "t": start, "x": problem.drawn["c"]}, base.routes, base.tolerance)


NODES = 60  # of the quadrature
DRAWN, AT_MOST = 200, 1e-8


def resolved(templates: Tensor, prior: Tensor, dual: Tensor, alpha: float, times: float = 1.0) -> tuple[Tensor, Tensor]:
    """α(I + αS)⁻¹z with S by quadrature, times a number, and with the covariance of u in the place of S."""
    nodes, shares = (torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(NODES))
    laws = mem.tilt(((nodes + 1) / 2)[:, None] * dual, templates, prior)
    z = dual / alpha + (mem.tilt(dual, templates, prior) - prior) @ templates

    def covariance(law: Tensor) -> Tensor:
        centered = templates - (law @ templates)[..., None, :]
        return torch.einsum("...n,...na,...nb->...ab", law, centered, centered)

    mean = torch.einsum("t,tab->ab", shares / 2, covariance(laws))
    unit = torch.eye(len(dual), dtype=torch.float64)
    return (
        torch.linalg.solve(unit + alpha * times * mean, alpha * z),
        torch.linalg.solve(unit + alpha * covariance(prior), alpha * z),
    )


@observes(Layer.TORCH, "beyond.mean-covariance", name="quadrature")
def by_quadrature(_: str, run: Run) -> Finding:
    """The whole statement: the integral by quadrature, the system solved, against the λ* that it should give."""
    generator = torch.Generator().manual_seed(0)
    worst, wrong, twice = 0.0, 0.0, 0.0
    count = DRAWN // (4 if run.quick else 1)
    for turn in range(count):
        n, d = 2 + turn % 4, 1 + turn % 3
        templates, dual = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((n, d), (d,)))
        prior = torch.softmax(torch.randn(n, generator=generator, dtype=torch.float64), -1)
        alpha = float(torch.randn((), generator=generator, dtype=torch.float64).exp())
        by_integral, at_zero = resolved(templates, prior, dual, alpha)
        worst = max(worst, float((by_integral - dual).norm() / dual.norm()))
        wrong = max(wrong, float((at_zero - dual).norm() / dual.norm()))
        twice = max(twice, float((resolved(templates, prior, dual, alpha, 2.0)[0] - dual).norm() / dual.norm()))
    errors = (("the covariance of u", wrong), ("twice as much", twice))
    refuted = tuple(name for name, error in errors if error > 1e3 * AT_MOST)
    outcome = Outcome.HOLDS if worst <= AT_MOST else Outcome.REFUTED
    scope = (
        f"{count} random laws, S by {NODES} nodes, float64, cpu; relative error of λ* {worst:.2g} at most, with Σ in the "
        f"place of S {wrong:.2g}"
    )
    return Finding(outcome, scope, "", worst / AT_MOST, refuted)


# ── the covariance of u in its place ────────────────────────────────────────────────────────────────────────────────


def stretched_values(free: Free) -> Values:
    """A law on templates of the plane, a vector and α."""
    return {
        "T": torch.tanh(free["T"]),
        "u": torch.softmax(free["u"], -1),
        "x": 2 * torch.tanh(free["x"]),
        "alpha": torch.tanh(free["alpha"]).exp(),
    }


def stretched_sides(x: Values) -> tuple[Tensor, Tensor]:
    """‖(I + αΣ)x‖² and ‖x‖²."""
    centered = x["T"] - torch.einsum("bn,bnd->bd", x["u"], x["T"])[:, None]
    along = torch.einsum("bnd,bd->bn", centered, x["x"])
    stretched = x["x"] + x["alpha"][:, None] * torch.einsum("bn,bn,bnd->bd", x["u"], along, centered)
    return stretched.square().sum(-1), x["x"].square().sum(-1)


STRETCHED = Problem(
    lambda m: {"T": (m, 2), "u": (m,), "x": (2,), "alpha": ()},
    stretched_values,
    stretched_sides,
    counts=lambda m: {"n": m, "d": 2},
    sharp=True,
    sizes=(1, 2, 5),
)


def curved_values(free: Free) -> Values:
    """Templates in a ball of diameter D, a law on them and a query."""
    return {
        "y": 3 * torch.sinh(free["y"].clamp(-5, 5)),
        "u": torch.softmax(free["u"], -1),
        "lam": torch.tanh(free["lam"]),
        "D": torch.tanh(free["D"]).exp(),
    }


def curved_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D⁶‖λ‖⁴/432 and ‖ĥ − μ − Σλ‖², by softmax."""
    templates = x["D"][:, None, None] / 2 * x["y"] / (1 + x["y"].square().sum(-1, keepdim=True)).sqrt()
    scores = torch.einsum("bnd,bd->bn", templates, x["lam"])
    exact = torch.softmax(scores + x["u"].log(), -1)
    centered = templates - torch.einsum("bn,bnd->bd", x["u"], templates)[:, None]
    linear = torch.einsum("bn,bn,bnd->bd", x["u"], scores, centered)
    deviation = torch.einsum("bn,bnd->bd", exact - x["u"], templates) - linear
    return x["D"] ** 6 / 432 * x["lam"].square().sum(-1) ** 2, deviation.square().sum(-1)


CURVED = Problem(
    lambda m: {"y": (m, 2), "u": (m,), "lam": (2,), "D": ()},
    curved_values,
    curved_sides,
    counts=lambda m: {"n": m, "d": 2},
    least=1e-4,
    scale=1.0,
)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "beyond.resolvent-error", on=choose(seed=st.integers(0, 2**31)), count=12)
def conic_residual(drawn: dict[str, int]) -> Reading:
    """Templates at both ends of an interval and a skewed law, where the bound is nearly attained."""
    rng = np.random.default_rng(drawn["seed"])
    diameter, alpha = np.exp(rng.uniform(-0.3, 0.3, size=2))
    share, length = rng.uniform(0.18, 0.24), rng.choice((-1, 1)) * rng.uniform(0.2, 0.4)
    direction = rng.normal(size=1 + drawn["seed"] % 2)
    direction /= np.linalg.norm(direction)
    y, prior = 1000 * np.array([-direction, direction]), np.array([1 - share, share])
    templates = diameter / 2 * y / np.sqrt(1 + (y**2).sum(-1, keepdims=True))
    weights = prior * np.exp(length * templates @ direction)
    z = length * direction / alpha + (weights / weights.sum() - prior) @ templates
    solution = conic_mem.solve(templates, prior, z, float(alpha))
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    center = prior @ templates
    deviation = solution.mean - center - (prior * ((templates - center) @ solution.multiplier)) @ (templates - center)
    error = solution.mean_error + diameter**2 * solution.multiplier_error
    point: dict[str, Value] = {
        "n": 2,
        "d": len(direction),
        "u": float64(prior),
        "y": float64(y),
        "D": float(diameter),
        "lam": float64(solution.multiplier),
    }
    allowed = tolerances.rounding("float64", 4, 1.0) + 4 * float(np.abs(deviation).max() + error) * float(error)
    return Reading(point, {"cvxpy": float64(float(deviation @ deviation))}, allowed, computed="right")


VOTES = [sought("beyond.resolvent-contracts", STRETCHED), sought("beyond.resolvent-error", CURVED)]
