"""References for sparse maps and their losses, from their definitions.

A threshold is found with all digits; its error is that of the data which it follows from.

Notation    s = scores; x = s − max s; β = α − 1; p = plan; w = ∂p/∂x and a = ∂p/∂β while the threshold is held
"""

from collections.abc import Callable
from typing import Any

import flint
import numpy as np

from numerics.precision.exact import Exact, Floats, dot, joined, times
from numerics.precision.rows import softmax, spread


def entmax(s: Exact, alpha: Exact) -> Exact:
    """α-entmax, (1 + βy)_+^{1/β} with y = x − c, β = α − 1, for the c with which they add up to one."""
    x, beta = s - s.max(), alpha - 1.0
    if beta.value[0] == 0:
        return softmax(x)
    p = Exact(_entmax(x.value, beta.value[0]), np.zeros(len(x)), x.peak)
    weight = weights(p, beta)
    share = weight / weight.sum()
    # dp = w dx + a dβ less the share of their sum, which a change of c takes off; what forms p itself, and a sum of m terms.
    own = times(weight.size, x.error) + 4 * p.size * (1 + np.abs(_finite_log(p.size)))
    error = own + share.size * (own.sum() + len(p)) + _whole_slope(p, beta, share).size * beta.size
    return p.off_by(error + p.size + p.peak.least)


def weights(p: Exact, beta: Exact) -> Exact:
    """w = p^{1 − β} where p > 0, and 0."""
    live = [i for i, x in enumerate(p.value) if x > 0]
    return spread(p[live].power(1.0 - beta), live, len(p))


def alpha_slope(p: Exact, beta: Exact) -> Exact:
    """a = ∂p/∂β while c is held: with L = log p and t = −βL, −p (e^t − 1 − t)/β² = −pL²(1/2 + t/6 + …)."""
    live = [i for i, x in enumerate(p.value) if x > 0]
    q, b, slopes = p[live], beta.value[0], []
    for x in q.value:
        t = -b * x.log()
        small = abs(t) < flint.arb(2) ** -60
        ratio = flint.arb(0.5) + t / 6 + t * t / 24 + t * t * t / 120 if small else (t.expm1() - t) / (t * t)
        slopes.append(-x * x.log() * x.log() * ratio)
    made = Exact(slopes, np.zeros(len(slopes)), p.peak)
    return spread(made.off_by(4 * made.size), live, len(p))


def _whole_slope(p: Exact, beta: Exact, share: Exact) -> Exact:
    """∂p/∂β. For β > 1 as p(1 + t)/β² less the share of its sum, t = −β log p: a multiple of w is left out, which cancels."""
    slope = alpha_slope(p, beta)
    if beta.value[0] > 1:
        live = [i for i, x in enumerate(p.value) if x > 0]
        q = p[live]
        slope = spread(q * (1.0 - beta * q.log()) / beta / beta, live, len(p))
    return slope - share * slope.sum()


def entmax_backward(s: Exact, alpha: Exact, w: Exact) -> Exact:
    """∂⟨w, p⟩/∂(s, α)."""
    beta = alpha - 1.0
    p = entmax(s, alpha)
    weight = weights(p, beta)
    share = weight / weight.sum()
    slope = _whole_slope(p.exactly(), beta, share.exactly())
    with np.errstate(all="ignore"):
        relative = np.where(p.size > 0, p.error / p.size * (1 + np.abs(_finite_log(p.size)) * beta.size), 0.0)
    slope = slope.off_by(slope.error + slope.size * relative)
    inner = w - dot(share, w)
    return joined([weight * inner, dot(slope, inner)])


def normmax(s: Exact, alpha: Exact) -> Exact:
    """α-normmax: r = (x − τ)_+^{1/β} with Σ r^α = 1, over the sum of r."""
    x, beta = s - s.max(), alpha - 1.0
    a, b = alpha.value[0], beta.value[0]
    m = flint.arb(len(x))
    low, high = flint.arb(-1), -((-b / a) * m.log()).exp()
    power = a / b

    def excess(tau: Any) -> Any:
        return sum(((y - tau) ** power for y in x.value if y > tau), flint.arb(0)) - 1

    def slope(tau: Any) -> Any:
        return -power * sum(((y - tau) ** (power - 1) for y in x.value if y > tau), flint.arb(0))

    tau = _root(excess, slope, low, high)
    live = [i for i, y in enumerate(x.value) if y > tau]
    gap = Exact([x.value[i] - tau for i in live], np.zeros(len(live)), x.peak)
    r = gap.power(1.0 / beta.exactly()).exactly()
    p = r / r.sum()
    own = x.error[live] + gap.size
    # Σ r^α − 1 is off by its own rounding: of powers, and of a sum of m terms.
    sum_error = float((r.size * own).sum() + (len(live) + 2 + 2 * (r.size * gap.size * np.abs(_finite_log(gap.size))).sum()))
    total_error = own + sum_error / float(r.size.sum())
    with np.errstate(all="ignore"):
        relative = total_error / (beta.size * gap.size) + 2 * np.abs(_finite_log(gap.size)) / beta.size + 1
    error = p.size * (relative + float((p.size * relative).sum()) + len(live)) + p.peak.least
    return spread(p.off_by(error), live, len(x))


