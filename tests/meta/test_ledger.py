"""The ledger and its plugin: written whole or not at all, and loud about every loss."""

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from derivations import ledger
from derivations.catalogue import entries, examine
from derivations.claims import Evidence, Layer, Outcome
from derivations.pytest_plugin import Collector, selected

TWINS = tuple(entries()["eot.59"].twins)


def evidence(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {"claim": "eot.59", "layer": Layer.SYMBOLIC, "outcome": Outcome.HOLDS, "scope": "all m ≥ 1",
                              "general": True, "refuted_twins": TWINS}
    return Evidence(**(fields | changes))


def built(*found: Evidence) -> dict[str, Any]:
    return ledger.build(found, ["eot.59"], ledger.environment(["cpu"], 1.0, 0, {}))


def test_layout() -> None:
    row = built(evidence())["claims"][0]
    assert row["verdict"] == "proved"
    assert row["evidence"][0].keys() >= {"layer", "outcome", "scope", "seconds", "detail"}
    assert [twin["refuted_by"] for twin in row["twins"]] == [["symbolic"]] * len(TWINS)


def test_evidence_survives_the_journey_as_json() -> None:
    sent = evidence(correction=Outcome.HOLDS, witness=ledger.Witness("m = 1", "0", "1", "0 ≠ 1"))
    assert ledger.evidence_from(json.loads(json.dumps(asdict(sent)))) == sent


def test_the_derivation_travels_with_the_evidence() -> None:
    found = examine(entries()["eot.s7.fisher-scaled"])
    sent = ledger.evidence_from(json.loads(json.dumps(asdict(found.evidence))))
    assert sent == found.evidence
    row = ledger.build([sent], ["eot.s7.fisher-scaled"], {})["claims"][0]
    assert [step["statement"] for step in row["derivation"]] == [step.statement for step in found.steps]
    assert [step["reason"] for step in row["repair"]] == ["F = (D − p pᵀ)/τ²"]
    assert all(step["holds"] for step in row["derivation"] + row["repair"])
    assert row["canonical"]["left"]
    assert row["canonical_repair"]["left"] == row["canonical"]["left"]


def test_the_environment_has_a_date_and_versions() -> None:
    told = ledger.environment(["cpu"], 1.0, 0, {})
    assert datetime.fromisoformat(told["date"]).utcoffset() == timedelta(0)
    assert set(ledger.PACKAGES) <= set(told["packages"])


def test_an_error_that_is_not_finite_is_none() -> None:
    rows = built(evidence(error=0.25), evidence(layer=Layer.TORCH, error=float("inf")))["claims"][0]
    assert [e["error"] for e in rows["evidence"]] == [0.25, None]
    assert ledger.snapshot({"claims": [rows]})["eot.59"]["errors"] == {"symbolic": 0.25}


def test_the_worst_of_several_votes_of_a_layer_is_remembered() -> None:
    votes = [evidence(layer=Layer.TORCH, error=0.1), evidence(layer=Layer.TORCH, outcome=Outcome.INCONCLUSIVE),
             evidence(layer=Layer.TORCH, error=0.3)]
    kept = ledger.snapshot(built(evidence(), *votes))["eot.59"]
    assert kept["layers"] == {"symbolic": "holds", "torch": "inconclusive"}
    assert kept["errors"] == {"torch": 0.3}


def test_write_is_whole_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    ledger.write({"schema": 1, "claims": []}, path)
    before = path.read_text()
    with pytest.raises(TypeError):
        ledger.write({"schema": 1, "claims": [object()]}, path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 2}', "{"])
def test_read_refuses_what_is_no_ledger(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


BASELINE = ledger.snapshot(built(evidence(), evidence(layer=Layer.TORCH)))


def test_nothing_lost_nothing_said() -> None:
    assert not ledger.problems(built(evidence(), evidence(layer=Layer.TORCH)), BASELINE)


@pytest.mark.parametrize(("found", "complaint"), [
    ([evidence(outcome=Outcome.INCONCLUSIVE), evidence(layer=Layer.TORCH)], "symbolic said holds, now inconclusive"),
    ([evidence(), evidence(layer=Layer.TORCH, outcome=Outcome.REFUTED)], "torch said holds, now refuted"),
    ([evidence(), evidence(layer=Layer.TORCH, outcome=Outcome.REFUTED)], "contradict"),
    ([evidence(general=False), evidence(layer=Layer.TORCH)], "the verdict was proved, now confirmed"),
    ([evidence(), evidence(layer=Layer.TORCH, refuted_twins=TWINS[1:])], f"the twin lives: torch: {TWINS[0]}"),
])
def test_a_loss_is_named(found: list[Evidence], complaint: str) -> None:
    said = ledger.problems(built(*found), BASELINE)
    assert any(complaint in line and line.startswith("eot.59") for line in said), said


def test_a_lost_twin_is_named() -> None:
    before = {"eot.59": {**BASELINE["eot.59"], "twins": [*BASELINE["eot.59"]["twins"], "one that was there"]}}
    assert ledger.worsened(built(evidence(), evidence(layer=Layer.TORCH)), before) == [
        "eot.59: the twin 'one that was there' is gone"]


def test_a_layer_that_did_not_run_is_not_a_loss() -> None:
    assert not ledger.worsened(built(evidence()), BASELINE)


def test_green_needs_green_supports() -> None:
    rows = [{"id": "a", "verdict": "proved", "depends_on": ["b"]}, {"id": "b", "verdict": "proved", "depends_on": ["c"]},
            {"id": "c", "verdict": "corrected", "depends_on": []}, {"id": "d", "verdict": "proved", "depends_on": ["x"]}]
    assert ledger.green({"claims": rows}) == {"d"}


def test_selection() -> None:
    assert selected("eot.46") == {"eot.46"}
    assert selected("eot") == {id for id in entries() if id.startswith("eot.")}
    with pytest.raises(ValueError, match=r"eot\.466"):
        selected("eot.46,eot.466")


def test_a_failure_without_evidence_is_an_error() -> None:
    collector = Collector(SimpleNamespace())  # type: ignore[arg-type]
    report = pytest.TestReport("t::x[eot.59]", ("", 0, ""), {}, "failed", "E  boom", "call",
                               user_properties=[("claim", ["eot.59", "torch"])])
    collector.pytest_runtest_logreport(report)
    assert [e.outcome for e in collector.evidence] == [Outcome.ERROR]
    assert built(evidence(), *collector.evidence)["claims"][0]["verdict"] == "open"


def test_skips_are_counted_by_reason() -> None:
    collector = Collector(SimpleNamespace())  # type: ignore[arg-type]
    longrepr = ("file", 1, "Skipped: needs a GPU")
    collector.pytest_runtest_logreport(pytest.TestReport("t", ("", 0, ""), {}, "skipped", longrepr, "setup"))
    assert collector.skipped == {"needs a GPU": 1}
