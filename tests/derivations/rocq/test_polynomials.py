"""Polynomials of terms: sums, products, what summands have in common, and how they are written."""

from collections.abc import Mapping
from fractions import Fraction

import pytest

from derivations.rocq.polynomials import (
    Polynomial,
    alpha,
    as_term,
    bounds,
    constant,
    content,
    divided,
    height,
    monomial,
    named,
    of_atom,
    plus,
    scaled,
    times,
)
from derivations.rocq.terms import Term, written

ATOMS: Mapping[str, Term] = {name: ("var", name) for name in "xyz"}


def poly(*summands: tuple[int | Fraction, str]) -> Polynomial:
    """Of summands such as (2, "xxy") and, with capitals for what is below, (1, "xY")."""
    return plus(
        *(
            {monomial((ATOMS[name.lower()], 1 if name.islower() else -1) for name in names): Fraction(c)}
            for c, names in summands
        )
    )


def test_sums_and_products() -> None:
    assert poly((2, "xy"), (-2, "yx")) == {}
    assert times(poly((2, "xx"), (3, "xy")), poly((1, "x"), (1, "y"))) == poly((2, "xxx"), (5, "xxy"), (3, "xyy"))
    assert times(poly((Fraction(1, 2), "x")), poly((Fraction(1, 3), "X"))) == poly((Fraction(1, 6), ""))
    assert times(poly((1, "x"), (1, "y")), poly((1, "x"), (-1, "y"))) == poly((1, "xx"), (-1, "yy"))
    assert scaled(poly((2, "x")), Fraction(3)) == poly((6, "x"))
    assert scaled(poly((2, "x")), Fraction(0)) == constant(0) == {}
    assert (constant(2), of_atom(ATOMS["x"], 3)) == (poly((2, "")), poly((1, "xxx")))


@pytest.mark.parametrize(
    ("summands", "number", "common"),
    [
        ([(2, "xxy"), (-2, "xyyy")], -2, "xy"),
        ([(1, "X"), (1, "xx")], 1, "X"),
        ([(-3, "x")], -3, "x"),
        ([(2, "xx"), (3, "xy")], 1, "x"),
        ([(4, "XX"), (4, "Xy")], 4, "XX"),
        ([(Fraction(1, 2), "xxx"), (Fraction(1, 2), "xx")], Fraction(1, 2), "xx"),
        ([(1, "x"), (1, "y")], 1, ""),
        ([(5, "")], 5, ""),
    ],
)
def test_what_all_summands_have_in_common(
    summands: list[tuple[int | Fraction, str]], number: int | Fraction, common: str
) -> None:
    whole, ((of_all, _),) = poly(*summands), poly((1, common)).items()
    assert content(whole) == (number, of_all)
    assert times(divided(whole, *content(whole)), poly((number, common))) == whole


@pytest.mark.parametrize(
    ("summands", "shown"),
    [
        ([], "0"),
        ([(1, "")], "1"),
        ([(-1, "")], "(- 1)"),
        ([(1, "x")], "x"),
        ([(1, "X")], "x^-1"),
        ([(-3, "xYY")], "(- (3%:R * x * (y^-1 ^+ 2)))"),
        ([(1, "xxy")], "((x ^+ 2) * y)"),
        ([(Fraction(2, 3), "xy")], "((2%:R / 3%:R) * x * y)"),
        ([(1, "Xy")], "(y * x^-1)"),
        ([(2, "xx"), (3, "xy")], "((3%:R * x * y) + (2%:R * (x ^+ 2)))"),
        ([(1, "x"), (-1, "y")], "(x + (- y))"),
    ],
)
def test_how_a_polynomial_is_written(summands: list[tuple[int | Fraction, str]], shown: str) -> None:
    assert written(as_term(poly(*summands))) == shown


def test_bound_indices_are_named_by_the_sums_inside() -> None:
    inner: Term = ("sum", "j", "m", ("entry", "q", ("j",)))
    outer: Term = ("sum", "i", "n", ("mul", ("entry", "s", ("i",)), inner))
    assert (height(ATOMS["x"]), height(inner), height(outer)) == (0, 1, 2)
    assert (bounds(inner), bounds(outer)) == ({"j"}, {"i", "j"})
    assert written(alpha(outer)) == "(\\Sum_(x2 < n) ((s x2) * (\\Sum_(x1 < m) (q x1))))"
    assert written(alpha(("pow", ("neg", inner), 2))) == "((- (\\Sum_(x1 < m) (q x1))) ^+ 2)"
    assert named("i", [("entry", "K", ("i", "x1"))]) == ("x2", [("entry", "K", ("x2", "x1"))])
    name, factors = named("i", [("entry", "s", ("i",)), ("sum", "x1", "m", ("entry", "K", ("x1", "i")))])
    assert (name, [written(each) for each in factors]) == ("x2", ["(s x2)", "(\\Sum_(x1 < m) (K x1 x2))"])
