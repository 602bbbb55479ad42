"""Errors found by independent readers of the examination: verdicts that the evidence does not support."""

from collections.abc import Callable

import pytest
import sympy as sp
from hypothesis import strategies as st

from derivations.calculus.sums import total
from derivations.calculus.variables import positive, vector
from derivations.ledger import baseline, ledger
from derivations.records.claims import SUPPORTING_VERDICTS, Evidence, Kind, Layer, Outcome, Verdict
from derivations.register import catalogue
from derivations.register.claiming import claim, reprint
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Fails,
    Limit,
    Relation,
    StrictUnlessEqual,
    UniqueMinimum,
)
from evidence.harness import Formula, Reading, Vote, compare_rounds, float64
from evidence.registry import confirms
from evidence.rounds import Rounds
from tests.attacks import Table
from tests.attacks.entries import HONEST, entry, verdict_on
from tests.attacks.vocabulary import j, l, m, one, s, t, two, x, y
from tests.registers import register

UNDECIDED = AtLeast(sp.exp(x), 1 + x + x**3 / 6)  # true, and no rule proves it
FALSE = Equation((x + 1) ** 2, x**2 + 1)
LEFT = (x + 1) ** 2
HEARD = Evidence("eot.0", Layer.TORCH, Outcome.HOLDS, "32 instances", refuted_twins=("a", "b"))
other = positive("o")
three = vector("c", m, sp.Integer(3))


def constant(factor: int) -> UniqueMinimum:
    """An objective 5 Σ q, which every point of the simplex minimizes."""
    weights = total(l, sp.exp(factor * s[l]))
    return UniqueMinimum(lambda q: 5 * total(l, q(l)), lambda key: sp.exp(factor * s[key]) / weights, m, one)


def never_strict(more: int) -> StrictUnlessEqual:
    root = sp.sqrt(sp.exp(2 * y) + 2 * sp.exp(y) + 1)
    return StrictUnlessEqual(root, sp.exp(y) + more, y, other, (y + other) / 2, (one, one))


def nearly(limit: int) -> Limit:
    far = (7 * x - sp.Rational(22, 3)) ** 2 * t
    return Limit(far / (far + 1), t, sp.oo, sp.Integer(limit))


UNHEARD: dict[str, Callable[[int], Relation]] = {
    "an objective that no vote sees": lambda n: constant(n),
    "a path that no vote sees": lambda n: nearly(n),
    "a strictness that no vote sees": lambda n: never_strict(n),
    "coefficients that no vote sees": lambda n: Expansion(sp.exp(t) + sp.sqrt(x**4), 5 + 7 * t + n * t**2 / 2 + x**2, t, 2),
}


@pytest.mark.parametrize("name", UNHEARD)
def test_a_vote_that_sees_one_value_does_not_confirm(name: str) -> None:
    make = UNHEARD[name]
    judged = verdict_on(entry(make(1), twins={"a": lambda: make(2), "b": lambda: make(3)}), HEARD)
    assert judged.verdict not in SUPPORTING_VERDICTS


TWINS: dict[str, dict[str, Callable[[], Relation]]] = {
    "trivial, and true of something else": {"a": lambda: Equation(x, x), "b": lambda: Equation((y + 1) ** 2, y**2 + 2 * y + 1)},
    "one twin, twice": {"a": lambda: AtLeast(sp.exp(2 * x), 1 + 2 * x), "b": lambda: AtLeast(sp.exp(2 * x), 1 + 2 * x)},
    "the claim, twice": {"a": lambda: UNDECIDED, "b": lambda: AtLeast(sp.exp(x) - 1, x + x**3 / 6)},
}


@pytest.mark.parametrize("name", TWINS)
def test_twins_of_undecided_statements_are_examined(name: str) -> None:
    assert verdict_on(entry(UNDECIDED, twins=TWINS[name]), HEARD).verdict not in SUPPORTING_VERDICTS


