"""Each rule of signs separately: a case that it decides, and one just beyond it (notation of `grammar`)."""

import pytest
import sympy as sp

from derivations.calculus.functions import is_delta, kl, pinsker, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.screening import Facts
from derivations.calculus.signs import _expanded, nonnegative, nonzero, strictly_positive
from derivations.calculus.sums import delta, normal, total
from derivations.calculus.variables import index, positive, scalar, stochastic
from tests.derivations.calculus.grammar import P, R, S, a, b, h, i, j, k, l, m, n, q, x, y, z

v, t = scalar("v"), positive("t")
RR = stochastic("RR", m, m)
one, two = sp.S.One, sp.Integer(2)
squares = sp.Add(*[sp.Indexed(a, number) ** 2 for number in range(1, 8)])  # more terms than bounds are tried for

# > 0; at best ≥ 0; neither
SIGNS: dict[str, tuple[dict[str, sp.Expr], tuple[bool, bool]]] = {
    "> 0": (
        {
            "a number": sp.Rational(1, 3),
            "a constant": sp.E - two,
            "one of two terms": x**2 + y,
            "two negative factors": -total(l, b[l]) * (-y - z[j]),
            "a negative sum": -total(l, -b[l]),
            "a negative sum, squared": total(l, -b[l]) ** 2,
            "a negative log": -sp.log(1 / (1 + y)),
            "log of more than 1": sp.log(1 + y + z[j]),
            "a real power": (y + z[j]) ** x,
            "an odd power": (y + z[j]) ** 3,
            "an even power of a negative sum": (-y - z[j]) ** 2,
            "a negative even power": x**-2,
            "the modulus of what is not 0": sp.Abs(-y - z[j]),
            "the modulus of a product": sp.Abs(y * sp.exp(x)),
            "the positive part of a positive sum": plus(y + z[j]),
            "xlogx above 1": xlogx(1 + y),
            "masses weigh": total(l, q[l] * b[l]),
            "a root of masses": total(l, sp.sqrt(q[l])),
            "a square of masses": total(l, q[l] ** 2),
            "masses of pairs": total((i, j), S[i, j] * b[j]),
            "a row of weights": total(h, R[j, h] * y),
            "a plan": total((j, h), P[j, h] * b[j]),
            "a plan, the other way round": total((h, j), P[j, h] * b[j]),
            "one less a mass and more": two - q[j],
            "a size": m + n - one,
            "sizes and a number": 2 * m + n - two,
            "an index and a size": j + m - one,
            "an index": 2 * j - one,
            "a size less an index": m - j + one,
            "a sum from 1": total(l, one),
            "the others, and j": total(k, b[k]) + y,
            "exp of anything": sp.exp(a[j]),
            "a sum of numbers": total(index("three", sp.Integer(3)), sp.exp(index("three", sp.Integer(3)))),
            "a share": 1 - y**2 / (y**2 + t),
        },
        (True, True),
    ),
    "≥ 0": (
        {
            "zero": sp.S.Zero,
            "a square": (x + v) ** 2,
            "a fourth power of a sum": total(l, a[l]) ** 4,
            "two factors ≤ 0": -z[j] * (-z[i] - x**2) + 0 * y,
            "delta": delta(i, j),
            "one less delta": y * (1 - delta(i, j)),
            "log of 1 and more": sp.log(1 + z[j]),
            "xlogx of 1 and more": xlogx(1 + z[j]),
            "minus xlogx of a mass": -xlogx(q[j]),
            "minus xlogx of a mass, times a positive": -xlogx(q[j]) * y,
            "a positive part": plus(x),
            "the positive part of what may be 0": plus(z[j] + x**2),
            "a modulus": sp.Abs(x + y),
            "kl": kl(z[j], y + z[i]),
            "pinsker": pinsker(z[j], y),
            "a divergence": bregman(z[j], z[i], two),
            "a divergence of another exponent": bregman(z[j], z[i], 1 + y),
            "masses of a diagonal": total(l, RR[l, l]),
            "masses of one axis of pairs": total(l, S[l, j]),
            "masses of the others": total(k, q[k]),
            "masses at one place": total(l, q[j] * b[l]),
            "masses times what may be 0": total(l, q[l] * z[l]),
            "masses of a plan's row": total(h, P[j, h]),
            "masses to an index": sp.sqrt(z[j]),
            "a sum that may be empty": sp.Sum(b[l], (l, 2, m)),
            "one less a mass": 1 - q[j],
            "one less a product of masses": 1 - q[i] * q[j],
            "one less a weight": 1 - R[j, h],
            "one less a plan's entry": 1 - P[j, h],
            "twice, less two masses": two - q[i] - q[j],
            "a size less 1": m - one,
            "a size less an index": m - j,
            "an index less 1": j - one,
            "sizes and an index": m + n - j - one,
            "a product of sizes": m * n - m,
            "a root": sp.sqrt(z[j]),
            "an odd power of what may be 0": z[j] ** 3,
            "sums over one range": normal(total(l, sp.exp(a[l])) - total(l, a[l]) - m),
            "seven less so many masses": 7 - sp.Add(*[sp.Indexed(q, number) for number in range(1, 8)]),
            "weights that may all be 0": total(l, z[l] * b[l]),
            "masses of one of two columns": sp.Sum(S[i, j], (i, 1, m), (j, 1, 1)),
            "the first mass": sp.Sum(q[l], (l, 1, 1)),
            "two sums of which one may be empty": sp.Sum(b[l], (l, 2, m), (i, 1, m)),
            "one less a part": 1 - 1 / m,
            "as many terms as bounds are tried for": plus(x)
            - x
            + sp.Add(*[sp.Indexed(a, number) ** 2 for number in range(1, 5)]),
        },
        (True, False),
    ),
    "neither": (
        {
            "a real": x,
            "a negative number": -one,
            "a negative positive": -y,
            "one negative factor": -total(l, b[l]) * y,
            "three negative factors": total(l, -b[l]) * (-y - z[j]) * (-t - z[i]),
            "a factor of no sign": x * y,
            "an odd power": (x + v) ** 3,
            "a power whose parity is open": x**m,
            "a negative odd power": x**-3,
            "log of a positive": sp.log(y),
            "log of a mass": sp.log(q[j] + y),
            "minus log of more than 1": -sp.log(1 + y),
            "xlogx of a mass": xlogx(q[j]),
            "minus xlogx of 1 and more": -xlogx(1 + z[j]),
            "kl from what may be 0": kl(y, z[j]),
            "kl of a real": kl(x, y),
            "a divergence of exponent 1": bregman(z[j], z[i], one),
            "a divergence of a smaller exponent": bregman(z[j], z[i], y),
            "a divergence of a real": bregman(x, z[i], two),
            "a divergence against a real": bregman(z[i], x, two),
            "one less a mass from a vector": 1 - b[j],
            "one less two masses": 1 - q[i] - q[j],
            "one less a mass times more": 1 - y * q[j],
            "a mass less one": q[j] - one,
            "a sum of no sign": total(l, a[l]),
            "a size less 2": m - two,
            "a size less another": m - n,
            "an index less a size": j - m,
            "an index less another": j - l,
            "a size less twice an index": m - 2 * j,
            "an index over another size": m - h,
            "one less delta, twice": 1 - 2 * delta(i, j),
            "x − 1": x - one,
            "the square of a mass less the mass": q[j] ** 2 - q[j],
            "an index less its square": 3 * j - j**2,
            "a size less its square": 3 * m - m**2,
            "two sums over one range": normal(total(l, a[l]) + total(l, a[l] ** 3)),
            "a power that may be imaginary": (y + z[j]) ** sp.sqrt(x),
            "a share of what may be 0": 1 - z[j] / (z[j] + z[i]),
            "1 − x": 1 - x,
        },
        (False, False),
    ),
}


