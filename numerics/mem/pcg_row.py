"""The loops of ``pcg_numba`` over the n entries of one row.

Notation    as in ``pcg``; m = −αGy and g = −αGd
Rounding    Sums are made up in any order, as in any library of linear algebra; in float64 nothing else is reordered.
"""

from typing import Any

import numpy as np

from numerics.mem.pcg import DIVISION_FLOOR, MAX_LOGIT_STEP, MAX_STEP, MIN_SIN2, MIN_STEP
from numerics.mem.pcg_compile import (
    NO_NAN,
    as_written,
    compiled,
    exp32,
    exp64,
    inlined,
    larger,
    reordered,
    reordered_fused,
    row_max,
)
from numerics.mem.pcg_state import Array

ZERO, ONE = np.float32(0), np.float32(1)


@as_written
def minimize_in_plane(yy: float, yd: float, dd: float, ry: float, rd: float) -> tuple[float, float]:
    """The a and b that minimize ½H(ay + bd, ay + bd) − a ry − b rd; b = 0 if y and d are nearly parallel; (0, 0) if a is
    negative or one of them above MAX_STEP."""
    det = yy * dd - yd * yd
    a, b = (ry * dd - rd * yd) / det, (rd * yy - ry * yd) / det
    if not (yy > 0 and dd > 0 and det > MIN_SIN2 * yy * dd):
        a, b = ry / yy, 0.0
    return (a, b) if 0 <= a <= MAX_STEP and abs(b) <= MAX_STEP else (0.0, 0.0)


@reordered_fused
def minimize_residual(y: Array, m: Array, p: Array, v: Array, pm: Any) -> float:
    """The a that minimizes ‖v − a(I + αΠG)y‖, for pm = ⟨p, m⟩."""
    rise = square = ZERO
    for j in range(len(p)):
        x = y[j] - p[j] * (m[j] - pm)
        rise += v[j] * x
        square += x * x
    return np.float64(rise) / max(np.float64(square), DIVISION_FLOOR)


@compiled("contract", *NO_NAN)
def logit_range(a: Any, m: Array, b: Any, g: Array) -> float:
    """The largest entry of am + bg minus the smallest."""
    most = a * m[0] + b * g[0]
    least = -most
    for j in range(1, len(m)):
        x = a * m[j] + b * g[j]
        most, least = larger(most, x), larger(least, -x)
    return np.float64(most + least)


@reordered_fused
def step_factors(y: Array, m: Array, d: Array, g: Array, p: Array, v: Array, damped: bool) -> tuple[Any, Any, Any]:
    """The factors a of y and b of d in the next step, and ⟨p, am + bg⟩."""
    pm = pg = pmm = pmg = pgg = ym = yg = dg = vm = vg = ZERO
    for j in range(len(p)):
        weighted_m, weighted_g = p[j] * m[j], p[j] * g[j]
        pm += weighted_m
        pg += weighted_g
        pmm += weighted_m * m[j]
        pmg += weighted_m * g[j]
        pgg += weighted_g * g[j]
        ym += y[j] * m[j]
        yg += y[j] * g[j]
        dg += d[j] * g[j]
        vm += v[j] * m[j]
        vg += v[j] * g[j]
    a, b = minimize_in_plane(
        np.float64(pmm - pm * pm - ym),
        np.float64(pmg - pm * pg - yg),
        np.float64(pgg - pg * pg - dg),
        -np.float64(vm),
        -np.float64(vg),
    )
    if a < MIN_STEP:
        longer = minimize_residual(y, m, p, v, pm)
        if longer > MAX_STEP * a:
            a, b = longer, 0.0
    if damped:
        factor = MAX_LOGIT_STEP / max(logit_range(np.float32(a), m, np.float32(b), g), MAX_LOGIT_STEP)
        a, b = factor * a, factor * b
    return np.float32(a), np.float32(b), np.float32(a) * pm + np.float32(b) * pg


