"""What every public function of numerics keeps to, whatever it computes: one check a property, from ``docs/conventions.md``."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close

from tests.numerics.hostile.inputs import MASKS, STRANGE
from tests.protocol.registry import Arguments, Function, M

NO_NUMBERS = (0.0, -1.0, math.nan, "1", True, [1.0], 10**400, torch.tensor(1), torch.ones(1).to_sparse())
NO_MASKS = ("too long", "integers", "a list", "own", "sparse", "meta", "of eight bits", "empty")
VISIBLE = torch.tensor([True, False, True, True])


def close(actual: Any, expected: Any, atol: float) -> None:
    """Compare results; NaN and infinities are where they should be."""
    assert_close(actual, expected, rtol=atol, atol=atol, equal_nan=True)


def stacked(function: Function, seeds: tuple[int, ...] = (0, 1)) -> tuple[list[Arguments], Arguments]:
    """Some problems, and the batch of them."""
    problems = [function.draw(seed) for seed in seeds]
    return problems, {name: torch.stack([x[name] for x in problems]) for name in problems[0]}


def refuses(function: Function, arguments: Arguments, *named: str) -> None:
    """Check that arguments are refused by a message that starts with one of these names."""
    with pytest.raises(ValueError, match=rf"(?s)^({'|'.join(named)}): expected .*[,;] got "):
        function.results(arguments)


# ── the properties ──────────────────────────────────────────────────────────────────────────────────────────────────


def refusals(function: Function) -> None:
    """Whatever is no dense floating tensor of the right shape is refused, by name."""
    x = function.draw()
    for name, shape in function.shapes.items():
        changes: list[Callable[[Tensor], Any]] = [*STRANGE.values(), lambda x: x.long(), lambda x: x > 0]
        for change in changes:
            refuses(function, x | {name: change(x[name])}, name)
        others = [other for other in (*function.shapes, *function.fixed) if other != name]
        if name not in function.between:  # a number would do
            refuses(function, x | {name: x[name].reshape(-1)[0]}, name, *others)
        if not function.may_be_empty:
            refuses(function, x | {name: x[name][..., :0]}, name, *others)
        if len(shape) == 2 and name not in function.lacking and (function.shared is None or name in function.shared):
            refuses(function, x | {name: x[name][0]}, name, *others)
        for axis, size in enumerate(shape):
            if size > 1 and any(size in function.shapes.get(other, ()) for other in others):
                longer = torch.cat([x[name], x[name].narrow(axis, 0, 1)], axis)
                refuses(function, x | {name: longer}, name, *others)
    _, batch = stacked(function)
    for name, value in batch.items() if len(batch) > 1 else ():
        three = torch.cat([value, value[:1]])
        refuses(function, batch | {name: three}, *function.shapes, str(function.number))
    for number in NO_NUMBERS if function.number else ():
        refuses(function, x | {function.number: number}, str(function.number))
    for kind in NO_MASKS if function.mask else ():
        refuses(function, x | {"mask": MASKS[kind]}, "mask")


def batches(function: Function) -> None:
    """A batch is its problems, also where they share an argument, and where there are none."""
    problems, batch = stacked(function)
    compare = []
    every = function.shapes if len(batch) > 1 else ()
    for name in (None, *(every if function.shared is None else function.shared)):
        own = {} if name is None else {name: problems[0][name]}
        each = [function.results(x | own) for x in problems]
        compare.append((function.results(batch | own), [torch.stack(parts) for parts in zip(*each, strict=True)]))
    for actual, expected in compare:
        close([y.expand_as(z) for y, z in zip(actual, expected, strict=True)], expected, function.atol)
    assert all(y.shape == z.shape for y, z in zip(*compare[0], strict=True))
    empty = function.results({name: x[:0] for name, x in batch.items()})
    assert [y.shape for y in empty] == [(0, *y.shape[1:]) for y in compare[0][0]]


def masks(function: Function) -> None:
    """Masks are boolean or added; what is masked counts nothing, here and backwards, as if it had been left out."""
    x = function.draw()
    keys = [name for name, shape in function.shapes.items() if M in shape and name not in function.positive]
    keys += [name for name in function.shapes if name == "key_features"]
    left_out = dict(x)
    for name, shape in function.shapes.items():
        for axis in (axis for axis, size in enumerate(shape) if size == M):
            left_out[name] = left_out[name].index_select(axis, VISIBLE.nonzero()[:, 0])
    short = {"mask": VISIBLE[VISIBLE]} if "mask" in function.fixed else {}
    without = {name: value.clone().requires_grad_() for name, value in left_out.items()}
    expected = function.results(without | short)
    slopes_without = slope(expected, list(without.values()))

    def seen(y: Tensor, wanted: Tensor) -> Tensor:
        """The part of a result that the visible keys have; the rest has to be zero."""
        for axis in range(y.ndim):
            if y.shape[axis] != wanted.shape[axis]:
                assert not y.index_select(axis, (~VISIBLE).nonzero()[:, 0]).any(), "a masked key has a weight"
                y = y.index_select(axis, VISIBLE.nonzero()[:, 0])
        return y

    kinds = [VISIBLE]
    if function.floating:
        kinds.append(torch.zeros(M, dtype=torch.float64).masked_fill(~VISIBLE, -math.inf))
    else:
        refuses(function, x | {"mask": VISIBLE.double()}, "mask")
    for mask in kinds:
        slopes = []
        for number in (0.0, math.nan, math.inf):
            changed = dict(x)
            for name in keys:
                axis = function.shapes[name].index(M)
                hidden = ~VISIBLE[(..., *[None] * (len(function.shapes[name]) - 1 - axis))]
                changed[name] = torch.where(hidden, number, x[name])
            leaves = {name: value.clone().requires_grad_() for name, value in changed.items()}
            results = function.results(leaves | {"mask": mask})
            for y, wanted in zip(results, expected, strict=True):
                close(seen(y.detach(), wanted), wanted.detach(), function.atol)
            slopes.append(slope(results, list(leaves.values())))
        for name, gradient, wanted in zip(x, slopes[0], slopes_without, strict=True):
            axes = [axis for axis, size in enumerate(gradient.shape) if size != wanted.shape[axis]]
            kept = gradient
            for axis in axes:
                kept = kept.index_select(axis, VISIBLE.nonzero()[:, 0])
            close(kept, wanted, 10 * function.atol)
            if name in keys:
                hidden = gradient.index_select(axes[0], (~VISIBLE).nonzero()[:, 0])
                close(hidden, torch.zeros_like(hidden), function.atol)
        for other in slopes[1:]:
            close(other, slopes[0], function.atol)
    _dead(function, x)


def _dead(function: Function, x: Arguments) -> None:
    """Nothing is left of a row: it has no weights, and nothing depends on it."""
    leaves = {name: value.clone().requires_grad_() for name, value in x.items()}
    nothing = {"mask": torch.zeros(M, dtype=torch.bool)}
    if not function.dead:
        refuses(function, x | nothing, "mask")
        return
    results = function.results(leaves | nothing)
    for y, number in zip(results, function.dead, strict=False):
        close(y.detach(), torch.full_like(y, number), 0.0)
    for gradient in slope(results, list(leaves.values())):
        assert not gradient.any(), "a row with nothing left has a derivative"


def dtypes(function: Function) -> None:
    """Halves are float32 rounded, the widest of several dtypes counts, and the default dtype does not."""
    for half in (torch.float16, torch.bfloat16):
        x = function.draw(dtype=half)
        wide = function.results({name: value.float() for name, value in x.items()})
        for y, z in zip(function.results(x)[: function.data], wide, strict=False):
            assert y.dtype in (half, torch.float32) or not y.is_floating_point()
            close(y, z.to(y.dtype), 0.0)
    x = function.draw(dtype=torch.float32)
    if function.number:
        x[function.number] = x[function.number].double()
    results = function.results(x)[: function.data]
    assert all(y.dtype == torch.float32 or not y.is_floating_point() for y in results)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        close(function.results(x)[: function.data], results, 0.0)
    finally:
        torch.set_default_dtype(default)
    for name in function.shapes if function.widest is None else function.widest:
        mixed = function.results(x | {name: x[name].double()})
        assert mixed[0].dtype == torch.float64, f"{name} in float64 and the rest in float32 give {mixed[0].dtype}"


def derivatives(function: Function) -> None:
    """First and second derivatives in all arguments are those of differences."""
    x = _free(function)
    if function.mask and function.floating:
        x["mask"] = torch.randn(function.mask, generator=torch.Generator().manual_seed(4), dtype=torch.float64)

    def call(*leaves: Tensor) -> tuple[Tensor, ...]:
        results = function.results(function.admitted(dict(zip(x, leaves, strict=True))))
        return tuple(y for y in results if y.requires_grad)

    leaves = tuple(value.requires_grad_() for value in x.values())
    slopes = slope(list(call(*leaves)), list(leaves))
    flat = {name for name, gradient in zip(x, slopes, strict=True) if not gradient.any()}
    assert flat == set(function.flat), f"no derivative in {flat}"
    assert gradcheck(call, leaves, fast_mode=True)
    assert gradgradcheck(call, leaves, fast_mode=True)


def vmap(function: Function) -> None:
    """``torch.func`` maps and differentiates it, forwards as backwards."""
    _, batch = stacked(function)
    mapped = torch.func.vmap(lambda x: tuple(function.results(x)))(batch)
    close(list(mapped), function.results(batch), function.atol)
    x = _free(function)
    g = torch.Generator().manual_seed(2)
    steps = {name: torch.randn(value.shape, generator=g, dtype=torch.float64) for name, value in x.items()}

    def floating(x: Arguments) -> Tensor:
        results = [y for y in function.results(function.admitted(x)) if y.is_floating_point()]
        return torch.cat([y.flatten().cos() for y in results])

    _, along = torch.func.jvp(floating, (x,), (steps,))
    _, pull = torch.func.vjp(floating, x)
    weights = torch.randn(along.shape, generator=g, dtype=torch.float64)
    close((along * weights).sum(), sum((pull(weights)[0][name] * steps[name]).sum() for name in x), 100 * function.atol)


def layouts(function: Function) -> None:
    """Strides of the arguments do not matter, nor inference mode, and no argument is written to."""
    x = function.draw()
    before = {name: value.clone() for name, value in x.items()}
    versions = {name: value._version for name, value in x.items()}
    expected = function.results(x)
    assert {name: value._version for name, value in x.items()} == versions, "an argument was written to"
    close(x, before, 0.0)
    close(function.results({name: _apart(value) for name, value in x.items()}), expected, function.atol)
    with torch.inference_mode():
        close(function.results(x), expected, function.atol)
    for name, value in x.items():
        if value.ndim and name not in (*function.definite, *function.between, *function.positive):
            wide = value[..., :1].expand(value.shape)
            equal = function.results(x | {name: wide.contiguous()})
            close(function.results(x | {name: wide}), equal, function.atol)


def autocast(function: Function) -> None:
    """Autocast changes neither numbers nor dtypes, forwards or backwards."""
    for dtype in (torch.bfloat16, torch.float16):
        found = []
        for enabled, inside in ((False, False), (True, False), (True, True)):
            leaves = {name: value.requires_grad_() for name, value in function.draw(dtype=torch.float32).items()}
            with torch.autocast("cpu", dtype, enabled=enabled):
                results = function.results(leaves)
            with torch.autocast("cpu", dtype, enabled=inside):
                found.append([*results, *slope(results, list(leaves.values()))])
        assert_close(found[1], found[0], rtol=0.0, atol=0.0)
        # Backwards inside of autocast, products are in its dtype, as in PyTorch, and may leave the range of float16.
        slopes = found[2][len(results) :]
        assert all(x.dtype == torch.float32 and (dtype == torch.float16 or x.isfinite().all()) for x in slopes)


PROPERTIES: dict[str, Callable[[Function], None]] = {
    check.__name__: check for check in (refusals, batches, masks, dtypes, derivatives, vmap, layouts, autocast)
}

# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _free(function: Function) -> Arguments:
    """Numbers that ``admitted`` brings to where a function is defined."""
    g = torch.Generator().manual_seed(3)
    shapes = function.shapes | ({function.number: ()} if function.number else {})
    return {name: torch.randn(shape, generator=g, dtype=torch.float64) for name, shape in shapes.items()}


def slope(results: list[Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """The derivatives of all finite results that have any."""
    totals = [torch.where(y.isfinite(), y, 0.0).sin().sum() for y in results if y.requires_grad]
    return list(torch.autograd.grad(sum(totals, torch.zeros(())), inputs, materialize_grads=True))


def _apart(x: Tensor) -> Tensor:
    """The same numbers, every other one of a row."""
    return x.new_zeros(*x.shape, 2)[..., 0].copy_(x)


def applicable(registry: dict[str, Function], property_name: str) -> Iterator[str]:
    """The names of functions that a property is about."""
    for name, function in registry.items():
        if property_name not in function.without and (property_name != "masks" or function.mask is not None):
            yield name
