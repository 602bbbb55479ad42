"""The ledger and its plugin: files are written atomically, and every loss is reported."""

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace as updated

from derivations.ledger import baseline, ledger
from derivations.ledger.rows import sealed
from derivations.records.base import decoded, encoded, from_json, to_json
from derivations.records.claims import Correction, Evidence, Layer, Outcome, Severity, Statement, Step, Witness
from derivations.records.theorems import SQUEEZE
from derivations.register import selection
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from derivations.run.pytest_plugin import Collector
from tests.registers import register

TWINS = tuple(entries()["eot.59"].twins)


def evidence(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "claim": "eot.59",
        "layer": Layer.SYMBOLIC,
        "outcome": Outcome.HOLDS,
        "scope": "all m ≥ 1",
        "general": True,
        "refuted_twins": TWINS,
        "derivation": (Step("a = b", "why", True),),
    }
    return Evidence(**(fields | changes))


def built(*evidence_given: Evidence) -> dict[str, Any]:
    return ledger.build(evidence_given, ["eot.59"], ledger.environment(["cpu"], 1.0, 0, {}))


def test_layout() -> None:
    row = built(evidence())["claims"][0]
    assert row["verdict"] == "proved"
    assert row["evidence"][0].keys() >= {"layer", "outcome", "scope", "seconds", "detail"}
    assert [twin["refuted_by"] for twin in row["twins"]] == [["symbolic"]] * len(TWINS)


def test_evidence_survives_the_journey_as_json() -> None:
    sent = evidence(correction=Outcome.HOLDS, witness=Witness({"m": 1, "s": ((1, "-1/2"),)}, "0", "≠", "1"))
    assert from_json(decoded(encoded(sent)), Evidence) == sent


def test_the_derivation_travels_with_the_evidence() -> None:
    examination = examine(entries()["eot.s7.fisher-scaled"])
    sent = from_json(decoded(encoded(examination.evidence)), Evidence)
    assert sent == examination.evidence
    row = ledger.build([sent], ["eot.s7.fisher-scaled"], {})["claims"][0]
    assert [step["statement"] for step in row["derivation"]] == [step.statement for step in examination.steps]
    assert [step["reason"] for step in row["repair"]] == ["F = (D − p pᵀ)/τ²"]
    assert all(step["holds"] for step in row["derivation"] + row["repair"])
    assert row["canonical"]["left"]
    assert row["canonical_repair"]["left"] == row["canonical"]["left"]


def test_the_environment_has_a_date_and_versions() -> None:
    environment = ledger.environment(["cpu"], 1.26, 0, {})
    assert environment["seconds"] == 1.3
    assert environment["commit"] is None or len(bytes.fromhex(environment["commit"])) == 20
    assert datetime.fromisoformat(environment["date"]).utcoffset() == timedelta(0)
    assert set(ledger.PACKAGES) <= set(environment["packages"])


def test_outside_of_a_repository_there_is_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))
    assert ledger.environment(["cpu"], 1.0, 0, {})["commit"] is None


def test_a_nonfinite_error_is_stored_as_none() -> None:
    row = built(evidence(error=0.25), evidence(layer=Layer.TORCH, error=float("inf")))["claims"][0]
    assert [e["error"] for e in row["evidence"]] == [0.25, None]
    assert baseline.snapshot({"claims": [row]})["eot.59"].errors == {"symbolic": 0.25}


def test_the_worst_of_several_votes_of_a_layer_is_remembered() -> None:
    votes = [
        evidence(layer=Layer.TORCH, error=0.1),
        evidence(layer=Layer.TORCH, outcome=Outcome.INCONCLUSIVE),
        evidence(layer=Layer.TORCH, error=0.3),
    ]
    entry = baseline.snapshot(built(evidence(), *votes))["eot.59"]
    assert entry.layers == {"symbolic": "holds", "torch": "inconclusive"}
    assert entry.errors == {"torch": 0.3}


