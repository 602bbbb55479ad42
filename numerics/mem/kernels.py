"""The quick way of ``shared`` on the CPU, a row at a time, compiled by Numba: the same steps as in ``search``.

PyTorch passes over memory once for every operation; here a row stays in the core's own memory until it is done with. Products
are those of SciPy's BLAS.

Notation    as in ``search``: y = ahead, d = direction, p = weights, v = residual; m = −αGy = moved and g = −αGd = image
Rows        A search goes on for the rows that are ``active``, by number; y and m are those of the first one, the second, ...,
            all else is where the row is. What is to be done after a search is for the rows that are ``chosen``, by number;
            with ``product`` and ``packed`` it is as with y and m.
Products    Those that BLAS need not pack are quicker, so ``multiply`` takes as many rows at a time as that allows.
Rounding    Sums are made up in any order, as in any library of linear algebra; in float64 there is nothing else to reorder.
            ``exp64`` is off by at most 3 eps/2, relatively: by 0.4 eps/2 for r = t − k ln 2, |r| < 0.35, by as much for what is
            added to one, by eps/2 for adding it, and by less than 0.1 eps/2 for all else; its polynomial ends with r¹³.
One file    as Numba compiles a function again when its own file has changed, not when another has.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import make_array

from numerics.mem.task import Array, Found, Space, Task

Function = TypeVar("Function", bound=Callable[..., Any])

STEPS = 64
"""The largest number of steps of a search."""

ROUNDS = 4
"""How often a row may be corrected before it is left to Newton's method."""

CLOSE = 0.8
"""The share of what is enough that a correction is to reach; the rest is for what float32 loses of the logits."""

FAR = 2.0
"""The largest change of a logit next to another in one step of a search that takes care."""

BEYOND = 1.0
"""The ‖v‖ from which on every search takes care: p and w are near different corners, and a step may change them about."""

STIFF = 16.0
"""The α max_i ‖t_i‖² from which on a search takes care throughout."""

SMALL, LARGE = 0.2, 4.0
"""A factor of y below the first is compared with what would shrink the residual most, and given up if that is so many times as
large: G hardly sees the residual. No factor above the second is believed."""

APART = 1e-4
"""The least square of the sine between two directions that span a plane."""

NOTHING = 1e-30
"""The least that a square is taken for, so that nothing is divided by zero."""

TINY = 2.0**-500
"""More than squares that underflow can hide of a length."""

_LINE = 64
"""How many bytes come at a time."""

_ZERO, _ONE = np.float32(0), np.float32(1)
_UNIT, _SEEN = 2.0**-53, 2.0**-22
_POWERS = tuple(np.float32(x) for x in (1, 0.6931472, 0.24022651, 0.05550411, 0.009618129, 0.0013333558, 0.00015403531))
"""(ln 2)^k / k!."""
_PER_BIT, _SHIFT, _LOW = np.float32(1.442695), np.float32(1.5 * 2**23), np.float32(-126)

_P2, _P3, _P4, _P5, _P6, _P7, _P8 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320
_P9, _P10, _P11, _P12, _P13 = 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600, 1 / 6227020800
_PER_BIT_64, _SHIFT_64, _LOW_64 = 1.4426950408889634, 1.5 * 2**52, -708.0
_LN2, _LN2_REST = 0.693147180369123816490, 1.90821492927058770002e-10
"""ln 2 in two parts, the first of 32 bits, so that its multiples up to 2²¹ are exact."""


def _compiled(*liberties: str, **others: Any) -> Callable[[Function], Function]:
    """Compile at the first call, once for all processes, with these liberties in arithmetic.

    Nothing is made or kept here, so no references need to be counted (``_nrt``): for each row, that would cost a third.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False} | others
    compiler: Callable[[Function], Function] = numba.njit(fastmath=set(liberties), **options)
    return compiler


_as_written = _compiled()
_sums = _compiled("nsz", "reassoc")
_in_any_order = _compiled("contract", "nsz", "reassoc")
_driver = _compiled(_nrt=True)
_part_of_it = _compiled(_nrt=True, inline="always")         # of what it is called by, so that it is compiled but once


def _select_larger(_: Any, x: Any, y: Any) -> Any:
    """The larger of two numbers, in a form that LLVM makes a vector instruction of; of NaN it may make anything."""

    def code(_: Any, builder: Any, __: Any, given: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *given, flags=_NO_NAN), *given, flags=_NO_NAN)

    return x(x, y), code


_NO_NAN = ("nnan", "nsz")
_larger: Any = intrinsic(_select_larger)


def _prefetch(_: Any, x: Any, r: Any, j: Any) -> Any:
    """Let an entry of a matrix be brought near the core, and do not wait for it."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        matrix = make_array(signature.args[0])(context, builder, given[0])  # type: ignore[no-untyped-call]
        first = builder.mul(given[1], builder.extract_value(matrix.shape, 1))
        entry = builder.bitcast(builder.gep(matrix.data, [builder.add(first, given[2])]), place)
        kind = ir.FunctionType(ir.VoidType(), [place, flag, flag, flag])
        builder.call(builder.module.declare_intrinsic("llvm.prefetch", [place], kind), [entry, flag(0), flag(2), flag(1)])
        return context.get_dummy_value()

    return types.none(x, types.intp, types.intp), code


