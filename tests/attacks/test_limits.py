"""Limits that hold only in general position, that leave the domain, or whose value moves along."""

import pytest
import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable
from derivations.domains import Simplex
from derivations.relations import Limit
from tests.attacks import Table, refused, refuted
from tests.attacks.vocabulary import K3, a, b, c, h, half, i, j, k, l, m, n, one, r, s, t, u, w, x, y, z

oo, zero = sp.oo, sp.S.Zero
moving = sp.Symbol("t_", positive=True)  # the name under which t once moved


def saturating(square: sp.Expr) -> Limit:
    """D t/(D t + 1) → 1 as t → ∞, false where D = 0."""
    return Limit(square * t / (square * t + 1), t, oo, one)


def weight(temperature: sp.Expr, key: sp.Expr = j) -> sp.Expr:
    return sp.exp(a[key] / temperature) / total(l, sp.exp(a[l] / temperature))


SATURATING = {
    "A5: x = 5": (x - 5) ** 2,
    "A5: x = 1/7": (x - sp.Rational(1, 7)) ** 2,
    "A5: x = 10⁶ + 1/3": (x - 10**6 - sp.Rational(1, 3)) ** 2,
    "A5: an irrational x": (x**2 - 2) ** 2,
    "A5: a transcendental x": (sp.exp(x) - 3) ** 2,
    "A5: y = 1": (y - 1) ** 2,
    "A5: y = 1 by its log": sp.log(y) ** 2,
    "A5: two scalars that agree": (x - w) ** 2,
    "A5: two scalars that agree up to sign": (x + w) ** 2,
    "A5: a scalar and an entry that agree": (x - a[j]) ** 2,
    "A5: two entries that agree": (a[j] - a[l]) ** 2,
    "A5: different entries that agree": (a[j] - a[k]) ** 2,
    "A5: entries of two vectors that agree": (a[j] - s[j]) ** 2,
    "A5: m = 4": (m - 4) ** 2,
    "A5: m = n": (m - n) ** 2,
    "A5: j = l": 1 - delta(j, l),
    "A5: m = 1": m - 1,
    "A5: x = 0 and w = 0": x**2 + w**2,
    "A5: a = 0": total(l, a[l] ** 2),
    "A5: all entries equal": total(l, (a[l] - a[j]) ** 2),
    "A5: at m = 1 nothing is left": total(k, b[k]),
    "A5: a corner of the simplex": 1 - total(l, r[l] ** 2),
    "A5: the uniform point": m * total(l, u[l] ** 2) - 1,
    "A5: two points that agree": total(l, kl(r[l], u[l])),
    "A5: a point without entropy": -total(l, xlogx(r[l])),
    "A5: x ≤ 0": plus(x),
    "A5: z = 0": z,
    "A5: c = 0": total(l, c[l]),
    "A5: r_j = 0": r[j],
    "A5: an open sign, whose zero is passed": x,
    "A5: a variance": total(l, u[l] * (a[l] - total(h, u[h] * a[h])) ** 2),
    "A5: orthogonal vectors": total(l, a[l] * s[l]) ** 2,
}

