"""Questions that the shortcuts answer, and questions that are passed to SymPy."""

from typing import Any

import pytest
import sympy as sp
from sympy.core.assumptions import StdFactKB

from derivations.calculus import quick
from tests.derivations.calculus.grammar import B, a, i, j, l, m, n, x

e = sp.Symbol("e", integer=True)
PLAIN: list[Any] = [(l, 1, m), sp.Tuple(l, 1, m), (i, 1, j), (l, sp.S.One, m), (l, m, 3)]
ODD: list[Any] = [
    l,
    (l,),
    (l, m),
    (l, 1, m, 2),
    [l, 1, m],
    (e, 1, m),
    (l, 1, True),
    (l, 1, "m"),
    (l, 1.0, m),
    (l, "1", m),
    "lmn",
]


@pytest.mark.parametrize("limit", PLAIN, ids=str)
def test_a_plain_limit(limit: Any) -> None:
    assert quick._is_plain(limit)


@pytest.mark.parametrize("limit", ODD, ids=str)
def test_an_odd_limit(limit: Any) -> None:
    assert not quick._is_plain(limit)


class Sum(sp.Sum):  # type: ignore[misc]
    """A subclass of sums."""


LEFT_TO_SYMPY: dict[str, tuple[type[sp.Sum], tuple[Any, ...], dict[str, Any]]] = {
    "an odd limit": (sp.Sum, (x, (e, 1, m)), {}),
    "an odd limit beside a plain one": (sp.Sum, (x, (l, 1, m), (e, 1, m)), {}),
    "a subclass": (Sum, (x, (l, 1, m)), {}),
    "an option": (sp.Sum, (x, (l, 1, m)), {"commutative": False}),
    "a number of Python": (sp.Sum, (1, (l, 1, m)), {}),
    "no number": (sp.Sum, (sp.nan, (l, 1, m)), {}),
    "cases": (sp.Sum, (sp.Piecewise((x, x > 0), (0, True)) + 1, (l, 1, m)), {}),
    "no limit": (sp.Sum, (x,), {}),
}


@pytest.mark.parametrize("name", LEFT_TO_SYMPY)
def test_a_sum_is_passed_to_SymPy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "NEW_SUM", lambda cls, *parts, **options: ("SymPy", cls, parts, options))
    cls, parts, options = LEFT_TO_SYMPY[name]
    assert quick._new_sum(cls, *parts, **options) == ("SymPy", cls, parts, options)


@pytest.mark.parametrize("parts", [(a[l], (l, 1, m)), (B[i, l], (l, 1, m), (i, 1, m)), (x * m, (l, 1, n))], ids=str)
def test_a_sum_is_made_as_SymPy_makes_it(parts: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = quick.NEW_SUM(sp.Sum, *parts)
    monkeypatch.delattr(quick, "NEW_SUM")
    assert quick._new_sum(sp.Sum, *parts) == expected
    nested = quick._new_sum(sp.Sum, quick._new_sum(sp.Sum, *parts), (j, 1, m))
    assert nested.limits == (*expected.limits, sp.Tuple(j, 1, m))
    assert nested.is_commutative is True


def test_free_symbols_of_unusual_sums_are_passed_to_SymPy(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = quick.NEW_SUM(sp.Sum, B[i, l] * x, (l, 1, m), (i, 1, n))
    odd = [quick.NEW_SUM(sp.Sum, x * a[1], (a[1], 1, m)), quick.NEW_SUM(sp.Sum, x * a[l], (l, 1, m), (a[1], 1, 3))]
    expected = [quick.OF_SYMPY(total) for total in odd]
    assert quick._of_sum(plain) == quick.OF_SYMPY(plain)
    assert [quick._of_sum(total) for total in odd] == expected
    monkeypatch.setattr(quick, "OF_SYMPY", lambda total: "SymPy")
    assert quick._of_sum(plain) != "SymPy"
    assert all(quick._of_sum(total) == "SymPy" for total in odd)


def test_each_answer_is_a_new_set() -> None:
    total = sp.Sum(B[i, l], (l, 1, m))
    quick._of_sum(total).add(x)
    assert x not in quick._of_sum(total)


def test_entries_at_numbers_are_passed_to_SymPy() -> None:
    assert B[j, 1] == B[j, sp.S.One]
    assert B[i, j] is B[i, j]
    assert B[i, j] is not B[j, i]
    assert isinstance(B[j, 1].indices[1], sp.Integer)
    assert isinstance(B[j, sp.Float(1)].indices[1], sp.Float)
    assert isinstance(B[j, 1.0].indices[1], sp.Float)


class Entry(sp.Indexed):  # type: ignore[misc]
    """A subclass of entries."""


def test_other_entries_are_passed_to_SymPy() -> None:
    assert type(quick._new_entry(Entry, a, j)) is Entry
    assert quick._new_entry(sp.Indexed, sp.Symbol("plain"), j).args == (sp.IndexedBase("plain"), j)


def test_symbols_commute_unless_declared_otherwise() -> None:
    assert sp.IndexedBase("plain")[j].is_commutative is True
    assert sp.IndexedBase("other", real=True)[j].is_commutative is True
    assumptions: dict[str, Any] = {}
    quick._set_assumptions(entry := quick.NEW_ENTRY(sp.Indexed, sp.IndexedBase("third"), j), assumptions)
    assert assumptions == {"commutative": True}
    assert entry.is_commutative is True


def test_coefficients_of_i() -> None:
    assert quick._as_coefficient(2 * sp.I * x, sp.I) == 2 * x
    assert quick._as_coefficient(2 * x, sp.I) is None
    assert quick._as_coefficient(2 * x, x) == 2
    assert quick._as_coefficient(3 * sp.pi * sp.I, sp.pi * sp.I) == 3
    assert quick._as_coefficient(sp.exp(x) * 3, sp.exp(x)) == 3


PARTS = [sp.Symbol("r"), sp.Symbol("z", nonzero=True, integer=True), x, a[l], sp.exp(a[l])]
EXPRESSIONS = [
    *(one * other for one in PARTS for other in PARTS),
    *(one - 2 * other for one in PARTS for other in PARTS),
    sp.Sum(a[l] ** 2, (l, 1, m)),
    sp.log(x),
    sp.Abs(a[l]) / x,
    m - 1,
    sp.sqrt(x),
    1 / a[l],
    sp.I * x,
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_facts_are_those_that_SymPy_finds(expr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers() -> dict[str, bool | None]:
        found = {}
        for fact in quick.PREREQUISITES:
            expr._assumptions = expr.default_assumptions  # which forgets what it knows
            found[fact] = getattr(expr, f"is_{fact}")
        return found

    own = answers()
    monkeypatch.setattr(quick.ASSUMPTIONS, "_ask", quick.ASK)
    assert answers() == own


def test_nothing_else_is_known_of_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick.ASSUMPTIONS, "_ask", quick.ASK)
    for base in (sp.IndexedBase("plain"), a, sp.IndexedBase("p", positive=True), sp.IndexedBase("k", integer=True)):
        entry = quick.NEW_ENTRY(sp.Indexed, base, j)
        known, entry._assumptions = entry._assumptions, StdFactKB(entry._assumptions.generator)
        assert {fact: getattr(entry, f"is_{fact}") for fact in known} == known
