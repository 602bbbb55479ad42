"""The value function V(t) = Bψ(t), its regression, and expectations of ψ.  Notation, shapes and dtypes: see the package."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.linalg import qr, solve_triangular

from numerics.arguments import (
    check_leading,
    check_mask,
    check_positive,
    common,
    compute_dtype,
    describe,
    floating,
    is_dense,
    result_dtype,
    without_autocast,
)
from numerics.continuous.densities import factor, located, radius

Density = Literal["softmax", "sparsemax"]

REACH = 64.0
"""So many widths away e^{−x²/2} is 0 in every dtype: distances are cut there, and their derivatives are 0 and not 0 · ∞."""

NODES = 16
"""Gauss–Legendre nodes for a bump that is at least as wide as half the parabola: exact to rounding in float64."""


@dataclass(frozen=True)
class Basis:
    """Gaussian bumps ψ_j(t) = exp(−‖t − c_j‖²/(2s_j²)), each with the peak 1.

    Attributes:
        centers: c, floating, (N, d).
        width: s, a positive number, or a floating tensor () or (N,) of positive numbers, which is not read back from its
            device: what is not positive in it gives NaN.

    Raises:
        ValueError: for other shapes, dtypes or numbers.
    """

    centers: Tensor
    width: float | Tensor

    def __post_init__(self) -> None:
        floating("centers", self.centers, "N", "d")
        if self.centers.ndim != 2:
            raise ValueError(f"centers: expected a floating tensor (N, d), got {describe(self.centers)}")
        if isinstance(self.width, Tensor):
            if not self.width.is_floating_point() or self.width.shape not in ((), (1,), self.centers.shape[:1]):
                raise ValueError(
                    f"width: expected a positive number or a floating tensor () or ({len(self.centers)},), "
                    f"got {describe(self.width)}"
                )
        else:
            check_positive("width", self.width)

    def at(self, points: Tensor) -> Tensor:
        """Return ψ(t), (..., P, N), for points (..., P, d); raises ValueError for other shapes or dtypes."""
        t = floating("points", points, "P", "d", last=self.centers.shape[-1])
        t, centers, width = self._with(t)
        away = ((t[..., None, :] - centers) / width[:, None]).clamp(-REACH, REACH)
        heights: Tensor = (-away.square().sum(-1) / 2).exp()
        return heights.to(result_dtype(points, self.centers))

    def values(self, coefficients: Tensor, points: Tensor) -> Tensor:
        """Return V(t) = Bψ(t), (..., P, D), for B (..., D, N); raises ValueError for other shapes or dtypes."""
        basis, B = common(self.at(points), floating("coefficients", coefficients, "D", "N", last=len(self.centers)))
        check_leading("coefficients", B.shape[:-2], "points", basis.shape[:-2])
        fitted: Tensor = basis @ B.mT
        return fitted

    def _with(self, *tensors: Tensor) -> list[Tensor]:
        """The tensors, the centers and the width (1,) or (N,), in one dtype."""
        centers = floating("centers", self.centers, "N", "d")
        *tensors_, centers = common(*tensors, centers)
        width = torch.as_tensor(self.width, dtype=centers.dtype, device=centers.device).reshape(-1)
        return [*tensors_, centers, torch.where(width > 0, width, torch.nan)]


@without_autocast
def fit(values: Tensor, locations: Tensor, basis: Basis, ridge: float, mask: Tensor | None = None) -> Tensor:
    """Return the B that minimizes Σ_l w_l ‖Bψ(t_l) − v_l‖² + ridge · ‖B‖² (``geometric.s8.ridge``).

    Args:
        values: v, floating, (..., L, D).
        locations: t, floating, (..., L, d). Locations that the rows share are factored once.
        basis: ψ, N bumps.
        ridge: positive.
        mask: boolean, True takes part; or floating, log w, as what is added to scores; (..., L). What does not take part
            may hold any number, NaN included; with nothing left, B = 0.

    Returns:
        (..., D, N), in the wider dtype of values and locations.

    Raises:
        ValueError: for other shapes, dtypes or numbers.
    """
    check_positive("ridge", ridge)
    v = floating("values", values, "L", "D")
    if not is_dense(locations) or locations.ndim < 2 or locations.shape[-2] != v.shape[-2]:
        raise ValueError(f"locations: expected (..., L, d) with L = {v.shape[-2]}, got {describe(locations)}")
    check_leading("locations", locations.shape[:-2], "values", v.shape[:-2])
    t = floating("locations", locations, "L", "d", last=basis.centers.shape[-1])
    if mask is not None:
        root = _root_weights(mask, v)
        t = torch.where(root[..., None] > 0, t, 0.0)
        v = torch.where(root[..., None] > 0, v, 0.0)
    design, v = common(basis.at(t), v)
    if mask is not None:
        root = root.to(v.dtype)[..., None]
        design, v = design * root, v * root
    N = design.shape[-1]
    penalty = math.sqrt(ridge) * torch.eye(N, dtype=v.dtype, device=v.device).expand(*design.shape[:-2], N, N)
    # The factors of (Ψ; √ridge I) know the condition of Ψ; those of ΨᵀΨ + ridge I, its square.
    Q, R = qr(torch.cat([design, penalty], -2))
    B: Tensor = solve_triangular(R, Q[..., : design.shape[-2], :].mT @ v, upper=True)
    return B.mT.to(result_dtype(values, locations))


@without_autocast
def softmax_expectation(mean: Tensor, covariance: Tensor, basis: Basis) -> Tensor:
    """Return E[ψ_j(t)] for t ~ N(μ, Σ): √(|s²I|/|Σ + s²I|) exp(−½(μ − c)ᵀ(Σ + s²I)⁻¹(μ − c)) (``geometric.s8.expected-bump``).

    Args:
        mean: μ, floating, (..., d).
        covariance: Σ, floating, (..., d, d), positive definite.
        basis: ψ on ℝ^d.

    Returns:
        (..., N), in the wider dtype of mean and covariance.

    Raises:
        ValueError: for other shapes or dtypes, or if Σ is not positive definite.
    """
    return _gaussian(mean, covariance, basis)[0].to(result_dtype(mean, covariance))


@without_autocast
def softmax_covariances(mean: Tensor, covariance: Tensor, basis: Basis) -> tuple[Tensor, Tensor]:
    """Return cov(ψ_j, t) and cov(ψ_j, ttᵀ) under N(μ, Σ): the slopes of E[ψ_j] in θ₁ and Θ₂ (``geometric.s8.gradient``).

    Arguments and errors as for ``softmax_expectation``.

    Returns:
        (..., N, d) and (..., N, d, d), in the wider dtype of mean and covariance.
    """
    expectation, mu, sigma, away, lower = _gaussian(mean, covariance, basis)
    dtype = result_dtype(mean, covariance)
    # t ψ_j(t) p(t) is E[ψ_j] times the mean of another Gaussian, μ + shift, whose covariance is Σ − ΣKΣ, K = (Σ + s²I)⁻¹.
    shift = -(sigma[..., None, :, :] @ solve_triangular(lower.mT, away, upper=True)).squeeze(-1)
    gain = solve_triangular(lower, sigma[..., None, :, :], upper=False)
    mu = mu[..., None, :]
    second = (mu + shift)[..., :, None] * shift[..., None, :] + shift[..., :, None] * mu[..., None, :] - gain.mT @ gain
    return (expectation[..., None] * shift).to(dtype), (expectation[..., None, None] * second).to(dtype)


@without_autocast
def sparsemax_expectation(mean: Tensor, covariance: Tensor, basis: Basis) -> Tensor:
    """Return E[ψ_j(t)] for the truncated parabola on the line.

    Args:
        mean: μ, floating, (..., 1).
        covariance: σ², floating, (..., 1, 1), positive.
        basis: ψ on ℝ.

    Returns:
        (..., N), in the wider dtype of mean and covariance.

    Raises:
        ValueError: for other shapes or dtypes, more than one dimension included, or if σ² is not positive.
    """
    zeroth, _, second, _, _ = _parabola(mean, covariance, basis)
    return (0.75 * (zeroth - second)).to(result_dtype(mean, covariance))


@without_autocast
def sparsemax_covariances(mean: Tensor, covariance: Tensor, basis: Basis) -> tuple[Tensor, Tensor]:
    """Return ∫ ψ_j (φ − φ̄) over the parabola's support, for φ = t and φ = t²: the slopes of E[ψ_j] in θ₁ and Θ₂.

    φ̄ is the mean of φ over the support: this is the covariance with the weights p^{2−α}, which α = 2 makes uniform there.
    Arguments and errors as for ``sparsemax_expectation``.

    Returns:
        (..., N, 1) and (..., N, 1, 1), in the wider dtype of mean and covariance.
    """
    zeroth, first, second, mu, half = _parabola(mean, covariance, basis)
    dtype = result_dtype(mean, covariance)
    linear = half**2 * first
    quadratic = 2 * mu * linear + half**3 * (second - zeroth / 3)
    return linear[..., None].to(dtype), quadratic[..., None, None].to(dtype)


@without_autocast
def attend(coefficients: Tensor, mean: Tensor, covariance: Tensor, basis: Basis, density: Density = "softmax") -> Tensor:
    """Return the context E_p[V] = B E_p[ψ].

    Args:
        coefficients: B, floating, (..., D, N).
        mean: μ, floating, (..., d).
        covariance: Σ, floating, (..., d, d), positive definite.
        basis: ψ, N bumps.
        density: "softmax" for the Gaussian, "sparsemax" for the parabola, which asks for d = 1.

    Returns:
        (..., D), in the widest dtype of the three.

    Raises:
        ValueError: for other shapes, dtypes or densities, or if Σ is not positive definite.
    """
    if density not in ("softmax", "sparsemax"):
        raise ValueError(f"density: expected 'softmax' or 'sparsemax', got {density!r}")
    expectation = softmax_expectation if density == "softmax" else sparsemax_expectation
    fitted = floating("coefficients", coefficients, "D", "N", last=len(basis.centers))
    B, psi = common(fitted, expectation(floating("mean", mean), floating("covariance", covariance), basis))
    check_leading("coefficients", B.shape[:-2], "mean and covariance", psi.shape[:-1])
    return (B @ psi[..., None]).squeeze(-1).to(result_dtype(coefficients, mean, covariance))


# ── the integrals ───────────────────────────────────────────────────────────────────────────────────────────────────


def _gaussian(mean: Tensor, covariance: Tensor, basis: Basis) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return E[ψ] (..., N), μ, Σ, L⁻¹(μ − c) (..., N, d, 1) and L (..., 1 or N, d, d) with LLᵀ = Σ + s²I."""
    mu, lower = located(mean, covariance)
    _check_dimension(basis, mu.shape[-1])
    mu, lower, centers, width = basis._with(mu, lower)
    sigma = lower @ lower.mT
    eye = torch.eye(mu.shape[-1], dtype=mu.dtype, device=mu.device)
    summed = factor("covariance", sigma[..., None, :, :] + width[:, None, None] ** 2 * eye)
    away = solve_triangular(summed, (mu[..., None, :] - centers)[..., None], upper=False)
    near = away.clamp(-REACH, REACH).square().sum((-2, -1)) / 2
    shrunk = (width[:, None] / summed.diagonal(dim1=-2, dim2=-1)).log().sum(-1)
    return (shrunk - near).exp(), mu, sigma, away, summed


