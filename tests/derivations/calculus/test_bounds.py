"""Bounds of parts of an expression: each holds at exact points, and only signs that follow are derived."""

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.bounds import bounds, merged
from derivations.calculus.functions import derivative, kl, pinsker, xlogx
from derivations.calculus.parts import oriented
from derivations.calculus.points import points
from derivations.calculus.powers import plus
from derivations.calculus.shorthands import maximum, minimum, norm, sigmoid, softplus, tanh
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import (
    coupling,
    index,
    positive,
    scalar,
    simplex,
    size,
    stochastic,
    unit,
    variables_of,
    vector,
)
from derivations.calculus.variables import interior as inner_simplex
from derivations.domains import Nonnegative, Positive
from derivations.relations import AtLeast, Equation

m, n = size("m"), size("n")
i, j, k, l = index("i", n), index("j", m), index("k", m), index("l", m)  # noqa: E741
x, y, t, w = scalar("x"), scalar("y"), positive("t"), scalar("w", Nonnegative)
s, b, v, u = vector("s", m), vector("b", m), vector("v", m, kind=Positive), vector("u", m, kind=Nonnegative)
p, q, a = simplex("p", m), inner_simplex("q", m), simplex("a", n)
P, R, D, S = coupling("P", a, p), stochastic("R", n, m), stochastic("D", m, m), vector("S", n)
e, U, W = unit("e", m), unit("U", n, m), unit("W", m, m)
half = sp.Rational(1, 2)


def softmax(at: sp.Expr) -> sp.Expr:
    """An entry of the softmax weights of s, written out."""
    return sp.exp(s[at]) / total(l, sp.exp(s[l]))


def root(at: sp.Expr) -> sp.Expr:
    """√(p + 2q) at an index."""
    return sp.sqrt(p[at] + 2 * q[at])


def part(at: sp.Expr) -> sp.Expr:
    """|p − q|/√(p + 2q) at an index."""
    return sp.Abs(p[at] - q[at]) / root(at)


