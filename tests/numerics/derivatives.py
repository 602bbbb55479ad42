"""First and second derivatives against central differences, all of which one call takes.

``torch.autograd.gradcheck`` calls a function twice for every entry of its inputs, and differentiates it twice for every entry
of its outputs.  Here these entries are the rows of batches.  What gradcheck looks at besides (undefined gradients, whether
a derivative is the same again), its fast mode looks at.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.func import jacfwd, vmap

STEP, ATOL, RTOL = 1e-6, 1e-5, 1e-3  # those of gradcheck

Tensors = tuple[Tensor, ...]
Function = Callable[..., Tensor | Tensors]


def check_twice(function: Function, inputs: Sequence[Tensor], *, batched: bool = False, every_mode: bool = False) -> None:
    """Compare all entries of first and second derivatives; arguments and errors as those of `check_once`."""
    check_once(function, inputs, batched=batched, every_mode=every_mode)
    gradgradcheck(function, tuple(inputs), fast_mode=True, check_fwd_over_rev=every_mode)
    leaves, mapped = tuple(x.detach() for x in inputs), function if batched else vmap(function)
    generator = torch.Generator().manual_seed(0)
    cotangents = tuple(torch.rand(y.shape, generator=generator, dtype=y.dtype) * 2 - 1 for y in outputs(function, leaves))

    def gradients(*rows: Tensor) -> Tensors:
        """Of each row, since no row of an output depends on another row of an input."""
        of_inputs = tuple(x if x.requires_grad else x.clone().requires_grad_() for x in rows[: len(leaves)])
        values = outputs(mapped, of_inputs)
        return torch.autograd.grad(values, of_inputs, rows[len(leaves) :], create_graph=True, materialize_grads=True)

    compare(gradients, (*leaves, *cotangents))


def check_once(function: Function, inputs: Sequence[Tensor], *, batched: bool = False, every_mode: bool = False) -> None:
    """Compare all entries of first derivatives.

    Args:
        function: of float64 tensors, with one output or several.
        inputs: leaves.
        batched: whether the function itself takes batches, as one leading axis of all inputs; otherwise `vmap` makes it so.
        every_mode: whether forward mode and derivatives of batches are looked at, too.

    Raises:
        AssertionError, GradcheckError: for a derivative that differs.
    """
    gradcheck(function, tuple(inputs), fast_mode=True, check_forward_ad=every_mode, check_batched_grad=every_mode)
    leaves, mapped = tuple(x.detach() for x in inputs), function if batched else vmap(function)
    compare(mapped, leaves)
    if every_mode:
        forward = jacfwd(lambda *x: outputs(function, x), tuple(range(len(leaves))))(*leaves)
        for at, x in enumerate(leaves):
            columns = [of_output[at].reshape(-1, x.numel()).mT for of_output in forward]
            agree(columns, differences(mapped, leaves, at), at)


def compare(mapped: Function, leaves: Tensors) -> None:
    backward = jacobians(mapped, leaves)
    for at in range(len(leaves)):
        agree([of_output[at] for of_output in backward], differences(mapped, leaves, at), at)


def differences(mapped: Function, leaves: Tensors, at: int) -> list[Tensor]:
    """Of each output, a row for each entry of one input."""
    count = leaves[at].numel()
    steps = STEP * torch.eye(count, dtype=torch.float64).reshape(count, *leaves[at].shape)
    rows = [repeated(x, 2 * count) for x in leaves]
    rows[at] = leaves[at] + torch.cat([steps, -steps])
    return [((y[:count] - y[count:]) / (2 * STEP)).detach().reshape(count, -1) for y in outputs(mapped, rows)]


def jacobians(mapped: Function, leaves: Tensors) -> list[list[Tensor]]:
    """Of each output and in each input, a row for each entry of the input."""
    columns = []
    for number, shape in enumerate(y.shape[1:] for y in outputs(mapped, [repeated(x, 1) for x in leaves])):
        rows = [repeated(x, shape.numel()).requires_grad_() for x in leaves]
        output = outputs(mapped, rows)[number]
        each = torch.eye(shape.numel(), dtype=torch.float64).reshape(output.shape)
        zeros = [torch.zeros_like(x) for x in rows]
        of_rows = torch.autograd.grad(output, rows, each, materialize_grads=True) if output.requires_grad else zeros
        columns.append([x.reshape(shape.numel(), -1).mT for x in of_rows])
    return columns


def agree(derived: list[Tensor], differences: list[Tensor], at: int) -> None:
    for number, (ours, expected) in enumerate(zip(derived, differences, strict=True)):
        within = (ours - expected).abs() <= ATOL + RTOL * expected.abs()
        assert bool(within.all()), f"derivative of output {number} in input {at}: expected\n{expected}, got\n{ours}"


def repeated(x: Tensor, count: int) -> Tensor:
    return x.expand(count, *x.shape).clone()


def outputs(function: Function, inputs: Sequence[Tensor]) -> Tensors:
    result = function(*inputs)
    return (result,) if isinstance(result, Tensor) else tuple(result)