@pytest.mark.parametrize(("sort", "name"), [(sort, name) for sort, (rows, _) in SIGNS.items() for name in rows])
def test_sign(sort: str, name: str) -> None:
    rows, expected = SIGNS[sort]
    assert (nonnegative(rows[name]), strictly_positive(rows[name])) == expected


NONZERO = {
    "a product": x**-1 * y * -total(l, b[l]),
    "a negative": -y - z[j],
    "a power": (-y - z[j]) ** 3,
    "an exponential": sp.exp(x),
    "a positive": y + x**2,
    "a real power": (y + z[j]) ** x,
}
MAY_VANISH = {"a factor": x * y, "a power": x**2, "a real": x, "a difference": y - t, "a modulus": sp.Abs(x), "zero": sp.S.Zero}


@pytest.mark.parametrize("name", NONZERO)
def test_expressions_that_do_not_vanish(name: str) -> None:
    assert nonzero(NONZERO[name]) is (name != "a product")  # x⁻¹ has a value only where x ≠ 0, which is another condition


def test_numbers_are_expressions() -> None:
    assert nonzero(3) and nonnegative(3) and strictly_positive(3)  # noqa: PT018
    assert not nonzero(0)


@pytest.mark.parametrize("name", MAY_VANISH)
def test_expressions_that_may_vanish(name: str) -> None:
    assert not nonzero(MAY_VANISH[name])