mean = total(l, p[l] * v[l])
PROVED = {
    "an entry of a unit vector is at most 1": AtLeast(1, e[j]),
    "and at least −1": AtLeast(U[i, j], -1),
    "an inner product of unit vectors is at most 1": AtLeast(1, total(l, e[l] * U[i, l])),
    "and at least −1, with a factor": AtLeast(t, -t * total(l, e[l] * U[i, l])),
    "a softmax weight of bounded scores": AtLeast(sp.exp(t * e[j]) / total(l, sp.exp(t * e[l])), sp.exp(-2 * t) / m),
    "a hyperbolic tangent": AtLeast(t, t * sp.Abs(sp.exp(x) - sp.exp(-x)) / (sp.exp(x) + sp.exp(-x))),
    "a square over a common denominator": AtLeast(sp.Rational(1, 4), 1 / (1 + sp.exp(-x)) - 1 / (1 + sp.exp(-x)) ** 2),
    "an entry of a simplex is at most 1": AtLeast(1, p[j]),
    "so is its square, and smaller": AtLeast(p[j], p[j] ** 2),
    "its power": AtLeast(p[j] ** 2, p[j] ** 3),
    "of a stochastic row": AtLeast(R[i, j], R[i, j] ** 2),
    "a plan's entry is below its row's mass": AtLeast(a[i], P[i, j]),
    "and below its column's": AtLeast(p[j], P[i, j]),
    "a summand is below the sum": AtLeast(total(l, u[l]), u[j]),
    "of squares": AtLeast(total(l, s[l] ** 2), s[j] ** 2),
    "of weights": AtLeast(total(l, p[l] * u[l]), p[j] * u[j]),
    "a sum of squares is below the square of the sum": AtLeast(total(l, u[l]) ** 2, total(l, u[l] ** 2)),
    "and of cubes": AtLeast(total(l, sp.exp(s[l])) ** 3, total(l, sp.exp(3 * s[l]))),
    "the effective number of keys is at least 1": AtLeast(1 / total(j, softmax(j) ** 2), 1),
    "and at most m": AtLeast(m, 1 / total(j, softmax(j) ** 2)),
    "softmax weights": AtLeast(1, softmax(j)),
    "and their squares": AtLeast(softmax(j), softmax(j) ** 2),
    "the log of a weight": AtLeast(0, sp.log(softmax(j))),
    "the log of an entry": AtLeast(-sp.log(q[j]), 0),
    "entropy": AtLeast(-total(l, xlogx(p[l])), 0),
    "entropy is at most log m": AtLeast(sp.log(m), -total(l, xlogx(p[l])), because=total(l, kl(p[l], 1 / m))),
    "entropy of softmax weights": AtLeast(-total(k, softmax(k) * sp.log(softmax(k))), 0),
    "and at most log m": AtLeast(
        sp.log(m), -total(k, softmax(k) * sp.log(softmax(k))), because=total(k, kl(softmax(k), 1 / m))
    ),
    "log-sum-exp is above each score": AtLeast(t * sp.log(total(l, sp.exp(s[l] / t))), s[j]),
    "and above the mean": AtLeast(t * sp.log(total(l, sp.exp(s[l] / t))), t * sp.log(m) + total(l, s[l]) / m),
    "and below the greatest score and τ log m": AtLeast(x + t * sp.log(m), t * sp.log(total(l, sp.exp((x - u[l]) / t)))),
    "the reciprocal of a positive sum": AtLeast(1 / (t + total(l, u[l])), 0),
    "of a sum under a power": AtLeast(1 / (t + total(l, s[l] ** 2)) ** w, 0, strict=True),
    "a fraction below 1": AtLeast(1, total(l, u[l]) / (t + total(l, u[l])), strict=True),
    "sigmoid": AtLeast(1, 1 / (1 + sp.exp(-x)), strict=True),
    "softplus": AtLeast(sp.log(1 + sp.exp(x)), plus(x)),
    "strictly": AtLeast(sp.log(1 + sp.exp(x)), x, strict=True),
    "exp above its tangent": AtLeast(sp.exp(x), 1 + x),
    "log below its tangent": AtLeast(t - 1, sp.log(t)),
    "a weight below 1": AtLeast(1, sp.exp(-t), strict=True),
    "|x| ≥ x": AtLeast(sp.Abs(x), x),
    "beside a sum over pairs": AtLeast(sp.Abs(x) + total((i, j), R[i, j] ** 2), x),
    "|x| ≥ x₊": AtLeast(sp.Abs(x), plus(x)),
    "x₊ ≥ x": AtLeast(plus(x), x),
    "x₊ + y₊ ≥ (x + y)₊": AtLeast(plus(x) + plus(y), plus(x + y)),
    "the triangle's inequality": AtLeast(sp.Abs(x) + sp.Abs(y), sp.Abs(x + y)),
    "in a sum": AtLeast(total(l, sp.Abs(s[l])) + total(l, sp.Abs(b[l])), total(l, sp.Abs(s[l] + b[l]))),
    "of a sum": AtLeast(total(l, sp.Abs(s[l])), sp.Abs(total(l, s[l]))),
    "a maximum": AtLeast(maximum(x, y), y),
    "a minimum": AtLeast(x, minimum(x, y)),
    "a hypothesis counts several times": AtLeast(2 * t * y, 2 * t * x, given=(AtLeast(y, x),)),
    "Cauchy and Schwarz": AtLeast(
        total(l, s[l] ** 2) * total(l, b[l] ** 2),
        total(l, s[l] * b[l]) ** 2,
        because=total((k, l), (s[k] * b[l] - s[l] * b[k]) ** 2) / 2,
    ),
    "Jensen for squares": AtLeast(
        total(l, p[l] * s[l] ** 2), total(l, p[l] * s[l]) ** 2, because=total((k, l), p[k] * p[l] * (s[k] - s[l]) ** 2) / 2
    ),
    "Cauchy and Schwarz by themselves": AtLeast(total(l, s[l] ** 2) * total(l, b[l] ** 2), total(l, s[l] * b[l]) ** 2),
    "with roots": AtLeast(norm(l, s[l]) * norm(l, b[l]), sp.Abs(total(l, s[l] * b[l]))),
    "Jensen for squares by itself": AtLeast(total(l, p[l] * s[l] ** 2), total(l, p[l] * s[l]) ** 2),
    "of a row": AtLeast(total(l, R[i, l] * s[l] ** 2), total(l, R[i, l] * s[l]) ** 2),
    "of a mean": AtLeast(m * total(l, s[l] ** 2), total(l, s[l]) ** 2),
    "the triangle's inequality of norms": AtLeast(norm(l, s[l]) + norm(l, b[l]), norm(l, s[l] + b[l])),
    "of a difference": AtLeast(norm(l, s[l]) + norm(l, b[l]), norm(l, s[l] - b[l])),
    "an entry is below the norm": AtLeast(norm(l, s[l]), sp.Abs(s[j])),
    "tanh": AtLeast(1, tanh(x), strict=True),
    "tanh from below": AtLeast(tanh(x), -1, strict=True),
    "the slope of sigmoid": AtLeast(sp.Rational(1, 4), sigmoid(x) * (1 - sigmoid(x)), because=(2 * sigmoid(x) - 1) ** 2 / 4),
    "Jensen for log": AtLeast(sp.log(mean), total(l, p[l] * sp.log(v[l])), because=total(k, p[k] * kl(mean, v[k])) / mean),
    "Pinsker": AtLeast(
        total(l, kl(p[l], q[l])),
        total(l, sp.Abs(p[l] - q[l])) ** 2 / 2,
        because=total(l, pinsker(p[l], q[l])) + total((k, l), (part(k) * root(l) - part(l) * root(k)) ** 2) / 4,
    ),
}

