"""The two densities that quadratic scores make, and their parameters.  Notation, shapes and dtypes: see the package."""

import math

import torch
from torch import Tensor
from torch.linalg import solve_triangular

from numerics.arguments import (
    check_leading,
    common,
    compute_dtype,
    describe,
    floating,
    is_dense,
    readable,
    result_dtype,
    without_autocast,
)


@without_autocast
def moments(linear: Tensor, quadratic: Tensor) -> tuple[Tensor, Tensor]:
    """Return μ = −½Θ₂⁻¹θ₁ and Σ = −½Θ₂⁻¹, the mean and covariance of the continuous softmax (``geometric.s8.natural``).

    Args:
        linear: θ₁, floating, (..., d).
        quadratic: Θ₂, floating, (..., d, d), negative definite.

    Returns:
        (..., d) and (..., d, d), in the wider dtype of the two.

    Raises:
        ValueError: for other shapes or dtypes, or if Θ₂ is not negative definite.
    """
    lower, theta = common(
        factor("quadratic", -2 * quadratic if is_dense(quadratic) else quadratic, "negative"), floating("linear", linear, "d")
    )
    floating("linear", linear, "d", last=lower.shape[-1])
    check_leading("linear", linear.shape[:-1], "quadratic", quadratic.shape[:-2])
    dtype = result_dtype(linear, quadratic)
    return _solve(lower, theta[..., None]).squeeze(-1).to(dtype), _inverse(lower).to(dtype)


@without_autocast
def natural(mean: Tensor, covariance: Tensor) -> tuple[Tensor, Tensor]:
    """Return θ₁ = Σ⁻¹μ and Θ₂ = −½Σ⁻¹ (``geometric.s8.natural``).

    Args:
        mean: μ, floating, (..., d).
        covariance: Σ, floating, (..., d, d), positive definite.

    Returns:
        (..., d) and (..., d, d), in the wider dtype of the two.

    Raises:
        ValueError: for other shapes or dtypes, or if Σ is not positive definite.
    """
    mu, lower = located(mean, covariance)
    dtype = result_dtype(mean, covariance)
    return _solve(lower, mu[..., None]).squeeze(-1).to(dtype), (-_inverse(lower) / 2).to(dtype)


