"""Invalid expansions: orders without content, maps that are not analytic, coefficients that do not exist."""

from collections.abc import Callable

import pytest
import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import interior, simplex, vector
from derivations.relations import Expansion, Solves
from derivations.relations.base import Entry
from tests.attacks import Table, refused
from tests.attacks.vocabulary import K3, A, a, b, half, i, j, k, l, m, r, s, t, tau, u, w, x, y, z

g = vector("g", m)
zero = sp.S.Zero


def solves(equation: Callable[[Entry], Entry]) -> tuple[Solves, ...]:
    return (Solves(g, equation),)


ORDERS: Table = {
    "an order below 0 compares nothing": lambda: Expansion(x, w, t, -1),
    "an order below 0, of what moves": lambda: Expansion(t, 2 + t, t, -1),
    "an order far below 0": lambda: Expansion(t, 2 + t, t, -5),
    "an order that is no integer": lambda: Expansion(sp.exp(t), 1 + t, t, 1.5),  # type: ignore[arg-type]
    "an order that is symbolic": lambda: Expansion(sp.exp(t), 1 + t, t, m),  # type: ignore[arg-type]
    "an order that is infinite": lambda: Expansion(sp.exp(t), 1 + t, t, sp.oo),  # type: ignore[arg-type]
    "an order that is true": lambda: Expansion(sp.exp(2 * t), 1 + t, t, True),
    "a lower order's agreement": lambda: Expansion(sp.exp(t), 1 + t, t, 2),
    "a higher term beside a wrong lower one": lambda: Expansion(sp.exp(t), 1 + 2 * t + t**2 / 2, t, 2),
    "a coefficient hidden at small sizes": lambda: Expansion(K3 * sp.exp(t), K3 * (1 + 2 * t), t, 1),
    "a coefficient off by 10⁻²⁰": lambda: Expansion(sp.exp(t), 1 + t * (1 + sp.Rational(1, 10**20)), t, 1),
    "a floating coefficient": lambda: Expansion(sp.exp(sp.Float(0.1) * 3 * t), 1 + 3 * t / 10, t, 1),
    "the second cumulant is the second moment": lambda: Expansion(
        sp.log(total(l, u[l] * sp.exp(t * a[l]))), t * total(l, u[l] * a[l]) + t**2 / 2 * total(l, u[l] * a[l] ** 2), t, 2
    ),
    "the variable is a vector": lambda: Expansion(sp.exp(t), 1 + t, a, 1),  # type: ignore[arg-type]
    "the variable is a size": lambda: Expansion((1 + m) ** 2, 1 + 2 * m, m, 1),
    "the variable is an index": lambda: Expansion((1 + j) ** 2, 1 + 2 * j, j, 1),
    "the variable is a number": lambda: Expansion(x, x, sp.S.One, 0),  # type: ignore[arg-type]
    "the variable is a plain symbol": lambda: Expansion((1 + sp.Symbol("o")) ** 2, 1 + 2 * sp.Symbol("o"), sp.Symbol("o"), 1),  # type: ignore[arg-type]
}

SINGULAR: Table = {
    "√t has no series": lambda: Expansion(sp.sqrt(t), zero, t, 1),
    "t^(3/2) has no second coefficient": lambda: Expansion(t ** sp.Rational(3, 2), zero, t, 2),
    "t^y": lambda: Expansion(t**y, zero, t, 1),
    "|x|": lambda: Expansion(sp.Abs(x), x, x, 1),
    "|x| by its square": lambda: Expansion(sp.sqrt(x**2), x, x, 1),
    "√(x² + x⁴)": lambda: Expansion(sp.sqrt(x**2 + x**4), x, x, 1),
    "x₊": lambda: Expansion(plus(x), x, x, 1),
    "xlogx": lambda: Expansion(xlogx(t), zero, t, 1),
    "log t": lambda: Expansion(t * sp.log(t), zero, t, 1),
    "1/t": lambda: Expansion(1 / t, zero, t, 1),
    "(t² + t)/t is not defined at 0": lambda: Expansion((t**2 + t) / t, 1 + 2 * t, t, 1),
    "e^(−1/x) from the left": lambda: Expansion(sp.exp(-1 / x), zero, x, 3),
    "log(x + t) where x ≤ 0": lambda: Expansion(sp.log(x + t), sp.log(x) + t / x, t, 1),
    "1/(x + t) where x = 0": lambda: Expansion(1 / (x + t), 1 / x - t / x**2, t, 1),
    "1/(z + t) where z = 0": lambda: Expansion(1 / (z + t), 1 / z - t / z**2, t, 1),
    "√(z + t) where z = 0": lambda: Expansion(sp.sqrt(z + t), sp.sqrt(z) + t / (2 * sp.sqrt(z)), t, 1),
    "log(r + t) where r = 0": lambda: Expansion(sp.log(r[j] + t), sp.log(r[j]) + t / r[j], t, 1),
    "1/(x − w + t)": lambda: Expansion(1 / (x - w + t), 1 / (x - w), t, 0),
    "1/(Σ a + t)": lambda: Expansion(1 / (total(l, a[l]) + t), 1 / total(l, a[l]), t, 0),
    "kl(r + t a, r) at zeros": lambda: Expansion(kl(r[j] + t * x, r[j]), t**2 * x**2 / (2 * r[j]), t, 2),
    "a coefficient that is not defined": lambda: Expansion(sp.exp(t * (x**2 + x) / x), 1 + t * (x + 1), t, 1),
    "a side that is not defined": lambda: Expansion(sp.exp(t) + sp.log(-y) - sp.log(-2 * y), 1 - sp.log(2) + t, t, 1),
    "an entry out of range": lambda: Expansion(sp.exp(t * a[m + 1]), 1 + t * a[m + 1], t, 1),
    "a root that is imaginary on one side": lambda: Expansion(sp.exp(t * sp.sqrt(x)), 1 + t * sp.sqrt(x), t, 1),
    "an imaginary phase": lambda: Expansion(sp.exp(sp.I * t * x), 1 + sp.I * t * x, t, 1),
    "δ(1 − δ) hides a log": lambda: Expansion(delta(j, l) * (1 - delta(j, l)) * sp.log(x + t), zero, t, 1),
    "a function of the author's": lambda: Expansion(sp.Function("o")(t), zero, t, 0),
}

