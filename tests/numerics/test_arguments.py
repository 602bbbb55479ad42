"""What the closed forms accept, and how they refuse the rest."""

import math
from collections.abc import Callable

import pytest
import torch

from numerics import arguments

MASK = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize("call", [
    lambda: arguments.floating("x", torch.zeros(3, dtype=torch.long)),
    lambda: arguments.floating("x", [1.0], "m"),
    lambda: arguments.floating("x", torch.zeros(()), "m"),
    lambda: arguments.floating("x", torch.zeros(2, 0), "n", "m"),
    lambda: arguments.floating("x", torch.zeros(2, 3), "n", "d", last=4),
    lambda: arguments.tensors(y=(torch.zeros(2), 1), x=(torch.zeros(2), 2)),
    lambda: arguments.broadcast(y=torch.Size([2]), x=torch.Size([3])),
    lambda: arguments.check_leading("x", torch.Size([2]), "y", torch.Size([3])),
    lambda: arguments.check_expands("x", torch.zeros(2, 3), (3,)),
    lambda: arguments.check_rows("x", torch.zeros(1), "y", torch.zeros(3)),
    lambda: arguments.check_mask_dtype("x", MASK.long()),
    lambda: arguments.positive("x", True, torch.Size(), torch.zeros(())),
    lambda: arguments.positive("x", 0.0, torch.Size(), torch.zeros(())),
    lambda: arguments.positive("x", 1e-40, torch.Size(), torch.zeros(())),
    lambda: arguments.positive("x", "1", torch.Size(), torch.zeros(())),
    lambda: arguments.positive("x", torch.ones(2), torch.Size([3]), torch.zeros(())),
    lambda: arguments.per_row("x", torch.ones(2), torch.zeros(3, 2)),
    lambda: arguments.check_positive("x", math.inf),
    lambda: arguments.check_positive("x", math.nan),
    lambda: arguments.check_count("x", 0),
    lambda: arguments.check_count("x", True),
    lambda: arguments.check_count("x", 1.0),
])
def test_a_refusal_names_the_argument_what_was_expected_and_what_it_got(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^x: expected .*, got .+"):
        call()


@pytest.mark.parametrize(("shape", "options"), [
    ((3,), {}), ((1,), {}), ((), {}), ((4, 1, 3), {}), ((2, 3), {"own": 2}), ((1, 3), {"own": 2}), ((3,), {"own": 2}),
    ((5, 1, 1), {"own": 2}), ((3,), {"exact": True}), ((1, 3), {"exact": True, "boolean": True}),
])
def test_a_mask_that_goes_with_the_rows(shape: tuple[int, ...], options: dict[str, int | bool]) -> None:
    arguments.check_mask(torch.ones(shape, dtype=torch.bool), (2, 3), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("mask", "options"), [
    (torch.ones(2), {}), (torch.ones(5, 3), {}), (torch.ones(3).long(), {}), ([True], {}), (torch.ones(5, 3), {"own": 2}),
    (torch.ones(1), {"exact": True}), (torch.ones(()), {"exact": True}), (torch.ones(3), {"boolean": True}),
])
def test_a_mask_that_does_not(mask: torch.Tensor, options: dict[str, int | bool]) -> None:
    with pytest.raises(ValueError, match=r"^mask: expected .*, got .+"):
        arguments.check_mask(mask, (2, 3), **options)  # type: ignore[arg-type]


def test_half_precision_is_computed_in_float32_and_returned_as_it_came() -> None:
    half, brain = torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.bfloat16)
    (x, y), dtype = arguments.tensors(x=(half, 1), y=(half, 1))
    assert (x.dtype, y.dtype, dtype) == (torch.float32, torch.float32, torch.float16)
    assert arguments.tensors(x=(half, 1), y=(brain, 1))[1] == torch.float32
    assert arguments.tensors(x=(half, 1), y=(torch.ones(2, dtype=torch.float64), 1))[0][0].dtype == torch.float64
    assert arguments.result_dtype(half, None) == torch.float16


def test_entries_of_a_tensor_are_not_read() -> None:
    value = arguments.per_row("x", torch.tensor([2.0, 0.0, -1.0]), torch.zeros(3, 4, dtype=torch.float64))
    assert value.dtype == torch.float64
    assert value.shape == (3, 1)
    assert value[:, 0].isnan().tolist() == [False, True, True]


def test_leading_axes_broadcast_as_in_numpy() -> None:
    shapes = [torch.Size(s) for s in ((3, 1), (), (4,), (2, 1, 1))]
    assert arguments.broadcast(**{f"x{i}": shape for i, shape in enumerate(shapes)}) == torch.broadcast_shapes(*shapes)


def test_what_is_mapped_over_cannot_be_read() -> None:
    seen = []
    torch.func.vmap(lambda x: seen.append(arguments.readable(x)) or x)(torch.ones(2))
    assert seen == [False]
    assert arguments.readable(torch.ones(2))
