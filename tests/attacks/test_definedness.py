"""Statements that are undefined on a part of their domain: division by 0, log 0, √−1."""

import pytest
import sympy as sp

from derivations.calculus.division import quotient
from derivations.calculus.functions import Partial, derivative, kl, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, index, simplex, stochastic, vector
from derivations.domains import Index, Positive
from derivations.relations import AtLeast, Equation
from tests.attacks import Table, refused
from tests.attacks.vocabulary import (
    QQ,
    RR,
    P,
    a,
    b,
    c,
    h,
    half,
    i,
    j,
    k,
    l,
    m,
    n,
    one,
    r,
    s,
    t,
    tau,
    two,
    u,
    v,
    w,
    wherever,
    x,
    y,
    z,
)

mean = total(l, r[l] * a[l])
variance = total(l, r[l] * (a[l] - total(h, r[h] * a[h])) ** 2)

DENOMINATORS: Table = {
    "D5: x/x": lambda: Equation(quotient(x**2 + x, x), x + 1),
    "D5: x/x, as SymPy leaves it": lambda: Equation(sp.Mul(x, 1 / x, evaluate=False), 1),
    "D5: Σ r/r on the closed simplex": lambda: Equation(total(l, quotient(r[l] ** 2 + r[l], r[l])), m + 1),
    "D5: Σ a/a with a square beside it": lambda: Equation(total(l, quotient(a[l] * s[l] + a[l], a[l])), total(l, s[l]) + m),
    "x² − 1 over x − 1": lambda: Equation((x**2 - 1) / (x - 1), x + 1),
    "x² − w² over x − w": lambda: Equation((x**2 - w**2) / (x - w), x + w),
    "y² − 1 over y − 1, positive": lambda: Equation((y**2 - 1) / (y - 1), y + 1),
    "t² − τ² over t − τ, positive": lambda: Equation((t**2 - tau**2) / (t - tau), t + tau),
    "Σ (a² − 1)/(a − 1)": lambda: Equation(total(l, (a[l] ** 2 - 1) / (a[l] - 1)), total(l, a[l]) + m),
    "(u_j² − u_l²)/(u_j − u_l) at j = l": lambda: Equation((u[j] ** 2 - u[l] ** 2) / (u[j] - u[l]), u[j] + u[l]),
    "(u_j² − u_k²)/(u_j − u_k) at equal masses": lambda: Equation((u[j] ** 2 - u[k] ** 2) / (u[j] - u[k]), u[j] + u[k]),
    "by a log that is 0 at 1": lambda: wherever(1 / sp.log(y)),
    "by e^x − 1": lambda: Equation((sp.exp(2 * x) - 1) / (sp.exp(x) - 1), sp.exp(x) + 1),
    "by e^x − 3, whose zero is transcendental": lambda: wherever(1 / (sp.exp(x) - 3)),
    "by x² − 2, whose zero is irrational": lambda: wherever(1 / (x**2 - 2)),
    "by x² + x − 1": lambda: wherever(1 / (x**2 + x - 1)),
    "by x − 1/7": lambda: wherever(1 / (x - sp.Rational(1, 7))),
    "by x − 10⁹": lambda: wherever(1 / (x - 10**9)),
    "by y − 10⁻⁹": lambda: wherever(1 / (y - sp.Rational(1, 10**9))),
    "by m − 1": lambda: Equation((m**2 - 1) / (m - 1), m + 1),
    "by m − 5": lambda: Equation((m**2 - 25) / (m - 5), m + 5),
    "by m − n": lambda: Equation((m**2 - n**2) / (m - n), m + n),
    "by j − 1": lambda: wherever(1 / (j - 1)),
    "by j − l": lambda: wherever(1 / (j - l)),
    "by m − j": lambda: wherever(1 / (m - j)),
    "by 1 − u_j at m = 1": lambda: Equation((1 - u[j] ** 2) / (1 - u[j]), 1 + u[j]),
    "by 1 − r_j at corners": lambda: Equation((1 - r[j] ** 2) / (1 - r[j]), 1 + r[j]),
    "by the mass of the others": lambda: wherever(1 / total(k, u[k])),
    "by a sum that may be empty": lambda: wherever(1 / sp.Sum(b[l], (l, 2, m))),
    "by Σ a": lambda: wherever(1 / total(l, a[l])),
    "by Σ c, c ≥ 0": lambda: wherever(1 / total(l, c[l])),
    "by Σ a² at 0": lambda: wherever(1 / total(l, a[l] ** 2)),
    "by Σ|a| at 0": lambda: wherever(1 / total(l, sp.Abs(a[l]))),
    "by an inner product": lambda: wherever(1 / total(l, a[l] * s[l])),
    "by Σ r b at one place": lambda: wherever(1 / total(l, r[j] * b[l])),
    "by a mean of open sign": lambda: wherever(1 / mean),
    "by a variance": lambda: wherever(1 / variance),
    "by a standard deviation": lambda: wherever(variance**-half),
    "by 1 − Σ r² at corners": lambda: wherever(1 / (1 - total(l, r[l] ** 2))),
    "by m Σ u² − 1 at the uniform point": lambda: wherever(1 / (m * total(l, u[l] ** 2) - 1)),
    "by Σ e^a − m at a = 0": lambda: wherever(1 / (total(l, sp.exp(a[l])) - m)),
    "by the entropy at corners": lambda: wherever(1 / total(l, xlogx(r[l]))),
    "by a divergence at equality": lambda: wherever(1 / total(l, kl(r[l], u[l]))),
    "by a Bregman divergence at equality": lambda: wherever(1 / bregman(y, t, sp.Integer(3))),
    "by x₊": lambda: wherever(1 / plus(x)),
    "by |x|": lambda: wherever(1 / sp.Abs(x)),
    "by xlogx(y) at 1": lambda: wherever(1 / xlogx(y)),
    "by z": lambda: wherever(1 / z),
    "by √z": lambda: wherever(z**-half),
    "by r_j": lambda: wherever(1 / r[j]),
    "by the root of r_j": lambda: wherever(r[j] ** -half),
    "by an entry of a coupling": lambda: wherever(1 / P[i, j]),
    "by an entry of a stochastic matrix": lambda: wherever(1 / RR[j, l]),
    "by a column sum of a stochastic matrix": lambda: wherever(1 / total(j, RR[j, l])),
    "by a row of a simplex of pairs": lambda: wherever(1 / total(j, QQ[l, j])),
    "by sizes that may cancel": lambda: wherever(1 / (m - 2 * n)),
    "by 1 − e^(−z)": lambda: wherever(1 / (1 - sp.exp(-z))),
    "by softmax differences": lambda: wherever(1 / (sp.exp(a[j]) - sp.exp(a[l]))),
    "a factor that may be 0, on both sides": lambda: Equation(quotient(x * y + x * t, x * tau), (y + t) / tau),
    "D1: a factor m − 1 over itself": lambda: Equation(
        quotient((m - 1) * (y + 1) ** 2, m - 1) - 1 + quotient(m**2 - 1, m - 1), y**2 + 2 * y + m + 1
    ),
    "by 0": lambda: Equation(x / sp.S.Zero, 2 * x / sp.S.Zero),
    "no number": lambda: Equation(sp.nan * x, sp.nan),
    "infinity less infinity": lambda: Equation(sp.oo - sp.oo + x, sp.nan),
    "infinity and x": lambda: Equation(sp.oo + x, sp.oo),
    "twice infinity": lambda: Equation(2 * y * sp.oo, sp.oo),
}