AT_LEAST, ABOVE, APART = False, True, None
# an expression, facts about it, and whether it is then ≥ 0, > 0 and ≠ 0
GIVEN: dict[str, tuple[sp.Expr, Facts, tuple[bool, bool, bool]]] = {
    "nothing": (x, (), (False, False, False)),
    "itself ≥ 0": (x, ((x, AT_LEAST),), (True, False, False)),
    "itself > 0": (x, ((x, ABOVE),), (True, True, True)),
    "itself ≠ 0": (x, ((x, APART),), (False, False, True)),
    "its opposite > 0": (-x, ((x, ABOVE),), (False, False, True)),
    "its opposite ≠ 0": (-x, ((x, APART),), (False, False, True)),
    "its opposite ≥ 0": (-x, ((x, AT_LEAST),), (False, False, False)),
    "a difference ≠ 0": (x - v, ((v - x, APART),), (False, False, True)),
    "a difference ≥ 0": (x - v, ((x - v, AT_LEAST),), (True, False, False)),
    "a difference > 0": (x - v, ((x - v, ABOVE),), (True, True, True)),
    "a difference > 0 and a square": (x - v + a[j] ** 2, ((x - v, ABOVE),), (True, True, True)),
    "a difference ≥ 0 and a positive": (x - v + y, ((x - v, AT_LEAST),), (True, True, True)),
    "a difference ≥ 0 and a square": (x - v + a[j] ** 2, ((x - v, AT_LEAST),), (True, False, False)),
    "a difference ≥ 0 and a negative": (x - v - y, ((x - v, AT_LEAST),), (False, False, False)),
    "a difference ≠ 0 and a positive": (x - v + y, ((x - v, APART),), (False, False, False)),
    "a larger number": (x - 1, ((x - 2, AT_LEAST),), (True, True, True)),
    "a smaller number": (x - 2, ((x - 1, AT_LEAST),), (False, False, False)),
    "a smaller number, > 0": (x - 2, ((x - 1, ABOVE),), (False, False, False)),
    "two facts": (x + v, ((x, AT_LEAST), (v, ABOVE)), (True, True, True)),
    "two facts ≥ 0": (x + v, ((x, AT_LEAST), (v, AT_LEAST)), (True, False, False)),
    "twice a fact": (2 * x - 2 * v, ((x - v, AT_LEAST),), (True, False, False)),
    "a product multiplied out": (x * v - x, ((x * (v - 1), AT_LEAST),), (True, False, False)),
    "a factor": (x * y, ((x, AT_LEAST),), (True, False, False)),
    "a factor > 0": (x * y, ((x, ABOVE),), (True, True, True)),
    "two factors < 0": (x * v, ((-x, ABOVE), (-v, ABOVE)), (False, False, True)),
    "a summand": (total(l, a[l]), ((a[l], AT_LEAST),), (False, False, False)),
    "another variable": (x, ((v, ABOVE),), (False, False, False)),
    "a divergence of what is known": (kl(x, v), ((x, AT_LEAST), (v, ABOVE)), (True, False, False)),
    "a divergence of what may be 0": (kl(x, v), ((x, AT_LEAST), (v, AT_LEAST)), (False, False, False)),
    "a divergence whose exponent is known": (bregman(z[j], z[i], x), ((x - 1, ABOVE),), (True, False, False)),
    "a divergence whose exponent may be 1": (bregman(z[j], z[i], x), ((x - 1, AT_LEAST),), (False, False, False)),
    "a log": (sp.log(x), ((x - 1, ABOVE),), (True, True, True)),
    "a log of what may be 1": (sp.log(x), ((x - 1, AT_LEAST),), (True, False, False)),
    "minus a log": (-sp.log(x), ((1 - x, AT_LEAST),), (True, False, False)),
    "minus a log, > 0": (-sp.log(x), ((1 - x, ABOVE),), (True, True, True)),
    "minus xlogx": (-xlogx(x), ((1 - x, ABOVE),), (True, False, False)),
    "a power of what is not 0": (x**2, ((x, APART),), (True, True, True)),
    "the modulus of what is not 0": (sp.Abs(x), ((x, APART),), (True, True, True)),
    "a root": (sp.sqrt(x), ((x, ABOVE),), (True, True, True)),
    "a positive part": (plus(x), ((x, AT_LEAST),), (True, False, False)),
    "a positive part of what is > 0": (plus(x), ((x, ABOVE),), (True, True, True)),
    "xlogx": (xlogx(x), ((x - 1, ABOVE),), (True, True, True)),
    "xlogx of what may be 1": (xlogx(x), ((x - 1, AT_LEAST),), (True, False, False)),
    "xlogx of what may be less": (xlogx(x), ((x - sp.Rational(1, 2), AT_LEAST),), (False, False, False)),
    "minus xlogx of what may be more": (-xlogx(x), ((sp.Rational(3, 2) - x, AT_LEAST),), (False, False, False)),
    "minus a log of what may be more": (-sp.log(x), ((sp.Rational(3, 2) - x, AT_LEAST),), (False, False, False)),
    "a number more": (x, ((x - 1, AT_LEAST),), (True, True, True)),
    "half a number more": (x, ((x - sp.Rational(1, 2), AT_LEAST),), (True, True, True)),
    "what multiplies out to a fact": (x * v, ((x * (v + 1) - x, AT_LEAST),), (True, False, False)),
    "a difference and many squares": (x - v + squares, ((x - v, AT_LEAST),), (True, False, False)),
    "a difference > 0 and many squares": (x - v + squares, ((x - v, ABOVE),), (True, True, True)),
}


