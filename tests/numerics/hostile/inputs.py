"""Classes of inputs: changes of one argument at a time."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.masked import masked_tensor
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

from tests.numerics.hostile.functions import Arguments, Function, M, N, base


def entry(value: float) -> Callable[[Tensor], Tensor]:
    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x.view(-1)[0] = value
        return x

    return change


def strided(x: Tensor) -> Tensor:
    return x.new_zeros(*x.shape[:-1], 2 * x.shape[-1])[..., ::2].copy_(x)


class Plain(torch.Tensor):
    """A subclass without operations of its own."""


class Own(torch.Tensor):
    """A subclass with operations of its own: its memory may be anything."""

    @classmethod
    def __torch_function__(cls, *call: Any, **options: Any) -> Any:
        return super().__torch_function__(*call, **options)


STRANGE: dict[str, Callable[[Tensor], Any]] = {
    "complex": lambda x: x.to(torch.complex128),
    "sparse": lambda x: x.to_sparse(),
    "meta": lambda x: x.to("meta"),
    "of eight bits": lambda x: x.to(torch.float8_e4m3fn),
    "quantized": lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.quint8),
    "of a subclass with operations": lambda x: x.as_subclass(Own),
    "a parameter to come": lambda _: torch.nn.UninitializedParameter(),
    "masked": lambda x: masked_tensor(x, x > 0),
    "nested": lambda x: torch.nested.nested_tensor([x, x], layout=torch.jagged),
    "a nested block": lambda x: torch.nested.nested_tensor([x, x]),
    "a list": lambda x: x.tolist(),
}
"""What holds no entries of a floating tensor."""

TENSORS: dict[str, Callable[[Tensor], Any]] = {
    "as it is": lambda x: x,
    "an axis of size 1": lambda x: x[None],
    "two problems": lambda x: torch.stack((x, x.flip(-1))),
    "no problem": lambda x: x[None][:0],
    "no last axis": lambda x: x[..., :0],
    "no rows": lambda x: x[:0],
    "one column": lambda x: x[..., :1],
    "a number": lambda x: x.reshape(-1)[0],
    "rows expanded": lambda x: x[..., :1, :].expand(x.shape) if x.ndim > 1 else x[:1].expand(x.shape),
    "last axis expanded": lambda x: x[..., :1].expand(x.shape),
    "not contiguous": strided,
    "float16": lambda x: x.half(),
    "bfloat16": lambda x: x.bfloat16(),
    "float32": lambda x: x.float(),
    "integers": lambda x: x.long(),
    "booleans": lambda x: x > 0,
    **STRANGE,
    "of a plain subclass": lambda x: x.as_subclass(Plain),
    "a parameter": lambda x: torch.nn.Parameter(x),
    "nothing": lambda _: None,
    "made in inference mode": lambda x: torch.inference_mode()(x.clone)(),
    "that requires a gradient": lambda x: x.clone().requires_grad_(),
    "zeros": torch.zeros_like,
    "one zero": entry(0.0),
    "minus what it was": lambda x: -x,
    "three times": lambda x: 3 * x,
    "an offset of 1e8": lambda x: x + 1e8,
    "a scale of 1e8": lambda x: x * 1e8,
    "a scale of 1e30": lambda x: x * 1e30,
    "a scale of 1e200": lambda x: x * 1e200,
    "a scale of 1e-30": lambda x: x * 1e-30,
    "denormal": lambda x: x * torch.finfo(x.dtype).tiny / 8,
    "the largest": lambda x: torch.full_like(x, torch.finfo(x.dtype).max),
    "a NaN": entry(math.nan),
    "a +inf": entry(math.inf),
    "a −inf": entry(-math.inf),
    "all −inf": lambda x: torch.full_like(x, -math.inf),
    "all NaN": lambda x: torch.full_like(x, math.nan),
}

NUMBERS: dict[str, Any] = {
    "1e-3": 1e-3,
    "1e3": 1e3,
    "zero": 0.0,
    "negative": -1.0,
    "NaN": math.nan,
    "+inf": math.inf,
    "denormal": 5e-324,
    "text": "1",
    "of NumPy": np.float16(0.5),
    "zero of NumPy": np.float32(0),
    "10^400": 10**400,
    "True": True,
    "None in its place": [1.0],
    "tensor": torch.tensor(0.5, dtype=torch.float64),
    "float32 tensor": torch.tensor(0.5),
    "tensor 1e-300": torch.tensor(1e-300, dtype=torch.float64),
    "tensor 1e-20": torch.tensor(1e-20, dtype=torch.float64),
    "tensor zero": torch.tensor(0.0, dtype=torch.float64),
    "tensor negative": torch.tensor(-1.0, dtype=torch.float64),
    "tensor NaN": torch.tensor(math.nan, dtype=torch.float64),
    "tensor of integers": torch.tensor(1),
    "tensor of another shape": torch.ones(7, dtype=torch.float64),
    "meta tensor": torch.ones((), device="meta"),
    "sparse tensor": torch.ones(1).to_sparse(),
}

MASKS: dict[str, Any] = {
    "all": torch.ones(M, dtype=torch.bool),
    "some": torch.arange(M) != 1,
    "none": torch.zeros(M, dtype=torch.bool),
    "too long": torch.ones(M + 1, dtype=torch.bool),
    "integers": torch.ones(M, dtype=torch.long),
    "a list": [True] * M,
    "causal": causal_upper_left(N, M),
    "causal from the right": causal_lower_right(N, M),
    "own": torch.ones(M).as_subclass(Own),
    "sparse": torch.ones(M).to_sparse(),
    "meta": torch.ones(M, dtype=torch.bool, device="meta"),
    "of eight bits": torch.ones(M).to(torch.float8_e5m2),
    "empty": torch.Tensor(),
}


def cells(function: Function, dtype: torch.dtype) -> Iterator[tuple[str, str, Arguments]]:
    """Every input of the table: its name, the changed argument, and all arguments."""
    for name in function.shapes:
        for kind, change in TENSORS.items():
            arguments = base(function, dtype)
            yield f"{name}: {kind}", name, arguments | {name: change(arguments[name])}
    if function.number is not None:
        for kind, number in NUMBERS.items():
            yield f"{function.number}: {kind}", function.number, base(function, dtype) | {function.number: number}
    for kind, mask in MASKS.items() if function.mask else ():
        yield f"mask: {kind}", "mask", base(function, dtype) | {"mask": mask}