LOGS: Table = {
    "D5: logs of negatives": lambda: Equation(sp.log(-y) - sp.log(-2 * y), -sp.log(2)),
    "D5: logs of negatives in a sum": lambda: Equation(total(l, sp.log(-b[l]) - sp.log(-2 * b[l])), -m * sp.log(2)),
    "log of a real": lambda: Equation(sp.log(2 * x) - sp.log(x), sp.log(2)),
    "log of z at 0": lambda: Equation(sp.log(2 * z) - sp.log(z), sp.log(2)),
    "log of r_j at zeros": lambda: Equation(sp.log(2 * r[j]) - sp.log(r[j]), sp.log(2)),
    "log x² is 2 log x": lambda: Equation(sp.log(x**2), 2 * sp.log(x)),
    "log x² is 2 log |x|": lambda: Equation(sp.log(x**2), 2 * sp.log(sp.Abs(x))),
    "log of a product of reals": lambda: Equation(sp.log(x * w), sp.log(x) + sp.log(w)),
    "log of a quotient of reals": lambda: Equation(sp.log(x / w), sp.log(x) - sp.log(w)),
    "log of a real and its reciprocal": lambda: Equation(sp.log(x) + sp.log(1 / x), 0),
    "r log r with r = 0": lambda: Equation(total(l, r[l] * (sp.log(r[l]) + 1)), total(l, r[l] * sp.log(r[l])) + 1),
    "r log r is xlogx": lambda: Equation(total(l, r[l] * sp.log(r[l])), total(l, xlogx(r[l]))),
    "r log r/u": lambda: wherever(total(l, r[l] * sp.log(r[l] / u[l]))),
    "u log u/r": lambda: wherever(total(l, u[l] * sp.log(u[l] / r[l]))),
    "kl against a closed simplex": lambda: wherever(total(l, kl(u[l], r[l]))),
    "kl of the same closed simplex": lambda: Equation(total(l, kl(r[l], r[l])), 0),
    "kl of a real": lambda: wherever(kl(x, y)),
    "xlogx of a real": lambda: wherever(xlogx(x)),
    "xlogx of a difference": lambda: wherever(xlogx(y - t)),
    "log of a sum of reals": lambda: wherever(sp.log(total(l, a[l]))),
    "log of a log": lambda: wherever(sp.log(sp.log(y))),
    "log of y − 1": lambda: wherever(sp.log(y - 1)),
    "log of m − 1": lambda: Equation(sp.log(2 * (m - 1)) - sp.log(m - 1), sp.log(2)),
    "log of 1 − u_j at m = 1": lambda: wherever(sp.log(1 - u[j])),
    "log of 1 − r_j at corners": lambda: wherever(sp.log(1 - r[j])),
    "log of the mass of the others": lambda: wherever(sp.log(total(k, u[k]))),
    "log of |x|": lambda: wherever(sp.log(sp.Abs(x))),
    "log of x₊": lambda: wherever(sp.log(plus(x))),
    "log of δ": lambda: wherever(sp.log(delta(j, l))),
    "log of a divergence": lambda: wherever(sp.log(total(l, kl(r[l], u[l])))),
    "log of a variance": lambda: wherever(sp.log(variance)),
    "log 0": lambda: Equation(sp.log(sp.S.Zero) + x, x + sp.zoo),
    "log of −1": lambda: Equation(sp.log(-one) * 2 + x, 2 * sp.I * sp.pi + x),
    "log of a softmax of a closed simplex": lambda: wherever(sp.log(r[j] / total(l, r[l] * b[l]))),
    "log of an entry of a coupling": lambda: wherever(sp.log(P[i, j])),
    "log of an entry over its marginal": lambda: wherever(sp.log(P[i, j] / v[i])),
}