def test_write_is_atomic(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    ledger.write({"schema": 1, "claims": []}, path)
    before = path.read_text()
    with pytest.raises(TypeError):
        ledger.write({"schema": 1, "claims": [object()]}, path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_ledger_is_a_text_with_a_line_for_each_fact(tmp_path: Path) -> None:
    ledger.write({"schema": 1, "claims": ["ε"]}, tmp_path / "ledger.json")
    assert (tmp_path / "ledger.json").read_text(encoding="utf-8") == '{\n "schema": 1,\n "claims": [\n  "ε"\n ]\n}\n'


def test_a_missing_ledger_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^ledger: .*none\.json: expected a file written by `verify`, got none \(No such"):
        ledger.read(tmp_path / "none.json")


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 2}', "{"])
def test_read_refuses_files_that_are_no_ledger(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


BASELINE = baseline.snapshot(built(evidence(), evidence(layer=Layer.TORCH)))


def test_without_losses_there_is_no_message() -> None:
    assert not baseline.problems(built(evidence(), evidence(layer=Layer.TORCH)), BASELINE)


@pytest.mark.parametrize(
    ("evidence_given", "complaint"),
    [
        ([evidence(outcome=Outcome.INCONCLUSIVE), evidence(layer=Layer.TORCH)], "symbolic said holds, now inconclusive"),
        ([evidence(), evidence(layer=Layer.TORCH, outcome=Outcome.REFUTED)], "torch said holds, now refuted"),
        ([evidence(), evidence(layer=Layer.TORCH, outcome=Outcome.REFUTED)], "contradict"),
        ([evidence(general=False), evidence(layer=Layer.TORCH)], "the verdict was proved, now confirmed"),
        ([evidence(), evidence(layer=Layer.TORCH, refuted_twins=TWINS[1:])], f"the twin lives: torch: {TWINS[0]}"),
    ],
)
def test_a_loss_is_named(evidence_given: list[Evidence], complaint: str) -> None:
    complaints = baseline.problems(built(*evidence_given), BASELINE)
    assert any(complaint in line and line.startswith("eot.59") for line in complaints), complaints


def test_a_lost_twin_is_named() -> None:
    entry = BASELINE["eot.59"]
    before = {"eot.59": updated(entry, twins={**entry.twins, "one that was there": ()})}
    assert baseline.worsened(built(evidence(), evidence(layer=Layer.TORCH)), before) == [
        "eot.59: the twin 'one that was there' is gone"
    ]


def test_a_layer_that_did_not_run_is_not_a_loss() -> None:
    assert not baseline.worsened(built(evidence()), BASELINE)


def test_green_needs_green_supports() -> None:
    rows = [
        {"id": "a", "verdict": "proved", "depends_on": ["b"]},
        {"id": "b", "verdict": "proved", "depends_on": ["c"]},
        {"id": "c", "verdict": "corrected", "depends_on": []},
        {"id": "d", "verdict": "proved", "depends_on": ["x"]},
    ]
    assert ledger.green({"claims": rows}) == {"d"}


def test_selection() -> None:
    assert selection.selected("eot.46") == {"eot.46"}
    assert selection.selected("eot") == {id for id in entries() if id.startswith("eot.")}
    with pytest.raises(ValueError, match=r"eot\.466"):
        selection.selected("eot.46,eot.466")


def test_a_failure_without_evidence_is_an_error() -> None:
    collector = Collector(SimpleNamespace())  # type: ignore[arg-type]
    report = pytest.TestReport(
        "t::x[eot.59]", ("", 0, ""), {}, "failed", "E  boom", "call", user_properties=[("claim", ["eot.59", "torch"])]
    )
    collector.pytest_runtest_logreport(report)
    assert [e.outcome for e in collector.evidence] == [Outcome.ERROR]
    assert built(evidence(), *collector.evidence)["claims"][0]["verdict"] == "open"


def test_skips_are_counted_by_reason() -> None:
    collector = Collector(SimpleNamespace())  # type: ignore[arg-type]
    longrepr = ("file", 1, "Skipped: needs a GPU")
    collector.pytest_runtest_logreport(pytest.TestReport("t", ("", 0, ""), {}, "skipped", longrepr, "setup"))
    assert collector.skipped == {"needs a GPU": 1}


# ── foreign ledgers ─────────────────────────────────────────────────────────────────────────────────────────────────


def saved(path: Path, data: dict[str, Any]) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_written_ledger_can_be_read(tmp_path: Path) -> None:
    written = built(evidence(), evidence(layer=Layer.TORCH))
    assert ledger.read(saved(tmp_path / "ledger.json", written)) == written


def tampered(**changes: Any) -> dict[str, Any]:
    """A ledger whose row was edited by hand, with a matching digest."""
    written = json.loads(json.dumps(built(evidence(outcome=Outcome.INCONCLUSIVE, derivation=()), evidence(layer=Layer.TORCH))))
    row = written["claims"][0]
    row |= {name: change for name, change in changes.items() if name != "evidence"}
    row["evidence"][0] |= changes.get("evidence", {})
    written["claims"][0] = sealed(row)
    return written  # type: ignore[no-any-return]


HOLDS = {"outcome": "holds"}
GOOD, BAD = to_json(Step("a = b", "why", True)), to_json(Step("a = b", "why", False))
FORGED = {
    "a verdict": ({"verdict": "proved"}, "verdict: expected 'confirmed', which follows from the evidence, got 'proved'"),
    "no verdict": ({"verdict": "excellent"}, "verdict: expected a known word, got 'excellent'"),
    "an outcome": ({"evidence": HOLDS}, "verdict: expected 'proved', which follows from the evidence, got 'confirmed'"),
    "an unknown outcome": ({"evidence": {"outcome": "splendid"}}, "evidence[0].outcome: expected a known word, got 'splendid'"),
    "an unknown layer": ({"evidence": {"layer": "oracle"}}, "evidence[0].layer: expected a known word, got 'oracle'"),
    "an unknown field": ({"status": "proved"}, "expected known fields, got status"),
    "a cause": ({"cause": "witness"}, "cause: expected 'support'"),
    "a proof without steps": ({"evidence": HOLDS, "verdict": "proved"}, "derivation: expected steps that all hold"),
    "a proof with a step that does not hold": (
        {"evidence": HOLDS, "verdict": "proved", "derivation": [GOOD, BAD]},
        "derivation: expected steps that all hold",
    ),
    "a proof of nothing but such a step": (
        {"evidence": HOLDS, "verdict": "proved", "derivation": [BAD]},
        "derivation: expected steps that all hold",
    ),
    "survivors": ({"survivors": [{"layer": "torch", "twin": "nobody", "part": None}]}, "survivors: expected []"),
    "survivors in words": ({"survivors": ["torch: nobody"]}, "survivors[0]: expected object, got str"),
    "dead twins": ({"twins": []}, "twins: expected [{"),
    "a severity": ({"severity": "slip"}, "severity: expected None"),
    "a correction": ({"correction": {"latex": "x", "text": "x"}}, "correction: expected None"),
    "another kind": ({"kind": "empirical"}, "verdict: expected 'measured'"),
    "a kind of its own": ({"kind": "axiom"}, "kind: expected a known word, got 'axiom'"),
    "another document": ({"document": "geometric"}, "id: expected geometric.59, which document and number make, got eot.59"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_row_repeats_the_conclusions_of_its_evidence(name: str, tmp_path: Path) -> None:
    changes, named = FORGED[name]
    path = saved(tmp_path / "ledger.json", tampered(**changes))
    with pytest.raises(ValueError, match=r"^ledger: .*ledger\.json: .*eot\.59") as refused:
        ledger.read(path)
    assert named in str(refused.value)


WITNESS = Witness({"m": 2}, "1", "≠", "2")
FAILS = evidence(outcome=Outcome.REFUTED, witness=WITNESS)


def test_a_witness_is_the_one_of_the_evidence_in_words_of_today(tmp_path: Path) -> None:
    row = built(FAILS)["claims"][0]
    assert (row["verdict"], row["witness"]) == ("refuted", {**to_json(WITNESS), "text": "at m = 2: 1 ≠ 2"})
    written = built(FAILS)
    written["claims"] = [sealed({**row, "witness": {**row["witness"], "text": "everywhere"}})]
    assert ledger.read(saved(tmp_path / "ledger.json", written))["claims"] == [row]
    written["claims"] = [sealed({**row, "witness": {**row["witness"], "right": "3"}})]
    with pytest.raises(ValueError, match=r"eot\.59: witness: expected .*'2'.* got .*'3'"):
        ledger.read(saved(tmp_path / "ledger.json", written))


def test_a_witness_is_shown_only_for_a_fault() -> None:
    row = built(updated(FAILS, refuted_twins=()))["claims"][0]
    assert (row["verdict"], row["witness"]) == ("open", None)


def test_a_missing_hypothesis_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = entries()["eot.59"]
    for hypothesis, verdict in ((None, "corrected"), ("x > 0", "proved-under")):
        mended = replace(entry, correction=Correction(Statement("y", "y."), Severity.SLIP, hypothesis))
        register(monkeypatch, mended)
        row = built(updated(FAILS, correction=Outcome.HOLDS))["claims"][0]
        assert (row["verdict"], row["under"], row["correction"]) == (verdict, hypothesis, {"latex": "y", "text": "y."})


def test_seconds_are_milliseconds_in_a_row() -> None:
    assert built(evidence(seconds=1.23456))["claims"][0]["evidence"][0]["seconds"] == 1.235


def test_a_digest_depends_on_content_and_not_on_order() -> None:
    digest = hashlib.sha256('{"a": "ε", "b": [1, null]}'.encode()).hexdigest()[:16]
    assert sealed({"b": [1, None], "digest": "0", "a": "ε"}) == {"a": "ε", "b": [1, None], "digest": digest}


def test_words_are_not_believed_but_written_again(tmp_path: Path) -> None:
    read = ledger.read(saved(tmp_path / "ledger.json", tampered(scope="for everybody")))
    assert read["claims"][0]["scope"].startswith("torch: all m ≥ 1")


def test_a_row_is_as_it_was_written(tmp_path: Path) -> None:
    written = json.loads(json.dumps(built(evidence(), evidence(layer=Layer.TORCH))))
    written["claims"][0]["evidence"][1]["error"] = 1e-9
    with pytest.raises(ValueError, match=r"eot\.59: digest: expected that of the row, got a different one"):
        ledger.read(saved(tmp_path / "ledger.json", written))


def test_a_summary_is_counted_again(tmp_path: Path) -> None:
    written = json.loads(json.dumps(built(evidence(), evidence(layer=Layer.TORCH))))
    written["summary"]["by_verdict"] = {"proved": 10**6}
    assert ledger.read(saved(tmp_path / "ledger.json", written))["summary"]["by_verdict"] == {"proved": 1}


def test_a_row_of_another_claim_is_not_used_again() -> None:
    written = built(evidence(), evidence(layer=Layer.TORCH))
    assert ledger.current(written)["claims"] == written["claims"]
    other = {**written, "claims": [{**written["claims"][0], "stated_twins": ["an easy one"]}]}
    assert ledger.current(other)["claims"] == []


def test_rows_of_no_claim_are_named() -> None:
    rows = [{"id": "eot.59", "document": "eot"}, {"id": "eot.5900", "document": "eot"}, {"id": "paper.1", "document": "paper"}]
    assert ledger.unknown_ids(rows) == ["eot.5900"]


def test_evidence_is_about_the_claims_of_the_run() -> None:
    with pytest.raises(ValueError, match=r"^evidence: .* got some for eot\.60"):
        built(evidence(), evidence(claim="eot.60"))


# ── confirmed or not ────────────────────────────────────────────────────────────────────────────────────────────────


def undecided(**changes: Any) -> Evidence:
    open_step = Step("a = b", "", False, "not decided")
    return evidence(
        **{
            "outcome": Outcome.INCONCLUSIVE,
            "detail": "not decided: x is left",
            "refuted_twins": (),
            "general": False,
            "derivation": (open_step,),
            **changes,
        }
    )


def test_a_stated_claim_that_is_well_voted_on_is_confirmed_and_passes() -> None:
    row = built(undecided(), evidence(layer=Layer.TORCH))
    assert row["claims"][0]["verdict"] == "confirmed"
    assert "not proved: not decided: x is left" in row["claims"][0]["scope"]
    assert not baseline.problems(row, {})
    assert not baseline.problems(row, baseline.snapshot(row))


@pytest.mark.parametrize(
    ("symbolic", "problem"),
    [
        (undecided(outcome=Outcome.VACUOUS), "symbolic: vacuous"),
        (undecided(outcome=Outcome.ERROR, detail="eot.59: step 1: ValueError: no"), "step 1: ValueError"),
        (undecided(faults=("step 1 does not hold: it is not shown that x ≠ 0",)), "it is not shown that x ≠ 0"),
    ],
)
def test_a_claim_without_statement_is_not_confirmed(symbolic: Evidence, problem: str) -> None:
    row = built(symbolic, evidence(layer=Layer.TORCH))
    assert row["claims"][0]["verdict"] == "open"
    assert any(problem in line and line.startswith("eot.59") for line in baseline.problems(row, {}))


@pytest.mark.parametrize(
    ("vote", "named"),
    [
        (evidence(layer=Layer.TORCH, outcome=Outcome.INCONCLUSIVE, detail="7 off"), ["torch: inconclusive (7 off)"]),
        (evidence(layer=Layer.TORCH, outcome=Outcome.VACUOUS), ["torch: vacuous (all m ≥ 1)"]),
        (evidence(layer=Layer.TORCH, outcome=Outcome.NOT_APPLICABLE), []),
        (evidence(layer=Layer.TORCH), []),
    ],
)
def test_a_vote_that_decides_nothing_is_a_problem(vote: Evidence, named: list[str]) -> None:
    assert ledger.problems_of(built(evidence(), vote)["claims"][0]) == named


def test_an_undecided_claim_fails_a_complete_run() -> None:
    row = built(undecided())
    assert row["claims"][0]["verdict"] == "open"
    assert baseline.problems(row, {})
    assert not baseline.problems(row, {}, complete=False)


# ── parts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_a_part(own: list[Evidence], part: list[Evidence], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    of_it = replace(entries()["eot.s7.fisher-scaled"], id="eot.s5.part", part_of="eot.59", needs=())
    register(monkeypatch, entries()["eot.59"], of_it)
    evidence_given = [*own, *(updated(e, claim="eot.s5.part") for e in part)]
    return ledger.build(evidence_given, list(dict.fromkeys(e.claim for e in evidence_given)), {})["claims"]  # type: ignore[no-any-return]


def test_a_printed_id_shows_the_worst_of_its_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    part = examine(entries()["eot.s7.fisher-scaled"]).evidence
    whole_row, own = with_a_part([evidence()], [part], monkeypatch)
    assert (own["verdict"], whole_row["verdict"], whole_row["severity"]) == ("corrected", "corrected", "slip")
    assert (whole_row["worst_part"], whole_row["parts"]) == ("eot.s5.part", ["eot.s5.part"])
    assert whole_row["scope"].startswith("eot.s5.part: at m = 2")
    assert whole_row["witness"] == own["witness"]
    assert whole_row["correction"] == own["correction"]
    data = {**built(evidence()), "claims": [whole_row, own]}
    assert ledger.read(saved(tmp_path / "ledger.json", data))["claims"] == [whole_row, own]
    data["claims"] = [sealed({**whole_row, "verdict": "proved"}), own]
    with pytest.raises(ValueError, match=r"eot\.59: verdict: expected 'corrected', .* got 'proved'"):
        ledger.read(saved(tmp_path / "ledger.json", data))


def test_a_changed_part_leaves_the_whole_claim_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    part = examine(entries()["eot.s7.fisher-scaled"]).evidence
    whole_row, own = with_a_part([evidence()], [part], monkeypatch)
    assert ledger.current({"claims": [whole_row, own]})["claims"] == [whole_row, own]
    (row,) = ledger.current({"claims": [whole_row, {**own, "title": "Another"}]})["claims"]
    assert (row["verdict"], row["scope"]) == ("open", "eot.s5.part: not verified in this run")


def test_an_unverified_part_leaves_the_whole_claim_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole_row,) = with_a_part([evidence()], [], monkeypatch)
    assert (whole_row["verdict"], whole_row["scope"]) == ("open", "eot.s5.part: not verified in this run")


# ── quoted theorems ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_quoted_theorems_are_in_the_row_and_counted() -> None:
    step = Step("a = b", "why", True, quotes=(SQUEEZE,), given=("x ≥ 0",), premises=("x ≥ 0: a hypothesis",))
    quoting = evidence(derivation=(step,), given=("x ≥ 0",))
    assert from_json(decoded(encoded(quoting)), Evidence) == quoting
    built_ledger = ledger.build([quoting, evidence(claim="eot.64")], ["eot.59", "eot.64"], {})
    row = built_ledger["claims"][0]
    assert row["quotes"] == [{**to_json(SQUEEZE), "step": "a = b"}]
    assert row["hypotheses"] == [*entries()["eot.59"].hypotheses, "x ≥ 0"]
    assert row["given"] == ["x ≥ 0"]
    rests = [
        {"id": "a", "quotes": row["quotes"], "depends_on": []},
        {"id": "b", "quotes": [], "depends_on": ["a"]},
        {"id": "c", "quotes": [], "depends_on": ["b", "x"]},
        {"id": "d", "quotes": [], "depends_on": ["x"]},
    ]
    assert ledger.quoting(rests) == {"a": "directly", "b": "through needs", "c": "through needs"}