_bring: Any = intrinsic(_prefetch)


@_as_written
def fetch(x: Array, r: int) -> None:
    """Let a row of a matrix be brought near the core, if there is one: a step that works on what is near leaves time for it."""
    if r < len(x):
        for j in range(0, x.shape[1], _LINE // x.itemsize):
            _bring(x, r, j)


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
def _aim(v: Array, p: Array, diagonal: Array, lead: Array, factor: Any, y: Array, spare: Array) -> None:
    """y with y + ΠCy = v, for C = factor · (diag(diagonal) + ffᵀ), f = lead.

    That is (1 + c)y = v + tp − factor s pf, entry by entry, with c = factor · diagonal · p, t = ⟨p, Cy⟩ and s = ⟨f, y⟩: two
    unknown numbers, for which the determinant is at least 1 − bottom > 0.
    """
    top = bottom = along = across = within = _ZERO
    for j in range(len(p)):
        c = factor * diagonal[j] * p[j]
        less = _ONE / (_ONE + c)
        ahead, behind = less * v[j], less * p[j]
        other = lead[j] * behind
        y[j], spare[j] = ahead, behind
        top += c * ahead
        bottom += c * behind
        along += lead[j] * ahead
        across += other
        within += lead[j] * other
    rest, much = _ONE - bottom, _ONE + factor * within
    share = _ONE / (much * rest - factor * across * across)
    turn, drop = share * (much * top + factor * across * along), share * factor * (rest * along + across * top)
    for j in range(len(p)):
        y[j] += (turn - drop * lead[j]) * spare[j]


@_in_any_order
def _tilt(logits: Array, place: Array, p: Array, v: Array) -> Any:
    """p and v = p − w from the logits; ‖v‖."""
    top, total, square = _top(logits), _ZERO, _ZERO
    for j in range(len(p)):
        x = exp32(logits[j] - top)
        p[j] = x
        total += x
    share = _ONE / total
    for j in range(len(p)):
        x = p[j] * share
        rest = x - place[j]
        p[j], v[j] = x, rest
        square += rest * rest
    return np.sqrt(square)


@_in_any_order
def _add(a: Any, y: Array, b: Any, d: Array, total: Array) -> None:
    """d becomes ay + bd, and is added to the total."""
    for j in range(len(y)):
        x = a * y[j] + b * d[j]
        d[j] = x
        total[j] += x


@_in_any_order
def _multiply(m: Array, factor: Any) -> None:
    if factor != _ONE:
        for j in range(len(m)):
            m[j] *= factor


@_in_any_order
def _norm(x: Array) -> float:
    square = x.dtype.type(0)
    for j in range(len(x)):
        square += x[j] * x[j]
    return np.float64(np.sqrt(square))


@_in_any_order
def _shrink(g: Array, mean: Any, p: Array, d: Array, v: Array) -> Any:
    """v becomes what the step d leaves of it; ‖v‖."""
    square = _ZERO
    for j in range(len(p)):
        x = v[j] + p[j] * (g[j] - mean) - d[j]
        v[j] = x
        square += x * x
    return np.sqrt(square)


@_part_of_it
def _go_on(r: int, left: int, stuck: bool, task: Task, s: Space) -> int:
    """Let a row be the next of those that are left, if it has to: one with NaN has not. If it is stuck, y = v."""
    if s.distance[r] > s.goal[r]:
        factor = _ZERO if stuck else s.alpha[r]
        _aim(s.residual[r], s.weights[r], task.diagonal, task.lead, factor, s.ahead[left], s.moved[left])
        s.active[left] = r
        left += 1
    return left


@register_jitable(error_model="numpy")
def rounding(task: Any, reach: Any, alpha: Any, length: Any, mass: Any) -> tuple[Any, Any]:
    """ρ, and what float64 may lose of p in the ℓ1 norm, for ‖b‖ = reach, ‖λ‖ = length and ‖w‖₁ ≤ mass: see ``shared``."""
    (n, d), r = task.templates.shape, task.radius
    sums = _UNIT * (2 * reach + 3 * length / alpha + (n + 4) * r * mass)
    logits = _UNIT * (alpha * r * ((d + n + 4) * reach + (2 * n + d + 8) * r * mass) + 20 * r * length)
    return sums, logits + _UNIT * (2 * n + 35)               # n + 24 + 9 log n, and a little more


@register_jitable(error_model="numpy")
def enough(task: Any, reach: Any, alpha: Any, length: Any) -> Any:
    """The ‖v‖ that the tolerance asks for."""
    sums, off = rounding(task, reach, alpha, length, 2.0)
    return (0.98 * task.tolerance / alpha * (1 + length) - sums - task.radius * off) / task.root


@register_jitable(error_model="numpy")
def near_squared(task: Any, reach: Any, alpha: Any) -> Any:
    """The ‖v‖² at which a linear correction is about enough.

    Logits that are off by σ make p off by p σ²/2 more than that knows, and σ² is about (αr‖v‖)²α‖Σ‖.
    """
    return task.tolerance * (1 + alpha * reach) / (alpha**3 * task.radius**5)


@register_jitable(error_model="numpy")
def visible(task: Any, reach: Any, alpha: Any) -> Any:
    """The ‖v‖ that float32 can see."""
    return _SEEN * alpha * task.radius * (task.radius + reach)


@_as_written
def exponentials(log_prior: Array, prior: Array) -> None:
    """u from log u, in float32."""
    for r in range(len(log_prior)):
        for j in range(log_prior.shape[1]):
            prior[r, j] = exp32(np.float32(log_prior[r, j]))


@_in_any_order
def start(task: Task, s: Space) -> int:
    """Set out from w = u, with Tb in ``fixed``, where αTb is to be, and return how many rows are left."""
    left = 0
    for r in range(len(task.alpha)):
        s.reach[r] = _norm(task.target[r])
        square, least = near_squared(task, s.reach[r], task.alpha[r]), visible(task, s.reach[r], task.alpha[r])
        s.goal[r] = max(np.sqrt(square), least)
        alpha, log_prior, fixed, effect = task.alpha[r], task.log_prior[r % len(task.log_prior)], s.fixed[r], s.effect[r]
        one = r % len(task.log_prior)
        prior, pulled, place, direction, image = s.prior[one], s.pulled[one], s.place[r], s.direction[r], s.image[r]
        factor = s.alpha[r] = np.float32(alpha)
        for j in range(len(log_prior)):
            x = alpha * fixed[j]
            fixed[j] = x
            effect[j] = np.float32(x + log_prior[j]) + factor * pulled[j]
            place[j] = prior[j]
            direction[j] = image[j] = _ZERO
        s.distance[r] = _tilt(effect, place, s.weights[r], s.residual[r])
        left = _go_on(r, left, False, task, s)
    return left


@_in_any_order
def advance(left: int, task: Task, s: Space, far: Array) -> int:
    """Make a step of the search for w, after its product, and return how many rows are left. Fetch what is far meanwhile."""
    going = 0
    for k in range(left):
        r = s.active[k]
        fetch(far, r)
        _multiply(s.moved[k], s.alpha[r])
        stray = task.alpha[r] * task.radius * task.radius > STIFF or s.distance[r] > BEYOND
        a, b, _ = _step(s.ahead[k], s.moved[k], s.direction[r], s.image[r], s.weights[r], s.residual[r], stray)
        _add(a, s.ahead[k], b, s.direction[r], s.place[r])
        _add(a, s.moved[k], b, s.image[r], s.effect[r])
        s.distance[r] = _tilt(s.effect[r], s.place[r], s.weights[r], s.residual[r])
        going = _go_on(r, going, a == 0 and b == 0, task, s)
    return going


@_sums
def normalize(place: Array, w: Array) -> None:
    """w in float64, where it is to have the sum one, as p has; steps have none but for rounding."""
    for r in range(len(w)):
        total = 0.0
        for j in range(w.shape[1]):
            total += np.float64(place[r, j])
        share = 1 / total
        for j in range(w.shape[1]):
            w[r, j] = place[r, j] * share


@_sums
def _across(w: Array, product: Array, fixed: Array, alpha: float) -> float:
    """⟨w, αGw − 2αTb⟩."""
    total = 0.0
    for j in range(len(w)):
        total += w[j] * (alpha * product[j] - 2 * fixed[j])
    return total


@_as_written
def assemble(count: int, task: Task, s: Space) -> None:
    """The logits, from w alone and ``product``, and the ‖v‖ that is enough."""
    for k in range(count):
        r = s.chosen[k]
        alpha, log_prior, product, fixed, logits = (
            task.alpha[r], task.log_prior[r % len(task.log_prior)], s.product[k], s.fixed[r], s.logits[r]
        )
        square = s.reach[r] * s.reach[r] + _across(s.w[r], product, fixed, alpha) / alpha      # ‖b − Tᵀw‖²
        s.lost[r], s.enough[r] = 0.0, enough(task, s.reach[r], alpha, alpha * np.sqrt(max(square, 0.0)))
        for j in range(len(product)):
            logits[j] = fixed[j] - alpha * product[j] + log_prior[j]


@_sums
def settle(count: int, found: Found, s: Space) -> None:
    """p and ‖p − w‖ in float64; p and p − w to resume with."""
    for k in range(count):
        r = s.chosen[k]
        w, p, logits, narrow, v = s.w[r], found.weights[r], s.logits[r], s.weights[r], s.residual[r]
        top, total, square = _top(logits), 0.0, 0.0
        for j in range(len(w)):
            x = exp64(logits[j] - top)
            p[j] = x
            total += x
        share = 1 / total
        for j in range(len(w)):
            x = p[j] * share
            rest = x - w[j]
            p[j], narrow[j], v[j] = x, x, rest
            square += rest * rest
        s.settled[r] = np.sqrt(square)


@_part_of_it
def _worth(r: int, task: Task, s: Space) -> Any:
    """What the logits may have lost, as a ‖v‖."""
    return s.lost[r] * task.radius / task.root


@_in_any_order
def resume(task: Task, s: Space) -> int:
    """Set out for the e with (I + αΠG)e = v, from zero, in the rows that need it, if anything is enough, and return how many
    these are."""
    left = 0
    for r in range(len(task.alpha)):
        if s.settled[r] + _worth(r, task, s) > s.enough[r] > 0:
            for x in (s.place, s.effect, s.direction, s.image):
                x[r] = _ZERO
            s.reached[r] = s.path[r] = 0.0
            s.goal[r] = CLOSE * s.enough[r]
            _aim(s.residual[r], s.weights[r], task.diagonal, task.lead, s.alpha[r], s.ahead[left], s.moved[left])
            s.active[left] = s.chosen[left] = r
            left += 1
    return left


@_in_any_order
def correct(left: int, task: Task, s: Space) -> int:
    """Make a step of the search for e, after its product, and return how many rows are left."""
    going = 0
    for k in range(left):
        r = s.active[k]
        _multiply(s.moved[k], s.alpha[r])
        a, b, mean = _step(s.ahead[k], s.moved[k], s.direction[r], s.image[r], s.weights[r], s.residual[r], False)
        s.reached[r] = abs(a) * (_norm(s.ahead[k]) + task.least) + abs(b) * s.reached[r]
        s.path[r] += s.reached[r]
        _add(a, s.ahead[k], b, s.direction[r], s.place[r])
        _add(a, s.moved[k], b, s.image[r], s.effect[r])
        s.distance[r] = _shrink(s.image[r], mean, s.weights[r], s.direction[r], s.residual[r])
        going = _go_on(r, going, a == 0 and b == 0, task, s)
    return going


@_as_written
def move(count: int, steps: int, task: Task, s: Space) -> None:
    """Add e to w, in float64, and what was found for −αGe in so many steps to the logits."""
    for k in range(count):
        r = s.chosen[k]
        s.lost[r] += task.loss * (len(task.gram) + 4 + 8 * steps) * task.alpha[r] * s.path[r]
        logits, effect, w, place = s.logits[r], s.effect[r], s.w[r], s.place[r]
        for j in range(len(w)):
            logits[j] += effect[j]
            w[j] += place[j]


@_as_written
def blurred(count: int, task: Task, s: Space) -> int:
    """Choose the rows that are not good enough as too much of the logits may be lost, pack w, and return how many these are."""
    left = 0
    for k in range(count):
        r = s.chosen[k]
        worth = _worth(r, task, s)
        if worth > (1 - CLOSE) * s.enough[r] and worth + s.settled[r] > s.enough[r]:
            s.chosen[left] = r
            for j in range(s.w.shape[1]):
                s.packed[left, j] = s.w[r, j]
            left += 1
    return left


@_sums
def write(task: Task, found: Found) -> None:
    """λ from b and Tᵀw, ‖λ‖, and the mean."""
    for r in range(len(task.alpha)):
        square, alpha, target, mean, dual = 0.0, task.alpha[r], task.target[r], found.mean[r], found.dual[r]
        for j in range(len(mean)):
            x = alpha * (target[j] - mean[j])
            dual[j] = x
            mean[j] += task.center[j]
            square += x * x
        found.length[r] = np.sqrt(square)


@_as_written
def bound(task: Task, found: Found, s: Space) -> None:
    """What is known of λ and p, rounding included."""
    for r in range(len(task.alpha)):
        alpha, distance = task.alpha[r], s.settled[r]
        sums, off = rounding(task, s.reach[r], alpha, found.length[r], 1 + np.sqrt(len(task.gram)) * distance)
        off += s.lost[r] + task.blur[r % len(task.blur)]
        norm = task.root * distance + (sums + task.drift[r % len(task.drift)] + TINY) + task.radius * off
        found.gradient_norm[r], found.mean_error[r], found.error[r] = norm, norm, alpha * norm + TINY
        near = np.fmin(np.sqrt(alpha) * norm / 2, 2 * np.tanh(task.radius * found.error[r] / 2))
        found.weights_error[r] = near + off


@_part_of_it
def multiply(x: Array, y: Array, piece: int, out: Array) -> None:
    """xy, by some rows at a time: fours, at least two, of which a product is no larger than ``piece``, or all."""
    rows = piece // y.size // 4 * 4
    rows = rows if rows >= 8 else max(len(x), 1)
    for i in range(0, len(x), rows):
        np.dot(x[i : i + rows], y, out[i : i + rows])


@_part_of_it
def pull(task: Task, s: Space) -> None:
    """u and −Gu, in float32."""
    priors = len(task.log_prior)
    exponentials(task.log_prior, s.prior)
    multiply(s.prior[:priors], task.narrow, s.piece, s.pulled[:priors])


@_part_of_it
def search(task: Task, found: Found, s: Space, after: Array) -> None:
    """w as float32 finds it, until a linear correction is enough; the b that come after these are fetched."""
    far = (after, found.dual, found.mean, after[:0])
    rows = len(task.alpha)
    multiply(task.target, task.columns, s.piece, s.fixed[:rows])
    left, steps = start(task, s), 0
    while left > 0 and steps < STEPS:
        multiply(s.ahead[:left], task.narrow, s.piece, s.moved[:left])
        left, steps = advance(left, task, s, far[min(steps, 3)]), steps + 1
    normalize(s.place, s.w[:rows])


@_part_of_it
def improve(task: Task, found: Found, s: Space) -> None:
    """Correct w until that is enough, row by row; one with NaN never needs it, as nothing helps it."""
    count = len(task.alpha)
    for r in range(count):
        s.chosen[r] = r
    multiply(s.w[:count], task.gram, s.piece, s.product[:count])
    assemble(count, task, s)
    settle(count, found, s)
    for _ in range(ROUNDS):
        left = count = resume(task, s)
        if count == 0:
            break
        steps = 0
        while left > 0 and steps < STEPS:
            multiply(s.ahead[:left], task.narrow, s.piece, s.moved[:left])
            left, steps = correct(left, task, s), steps + 1
        move(count, steps, task, s)
        settle(count, found, s)
        count = blurred(count, task, s)
        if count > 0:
            multiply(s.packed[:count], task.gram, s.piece, s.product[:count])
            assemble(count, task, s)
            settle(count, found, s)


@_part_of_it
def _part(x: Array, first: int, last: int) -> Array:
    return x if len(x) == 1 else x[first:last]


@_driver
def solve(first: int, last: int, task: Task, found: Found, s: Space) -> None:
    """Solve the problems of these rows, a tile after the other."""
    for i in range(first, last, len(s.goal)):
        j = min(i + len(s.goal), last)
        some = Task(task.target[i:j], task.alpha[i:j], _part(task.log_prior, i, j), _part(task.drift, i, j),
                    _part(task.blur, i, j), task.center, task.templates, task.columns, task.gram, task.narrow, task.lead,
                    task.diagonal, task.radius, task.root, task.loss, task.least, task.tolerance)
        tile = Found(found.dual[i:j], found.mean[i:j], found.weights[i:j], found.length[i:j], found.gradient_norm[i:j],
                     found.error[i:j], found.weights_error[i:j], found.mean_error[i:j])
        if i == first or len(task.log_prior) > 1:
            pull(some, s)
        search(some, tile, s, task.target[j : min(2 * j - i, last)])
        improve(some, tile, s)
        multiply(s.w[: j - i], task.templates, s.piece, tile.mean)
        write(some, tile)
        bound(some, tile, s)