@reordered_fused
def add_step(a: Any, y: Array, b: Any, d: Array, total: Array) -> None:
    """d ← ay + bd, and add d to the total."""
    for j in range(len(y)):
        x = a * y[j] + b * d[j]
        d[j] = x
        total[j] += x


@compiled("arcp", "contract", "nsz", "reassoc")
def precondition(v: Array, p: Array, diagonal: Array, f: Array, alpha: Any, y: Array, scratch: Array) -> None:
    """Solve y + ΠCy = v, for C = α(diag(D) + ffᵀ).

    Entry by entry this is (1 + c)y = v + tp − αs pf with c = αDp, t = ⟨p, Cy⟩ and s = ⟨f, y⟩. With x = v/(1 + c) and
    q = p/(1 + c), t and s solve a 2 × 2 system, whose determinant is at least 1 − ⟨c, q⟩ > 0.
    """
    cx = cq = fx = fq = ffq = ZERO
    for j in range(len(p)):
        c = alpha * diagonal[j] * p[j]
        inverse = ONE / (ONE + c)
        x, q = inverse * v[j], inverse * p[j]
        weighted = f[j] * q
        y[j], scratch[j] = x, q
        cx += c * x
        cq += c * q
        fx += f[j] * x
        fq += weighted
        ffq += f[j] * weighted
    tt, ss = ONE - cq, ONE + alpha * ffq
    inverse_det = ONE / (ss * tt - alpha * fq * fq)
    t = inverse_det * (ss * cx + alpha * fq * fx)
    alpha_s = inverse_det * alpha * (tt * fx + fq * cx)
    for j in range(len(p)):
        y[j] += (t - alpha_s * f[j]) * scratch[j]


@reordered_fused
def softmax_and_residual(logits: Array, w: Array, p: Array, v: Array) -> Any:
    """p = softmax(logits) and v = p − w in float32; return ‖v‖."""
    largest, total, square = row_max(logits), ZERO, ZERO
    for j in range(len(p)):
        x = exp32(logits[j] - largest)
        p[j] = x
        total += x
    scale = ONE / total
    for j in range(len(p)):
        x = p[j] * scale
        difference = x - w[j]
        p[j], v[j] = x, difference
        square += difference * difference
    return np.sqrt(square)


@inlined
def softmax_and_residual_float64(logits: Array, w: Array, p: Array, p32: Array, v32: Array) -> Any:
    """p = softmax(logits) in float64; p and v = p − w rounded to float32; return ‖v‖."""
    largest, total, square = row_max(logits), 0.0, 0.0
    for j in range(len(w)):
        x = exp64(logits[j] - largest)
        p[j] = x
        total += x
    scale = 1 / total
    for j in range(len(w)):
        x = p[j] * scale
        difference = x - w[j]
        p[j], p32[j], v32[j] = x, x, difference
        square += difference * difference
    return np.sqrt(square)


@reordered_fused
def update_linear_residual(g: Array, pg: Any, p: Array, d: Array, v: Array) -> Any:
    """v ← v − (I + αΠG)d for the step d, with pg = ⟨p, g⟩; return ‖v‖."""
    square = ZERO
    for j in range(len(p)):
        x = v[j] + p[j] * (g[j] - pg) - d[j]
        v[j] = x
        square += x * x
    return np.sqrt(square)


@reordered_fused
def scale_row(x: Array, factor: Any) -> None:
    """x ← factor x."""
    if factor != ONE:
        for j in range(len(x)):
            x[j] *= factor


@reordered_fused
def norm(x: Array) -> float:
    """‖x‖, summed up in the dtype of x."""
    square = x.dtype.type(0)
    for j in range(len(x)):
        square += x[j] * x[j]
    return np.float64(np.sqrt(square))


@reordered
def quadratic_form(w: Array, gram_w: Array, target_logits: Array, alpha: float) -> float:
    """⟨w, αGw − 2αTb⟩."""
    total = 0.0
    for j in range(len(w)):
        total += w[j] * (alpha * gram_w[j] - 2 * target_logits[j])
    return total
