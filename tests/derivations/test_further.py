"""Points beyond the usual sample: near the numbers of a statement, at larger sizes, and by descent along coordinates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp

from derivations import AtLeast, Equation, Limit, index, positive, scalar, simplex, size, total, vector
from derivations.calculus import far
from derivations.calculus.variables import Kind
from derivations.relations import Relation, further

m, n = size("m"), size("n")
j, l = index("j", m), index("l", m)  # noqa: E741
x, y, z = scalar("x"), positive("y"), scalar("z", Kind.NONNEGATIVE)
a, q, b = vector("a", m), simplex("q", m), vector("b", m, kind=Kind.POSITIVE)


def test_the_numbers_of_a_statement_and_its_hypotheses_are_tried_the_least_usual_first() -> None:
    statement = AtLeast(x / 7, 2 * y - 1000, given=(AtLeast(y, sp.Rational(3, 50)),))
    assert further._numbers(statement) == [1000, Fraction(3, 50), Fraction(1, 7), 2]


def test_values_belong_to_the_domain() -> None:
    numbers = [Fraction(3), Fraction(1, 2)]
    assert set(further._values(m, numbers)) == {3, 4, 1, *further.LARGE}
    assert min(further._values(y, numbers)) > 0
    assert min(further._values(x, numbers)) < 0
    assert [len(value) for value in further._values(a.label, numbers)][:2] == [1, 2]
    assert list(further._values(q.label, numbers)) == list(further._values(j, numbers)) == []


def test_a_failure_beyond_the_sample_is_found() -> None:
    for most in (7, 9, 12, 20):
        failing = further.counterexample(AtLeast(most, m))
        assert failing is not None
        assert most < failing.point[m] <= further.LARGEST    # type: ignore[operator]
    assert AtLeast(7, m).counterexample() is None
    assert further.counterexample(Equation(total(l, a[l]) ** 2, total((j, l), a[j] * a[l]))) is None


VANISHING = sp.Mul(*[m - size for size in range(1, 8)]) ** 2


@pytest.mark.parametrize("make", [
    lambda: AtLeast(0, VANISHING),
    lambda: AtLeast(VANISHING * total(l, b[l]) * sp.exp(-total(l, b[l])), VANISHING * total(l, b[l] * sp.exp(-b[l]))),
    lambda: AtLeast(8, m * total(l, q[l] ** 2)),
    lambda: AtLeast(n + 20, m),
    lambda: AtLeast(500, total(l, a[l])),
])
def test_points_beyond_the_sample_refute_what_would_be_proved(make: Callable[[], Relation]) -> None:
    failing = further.beyond(make())
    assert failing is not None
    assert failing.point[m] in far.BEYOND


def test_no_true_statement_and_none_without_sizes_fails_beyond_the_sample() -> None:
    assert further.beyond(AtLeast(m * total(l, q[l] ** 2), 1)) is None
    assert further.beyond(AtLeast(m + 1, m, given=(AtLeast(7, m),))) is None
    assert further.beyond(AtLeast(7, x)) is None


def test_hypotheses_hold_at_the_points() -> None:
    statement = AtLeast(10**6, x, given=(AtLeast(10**6 + 100, x),))
    failing = further.counterexample(statement)
    assert failing is not None
    assert 10**6 < failing.point[x] <= 10**6 + 100           # type: ignore[operator]


def test_coordinates_shrink_to_a_point_within_the_domain() -> None:
    def height(point: further.Point) -> float:
        return float((point[z] - 2) ** 2 + (point[a.label][1] + Fraction(1, 3)) ** 2)    # type: ignore[operator, index]

    start = {m: 2, z: Fraction(5), a.label: [Fraction(1), Fraction(2)]}
    *_, last = further._along_coordinates(start, height, lambda point: True, further.FINEST)
    assert height(last) < 1e-20
    assert last[a.label][0] == 1                             # type: ignore[index]
    *_, last = further._along_coordinates(start, lambda point: float(point[z]), lambda point: True, further.FINEST)  # type: ignore[arg-type]
    assert last[z] == 0


def test_limits_are_left_to_their_own_search() -> None:
    assert further.counterexample(Limit(1 / y, y, sp.oo, sp.S.One)) is None
