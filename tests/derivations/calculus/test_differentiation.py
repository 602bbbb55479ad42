"""Differentiation of expressions as written, compared with SymPy's."""

import pytest
import sympy as sp

from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import delta, equal, total
from derivations.calculus.variables import positive, scalar
from tests.derivations.calculus.grammar import B, a, b, i, j, l, m, x, y, z

v, t = scalar("v"), positive("t")

SLOPES: dict[str, tuple[sp.Expr, sp.Expr, sp.Expr]] = {
    "itself": (x, x, 1),
    "another": (v, x, 0),
    "a number": (sp.Integer(7), x, 0),
    "a sum": (3 * x + x * v + v, x, 3 + v),
    "a product of three": (x * sp.exp(x) * sp.log(y), x, sp.exp(x) * sp.log(y) + x * sp.exp(x) * sp.log(y)),
    "a power": (x**3, x, 3 * x**2),
    "a quotient": (v / (x**2 + 1), x, -2 * v * x / (x**2 + 1) ** 2),
    "an exponent": (y**x, x, y**x * sp.log(y)),
    "twice an exponent": (y ** (2 * x), x, 2 * y ** (2 * x) * sp.log(y)),
    "a base and an exponent": (y**y, y, y**y * (sp.log(y) + 1)),
    "exp": (sp.exp(x**2), x, 2 * x * sp.exp(x**2)),
    "log": (sp.log(y * t), y, 1 / y),
    "xlogx": (xlogx(z[j] + 0 * x) * x, x, xlogx(z[j])),
    "xlogx of what moves": (xlogx(x), x, sp.log(x) + 1),
    "a modulus": (sp.Abs(2 * x), x, 2 * sp.sign(x)),
    "a positive part": (plus(3 * x), x, 3 * (1 + sp.sign(x)) / 2),
    "kl": (kl(y, t), y, sp.log(y) - sp.log(t)),
    "kl by the other": (kl(y, t), t, 1 - y / t),
    "pinsker": (pinsker(y, sp.S.One), y, sp.log(y) - sp.diff(3 * (y - 1) ** 2 / (2 * (y + 2)), y)),
    "a divergence": (bregman(y, t, sp.Integer(2)), y, y - t),
    "a reciprocal": (reciprocal(x), x, -1 / x**2),
    "an entry": (a[j], a[i], delta(i, j)),
    "an entry of another": (b[j], a[j], 0),
    "an entry of a matrix": (B[i, j], B[l, m], delta(i, l) * delta(j, m)),
    "an entry by a scalar": (a[j], x, 0),
    "a scalar by an entry": (x, a[j], 0),
    "a delta": (delta(i, j) * x, x, delta(i, j)),
    "a delta by an entry": (delta(i, j), a[i], 0),
    "a sum over entries": (total(l, a[l] ** 2), a[j], 2 * a[j]),
    "a sum that binds the name": (sp.Sum(a[j] ** 2, (j, 1, m)), a[j], 2 * a[j]),
    "a derivative": (Partial(x**3, x), x, 6 * x),
    "a derivative by another": (Partial(x**3 * v, x), v, 3 * x**2),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slope(name: str) -> None:
    expr, by, expected = SLOPES[name]
    slope = differentiate(expr, by)
    assert equal(
        slope.replace(sp.sign, lambda arg: 2 * plus(arg) / arg - 1),
        sp.sympify(expected).replace(sp.sign, lambda arg: 2 * plus(arg) / arg - 1),
    )
    assert sp.sympify(expected) != 0 or slope == 0


def test_a_constant_function_needs_no_rule() -> None:
    assert differentiate(sp.gamma(v), x) == 0
    with pytest.raises(ValueError, match=r"^derivative: expected a function of the calculus, got gamma$"):
        differentiate(sp.gamma(x), x)
