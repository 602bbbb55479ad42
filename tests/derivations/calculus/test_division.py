"""A quotient that SymPy would cancel keeps the reciprocal of a possible 0 and of nothing else."""

from __future__ import annotations

import pytest
import sympy as sp

from derivations.calculus.functions import reciprocal
from derivations.calculus.sums import normal
from derivations.calculus.variables import positive, scalar

x, w, y = scalar("x"), scalar("w"), positive("y")
z = sp.Symbol("z")  # no variable of the calculus
HALF = sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("quotient", "divisors", "value"),
    [
        (x / x, {x}, 1),
        (x * (1 / x), {x}, 1),
        ((1 / x) * x, {x}, 1),
        (x**2 / x, {x}, x),
        (w * x / x, {x}, w),
        (1 / (1 / x), {x}, x),
        ((1 / x) ** -1, {x}, x),
        ((1 / x) ** 0, {x}, 1),
        ((1 / x) / (1 / x), {x}, 1),
        (x / (x * w), {x}, 1 / w),
        ((x / w) / (x / w), {x, w}, 1),
        ((x - w) / (x - w), {x - w}, 1),
        (3 / (3 / x), {x}, x),
        (x**3 / x**2, {x}, x),
        (HALF * x / x, {x}, HALF),
        ((w / x) * (x / w), {x, w}, 1),
        (x * w**2 / (x * y), {x}, w**2 / y),
    ],
    ids=lambda part: str(sorted(map(str, part))) if isinstance(part, set) else str(part),
)
def test_divisors_that_may_be_zero_are_retained(quotient: sp.Expr, divisors: set[sp.Expr], value: sp.Expr) -> None:
    assert {part.args[0] for part in quotient.atoms(reciprocal)} == divisors
    assert normal(quotient) == normal(sp.sympify(value))


@pytest.mark.parametrize(
    ("quotient", "value"),
    [
        (y / y, 1),
        (y * (1 / y), 1),
        (1 / (1 / y), y),
        (x / w, x * w**-1),
        (x * (1 / w), x * w**-1),
        (2 / x, 2 * x**-1),
        (z / z, 1),
        (z * (1 / z), 1),
        (x * w, w * x),
        ((1 / x) ** 2, x**-2),
        ((x / w) * (x / w), x**2 * w**-2),
        (x * y / y, x),
        (2 * x / 2, x),
        (1 / x * 3, 3 * x**-1),
    ],
    ids=str,
)
def test_visible_or_nonzero_divisors_are_not_retained(quotient: sp.Expr, value: sp.Expr) -> None:
    assert not quotient.has(reciprocal)
    assert quotient == value


def test_code_that_states_nothing_divides_as_sympy_does() -> None:
    names = {"__name__": "derivations.calculus.anything", "x": x}
    assert eval("x / x", names) == eval("x * (1 / x)", names) == 1
    assert eval("x / x", {**names, "__name__": "derivations.documents.eot.anything"}).has(reciprocal)


def test_a_product_keeps_the_divisors_of_both_factors() -> None:
    inverse = x**-1
    assert [(inverse * x).has(reciprocal), (x * inverse).has(reciprocal), (w * x).has(reciprocal)] == [True, True, False]