GENERAL: Table = {
    "A5: e^(−(x − 5)² t) → 0": lambda: Limit(sp.exp(-((x - 5) ** 2) * t), t, oo, zero),
    "A5: e^(−(m − 5)² t) → 0": lambda: Limit(sp.exp(-((m - 5) ** 2) * t), t, oo, zero),
    "A5: m^(−t) → 0 at m = 1": lambda: Limit(m ** (-t), t, oo, zero),
    "A5: u^t → 0 at m = 1": lambda: Limit(u[j] ** t, t, oo, zero),
    "A5: r^t → 0 at corners": lambda: Limit(r[j] ** t, t, oo, zero),
    "A5: Σ u^t → 0 at m = 1": lambda: Limit(total(l, u[l] ** t), t, oo, zero),
    "A5: r^t → 1 at 0, but for zeros": lambda: Limit(r[j] ** t, t, zero, one),
    "A5: Σ r^t → m at 0, but for zeros": lambda: Limit(total(l, r[l] ** t), t, zero, m),
    "A5: z^t → 1 at 0, but for 0": lambda: Limit(z**t, t, zero, one),
    "A5: t^(−z) → 0": lambda: Limit(t ** (-z), t, oo, zero),
    "A5: t^z → ∞": lambda: Limit(t**z, t, oo, oo),
    "A5: y^t → ∞": lambda: Limit(y**t, t, oo, oo),
    "A5: y^t → 0": lambda: Limit(y**t, t, oo, zero),
    "A5: z t → ∞": lambda: Limit(z * t, t, oo, oo),
    "A5: x² t → ∞": lambda: Limit(x**2 * t, t, oo, oo),
    "A5: x t → ∞": lambda: Limit(x * t, t, oo, oo),
    "A5: r_j t → ∞": lambda: Limit(r[j] * t, t, oo, oo),
    "A5: t Σ a² → ∞": lambda: Limit(t * total(l, a[l] ** 2), t, oo, oo),
    "A5: (m − 1) t → ∞": lambda: Limit((m - 1) * t, t, oo, oo),
    "A5: t/(t + (x − 5)²) → 0 at 0": lambda: Limit(t / (t + (x - 5) ** 2), t, zero, zero),
    "A5: t/(t + z) → 0 at 0": lambda: Limit(t / (t + z), t, zero, zero),
    "A5: x/t → ∞ at 0": lambda: Limit(x / t, t, zero, oo),
    "A5: z/t → ∞ at 0": lambda: Limit(z / t, t, zero, oo),
    "A5: a^t for a real a": lambda: Limit(x**t, t, oo, zero),
    "A5: Σ e^(−a t) → 0": lambda: Limit(total(l, sp.exp(-a[l] * t)), t, oo, zero),
    "A5: softmax → 0 as τ → 0": lambda: Limit(weight(t), t, zero, zero),
    "A5: softmax → 1 as τ → 0": lambda: Limit(weight(t), t, zero, one),
    "A5: softmax → 1/m as τ → 0": lambda: Limit(weight(t), t, zero, 1 / m),
    "A5: two keys, the winner takes all but for ties": lambda: Limit(1 / (1 + sp.exp(-((x - w) ** 2) / t)), t, zero, one),
    "softmax → 0 as τ → ∞": lambda: Limit(weight(t), t, oo, zero),
    "softmax → δ as τ → ∞": lambda: Limit(weight(t), t, oo, delta(j, 1)),
    "τ log Σ e^(a/τ) → a_j": lambda: Limit(t * sp.log(total(l, sp.exp(a[l] / t))), t, zero, a[j]),
    "τ log Σ e^(a/τ) → Σ a": lambda: Limit(t * sp.log(total(l, sp.exp(a[l] / t))), t, zero, total(l, a[l])),
    "τ log Σ e^(a/τ) → mean as τ → ∞": lambda: Limit(t * sp.log(total(l, sp.exp(a[l] / t))), t, oo, total(l, a[l]) / m),
    "a limit off by 10⁻¹²": lambda: Limit(y * t / (t + 1), t, oo, y + sp.Rational(1, 10**12)),
    "a limit from the wrong end": lambda: Limit((1 + x / t) ** t, t, zero, sp.exp(x)),
}

