"""Argument checks of closed forms and solvers, and the choice of the dtype they compute in.

Every refusal is a ``ValueError`` that reads "name: expected X, got Y". Unless a module says otherwise, its functions keep
to these conventions.

Layouts     Tensors that hold their entries: strided ones, expanded and non-contiguous ones too. Sparse, nested and meta
            tensors are refused, quantized and floating ones of eight bits, with which PyTorch does not compute, and
            subclasses with operations of their own, whose memory need not hold what they mean.
            A ``CausalBias`` is a mask: 0 in its triangle, −inf outside.
Shapes      Leading axes, (...), broadcast as in NumPy, those of a mask too. Temperatures and the like are numbers, or tensors
            that broadcast over (...), and are brought to the dtype of the data. A tensor is not read back from its device:
            entries that are not positive and normal in that dtype give NaN,
            and so does the derivative in them.
Dtypes      Arguments of several dtypes are brought to the widest. float16 and bfloat16 are computed in float32 and returned in
            the dtype of the input; nothing is promoted to float64 unless an input is float64. Autocast changes neither
            numbers nor dtypes, but for drop-ins and projections of modules: they return the dtype that PyTorch's return.
Range       Products, squares and sums of the inputs must be finite in the dtype of the computation. Where one is not, results
            that depend on it are NaN or infinite, never wrong numbers.
Masks       As in ``scaled_dot_product_attention``: boolean, True takes part; floating, added to the logits (s/τ, −C/ε or
            log u). A score of −inf is masked. A row with nothing left has weights zero, log-partition −inf, and derivatives
            that are zero.
"""

import math
import reprlib
import sys
from collections.abc import Callable
from functools import cache, reduce, wraps
from itertools import zip_longest
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor
from torch.autograd import forward_ad

Positive = float | Tensor
"""A positive number, or a tensor of them."""

P = ParamSpec("P")
T = TypeVar("T")

_HALF = (torch.float16, torch.bfloat16)
_OPERATIONS = ("__torch_function__", "__torch_dispatch__")
_DEVICES = ("cpu", "cuda")


def one_per_row(name: str, value: Tensor, X: Tensor, dim: int, number: str = "a number") -> Tensor:
    """Return a tensor with one entry for each row along ``dim``, in the device and computing dtype of ``X``, that axis last.

    Raises:
        ValueError: for a tensor that is not floating or does not expand to the rows; ``number`` says what else is accepted.
    """
    shape = list(X.shape)
    shape[dim] = 1
    try:
        expanded = value.expand(shape) if is_dense(value) else None
    except RuntimeError:
        expanded = None
    if expanded is None or not value.is_floating_point():
        raise ValueError(
            f"{name}: expected {number} or a floating tensor that expands to {tuple(shape)}, got {describe(value)}"
        )
    return expanded.movedim(dim, -1).to(device=X.device, dtype=compute_dtype(X.dtype))


def describe(x: object) -> str:
    """Describe an argument for an error message."""
    if not isinstance(x, Tensor):
        return f"{type(x).__name__} {' '.join(reprlib.repr(x).split())}"
    with torch._C.DisableTorchFunctionSubclass():
        nested, dtype = x.is_nested, x.dtype
    if nested:
        return f"nested {dtype}"
    if not _is_plain(type(x)):
        return f"a {type(x).__name__}, a subclass with operations of its own"
    kind = "meta " if x.is_meta else "" if x.layout == torch.strided else f"{str(x.layout).removeprefix('torch.')} "
    return f"{kind}{x.dtype} {tuple(x.shape)}"


def is_dense(x: object) -> bool:
    """Whether this is a tensor that holds its entries: neither sparse, nor nested, nor quantized or floating in eight bits, nor
    on the meta device, nor a subclass with operations of its own."""
    if not isinstance(x, Tensor) or not (type(x) is Tensor or _is_plain(type(x))):
        return False
    if x.is_quantized or (x.is_floating_point() and x.dtype.itemsize == 1):
        return False
    return not x.is_nested and x.layout == torch.strided and not x.is_meta


