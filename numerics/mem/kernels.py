"""What ``search`` does entry by entry, a row at a time, compiled by Numba for the CPU.

PyTorch passes over memory once for every operation; here a row stays in the core's own memory until it is done with.

Notation    as in ``search``: y = ahead, d = direction, p = weights, v = residual; m = −αGy = moved and g = −αGd = image
Rounding    Sums are made up in any order, as in any library of linear algebra; in float64 there is nothing else to reorder.
            ``exp64`` is off by at most 3 eps/2, relatively: by 0.4 eps/2 for r = t − k ln 2, |r| < 0.35, by as much for what is
            added to one, by eps/2 for adding it, and by less than 0.1 eps/2 for all else; its polynomial ends with r¹³.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.extending import intrinsic

Array = np.ndarray[Any, Any]
State = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array]
Function = TypeVar("Function", bound=Callable[..., Any])

FAR = 2.0
"""The largest change of a logit next to another in one step of a search that takes care."""

BEYOND = 1.0
"""The ‖v‖ from which on every search takes care: p and w are near different corners, and a step may change them about."""

SMALL, LARGE = 0.2, 4.0
"""A factor of y below the first is compared with what would shrink the residual most, and given up if that is so many times as
large: G hardly sees the residual. No factor above the second is believed."""

APART = 1e-4
"""The least square of the sine between two directions that span a plane."""

NOTHING = 1e-30
"""The least that a square is taken for, so that nothing is divided by zero."""

_ZERO, _ONE = np.float32(0), np.float32(1)
_POWERS = tuple(np.float32(x) for x in (1, 0.6931472, 0.24022651, 0.05550411, 0.009618129, 0.0013333558, 0.00015403531))
"""(ln 2)^k / k!."""
_PER_BIT, _SHIFT, _LOW = np.float32(1.442695), np.float32(1.5 * 2**23), np.float32(-126)

_P2, _P3, _P4, _P5, _P6, _P7, _P8 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320
_P9, _P10, _P11, _P12, _P13 = 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600, 1 / 6227020800
_PER_BIT_64, _SHIFT_64, _LOW_64 = 1.4426950408889634, 1.5 * 2**52, -708.0
_LN2, _LN2_REST = 0.693147180369123816490, 1.90821492927058770002e-10
"""ln 2 in two parts, the first of 32 bits, so that its multiples up to 2²¹ are exact."""


def _compiled(*liberties: str) -> Callable[[Function], Function]:
    """Compile at the first call, once for all processes, with these liberties in arithmetic.

    Nothing is made or kept here, so no references need to be counted (``_nrt``): for each row, that would cost a third.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
    compiler: Callable[[Function], Function] = numba.njit(fastmath=set(liberties), **options)
    return compiler


_as_written = _compiled()
_sums = _compiled("nsz", "reassoc")
_in_any_order = _compiled("contract", "nsz", "reassoc")


def _select_larger(_: Any, x: Any, y: Any) -> Any:
    """The larger of two numbers, in a form that LLVM makes a vector instruction of; of NaN it may make anything."""

    def code(_: Any, builder: Any, __: Any, given: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *given, flags=_NO_NAN), *given, flags=_NO_NAN)

    return x(x, y), code


_NO_NAN = ("nnan", "nsz")
_larger: Any = intrinsic(_select_larger)


@_compiled(*_NO_NAN)
def _top(row: Array) -> Any:
    found = row[0]
    for j in range(len(row)):
        found = _larger(found, row[j])
    return found


