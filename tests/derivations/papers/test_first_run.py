"""The first run on a new paper: a line for each equation, with its reason or correction, and the counts."""

from types import SimpleNamespace
from typing import Any

import pytest

from derivations.papers import first_run
from derivations.records.claims import Cause, CauseKind, Outcome, Severity, Verdict
from tests.registers import register


def entry(id: str, correction: str = "") -> Any:
    repaired = SimpleNamespace(statement=SimpleNamespace(latex=correction)) if correction else None
    return SimpleNamespace(id=id, statement=f"Line {id[-1]}", claim=id, correction=repaired)


def judged(verdict: Verdict, severity: Severity | None = None, cause: CauseKind = CauseKind.SILENCE) -> Any:
    return SimpleNamespace(verdict=verdict, severity=severity, cause=Cause(cause))


CLAIMS = {
    "paper.1": (entry("paper.1"), judged(Verdict.PROVED), Outcome.HOLDS),
    "paper.2": (entry("paper.2", "x = 2"), judged(Verdict.CORRECTED, Severity.SLIP), Outcome.REFUTED),
    "paper.3": (entry("paper.3"), judged(Verdict.REFUTED, Severity.FATAL), Outcome.REFUTED),
    "paper.4": (entry("paper.4"), judged(Verdict.OPEN), Outcome.NOT_APPLICABLE),
    "paper.5": (entry("paper.5"), judged(Verdict.OPEN, cause=CauseKind.SUPPORT), Outcome.VACUOUS),
    "paper.6": (entry("paper.6"), judged(Verdict.PROVED), Outcome.HOLDS),
    "other.1": (entry("other.1"), judged(Verdict.PROVED), Outcome.HOLDS),
}


def test_each_equation_has_a_line_and_all_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    register(monkeypatch, *(each for each, _, _ in CLAIMS.values()))
    monkeypatch.setattr(
        first_run,
        "examine",
        lambda each: SimpleNamespace(evidence=SimpleNamespace(outcome=CLAIMS[each.id][2], detail=f"the detail of {each.id}")),
    )
    monkeypatch.setattr(first_run, "judge", lambda claim, evidence: CLAIMS[claim][1])
    monkeypatch.setattr(first_run.rendering, "cause", lambda cause: f"because of {cause.kind}")
    first_run.first_run("paper")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "proved paper.1 Line 1",
        f"corrected (slip) paper.2 Line 2 because of {CauseKind.SILENCE}; correct: x = 2",
        f"refuted (fatal) paper.3 Line 3 because of {CauseKind.SILENCE}",
        "open paper.4 Line 4 the detail of paper.4",
        f"open paper.5 Line 5 because of {CauseKind.SUPPORT}",
        "proved paper.6 Line 6",
        "6 equations: 2 proved, 1 corrected, 1 refuted, 1 not read, 1 open",
    ]
