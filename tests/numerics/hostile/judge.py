"""The judge of a cell."""

import re
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention.bias import CausalBias

from tests.numerics.hostile.definitions import Array
from tests.numerics.hostile.functions import Arguments, Function
from tests.numerics.hostile.inputs import Plain

_DRAWS = 6
_HOLD = (Tensor, Plain, torch.nn.Parameter)
"""Types of tensors whose memory is what they mean."""


def judge(function: Function, changed: str, arguments: Arguments) -> str:
    """Return "right", "refused" or "limit", or a description of the error."""
    try:
        result = function.call(**arguments)
        result = result[0] if isinstance(result, tuple) else result
    except ValueError as error:
        return "refused" if _names(str(error), changed, function) else f"ValueError that does not name {changed}: {error}"
    except RuntimeError as error:
        if function.solves is not None and re.match(r"sinkhorn: 1 of 1 problems did not converge .*at this temp", str(error)):
            return "limit"
        return f"RuntimeError: {error}"
    except Exception as error:  # any other exception is no clear error
        return f"{type(error).__name__}: {str(error)[:80]}"
    if not all(_is_real(arguments[name]) for name in arguments if name != "mask"):
        return "accepted what is no dense floating tensor or number"
    try:
        return _compared(function, result, arguments)
    except (ValueError, TypeError) as error:
        return f"accepted what has no definition ({error})"


def _names(message: str, changed: str, function: Function) -> bool:
    """Whether an error names the changed argument, or one that must agree with it."""
    match = re.match(r"(\w+): expected .*, got .+", message, re.DOTALL)
    return match is not None and (match[1] == changed or match[1] in (*function.shapes, "mask", "keys", "values", "x", "cost"))


def _is_real(x: Any) -> bool:
    if isinstance(x, Tensor):
        return type(x) in _HOLD and x.is_floating_point() and x.layout == torch.strided and not x.is_meta
    return x is None or (isinstance(x, Real) and not isinstance(x, bool))


def _wide(x: Any) -> Any:
    if x is None:  # a reference that has no default for it fails
        return None
    if not isinstance(x, Tensor):
        return np.longdouble(x)
    if isinstance(x, CausalBias):
        return x._materialize().numpy()
    return x.numpy() if x.dtype == torch.bool else x.detach().double().numpy().astype(np.longdouble)


def _compared(function: Function, result: Tensor, arguments: Arguments) -> str:
    dtype = result.dtype
    unit = np.longdouble(torch.finfo(torch.float32 if dtype.itemsize == 2 else dtype).eps)
    arrays = {name: _wide(x) for name, x in arguments.items()}
    if function.number in arguments:  # in the dtype of the data, as the conventions say
        data = {x.dtype for name, x in arguments.items() if isinstance(x, Tensor) and name in function.shapes}
        narrow = torch.as_tensor(arguments[function.number], dtype=next(iter(data)))
        arrays[str(function.number)] = _wide(narrow)
        if not bool((narrow >= torch.finfo(narrow.dtype).tiny).all()) and not function.solves:
            return "limit" if bool(result.isnan().any()) else f"a number for {arguments[function.number]}"
    with np.errstate(all="ignore"):
        expected = np.asarray(function.reference(**arrays))
        if tuple(expected.shape) != tuple(result.shape):
            return f"shape {tuple(result.shape)}, expected {tuple(expected.shape)}"
        actual, sensitivity = _wide(result), np.zeros(expected.shape, dtype=np.longdouble)
        if _entries(actual, expected, sensitivity, dtype, arguments) == "right":  # whatever more is allowed
            return "right"
        random = np.random.default_rng(0)
        for _ in range(_DRAWS):
            near = {
                name: x if x is None or x.dtype == bool else x * (1 + unit * random.uniform(-1, 1, x.shape))
                for name, x in arrays.items()
            }
            sensitivity = np.fmax(sensitivity, np.abs(np.asarray(function.reference(**near)) - expected))
        verdict = _entries(actual, expected, sensitivity, dtype, arguments)
        if verdict.startswith("silent") and function.solves is not None and function.solves(actual, **arrays):
            return "right"
        return verdict


def _entries(actual: Array, expected: Array, sensitivity: Array, dtype: torch.dtype, arguments: Arguments) -> str:
    finfo, size = torch.finfo(dtype), sum(x.numel() for x in arguments.values() if isinstance(x, Tensor))
    allowed = 64 * sensitivity + 16 * size * finfo.eps * np.abs(expected) + 16 * size * finfo.eps * finfo.tiny + 16 * finfo.tiny
    computed = torch.float32 if dtype.itemsize == 2 else dtype
    allowed = np.where(np.isnan(allowed), np.inf, allowed)
    same = (np.abs(actual - expected) <= allowed) | (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    beyond = np.abs(expected) + allowed > np.longdouble(finfo.max)
    same |= beyond & ~np.isfinite(actual) & ~np.isnan(actual)
    if bool(same.all()):
        return "right"
    if bool((np.isfinite(actual) & ~same).any()):
        at = tuple(int(x) for x in np.argwhere(np.isfinite(actual) & ~same)[0])
        return f"silent: {float(actual[at]):.6g} where {float(expected[at]):.6g} is right, at {at}"
    wide = [_wide(x) for name, x in arguments.items() if name != "mask" and x is not None]
    if not all(bool(np.isfinite(x).all()) for x in wide):
        return "limit"
    magnitudes = sorted((float(max(np.abs(x).max(initial=0), 1 / np.abs(x).max(initial=1e-300))) for x in wide), reverse=True)
    reach = np.longdouble(magnitudes[0]) * max(magnitudes[0], magnitudes[1] if len(magnitudes) > 1 else 1) * size
    return "limit" if reach > torch.finfo(computed).max else "NaN or inf where the result can be stored"
