"""Points beyond the usual sample: near the numbers of a statement, at larger sizes, and by descent along coordinates."""

from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp

from derivations import AtLeast, Equation, Limit, index, positive, scalar, simplex, size, total, vector
from derivations.calculus import far
from derivations.calculus.orders import upto
from derivations.domains import Nonnegative, Positive
from derivations.relations import Relation, further

m, n = size("m"), size("n")
j, l = index("j", m), index("l", m)  # noqa: E741
x, y, z = scalar("x"), positive("y"), scalar("z", Nonnegative)
a, q, b = vector("a", m), simplex("q", m), vector("b", m, kind=Positive)


def test_the_numbers_of_a_statement_and_its_hypotheses_are_tried_the_least_usual_first() -> None:
    statement = AtLeast(x / 7, 2 * y - 1000, given=(AtLeast(y, sp.Rational(3, 50)),))
    assert further._numbers(statement) == [1000, Fraction(3, 50), Fraction(1, 7), 2]


def test_values_belong_to_the_domain() -> None:
    numbers = [Fraction(3), Fraction(1, 2)]
    assert min(further._values(y, numbers)) > 0
    assert min(further._values(x, numbers)) < 0
    assert [len(value) for value in further._values(a.label, numbers)][:2] == [1, 2]
    assert list(further._values(q.label, numbers)) == list(further._values(j, numbers)) == []


def test_a_failure_beyond_the_sample_is_found() -> None:
    for most in (7, 9, 12, 20, 180, 5000, 10**9):
        failing = further.counterexample(AtLeast(most, m))
        assert failing is not None
        assert failing.point[m] > most  # type: ignore[operator]
    assert AtLeast(7, m).counterexample() is None
    assert further.counterexample(Equation(total(l, a[l]) ** 2, total((j, l), a[j] * a[l]))) is None


VANISHING = sp.Mul(*[m - size for size in range(1, 8)]) ** 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: AtLeast(0, VANISHING),
        lambda: AtLeast(VANISHING * total(l, b[l]) * sp.exp(-total(l, b[l])), VANISHING * total(l, b[l] * sp.exp(-b[l]))),
        lambda: AtLeast(8, m * total(l, q[l] ** 2)),
        lambda: AtLeast(n + 20, m),
        lambda: AtLeast(500, total(l, a[l])),
    ],
)
def test_points_beyond_the_sample_refute_what_would_be_proved(make: Callable[[], Relation]) -> None:
    failing = further.beyond(make())
    assert failing is not None
    assert failing.point[m] in far.BEYOND


def test_sizes_that_a_statement_names_are_tried_where_it_would_be_proved() -> None:
    failing = further.beyond(AtLeast(upto(41, m) * total(l, a[l]) ** 2, upto(41, m) * total(l, sp.Abs(a[l])) ** 2))
    assert failing is not None
    assert failing.point[m] in (41, 42)


def test_no_true_statement_and_none_without_sizes_fails_beyond_the_sample() -> None:
    assert further.beyond(AtLeast(m * total(l, q[l] ** 2), 1)) is None
    assert further.beyond(AtLeast(m + 1, m, given=(AtLeast(7, m),))) is None
    assert further.beyond(AtLeast(7, x)) is None


def test_hypotheses_hold_at_the_points() -> None:
    statement = AtLeast(10**6, x, given=(AtLeast(10**6 + 100, x),))
    failing = further.counterexample(statement)
    assert failing is not None
    assert 10**6 < failing.point[x] <= 10**6 + 100  # type: ignore[operator]


def test_limits_are_left_to_their_own_search() -> None:
    assert further.counterexample(Limit(1 / y, y, sp.oo, sp.S.One)) is None


def test_what_was_tried_is_said() -> None:
    failing, tried = further.searched(AtLeast(total(l, b[l]) + 1, 0))
    assert failing is None
    assert tried.count > 1000
    assert {*range(1, 8), 128, 200} <= tried.sizes[m]
    assert tried.magnitudes[b.label][0] <= Fraction(1, 10**300) < 10**300 <= tried.magnitudes[b.label][1]
    assert further.searched(AtLeast(y, x, given=(AtLeast(y, x),)))[1].count > 0


def test_sizes_in_a_narrow_window_are_found() -> None:
    failing = further.counterexample(AtLeast((sp.log(m) - sp.log(1437)) ** 2, sp.Rational(1, 10**9)))
    assert failing is not None
    assert failing.point == {m: 1437}


def test_the_search_ends_where_a_larger_size_is_always_lower() -> None:
    failing, tried = further.searched(AtLeast(sp.exp(1 / m), 1 + 1 / m + 1 / (2 * m**2)))
    assert failing is None
    assert 0 < tried.count < 10 * further.MOST


def test_every_place_of_indices_is_tried_where_nothing_else_varies() -> None:
    k = index("k", m)
    failing = further.counterexample(AtLeast((j - k - 29) ** 2, 0, strict=True))
    assert failing is not None
    assert failing.point == {m: 30, j: 30, k: 1}


def test_nearly_equal_values_are_told_apart() -> None:
    failing = further.counterexample(Equation(1 + sp.exp(-900 * (1 + x**2)), 1))
    assert failing is not None
    assert failing.witness.left != failing.witness.right
