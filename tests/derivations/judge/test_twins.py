"""Admissible twins and corrections: variants of the claim that repeat neither it nor each other."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations.judge.verdicts import judge
from derivations.records.claims import Outcome, Verdict
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Fails, Limit, Relation
from tests.derivations.judge.test_examination import FALSE, OPEN, OTHER, SQUARE, entry, fault, t, x, y


@pytest.mark.parametrize(
    "again",
    [
        OTHER,
        Equation(x**2 - 2 * x * y + y**2, (x + y) ** 2),
        Equation(2 * (x + y) ** 2, 2 * x**2 - 4 * x * y + 2 * y**2, at={x: 1, y: 1}),
    ],
)
def test_a_twin_repeats_no_other(again: Relation) -> None:
    examination = examine(entry(SQUARE, sign=OTHER, again=again))
    if again.at:
        assert not examination.faults  # both sides doubled: another statement by its values
    else:
        assert examination.faults == ("the twin 'again' repeats the twin 'sign'",)


def test_a_twin_does_not_repeat_the_claim() -> None:
    assert fault(entry(Fails(FALSE), same=FALSE, sign=OTHER)) == "the twin 'same' repeats the claim"
    assert fault(entry(SQUARE, same=SQUARE)) == "the twin 'same' is not refuted"


@pytest.mark.parametrize("stranger", [Equation(1, 2), Equation(t, t + 1), AtLeast(x, x + 1), Limit(1 / t, t, sp.oo, 1)])
def test_a_twin_is_a_version_of_the_claim(stranger: Relation) -> None:
    made = entry(SQUARE, sign=OTHER, stranger=stranger)
    assert "the twin 'stranger' is no version of the claim" in fault(made)
    assert judge(made.claim, [examine(made).evidence]).verdict is Verdict.OPEN


@pytest.mark.parametrize("version", [FALSE, Equation(x - y, 0), AtLeast(-1, (x + y) ** 2), Equation(t, (x + y) ** 2)])
def test_versions_share_a_side_or_the_variables(version: Relation) -> None:
    assert not fault(entry(SQUARE, version=version))


# ── corrections ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_correction_answers_the_print() -> None:
    examination = examine(entry(Fails(FALSE), repair=SQUARE))
    assert (examination.evidence.outcome, examination.evidence.correction) == (Outcome.REFUTED, Outcome.HOLDS)
    assert examination.faults == ()
    away = entry(Fails(FALSE), repair=Equation((x - y) ** 2, x**2 - 2 * x * y + y**2), sign=OTHER, lost=Equation(x + y, 0))
    assert "the correction is not about the print's left side" in fault(away)
    assert judge(away.claim, [examine(away).evidence]).verdict is Verdict.REFUTED
    assert not fault(entry(Fails(FALSE), repair=Equation((x - y) ** 2, x**2 - 2 * x * y + y**2), replaces="the sign of y"))


@pytest.mark.parametrize(
    ("repair", "named"),
    [
        (Equation((x + y) ** 2, (x + y) ** 2), "says nothing"),
        (FALSE, "the correction repeats the print"),
        (Fails(OTHER), "expected a statement that holds as its last step, got a disproof"),
        (AtLeast(x**2 + y**2, (x + y) ** 2), "does not hold"),
        (OPEN, "not decided"),
    ],
)
def test_invalid_corrections(repair: Relation, named: str) -> None:
    made = entry(Fails(FALSE), repair=repair, under="something", replaces="all of it")
    assert named in fault(made)
    assert judge(made.claim, [examine(made).evidence]).verdict not in (Verdict.CORRECTED, Verdict.PROVED_UNDER)


def test_a_typed_hypothesis_may_be_all_that_a_correction_adds() -> None:
    wrong = AtLeast(y + 1, 0)
    made = entry(Fails(wrong), repair=replace(wrong, given=(AtLeast(y, 0),)), under="y ≥ 0")
    assert not fault(made)
    assert examine(made).evidence.correction is Outcome.HOLDS
    assert examine(made).evidence.given == ("y ≥ 0",)
