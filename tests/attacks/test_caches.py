"""Cache keys that different objects share: 1 and True, equal hashes, functions that change, and a claim's entry in a
ledger after its derivation has changed."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from click.testing import CliRunner

from derivations.__main__ import main
from derivations.calculus import balls, quick
from derivations.calculus.admission import NotAdmittedError
from derivations.calculus.balls import Sample, enclose, enclose_all
from derivations.calculus.functions import derivative
from derivations.calculus.points import points
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, equal, normal, total
from derivations.calculus.variables import Variable, Vector, apart, index, positive, scalar, size, vector
from derivations.domains import Domain, Nonnegative, Positive, Random, Real
from derivations.judge.mutants import Fate, Mutant, fate
from derivations.ledger import incremental, ledger
from derivations.ledger.rows import settle
from derivations.records.claims import SUPPORTING_VERDICTS
from derivations.records.documents import VARIABLE
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Expansion, Relation, Solves, UniqueMinimum
from tests.attacks import refused
from tests.attacks.entries import HONEST, entry, verdict_on
from tests.attacks.vocabulary import a, b, h, j, k, l, m, s, t, u, w, x, y

g = vector("g", m)


class EqualToAll:
    """A map that equals every other map."""

    def __init__(self, value: Callable[[sp.Expr], sp.Expr]) -> None:
        self.value = value

    def __call__(self, entries: Any) -> Callable[[sp.Expr], sp.Expr]:
        return self.value

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def solution_is(claimed: sp.Expr, map_: Any, order: int = 1) -> Expansion:
    return Expansion(g[j], claimed, t, order, where=(Solves(g, map_),))


def test_a_map_that_changes_after_its_expansion() -> None:
    """The map is v = t a at first and v = t s later: the statement keeps the map that was expanded first."""
    current = [a]

    def map_(entries: Any) -> Callable[[sp.Expr], sp.Expr]:
        return lambda key: current[0][key]

    assert solution_is(t * a[j], map_).prove()
    current[0] = s
    assert refused(lambda: solution_is(t * a[j], map_))


def test_a_map_that_changes_from_order_to_order() -> None:
    """The map is v = t a (1 + Σ v) at first and v = t a later; a relation keeps its first map."""
    answers = count()

    def map_(entries: Any) -> Callable[[sp.Expr], sp.Expr]:
        factor = 1 + total(l, entries(l)) if next(answers) == 0 else sp.S.One
        return lambda key: a[key] * factor

    assert refused(lambda: solution_is(t * a[j], map_, order=2))


def test_an_expansion_with_equality_overridden() -> None:
    class Twin(Expansion):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(honest)

    honest = Expansion(sp.exp(t), 1 + t, t, 1)
    assert honest.prove()
    false = Twin(sp.exp(2 * t), 1 + t, t, 1)
    assert refused(lambda: false) or verdict_on(entry(false)).verdict not in SUPPORTING_VERDICTS


class Derivation:
    """A derivation that compares equal to the honest one."""

    def __init__(self, *steps: Relation) -> None:
        self.steps = steps

    def __call__(self) -> Iterator[Relation]:
        yield from self.steps

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def test_a_derivation_with_equality_overridden() -> None:
    honest, hostile = entry(HONEST), entry(HONEST)
    honest.derivation, hostile.derivation = Derivation(HONEST), Derivation(Equation((x + 1) ** 2, x**2 + 1))
    first, second = verdict_on(honest), verdict_on(hostile)
    printed = hostile.printed()
    assert second.verdict not in SUPPORTING_VERDICTS or (printed is not None and printed.prove())
    assert first.verdict in SUPPORTING_VERDICTS or first.reason


def test_a_twin_with_equality_overridden() -> None:
    class Twin:
        def __init__(self, relation: Relation) -> None:
            self.relation = relation

        def __call__(self) -> Relation:
            return self.relation

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    wrong = [Equation((x + 1) ** 2, x**2), Equation((x + 1) ** 2, 2 * x)]
    honest = entry(HONEST, twins={"a": Twin(wrong[0]), "b": Twin(wrong[1])})
    hostile = entry(HONEST, twins={"a": Twin(wrong[0]), "b": Twin(HONEST)})
    assert verdict_on(honest).verdict in SUPPORTING_VERDICTS
    assert verdict_on(hostile).verdict not in SUPPORTING_VERDICTS


NUMBERS = {
    "1 and true": (sp.Integer(1), True),
    "1 and 1.0": (sp.Integer(1), sp.Float(1)),
    "1 and Python's 1.0": (sp.Integer(1), 1.0),
    "0 and false": (sp.Integer(0), False),
    "½ and 0.5": (sp.Rational(1, 2), sp.Float("0.5")),
    "2x and 2.0x": (2 * x, sp.Float(2) * x),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_equal_to_numbers_of_another_type(name: str) -> None:
    exact, other = NUMBERS[name]
    assert normal(exact) == exact
    assert refused(lambda: Equation(other + y - y if not isinstance(other, bool) else other, exact))
    assert refused(lambda: AtLeast(other, exact))
    assert normal(exact) == exact


TWO_MEANINGS: dict[str, tuple[sp.Expr, sp.Expr]] = {
    "a real and a positive scalar": (sp.Abs(x), sp.Abs(positive("x"))),
    "a vector and a positive vector": (sp.Abs(a[j]), sp.Abs(vector("a", m, kind=Positive)[j])),
    "k ≠ j and k": (delta(j, k), delta(j, index("k", m))),
    "an index over m and one over n": (total(j, 1), total(index("j", size("n")), 1)),
    "a size and a scalar": (m, positive("m")),
    "a point of a simplex and a vector": (total(l, u[l]), total(l, vector("u", m)[l])),
    "an open and a closed simplex": (sp.Abs(u[j]), sp.Abs(Variable("u", Real()))),
    "a bound and a free index": (total(l, a[l]), m * a[l]),
    "a derivative and another one": (derivative(a[j] ** 2, a[j]), derivative(a[j] ** 2, a[l])),
}


@pytest.mark.parametrize("name", TWO_MEANINGS)
def test_one_name_and_two_meanings(name: str) -> None:
    """The cache of one meaning is not used for the other, in either order."""
    one, other = TWO_MEANINGS[name]
    assert normal(one) != normal(other)
    assert not equal(one, other)
    assert not equal(other, one)


def test_a_problem_that_changes_after_its_proof() -> None:
    """A relation does not change after its proof."""
    current = [u]
    relation = UniqueMinimum(
        lambda p: total(l, p(l) ** 2) / 2 - total(l, p(l) * current[0][l]), lambda key: u[key], m, sp.S.One, sp.Integer(2)
    )
    proved, shown = relation.prove(), str(relation)
    current[0] = s
    assert relation.prove() == proved
    assert str(relation) == shown


def test_a_point_that_is_remembered() -> None:
    """The same relation with other points is refuted at those points."""
    lie = Equation(x * w, x)
    assert lie.fails_at({x: 1, w: 2}) is not None
    assert lie.fails_at({x: 1, w: 1}) is None
    assert lie.fails_at({x: 0, w: 2}) is None
    sums_ = Equation(total(l, a[l]), total(h, a[h] ** 2))
    assert sums_.fails_at({m: 2, a.label: [1, 2]}) is not None
    assert sums_.fails_at({m: 2, a.label: [1, 1]}) is None
    assert sums_.fails_at({m: 1, a.label: [2]}) is not None


def test_cached_sums_at_a_point() -> None:
    """A cached Σ_l depends on the free indices of its body and limits, and on bound scalars in scope."""
    inner = sp.Sum(b[l], (l, 1, j))
    lie = Equation(total(j, sp.Sum(b[l], (l, 1, j))), m * inner)
    assert lie.fails_at({m: 2, b.label: [1, 1], j: 1}) is not None
    assert lie.fails_at({m: 2, b.label: [1, 1], j: 2}) is not None
    same = Equation(sp.Sum(b[l], (l, j, m)) + sp.Sum(b[l], (l, 1, j)), total(l, b[l]) + b[j])
    assert all(same.fails_at({m: 3, b.label: [1, 2, 5], j: value}) is None for value in (1, 2, 3))


def test_callers_cannot_change_cached_free_symbols() -> None:
    """Each caller gets a new set."""
    body = total(l, a[l] * x)
    before = set(body.free_symbols)
    body.free_symbols.clear()
    assert body.free_symbols == before
    assert {x, m, a.label} <= before


def test_free_symbols_agree_with_sympy() -> None:
    """A name that is bound in one sum is free in another, and in the ends of limits."""
    nested = sp.Sum(sp.Sum(b[l] * x, (l, 1, j)), (j, 1, m))
    for expr in (
        sp.Sum(a[l], (j, 1, m)),
        sp.Sum(a[l], (l, 1, m)),
        sp.Sum(a[l], (l, 1, l)),
        nested * l,
        total(l, nested),
        sp.Sum(a[j] * b[l], (j, 1, l), (l, j, m)),
        sp.Sum(l, (l, 1, x)),
        sp.Sum(0 * l, (l, 1, x)),
    ):
        for part in expr.atoms(sp.Sum):
            assert part.free_symbols == quick.OF_SYMPY(part)


def test_sums_agree_with_sympy() -> None:
    """Cases are moved out of a sum, nested sums are merged, and the ends 1.0 and True differ from 1."""
    n, plain = size("n"), sp.Symbol("l")
    inner = sp.Sum(a[l] * x, (l, 1, m))
    cases = sp.Piecewise((a[l], x > 0), (b[l], True))
    for body, *limits in (
        (a[l] * x, (l, 1, m)),
        (inner, (j, 1, m)),
        (a[l] * inner, (l, 1, m)),
        (cases, (l, 1, m)),
        (2 * cases + a[j], (j, 1, m)),
        (cases * a[j], (l, 1, m), (j, 1, l)),
        (a[l], (l, 1.0, m)),
        (a[l], (l, sp.true, m)),
        (a[l], sp.Tuple(l, 1, m)),
        (a[l], [l, 1, m]),
        (sp.nan, (l, 1, m)),
        (3, (l, 1, m)),
        (sp.S(3), (l, 1, m)),
        (a[l], (l, 1, n + 1)),
        (plain, (plain, 1, m)),
        (sp.Sum(inner, (k, 1, n)), (j, 1, m)),
    ):
        for _ in range(2):  # and for cached sums
            made, expected = sp.Sum(body, *limits), quick.NEW_SUM(sp.Sum, body, *limits)
            assert sp.srepr(made) == sp.srepr(expected)
            assert made == expected
            assert made.is_commutative == expected.is_commutative


def test_cached_entries() -> None:
    """An entry is a unique object; an equal label of another vector, or an equal index of another type, gives another entry."""
    assert a[j] is a[j]
    longer = Vector(a.label, shape=(m + 1,))
    assert longer[j].base.shape == (m + 1,) != a[j].base.shape
    assert sp.srepr(a[1]) == sp.srepr(quick.NEW_ENTRY(sp.Indexed, a, 1)) != sp.srepr(a[1.0])
    assert type(sp.Indexed(a, j)) is sp.Indexed
    made = sp.Symbol.__xnew__(Variable, "j", integer=True)
    made._domain = j.domain
    assert made != j
    assert a[made] is not a[j]
    assert refused(lambda: Equation(a[made] - a[j], 0))


def test_multiples_of_i_agree_with_sympy() -> None:
    for expr in (
        sp.I * sp.pi * x,
        2 * sp.pi * sp.I,
        x * a[j],
        sp.pi * x,
        sp.S.Zero,
        sp.I,
        x + sp.I,
        sp.exp(sp.I * x) * sp.I,
        sp.Pow(sp.I * x, 2, evaluate=False),
        total(l, a[l] * sp.I),
        x,
    ):
        for unit in (sp.I, sp.pi * sp.I, sp.pi, x):
            assert expr.as_coefficient(unit) == quick.AS_COEFFICIENT(expr, unit)


def test_cached_names_of_bound_indices() -> None:
    """A sum with canonical names is unchanged; a sum with an author's names gets canonical ones in every call."""
    written, own = sp.Sum(a[l], (l, 1, m)), total(l, a[l])
    assert apart(own * x) == own * x
    assert l not in (first := apart(written)).bound_symbols
    assert first.bound_symbols != apart(written).bound_symbols
    quotient = sp.Mul(own, 1 / own, evaluate=False)
    assert apart(quotient) == apart(quotient) == 1