def _parabola(mean: Tensor, covariance: Tensor, basis: Basis) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return ∫ x^k ψ_j(μ + a x) dx over [−1, 1] for k = 0, 1, 2, all (..., N), and μ and a, both (..., 1)."""
    mu, lower = located(mean, covariance)
    if mu.shape[-1] != 1:
        raise ValueError(f"mean: expected (..., 1), the parabola's expectations are known on the line, got {tuple(mean.shape)}")
    _check_dimension(basis, 1)
    mu, lower, centers, width = basis._with(mu, lower)
    half = lower.squeeze(-1) * radius(lower)[..., None]
    away, reach = (centers.squeeze(-1) - mu) / width, half / width
    wide = reach <= 1
    by_nodes = _by_quadrature(away, torch.where(wide, reach, 1.0))
    by_erfc = _by_error_function(torch.where(wide, 0.0, away), torch.where(wide, 1.0, reach))
    zeroth, first, second = (torch.where(wide, x, y) for x, y in zip(by_nodes, by_erfc, strict=True))
    return zeroth, first, second, mu, half


def _by_quadrature(away: Tensor, reach: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """∫ x^k exp(−½(ρx − δ)²) dx for ρ ≤ 1, where the closed form would subtract numbers near each other."""
    nodes, weights = (torch.tensor(x, dtype=away.dtype, device=away.device) for x in _legendre())
    bumps = weights * (-(reach[..., None] * nodes - away[..., None]).clamp(-REACH, REACH).square() / 2).exp()
    return bumps.sum(-1), (bumps * nodes).sum(-1), (bumps * nodes**2).sum(-1)


@cache
def _legendre() -> tuple[list[float], list[float]]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes.tolist(), weights.tolist()


def _by_error_function(away: Tensor, reach: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """∫ x^k exp(−½(ρx − δ)²) dx in closed form, for ρ ≥ 1; with erfc of the distances from |δ|, so that tails stay exact."""
    mirrored = away < 0
    delta = torch.where(mirrored, -away, away)  # not abs, whose second derivative at 0 is not that of the integral
    near, far = (delta - reach).clamp(-REACH, REACH), (delta + reach).clamp(-REACH, REACH)
    zeroth = math.sqrt(math.pi / 2) * ((near / math.sqrt(2)).erfc() - (far / math.sqrt(2)).erfc()) / reach
    right, left = (-near.square() / 2).exp(), (-far.square() / 2).exp()
    m, squared = delta / reach, 1 / reach**2
    first = m * zeroth + squared * (left - right)
    second = (squared + m**2) * zeroth - squared * ((1 + m) * right + (1 - m) * left)
    return zeroth, torch.where(mirrored, -first, first), second


def _check_dimension(basis: Basis, d: int) -> None:
    if basis.centers.shape[-1] != d:
        raise ValueError(f"basis: expected centers in {d} dimensions like the mean, got {tuple(basis.centers.shape)}")


def _root_weights(mask: Tensor, values: Tensor) -> Tensor:
    """√w for the mask's weights: 1 and 0, or exp(mask/2)."""
    mask = check_mask(mask, values.shape[:-1], values, exact=True)
    if mask.dtype == torch.bool:
        return mask.to(values.dtype)
    return (mask.to(compute_dtype(mask.dtype)) / 2).exp()
