"""Votes on: Additions: continuous attention, on which the document's first reference rests."""

import math
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Value, choose, confirms, float64
from evidence.instances.continuous import F64, Continuous, continuous, integral, legendre
from evidence.instances.derivatives import gradient
from numerics import continuous as ct
from numerics import tolerances

LINE = continuous(max_d=1)


def parameters(x: Continuous) -> dict[str, Tensor | float]:
    """θ₁, b = −θ₂, μ and σ² of a Gaussian on the line, and its first bump, by their printed names."""
    linear, quadratic = ct.natural(x["mean"], x["covariance"])
    return {
        "theta1": linear[0].cpu(),
        "b": -quadratic[0, 0].cpu(),
        "mu": x["mean"][0].cpu(),
        "v": x["covariance"][0, 0].cpu(),
        "c": x["centers"][0, 0].cpu(),
        "s": float(x["widths"][0]),
    }


def first_bump(x: Continuous) -> ct.Basis:
    """The only bump of `parameters`."""
    return ct.Basis(x["centers"][:1], float(x["widths"][0]))


def log_integral(x: Continuous, linear: Tensor) -> Tensor:
    """log ∫ exp(θ₁t − bt²) dt by quadrature between cuts."""
    _, quadratic = ct.natural(x["mean"], x["covariance"])
    peak = ct.scores(x["mean"][None], linear, quadratic).detach()
    return integral(lambda t: (ct.scores(t, linear, quadratic) - peak).exp(), x.cuts(), x.device).log() + peak[0]


@confirms(Layer.TORCH, "geometric.s8.log-partition", on=LINE)
def log_partition(x: Continuous) -> Reading:
    linear, quadratic = ct.natural(x["mean"], x["covariance"])
    closed = ct.scores(x["centers"][:1], linear, quadratic) - ct.softmax_log_density(x["centers"][:1], *x.arguments[:2])
    peak = ct.scores(x["mean"][None], linear, quadratic)
    return Reading(parameters(x), {"quadrature": log_integral(x, linear), "closed_form": closed[0]}, x.tolerance(peak))


@confirms(Layer.TORCH, "geometric.s8.natural", on=LINE)
def mean_from_natural_parameters(x: Continuous) -> Reading:
    linear, quadratic = ct.natural(x["mean"], x["covariance"])
    routes = {
        "closed_form": ct.moments(linear, quadratic)[0][0],
        "autograd": gradient(lambda own: log_integral(x, own), linear)[0],
    }
    return Reading(parameters(x), routes, x.tolerance(linear))


@confirms(Layer.TORCH, "geometric.s8.gaussian", on=choose(x=LINE, y=st.sampled_from((0.0, 0.1, 0.5, 2.0))))
def functional(drawn: dict[str, Any]) -> Reading:
    """The integrand as it stands, and put together from the closed forms of A and p."""
    x, y = drawn["x"], drawn["y"]
    assert isinstance(x, Continuous)
    assert isinstance(y, float)
    t = x["centers"][:1]
    f = ct.scores(t, *ct.natural(x["mean"], x["covariance"]))[0]
    value = float64(y)
    log_p = ct.softmax_log_density(t, x["mean"], x["covariance"])[0]
    apart = torch.xlogy(value, value) - value * log_p - value + log_p.exp()
    closed = (f - log_p) * value - apart - (value - log_p.exp())
    routes = {"direct": value * f - torch.xlogy(value, value), "closed_form": closed}
    return Reading(parameters(x) | {"t": t[0, 0].cpu(), "y": y}, routes, x.tolerance(f, log_p))


def weighted_bump(mu: Tensor, variance: Tensor, bump: ct.Basis) -> Callable[[Tensor], Tensor]:
    """t ↦ p(t) ψ(t) on the line."""
    return lambda t: ct.softmax_density(t, mu, variance) * bump.at(t)[:, 0]


@confirms(Layer.TORCH, "geometric.s8.expected-bump", on=continuous(max_d=3))
def expected_bump(x: Continuous) -> Reading:
    v, width = x["variances"], float(x["widths"][0])
    basis = ct.Basis(x["centers"][:1], width)
    by_axis = []
    for a in range(x.d):
        one = Continuous(1, x.seed, x.spread, device=x.device)
        one.drawn.update(
            mean=x["mean"][a : a + 1],
            covariance=v[a].reshape(1, 1),
            centers=x["centers"][:1, a : a + 1],
            widths=x["widths"][:1],
        )
        by_axis.append(integral(weighted_bump(*one.arguments), one.cuts(), x.device))
    values = {"closed_form": ct.softmax_expectation(x["mean"], v.diag(), basis)[0], "quadrature": torch.stack(by_axis).prod()}
    point: dict[str, Value] = {"d": x.d, "mu": x["mean"].cpu(), "v": v.cpu(), "c": x["centers"][0].cpu(), "s": width}
    # Quadrature of bumps far from the Gaussian knows their mean to an absolute error only.
    return Reading(
        point,
        {name: value.log() for name, value in values.items()},
        x.tolerance(1 / min(float(value) for value in values.values())),
    )