@pytest.mark.parametrize("first", [Real, Positive])
def test_assumptions_of_vectors_with_one_name(first: type[Domain]) -> None:
    """Assumptions of one vector's entries are not applied to another's, nor an author's assumptions about a single entry."""
    kinds = [first, *({Real, Positive, Nonnegative} - {first})]
    entries_of = {kind: vector("remembered", m, kind=kind)[j] for kind in kinds}
    entries_of[first]._assumptions["zero"] = True
    again = {kind: vector("remembered", m, kind=kind)[k] for kind in kinds}
    assert [again[kind].is_positive for kind in (Real, Positive, Nonnegative)] == [None, True, None]
    assert not any(entry.is_zero for entry in again.values())


def test_hints_that_change_after_a_search() -> None:
    """The fate of a mutant is cached by the values of the hints, not by the list object that held them."""
    statement, wrong = Equation(x, x), x + plus(x - 10**9)
    mutant = Mutant("wrong from 10⁹ on", Equation(x, wrong), wrong)
    values: dict[Any, Any] = {x: 0}
    assert fate(statement, mutant, [values]).fate is Fate.UNDECIDED
    values[x] = 10**10
    assert fate(statement, mutant, [values]).fate is Fate.REFUTED


def test_sums_that_two_sides_share() -> None:
    """A cached value is shared by both sides at one point, and not between points."""
    one, other = total(l, a[l] * x), total(l, a[l] * x) ** 2 + sp.exp(total(l, a[l]))
    for values in ([1, 2], [3, 5]):
        point = {m: 2, a.label: values, x: 7}
        for side, together in zip((one, other), enclose_all((one, other), point), strict=True):
            enclosure = enclose(side, point)
            assert (enclosure.mid(), enclosure.rad()) == (together.mid(), together.rad())


