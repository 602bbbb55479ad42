"""Certified values: the ball contains the truth, is exact where possible, and the sample reaches the corners."""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb, ctx, fmpq

from derivations.calculus.balls import PRECISION, digits, enclose, explicit
from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.points import points
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import coupling, index, interior, positive, scalar, simplex, size, variables_of, vector
from derivations.domains import Nonnegative, Random

m, n = size("m"), size("n")
j, l, h = index("j", m), index("l", m), index("h", n)  # noqa: E741
k = index("k", m, other_than=(j,))
a, z, B = vector("a", m), vector("z", m, kind=Nonnegative), vector("B", m, n)
q, w = simplex("q", m), interior("w", n)
P = coupling("P", q, w)
x, y = scalar("x"), positive("y")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
PLACE = {m: 3, n: 2, j: 2, h: 1, x: THIRD, y: HALF, a.label: [1, THIRD, -2], B.label: [[1, 2], [THIRD, 4], [5, 6]]}


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    """Arithmetic for the tests themselves, more precise than the tested code."""
    saved, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = saved


def exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (x + 2 * y, THIRD + 1),
        (x**-3 / 7, Fraction(27, 7)),
        (total(l, a[l]), -2 + 1 + THIRD),
        (total((l, h), B[l, h] * a[l]), 3 + THIRD * (THIRD + 4) - 22),
        (total(k, a[k]), Fraction(-1)),
        (total(j, total(j, a[j])), 3 * (THIRD - 1)),
        (delta(j, 2) - delta(j, h), Fraction(1)),
        (B[j, 1] * m**n, 9 * THIRD),
        (derivative(total(l, a[l] ** 2), a[j]), 2 * THIRD),
        (xlogx(sp.S.Zero) + sp.Abs(-x), THIRD),
    ],
)
def test_rational_values_are_exact(expr: sp.Expr, value: Fraction) -> None:
    ball = enclose(expr, PLACE)
    assert ball.overlaps(exact(value))
    assert not ball.overlaps(exact(value + Fraction(1, 2**140)))
    assert float(ball.rad()) <= 2.0 ** (10 - PRECISION)


def test_integers_have_no_radius() -> None:
    assert enclose(total(l, m) - 9, PLACE) == 0
    assert enclose(sp.Rational(7, 8) + y, PLACE) == arb("1.375")


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (sp.exp(x / y), lambda: mpmath.exp(mpmath.mpf(2) / 3)),
        (sp.log(y), lambda: -mpmath.log(2)),
        (sp.sqrt(y), lambda: mpmath.sqrt(mpmath.mpf(1) / 2)),
        (y**x, lambda: mpmath.mpf(1) / 2 ** (mpmath.mpf(1) / 3)),
        (sp.E + sp.pi, lambda: mpmath.e + mpmath.pi),
        (xlogx(x), lambda: -mpmath.log(3) / 3),
        (kl(x, y), lambda: mpmath.log(mpmath.mpf(2) / 3) / 3 - mpmath.mpf(1) / 3 + mpmath.mpf(1) / 2),
        (sp.log(total(l, sp.exp(a[l]))), lambda: mpmath.log(mpmath.e + mpmath.exp(mpmath.mpf(1) / 3) + mpmath.exp(-2))),
        (
            derivative(sp.log(total(l, sp.exp(a[l]))), a[j]),
            lambda: 1 / (1 + mpmath.exp(mpmath.mpf(2) / 3) + mpmath.exp(-mpmath.mpf(7) / 3)),
        ),
        (sp.exp(x) - 1 - x - x**2 / 2, lambda: mpmath.exp(mpmath.mpf(1) / 3) - 1 - mpmath.mpf(1) / 3 - mpmath.mpf(1) / 18),
    ],
)
def test_the_ball_contains_the_value_of_mpmath(expr: sp.Expr, value: Callable[[], mpmath.mpf]) -> None:
    with mpmath.workdps(60):
        truth = mpmath.nstr(value(), 55)
    ball = enclose(expr, PLACE)
    assert ball.overlaps(arb(truth))
    assert not ball.overlaps(arb(truth) + arb(10) ** -40)


def test_the_precision_of_the_caller_is_restored() -> None:
    before = ctx.prec
    enclose(sp.exp(x), PLACE)
    with pytest.raises(KeyError):
        enclose(sp.exp(y), {})
    assert ctx.prec == before


@pytest.mark.parametrize(
    ("expr", "error"),
    [
        (scalar("y"), KeyError),  # the real y, where only a positive y has a value
        (z[j], KeyError),
        (a[l], KeyError),
        (sp.gamma(x), ValueError),
        (1 + sp.Float(0.5), ValueError),
        (sp.Symbol("x"), ValueError),
    ],
    ids=str,
)
def test_a_variable_without_a_value_is_named(expr: sp.Expr, error: type[Exception]) -> None:
    with pytest.raises(error):
        enclose(expr, PLACE)


@pytest.mark.parametrize(
    "expr",
    [a[m + 1], B[m, 3], a[j - 2], a[m / 7], 1 / (a[1] - 3 * x), sp.log(-(y**2)), sp.sqrt(x - 1), xlogx(-(x**2) - 1), kl(-y, y)],
    ids=str,
)
def test_undefined_expressions_give_nonfinite_balls(expr: sp.Expr) -> None:
    assert not enclose(expr, PLACE).is_finite()


