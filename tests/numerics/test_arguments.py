"""Arguments that the closed forms accept, and their refusals of others."""

import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.autograd import forward_ad
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

from numerics import arguments

MASK = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    "call",
    [
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
    ],
)
def test_a_refusal_names_the_argument_the_expectation_and_the_value(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^x: expected .*, got .+"):
        call()


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((3,), {}),
        ((1,), {}),
        ((), {}),
        ((4, 1, 3), {}),
        ((2, 3), {"own": 2}),
        ((1, 3), {"own": 2}),
        ((3,), {"own": 2}),
        ((5, 1, 1), {"own": 2}),
        ((3,), {"exact": True}),
        ((1, 3), {"exact": True, "boolean": True}),
    ],
)
def test_a_mask_that_broadcasts_to_the_rows(shape: tuple[int, ...], options: dict[str, int | bool]) -> None:
    arguments.check_mask(torch.ones(shape, dtype=torch.bool), (2, 3), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mask", "options"),
    [
        (torch.ones(2), {}),
        (torch.ones(5, 3), {}),
        (torch.ones(3).long(), {}),
        ([True], {}),
        (torch.ones(5, 3), {"own": 2}),
        (torch.ones(1), {"exact": True}),
        (torch.ones(()), {"exact": True}),
        (torch.ones(3), {"boolean": True}),
    ],
)
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


def test_tensors_under_vmap_cannot_be_read() -> None:
    seen = []
    torch.func.vmap(lambda x: seen.append(arguments.readable(x)) or x)(torch.ones(2))
    assert seen == [False]
    assert arguments.readable(torch.ones(2))


# ── limits of accepted arguments ────────────────────────────────────────────────────────────────────────────────────

TINY, LARGEST = (float(getattr(torch.finfo(torch.float32), name)) for name in ("tiny", "max"))
NESTED = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)], layout=torch.jagged)
SPARSE, META = torch.eye(2).to_sparse(), torch.zeros(2, 3, device="meta")


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (torch.zeros(2, 3), "torch.float32 (2, 3)"),
        (SPARSE, "sparse_coo torch.float32 (2, 2)"),
        (META, "meta torch.float32 (2, 3)"),
        (META.to(torch.long), "meta torch.int64 (2, 3)"),
        (NESTED, "nested torch.float32"),
        ([1.0], "list [1.0]"),
        (None, "NoneType None"),
    ],
)
def test_the_description_of_an_argument(x: object, words: str) -> None:
    assert arguments.describe(x) == words


@pytest.mark.parametrize("x", [SPARSE, META, NESTED, [1.0]])
def test_sparse_and_meta_tensors_are_refused(x: torch.Tensor) -> None:
    assert not arguments.is_dense(x)
    calls = (
        lambda: arguments.check_dense("x", x),
        lambda: arguments.floating("x", x),
        lambda: arguments.check_mask_dtype("x", x),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"^x: expected a dense .*, got "):
            call()
    if isinstance(x, torch.Tensor):
        with pytest.raises(ValueError, match=r"^x: expected a number or a floating tensor"):
            arguments.positive("x", x, torch.Size([2, 2]), torch.zeros(()))
    with pytest.raises(ValueError, match=r"^mask: expected"):
        arguments.check_mask(x, (2, 3), own=2)
    arguments.check_dense("x", torch.zeros(2, 3).T.expand(4, 3, 2))


@pytest.mark.parametrize("value", [TINY, LARGEST, 1, 5.0])
def test_a_number_that_is_normal_is_accepted(value: float) -> None:
    result = arguments.positive("x", value, torch.Size([3]), torch.zeros(1))
    assert (result.shape, result.dtype, float(result)) == ((), torch.float32, value)


@pytest.mark.parametrize("value", [TINY * 0.99, LARGEST * 1.01, -1.0, math.nan])
def test_a_number_that_is_not_normal_is_refused_and_such_an_entry_gives_nan(value: float) -> None:
    with pytest.raises(ValueError, match=r"^x: expected a positive number, normal in torch.float32"):
        arguments.positive("x", value, torch.Size(), torch.zeros(()))
    entries = torch.tensor([value, TINY, 2.0], dtype=torch.float64)
    result = arguments.positive("x", entries, torch.Size([4, 3]), torch.zeros(()))
    assert result.dtype == torch.float32
    assert result.isnan().tolist() == [not value > 1, False, False]
    assert result[1:].tolist() == [TINY, 2.0]


