"""Each rule of a vote separately: the thresholds at which it holds, doubts, refutes or does not count."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
import torch

from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.domains import Nonnegative
from derivations.records.claims import Evidence, Layer, Outcome
from derivations.relations import AtLeast, Differs, Equation
from evidence import harness
from evidence.admission import ROUNDED, SLACK, NotAReadingError, Scale, admit_tolerance, holds_given, size_of
from evidence.harness import (
    MIN_INSTANCES,
    Vote,
    _both,
    _or_silence,
    _record_comparison,
    _record_instance,
    _record_scale,
    compare_reading,
    float64,
    vote_on,
)
from evidence.readings import Comparison, Formula, Miss, Reading
from evidence.registry import CASES, load

m = size("m")
j = index("j", m)
x, y, w = scalar("x"), positive("y"), scalar("w", Nonnegative)
s = vector("s", m)
TELLING = {True: Scale(telling=1)}


def vote(**parts: Any) -> Vote:
    """A vote on five different instances, unless specified otherwise."""
    usual = {"instances": 5, "seen": {(1.0,), (2.0,)}, "ranges": {"x": (1.0, 2.0)}, "drawing": True, "scales": TELLING}
    return Vote("eot.0", Layer.TORCH, **{**usual, **parts})


WHY_NOT: dict[str, tuple[dict[str, Any], str, Outcome]] = {
    "nothing": ({}, "", Outcome.HOLDS),
    "a refutation": ({"failure": "off", "doubt": "unclear"}, "off", Outcome.REFUTED),
    "a refutation at the only instance": ({"failure": "off", "instances": 0}, "off", Outcome.REFUTED),
    "a doubt": ({"doubt": "unclear"}, "unclear", Outcome.INCONCLUSIVE),
    "no instance": ({"instances": 0}, "nothing could be compared", Outcome.VACUOUS),
    "as many discarded as kept": ({"discarded": 5}, "", Outcome.HOLDS),
    "one more discarded": (
        {"discarded": 6},
        "expected at most half of the draws to be discarded, got 6 of 11",
        Outcome.INCONCLUSIVE,
    ),
    "few instances": (
        {"instances": MIN_INSTANCES - 1},
        "expected at least 2 different instances of 5, got 2 of 4",
        Outcome.INCONCLUSIVE,
    ),
    "one and the same": ({"seen": {(1.0,)}}, "expected at least 2 different instances of 5, got 1 of 5", Outcome.INCONCLUSIVE),
    "one and the same, given": ({"seen": {(1.0,)}, "drawing": False}, "", Outcome.HOLDS),
    "one and the same, of nothing": ({"seen": {()}, "ranges": {}}, "", Outcome.HOLDS),
    "a size of 1": (
        {"sizes": frozenset("mn"), "ranges": {"m": (1.0, 1.0), "n": (1.0, 2.0)}},
        "expected a size of at least 2 at some instance, got m = 1 at every one",
        Outcome.INCONCLUSIVE,
    ),
    "a size of 2": ({"sizes": frozenset("m"), "ranges": {"m": (2.0, 2.0)}}, "", Outcome.HOLDS),
    "no scale": (
        {"scales": {True: Scale(dull=1), False: Scale(telling=9)}},
        "tolerance: expected less than 0.1 of the largest "
        "number compared, at half of the instances at least, got 0 of 1, and 0 beside 1",
        Outcome.INCONCLUSIVE,
    ),
    "the scale of the inputs": ({"scales": {False: Scale(telling=1)}}, "", Outcome.HOLDS),
}


@pytest.mark.parametrize("name", WHY_NOT)
def test_outcome_and_reason_of_a_vote(name: str) -> None:
    parts, why, outcome = WHY_NOT[name]
    assert (vote(**parts).why_not, vote(**parts).outcome) == (why, outcome)


def test_a_twin_is_refuted_by_every_route() -> None:
    routes = frozenset({"one", "other"})
    assert vote(routes=routes, killed={"both": {"one", "other"}, "half": {"one"}, "none": set()}).refuted == ("both",)


def test_words_about_a_vote() -> None:
    assert vote().drawn == "drawn: x 1…2"
    assert vote(ranges={}).drawn == ""
    assert vote(compared=7).scope() == "5 drawn instances, 7 numbers compared, worst error 0 of the tolerance"
    assert vote(compared=7, incomparable=2, discarded=3, worst=0.51, tightest=0.25).scope() == (
        "5 drawn instances, 7 numbers compared, 2 not comparable, 3 draws discarded, worst error 0.51 of the tolerance, "
        "gap never smaller than 0.25 of the larger side"
    )


def noted(*comparisons: Comparison, ordered: bool = False) -> Vote:
    result, printed = Vote("eot.0", Layer.TORCH), SimpleNamespace(ordered=ordered, names=["x", "y"])
    for comparison in comparisons:
        _record_comparison(result, printed, Reading({"x": 1.0, "z": 2.0}, {}, 1e-9), "own", comparison)  # type: ignore[arg-type]
    return result


@pytest.mark.parametrize(
    ("miss", "failure", "doubt"),
    [
        (1.0, "", ""),
        (1.1, "", "own misses by 1.1 tolerances at x = 1.0; at most 1 is agreement and more than 10 a refutation"),
        (10.0, "", "own misses by 10 tolerances at x = 1.0; at most 1 is agreement and more than 10 a refutation"),
        (10.1, "own misses by 10.1 tolerances at x = 1.0", ""),
    ],
)
def test_one_tolerance_is_agreement_and_ten_are_a_refutation(miss: float, failure: str, doubt: str) -> None:
    vote_noted = noted(Comparison(miss, 1, 0))
    assert (vote_noted.failure, vote_noted.doubt) == (failure, doubt)


def test_totals_of_comparisons() -> None:
    totals = noted(Comparison(0.5, 3, 0, gap=0.2), Comparison(0.25, 4, 2, gap=0.1))
    assert (totals.compared, totals.incomparable, totals.worst, totals.tightest) == (7, 2, 0.5, math.inf)
    assert totals.doubt == "own or the formula is not finite at 2 positions at x = 1.0"
    assert noted(Comparison(0.5, 3, 0, gap=0.2), Comparison(0.25, 4, 0, gap=0.1), ordered=True).tightest == 0.1
    first = noted(Comparison(20, 1, 0), Comparison(30, 1, 0))
    assert first.failure == "own misses by 20 tolerances at x = 1.0"
    assert noted(Comparison(2, 1, 1), Comparison(3, 1, 0)).doubt.startswith("own misses by 2 tolerances")


def test_both_values_are_shown_where_they_differ_most() -> None:
    assert _both(None) == ""
    assert _both(Miss((), 1.5, 2.0)) == ": computed 1.5, derived 2"
    assert _both(Miss((2, 3), 1.5, 2.0)) == ": computed 1.5, derived 2 at position 2, 3"


def test_instances_are_remembered_with_their_ranges() -> None:
    result, printed = Vote("eot.0", Layer.TORCH), Formula(Equation(s[j] * x, y * m))
    for numbers, factor in (([1.0, -2.0], 3.0), ([0.5, 4.0], 3.0), ([0.5, 4.0], 3.0)):
        _record_instance(result, printed, Reading({"m": 2, "s": float64(numbers), "x": factor, "other": 9.0}, {}, 1e-9))
    assert len(result.seen) == 2
    assert result.ranges == {"m": (2.0, 2.0), "s": (-2.0, 4.0), "x": (3.0, 3.0)}
    assert result.sizes == {"m"}


@pytest.mark.parametrize(
    ("tolerance", "size", "telling", "dull"),
    [(0.09, 1.0, 1, 0), (0.1, 1.0, 0, 1), (0.2, 1.0, 0, 1), (1e-9, ROUNDED, 0, 0), (1e-9, 2 * ROUNDED, 0, 1)],
)
def test_an_instance_has_power_or_not(tolerance: float, size: float, telling: int, dull: int) -> None:
    scale = Scale()
    scale.weigh(tolerance, size)
    assert (scale.telling, scale.dull) == (telling, dull)
    assert scale.coarsest == ((0.0, 1.0) if telling else (tolerance, size))


def test_a_majority_of_instances_must_have_power() -> None:
    assert Scale(telling=1, dull=1).why_not == ""
    assert "got 1 of 3" in Scale(telling=1, dull=2).why_not
    assert "got 0 of 0" in Scale().why_not
    scale = Scale()
    for tolerance, number in ((0.2, 1.0), (0.3, 1.0), (0.25, 1.0)):
        scale.weigh(tolerance, number)
    assert scale.coarsest == (0.3, 1.0)
    assert "got 0 of 3, and 0.3 beside 1" in scale.why_not


def test_the_scale_is_that_of_the_derived_side_or_of_the_inputs() -> None:
    result, printed = Vote("eot.0", Layer.TORCH), Formula(Equation(x * m, y))
    reading = Reading({"m": 5, "x": -3.0, "y": 2.0}, {}, 0.25)
    _record_scale(
        result, printed, reading, [Comparison(0, 1, 0, largest=2.0, derived=2.0), Comparison(0, 1, 0, largest=7.0, derived=7.0)]
    )
    assert result.scales == {True: Scale(dull=1, coarsest=(0.25, 2.0))}
    _record_scale(result, printed, reading, [Comparison(0, 1, 0, largest=2.0, derived=0.0)])
    assert result.scales[False] == Scale(telling=1)
    assert size_of(printed, reading.point) == 3.0
    assert size_of(Formula(Equation(m, m)), {"m": 5}) == 1.0


def test_a_tolerance_must_be_able_to_refute() -> None:
    admit_tolerance("eot.0", 0.099, 0.5)
    admit_tolerance("eot.0", 0.5, 5.1)
    for tolerance, largest in ((0.1, 0.5), (0.1, 1.0), (0.5, 5.0)):
        with pytest.raises(NotAReadingError, match="tolerance: expected less than"):
            admit_tolerance("eot.0", tolerance, largest)


@pytest.mark.parametrize(
    ("hypothesis", "value", "holds"),
    [
        (AtLeast(x, 1), 1.0, True),
        (AtLeast(x, 1), 1 - SLACK, True),
        (AtLeast(x, 1), 1 - 3 * SLACK, False),
        (AtLeast(x, 1, strict=True), 1.0, False),
        (AtLeast(x, 1, strict=True), 1 + SLACK, False),
        (AtLeast(x, 1, strict=True), 1 + 3 * SLACK, True),
        (AtLeast(x, 1), math.nan, False),
        (Differs(x, 1), 1.0, False),
        (Differs(x, 1), 1 + 1e-15, True),
    ],
    ids=str,
)
def test_hypotheses_hold_up_to_rounding(hypothesis: AtLeast | Differs, value: float, holds: bool) -> None:
    assert holds_given(Formula(Equation(x, x + w, given=(hypothesis,))), {"x": value, "w": 0.0}) is holds


def test_hypotheses_hold_relative_to_large_numbers() -> None:
    formula = Formula(Equation(x, y, given=(AtLeast(x, y),)))
    assert holds_given(formula, {"x": 1e9, "y": 1e9 + 1})
    assert not holds_given(formula, {"x": 1e9, "y": 1e9 + 5})
    apart = Formula(Equation(s[j], x, given=(Differs(s[j], x),)))
    assert not holds_given(apart, {"m": 2, "s": float64([1.0, 2.0]), "x": 1.0})
    assert holds_given(apart, {"m": 2, "s": float64([1.0, 2.0]), "x": 3.0})


@pytest.mark.parametrize(
    ("outcome", "refuted", "heard"),
    [
        (Outcome.HOLDS, ("one", "two"), Outcome.HOLDS),
        (Outcome.REFUTED, ("one", "two"), Outcome.REFUTED),
        (Outcome.HOLDS, ("one",), Outcome.NOT_APPLICABLE),
        (Outcome.INCONCLUSIVE, ("one", "two"), Outcome.NOT_APPLICABLE),
        (Outcome.VACUOUS, (), Outcome.NOT_APPLICABLE),
    ],
)
def test_a_vote_that_was_generated_is_heard_only_if_it_has_power(
    outcome: Outcome, refuted: tuple[str, ...], heard: Outcome
) -> None:
    entry = SimpleNamespace(twins={"one": None, "two": None})
    evidence = Evidence("eot.0", Layer.TORCH, outcome, "scope", refuted_twins=refuted, correction=Outcome.HOLDS, detail="why")
    heard_evidence = _or_silence(entry, evidence)  # type: ignore[arg-type]
    assert heard_evidence.outcome is heard
    silenced = heard is Outcome.NOT_APPLICABLE and outcome is Outcome.HOLDS
    assert (heard_evidence.correction, heard_evidence.detail) == (
        (None, "no vote, since it does not refute the twins two") if silenced else (Outcome.HOLDS, "why")
    )


def test_numbers_are_float64() -> None:
    assert float64(0.1).dtype is torch.float64
    assert float64([sp.Integer(1), 2]).tolist() == [1.0, 2.0]


class CountingMutations:
    """Mutants that count their comparisons."""

    def __init__(self) -> None:
        self.times = 0

    def face(self, *_: object) -> None:
        self.times += 1


@pytest.mark.parametrize(("route", "times"), [(1.0, 1), (1 + 5e-10, 1), (1 + 5e-9, 0), (1 + 5e-8, 0), (math.nan, 0)])
def test_mutants_are_compared_only_where_the_print_agrees(route: float, times: int) -> None:
    faced = CountingMutations()
    compare_reading(
        Vote("eot.0", Layer.TORCH),
        Formula(Equation(x, y)),
        {},
        Reading({"x": 1.0, "y": 1.0}, {"own": float64(route)}, 1e-9),
        faced,
    )  # type: ignore[arg-type]
    assert faced.times == times


def test_a_tolerance_is_compared_with_the_largest_number() -> None:
    def consider_beside(other: float) -> None:
        compare_reading(
            Vote("eot.0", Layer.TORCH),
            Formula(Equation(x, y)),
            {},
            Reading({"x": 1.0, "y": 1.0}, {"own": float64(1.0), "other": float64(other)}, 5.0),
        )

    consider_beside(100.0)
    with pytest.raises(NotAReadingError, match="tolerance: expected less than"):
        consider_beside(1.0)


def test_as_many_instances_as_a_case_wants_and_a_quarter_if_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    load(["eot.46"])
    counts: list[int] = []
    monkeypatch.setattr(harness, "compare_rounds", lambda *parts, **_: counts.append(parts[3].count))
    for wanted in (80, 32):
        case = replace(CASES[Layer.TORCH]["eot.46"], count=wanted)
        monkeypatch.setitem(CASES[Layer.TORCH], "eot.46", case)
        for quick in (True, False):
            evidence = vote_on(case, quick=quick)
            assert (evidence.outcome, evidence.error) == (Outcome.VACUOUS, 0.0)
            assert evidence.seconds > 0
    assert counts == [20, 80, 10, 32]


def test_a_vote_that_fails_has_no_error_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    load(["eot.46"])

    def fail(vote: Vote, *_: object, **__: object) -> None:
        vote.failure, vote.worst = "off", 20.0

    monkeypatch.setattr(harness, "compare_rounds", fail)
    evidence = vote_on(CASES[Layer.TORCH]["eot.46"])
    assert (evidence.outcome, evidence.error, evidence.detail) == (Outcome.REFUTED, None, "off")