@cache
def _is_plain(kind: type[Tensor]) -> bool:
    """Whether a type of tensors has no operations of its own, or stands for such a type while PyTorch traces."""
    if kind.__module__.startswith("torch._subclasses."):
        return True
    disabled = (torch._C._disabled_torch_function_impl, torch._C._disabled_torch_dispatch_impl)
    own = (vars(base).get(name) for base in kind.__mro__[: kind.__mro__.index(Tensor)] for name in _OPERATIONS)
    return all(operation is None or operation in disabled for operation in own)


def check_dense(name: str, x: Tensor) -> None:
    """Raise ValueError unless the argument is a dense tensor."""
    if not is_dense(x):
        raise ValueError(f"{name}: expected a dense tensor, got {describe(x)}")


# ── dtypes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype to compute in."""
    return torch.float32 if dtype in _HALF else dtype


def result_dtype(*tensors: Tensor | None) -> torch.dtype:
    """Return the dtype to return: the widest of the inputs', half precision included."""
    return reduce(torch.promote_types, [x.dtype for x in tensors if x is not None])


def common(*tensors: Tensor) -> list[Tensor]:
    """Return the tensors in the widest of their dtypes."""
    dtype = result_dtype(*tensors)
    return [x.to(dtype) for x in tensors]


# ── shapes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def broadcastable(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast with each other."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(shape), reversed(other), strict=False))


def broadcast(**shapes: torch.Size) -> torch.Size:
    """Return the shape that the leading axes of named arguments broadcast to."""
    batch = torch.Size()
    for name, shape in shapes.items():
        if not broadcastable(shape, batch):
            raise ValueError(f"{name}: expected leading axes that broadcast with {tuple(batch)}, got {tuple(shape)}")
        pairs = zip_longest(reversed(batch), reversed(shape), fillvalue=1)
        batch = torch.Size([b if a == 1 else a for a, b in pairs][::-1])
    return batch


def check_leading(name: str, shape: torch.Size, other_name: str, other: torch.Size) -> None:
    """Raise ValueError if leading axes do not broadcast with those of another argument."""
    if not broadcastable(shape, other):
        raise ValueError(
            f"{name}: expected leading axes that broadcast with {tuple(other)} of {other_name}, got {tuple(shape)}"
        )


