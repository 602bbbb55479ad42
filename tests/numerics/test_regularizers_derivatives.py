"""Derivatives of sparsemax and α-entmax, of every order and mode, in the scores and in α."""

import entmax
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradgradcheck
from torch.func import hessian, jacfwd, jacrev, vmap

from evidence.instances.one_sided import OneSided
from numerics import tolerances
from numerics.regularizers import entmax_bisect
from tests.numerics.common import close, in_dtypes, on_devices
from tests.numerics.derivatives import check_once, check_twice
from tests.numerics.sparse_rows import FEW, FUNCTIONS, drawn, every_function, normal, scores_of

# Forward-mode differentiation compiles decompositions that use features deprecated in the same release of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def masked(x: Tensor) -> Tensor:
    """The function with a masked key and a masked row, invisible to numeric differentiation."""
    allowed = torch.ones_like(x, dtype=torch.bool)
    allowed[..., 1], allowed[-1] = False, False
    return torch.where(allowed, x, -torch.inf)


@every_function
@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("mask", [False, True])
def test_differentiable_twice(name: str, dim: int, mask: bool) -> None:
    x = (0.5 * normal(4, 4)).requires_grad_()

    def call(s: Tensor) -> Tensor:
        return FUNCTIONS[name](masked(s) if mask else s, dim=dim)

    check_twice(call, (x,), every_mode=True)


@pytest.mark.parametrize("alpha", [0.6, 1.0, 1.0 + 1e-9, 1.4, 2.0, 2.6])
def test_differentiable_twice_in_alpha(alpha: float) -> None:
    x = (0.3 * normal(3, 3)).requires_grad_()
    shared = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    rows = torch.full((3, 1), alpha, dtype=torch.float64, requires_grad=True)
    for a in (shared, rows):
        check_once(lambda s, b: entmax_bisect(masked(s), b), (x, a), every_mode=True)
        assert gradgradcheck(entmax_bisect, (x, a), check_fwd_over_rev=True, fast_mode=True)


@on_devices
@in_dtypes
def test_derivatives_are_finite_and_zero_where_masked(dtype: torch.dtype, device: str) -> None:
    @FEW
    @given(drawn(dtype), st.sampled_from(sorted(FUNCTIONS)))
    def check(x: OneSided, name: str) -> None:
        scores = scores_of(x, device).requires_grad_()
        plan = FUNCTIONS[name](scores)
        up = x.utility.to(device)
        (first,) = torch.autograd.grad((plan * up).sum(), scores, create_graph=True)
        (second,) = torch.autograd.grad((first * up).sum(), scores)
        for derivative in (first, second):
            assert not derivative.isnan().any()
            assert (derivative[scores == -torch.inf] == 0).all()
            assert (derivative[x.dead] == 0).all()

    check()


@every_function
def test_the_jacobian_is_that_of_the_weights(name: str) -> None:
    alpha = {"sparsemax": 2.0, "entmax15": 1.5, "softmax": 1.0}.get(name.partition(",")[0]) or float(name.split()[-1])
    x = 0.5 * normal(6)
    plan = FUNCTIONS[name](x)
    w = torch.where(plan > 0, plan ** (2 - alpha), 0.0)
    expected = w.diag() - w[:, None] * w / w.sum()
    close(jacrev(FUNCTIONS[name])(x), expected, 1e-12)
    close(jacfwd(FUNCTIONS[name])(x), expected, 1e-12)


@every_function
def test_every_order_of_modes_gives_the_same_derivatives(name: str) -> None:
    x, v = 0.5 * normal(3, 5), normal(5, seed=1)

    def value(s: Tensor) -> Tensor:
        return (FUNCTIONS[name](s) * v).sum()

    seconds = [vmap(f)(x) for f in (hessian(value), *(a(b(value)) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd)))]
    thirds = [vmap(a(b(c(value))))(x) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd) for c in (jacrev, jacfwd)]
    for family in (seconds, thirds):
        scale = 1 + float(family[0].abs().max())
        for other in family[1:]:
            close(other, family[0], tolerances.rounding("float64", 25, 10 * scale**2))
    if "sparsemax" in name:
        assert (seconds[0] == 0).all()
    else:
        # An independent third derivative: central differences of the Hessian.
        step = 1e-5
        for j in range(5):
            e = step * torch.eye(5, dtype=torch.float64)[j]
            slope = (vmap(hessian(value))(x + e) - vmap(hessian(value))(x - e)) / (2 * step)
            close(thirds[0][..., j], slope, 1e-5 * (1 + float(slope.abs().max())))


@every_function
def test_at_a_weight_of_zero_changes_of_sign_have_no_effect(name: str) -> None:
    x, up = torch.tensor([0.3, -torch.inf, 0.1], dtype=torch.float64), torch.tensor([1.0, 0.0, -2.0], dtype=torch.float64)
    wild = torch.tensor([1.0, torch.inf, -2.0], dtype=torch.float64)
    x.requires_grad_()
    slopes = [torch.autograd.grad(FUNCTIONS[name](x), x, v)[0] for v in (up, wild)]
    close(slopes[1], slopes[0], 0.0)
    moves = [torch.func.jvp(FUNCTIONS[name], (x.detach(),), (v,))[1] for v in (up, wild)]
    close(moves[1], moves[0], 0.0)
    alpha = torch.tensor([1.4], dtype=torch.float64, requires_grad=True)
    slopes = [torch.autograd.grad(entmax_bisect(x, alpha), alpha, v)[0] for v in (up, wild)]
    close(slopes[1], slopes[0], 0.0)


def test_nested_forward_mode_in_alpha() -> None:
    z = torch.cat([0.3 * normal(3, 4), torch.tensor([[1.0], [1.2], [1.5]], dtype=torch.float64)], 1)

    def value(row: Tensor) -> Tensor:
        return (entmax_bisect(row[:-1], row[-1:] ** 2) * torch.arange(4)).sum()

    family = [vmap(f)(z) for f in (hessian(value), *(a(b(value)) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd)))]
    for other in family[1:]:
        close(other, family[0], tolerances.rounding("float64", 16, 1e3))


@every_function
def test_vmap_over_any_axis(name: str) -> None:
    x = normal(3, 4, 5)
    for axis in range(3):
        expected = torch.stack([FUNCTIONS[name](part) for part in x.unbind(axis)])
        close(vmap(FUNCTIONS[name], in_dims=axis)(x), expected, 1e-15)
    alphas = torch.tensor([1.0, 1.5, 2.0], dtype=torch.float64)
    expected = torch.stack([entmax_bisect(x, alpha) for alpha in alphas])
    close(vmap(entmax_bisect, in_dims=(None, 0))(x, alphas), expected, 1e-15)


def test_errors_of_the_package() -> None:
    x = normal(5).requires_grad_()
    assert not gradgradcheck(entmax.entmax15, (x,), raise_exception=False)
    assert entmax.entmax_bisect(x.detach(), 1.0).isnan().any() or not torch.allclose(
        entmax.entmax_bisect(x.detach(), 1.0), x.detach().softmax(-1)
    )
