"""Logarithms of sums over one denominator are differences where the denominator is positive, and stay elsewhere."""

import pytest
import sympy as sp

from derivations.calculus.logs import split
from tests.derivations.calculus.grammar import a, i, q, x, y

POSITIVE = sp.exp(x)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (sp.log(1 + x / POSITIVE), sp.log(POSITIVE + x) - sp.log(POSITIVE)),
        (2 * sp.log(3 + x / POSITIVE**2) + y, 2 * (sp.log(3 * POSITIVE**2 + x) - sp.log(POSITIVE**2)) + y),
        (sp.log(1 + x / (y**2 + 1)), sp.log(x + y**2 + 1) - sp.log(y**2 + 1)),
    ],
    ids=str,
)
def test_a_sum_over_a_positive_denominator(expr: sp.Expr, expected: sp.Expr) -> None:
    found = split(expr)
    assert found != expr
    for point in ({x: sp.Rational(1, 3), y: sp.Rational(2, 5)}, {x: sp.S(2), y: sp.S(-1)}):
        assert sp.expand_log(found.xreplace(point) - expr.xreplace(point), force=True).evalf(30, chop=True) == 0
    arguments, wanted = ({sp.expand(part.args[0]) for part in each.atoms(sp.log)} for each in (found, expected))
    assert arguments == wanted


@pytest.mark.parametrize(
    "expr", [sp.log(1 + y / x), sp.log(1 + y / a[i]), sp.log(1 + x / 2), sp.log(x / POSITIVE), sp.log(q[i] + x), x + y], ids=str
)
def test_what_stays_as_it_is(expr: sp.Expr) -> None:
    """A denominator that may be negative, a number as denominator, and no sum."""
    assert split(expr) == expr