@pytest.mark.parametrize("name", GIVEN)
def test_sign_by_facts(name: str) -> None:
    expr, known, expected = GIVEN[name]
    facts = tuple((fact, sense, ()) for fact, sense in known)
    assert (nonnegative(expr, facts), strictly_positive(expr, facts), nonzero(expr, facts)) == expected


def test_deltas_and_their_complements_are_recognized() -> None:
    assert is_delta(delta(i, j))
    assert is_delta(1 - delta(i, j))
    others = (2 - delta(i, j), 1 + delta(i, j), 1 - 2 * delta(i, j), 1 - x, x, 1 - x * delta(i, j), -delta(i, j))
    assert not any(map(is_delta, others))


@pytest.mark.parametrize(
    "expr",
    [
        x * (y + z[j]) ** 2 / (x + y),
        total(l, b[l] * (x + y)) * (1 + x),
        sp.exp(x * (1 + y)) * (x - y) * total(l, sp.exp(x + b[l])),
        (x + y) ** -2 / (1 + x) - plus(x * (y - 1)) * (1 + x) ** 3,
        sp.log(total(l, b[l] * (x + 1))) * sp.exp(-x - y) / y,
    ],
    ids=str,
)
def test_expanding_part_by_part_is_expanding(expr: sp.Expr) -> None:
    """The sum of the cached expansions equals SymPy's own expansion."""
    assert _expanded(expr) == sp.expand(expr)