@pytest.mark.parametrize(
    "expr", [1 / (x - THIRD), sp.log(y - HALF), sp.log(-y), sp.sqrt(x - 1), xlogx(-y), a[j] / (a[j] - x)], ids=str
)
def test_undefined_expressions_never_give_a_number(expr: sp.Expr) -> None:
    ball = enclose(expr, PLACE)
    assert not ball.is_finite()
    assert not any((ball < 0, ball > 0, ball == 0))


def test_explicit_writes_sums_out() -> None:
    t = sp.Symbol("t")
    assert explicit(total(l, t ** delta(j, l) * a[l]), PLACE) == t / 3 - 1
    assert explicit(total(k, a[k]) * x, {**PLACE, j: 3}) == sp.Rational(4, 9)


NAMES = variables_of(sp.Tuple(P[j, h], a[k], z[j], x, y))
SAMPLE = list(points(NAMES))


def test_the_sizes_of_a_matrix_are_derived() -> None:
    assert {m, n, j, k, h, q.label, w.label, P.label} <= set(NAMES)


def test_every_point_lies_in_the_domains() -> None:
    for point in SAMPLE:
        plan, rows, columns = point[P.label], point[q.label], point[w.label]
        assert all(entry >= 0 for row in plan for entry in row)
        assert [sum(row) for row in plan] == rows
        assert [sum(column) for column in zip(*plan, strict=True)] == columns
        assert sum(rows) == 1 == sum(columns)
        assert min(rows) >= 0 < min(columns)
        assert point[k] != point[j]
        assert 1 <= min(point[j], point[k]) <= max(point[j], point[k]) <= point[m] == len(point[a.label])
        assert 1 <= point[h] <= point[n] == len(columns)
        assert point[y] > 0 <= min(point[z.label])


@pytest.mark.parametrize(
    ("corner", "reached"),
    [
        ("one source", lambda p: p[n] == 1 < p[m]),
        ("more sources than keys", lambda p: p[n] > p[m]),
        ("a zero on the simplex", lambda p: 0 in p[q.label]),
        ("no zero on the simplex", lambda p: 0 not in p[q.label]),
        ("a zero in the plan", lambda p: any(0 in row for row, mass in zip(p[P.label], p[q.label], strict=True) if mass)),
        ("a dense plan", lambda p: all(entry for row in p[P.label] for entry in row)),
        ("ties that are not 0", lambda p: len(set(p[a.label])) == 1 and p[a.label][0] != 0),
        ("all zero", lambda p: set(p[a.label]) == {0}),
        ("z = 0", lambda p: set(p[z.label]) == {0}),
        ("x = 0", lambda p: p[x] == 0),
        ("x < 0", lambda p: p[x] < 0),
        ("no ties", lambda p: len(set(p[a.label])) == p[m] == 3),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_the_sample_reaches(corner: str, reached: Callable[[dict[object, object]], bool]) -> None:
    assert any(reached(point) for point in SAMPLE), corner


def test_size_one_is_reached_unless_two_indices_must_differ() -> None:
    assert {point[m] for point in points([m, j, a.label])} >= {1, 2, 3, 5, 7}
    assert min(point[m] for point in SAMPLE) == 2
    assert not list(points(NAMES, {m: 1}))


def test_fixed_values_are_respected_and_the_seed_decides_the_others() -> None:
    fixed = {m: 2, a.label: [HALF, HALF]}
    assert all(point[m] == 2 and point[a.label] == [HALF, HALF] for point in points(NAMES, fixed))
    assert list(points(NAMES, seed=1)) == list(points(NAMES, seed=1)) != list(points(NAMES, seed=2))


def test_a_random_vector_has_no_exact_sample() -> None:
    with pytest.raises(ValueError, match="got random: take the expectation first"):
        next(points([m, vector("r", m, kind=Random).label]))


def test_digits_shows_the_midpoint() -> None:
    assert digits(enclose(x, PLACE), 5) == "0.33333"


def test_digits_of_a_ball_around_zero() -> None:
    zero = enclose(sp.log(6) - sp.log(2) - sp.log(3), PLACE)
    assert zero.rad() > 0
    assert (digits(zero), digits(zero + 1), digits(arb(10) ** -20)) == ("0", "1.00000000000", "1.00000000000e-20")


@pytest.mark.parametrize("seed", range(40))
def test_rational_expressions_agree_with_fractions(seed: int) -> None:
    rng = random.Random(seed)
    terms = [Fraction(rng.randint(-50, 50), rng.randint(1, 50)) for _ in range(6)]
    u = vector("u", m)
    truth = sum((s * t for s in terms for t in terms), Fraction(0)) ** 2 - sum((t**3 for t in terms), Fraction(0))
    ball = enclose(total((j, l), u[j] * u[l]) ** 2 - total(j, u[j] ** 3), {m: 6, u.label: terms})
    assert ball.overlaps(exact(truth))
    assert float(ball.rad()) < 1e-35