def check_expands(name: str, x: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError if a tensor does not expand to a given shape."""
    if x.ndim > len(shape) or any(a not in (1, b) for a, b in zip(reversed(x.shape), reversed(shape), strict=False)):
        raise ValueError(f"{name}: expected a shape that broadcasts to {tuple(shape)}, got {tuple(x.shape)}")


def check_rows(name: str, x: Tensor, other_name: str, other: Tensor) -> None:
    """Raise ValueError if rows do not have the length of those of another argument, or do not broadcast with them."""
    if x.shape[-1] != other.shape[-1] or not broadcastable(x.shape, other.shape):
        raise ValueError(f"{name}: expected rows like those of {other_name} {tuple(other.shape)}, got {tuple(x.shape)}")


# ── tensors ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def floating(name: str, x: Tensor, *axes: str, last: int | None = None) -> Tensor:
    """Return a floating tensor in the dtype to compute in.

    Args:
        name: of the argument.
        x: to be floating, (..., *axes), with none of these axes empty.
        axes: what the message calls the last axes.
        last: the size of the last of them, if it is known.
    """
    shape = x.shape[x.ndim - len(axes) :] if is_dense(x) and x.ndim >= len(axes) else None
    if shape is None or not x.is_floating_point() or 0 in shape or (last is not None and shape[-1] != last):
        form = f" (..., {', '.join(axes)}) with " if axes else ""
        size = (f"{', '.join(axes)} ≥ 1" if last is None else f"{axes[-1]} = {last}") if axes else ""
        raise ValueError(f"{name}: expected a dense floating tensor{form}{size}, got {describe(x)}")
    return x.to(compute_dtype(x.dtype))


def tensors(**inputs: tuple[Tensor, int]) -> tuple[list[Tensor], torch.dtype]:
    """Return the tensors in the widest dtype to compute in, and the dtype to return.

    Each comes with the number of its own axes, one or two, none of which may be empty.
    """
    wide = [floating(name, x, *("n", "m")[:ndim]) for name, (x, ndim) in inputs.items()]
    return common(*wide), result_dtype(*(x for x, _ in inputs.values()))


def _is_causal_bias(mask: object) -> bool:
    """Return whether a mask is a ``CausalBias``, without importing PyTorch's compiler, as its module does."""
    module = sys.modules.get("torch.nn.attention.bias")
    return module is not None and isinstance(mask, module.CausalBias)


def check_mask_dtype(name: str, mask: Tensor, like: Tensor | None = None) -> Tensor:
    """Return a mask as a boolean or floating tensor; a ``CausalBias`` as a floating one, on the device of ``like``.

    Raises:
        ValueError: for another type.
    """
    if _is_causal_bias(mask):
        from torch.nn.attention.bias import CausalBias, CausalVariant

        assert isinstance(mask, CausalBias)
        n, m = mask.seq_len_q, mask.seq_len_kv
        right = m - n if mask.variant == CausalVariant.LOWER_RIGHT else 0
        hidden = torch.ones(n, m, dtype=torch.bool, device=None if like is None else like.device).triu(right + 1)
        return torch.zeros(n, m, device=hidden.device).masked_fill(hidden, -torch.inf)
    if not is_dense(mask) or not (mask.dtype == torch.bool or mask.is_floating_point()):
        raise ValueError(f"{name}: expected a dense boolean or floating tensor, got {describe(mask)}")
    return mask


def check_mask(
    mask: Tensor,
    shape: tuple[int, ...],
    like: Tensor | None = None,
    *,
    own: int = 1,
    exact: bool = False,
    boolean: bool = False,
    name: str = "mask",
) -> Tensor:
    """Return the mask, as ``check_mask_dtype`` does, once it is known to broadcast to a shape.

    Args:
        mask: to be boolean, or floating unless ``boolean``.
        shape: (..., *own axes). Leading axes broadcast either way.
        like: a tensor on the device of the result.
        own: how many of the last axes the mask must not enlarge.
        exact: whether it must have these axes in full; otherwise they may be missing or of size 1.
        boolean: whether a floating mask is refused.
        name: of the argument.

    Raises:
        ValueError: for another shape or dtype.
    """
    mask = check_mask_dtype(name, mask, like) if _is_causal_bias(mask) else mask
    fits = is_dense(mask) and (mask.dtype == torch.bool or (mask.is_floating_point() and not boolean))
    if fits:
        last, expected = mask.shape[-own:], shape[-own:]
        fits = last == expected if exact else all(a in (1, b) for a, b in zip(reversed(last), reversed(expected), strict=False))
        fits = fits and broadcastable(mask.shape[:-own], shape[:-own])
    if not fits:
        kind = "a boolean" if boolean else "a boolean or floating"
        full = f" with the last size {shape[-1]}" if exact else ""
        raise ValueError(f"{name}: expected {kind} tensor that broadcasts to {tuple(shape)}{full}, got {describe(mask)}")
    return mask


# ── autocast ────────────────────────────────────────────────────────────────────────────────────────────────────────


def without_autocast(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that computes in the dtypes of its arguments, autocast or not."""

    @wraps(function)
    def exact(*args: P.args, **options: P.kwargs) -> T:
        for device in _DEVICES:
            if torch.is_autocast_enabled(device):
                with torch.autocast(device, enabled=False):
                    return exact(*args, **options)
        return function(*args, **options)

    return exact


def autocast_dtype(x: Tensor) -> torch.dtype | None:
    """Return the dtype that autocast gives to a matrix product of ``x``; None where it leaves it as it is."""
    if x.dtype == torch.float64 or not torch.is_autocast_enabled(x.device.type):
        return None
    return torch.get_autocast_dtype(x.device.type)


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def positive(name: str, value: Positive, batch: torch.Size, like: Tensor) -> Tensor:
    """Return a positive number or tensor as a tensor that broadcasts with (...); NaN where an entry is not positive and normal,
    and so is the derivative in it.

    Args:
        name: of the argument.
        value: a number that is normal in the dtype of ``like``, or a floating tensor.
        batch: (...), what a tensor broadcasts over.
        like: a tensor with the dtype and device of the result.
    """
    if not isinstance(value, Tensor):
        return like.new_full((), number(name, value, like.dtype))
    if not is_dense(value) or not value.is_floating_point() or not broadcastable(value.shape, batch):
        raise ValueError(
            f"{name}: expected a number or a floating tensor that broadcasts over the rows {tuple(batch)}, "
            f"got {describe(value)}"
        )
    converted = value.to(like)
    return _or_nan(converted, converted >= torch.finfo(like.dtype).tiny)


def number(name: str, value: float, dtype: torch.dtype) -> float:
    """Return a number, once it is known to be positive and normal in a dtype; raises ValueError."""
    finfo, x = torch.finfo(dtype), real(value)
    if not finfo.tiny <= x <= finfo.max:
        raise ValueError(f"{name}: expected a positive number, normal in {dtype}, or a tensor, got {value!r}")
    return x


def real(value: object) -> float:
    """Return a number, NumPy's included, as one of Python, which compares and computes in float64; NaN for anything else: truth
    values, and what float64 cannot hold."""
    if type(value) is float:
        return value
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Real)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def per_row(name: str, value: Positive, rows: Tensor) -> Tensor:
    """Return a positive number or tensor shaped to multiply rows (..., m): (..., 1), in their dtype."""
    return positive(name, value, rows.shape[:-1], rows).unsqueeze(-1)


def check_positive(name: str, value: float) -> float:
    """Return a number as ``real`` does; raise ValueError unless it is positive and finite."""
    x = real(value)
    if not 0 < x < math.inf:
        raise ValueError(f"{name}: expected a positive finite number, got {value!r}")
    return x


def check_count(name: str, value: int) -> None:
    """Raise ValueError unless the argument is an integer ≥ 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name}: expected an integer ≥ 1, got {value!r}")


def check_entries(name: str, x: Tensor, fine: Tensor, expected: str) -> None:
    """Raise ValueError if a tensor has invalid entries; the message gives the position of the first.

    Only for solvers, which read their data anyway: it waits for the device. Under ``torch.func.vmap`` nothing is read.

    Args:
        name: of the argument.
        x: the argument, which expands to the shape of ``fine``.
        fine: boolean: which entries are as expected.
        expected: the words of the message for valid entries.
    """
    if readable(fine) and not bool(fine.all()):
        index = tuple((~fine).nonzero()[0].tolist())
        value = float(x.detach().expand(fine.shape)[index])
        raise ValueError(f"{name}: expected {expected}, got {value:.6g} at {index}")


def within(name: str, x: Tensor, fine: Tensor, expected: str) -> Tensor:
    """Return a parameter that may be learned. Entries out of its domain are refused where looking at them is cheap; elsewhere
    they are NaN, and so are derivatives in them: a derivative of zero would leave them there for good.

    Args and errors as for ``check_entries``.
    """
    if on_cpu(x):
        check_entries(name, x, fine, expected)
    return _or_nan(x, fine)


def _or_nan(x: Tensor, fine: Tensor) -> Tensor:
    """Return x with NaN for the entries that are not fine and for the derivatives in them."""
    return x * torch.where(fine, x.new_ones(()), torch.nan)


def readable(x: Tensor) -> bool:
    """Return whether the entries of a tensor can be read; under ``torch.func.vmap`` they cannot."""
    try:
        bool(x.any())
    except RuntimeError:
        return False
    return True


def on_cpu(x: Tensor) -> bool:
    """Return whether looking at entries is cheap: on the CPU, and not while ``torch.compile`` traces."""
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def transformed(*tensors: Tensor) -> bool:
    """Return whether ``torch.func`` or forward differentiation is at work, on these tensors as far as can be known."""
    if torch._C._are_functorch_transforms_active():
        return True
    return any(forward_ad.unpack_dual(x).tangent is not None for x in tensors)  # type: ignore[no-untyped-call]


def differentiated(*tensors: Tensor) -> bool:
    """Return whether derivatives in any of these tensors may be needed."""
    return transformed(*tensors) or (torch.is_grad_enabled() and any(x.requires_grad for x in tensors))


def known_true(x: Tensor) -> bool:
    """Return whether all entries are True, and can be read."""
    try:
        return bool(x.all())
    except RuntimeError:  # under ``torch.func.vmap``
        return False