POWERS: Table = {
    "a root of a real": lambda: wherever(sp.sqrt(x)),
    "a cube root of a real": lambda: wherever(x ** sp.Rational(1, 3)),
    "a root on both sides of a product": lambda: Equation(sp.sqrt(x) * (sp.sqrt(x) + 1), x + sp.sqrt(x)),
    "a root of a product of reals": lambda: Equation(sp.sqrt(x * w), sp.sqrt(x) * sp.sqrt(w)),
    "the root of the square of a sum": lambda: Equation(sp.sqrt(total(l, a[l]) ** 2), total(l, a[l])),
    "the root of the square of a difference": lambda: Equation(sp.sqrt((x - w) ** 2), x - w),
    "(x³)^(1/3)": lambda: Equation((x**3) ** sp.Rational(1, 3), x),
    "(x^m)^(1/m)": lambda: Equation((x**m) ** (1 / m), x),
    "(x²)^y is x^(2y)": lambda: Equation((x**2) ** y, x ** (2 * y)),
    "a root of −1 − x²": lambda: wherever(sp.sqrt(-1 - x**2)),
    "a root of u_j − 1": lambda: wherever(sp.sqrt(u[j] - 1)),
    "a root of a variance the wrong way round": lambda: wherever(sp.sqrt(mean**2 - total(l, r[l] * a[l] ** 2))),
    "x to a real power": lambda: Equation(x**w * x**y, x ** (w + y)),
    "z to a real power": lambda: wherever(z**x),
    "z^z": lambda: wherever(z ** (z - 1)),
    "r to the power τ − 1": lambda: wherever(r[j] ** (tau - 1)),
    "x₊ to the power τ − 1": lambda: wherever(plus(x) ** (tau - 1)),
    "0 to a real power": lambda: Equation(sp.Pow(0, x, evaluate=False) + 1, 1),
    "0^z": lambda: Equation(total(l, delta(j, l) ** z), 1),
    "an imaginary unit": lambda: Equation((1 + sp.I * x) * (1 - sp.I * x), 1 + x**2),
    "a phase": lambda: wherever(sp.exp(sp.I * sp.pi * m)),
    "a phase in a sum": lambda: wherever(total(l, sp.exp(sp.I * a[l]))),
    "(−1)^y": lambda: wherever((-one) ** y),
    "(−8)^(1/3)": lambda: Equation((-sp.Integer(8)) ** sp.Rational(1, 3) + x, x - 2),
    "a negative base to a size over two": lambda: wherever((-two) ** (m / 2)),
}