def budget(s: Exact, total: Exact) -> Exact:
    """p = min(max(x − τ, 0), 1) with the sum B."""
    x, b = s - s.max(), total.value[0]

    def sums(tau: Any) -> Any:
        return sum((min(max(y - tau, flint.arb(0)), flint.arb(1)) for y in x.value), flint.arb(0))

    breaks = sorted({y.mid() for z in x.value for y in (z, z - 1)}, key=float)
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sums(breaks[middle]) >= b else (low, middle)
    top, lowest = sums(breaks[low]), sums(breaks[high])
    share = (top - b) / (top - lowest) if top != lowest else flint.arb(0)
    tau = breaks[low] + share * (breaks[high] - breaks[low])
    p = Exact([min(max(y - tau, flint.arb(0)), flint.arb(1)) for y in x.value], np.zeros(len(x)), x.peak)
    between = (p.size > 0) & (p.size < 1)
    count = max(int(between.sum()), 1)
    error = x.error + float((x.error[between].sum() + len(x) * (x.size[between].sum() + b + (p.size == 1).sum())) / count)
    return p.off_by(np.where(between, error + float(abs(tau)) + p.size, 0.0))


def tsallis(p: Exact, alpha: Exact) -> Exact:
    """(Σ p^α − 1)/(α(α − 1)) = Σ p (p^β − 1)/(αβ) for rows that sum to one, in the limit Σ p log p at α = 1."""
    live = [i for i in range(len(p)) if p.value[i] != 0]
    q, beta = p[live], alpha - 1.0
    if beta.value[0] == 0:
        return dot(q, q.log())
    return dot(q, (beta * q.log()).expm1()) / beta / alpha


def norm(p: Exact, alpha: Exact) -> Exact:
    """‖p‖_α − 1."""
    return p.power(alpha).sum().power(1.0 / alpha) - 1.0


def loss_of(p: Exact, omega: Exact, s: Exact, label: int) -> Exact:
    """⟨p, s⟩ − Ω(p) − s_y, from differences of scores."""
    return dot(p, s - s.max()) - omega - (s[label] - s.max())


def less_label(p: Exact, label: int) -> Exact:
    """p − e_y."""
    return joined(
        [p[:label], p[label] - 1.0, p[label + 1 :]]
        if 0 < label < len(p) - 1
        else [x for x in (p[:label], p[label] - 1.0, p[label + 1 :]) if len(x)]
    )


def _root(f: Callable[[Any], Any], slope: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Where a decreasing function between two points is zero: by bisection, and Newton's method where that stays inside."""
    best = ((low + high) / 2).mid()
    for _ in range(2000):
        value = f(best).mid()
        low, high = (best, high) if value > 0 else (low, best)
        if value == 0 or high - low < flint.arb(2) ** (-flint.ctx.prec * 3 // 4):
            return best
        derivative = slope(best).mid()
        newton = (best - value / derivative).mid() if derivative != 0 else low
        step = abs(newton - best)
        best = newton if low < newton < high else ((low + high) / 2).mid()
        if best is newton and step < flint.arb(2) ** (-flint.ctx.prec * 2 // 3):
            return best
    raise ArithmeticError("root: not found")


def _entmax(x: list[Any], beta: Any) -> list[Any]:
    """P (1 + βx P^{−β})_+^{1/β} for the P, the largest of them, with which they add up to one."""
    # P ≤ 1, so that nothing is left of an entry below −1/β.
    inside = [y for y in x if 1 + beta * y > 0]

    def entry(y: Any, log_peak: Any, scale: Any) -> Any:
        base = 1 + beta * y * scale
        return (log_peak + base.log() / beta).exp() if base > 0 else flint.arb(0)

    def shares(log_peak: Any) -> list[Any]:
        scale = (-beta * log_peak).exp()
        return [entry(y, log_peak, scale) for y in inside]

    def excess(log_peak: Any) -> Any:
        return 1 - sum(shares(log_peak), flint.arb(0))

    def slope(log_peak: Any) -> Any:
        return -sum((p * (beta * (log_peak - p.log())).exp() for p in shares(log_peak) if p > 0), flint.arb(0))

    best = _root(excess, slope, -flint.arb(len(x)).log() - 1, flint.arb(2) ** -20)
    scale = (-beta * best).exp()
    return [entry(y, best, scale) if 1 + beta * y > 0 else flint.arb(0) for y in x]


def _finite_log(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.log(x), nan=0.0, posinf=0.0, neginf=0.0)
