"""Slopes of terms by the rules of the script, and functions that are opened before."""

from fractions import Fraction

import pytest

from derivations.rocq.slopes import ZERO, opened, slope
from derivations.rocq.terms import NotExportedError, Term, written

X: Term = ("var", "x")
Y: Term = ("var", "y")
ENTRY: Term = ("entry", "s", ("i",))
TWO: Term = ("num", Fraction(2))


@pytest.mark.parametrize(
    ("part", "along", "shown"),
    [
        (Y, X, "0"),
        (X, X, "1"),
        (ENTRY, ("entry", "s", ("j",)), "(dlt i j)"),
        (("entry", "K", ("i", "a")), ("entry", "K", ("j", "b")), "((dlt i j) * (dlt a b))"),
        (("neg", X), X, "(- 1)"),
        (("add", X, Y, X), X, "((1 + 0) + 1)"),
        (("mul", Y, X), X, "(y * 1)"),
        (("mul", X, Y), X, "(1 * y)"),
        (("mul", X, X), X, "((1 * x) + (x * 1))"),
        (("mul", Y, TWO, X), X, "((y * 2%:R) * 1)"),
        (("mul", X, Y, X), X, "(((1 * y) * x) + ((x * y) * 1))"),
        (("sum", "i", "n", ENTRY), ("entry", "s", ("j",)), "(\\Sum_(i < n) (dlt i j))"),
        (("inv", X), X, "((- 1) * (x ^+ 2)^-1)"),
        (("pow", X, 3), X, "(3%:R * (x ^+ 2) * 1)"),
        (("exp", X), X, "((expR x) * 1)"),
        (("ln", X), X, "(1 * x^-1)"),
        (("exp", ("exp", X)), X, "((expR (expR x)) * ((expR x) * 1))"),
    ],
)
def test_the_slope_of_a_term(part: Term, along: Term, shown: str) -> None:
    assert written(slope(part, along)) == shown


def test_what_has_no_rule_is_named() -> None:
    with pytest.raises(NotExportedError, match="the slope of abs"):
        slope(("abs", X), X)
    with pytest.raises(NotExportedError, match="an entry of a vector of differences"):
        slope(("band", "s", "n", "i", "j"), ("entry", "s", ("k",)))
    assert slope(("abs", Y), X) == ZERO


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (X, "x"),
        (("xlogx", X), "(x * (ln x))"),
        (("rpow", X, Y), "(expR (y * (ln x)))"),
        (("kl", Y, X), "((y * (ln y)) + (- (y * (ln x))) + (- y) + x)"),
        (("sum", "i", "n", ("xlogx", ENTRY)), "(\\Sum_(i < n) ((s i) * (ln (s i))))"),
        (("pow", ("xlogx", X), 2), "((x * (ln x)) ^+ 2)"),
        (("add", X, ("neg", ("xlogx", Y))), "(x + (- (y * (ln y))))"),
    ],
)
def test_what_a_function_is_defined_as(part: Term, shown: str) -> None:
    assert written(opened(part)) == shown