SOLUTIONS: Table = {
    "A8: order 0 never looks at the map: 1/t": lambda: Expansion(g[j], zero, t, 0, where=solves(lambda e: lambda key: 1 / t)),
    "A8: order 0, v = 1 + v": lambda: Expansion(g[j], zero, t, 0, where=solves(lambda e: lambda key: (1 + e(key)) / t)),
    "A8: order 0, a map that is no expression": lambda: Expansion(
        g[j], zero, t, 0, where=solves(lambda e: lambda key: "nothing")
    ),  # type: ignore[return-value,arg-type]
    "A8: order 0, a map that is not defined": lambda: Expansion(
        g[j], zero, t, 0, where=solves(lambda e: lambda key: sp.log(-y))
    ),
    "A8: order 0, a map out of range": lambda: Expansion(g[j], zero, t, 0, where=solves(lambda e: lambda key: a[key + m])),
    "A8: order 0, a map that is singular at 0": lambda: Expansion(
        g[j] + 1, 1, t, 0, where=solves(lambda e: lambda key: sp.log(e(key)))
    ),
    "A8: order 0, a map that divides by the solution": lambda: Expansion(
        g[j], zero, t, 0, where=solves(lambda e: lambda key: 1 / e(key))
    ),
    "A8: order 0, a map that fails": lambda: Expansion(g[j], zero, t, 0, where=solves(lambda e: lambda key: 1 / sp.S.Zero)),
    "two equations for one vector": lambda: Expansion(
        g[j], t * x, t, 1, where=(*solves(lambda e: lambda key: x), *solves(lambda e: lambda key: w))
    ),
    "two equations for one vector, the other way round": lambda: Expansion(
        g[j], t * w, t, 1, where=(*solves(lambda e: lambda key: x), *solves(lambda e: lambda key: w))
    ),
    "a positive vector starts at 0": lambda: Expansion(b[j], t * x, t, 1, where=(Solves(b, lambda e: lambda key: x),)),
    "a point of a simplex starts at 0": lambda: Expansion(
        r[j], t * x, t, 1, where=(Solves(simplex("r", m), lambda e: lambda key: x),)
    ),
    "a point of an open simplex, whose mass is used": lambda: Expansion(
        total(l, u[l]), 1 + t, t, 1, where=(Solves(interior("u", m), lambda e: lambda key: sp.S.One),)
    ),
    "a matrix is no vector": lambda: Expansion(A[i, j], t * x, t, 1, where=(Solves(A, lambda e: lambda key: x),)),
    "the index that the map reads is bound": lambda: Expansion(
        total(j, g[j]), t * m * a[j], t, 1, where=solves(lambda e: lambda key: a[key])
    ),
    "a map with a kink": lambda: Expansion(g[j], t * plus(x), t, 2, where=solves(lambda e: lambda key: plus(x + e(key)))),
    "the map's sign": lambda: Expansion(
        g[j], t * s[j] - t**2 * total(l, s[l]), t, 2, where=solves(lambda e: lambda key: s[key] + total(l, e(l)))
    ),
    "k is not j": lambda: Expansion(g[k], t * a[j], t, 1, where=solves(lambda e: lambda key: a[key])),
    "half the temperature": lambda: Expansion(sp.exp(t * a[j] / tau), 1 + half * t * a[j] / tau, t, 1),
}

ATTACKS = ORDERS | SINGULAR | SOLUTIONS


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])
