"""Differences between Rocq's answers and the derivations are reported, and nothing else is."""

from pathlib import Path
from typing import Any

import pytest

from derivations import __main__ as command
from derivations.ledger import ledger
from derivations.ledger.baseline import load as remembered
from derivations.records.base import to_json
from derivations.records.claims import Outcome
from derivations.records.seals import About, Seal, SealOutcome
from derivations.report import pages
from derivations.report.merging import load
from derivations.rocq import belief, layer
from derivations.rocq.belief import Difference, Held
from derivations.rocq.layer import Findings
from tests.derivations.report import samples
from tests.derivations.report.samples import row

HOLDS, REFUTED, UNDECIDED = Held(Outcome.HOLDS, None), Held(Outcome.REFUTED, None), Held(Outcome.INCONCLUSIVE, None)
CORRECTED = Held(Outcome.REFUTED, Outcome.HOLDS)


def seal(outcome: SealOutcome, about: About = About.PRINT, detail: str = "") -> Seal:
    return Seal("it", about, outcome, "it.v:3", detail=detail)


ACCEPTED, GOAL = seal(SealOutcome.ACCEPTED), seal(SealOutcome.INCONCLUSIVE, detail="fld.\nno such equality")
CORRECTION, BY_HAND = seal(SealOutcome.ACCEPTED, About.CORRECTION), seal(SealOutcome.ACCEPTED, About.BY_HAND)
UNKNOWN = seal(SealOutcome.NOT_EXPORTED, detail="the size n + 1")


@pytest.mark.parametrize(
    ("seals", "kept_certificates", "expected"),
    [
        ([ACCEPTED], HOLDS, None),
        ([CORRECTION], CORRECTED, None),
        ([BY_HAND], HOLDS, None),
        ([BY_HAND], CORRECTED, None),
        ([BY_HAND], REFUTED, None),
        ([GOAL, BY_HAND], HOLDS, None),
        ([UNKNOWN], HOLDS, None),
        ([GOAL], UNDECIDED, None),
        ([ACCEPTED], REFUTED, Difference.CONTRADICTED),
        ([ACCEPTED, BY_HAND], REFUTED, Difference.CONTRADICTED),
        ([CORRECTION], Held(Outcome.REFUTED, Outcome.REFUTED), Difference.CONTRADICTED),
        ([ACCEPTED], UNDECIDED, Difference.GAINED),
        ([BY_HAND], UNDECIDED, Difference.GAINED),
        ([CORRECTION], Held(Outcome.REFUTED, Outcome.INCONCLUSIVE), Difference.GAINED),
        ([ACCEPTED], Held(None, None), Difference.GAINED),
        ([GOAL], HOLDS, Difference.LEFT),
        ([GOAL], CORRECTED, Difference.LEFT),
        ([UNKNOWN, GOAL], HOLDS, Difference.LEFT),
    ],
)
def test_how_rocq_and_the_derivation_differ(seals: list[Seal], kept_certificates: Held, expected: Difference | None) -> None:
    """Every pair of answers: agreement, contradiction, a new proof, and a goal that stays open."""
    assert belief.difference(seals, kept_certificates) is expected


def test_a_planted_difference_is_in_the_report(tmp_path: Path) -> None:
    """Planted in a ledger: Rocq accepts a print that a witness refutes; the front page names it, with a link."""
    wrong = row("eot.2", verdict="refuted", kernel=to_json((ACCEPTED,)))
    saved = samples.saved(tmp_path, samples.of(row("eot.1", kernel=to_json((ACCEPTED,))), wrong), "planted.json")
    front = dict(pages.pages(load([saved])))["index.html"]
    assert load([saved]).differences == {Difference.CONTRADICTED: ["eot.2"], Difference.GAINED: [], Difference.LEFT: []}
    assert f'<b>1</b> {Difference.CONTRADICTED}: <a href="claims/eot.2.html">eot.2</a>' in front
    unasked = samples.saved(tmp_path, samples.of(row("eot.1")), "unasked.json")
    assert "A proof kernel" not in dict(pages.pages(load([unasked])))["index.html"]


def test_a_planted_difference_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Planted: Rocq accepts a theorem for a refuted print; `verify --kernel` lists it and fails."""
    result = samples.of(row("eot.1"), row("eot.2", verdict="refuted"), row("eot.3", verdict="confirmed"))
    findings = Findings({id: [ACCEPTED] for id in ("eot.1", "eot.2", "eot.3")})
    monkeypatch.setattr(layer, "check", lambda *arguments: findings)
    monkeypatch.setattr(layer, "version", lambda: "8.16.1")
    ledger.write(result, tmp_path / "ledger.json")
    _, alarms = command.seal(result, tmp_path / "ledger.json")
    assert alarms == ["eot.2: a theorem is accepted by Rocq, refuted by us"]
    assert capsys.readouterr().out.splitlines()[1:] == [
        "1 accepted by Rocq, refuted by us: eot.2",
        "1 accepted by Rocq, not proved by us: eot.3",
        "0 proved by us, left with a goal by Rocq",
    ]


def test_the_baseline_repeats_the_results_of_the_derivations() -> None:
    """A proved claim, a corrected one, and an undecided one."""
    baseline = remembered()
    assert belief.of_baseline(baseline["eot.59"]) == HOLDS
    assert belief.of_baseline(baseline["eot.s7.fisher-scaled"]) == CORRECTED
    assert Outcome.HOLDS not in belief.of_baseline(next(each for each in baseline.values() if each.verdict == "confirmed"))


def test_reasons_for_missing_theorems_are_counted() -> None:
    """The reasons of claims without any accepted theorem, the most common first."""
    seals = {"a": [UNKNOWN], "b": [UNKNOWN], "c": [GOAL], "d": [GOAL, BY_HAND], "e": [ACCEPTED]}
    assert belief.reasons(seals) == ["2 not exported: the size n + 1", "1 inconclusive: fld."]
