"""A recorder of the tensor operations that attention is made of."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_MATRIX_PRODUCTS = (torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.bmm, torch.Tensor.bmm)
_FUSED_PRODUCTS = (torch.baddbmm, torch.Tensor.baddbmm)
_SOFTMAXES = (nn.functional.softmax, torch.softmax, torch.Tensor.softmax)


@dataclass(frozen=True)
class Product:
    """left @ right, or, where it is fused with an addition, beta·addend + alpha·(left @ right)."""

    left: Tensor
    right: Tensor
    result: Tensor
    addend: Tensor | None = None
    beta: float = 1.0
    alpha: float = 1.0


class Recorder(TorchFunctionMode):
    """Notes every matrix product and softmax called inside its `with` block, in order, without changing them.

    products    left (…, Q, D) @ right (…, D, K); with `differentiable`, their results require gradients
    softmaxes   pairs (logits, probabilities) of equal shape
    """

    def __init__(self, differentiable: bool) -> None:
        super().__init__()
        self.differentiable = differentiable
        self.products: list[Product] = []
        self.softmaxes: list[tuple[Tensor, Tensor]] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func in _MATRIX_PRODUCTS:
            self.products.append(Product(args[0], args[1], self._tracked(result)))
        elif func in _FUSED_PRODUCTS:
            self.products.append(_fused_product(self._tracked(result), *args, **kwargs))
        elif func in _SOFTMAXES:
            self.softmaxes.append((args[0], result))
        return result

    def _tracked(self, result: Tensor) -> Tensor:
        # A frozen model builds no graph before its scores.
        return result.requires_grad_() if self.differentiable and not result.requires_grad else result


def _fused_product(
    result: Tensor, addend: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Product:
    return Product(batch1, batch2, result, addend, beta, alpha)