def test_a_sample_at_values_equal_to_values_of_another_type() -> None:
    """1 differs from True, 1.0 is not exact, and a modified list gives other points."""
    assert {point[x] for point in points([x], {x: 1})} == {1}
    for other in (True, 1.0, sp.true, sp.Float(1)):
        with pytest.raises(NotAdmittedError):
            list(points([x], {x: other}))
    values = [Fraction(1), Fraction(2)]
    first = list(points([m, a.label], {a.label: values}))
    values[0] = Fraction(3)
    assert all(point[a.label] == [1, 2] for point in first)
    assert all(point[a.label] == [3, 2] for point in points([m, a.label], {a.label: values}))


def test_a_sample_that_cannot_be_drawn() -> None:
    """The error is raised on every call, and the second call does not return an empty sample."""
    random = vector("ξ", m, kind=Random)
    for _ in range(2):
        with pytest.raises(ValueError, match="take the expectation first"):
            list(points([m, random.label]))


def test_a_sample_is_the_same_each_time() -> None:
    names = [m, a.label, j]
    begun = points(names)
    next(begun)
    assert list(points(names)) == list(points(names)) == [next(points(names)), *begun]


def test_evaluation_after_an_error_at_the_same_point() -> None:
    """After an interrupted sum its index has no value outside of the sum."""
    point = Sample({m: 2, b.label: [3, 5]})
    with pytest.raises(ValueError, match="expected a function of the calculus"):
        enclose(sp.Sum(b[l] * sp.Function("f")(l), (l, 1, m)), point)
    with pytest.raises(KeyError):
        enclose(b[l], point)
    assert enclose(total(l, b[l]), point) == 8