@_compiled("contract")
def exp32(x: Any) -> Any:
    """eˣ for x ≤ 0, but at least 2⁻¹²⁶, to 2 eps (1 − x), relatively."""
    bits = x * _PER_BIT
    bits = _LOW if bits < _LOW else bits
    shifted = bits + _SHIFT                                  # its last digits are the nearest integer, NaN stays NaN
    f = bits - (shifted - _SHIFT)
    c = _POWERS
    y = c[0] + f * (c[1] + f * (c[2] + f * (c[3] + f * (c[4] + f * (c[5] + f * c[6])))))
    return y * np.int32((np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)


@_compiled("contract")
def exp64(x: Any) -> Any:
    """eˣ for x ≤ 0, and 0 below −708."""
    t = _LOW_64 if x < _LOW_64 else x
    shifted = t * _PER_BIT_64 + _SHIFT_64
    k = shifted - _SHIFT_64
    r = (t - k * _LN2) - k * _LN2_REST
    y = _P8 + r * (_P9 + r * (_P10 + r * (_P11 + r * (_P12 + r * _P13))))
    y = 1 + (r + (r * r) * (_P2 + r * (_P3 + r * (_P4 + r * (_P5 + r * (_P6 + r * (_P7 + r * y)))))))
    y = y * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return 0.0 if x < _LOW_64 else y


@_as_written
def plane(yy: float, yd: float, dd: float, ry: float, rd: float) -> tuple[float, float]:
    """a and b for the least ½H(ay + bd, ay + bd) − a ry − b rd, b = 0 where y and d are no plane to speak of; (0, 0) if a is
    negative or one of them above ``LARGE``."""
    det = yy * dd - yd * yd
    a, b = (ry * dd - rd * yd) / det, (rd * yy - ry * yd) / det
    if not (yy > 0 and dd > 0 and det > APART * yy * dd):
        a, b = ry / yy, 0.0
    return (a, b) if 0 <= a <= LARGE and abs(b) <= LARGE else (0.0, 0.0)


@_compiled("contract", *_NO_NAN)
def _spread(a: Any, m: Array, b: Any, g: Array) -> float:
    """The largest entry of am + bg less the smallest."""
    most = a * m[0] + b * g[0]
    least = -most
    for j in range(1, len(m)):
        x = a * m[j] + b * g[j]
        most, least = _larger(most, x), _larger(least, -x)
    return np.float64(most + least)


@_in_any_order
def _least_residual(y: Array, m: Array, p: Array, v: Array, pm: Any) -> float:
    """a for the least ‖v − a(I + αΠG)y‖."""
    rise = square = _ZERO
    for j in range(len(p)):
        x = y[j] - p[j] * (m[j] - pm)
        rise += v[j] * x
        square += x * x
    return np.float64(rise) / max(np.float64(square), NOTHING)


@_in_any_order
def _step(y: Array, m: Array, d: Array, g: Array, p: Array, v: Array, careful: bool) -> tuple[Any, Any, Any]:
    """The factors of y and of d in the next step, and what it does to ⟨p, s⟩."""
    pm = pg = pmm = pmg = pgg = ym = yg = dg = vm = vg = _ZERO
    for j in range(len(p)):
        weighted, other = p[j] * m[j], p[j] * g[j]
        pm += weighted
        pg += other
        pmm += weighted * m[j]
        pmg += weighted * g[j]
        pgg += other * g[j]
        ym += y[j] * m[j]
        yg += y[j] * g[j]
        dg += d[j] * g[j]
        vm += v[j] * m[j]
        vg += v[j] * g[j]
    a, b = plane(
        np.float64(pmm - pm * pm - ym), np.float64(pmg - pm * pg - yg), np.float64(pgg - pg * pg - dg), -np.float64(vm),
        -np.float64(vg),
    )
    if a < SMALL:
        least = _least_residual(y, m, p, v, pm)
        if least > LARGE * a:
            a, b = least, 0.0
    if careful:
        shrink = FAR / max(_spread(np.float32(a), m, np.float32(b), g), FAR)
        a, b = shrink * a, shrink * b
    return np.float32(a), np.float32(b), np.float32(a) * pm + np.float32(b) * pg


@_compiled("arcp", "contract", "nsz", "reassoc")
def _aim(v: Array, p: Array, diagonal: Array, factor: Any, y: Array, spare: Array) -> Any:
    """y with y + ΠCy = v, for C = factor · diag(diagonal); ‖v‖."""
    top = bottom = square = _ZERO
    for j in range(len(p)):
        c = factor * diagonal[j] * p[j]
        less = _ONE / (_ONE + c)
        ahead, behind = less * v[j], less * p[j]
        y[j], spare[j] = ahead, behind
        top += c * ahead
        bottom += c * behind
        square += v[j] * v[j]
    turn = top / (_ONE - bottom)
    for j in range(len(p)):
        y[j] += turn * spare[j]
    return np.sqrt(square)


@_in_any_order
def _tilt(logits: Array, place: Array, p: Array, v: Array) -> None:
    """p and v = p − w from the logits."""
    top, total = _top(logits), _ZERO
    for j in range(len(p)):
        x = exp32(logits[j] - top)
        p[j] = x
        total += x
    share = _ONE / total
    for j in range(len(p)):
        x = p[j] * share
        p[j], v[j] = x, x - place[j]


@_in_any_order
def _add(a: Any, y: Array, b: Any, d: Array, total: Array) -> None:
    """d becomes ay + bd, and is added to the total."""
    for j in range(len(y)):
        x = a * y[j] + b * d[j]
        d[j] = x
        total[j] += x


@_in_any_order
def start(fixed: Array, log_prior: Array, pulled: Array, prior: Array, diagonal: Array, scale: Array, state: State) -> None:
    """``Search.start``; log_prior, pulled and prior have one row each, or as many as the others."""
    place, effect, direction, image, p, v, y, spare, distance = state
    for r in range(len(fixed)):
        one, pull, mass = r % len(log_prior), r % len(pulled), r % len(prior)
        for j in range(fixed.shape[1]):
            effect[r, j] = np.float32(fixed[r, j] + log_prior[one, j]) + pulled[pull, j]
            place[r, j] = prior[mass, j]
            direction[r, j] = image[r, j] = _ZERO
        _tilt(effect[r], place[r], p[r], v[r])
        distance[r, 0] = _aim(v[r], p[r], diagonal, scale[r, 0], y[r], spare[r])


@_in_any_order
def advance(diagonal: Array, scale: Array, careful: bool, state: State) -> None:
    """``Search.advance``, after its product."""
    place, effect, direction, image, p, v, y, m, distance = state
    for r in range(len(place)):
        stray = careful or distance[r, 0] > BEYOND
        a, b, _ = _step(y[r], m[r], direction[r], image[r], p[r], v[r], stray)
        _add(a, y[r], b, direction[r], place[r])
        _add(a, m[r], b, image[r], effect[r])
        _tilt(effect[r], place[r], p[r], v[r])
        distance[r, 0] = _aim(v[r], p[r], diagonal, scale[r, 0], y[r], m[r])


@_in_any_order
def resume(diagonal: Array, scale: Array, state: State) -> None:
    """``Search.resume``."""
    place, _, direction, image, p, v, y, spare, _ = state
    for r in range(len(place)):
        for x in (place, direction, image):
            x[r] = _ZERO
        _aim(v[r], p[r], diagonal, scale[r, 0], y[r], spare[r])


@_in_any_order
def _shrink(a: Any, m: Array, b: Any, g: Array, mean: Any, p: Array, d: Array, v: Array) -> None:
    """g becomes am + bg, and v what the step d leaves of it."""
    for j in range(len(p)):
        x = a * m[j] + b * g[j]
        g[j] = x
        v[j] += p[j] * (x - mean) - d[j]


@_in_any_order
def correct(diagonal: Array, scale: Array, state: State) -> None:
    """``Search.correct``, after its product."""
    place, _, direction, image, p, v, y, m, distance = state
    for r in range(len(place)):
        a, b, mean = _step(y[r], m[r], direction[r], image[r], p[r], v[r], False)
        _add(a, y[r], b, direction[r], place[r])
        _shrink(a, m[r], b, image[r], mean, p[r], direction[r], v[r])
        distance[r, 0] = _aim(v[r], p[r], diagonal, scale[r, 0], y[r], m[r])


@_sums
def normalize(place: Array, w: Array) -> None:
    """``Search.normalize``."""
    for r in range(len(w)):
        total = 0.0
        for j in range(w.shape[1]):
            total += np.float64(place[r, j])
        share = 1 / total
        for j in range(w.shape[1]):
            w[r, j] = place[r, j] * share


@_sums
def _across(w: Array, image: Array, fixed: Array) -> float:
    """⟨w, αGw − 2αTb⟩."""
    total = 0.0
    for j in range(len(w)):
        total += w[j] * (image[j] - 2 * fixed[j])
    return total


@_as_written
def assemble(image: Array, fixed: Array, log_prior: Array, w: Array, reach: Array, alpha: Array, length: Array) -> None:
    """``Search.assemble``; log_prior has one row, or as many as the others."""
    for r in range(len(w)):
        one, a = r % len(log_prior), alpha[r, 0]
        length[r, 0] = a * np.sqrt(max(reach[r, 0] * reach[r, 0] + _across(w[r], image[r], fixed[r]) / a, 0.0))
        for j in range(w.shape[1]):
            image[r, j] = fixed[r, j] - image[r, j] + log_prior[one, j]


@_as_written
def move(logits: Array, effect: Array, w: Array, place: Array) -> None:
    """``Search.move``, after its product."""
    for r in range(len(w)):
        for j in range(w.shape[1]):
            logits[r, j] += effect[r, j]
            w[r, j] += place[r, j]


@_sums
def settle(logits: Array, w: Array, weights: Array, distance: Array, p: Array, v: Array) -> None:
    """``Search.settle``."""
    for r in range(len(w)):
        top, total, square = _top(logits[r]), 0.0, 0.0
        for j in range(w.shape[1]):
            x = exp64(logits[r, j] - top)
            weights[r, j] = x
            total += x
        share = 1 / total
        for j in range(w.shape[1]):
            x = weights[r, j] * share
            rest = x - w[r, j]
            weights[r, j], p[r, j], v[r, j] = x, x, rest
            square += rest * rest
        distance[r, 0] = np.sqrt(square)


@_sums
def write(target: Array, center: Array, alpha: Array, mean: Array, dual: Array, length: Array) -> None:
    """``Search.write``, after its product."""
    for r in range(len(mean)):
        square = 0.0
        for j in range(mean.shape[1]):
            x = alpha[r, 0] * (target[r, j] - mean[r, j])
            dual[r, j] = x
            mean[r, j] += center[j]
            square += x * x
        length[r, 0] = np.sqrt(square)


@_sums
def lengths(x: Array, out: Array) -> None:
    """``Search.lengths``."""
    for r in range(len(x)):
        square = 0.0
        for j in range(x.shape[1]):
            square += np.float64(x[r, j]) * np.float64(x[r, j])
        out[r, 0] = np.sqrt(square)