FALSE = {
    "an entry of a unit vector above 0": AtLeast(e[j], 0),
    "two entries of a unit vector": AtLeast(1, e[j] + e[k]),
    "a column of unit rows": AtLeast(1, total(i, U[i, j] ** 2)),
    "an inner product of columns": AtLeast(1, total(i, U[i, j] * U[i, k])),
    "a diagonal of unit rows": AtLeast(1, total(l, W[l, l] * e[l])),
    "three factors": AtLeast(half, total(l, e[l] * U[i, l] * W[1, l])),
    "a weight of scores with too small a bound": AtLeast(sp.exp(t * e[j]) / total(l, sp.exp(t * e[l])), sp.exp(-t) / m),
    "a hyperbolic tangent below its absolute value": AtLeast(
        t * (sp.exp(x) - sp.exp(-x)) / (sp.exp(x) + sp.exp(-x)), t * sp.Abs(sp.exp(x) - sp.exp(-x)) / (sp.exp(x) + sp.exp(-x))
    ),
    "a square over a common denominator, less a little": AtLeast(
        sp.Rational(6, 25), 1 / (1 + sp.exp(-x)) - 1 / (1 + sp.exp(-x)) ** 2
    ),
    "1 ≤ an entry": AtLeast(p[j], 1),
    "a square above": AtLeast(p[j] ** 2, p[j]),
    "two entries": AtLeast(p[j], p[k] ** 2),
    "another bound than 1": AtLeast(half, p[j]),
    "two entries below 1, one twice": AtLeast(1, p[j] + 2 * p[k]),
    "two entries of a row whose sum is 1, and one more": AtLeast(1, R[i, j] + R[i, k]),
    "the mass of another row": AtLeast(a[i], 2 * P[i, j]),
    "a summand of any sign": AtLeast(total(l, s[l]), s[j]),
    "a summand twice": AtLeast(total(l, u[l]), 2 * u[j]),
    "softmax weights below one half": AtLeast(half, softmax(j)),
    "log-sum-exp without τ": AtLeast(sp.log(total(l, sp.exp(s[l] / t))), s[j]),
    "log-sum-exp above more than a score": AtLeast(t * sp.log(total(l, sp.exp(s[l] / t))), s[j] + 1),
    "log-sum-exp below a greatest score that is none": AtLeast(x + t * sp.log(m), t * sp.log(total(l, sp.exp((x + u[l]) / t)))),
    "and without log m": AtLeast(x, t * sp.log(total(l, sp.exp((x - u[l]) / t)))),
    "entropy above its bound": AtLeast(-total(l, xlogx(p[l])), sp.log(m) / 2),
    "softplus above x + 1": AtLeast(sp.log(1 + sp.exp(x)), x + 1),
    "exp above a steeper line": AtLeast(sp.exp(x), 1 + 2 * x),
    "log above its tangent": AtLeast(sp.log(t), t - 1),
    "|x| below x": AtLeast(x, sp.Abs(x)),
    "x₊ above |x|": AtLeast(plus(x), sp.Abs(x)),
    "the triangle the other way": AtLeast(sp.Abs(x + y), sp.Abs(x) + sp.Abs(y)),
    "|x| − |y| ≥ |x − y|": AtLeast(sp.Abs(x) - sp.Abs(y), sp.Abs(x - y)),
    "a maximum below": AtLeast(minimum(x, y), y),
    "a hypothesis times a number of any sign": AtLeast(x * y, x**2, given=(AtLeast(y, x),)),
    "a sum of squares of any sign": AtLeast(total(l, s[l]) ** 2, total(l, s[l] ** 2)),
    "of squares, strictly": AtLeast(total(l, v[l]) ** 2, total(l, v[l] ** 2), strict=True),
    "the squares of other summands": AtLeast(total(l, u[l]) ** 2, total(l, u[l] * v[l])),
    "Cauchy and Schwarz without a factor": AtLeast(total(l, s[l] ** 2), total(l, s[l] * b[l]) ** 2),
    "with too small a factor": AtLeast(norm(l, s[l]) * norm(l, b[l]) / 2, total(l, s[l] * b[l])),
    "of weights that are none": AtLeast(total(l, u[l] * s[l] ** 2), total(l, u[l] * s[l]) ** 2),
    "of a column": AtLeast(total(i, R[i, j] * S[i] ** 2), total(i, R[i, j] * S[i]) ** 2),
    "of a diagonal": AtLeast(total(l, D[l, l] * s[l] ** 2), total(l, D[l, l] * s[l]) ** 2),
    "of a mean without m": AtLeast(total(l, s[l] ** 2), total(l, s[l]) ** 2),
    "the triangle of norms the other way": AtLeast(norm(l, s[l] + b[l]), norm(l, s[l]) + norm(l, b[l])),
    "a difference of norms": AtLeast(norm(l, s[l]) - norm(l, b[l]), norm(l, s[l] - b[l])),
    "a squared left side that is negative": AtLeast(-norm(l, s[l]) - t, sp.sqrt(t) / 2),
    "tanh below one half": AtLeast(half, tanh(x)),
    "Jensen for log the other way": AtLeast(total(l, p[l] * sp.log(v[l])), sp.log(mean)),
    "Pinsker without ½": AtLeast(total(l, kl(p[l], q[l])), total(l, sp.Abs(p[l] - q[l])) ** 2),
}