def test_the_cache_of_a_sample_point_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balls, "MOST_KNOWN", 3)
    point = Sample({m: 2, b.label: [3, 5], x: 2})
    for power in range(1, 20):
        assert enclose(total(l, b[l] ** power * x), point) == 2 * (3**power + 5**power)
        assert all(len(evaluation.known) <= 3 + 2 for evaluation in point.evaluations())


def test_a_map_with_equality_overridden() -> None:
    solution_is(t * a[j], EqualToAll(lambda key: a[key])).prove()  # which may be remembered
    assert refused(lambda: solution_is(t * a[j], EqualToAll(lambda key: s[key])))


def test_scalars_that_are_not_interned() -> None:
    assert scalar("x") == x
    assert positive("x") != x
    assert hash(scalar("x")) == hash(x)


# ── ledgers and their sources ───────────────────────────────────────────────────────────────────────────────────────

ID = "eot.59"
Edit = Callable[[dict[str, Any]], object]


def current_ledger() -> dict[str, Any]:
    """The ledger of one claim as `verify` writes it for the present sources."""
    entry, voters = entries()[ID], ["evidence.eot.section5_gradient", "derivations.test_derivations"]
    rows = ledger.build([examine(entry).evidence], [ID], {})["claims"]
    resting = {"voters": voters, "sources": sorted({*voters, *entry.modules}), "complete": True}
    return ledger.assemble([{**row, **resting} for row in rows], {}) | {"files": dict(incremental.project().hashes)}


