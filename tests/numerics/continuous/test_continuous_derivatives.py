"""Continuous attention: derivatives against the covariance formula and finite differences, and torch's transforms."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from evidence.instances.continuous import F64, Continuous, continuous, integral
from numerics import continuous as ct
from tests.numerics.common import PATIENT, close

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def natural(x: Continuous) -> tuple[Tensor, Tensor]:
    return ct.natural(x["mean"], x["covariance"])


def slopes(expectation: Callable[..., Tensor], x: Continuous) -> tuple[Tensor, Tensor]:
    """∂E_p[ψ]/∂(θ₁, Θ₂) by reverse differentiation."""
    function = lambda linear, quadratic: expectation(*ct.moments(linear, quadratic), x.basis)  # noqa: E731
    jacobians: tuple[Tensor, Tensor] = torch.func.jacrev(function, argnums=(0, 1))(*natural(x))
    return jacobians


def steepness(x: Continuous) -> float:
    """The largest factor by which a slope in θ may multiply an error: Σ enters up to the fourth power."""
    return x.tolerance(x["covariance"] ** 2, x["mean"] ** 2) * x.condition


@PATIENT
@given(continuous(max_d=3))
def test_gaussian_slopes_are_covariances(x: Continuous) -> None:
    linear, quadratic = slopes(ct.softmax_expectation, x)
    first, second = ct.softmax_covariances(*x.arguments)
    close(linear, first, steepness(x))
    close(quadratic, second, steepness(x))


@settings(PATIENT, max_examples=40)
@given(continuous(max_d=1))
def test_covariances_on_the_line_by_quadrature(x: Continuous) -> None:
    mu, variance, basis = x.arguments
    powers = [lambda t: t, lambda t: t**2]

    def gaussian(function: Callable[[Tensor], Tensor]) -> Tensor:
        return integral(lambda t: ct.softmax_density(t, mu, variance)[:, None] * function(t), x.cuts())

    half = float(ct.sparsemax_radius(variance) * variance.sqrt())

    def uniform(function: Callable[[Tensor], Tensor]) -> Tensor:
        return integral(function, x.parabola_cuts(half))

    parabola_slopes, covariances = slopes(ct.sparsemax_expectation, x), ct.softmax_covariances(*x.arguments)
    generalized = ct.sparsemax_covariances(*x.arguments)
    for k, power in enumerate(powers):
        covariance = gaussian(lambda t, f=power: basis.at(t) * f(t)) - gaussian(basis.at) * gaussian(power)
        close(covariances[k].flatten(), covariance, steepness(x))
        over_support = uniform(lambda t, f=power: basis.at(t) * f(t)) - uniform(basis.at) * uniform(power) / (2 * half)
        close(generalized[k].flatten(), over_support, steepness(x) * (1 + half**3))
        close(parabola_slopes[k].flatten(), over_support, steepness(x) * (1 + half**3))


CENTERS = torch.tensor([[0.0, 1.0], [-1.0, 0.5], [0.5, -0.5]], dtype=F64)
MEAN = Continuous(1, 11, 2.0)["mean"]

FUNCTIONS: dict[str, tuple[int, Callable[..., Tensor]]] = {
    "softmax_expectation": (2, lambda m, s, c, w, B: ct.softmax_expectation(m, s, ct.Basis(c, w))),
    "softmax_covariances": (2, lambda m, s, c, w, B: ct.softmax_covariances(m, s, ct.Basis(c, w))[1]),
    "softmax_log_density": (2, lambda m, s, c, w, B: ct.softmax_log_density(c, m, s)),
    "sparsemax_density": (2, lambda m, s, c, w, B: ct.sparsemax_density(c / 8, m, s)),
    "sparsemax_covariance": (2, lambda m, s, c, w, B: ct.sparsemax_covariance(s)),
    "natural": (2, lambda m, s, c, w, B: torch.cat([x.flatten() for x in ct.natural(m, s)])),
    "moments": (2, lambda m, s, c, w, B: torch.cat([x.flatten() for x in ct.moments(m, -s)])),
    "scores": (2, lambda m, s, c, w, B: ct.scores(c, m, s)),
    "values": (2, lambda m, s, c, w, B: ct.Basis(c, w).values(B, m[None])),
    "attend": (2, lambda m, s, c, w, B: ct.attend(B, m, s, ct.Basis(c, w))),
    "fit": (2, lambda m, s, c, w, B: ct.fit(B.mT, c + m, ct.Basis(CENTERS, w), 0.3)),
    "fit, weighted": (2, lambda m, s, c, w, B: ct.fit(B.mT, c, ct.Basis(CENTERS, w), 0.3, B[0])),
    "sparsemax_expectation": (1, lambda m, s, c, w, B: ct.sparsemax_expectation(m, s, ct.Basis(c, w))),
    "sparsemax_expectation, centred": (1, lambda m, s, c, w, B: ct.sparsemax_expectation(m, s, ct.Basis(MEAN[None], 0.3))),
    "sparsemax_covariances": (1, lambda m, s, c, w, B: ct.sparsemax_covariances(m, s, ct.Basis(c, w))[1]),
    "attend, sparsemax": (1, lambda m, s, c, w, B: ct.attend(B, m, s, ct.Basis(c, w), "sparsemax")),
}


def leaves(d: int) -> tuple[Tensor, ...]:
    """Mean, covariance, centers, widths on both sides of the two branches, coefficients."""
    x = Continuous(d, 11, 2.0)
    widths = torch.tensor([0.3, 1.0, 2.5], dtype=F64)
    B = torch.randn(2, 3, dtype=F64, generator=torch.Generator().manual_seed(1))
    return tuple(part.clone().requires_grad_() for part in (x["mean"], x["covariance"], x["centers"], widths, B))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name: str) -> None:
    d, function = FUNCTIONS[name]
    assert gradcheck(function, leaves(d))
    assert gradgradcheck(function, leaves(d))


def test_a_wrong_derivative_is_detected() -> None:
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(lambda m, s, c, w, B: ct.attend(B, m, s.detach(), ct.Basis(c, w)) + 0 * s.sum(), leaves(2))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_transforms(name: str) -> None:
    """vmap agrees with the loop, forward with reverse mode, and the Hessian composes both."""
    d, function = FUNCTIONS[name]
    inputs = tuple(x.detach() for x in leaves(d))
    means = torch.stack([inputs[0], inputs[0] + 0.2])
    together = torch.func.vmap(lambda m: function(m, *inputs[1:]))(means)
    single = torch.stack([function(m, *inputs[1:]) for m in means])
    scale = 1 + float(single.abs().max())
    close(together, single, Continuous(d, 11, 2.0).tolerance(scale))
    forward = torch.func.jacfwd(function, argnums=(0, 1))(*inputs)
    reverse = torch.func.jacrev(function, argnums=(0, 1))(*inputs)
    for one, other in zip(forward, reverse, strict=True):
        close(one, other, steepness(Continuous(d, 11, 2.0)) * (1 + float(other.abs().max())))
    assert torch.func.hessian(lambda m: function(m, *inputs[1:]).square().sum())(inputs[0]).isfinite().all()


def test_inside_vmap_a_covariance_that_is_not_positive_definite_gives_nan() -> None:
    covariances = torch.tensor([[[1.0]], [[-1.0]]], dtype=F64)
    basis = ct.Basis(torch.zeros(1, 1, dtype=F64), 1.0)
    mean = torch.func.vmap(lambda s: ct.softmax_expectation(torch.zeros(1, dtype=F64), s, basis))(covariances)
    assert mean.isnan().flatten().tolist() == [False, True]


def test_masked_observations_have_no_gradient() -> None:
    v = torch.full((4, 2), torch.nan, dtype=F64)
    v[:2] = 1.0
    t = torch.linspace(0, 1, 4, dtype=F64)[:, None]
    v.requires_grad_(), t.requires_grad_()
    B = ct.fit(v, t, ct.Basis(t.detach(), 0.5), 0.1, torch.tensor([True, True, False, False]))
    for gradient in torch.autograd.grad(B.square().sum(), (v, t)):
        assert gradient.isfinite().all()
        assert (gradient[2:] == 0).all()
        assert (gradient[:2] != 0).any()


def test_bumps_are_flat_infinitely_far_away() -> None:
    points = torch.tensor([[torch.inf], [-torch.inf], [1e200]], dtype=F64, requires_grad=True)
    heights = ct.Basis(torch.zeros(2, 1, dtype=F64), 0.5).at(points)
    assert (heights == 0).all()
    assert (torch.autograd.grad(heights.sum(), points)[0] == 0).all()


def test_the_edge_of_the_parabola_has_a_derivative() -> None:
    """At the end of the support the density has a kink, and its slope is that of one side."""
    mu, sigma = torch.zeros(1, dtype=F64, requires_grad=True), torch.eye(1, dtype=F64).requires_grad_()
    half = ct.sparsemax_radius(sigma).detach()
    density = ct.sparsemax_density(torch.stack([-half, half, 2 * half])[:, None], mu, sigma)
    for gradient in torch.autograd.grad(density.sum(), (mu, sigma)):
        assert gradient.isfinite().all()
