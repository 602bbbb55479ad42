"""The check of derivatives refuses a derivative that is wrong in one entry, of either order, in either mode."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from tests.numerics.derivatives import check_once, check_twice, compare, differences, jacobians

# Forward-mode differentiation compiles its decompositions with what the same release of PyTorch deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

X = torch.tensor([[0.3, -0.7, 1.1], [0.2, 0.9, -0.4]], dtype=torch.float64, requires_grad=True)
Y = torch.tensor([0.5, 1.5, -0.5], dtype=torch.float64, requires_grad=True)


def plain(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return (x.sin() * y).sum(-1), x.exp()


class OffByOneEntry(torch.autograd.Function):
    """exp, whose derivative is off by 1e-3 in one entry of the first order, or of the second."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, order: int) -> Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.order = inputs[1]

    @staticmethod
    def backward(ctx: Any, up: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        error = torch.zeros_like(x)
        error[..., -1] = 2e-3
        slope = x.exp() + error if ctx.order == 1 else x.exp() + error * (x - x.detach())
        return up * slope, None


def test_what_is_right_passes() -> None:
    check_twice(plain, (X, Y), every_mode=True)
    check_twice(lambda x: torch.linalg.inv(x[..., :2]), (X,))
    check_twice(lambda x, y: (x.sin() * y.unsqueeze(-2)).sum((-2, -1)), (X, Y), batched=True)
    check_once(lambda x: x.abs(), (X,))


@pytest.mark.parametrize("order", [1, 2])
def test_one_wrong_entry_is_seen(order: int) -> None:
    x = torch.tensor([0.1, -0.2, -5.0], dtype=torch.float64, requires_grad=True)

    def function(x: Tensor) -> Tensor:
        return OffByOneEntry.apply(x, order)

    with pytest.raises((AssertionError, GradcheckError)):
        check_twice(function, (x,))
    if order == 1:
        with pytest.raises(AssertionError, match="derivative of output 0 in input 0"):
            compare(torch.func.vmap(function), (x.detach(),))
    else:
        check_once(function, (x,))


def test_a_detached_input_is_seen() -> None:
    with pytest.raises((AssertionError, GradcheckError)):
        check_once(lambda x, y: (x * y.detach()).sin() + 0 * y, (X, Y))


def test_rows_of_a_batch_that_meet_are_seen() -> None:
    """A function said to take batches whose rows depend on each other."""
    with pytest.raises((AssertionError, GradcheckError)):
        check_once(lambda x: x.sin() * x.sum(0), (Y,), batched=True)


def test_the_jacobians_are_those_of_torch() -> None:
    leaves = (X.detach(), Y.detach())
    expected = torch.func.jacrev(plain, (0, 1))(*leaves)
    mapped = torch.func.vmap(plain)
    for number, of_output in enumerate(jacobians(mapped, leaves)):
        for at, actual in enumerate(of_output):
            wanted = expected[number][at].reshape(-1, leaves[at].numel()).mT
            torch.testing.assert_close(actual, wanted, rtol=0.0, atol=1e-14)
            torch.testing.assert_close(differences(mapped, leaves, at)[number], wanted, rtol=1e-7, atol=1e-8)