@pytest.mark.parametrize(
    ("x", "batch"),
    [(torch.ones(3, dtype=torch.long), (3,)), (torch.ones(2), (3,)), (torch.ones(2, 3), (3, 3)), (torch.ones(3), (3, 2))],
)
def test_a_tensor_of_numbers_is_floating_and_broadcasts(x: torch.Tensor, batch: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^x: expected a number or a floating tensor that broadcasts over the rows"):
        arguments.positive("x", x, torch.Size(batch), torch.zeros(()))


def test_one_number_for_every_row_of_a_dimension() -> None:
    X, value = torch.zeros(2, 3, 4, dtype=torch.bfloat16), torch.arange(1.0, 9.0, dtype=torch.float64).reshape(2, 1, 4)
    result = arguments.one_per_row("x", value, X, 1)
    assert (result.shape, result.dtype) == ((2, 4, 1), torch.float32)
    assert torch.equal(result[..., 0].double(), value[:, 0])
    assert arguments.one_per_row("x", torch.tensor(2.0), X, -1).shape == (2, 3, 1)
    for wrong in (torch.ones(2, 3, 4), torch.ones(2, 1), torch.ones(2, 3, 1, dtype=torch.long)):
        with pytest.raises(ValueError, match=r"^x: expected a number or a floating tensor that expands to \(2, 3, 1\), got"):
            arguments.one_per_row("x", wrong, X, 2)


@pytest.mark.parametrize(
    ("shape", "other", "fits"),
    [
        ((), (3,), True),
        ((1,), (3,), True),
        ((3,), (1,), True),
        ((2, 3), (3,), True),
        ((2, 1), (3,), True),
        ((2,), (3,), False),
        ((2, 3), (3, 3), False),
        ((3, 2), (3, 3), False),
        ((0,), (1,), True),
        ((0,), (2,), False),
    ],
)
def test_shapes_broadcast_as_in_torch(shape: tuple[int, ...], other: tuple[int, ...], fits: bool) -> None:
    assert arguments.broadcastable(shape, other) is fits
    with nullcontext() if fits else pytest.raises(RuntimeError):
        torch.broadcast_shapes(shape, other)


@pytest.mark.parametrize(
    ("x", "other", "fits"),
    [
        ((3,), (3,), True),
        ((2, 3), (3,), True),
        ((2, 3), (1, 3), True),
        ((1,), (3,), False),
        ((2,), (3,), False),
        ((2, 3), (4, 3), False),
        ((3, 2), (3, 3), False),
    ],
)
def test_rows_have_one_length(x: tuple[int, ...], other: tuple[int, ...], fits: bool) -> None:
    refusal = pytest.raises(ValueError, match=re.escape(f"x: expected rows like those of y {other}, got {x}"))
    with nullcontext() if fits else refusal:
        arguments.check_rows("x", torch.zeros(x), "y", torch.zeros(other))


@pytest.mark.parametrize(
    ("x", "shape", "fits"),
    [
        ((2, 3), (2, 3), True),
        ((1, 3), (2, 3), True),
        ((3,), (2, 3), True),
        ((), (2, 3), True),
        ((2, 2), (2, 3), False),
        ((2, 3), (1, 3), False),
        ((1, 2, 3), (2, 3), False),
        ((2,), (2, 3), False),
    ],
)
def test_shapes_that_expand_are_those_of_torch(x: tuple[int, ...], shape: tuple[int, ...], fits: bool) -> None:
    refusal = pytest.raises(ValueError, match=r"^x: expected a shape that broadcasts to")
    with nullcontext() if fits else refusal:
        arguments.check_expands("x", torch.zeros(x), shape)
    with nullcontext() if fits else pytest.raises(RuntimeError):
        torch.zeros(x).expand(shape)


def test_the_last_axes_have_names_and_are_not_empty() -> None:
    for good, axes, last in (((2, 3), ("n", "d"), 3), ((3,), ("m",), None), ((5, 2, 1), ("n", "d"), 1), ((0, 3), ("m",), None)):
        assert arguments.floating("x", torch.zeros(good), *axes, last=last).shape == good
    for bad, axes, last, words in (
        ((3,), ("n", "d"), None, r"\(..., n, d\) with n, d ≥ 1"),
        ((2, 3), ("n", "d"), 2, r"\(..., n, d\) with d = 2"),
        ((0, 3), ("n", "d"), None, "n, d ≥ 1"),
        ((3, 0), ("m",), None, "m ≥ 1"),
        ((2, 0), ("n", "d"), 0, "d = 0"),
    ):
        with pytest.raises(ValueError, match=rf"^x: expected a dense floating tensor.*{words}, got torch.float32"):
            arguments.floating("x", torch.zeros(bad), *axes, last=last)
    with pytest.raises(ValueError, match=r"^x: expected a dense floating tensor, got torch.int64"):
        arguments.floating("x", torch.zeros(2, dtype=torch.long))
    with pytest.raises(ValueError, match=r"^y: expected .* \(..., n, m\) with n, m ≥ 1, got"):
        arguments.tensors(x=(torch.zeros(2), 1), y=(torch.zeros(2), 2))


@pytest.mark.parametrize(
    ("mask", "shape", "options", "fits"),
    [
        (torch.ones(5, 2, 3), (2, 3), {"own": 2}, True),
        (torch.ones(5, 2, 3), (4, 2, 3), {"own": 2}, False),
        (torch.ones(1, 3), (2, 3), {"own": 2, "exact": True}, False),
        (torch.ones(2, 3), (2, 3), {"own": 2, "exact": True}, True),
        (torch.ones(2, 1), (2, 3), {"own": 2}, True),
        (torch.ones(2, 2), (2, 3), {"own": 2}, False),
        (torch.ones(3) > 0, (2, 3), {"boolean": True}, True),
        (torch.ones(3), (2, 3), {}, True),
        (torch.ones(2), (2, 3), {}, False),
    ],
)
def test_own_axes_of_a_mask(mask: torch.Tensor, shape: tuple[int, ...], options: dict[str, int], fits: bool) -> None:
    kind = "a boolean" if "boolean" in options else "a boolean or floating"
    full = " with the last size 3" if "exact" in options else ""
    refusal = pytest.raises(ValueError, match=re.escape(f"mask: expected {kind} tensor that broadcasts to {shape}{full}, got"))
    with nullcontext() if fits else refusal:
        arguments.check_mask(mask, shape, **options)  # type: ignore[arg-type]


def test_numbers_at_their_bounds() -> None:
    arguments.check_positive("x", 5e-324)
    arguments.check_positive("x", 1)
    arguments.check_count("x", 1)
    for value in (True, "1", 0.0, -1.0, math.inf, torch.ones(())):
        with pytest.raises(ValueError, match=r"^x: expected a positive finite number"):
            arguments.check_positive("x", value)  # type: ignore[arg-type]
    for count in ("1", 0, -3, False, 2.0):
        with pytest.raises(ValueError, match=r"^x: expected an integer ≥ 1"):
            arguments.check_count("x", count)  # type: ignore[arg-type]


def test_the_first_wrong_entry_is_named_with_its_position() -> None:
    x = torch.tensor([[1.0], [-2.5], [-3.0]], requires_grad=True)
    arguments.check_entries("x", x, (x > -9).expand(3, 2), "numbers above −9")
    with pytest.raises(ValueError, match=r"^x: expected numbers above 0, got -2.5 at \(1, 0\)"):
        arguments.check_entries("x", x, (x > 0).expand(3, 2), "numbers above 0")
    torch.func.vmap(lambda row: arguments.check_entries("x", row, row > 0, "numbers above 0") or row)(x)


# ── active transforms ───────────────────────────────────────────────────────────────────────────────────────────────


def test_entries_are_cheap_to_look_at_on_the_cpu_but_not_while_compiling() -> None:
    assert arguments.on_cpu(torch.zeros(2))
    assert not arguments.on_cpu(META)
    torch.compiler.reset()
    compiled = torch.compile(lambda x: x + (1 if arguments.on_cpu(x) else 2), backend="eager", fullgraph=True)
    assert compiled(torch.zeros(2)).tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_tensors_that_need_derivatives_are_recognized() -> None:
    x, leaf = torch.zeros(2), torch.zeros(2, requires_grad=True)

    def requirements(*tensors: torch.Tensor) -> tuple[bool, bool]:
        return arguments.transformed(*tensors), arguments.differentiated(*tensors)

    assert requirements(x) == (False, False)
    assert requirements(x, leaf) == (False, True)
    with torch.no_grad():
        assert requirements(x, leaf) == (False, False)
    with forward_ad.dual_level():
        assert requirements(x) == (False, False)
        assert requirements(x, forward_ad.make_dual(x, x)) == (True, True)
    seen = []
    torch.func.vmap(lambda row: seen.append(requirements(x)) or row)(x)
    assert seen == [(True, True)]


# ── subclasses, numbers, autocast ───────────────────────────────────────────────────────────────────────────────────


class Plain(torch.Tensor):
    """A subclass without operations of its own."""


class Own(Plain):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        raise AssertionError("the checks must not call it")


class Dispatching(Plain):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        raise AssertionError("the checks must not call it")


def test_subclasses_with_operations_are_no_dense_tensors() -> None:
    x = torch.zeros(2, 3)
    for kept in (x.as_subclass(Plain), torch.nn.Parameter(x), FakeTensorMode().from_tensor(x)):
        assert arguments.is_dense(kept)
    for kind in (Own, Dispatching):
        other = torch.Tensor._make_subclass(kind, x)
        assert not arguments.is_dense(other)
        assert arguments.describe(other) == f"a {kind.__name__}, a subclass with operations of its own"
        for call in (
            partial(arguments.floating, "x", other),
            partial(arguments.check_mask_dtype, "x", other),
            partial(arguments.check_mask, other, (2, 3), name="x"),
            partial(arguments.one_per_row, "x", other, x, -1),
        ):
            with pytest.raises(ValueError, match=rf"^x: expected .*, got a {kind.__name__}, a subclass"):
                call()


@pytest.mark.filterwarnings("ignore:Lower right causal bias:UserWarning")
@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 4), (4, 2)])
def test_a_causal_bias_is_zero_in_its_triangle(n: int, m: int) -> None:
    for bias in (causal_upper_left(n, m), causal_lower_right(n, m)):
        mask = arguments.check_mask(bias, (3, n, m), own=2)
        assert type(mask) is torch.Tensor
        assert torch.equal(mask == 0, bias._materialize())
        assert torch.equal(mask == -math.inf, ~bias._materialize())
        with pytest.raises(ValueError, match=r"^mask: expected"):
            arguments.check_mask(bias, (3, n + 1, m), own=2)


