"""A quotient that SymPy would cancel keeps the reciprocal of a possible 0 and of nothing else."""

import operator

import pytest
import sympy as sp

from derivations.calculus.division import KEYS, power, product, quotient
from derivations.calculus.functions import reciprocal
from derivations.calculus.sums import normal
from derivations.calculus.variables import positive, scalar

x, w, y = scalar("x"), scalar("w"), positive("y")
z = sp.Symbol("z")  # no variable of the calculus
HALF = sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("quotient", "divisors", "value"),
    [
        (quotient(x, x), {x}, 1),
        (product(x, 1 / x), {x}, 1),
        (product(1 / x, x), {x}, 1),
        (quotient(x**2, x), {x}, x),
        (quotient(w * x, x), {x}, w),
        (quotient(1, 1 / x), {x}, x),
        (power(1 / x, -1), {x}, x),
        (power(1 / x, 0), {x}, 1),
        (quotient(1 / x, 1 / x), {x}, 1),
        (quotient(x, x * w), {x}, 1 / w),
        (quotient(x / w, x / w), {x, w}, 1),
        (quotient(x - w, x - w), {x - w}, 1),
        (quotient(3, 3 / x), {x}, x),
        (quotient(x**3, x**2), {x}, x),
        (quotient(HALF * x, x), {x}, HALF),
        (product(w / x, x / w), {x, w}, 1),
        (quotient(x * w**2, x * y), {x}, w**2 / y),
        (quotient(product(x, 1 / x), x), {x}, 1 / x),
    ],
    ids=lambda part: str(sorted(map(str, part))) if isinstance(part, set) else str(part),
)
def test_divisors_that_may_be_zero_are_retained(quotient: sp.Expr, divisors: set[sp.Expr], value: sp.Expr) -> None:
    assert {part.args[0] for part in quotient.atoms(reciprocal)} == divisors
    assert normal(quotient) == normal(sp.sympify(value))


@pytest.mark.parametrize(
    ("quotient", "value"),
    [
        (quotient(y, y), 1),
        (product(y, 1 / y), 1),
        (quotient(1, 1 / y), y),
        (quotient(x, w), x * w**-1),
        (product(x, 1 / w), x * w**-1),
        (quotient(2, x), 2 * x**-1),
        (quotient(z, z), 1),
        (product(z, 1 / z), 1),
        (product(x, w), w * x),
        (power(1 / x, 2), x**-2),
        (product(x / w, x / w), x**2 * w**-2),
        (quotient(x * y, y), x),
        (quotient(2 * x, 2), x),
        (product(1 / x, 3), 3 * x**-1),
    ],
    ids=str,
)
def test_visible_or_nonzero_divisors_are_not_retained(quotient: sp.Expr, value: sp.Expr) -> None:
    assert not quotient.has(reciprocal)
    assert quotient == value


def test_operators_are_those_of_SymPy() -> None:
    assert x / x == x * (1 / x) == z / z == 1
    assert 1 / (1 / x) == x


def test_a_product_keeps_the_divisors_of_both_factors() -> None:
    inverse = x**-1
    pairs = ((inverse, x), (x, inverse), (w, x))
    assert [product(*pair).has(reciprocal) for pair in pairs] == [True, True, False]


def test_other_objects_are_combined_as_python_does() -> None:
    items = [1]
    assert (product("ab", 2), quotient(3, 2), power(2, 3), quotient(3.0, 1.5)) == ("abab", 1.5, 8, 2.0)
    assert product(items, 2, operator.imul) is items
    assert items == [1, 1]
    with pytest.raises(ZeroDivisionError):
        quotient(1, 0)
    with pytest.raises(TypeError):
        product(None, 2)


def test_a_key_is_what_it_is_indexed_with() -> None:
    assert (KEYS[1], KEYS[1:2], KEYS[1, ...]) == (1, slice(1, 2), (1, ...))
