"""Fisher matrix, products and natural gradient, compared with autograd, dense linear algebra and the definition."""

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor
from torch.autograd.functional import hessian
from torch.testing import assert_close

from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics import fisher, one_sided, tolerances

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
PATIENT = settings(deadline=None, max_examples=60)
PRODUCTS = [
    fisher.fisher_product,
    fisher.jacobian_product,
    fisher.pseudo_inverse_product,
    fisher.natural_gradient,
    fisher.natural_direction,
]
TEMPERATURES = (1.0, 0.5, 4.0)

in_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_product = pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.__name__)


def close(actual: Tensor, expected: Tensor, atol: float) -> None:
    """``assert_close`` with an absolute tolerance only; it checks shapes and dtypes, and does not broadcast."""
    assert_close(actual, expected, atol=atol, rtol=0.0)


def plan_of(x: OneSided) -> Tensor:
    return one_sided.plan(x.scores, x.temperature, x.mask)


def magnitude(x: Tensor) -> float:
    return max(1.0, float(x.double().abs().max()))


def apply(matrix: Tensor, x: Tensor) -> Tensor:
    return (matrix @ x.double().unsqueeze(-1)).squeeze(-1)


@in_dtypes
def test_matrix_is_the_expected_product_of_log_slopes(dtype: torch.dtype) -> None:
    @PATIENT
    @given(one_sided_problems(dtype, temperatures=TEMPERATURES))
    def check(x: OneSided) -> None:
        p, tau = plan_of(x), x.temperature
        actual, wide = fisher.fisher(p, tau), p.double()
        slopes = (torch.eye(x.m, dtype=torch.float64) - wide.unsqueeze(-2)) / tau  # ∂log p_i/∂s_j, i on the last axis but one
        expected = slopes.mT @ (wide.unsqueeze(-1) * slopes)
        excess = float((wide.sum(-1) - (~x.dead).double()).abs().max())  # of a plan that is rounded: Σ p ≠ 1
        atol = tolerances.rounding(dtype, x.m, 2 / tau**2) + 2 * excess / tau**2
        assert actual.dtype == dtype
        close(actual.double(), torch.where(x.dead[..., None, None], 0.0, expected), atol)
        close(actual, actual.mT, 0.0)

    check()


@in_dtypes
def test_products_agree_with_the_matrices(dtype: torch.dtype) -> None:
    @PATIENT
    @given(one_sided_problems(dtype, temperatures=TEMPERATURES))
    def check(x: OneSided) -> None:
        p, u, tau = plan_of(x), x.utility, x.temperature
        u = u.expand_as(p)
        covariance = p.double().diag_embed() - p.double().unsqueeze(-1) * p.double().unsqueeze(-2)
        for product, power in ((fisher.fisher_product, 2), (fisher.jacobian_product, 1)):
            actual = product(p, u, tau)
            atol = tolerances.score_gradient(dtype, x.m, magnitude(u), tau**power)
            assert actual.dtype == dtype
            close(actual.double(), apply(covariance / tau**power, u), atol)
        gradient = one_sided.score_gradient(p, u, tau)
        close(-fisher.jacobian_product(p, u, tau), gradient, 2 * tolerances.score_gradient(dtype, x.m, magnitude(u), tau))

    check()


@PATIENT
@given(one_sided_problems(temperatures=TEMPERATURES, scales=(1.0, 0.0), masks=("none", "boolean", "dead row")))
def test_pseudo_inverse_is_that_of_dense_linear_algebra(x: OneSided) -> None:
    p, u, tau = plan_of(x), x.utility.expand_as(x.scores), x.temperature
    least = float(torch.where(p > 0, p, 1.0).min())
    # The eigenvalues of D − p pᵀ interlace the weights: all but one of those on the support are at least the least weight.
    dense = torch.linalg.pinv(fisher.fisher(p, tau), atol=least / 2 / tau**2, rtol=0.0, hermitian=True)
    scale = 4 * magnitude(u) * tau**2 / least
    close(fisher.pseudo_inverse_product(p, u, tau), apply(dense, u), tolerances.rounding("float64", x.m, scale * x.m / least))


@PATIENT
@given(one_sided_problems(temperatures=TEMPERATURES, scales=(1.0, 0.0), masks=("none", "boolean", "dead row")))
def test_penrose_conditions(x: OneSided) -> None:
    p, u, tau = plan_of(x), x.utility.expand_as(x.scores), x.temperature
    least = float(torch.where(p > 0, p, 1.0).min())
    atol = tolerances.rounding("float64", x.m, 8 * magnitude(u) * max(tau, 1 / tau) ** 2 / least)
    forth = fisher.fisher_product(p, u, tau)
    back = fisher.pseudo_inverse_product(p, u, tau)
    live = p > 0
    mean = torch.where(live, u, 0.0).sum(-1, keepdim=True) / live.sum(-1, keepdim=True).clamp(min=1)
    centred = torch.where(live, u - mean, 0.0)
    close(fisher.pseudo_inverse_product(p, forth, tau), centred, atol)
    close(fisher.fisher_product(p, back, tau), centred, atol)
    close(fisher.fisher_product(p, fisher.pseudo_inverse_product(p, forth, tau), tau), forth, atol)
    close(fisher.pseudo_inverse_product(p, centred, tau), back, atol)