VALUES: Table = {
    "the value moves along": lambda: Limit(t * x + x, t, oo, t * x),
    "the value is the expression": lambda: Limit(t + x, t, oo, t + x),
    "the value is the expression, at 0": lambda: Limit(x + t, t, zero, x + t + t**2),
    "the value moves along and vanishes": lambda: Limit(x / t + x, t, oo, x + 1 / t),
    "the value moves along under its other name": lambda: Limit(x + moving * 0 + t, t, oo, x + moving),
    "a plain symbol with the name under which t moves": lambda: Limit(t / moving, t, oo, one),
    "a plain symbol that moves along, at 0": lambda: Limit(moving / t, t, zero, one),
    "the end moves along": lambda: Limit(1 / t, t, t, 1 / t),
    "the end is open": lambda: Limit(1 / t, t, z, 1 / z),
    "the end is real, the path positive": lambda: Limit(sp.log(t), t, x, sp.log(x)),
    "the end is the pole": lambda: Limit(1 / (t - y), t, y, oo),
    "the end is an index": lambda: Limit(1 / (t - j + 1), t, j - 1, one),
    "the value is no number": lambda: Limit(t * x, t, oo, sp.nan),
    "the value is complex infinity": lambda: Limit(x * t, t, oo, sp.zoo),
    "the end is complex infinity": lambda: Limit(1 / t, t, sp.zoo, zero),
    "the end is no number": lambda: Limit(1 / t, t, sp.nan, zero),
    "the end is a float": lambda: Limit(t * x, t, sp.Float(0.1), x / 10),
    "the value is a float": lambda: Limit((sp.Rational(1, 3) * t + 1) / t, t, oo, sp.Float(1) / 3),
    "a floating coefficient": lambda: Limit(sp.Float(0.1) * 3 * t / (t + 1), t, oo, sp.Rational(3, 10)),
    "the value is undefined": lambda: Limit((x**2 * t + x * t) / (x * t + x), t, oo, x + 1),
}

PATHS: Table = {
    "a positive variable goes to −1": lambda: Limit(t, t, -one, -one),
    "a positive variable goes to −∞": lambda: Limit(1 / t, t, -oo, zero),
    "a nonnegative variable goes to −1": lambda: Limit(z + 2, z, -one, one),
    "a real variable is taken for positive at −∞": lambda: Limit(sp.Abs(x) / x, x, -oo, one),
    "a real variable is taken for positive at −1": lambda: Limit(sp.Abs(x) / x, x, -one, one),
    "√x² = x at −∞": lambda: Limit(sp.sqrt(x**2) - x, x, -oo, zero),
    "(x²)^(1/4)/√x at −∞": lambda: Limit((x**2) ** sp.Rational(1, 4) - sp.sqrt(x), x, -oo, zero),
    "x^(1/2) at −1": lambda: Limit(sp.sqrt(x), x, -one, sp.I),
    "log at −1": lambda: Limit(sp.log(x), x, -one, sp.I * sp.pi),
    "a log below 0": lambda: Limit(sp.log(-t) - sp.log(-2 * t), t, oo, -sp.log(2)),
    "a root below 0": lambda: Limit((1 + sp.sqrt(-2 * t)) / (1 + sp.sqrt(-t)), t, oo, sp.sqrt(2)),
    "a root that turns imaginary on the way": lambda: Limit(sp.sqrt(x - t) / sp.sqrt(-t), t, oo, one),
    "a log that leaves its domain": lambda: Limit(sp.log(1 - t) - sp.log(t - 1), t, oo, sp.I * sp.pi),
    "a parameter's log": lambda: Limit(sp.log(x) / t, t, oo, zero),
    "a parameter's root": lambda: Limit(sp.sqrt(x) / t, t, oo, zero),
    "a parameter in the denominator": lambda: Limit(1 / (x * t), t, oo, zero),
    "a parameter in the denominator, nonnegative": lambda: Limit((z**2 + z) / (z * t), t, oo, zero),
    "a sum in the denominator that may be 0": lambda: Limit(total(l, a[l] ** 2) / total(l, a[l]) / t, t, oo, zero),
    "an entry out of range": lambda: Limit(a[m + 1] / t, t, oo, zero),
    "a real base": lambda: Limit(x**y / t, t, oo, zero),
    "an entry of a simplex goes to ∞": lambda: Limit(1 / r[j], r[j], oo, zero),
    "an entry of a simplex moves alone": lambda: Limit(r[j] + r[l], r[j], zero, r[l]),
    "an entry of an open simplex moves alone": lambda: Limit(u[j] + total(l, u[l]), u[j], zero, one),
    "an index moves": lambda: Limit(1 / j, j, oo, zero),
    "a size moves, and its vectors with it": lambda: Limit(total(l, a[l]) / m**2, m, oo, zero),
    "a size goes to 0": lambda: Limit(1 / m, m, zero, oo),
    "a size goes to a fraction": lambda: Limit(m, m, half, half),
    "a number moves": lambda: Limit(x, sp.Integer(2), oo, x),  # type: ignore[arg-type]
    "an expression moves": lambda: Limit(1 / t**2, t**2, oo, zero),  # type: ignore[arg-type]
    "a plain symbol moves": lambda: Limit(1 / sp.Symbol("o"), sp.Symbol("o"), oo, zero),  # type: ignore[arg-type]
    "a vector moves": lambda: Limit(1 / a[j], a, oo, zero),  # type: ignore[arg-type]
    "an entry moves, and another that may be it": lambda: Limit(a[j] - a[l], a[j], oo, oo),  # type: ignore[arg-type]
    "an entry moves, and the value with it": lambda: Limit(a[l] + 1 / a[j], a[j], oo, a[l]),  # type: ignore[arg-type]
    "an entry moves, but its sum does not": lambda: Limit(total(l, a[l]), a[j], oo, total(l, a[l])),  # type: ignore[arg-type]
    "an entry moves to the wrong weight": lambda: Limit(weight(one), a[j], oo, zero),  # type: ignore[arg-type]
    "the winner's entry moves, the other may be it": lambda: Limit(weight(one, l), a[j], oo, zero),  # type: ignore[arg-type]
    "an entry of a range apart moves out of range": lambda: Limit(1 / a[i], a[i], oo, zero),  # type: ignore[arg-type]
    "a scalar without sign kind moves": lambda: Limit(1 / Variable("o", Simplex()), Variable("o", Simplex()), oo, zero),
}