@without_autocast
def scores(points: Tensor, linear: Tensor, quadratic: Tensor) -> Tensor:
    """Return f(t) = θ₁ᵀt + tᵀΘ₂t, for any Θ₂.

    Args:
        points: t, floating, (..., P, d).
        linear: θ₁, floating, (..., d).
        quadratic: Θ₂, floating, (..., d, d).

    Returns:
        (..., P), in the widest dtype of the three.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    d = floating("linear", linear, "d").shape[-1]
    t, first, second = common(
        floating("points", points, "P", "d", last=d),
        floating("linear", linear, "d"),
        floating("quadratic", quadratic, "d", "d", last=d),
    )
    if second.shape[-2] != d:
        raise ValueError(f"quadratic: expected (..., d, d) with d = {d}, got {tuple(quadratic.shape)}")
    check_leading("quadratic", second.shape[:-2], "linear", first.shape[:-1])
    check_leading("points", t.shape[:-2], "linear", first.shape[:-1])
    value = (t @ first[..., None]).squeeze(-1) + ((t @ second) * t).sum(-1)
    return value.to(result_dtype(points, linear, quadratic))


@without_autocast
def softmax_log_density(points: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """Return log N(t; μ, Σ), the logarithm of the continuous softmax (``geometric.s8.gaussian``).

    Args:
        points: t, floating, (..., P, d).
        mean: μ, floating, (..., d).
        covariance: Σ, floating, (..., d, d), positive definite.

    Returns:
        (..., P), in the widest dtype of the three.

    Raises:
        ValueError: for other shapes or dtypes, or if Σ is not positive definite.
    """
    squared, lower = _distance(points, mean, covariance)
    d = lower.shape[-1]
    value = -squared / 2 - _half_log_determinant(lower)[..., None] - d / 2 * math.log(2 * math.pi)
    return value.to(result_dtype(points, mean, covariance))


@without_autocast
def softmax_density(points: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """Return N(t; μ, Σ), the continuous softmax (``geometric.s8.gaussian``); arguments as for its logarithm."""
    value = softmax_log_density(floating("points", points), mean, covariance).exp()
    return value.to(result_dtype(points, mean, covariance))


@without_autocast
def sparsemax_radius(covariance: Tensor) -> Tensor:
    """Return R, in units of Σ: the support of the continuous sparsemax is r ≤ R (``geometric.s8.paraboloid-mass``).

    On the line its half-width is a = σR = (3σ²/2)^{1/3}.

    Args:
        covariance: Σ, floating, (..., d, d), positive definite.

    Returns:
        (...), in its dtype.

    Raises:
        ValueError: for other shapes or dtypes, or if Σ is not positive definite.
    """
    return radius(factor("covariance", covariance)).to(covariance.dtype)


@without_autocast
def sparsemax_density(points: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """Return ½(R² − r²)₊ with r² = (t − μ)ᵀΣ⁻¹(t − μ), the continuous sparsemax (``geometric.s8.sparsemax``).

    Arguments, result and errors as for ``softmax_log_density``.
    """
    squared, lower = _distance(points, mean, covariance)
    value = (radius(lower)[..., None] ** 2 - squared).clamp(min=0) / 2
    return value.to(result_dtype(points, mean, covariance))


@without_autocast
def sparsemax_covariance(covariance: Tensor) -> Tensor:
    """Return R²Σ/(d + 4), the covariance of the continuous sparsemax (``geometric.s8.paraboloid-covariance``).

    Its mean is μ. Arguments and errors as for ``sparsemax_radius``.

    Returns:
        (..., d, d), in the dtype of ``covariance``.
    """
    lower = factor("covariance", covariance)
    scaled = lower * radius(lower)[..., None, None]
    return ((scaled @ scaled.mT) / (lower.shape[-1] + 4)).to(covariance.dtype)


@without_autocast
def located(mean: Tensor, covariance: Tensor) -> tuple[Tensor, Tensor]:
    """Return μ and the Cholesky factor of Σ in one dtype, after checking their shapes.

    Raises:
        ValueError: for shapes or dtypes that do not fit, or a Σ that is not positive definite.
    """
    lower = factor("covariance", covariance)
    mu = floating("mean", mean, "d", last=lower.shape[-1])
    check_leading("mean", mu.shape[:-1], "covariance", lower.shape[:-2])
    mu, lower = common(mu, lower)
    return mu, lower


@without_autocast
def factor(name: str, x: Tensor, sign: str = "positive") -> Tensor:
    """Return the Cholesky factor of the symmetric part of a square matrix (..., d, d).

    Args:
        name: of the argument, for the message.
        x: floating; the matrix that must be positive definite.
        sign: the message's word for the caller's matrix, positive or negative.

    Returns:
        (..., d, d), lower; NaN where the matrix is not positive definite and nothing can be read.

    Raises:
        ValueError: for a matrix that is not square, or that is not positive definite.
    """
    if not is_dense(x) or not x.is_floating_point() or x.ndim < 2 or x.shape[-1] == 0 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name}: expected a dense floating tensor (..., d, d) with d ≥ 1, got {describe(x)}")
    wide = x.to(compute_dtype(x.dtype))
    symmetric = (wide + wide.mT) / 2
    lower, info = torch.linalg.cholesky_ex(symmetric)
    sound = (info == 0) & torch.isfinite(symmetric).all(-1).all(-1)
    if readable(sound) and not bool(sound.all()):
        worst = int((~sound).sum())
        raise ValueError(f"{name}: expected {sign} definite matrices, got {worst} of {sound.numel()} that are not")
    return torch.where(sound[..., None, None], lower, torch.nan)


@without_autocast
def radius(lower: Tensor) -> Tensor:
    """Return R = ((d + 2) Γ(d/2 + 1) / (π^{d/2} √|Σ|))^{1/(d+2)}, from the Cholesky factor of Σ."""
    d = lower.shape[-1]
    constant = math.log(d + 2) + math.lgamma(d / 2 + 1) - d / 2 * math.log(math.pi)
    return ((constant - _half_log_determinant(lower)) / (d + 2)).exp()


def _distance(points: Tensor, mean: Tensor, covariance: Tensor) -> tuple[Tensor, Tensor]:
    """Return (t − μ)ᵀΣ⁻¹(t − μ), (..., P), and the Cholesky factor of Σ."""
    mu, lower = located(mean, covariance)
    t, mu, lower = common(floating("points", points, "P", "d", last=mu.shape[-1]), mu, lower)
    rows = torch.broadcast_shapes(mu.shape[:-1], lower.shape[:-2])  # type: ignore[no-untyped-call]
    check_leading("points", t.shape[:-2], "mean and covariance", rows)
    away = t.isinf().any(-1) & ~t.isnan().any(-1)  # 0 · inf would be NaN in what is solved
    steps = torch.where(away.unsqueeze(-1), 0.0, t - mu[..., None, :])
    squared = solve_triangular(lower, steps.mT, upper=False).square().sum(-2)
    return torch.where(away & ~squared.isnan(), torch.inf, squared), lower


def _half_log_determinant(lower: Tensor) -> Tensor:
    total: Tensor = lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return total


def _solve(lower: Tensor, right: Tensor) -> Tensor:
    solution: Tensor = solve_triangular(lower.mT, solve_triangular(lower, right, upper=False), upper=True)
    return solution


def _inverse(lower: Tensor) -> Tensor:
    inverse: Tensor = solve_triangular(lower, torch.eye(lower.shape[-1], dtype=lower.dtype, device=lower.device), upper=False)
    return inverse.mT @ inverse
