"""How the solver in ``pcg_numba`` is compiled, and the elementary functions of its loops.

Cache       Numba keeps compiled functions on disk, and compiles one again when its own file has changed, but not when a file
            has from which it takes functions or constants. A digest of all files, ``_SOURCES``, is therefore part of its name.
Rounding    ``exp64`` has a relative error of at most 3 eps/2: 0.4 eps/2 for r = t − k ln 2, |r| < 0.35, as much for what is
            added to one, eps/2 for adding it, and less than 0.1 eps/2 for all else; its polynomial ends with r¹³.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from numerics.mem.pcg_state import Array

Function = TypeVar("Function", bound=Callable[..., Any])

_SOURCES = sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()[:16]

NO_NAN = ("nnan", "nsz")
"""Fast-math flags of functions that may return anything for NaN."""

_CACHE_LINE = 64
"""Cache-line size in bytes."""

_INV_LN2_32, _INV_LN2_64 = np.float32(1.442695), 1.4426950408889634

_ROUND_32, _ROUND_64 = np.float32(1.5 * 2**23), 1.5 * 2**52
"""Adding this rounds to the nearest integer, which is then in the last bits of the sum."""

_MIN_BITS_32 = np.float32(-126)
"""``exp32`` is at least 2⁻¹²⁶, the least normal number."""

_MIN_EXPONENT_64 = -708.0
"""``exp64`` is 0 below: e⁻⁷⁰⁸ is about the least normal number."""

_EXP2_TAYLOR = tuple(np.float32(x) for x in (1, 0.6931472, 0.24022651, 0.05550411, 0.009618129, 0.0013333558, 0.00015403531))
"""(ln 2)^k / k!."""

_P2, _P3, _P4, _P5, _P6, _P7, _P8 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320
_P9, _P10, _P11, _P12, _P13 = 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600, 1 / 6227020800

_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""ln 2 in two parts, the first of 32 bits, so that its multiples up to 2²¹ are exact."""


def compiled(*fastmath: str, **options: Any) -> Callable[[Function], Function]:
    """Compile at the first call, once for all processes, with these fast-math flags.

    The functions allocate nothing, so no references need to be counted (``_nrt``): for each row, that would cost a third.
    """
    settings: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False} | options
    jit: Callable[[Function], Function] = numba.njit(fastmath=set(fastmath), **settings)

    def compile_function(function: Function) -> Function:
        function.__qualname__ += f"-{_SOURCES}"
        return jit(function)

    return compile_function


as_written = compiled()
reordered = compiled("nsz", "reassoc")
reordered_fused = compiled("contract", "nsz", "reassoc")
driver = compiled(_nrt=True)
inlined = compiled(_nrt=True, inline="always")  # into the caller, with the caller's options


def _select_larger(_: Any, x: Any, y: Any) -> Any:
    """The larger of two numbers, in a form that LLVM vectorizes; undefined for NaN."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments, flags=NO_NAN), *arguments, flags=NO_NAN)

    return x(x, y), code


larger: Any = intrinsic(_select_larger)


def _prefetch_entry(_: Any, x: Any, r: Any, j: Any) -> Any:
    """Prefetch the cache line of an entry of a matrix."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        matrix = make_array(signature.args[0])(context, builder, arguments[0])  # type: ignore[no-untyped-call]
        row_start = builder.mul(arguments[1], builder.extract_value(matrix.shape, 1))
        entry = builder.bitcast(builder.gep(matrix.data, [builder.add(row_start, arguments[2])]), pointer)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        builder.call(builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind), [entry, flag(0), flag(2), flag(1)])
        return context.get_dummy_value()

    return types.none(x, types.intp, types.intp), code


_prefetch: Any = intrinsic(_prefetch_entry)


@as_written
def prefetch_row(x: Array, r: int) -> None:
    """Prefetch a row of a matrix, if it exists, while the core works on others."""
    if r < len(x):
        for j in range(0, x.shape[1], _CACHE_LINE // x.itemsize):
            _prefetch(x, r, j)


@compiled(*NO_NAN)
def row_max(row: Array) -> Any:
    """The largest entry of a row."""
    largest = row[0]
    for j in range(len(row)):
        largest = larger(largest, row[j])
    return largest


@compiled("contract")
def exp32(x: Any) -> Any:
    """eˣ for x ≤ 0, but at least 2⁻¹²⁶, with a relative error of at most 2 eps (1 − x)."""
    bits = x * _INV_LN2_32
    bits = _MIN_BITS_32 if bits < _MIN_BITS_32 else bits
    shifted = bits + _ROUND_32  # NaN stays NaN
    f = bits - (shifted - _ROUND_32)
    c = _EXP2_TAYLOR
    y = c[0] + f * (c[1] + f * (c[2] + f * (c[3] + f * (c[4] + f * (c[5] + f * c[6])))))
    return y * np.int32((np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)


@compiled("contract")
def exp64(x: Any) -> Any:
    """eˣ for x ≤ 0, and 0 below −708."""
    t = _MIN_EXPONENT_64 if x < _MIN_EXPONENT_64 else x
    shifted = t * _INV_LN2_64 + _ROUND_64
    k = shifted - _ROUND_64
    r = (t - k * _LN2_HIGH) - k * _LN2_LOW
    y = _P8 + r * (_P9 + r * (_P10 + r * (_P11 + r * (_P12 + r * _P13))))
    y = 1 + (r + (r * r) * (_P2 + r * (_P3 + r * (_P4 + r * (_P5 + r * (_P6 + r * (_P7 + r * y)))))))
    y = y * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return 0.0 if x < _MIN_EXPONENT_64 else y


@inlined
def multiply(x: Array, y: Array, block_size: int, out: Array) -> None:
    """xy in blocks of rows, a multiple of 4 and at least 8, of at most ``block_size`` multiplications; else in one product."""
    rows = block_size // y.size // 4 * 4
    rows = rows if rows >= 8 else max(len(x), 1)
    for i in range(0, len(x), rows):
        np.dot(x[i : i + rows], y, out[i : i + rows])