UNPROVED = {  # true or without a value: no bound may be used there
    "strict where entries may be 1": AtLeast(1, p[j], strict=True),
    "strict where x may be 0": AtLeast(sp.exp(x), 1 + x, strict=True),
    "strict for a sum of one summand": AtLeast(total(l, v[l]), v[j], strict=True),
    "a factor without a value at 0": AtLeast(1 / p[j], 1),
    "a bound divided by what may be 0": AtLeast(t / p[j], t),
}


@pytest.mark.parametrize("name", PROVED)
def test_implied_inequalities_are_proved(name: str) -> None:
    assert not PROVED[name].explain()
    assert PROVED[name].refute() is None


@pytest.mark.parametrize("name", FALSE)
def test_false_inequalities_are_refuted(name: str) -> None:
    assert not FALSE[name].prove()
    assert FALSE[name].refute() is not None


@pytest.mark.parametrize("name", UNPROVED)
def test_inequalities_that_do_not_follow_stay_undecided(name: str) -> None:
    assert not UNPROVED[name].prove()


WITH_PARTS = [
    plus(x - y) + sp.Abs(x * t - w),
    sp.exp(x) + sp.log(t) + sp.log(1 + sp.exp(x) + t),
    sp.exp(-w) + sp.exp(-2 * w) + sp.exp(w),
    p[j] + q[j] + P[i, j] + R[i, j] + a[i],
    total(l, u[l] ** 2) + u[j] + u[k],
    total(l, sp.exp(-u[l])) + s[j],
    sp.log(total(l, sp.exp(s[l] / t))) + s[j],
    sp.log(total(l, v[l])) + sp.log(v[j]) + sp.log(t),
    sp.Abs(total(l, s[l])),
    sp.exp(s[j]) / total(l, sp.exp(s[l])) + s[k],
    total(l, p[l] * q[l]) + p[j],
    sp.log(w + 1) + sp.log(w + 2) + w * t,
    total(l, s[l] ** 2) + total(l, s[l] * b[l]) + total(l, b[l] ** 2),
    total(l, p[l] * s[l] ** 2) + total(l, p[l] * s[l]),
    total(l, R[i, l] * s[l] ** 2) + total(l, R[i, l] * s[l]),
    total(l, s[l] ** 2) + total(l, s[l]),
    e[j] + U[i, j] + total(l, e[l] * U[i, l]),
    sp.exp(t) * sp.exp(e[j]) - sp.exp(e[k]),
]


