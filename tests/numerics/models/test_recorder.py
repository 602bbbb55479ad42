"""What the recorder notes of the operations of a model, which it does not change."""

import pytest
import torch
from torch import Tensor

from numerics.models.recorder import Product, Recorder

LEFT, RIGHT = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(2, 4, 5, dtype=torch.float64)
ADDEND = torch.randn(2, 3, 5, dtype=torch.float64)


def rebuilt(product: Product) -> Tensor:
    plain = product.alpha * (product.left @ product.right)
    return plain if product.addend is None else product.beta * product.addend + plain


@pytest.mark.parametrize(
    "operation",
    [
        lambda: LEFT @ RIGHT,
        lambda: torch.matmul(LEFT, RIGHT),
        lambda: torch.bmm(LEFT, RIGHT),
        lambda: torch.baddbmm(ADDEND, LEFT, RIGHT),
        lambda: ADDEND.baddbmm(batch1=LEFT, batch2=RIGHT, beta=0.5, alpha=0.25),
    ],
)
def test_a_product_is_noted_with_its_factors(operation) -> None:
    with Recorder(differentiable=False) as recorder:
        result = operation()
    (product,) = recorder.products
    torch.testing.assert_close(rebuilt(product), result)
    assert product.result is result
    assert not recorder.softmaxes


def test_a_softmax_is_noted_with_its_logits() -> None:
    with Recorder(differentiable=False) as recorder:
        probabilities = ADDEND.softmax(-1)
    assert [(logits is ADDEND, result is probabilities) for logits, result in recorder.softmaxes] == [(True, True)]


@pytest.mark.parametrize("differentiable", [True, False])
def test_results_require_gradients_on_request(differentiable: bool) -> None:
    with Recorder(differentiable) as recorder:
        first = LEFT @ RIGHT
        second = torch.baddbmm(first, LEFT, RIGHT)
    assert (first.requires_grad, second.requires_grad) == (differentiable,) * 2
    assert [product.result for product in recorder.products] == [first, second]