@confirms(Layer.TORCH, "geometric.s8.gradient", on=LINE)
def slope_of_a_bump(x: Continuous) -> Reading:
    basis = first_bump(x)
    linear, quadratic = ct.natural(x["mean"], x["covariance"])
    mean = ct.softmax_expectation(x["mean"], x["covariance"], basis)
    slope = gradient(lambda own: ct.softmax_expectation(*ct.moments(own, quadratic), basis).log().sum(), linear)
    covariance = ct.softmax_covariances(x["mean"], x["covariance"], basis)[0]

    def weighted(t: Tensor) -> Tensor:
        return ct.softmax_density(t, x["mean"], x["covariance"])[:, None] * basis.at(t) * torch.cat([torch.ones_like(t), t], -1)

    by_quadrature = integral(weighted, x.cuts(), x.device)
    routes = {
        "autograd": slope[0],
        "closed_form": covariance[0, 0] / mean[0],
        "quadrature": by_quadrature[1] / by_quadrature[0] - x["mean"][0],
    }
    return Reading(parameters(x), routes, x.tolerance(1 / mean, x["mean"] / mean, x["covariance"]))


@confirms(
    Layer.TORCH,
    "geometric.s8.ridge",
    on=choose(L=st.integers(1, 6), N=st.integers(1, 4), ridge=st.sampled_from((0.01, 1.0, 4.0)), seed=st.integers(0, 2**31)),
)
def excess_of_other_coefficients(drawn: dict[str, int | float]) -> Reading:
    """At the fitted B, where the sum with the normal equations is 0, and at any other."""
    L, N, ridge = int(drawn["L"]), int(drawn["N"]), float(drawn["ridge"])
    generator = torch.Generator().manual_seed(int(drawn["seed"]))
    t, c, v, delta = (torch.randn(*shape, generator=generator, dtype=F64) for shape in ((L, 2), (N, 2), (L, 1), (N,)))
    basis = ct.Basis(c, 0.9)

    def cost(coefficients: Tensor) -> Tensor:
        return (v[:, 0] - basis.values(coefficients[None], t)[:, 0]).square().sum() + ridge * coefficients.square().sum()

    B = ct.fit(v, t, basis, ridge)[0]
    grown = basis.values(delta[None], t).square().sum() + ridge * delta.square().sum()
    missed = v[:, 0] - basis.values(B[None], t)[:, 0]
    point: dict[str, Value] = {"L": L, "N": N, "lam": ridge, "psi": basis.at(t), "e": missed, "B": B, "delta": delta}
    return Reading(
        point,
        {"cost": cost(B + delta) - cost(B), "at_the_optimum": grown},
        tolerances.rounding("float64", 8 * (L + N), float(cost(B) + cost(B + delta)) * (1 + 1 / ridge)),
    )


@confirms(
    Layer.TORCH,
    "geometric.s8.sparsemax",
    on=choose(x=LINE, position=st.floats(-1.5, 1.5), rival=st.sampled_from((0.0, 1.0, 2.5))),
)
def bound_on_rivals(drawn: dict[str, Any]) -> Reading:
    """λ is the score at the ends of the support, where the density reaches 0; the rival is a multiple of the peak."""
    x, position, rival = drawn["x"], drawn["position"], drawn["rival"]
    assert isinstance(x, Continuous)
    mu, variance, _ = x.arguments
    theta = ct.natural(mu, variance)
    half = ct.sparsemax_radius(variance) * variance.sqrt()[0, 0]
    level = ct.scores((mu + half)[None], *theta)[0]
    t = (mu + position * half)[None]
    f, p = ct.scores(t, *theta)[0], ct.sparsemax_density(t, mu, variance)[0]
    peak = ct.sparsemax_density(mu[None], mu, variance)[0]
    y = rival * (p if rival == 1.0 else peak)
    outside = (level - f).clamp(min=0)
    return Reading(
        {"lam": level, "x": p, "w": outside, "y": y},
        {"closed_form": level * y + p.square() / 2},
        x.tolerance(level * y, f * y, p.square(), y.square()),
    )


def along_a_ray(x: Continuous) -> tuple[Tensor, Tensor, Tensor]:
    """Radii from 0 to R, their weights, and the density of continuous sparsemax that far from μ, in units of Σ."""
    R = float(ct.sparsemax_radius(x["covariance"]))
    r, w = (part.to(x.device) for part in legendre(0.0, R))
    points = x["mean"] + r[:, None] * torch.linalg.cholesky(x["covariance"])[:, 0]
    return r, w, ct.sparsemax_density(points, x["mean"], x["covariance"])


def shape(x: Continuous) -> dict[str, float]:
    """d, R, the area of the unit sphere and √|Σ|."""
    return {
        "d": x.d,
        "R": float(ct.sparsemax_radius(x["covariance"])),
        "S": 2 * math.pi ** (x.d / 2) / math.gamma(x.d / 2),
        "D": float(x["variances"].prod().sqrt()),
    }


@confirms(Layer.TORCH, "geometric.s8.paraboloid-mass", on=continuous(max_d=4))
def paraboloid_mass(x: Continuous) -> Reading:
    point = shape(x)
    r, w, density = along_a_ray(x)
    mass = point["S"] * point["D"] * (w * r ** (x.d - 1) * density).sum()
    return Reading(point, {"quadrature": mass, "normalized": torch.ones((), dtype=F64)}, x.tolerance())


@confirms(Layer.TORCH, "geometric.s8.paraboloid-covariance", on=continuous(max_d=4))
def paraboloid_covariance(x: Continuous) -> Reading:
    point = shape(x)
    r, w, density = along_a_ray(x)
    squared = point["S"] * point["D"] * (w * r ** (x.d + 1) * density).sum() / x.d
    relative = torch.linalg.solve(x["covariance"], ct.sparsemax_covariance(x["covariance"])).diagonal().mean()
    return Reading(point, {"quadrature": squared, "closed_form": relative}, x.tolerance(point["R"] ** 2))