@pytest.mark.parametrize("kind", [Kind.DEFINITION, Kind.EMPIRICAL])
def test_every_undecided_statement_needs_twins(kind: Kind) -> None:
    silent = Evidence("eot.0", Layer.TORCH, Outcome.HOLDS, "32 instances")
    assert verdict_on(entry(UNDECIDED, twins={}, kind=kind), silent).verdict not in SUPPORTING_VERDICTS


def test_a_twin_whose_own_side_was_not_computed_does_not_die_by_it() -> None:
    twins = {"a": Formula(Equation(x, x)), "b": Formula(Equation((y + 1) ** 2, y**2 + 2 * y + 1))}
    points = st.tuples(st.floats(-2, 2), st.floats(0.5, 2)).map(lambda p: {"x": p[0], "y": p[1]})
    vote = Vote("eot.46", Layer.TORCH)
    rounds = Rounds(lambda p: Reading(p, {"own": float64(p["x"]).exp()}, 1e-9), points, 16)
    compare_rounds(vote, Formula(UNDECIDED), twins, rounds)
    assert vote.refuted == ()


EMPTY: Table = {
    "less than itself": lambda: AtLeast(LEFT, LEFT - 1),
    "other than something else": lambda: Differs(LEFT, LEFT + 1),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_trivial_correction_is_refused(name: str) -> None:
    assert examine(entry(Fails(FALSE), repair=(EMPTY[name](),))).faults


def test_three_keys_and_an_axis_of_any_length_are_not_every_size() -> None:
    sum_of_them = three[j, 1] + three[j, 2] + three[j, 3]
    assert verdict_on(entry(Equation(sum_of_them**2, sp.expand(sum_of_them**2)))).verdict is Verdict.CONFIRMED


def whole_and_part(part: Entry, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    far = {"a": lambda: AtLeast(sp.exp(x), two + x), "b": lambda: AtLeast(sp.exp(x), 3 + x)}
    whole_claim = entry(UNDECIDED, id="eot.1", twins=far)
    part.part_of = "eot.1"
    register(monkeypatch, whole_claim, part)
    return [whole_claim, part]


def test_a_part_does_not_hide_an_undecided_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    made = whole_and_part(entry(Fails(FALSE), id="eot.1.a", repair=(HONEST,)), monkeypatch)
    ledger_built = ledger.build([examine(each).evidence for each in made], [each.id for each in made], {})
    assert any("eot.1:" in problem for problem in baseline.problems(ledger_built, {}))


def test_a_part_belongs_to_its_own_document(monkeypatch: pytest.MonkeyPatch) -> None:
    _, part = whole_and_part(entry(Fails(FALSE), id="deciphering.1", repair=(HONEST,)), monkeypatch)
    assert any("of the same document" in fault for fault in examine(part).faults)


def test_a_disproof_does_not_lend_a_part_its_missing_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)

    @claim("eot.1", "inequality", title="t", latex="x \\ge 0")
    def made() -> object:
        """x is at least 0."""
        yield Fails(AtLeast(x, 0))

    with pytest.raises(ValueError, match="may exclude the point where it fails"):
        reprint("eot.2", of=made, latex="x", hypotheses=("x > 0",))


def test_a_layer_without_votes_has_no_checks() -> None:
    with pytest.raises(ValueError, match="layer: expected torch or primal, got"):
        confirms(Layer.SOURCE, "eot.1", on=st.floats(-2, 2))


def test_a_strict_hypothesis_does_not_hold_at_its_boundary() -> None:
    positive_there = AtLeast(x**2 + x, 0, strict=True, given=(AtLeast(x, 0, strict=True),))
    points = st.sampled_from([{"x": float(value)} for value in range(6)])
    vote = Vote("eot.46", Layer.TORCH)
    rounds = Rounds(lambda p: Reading(p, {"own": float64(p["x"]) ** 2 + p["x"]}, 1e-9), points, 16)
    with pytest.raises(ValueError, match="as is given"):
        compare_rounds(vote, Formula(positive_there), {}, rounds)


def test_control_the_catalogue_is_unchanged() -> None:
    assert len(catalogue.entries()) > 700
