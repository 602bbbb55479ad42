"""Random features: an unbiased kernel, and weights whose variance and bias are derived and compared with quadrature."""

import math

import pytest
import torch
from torch import Tensor

from numerics import linear
from tests.numerics.common import close
from tests.numerics.test_linear import F64, generator, normal


def hermite(count: int) -> tuple[Tensor, Tensor]:
    """Nodes and weights that integrate polynomials of degree 2·count − 1 against the standard normal density, exactly."""
    subdiagonal = torch.arange(1, count, dtype=F64).sqrt()
    nodes, vectors = torch.linalg.eigh(subdiagonal.diag(1) + subdiagonal.diag(-1))
    return nodes, vectors[0].square()


@pytest.mark.parametrize("seed", range(4))
def test_mean_and_covariance_of_the_kernel(seed: int) -> None:
    """For F = 1 every moment is an integral over ω in ℝ², computed here by Gauss–Hermite quadrature."""
    q, k = 0.6 * normal(seed, 1, 2), 0.6 * normal(seed + 1, 3, 2)
    nodes, weights = hermite(40)
    omega = torch.cartesian_prod(nodes, nodes).unsqueeze(-2)
    mass = torch.cartesian_prod(weights, weights).prod(-1)
    sample = (linear.positive_random_features(q, omega) * linear.positive_random_features(k, omega)).squeeze(-1)
    mean = mass @ sample
    kernel = (q @ k.mT).exp().squeeze(0)
    close(mean, kernel, 1e-11)
    covariance = (sample - mean).mT @ (mass.unsqueeze(-1) * (sample - mean))
    close(covariance.diagonal(), linear.kernel_variance(q, k, 1).squeeze(0), 1e-9)
    sums = q + k
    close(covariance, kernel.unsqueeze(-1) * kernel * (sums @ sums.mT).expm1(), 1e-9)
    close(linear.kernel_variance(q, k, 7), linear.kernel_variance(q, k, 1) / 7, 1e-15)


def sampled(seed: int, count: int, width: int, draws: int = 200_000) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys, and draws of the kernel and of the weights for ``count`` features."""
    q, k = 0.4 * normal(seed, 1, width), 0.4 * normal(seed + 1, 3, width)
    omega = torch.randn(draws, count, width, generator=generator(seed + 2), dtype=F64)
    left, right = linear.positive_random_features(q, omega), linear.positive_random_features(k, omega)
    return q, k, (left @ right.mT).squeeze(-2), linear.kernel_weights(left, right).squeeze(-2)


@pytest.mark.parametrize("seed", range(2))
def test_the_kernel_is_unbiased_and_the_weights_are_not(seed: int) -> None:
    q, k, kernel, weights = sampled(seed, 32, 2)
    error = kernel.std(0) / kernel.shape[0] ** 0.5
    exact = (q @ k.mT).exp().squeeze(0)
    assert ((kernel.mean(0) - exact).abs() <= 5 * error).all()
    spread = (kernel.var(0) - linear.kernel_variance(q, k, 32).squeeze(0)).abs()
    assert (spread <= 5 * (kernel - exact).square().std(0) / kernel.shape[0] ** 0.5).all()
    bias = weights.mean(0) - (q @ k.mT).softmax(-1).squeeze(0)
    assert (bias.abs().max() > 10 * weights.std(0) / weights.shape[0] ** 0.5).any()


@pytest.mark.parametrize("seed", range(3))
def test_the_bias_of_the_weights_has_the_derived_leading_term(seed: int) -> None:
    """F·bias = c + d/F + e/F² + …: from F and 2F, 2 (2F·bias) − F·bias = c + O(e/F²), and d/F tells how large that can be.

    Most of a weight's noise is its first-order term (N_j − p_j Σ_l N_l)/Σ_l κ_l, whose mean is zero exactly: it is taken off.
    """
    estimates, errors = [], []
    for count in (32, 64):
        q, k, kernel, weights = sampled(seed, count, 2, draws=100_000)
        exact = (q @ k.mT).exp().squeeze(0)
        p = exact / exact.sum()
        quieter = weights - p - (kernel - p * kernel.sum(-1, keepdim=True)) / exact.sum()
        estimates.append(count * quieter.mean(0))
        errors.append(count * quieter.std(0) / quieter.shape[0] ** 0.5)
    leading = linear.ratio_bias(q, k, 1).squeeze(0)
    allowed = 5 * (2 * errors[1] + errors[0]) + (estimates[1] - estimates[0]).abs()
    extrapolated = 2 * estimates[1] - estimates[0]
    assert ((extrapolated - leading).abs() <= allowed).all()
    assert (leading.abs() > 4 * allowed).any()  # so that neither zero nor a third too much would pass
    close(leading.sum(), torch.zeros((), dtype=F64), 1e-15)


def test_equal_keys_have_no_bias() -> None:
    q, k = normal(0, 4, 3), normal(1, 1, 3).expand(5, 3)
    close(linear.ratio_bias(q, k, 8), torch.zeros(4, 5, dtype=F64), 1e-12)
    omega = normal(2, 8, 3)
    phi = linear.positive_random_features
    close(linear.kernel_weights(phi(q, omega), phi(k, omega)), torch.full((4, 5), 0.2, dtype=F64), 1e-15)


def test_more_features_come_nearer_to_softmax() -> None:
    q, k, v = normal(0, 4, 3) / 2, normal(1, 6, 3) / 2, normal(2, 6, 2)
    exact = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    errors = []
    for count in (100, 100_000):
        omega = normal(3, count, 3)
        errors.append(float((linear.random_feature_attention(q, k, v, omega, math.sqrt(3)) - exact).abs().max()))
    assert errors[1] < errors[0] / 5
    assert errors[1] < 0.01


def test_large_scores_do_not_overflow() -> None:
    q, k, v, omega = 100 * normal(0, 4, 3), 100 * normal(1, 6, 3), normal(2, 6, 2), normal(3, 50, 3)
    big = linear.random_feature_attention(q, k, v, omega)
    assert big.isfinite().all()
    shifts = linear.random_feature_attention(q / 50, k / 50, v, omega)
    phi = linear.positive_random_features
    close(shifts, linear.linear_attention(phi(q / 50, omega), phi(k / 50, omega), v), 1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_every_row_has_weights_whatever_is_rounded(causal: bool) -> None:
    """Values of one come back as one: at scores of 1e30, a peak from sums in another order leaves nothing of some rows."""
    q, k = normal(0, 50, 70, 3), normal(1, 50, 70, 3)
    output = linear.random_feature_attention(q, k, torch.ones(50, 70, 1, dtype=F64), 1e30 * normal(2, 5, 3), causal=causal)
    close(output, torch.ones_like(output), 1e-12)