def test_numbers_of_numpy() -> None:
    for value in (1, 1.0, np.float16(1), np.float32(1), np.int64(1), np.float64(1), np.longdouble(1), Fraction(1)):
        for x in (arguments.real(value), arguments.number("x", value, torch.float32), arguments.check_positive("x", value)):
            assert (x, type(x)) == (1.0, float)
    for other in (True, np.True_, "1", 1j, torch.tensor(1.0), None, Decimal(1), 10**400, Fraction(10**400)):
        assert math.isnan(arguments.real(other))


@pytest.mark.parametrize("zero", [np.float32(0), np.float16(0), np.float32(-1), np.float16("nan"), 10**400], ids=repr)
def test_narrow_numbers_are_compared_in_float64(zero: float) -> None:
    """NumPy would bring the least normal number of float64 to float32, where it is 0, too."""
    with pytest.raises(ValueError, match=r"^x: expected a positive number, normal in torch.float64"):
        arguments.number("x", zero, torch.float64)


def test_autocast_is_off_in_a_function_and_on_after_it() -> None:
    x = torch.randn(3, 3)
    product = arguments.without_autocast(lambda: x @ x)
    assert arguments.autocast_dtype(x) is None
    with torch.autocast("cpu", torch.bfloat16):
        assert product().dtype == torch.float32
        assert (x @ x).dtype == arguments.autocast_dtype(x) == torch.bfloat16
        assert arguments.autocast_dtype(x.double()) is None
        torch.compiler.reset()
        assert torch.compile(product, backend="eager", fullgraph=True)().dtype == torch.float32
