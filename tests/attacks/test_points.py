"""Points outside of a statement's domain that would refute it."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import complementary, coupling, index, positive, vector
from derivations.records import rendering
from derivations.relations import AtLeast, Equation, Expansion, Fails, Follows, Limit, UniqueMinimum, UniquePlan
from tests.attacks import Make, Table
from tests.attacks.entries import entry, verdict_on
from tests.attacks.vocabulary import QQ, RR, P, a, b, i, j, k, l, m, n, one, r, s, t, tau, u, v, w, x, y, z

HALVES = [Fraction(1, 2), Fraction(1, 2)]
slack = complementary("c", r)
pair = index("e", m, other_than=(j, k))
D = coupling("D", r, u)


class Growing(list[Any]):
    """A vector that grows at each access."""

    def __init__(self, *values: Sequence[Any]) -> None:
        super().__init__(values[0])
        self.values, self.reads = values, count()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values[min(next(self.reads) // 3, len(self.values) - 1)])

    def __getitem__(self, index: Any) -> Any:
        return self.values[-1][index]


class Half(Fraction):
    """A fraction whose comparison pretends that it is positive."""

    def __gt__(self, other: object) -> bool:
        return True

    __ge__ = __gt__

    def __lt__(self, other: object) -> bool:
        return False

    __le__ = __lt__


class Fickle(Fraction):
    """A fraction whose numerator changes after the first access."""

    looked = 0

    @property
    def numerator(self) -> int:
        self.looked += 1
        return 1 if self.looked < 4 else -1


class Shifting(dict[Any, Any]):
    """A point whose value changes at each lookup."""

    def __init__(self, key: Any, *values: Any) -> None:
        super().__init__({key: values[0]})
        self.values_, self.looked = values, count()

    def __getitem__(self, key: Any) -> Any:
        return self.values_[min(next(self.looked), len(self.values_) - 1)]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


def positive_sum(at: Any) -> AtLeast:
    return AtLeast(y + z + w**2, z + w**2, strict=True, at=at)


def unit_mass(at: Any) -> Equation:
    return Equation(total(l, r[l] * b[l]) - total(l, r[l] * (b[l] - 1)), 1, at=at)


OUTSIDE: Table = {
    "B2: y = −1 for y > 0": lambda: positive_sum({y: -1}),
    "B2: y = 0 for y > 0": lambda: positive_sum({y: 0}),
    "B2: y = −1 for y > 0, by its sum": lambda: AtLeast(y, 0, at={y: Fraction(-1, 10**9)}),
    "B2: z < 0 for z ≥ 0": lambda: AtLeast(z, 0, at={z: -1}),
    "B2: a positive vector with a 0": lambda: AtLeast(total(l, b[l]), 0, strict=True, at={m: 2, b.label: [0, 0]}),
    "B2: a positive vector with a negative entry": lambda: AtLeast(b[j], 0, at={b.label: [1, -1], j: 2}),
    "B2: mass 2": lambda: unit_mass({m: 2, r.label: [1, 1]}),
    "B2: mass 1 − 10⁻¹²": lambda: unit_mass({m: 2, r.label: [Fraction(1, 2), Fraction(1, 2) - Fraction(1, 10**12)]}),
    "B2: a negative mass": lambda: AtLeast(r[j], 0, at={m: 2, r.label: [2, -1], j: 2}),
    "B2: a mass 0 of an open simplex": lambda: AtLeast(u[j], 0, strict=True, at={m: 2, u.label: [1, 0], j: 2}),
    "B2: a matrix of masses with sum 2": lambda: Equation(
        total((j, l), QQ[j, l]) + x, 1 + x, at={m: 2, QQ.label: [[1, 0], [0, 1]]}
    ),
    "B2: a row with mass 2": lambda: Equation(total(l, RR[j, l]) + x, 1 + x, at={m: 2, RR.label: [[1, 1], [0, 1]]}),
    "B2: columns of mass 1, not rows": lambda: Equation(
        total(l, RR[j, l]) + x, 1 + x, at={m: 2, RR.label: [[Fraction(1, 2), 0], [Fraction(1, 2), 1]]}
    ),
    "B2: a coupling of other marginals": lambda: Equation(
        total(j, P[i, j]) + x,
        v[i] + x,
        at={n: 1, m: 2, v.label: [1], u.label: HALVES, P.label: [[Fraction(1, 4), Fraction(3, 4)]]},
    ),
    "B2: a coupling transposed": lambda: Equation(
        total(l, D[j, l]) + x,
        r[j] + x,
        at={m: 2, r.label: [1, 0], u.label: HALVES, D.label: [[Fraction(1, 2), 0], [Fraction(1, 2), 0]]},
    ),
    "B2: a slack where the plan is positive": lambda: Equation(
        total(l, slack[l] * r[l]) + x, x, at={m: 2, r.label: [1, 0], slack.label: [1, 0]}
    ),
    "B2: a negative slack": lambda: AtLeast(slack[j], 0, at={m: 2, r.label: [1, 0], slack.label: [0, -1], j: 2}),
    "B2: a slack without its plan": lambda: Equation(total(l, slack[l] * r[l]) + x, x, at={m: 2, slack.label: [1, 1]}),
    "B2: size 0": lambda: AtLeast(m, 1, at={m: 0}),
    "B2: size −1": lambda: AtLeast(m, 1, at={m: -1}),
    "B2: half a size": lambda: AtLeast(m, 1, at={m: Fraction(1, 2)}),
    "B2: a true size": lambda: AtLeast(m, 2, at={m: True}),
    "B2: a size that the lengths contradict": lambda: Equation(
        total(l, a[l]) + x, a[1] + a[m] + x, at={m: 2, a.label: [1, 2, 3]}
    ),
    "B2: two lengths of one size": lambda: Equation(
        total(l, a[l] + s[l]), total(l, s[l] + a[l]) + 0 * x, at={a.label: [1, 2, 3], s.label: [1, 2]}
    ),
    "B2: no entries": lambda: AtLeast(total(l, b[l]), 0, strict=True, at={b.label: []}),
    "B2: ragged rows": lambda: Equation(total(l, RR[j, l]) + x, 1 + x, at={m: 2, RR.label: [[1], [0, 1]]}),
    "B2: a flat matrix": lambda: Equation(total(l, RR[j, l]) + x, 1 + x, at={m: 2, RR.label: [1, 0]}),
    "B2: a vector for a scalar": lambda: AtLeast(y, 0, at={y: [-1]}),
    "B2: a scalar for a vector": lambda: AtLeast(total(l, b[l]), 0, at={b.label: -1}),
    "B2: a matrix for a vector": lambda: AtLeast(total(l, b[l]), 0, at={m: 2, b.label: [[1, 1], [1, 1]]}),
    "B2: index 0": lambda: AtLeast(j, 1, at={j: 0}),
    "B2: an index after the last": lambda: AtLeast(m, j, at={m: 2, j: 3}),
    "B2: half an index": lambda: AtLeast(j, 1, at={j: Fraction(1, 2)}),
    "B2: k = j": lambda: Equation(delta(j, k) + x, x, at={m: 2, j: 1, k: 1}),
    "B2: e = k": lambda: Equation(delta(k, pair) + x, x, at={m: 3, j: 1, k: 2, pair: 2}),
}

KEYS: Table = {
    "B2: a variable that is not there": lambda: AtLeast(x, w, at={y: 1}),
    "B2: a variable of the same name": lambda: AtLeast(x, 0, at={positive("x"): 1}),
    "B2: a vector by its base, outside of its domain": lambda: unit_mass({m: 2, r: [1, 1]}),
    "B2: an entry": lambda: AtLeast(a[j], 0, at={a[j]: -1}),
    "B2: a name": lambda: AtLeast(x, 0, at={"x": -1}),
    "B2: a plain symbol": lambda: AtLeast(x, 0, at={sp.Symbol("x"): -1}),
    "B2: an expression": lambda: AtLeast(x**2, 1, at={x**2: 0}),
    "B2: a bound index": lambda: Equation(total(l, a[l]), m, at={l: 1}),
    "B2: a number": lambda: AtLeast(x, 1, at={1: 0}),
    "B2: a size that no vector has": lambda: AtLeast(x, 0, at={m: 2}),
    "B2: what moves in a limit": lambda: Limit(x * t / (t + 1), t, sp.oo, 2 * x, at={t: 1}),
    "B2: what vanishes in an expansion": lambda: Expansion(sp.exp(t * x), 1 + 2 * t * x, t, 1, at={t: 1}),
    "B2: the rival": lambda: UniqueMinimum(
        lambda p: total(l, xlogx(p(l))), lambda key: 1 / m, m, one, at={sp.Symbol("q"): [1]}
    ),
    "B2: the place of an optimum's entry": lambda: UniqueMinimum(
        lambda p: total(l, xlogx(p(l))), lambda key: 1 / m, m, one, at={j: 1}
    ),
}

VALUES: Table = {
    "B2: a float": lambda: AtLeast(y, 1, at={y: 0.1}),
    "B2: not a number": lambda: AtLeast(y, 0, at={y: float("nan")}),
    "B2: infinity": lambda: AtLeast(0, y, at={y: float("inf")}),
    "B2: SymPy's infinity": lambda: AtLeast(0, y, at={y: sp.oo}),
    "B2: SymPy's not a number": lambda: AtLeast(0, y, at={y: sp.nan}),
    "B2: an imaginary number": lambda: AtLeast(x**2, 0, at={x: sp.I}),
    "B2: a complex number": lambda: AtLeast(x**2, 0, at={x: 1j}),
    "B2: a decimal": lambda: AtLeast(y, 1, at={y: Decimal("0.1")}),
    "B2: a text": lambda: AtLeast(y, 1, at={y: "1/2"}),
    "B2: texts as entries": lambda: AtLeast(b[j], 1, at={b.label: "12"}),
    "B2: nothing": lambda: AtLeast(y, 1, at={y: None}),
    "B2: a truth value": lambda: AtLeast(y, 2, at={y: True}),
    "B2: truth values as masses": lambda: AtLeast(r[j], 1, at={m: 2, r.label: [True, False]}),
    "B2: a float in an array": lambda: AtLeast(b[j], 1, at={b.label: np.array([0.1])}),
    "B2: a variable": lambda: AtLeast(y, 1, at={y: x}),
    "B2: a set of masses": lambda: AtLeast(b[j], 2, at={m: 2, b.label: {1, 2}}),
    "B2: a dictionary of masses": lambda: AtLeast(b[j], 2, at={m: 2, b.label: {0: 1, 1: 1}}),
    "B2: a function": lambda: AtLeast(y, 1, at={y: lambda: 1}),
    "a fraction that says it is positive": lambda: AtLeast(y, 0, at={y: Half(-1)}),
    "an entry that says it is positive": lambda: AtLeast(b[j], 0, at={m: 1, b.label: [Half(-1)], j: 1}),
}

NOWHERE: Table = {
    "a coupling without marginals": lambda: Equation(
        total(j, P[i, j]) + x, v[i] + x, at={n: 1, m: 2, P.label: [[Fraction(1, 4), Fraction(3, 4)]], u.label: HALVES}
    ),
    "k ≠ j in a range of one": lambda: Equation(delta(j, k) + x, x + 1, at={m: 1, k: 1}),
}

HELD: Table = {
    "a hypothesis does not hold there": lambda: AtLeast(x * 2, 0, given=(AtLeast(x, 0),), at={x: -1}),
    "a strict hypothesis does not hold there": lambda: AtLeast(
        2 * x, 0, strict=True, given=(AtLeast(x, 0, strict=True),), at={x: 0}
    ),
    "a premise does not hold there": lambda: Follows((AtLeast(x, 0),), AtLeast(2 * x, 0), (sp.Integer(2),), at={x: -1}),
    "a premise's vector does not hold there": lambda: Follows(
        (AtLeast(total(l, a[l]), 0),), AtLeast(total(l, 2 * a[l]), 0), (sp.Integer(2),), at={m: 1, a.label: [-1]}
    ),
}

ILLEGAL = OUTSIDE | KEYS | VALUES


@pytest.mark.parametrize("name", ILLEGAL)
def test_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="at: "):
        ILLEGAL[name]().refute()


@pytest.mark.parametrize("name", ILLEGAL)
def test_disproves_nothing(name: str) -> None:
    assert not disproved(ILLEGAL[name])


@pytest.mark.parametrize("name", HELD | NOWHERE)
def test_refutes_nothing_outside_of_the_domain(name: str) -> None:
    assert not disproved((HELD | NOWHERE)[name])


def disproved(make: Make) -> bool:
    """Whether a statement is accepted as failing at its point."""
    try:
        return Fails(make()).prove() is True
    except ValueError:
        return False


FICKLE: Table = {
    "a vector that grows while it is read": lambda: AtLeast(total(l, b[l]), 0, at={m: 2, b.label: Growing([1, 1], [-1, -1])}),
    "a point that shifts while it is looked up": lambda: AtLeast(y, 0, at=Shifting(y, Fraction(1), Fraction(1), Fraction(-1))),
    "a point that shifts later": lambda: AtLeast(y, 0, at=Shifting(y, *[Fraction(1)] * 9, Fraction(-1))),
    "a fraction that changes its sign": lambda: AtLeast(y, 0, at={y: Fickle(1, 2)}),
    "an entry that changes its sign": lambda: AtLeast(b[j], 0, at={m: 1, b.label: [Fickle(1, 2)]}),
}


@pytest.mark.parametrize("name", FICKLE)
def test_a_changing_point_does_not_refute_a_true_statement(name: str) -> None:
    assert not disproved(FICKLE[name])


@pytest.mark.parametrize("name", ["B2: y = −1 for y > 0", "B2: mass 2", "B2: k = j", "B2: a variable that is not there"])
def test_a_failure_outside_of_the_domain_refutes_no_claim(name: str) -> None:
    judgement = verdict_on(entry(Fails(ILLEGAL[name]())))
    assert judgement.verdict == "open"
    assert "at: " in rendering.cause(judgement.cause)


def test_a_point_that_is_changed_afterwards() -> None:
    """The admitted values count even if the dictionary changes afterwards."""
    at: dict[Any, Any] = {y: Fraction(1)}
    relation = AtLeast(y, 0, at=at)
    assert relation.refute() is None
    at[y] = Fraction(-1)
    assert not disproved(lambda: relation)


FAILING = (AtLeast(y, 1), Equation(total(l, r[l] ** 2), 1), AtLeast(a[j], a[k]))
POINTS: list[dict[Any, Any]] = [
    {y: -1},
    {},
    {y: Fraction(1, 2), x: 0},
    {m: 2, r.label: [1, 1]},
    {m: 2},
    {m: 2, r.label: [Fraction(1, 2)]},
    {m: 2, a.label: [0, 0], j: 1, k: 1},
    {m: 2, a.label: [0, 0], j: 1},
    {m: 2, a.label: [0, 1], j: 1, k: 3},
]


@pytest.mark.parametrize("turn", range(9))
def test_a_full_point_is_checked_too(turn: int) -> None:
    with pytest.raises(ValueError, match="at: "):
        FAILING[turn // 3].fails_at(POINTS[turn])


def test_control_points() -> None:
    assert disproved(lambda: AtLeast(y, 1, at={y: Fraction(1, 2)}))
    assert disproved(lambda: Equation(total(l, r[l] ** 2), 1, at={m: 2, r.label: HALVES}))
    assert disproved(lambda: AtLeast(total(l, kl(r[l], u[l])), tau, at={tau: 10}))
    assert disproved(
        lambda: UniquePlan(lambda p: total((i, j), p(i, j) * vector("S", n, m)[i, j]), lambda x, y: 1 / m, n, m, one)
    )