def check(expr: sp.Expr, strict: bool) -> bool:
    return strictly_positive(expr) if strict else nonnegative(expr)


NAMED = {
    "|Σ s| ≤ Σ |s|": (
        sp.Abs(sp.Sum(s[l], (l, 1, m))),
        sp.Sum(sp.Abs(s[l]), (l, 1, m)) - sp.Abs(sp.Sum(s[l], (l, 1, m))),
        False,
    ),
    "x ≤ x₊": (plus(x), plus(x) - x, False),
    "x ≤ |x|": (sp.Abs(x), sp.Abs(x) - x, False),
    "−x ≤ |x|": (sp.Abs(x), sp.Abs(x) + x, False),
    "1 + x ≤ e^x": (sp.exp(x), sp.exp(x) - x - 1, False),
    "e^−w ≤ 1": (sp.exp(-w), 1 - sp.exp(-w), False),
    "e^−t < 1": (sp.exp(-t), 1 - sp.exp(-t), True),
    "log x ≤ x − 1": (sp.log(t), t - 1 - sp.log(t), False),
    "log(x + y) > log x": (sp.log(t + v[j]), sp.log(t + v[j]) - sp.log(t), True),
    "p ≤ 1": (p[j], 1 - p[j], False),
    "e ≤ 1": (e[j], 1 - e[j], False),
    "⟨e, U⟩ ≥ −1": (sp.Sum(e[l] * U[i, l], (l, 1, m)), sp.Sum(e[l] * U[i, l], (l, 1, m)) + 1, False),
    "e^x e^t > e^x": (sp.exp(x) * sp.exp(t) - sp.exp(x), sp.exp(x) * sp.exp(t) - sp.exp(x), True),
    "P ≤ a": (P[i, j], a[i] - P[i, j], False),
    "P ≤ b": (P[i, j], p[j] - P[i, j], False),
    "Σ f ≤ m": (sp.Sum(p[l], (l, 1, m)), m - sp.Sum(p[l], (l, 1, m)), False),
    "Σ f ≥ f": (sp.Sum(u[l], (l, 1, m)) + s[j], sp.Sum(u[l], (l, 1, m)) - u[j], False),
    "e^x ≥ e^y": (sp.exp(x + w) + sp.exp(x), sp.exp(x + w) - sp.exp(x), False),
    "e^x > e^y": (sp.exp(x + t) + sp.exp(x), sp.exp(x + t) - sp.exp(x), True),
    "log x ≥ log y": (sp.log(t + w) + sp.log(t), sp.log(t + w) - sp.log(t), False),
    "log x > log y": (sp.log(2 * t) + sp.log(t), sp.log(2 * t) - sp.log(t), True),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_bound_is_known(name: str) -> None:
    expr, bound, sharp = NAMED[name]
    assert (bound, sharp) in list(bounds(expr, check))
    assert (bound, not sharp) not in list(bounds(expr, check))


@pytest.mark.parametrize("expr", WITH_PARTS, ids=str)
def test_each_bound_holds_at_exact_points(expr: sp.Expr) -> None:
    known = list(bounds(expr, lambda each, strict: strictly_positive(each) if strict else nonnegative(each)))
    assert known
    for bound, strict in known:
        for point in points(variables_of(sp.Tuple(expr, bound))):
            value = enclose(bound, point)
            assert value.is_finite()
            assert not (value <= 0 if strict else value < 0), (bound, point)


ORIENTED = [
    plus(-x) + sp.Abs(x - y),
    plus(t * x - t * y),
    plus(p[j] * x - p[j]) * sp.Abs(s[j] * u[j]),
    plus(x - y) ** 3,
    total(l, plus(x - s[l]) ** 2 * sp.Abs(s[l])),
    sp.log(1 + sp.Abs(-2 * x)),
    plus(-x * y) + plus((x - y) * (x + w)),
]


@pytest.mark.parametrize("expr", ORIENTED, ids=str)
def test_an_orientation_has_the_same_value(expr: sp.Expr) -> None:
    turned = oriented(normal(expr))
    assert not turned.has(sp.Abs)
    for point in points(variables_of(expr)):
        assert enclose(expr, point).overlaps(enclose(turned, point))
        assert enclose(expr - turned, point).overlaps(enclose(sp.S.Zero, point))


MERGED = [
    total(l, u[l]) - 2 * total(k, s[k]) + x * m,
    t * total(l, sp.exp(s[l])) + total(k, b[k]) * y + 3,
    m * t - total(l, p[l] * s[l]),
    m**2 - total(l, s[l]) * m + total((k, l), s[k] * s[l]),
]


@pytest.mark.parametrize("expr", MERGED, ids=str)
def test_merged_sums_have_the_same_value(expr: sp.Expr) -> None:
    together = merged(normal(expr))
    for point in points(variables_of(expr)):
        assert enclose(expr - together, point).overlaps(enclose(sp.S.Zero, point))


EQUAL = {
    "x₊ − (−x)₊ = x": Equation(plus(x) - plus(-x), x),
    "|x| = x₊ + (−x)₊": Equation(sp.Abs(x), plus(x) + plus(-x)),
    "max": Equation(maximum(x, y), (x + y + sp.Abs(x - y)) / 2),
    "min": Equation(minimum(x, y), (x + y - sp.Abs(x - y)) / 2),
    "min is −max of the negatives": Equation(minimum(x, y), -maximum(-x, -y)),
    "max is symmetric": Equation(maximum(x, y), maximum(y, x)),
    "a factor": Equation(plus(t * x - t * y), t * plus(x - y)),
    "in a sum": Equation(total(l, plus(x - s[l])), total(l, plus(s[l] - x)) + m * x - total(l, s[l])),
    "a square": Equation(plus(x) ** 2 + plus(-x) ** 2, x**2),
    "tanh and sigmoid": Equation(tanh(x), 2 * sigmoid(2 * x) - 1),
    "tanh is odd": Equation(tanh(-x), -tanh(x)),
    "the slope of tanh": Equation(derivative(tanh(x), x), 1 - tanh(x) ** 2),
    "the slope of sigmoid": Equation(derivative(sigmoid(x), x), sigmoid(x) * sigmoid(-x)),
    "the slope of softplus": Equation(derivative(softplus(x), x), sigmoid(x)),
}
UNEQUAL = {
    "x₊ + (−x)₊ = x": Equation(plus(x) + plus(-x), x),
    "|x| = x₊ − (−x)₊": Equation(sp.Abs(x), plus(x) - plus(-x)),
    "a factor of any sign": Equation(plus(y * x), y * plus(x)),
    "max of negatives": Equation(minimum(x, y), maximum(-x, -y)),
    "in a sum": Equation(total(l, plus(x - s[l])), total(l, plus(s[l] - x)) + x - total(l, s[l])),
    "a square": Equation(plus(x) ** 2, x**2),
    "tanh and sigmoid of one argument": Equation(tanh(x), 2 * sigmoid(x) - 1),
    "the slope of sigmoid": Equation(derivative(sigmoid(x), x), sigmoid(x) ** 2),
}


@pytest.mark.parametrize("name", EQUAL)
def test_positive_parts_have_one_form(name: str) -> None:
    assert not EQUAL[name].explain()
    assert EQUAL[name].refute() is None


@pytest.mark.parametrize("name", UNEQUAL)
def test_and_no_other(name: str) -> None:
    assert not UNEQUAL[name].prove()
    assert UNEQUAL[name].refute() is not None


LOGS = [
    (sp.log(1 + sp.exp(-x)), sp.log(1 + sp.exp(x)) - x),
    (sp.log(1 / (1 + sp.exp(-x))) - sp.log(1 / (1 + sp.exp(x))), x),
    (t * sp.log(sp.exp(x / t) + sp.exp(y / t)), y + t * sp.log(1 + sp.exp((x - y) / t))),
    (sp.log(2 * sp.exp(x) + 2 * sp.exp(y) + 3 * t * sp.exp(x + y)), x + y + sp.log(2 * sp.exp(-y) + 2 * sp.exp(-x) + 3 * t)),
    (sp.log(sp.exp(x) + total(l, sp.exp(s[l]))), x + sp.log(1 + total(l, sp.exp(s[l] - x)))),
    (total(l, sp.log(1 + sp.exp(-s[l]))), total(l, sp.log(1 + sp.exp(s[l]))) - total(l, s[l])),
    (xlogx(mean) / mean, sp.log(mean)),
    (total(l, p[l] / (2 * v[l] + 4 * t)), total(l, p[l] / (v[l] + 2 * t)) / 2),
    (sp.log(1 + t / total(l, v[l])), sp.log(t + total(l, v[l])) - sp.log(total(l, v[l]))),
    (total(l, sp.log(t + 1 / v[l])), total(l, sp.log(1 + t * v[l])) - total(l, sp.log(v[l]))),
]


@pytest.mark.parametrize(("left", "right"), LOGS, ids=str)
def test_exponentials_leave_a_logarithm(left: sp.Expr, right: sp.Expr) -> None:
    assert equal(left, right)
    assert not equal(left, right + x)
    for point in points(variables_of(sp.Tuple(left, right))):
        assert enclose(left - right, point).overlaps(enclose(sp.S.Zero, point))
        assert enclose(left - normal(left), point).overlaps(enclose(sp.S.Zero, point))


def test_no_exponential_leaves_a_logarithm_without_a_value() -> None:
    assert not Equation(sp.log(1 - sp.exp(-x)), sp.log(sp.exp(x) - 1) - x).prove()