DERIVATIVES: Table = {
    "|x| at its kink": lambda: wherever(derivative(sp.Abs(x), x)),
    "x₊ at its kink": lambda: wherever(derivative(plus(x), x)),
    "a norm at 0": lambda: wherever(derivative(sp.sqrt(total(l, a[l] ** 2)), a[j])),
    "√z at the boundary": lambda: wherever(derivative(sp.sqrt(z), z)),
    "xlogx at the boundary": lambda: wherever(derivative(xlogx(z), z)),
    "log x": lambda: wherever(derivative(sp.log(x), x)),
    "x^m by x, written m x^m/x": lambda: Equation(derivative(x**m, x), m * x**m / x),
    "x^(3/2)": lambda: wherever(derivative(x ** sp.Rational(3, 2), x)),
    "z^y at the boundary": lambda: wherever(derivative(z**y, z)),
    "of what is not defined, and constant": lambda: Equation(derivative(sp.log(2 * x) - sp.log(x), x), 0),
    "of what is not defined, and lost": lambda: Equation(derivative(y + sp.log(2 * x) - sp.log(x), y), 1),
    "by an entry of a simplex": lambda: Equation(derivative(total(l, r[l] ** 2), r[j]), 2 * r[j]),
    "by an entry of an open simplex": lambda: Equation(Partial(total(l, u[l] ** 2), u[j]), 2 * u[j]),
    "by an entry of a simplex, whose mass is 1": lambda: Equation(Partial(total(l, r[l]), r[j]), 1),
    "by an entry of a simplex, whose mass is 1 by name": lambda: Equation(Partial(total(l, r[l]) + x, r[j]), 0),
    "by an entry of a coupling": lambda: Equation(Partial(total((i, j), P[i, j] ** 2), P[i, j]), 2 * P[i, j]),
    "by an entry of a stochastic matrix": lambda: Equation(Partial(RR[j, l] ** 2, RR[j, l]), 2 * RR[j, l]),
    "by a size": lambda: Equation(Partial(m**2, m), 2 * m),
    "by a size, of a sum": lambda: Equation(Partial(total(l, b[l]), m), 0),
    "by an index": lambda: Equation(Partial(j**2, j), 2 * j),
    "by an index, of an entry": lambda: Equation(Partial(a[j] + x, j), 0),
    "by a number": lambda: Equation(Partial(x**2, two), 0),
    "by an expression": lambda: Equation(Partial(x**4 + 0 * y, x**2), 2 * x**2),
    "by a plain symbol": lambda: Equation(Partial(x * sp.Symbol("o"), sp.Symbol("o")), x),
    "by an entry after the last": lambda: Equation(derivative(total(l, a[l]), a[m + 1]), 0),
    "by a vector": lambda: Equation(Partial(total(l, a[l] ** 2), a), 2 * total(l, a[l])),
    "a kink inside a sum": lambda: wherever(derivative(total(l, sp.Abs(a[l] - x)), x)),
    "a square root of a square": lambda: Equation(derivative(sp.sqrt((x - w) ** 2), x), (x - w) / sp.Abs(x - w)),
}

only, pair = index("j", one), index("j", two)
second = index("k", two, other_than=(pair,))

NOTHING: Table = {
    "D4: k ≠ j in a range of one": lambda: Equation(
        vector("a", one)[index("k", one, other_than=(only,))] * delta(only, index("k", one, other_than=(only,))), 0
    ),
    "D4: three different indices of two": lambda: AtLeast(
        vector("b", two, kind=Positive)[index("e", two, other_than=(pair, second))],
        1,
        because=delta(pair, index("e", two, other_than=(pair, second))),
    ),
    "a plan onto no columns": lambda: Equation(total(j, stochastic("S", m, m - m)[j, 1]), m),
    "a simplex of length 0": lambda: Equation(2 * (simplex("o", sp.S.Zero)[1] + x), 2 * x + 2 * simplex("o", sp.S.Zero)[1]),
    "a vector of negative length": lambda: wherever(vector("o", -m)[1]),
    "a vector of half a length": lambda: wherever(vector("o", sp.Rational(1, 2))[1]),
    "a vector of real length": lambda: wherever(vector("o", y)[1]),
    "an index without a range": lambda: wherever(a[Variable("e", Index())]),
    "an index over another vector's range": lambda: wherever(a[Variable("e", Index((n,)))]),
    "an index that differs from what is no index": lambda: wherever(a[index("e", m, other_than=(x,))]),
    "an index that differs from one over another range": lambda: wherever(a[index("e", m, other_than=(i,))]),
    "a statement about no variable, from a false because": lambda: AtLeast(0, 1, because=total(l, r[l]) - 2),
}

ATTACKS = {
    **{f"divided {name}" if name.startswith("by ") else name: row for name, row in DENOMINATORS.items()},
    **LOGS,
    **POWERS,
    **{f"derivative {name}": row for name, row in DERIVATIVES.items()},
    **NOTHING,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


def test_no_attack_hides_another() -> None:
    assert len(ATTACKS) == sum(map(len, (DENOMINATORS, LOGS, POWERS, DERIVATIVES, NOTHING)))