def messages_about(rows_ledger: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The output of `list` and `show` for the claim."""
    monkeypatch.setenv(VARIABLE, "")
    ledger.write(rows_ledger, folder / "ledger.json")
    where = ["--json", str(folder / "ledger.json")]
    listed = CliRunner().invoke(main, ["list", "eot", *where]).output.splitlines()
    return [next(line for line in listed if line.startswith(f"{ID} ")), CliRunner().invoke(main, ["show", ID, *where]).output]


SINCE: dict[str, Edit] = {
    "F12: the derivation": lambda d: d["files"].update({"derivations.documents.eot.section5_gradient": "another"}),
    "F12: a module that the derivation imports": lambda d: d["files"].update({"derivations.documents.eot.notation": "another"}),
    "F12: a rule of the kernel": lambda d: d["files"].update({"derivations.calculus.sums": "another"}),
    "F12: how steps are examined": lambda d: d["files"].update({"derivations.judge.examination": "another"}),
    "F12: a check": lambda d: d["files"].update({"evidence.eot.section5_gradient": "another"}),
    "F12: how votes are counted": lambda d: d["files"].update({"evidence.harness": "another"}),
    "F12: the settings": lambda d: d["files"].update({"pyproject.toml": "another"}),
    "F12: a module that there was not": lambda d: d["files"].pop("derivations.documents.eot.section5_gradient"),
    "F23: nobody knows, for there are no hashes": lambda d: d.pop("files"),
    "F23: nobody knows, for there are no modules": lambda d: d.update(
        claims=settle([{name: value for name, value in row.items() if name != "sources"} for row in d["claims"]])
    ),
}


@pytest.mark.parametrize("name", SINCE)
def test_a_verdict_on_a_changed_derivation_is_shown_as_outdated(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = current_ledger()
    SINCE[name](ledger)
    listed, shown = messages_about(ledger, tmp_path, monkeypatch)
    assert "outdated" in listed
    assert f"run `python -m derivations verify {ID}` again" in shown


def test_control_a_verdict_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, shown = messages_about(current_ledger(), tmp_path, monkeypatch)
    assert listed.split()[:2] == [ID, "proved"]
    assert "verdict    proved" in shown
    assert "outdated" not in listed + shown