SIDES: Table = {
    "|x|/x → 1 at 0, but from below": lambda: Limit(sp.Abs(x) / x, x, zero, one),
    "|x|/x → −1 at 0, but from above": lambda: Limit(sp.Abs(x) / x, x, zero, -one),
    "1/x → ∞ at 0, but from below": lambda: Limit(1 / x, x, zero, oo),
    "e^(−1/x) → 0 at 0, but from below": lambda: Limit(sp.exp(-1 / x), x, zero, zero),
    "x₊/x → 1 at 0, but from below": lambda: Limit(plus(x) / x, x, zero, one),
    "an entry's 1/a → ∞ at 0, but from below": lambda: Limit(1 / a[j], a[j], zero, oo),
    "the slope of |x − 5| at 5 from below": lambda: Limit(sp.Abs(x - 5) / (x - 5), x, sp.Integer(5), -one),
    "the slope of |x − w| at w from below": lambda: Limit(sp.Abs(x - w) / (x - w), x, w, -one),
    "the slope of |t − 2| at 2 from below, t > 0": lambda: Limit(sp.Abs(t - 2) / (t - 2), t, sp.Integer(2), -one),
    "the slope of |z − y| at y from below, z ≥ 0": lambda: Limit(sp.Abs(z - y) / (z - y), z, y, -one),
    "1/(y − t) → ∞ at y, but from above": lambda: Limit(1 / (y - t), t, y, oo),
    "a pole between bounds that have one, from one side": lambda: Limit(1 / x, x, zero, oo, between=(1 / x, 1 / x)),
}

S = total(l, b[l])
GATHERED: Table = {  # the sum of a function is none of the sum: the limit is m
    "a sum between functions of the sum": lambda: Limit(
        total(l, b[l] * t / (1 + b[l] * t)), t, oo, one, between=(S * t / (1 + S * t),) * 2
    ),
    "a sum between functions of the sum, beyond small sizes": lambda: Limit(
        K3**2 * total(l, b[l] * t / (1 + b[l] * t)), t, oo, K3**2, between=(K3**2 * S * t / (1 + S * t),) * 2
    ),
}

ATTACKS: Table = {
    **{name: (lambda square=square: saturating(square)) for name, square in SATURATING.items()},
    **GENERAL,
    **VALUES,
    **PATHS,
    **SIDES,
    **GATHERED,
}


@pytest.mark.parametrize("name", SIDES)
def test_a_limit_from_one_side_only_is_refuted(name: str) -> None:
    assert refuted(SIDES[name])


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])