@PATIENT
@given(one_sided_problems(temperatures=TEMPERATURES, scales=(1.0, 0.0), masks=("none", "boolean", "dead row")))
def test_natural_direction_is_minus_the_natural_gradient(x: OneSided) -> None:
    p, u, tau = plan_of(x), x.utility.expand_as(x.scores), x.temperature
    gradient = one_sided.score_gradient(p, u, tau)
    least = float(torch.where(p > 0, p, 1.0).min())
    atol = tolerances.rounding("float64", x.m, 8 * magnitude(u) * max(tau, 1 / tau) ** 2 / least)
    direction = fisher.natural_direction(p, u, tau)
    close(direction, -fisher.natural_gradient(p, gradient, tau), atol)
    close(direction.sum(-1), torch.zeros_like(direction[..., 0]), atol)
    close(fisher.natural_direction(p, u + 3.0, tau), direction, atol)


@PATIENT
@given(one_sided_problems(max_m=5, max_batch=0, temperatures=TEMPERATURES, scales=(1.0, 0.0), masks=("none",)))
def test_jacobian_and_hessian_by_autograd(x: OneSided) -> None:
    p, tau = plan_of(x), x.temperature
    atol = tolerances.rounding("float64", x.m, (1 + magnitude(x.scores)) / min(tau, 1.0))
    s = x.scores.clone().requires_grad_()
    (slope,) = torch.autograd.grad(fisher.potential(s, tau), s)
    close(slope, p, atol)
    curved = hessian(lambda scores: fisher.potential(scores, tau), x.scores)
    close(fisher.jacobian(p, tau), curved, atol)
    close(tau * fisher.fisher(p, tau), curved, atol)
    (pulled,) = torch.autograd.grad((x.utility * one_sided.plan(s, tau)).sum(), s)
    close(fisher.jacobian_product(p, x.utility, tau), pulled, atol * magnitude(x.utility))


@every_product
@in_dtypes
def test_zero_weights_take_no_part(product, dtype: torch.dtype) -> None:  # type: ignore[no-untyped-def]
    p = torch.tensor([0.25, 0.0, 0.5, 0.25, 0.0], dtype=dtype)
    x = torch.tensor([1.0, torch.inf, -2.0, 0.5, torch.nan], dtype=dtype)
    support = p > 0
    actual = product(p, x, 2.0)
    close(actual[support], product(p[support], x[support], 2.0), 0.0)
    close(actual[~support], torch.zeros(2, dtype=dtype), 0.0)
    close(product(torch.zeros_like(p), x, 2.0), torch.zeros_like(p), 0.0)


@every_product
def test_derivatives_where_weights_are_zero(product) -> None:  # type: ignore[no-untyped-def]
    p = torch.tensor([0.25, 0.0, 0.5, 0.25, 0.0], dtype=torch.float64)
    x = torch.tensor([1.0, 3.0, -2.0, 0.5, -1.0], dtype=torch.float64)
    support = p > 0
    among = [y[support].requires_grad_() for y in (p, x)]
    every = [y.clone().requires_grad_() for y in (p, x)]
    expected = torch.autograd.grad(product(*among).square().sum(), among, allow_unused=True)
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way either, in a row of zeros too
        gradients = torch.autograd.grad(product(*every).square().sum(), every, allow_unused=True)
        product(torch.zeros(5, requires_grad=True), torch.ones(5, requires_grad=True)).sum().backward()
    for actual, wanted in zip(gradients, expected, strict=True):
        if wanted is not None:
            assert bool(actual.isfinite().all())
            close(actual[support], wanted, 1e-13)


def test_matrices_of_a_batch_have_their_own_temperatures() -> None:
    p = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64).softmax(-1)
    tau = torch.tensor([[0.5, 1.0, 2.0], [4.0, 0.25, 3.0]], dtype=torch.float64)
    for matrices in (fisher.fisher, fisher.jacobian):
        batched = matrices(p, tau)
        for a, b in torch.cartesian_prod(torch.arange(2), torch.arange(3)):
            close(batched[a, b], matrices(p[a, b], float(tau[a, b])), 1e-15)


@every_product
def test_one_key_has_no_direction(product) -> None:  # type: ignore[no-untyped-def]
    close(product(torch.ones(3, 1), torch.tensor([[1.0], [-7.0], [0.0]]), 0.5), torch.zeros(3, 1), 0.0)


def test_constants_have_no_length() -> None:
    p = torch.tensor([0.25, 0.75])
    close(fisher.fisher_product(p, torch.ones(2)), torch.zeros(2), 0.0)
    assert torch.linalg.matrix_rank(fisher.fisher(p)) == 1
