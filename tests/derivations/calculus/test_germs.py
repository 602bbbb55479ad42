"""Germs beside the functions that they stand for, close to the end of the path."""

import pytest
import sympy as sp

from derivations import kl, positive, scalar, xlogx
from derivations.calculus.germs import Germ, Germs, UndecidedError

x, y, z = positive("x"), positive("y"), scalar("z")
EPSILON, PARAMETER = sp.Rational(1, 10**6), sp.Rational(3, 2)
START = Germ({(sp.S.One, 0): sp.S.One})

FUNCTIONS = {
    "a polynomial": (x**2 * y - 3 * x + 2, sp.oo),
    "a quotient": (1 / (1 + x), 4),
    "a quotient with a pole": ((1 + x) / (x + x**2 * y), 3),
    "a difference whose first terms cancel": (1 / (1 + x) - 1 / (1 + x * y) + (1 - y) * x, 4),
    "an exponential": (sp.exp(x * y), 8),
    "a quotient that goes to 1": ((sp.exp(x) - 1) / x, 7),
    "a logarithm": (sp.log(1 + x * y), 4),
    "a logarithm of the variable": (sp.log(x), sp.oo),
    "a power of it": (sp.log(x) ** 2 * x + x**2 * sp.log(x), sp.oo),
    "a logarithm of a power": (sp.log(x**2 * y + x**3), 4),
    "an exponential of a pole": (sp.exp(y / x), sp.oo),
    "a product of exponentials": (sp.exp(1 / x) * sp.exp(-1 / x + x), 8),
    "the larger of two exponentials": (sp.exp(1 / x) + sp.exp(1 / (2 * x)), sp.oo),
    "the larger of two, which is the second": (sp.exp(1 / (2 * x)) + sp.exp(1 / x), sp.oo),
    "a sum with an exponential that vanishes": (sp.exp(-1 / x) + x, sp.oo),
    "poles of two orders": (sp.exp(1 / x**2 - 1 / x) + sp.exp(1 / x), sp.oo),
    "a logistic function": (1 / (sp.exp(1 / x) + 1), sp.oo),
    "a logarithm of a sum of exponentials": (sp.log(sp.exp(y / x) + 1) * x, sp.oo),
    "a power of the variable": (sp.exp(2 * sp.log(x) + x), 10),
    "an integer power": ((1 + x) ** 3 / x, sp.oo),
    "a product of series": (sp.exp(x) * sp.log(1 + x), 4),
    "a product with logarithms": ((sp.log(x) + x) * (sp.log(x) + x + 1), sp.oo),
    "a divergence": (kl(1 + x, 1), 4),
    "x log x": (xlogx(x), sp.oo),
    "x log x at 1": (xlogx(1 + x), 4),
}


def value_of(germ: Germ) -> sp.Expr:
    """e^P · Σ c ε^k Lⁿ without e^P."""
    return sp.Add(*(c * EPSILON**k * sp.log(EPSILON) ** n for (k, n), c in germ.terms.items()))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_germ_is_its_function_up_to_its_order(name: str) -> None:
    expr, order = FUNCTIONS[name]
    germ = Germs({x: START}).of(expr)
    assert germ.order == order
    scale = sp.exp(sp.Add(*(c * EPSILON**k for k, c in germ.exponent.items())))
    plain = expr.replace(xlogx, lambda a: a * sp.log(a)).replace(kl, lambda a, b: a * sp.log(a / b) - a + b)
    at = {x: EPSILON, y: PARAMETER}
    error = abs((plain / scale - value_of(germ)).xreplace(at).evalf(90))
    assert error <= (EPSILON**12 if order == sp.oo else 100 * EPSILON**order)


@pytest.mark.parametrize(
    ("expr", "why"),
    [
        (1 / (z + x), "is not shown to be different from 0"),
        (sp.exp(z / x) + 1, "the sign of .*z.* decides, and is not shown"),
        (1 / sp.log(x), "a logarithm leads where it is divided by"),
        (sp.log(x - 1), "log of a negative number: -1"),
        (sp.exp(sp.log(x) ** 2), "an exponential of a logarithm's power"),
        (sp.exp(sp.exp(1 / x)), "an exponential of an exponential"),
    ],
)
def test_what_is_not_decided_is_refused(expr: sp.Expr, why: str) -> None:
    with pytest.raises(UndecidedError, match=why):
        Germs({x: START}).of(expr)


def test_terms_that_cancel_leave_nothing_to_divide_by() -> None:
    germs = Germs({x: START})
    with pytest.raises(UndecidedError, match="the leading terms cancel"):
        germs.invert(germs.add(START, germs.multiply(Germ({(sp.S.Zero, 0): -sp.S.One}), START)))


def test_factors_may_be_exchanged() -> None:
    germs, one = Germs({x: START}), sp.S.One
    pole, series = (germs.of(expr) for expr in (1 / x, sp.exp(x)))
    assert germs.multiply(pole, series) == germs.multiply(series, pole)
    forth, back = Germ({(sp.S.Zero, 1): one, (one, 0): one}), Germ({(one, 0): one, (sp.S.Zero, 1): one})
    for left, right in ((forth, back), (back, forth), (forth, forth)):
        assert germs.multiply(left, right).terms == {(0, 2): 1, (1, 1): 2, (2, 0): 1}
