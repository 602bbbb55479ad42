"""Evidence that nobody found, and ledgers in which somebody typed a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from derivations import ledger, regression
from derivations.catalogue import entries, examine
from derivations.claims import GREEN, Evidence, Judgement, Kind, Layer, Outcome, Step, Verdict, Witness, judge
from derivations.pytest_plugin import Collector
from derivations.rows import sealed
from tests.attacks.entries import HONEST, entry

ID = "eot.59"
OTHER = "eot.54"
TWINS = tuple(entries()[ID].twins)
CLAIM = entry(HONEST).claim
OWN = tuple(twin.name for twin in CLAIM.twins)
Edit = Callable[[dict[str, Any]], object]


def evidence(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {"claim": "eot.0", "layer": Layer.SYMBOLIC, "outcome": Outcome.HOLDS, "scope": "all",
                              "general": True, "refuted_twins": OWN}
    return Evidence(**(fields | changes))


def torch(**changes: Any) -> Evidence:
    return evidence(layer=Layer.TORCH, general=False, **changes)


FALSE = Witness("x = 1", "4", "2", "at x = 1: 4 ≠ 2")
UNEARNED: dict[str, tuple[Kind, list[Evidence]]] = {
    "D10: symbolic vacuous, and a vote": (Kind.IDENTITY, [evidence(outcome=Outcome.VACUOUS), torch()]),
    "D10: symbolic failed, and a vote": (Kind.IDENTITY, [evidence(outcome=Outcome.ERROR), torch()]),
    "D10: symbolic refuted, and a vote": (Kind.IDENTITY, [evidence(outcome=Outcome.REFUTED, witness=FALSE), torch()]),
    "D10: a vote refutes, and symbolic holds": (Kind.IDENTITY, [evidence(), torch(outcome=Outcome.REFUTED)]),
    "D10: a vote that could compare nothing": (Kind.IDENTITY, [torch(outcome=Outcome.VACUOUS)]),
    "D10: a vote in time-out": (Kind.IDENTITY, [torch(outcome=Outcome.TIMEOUT)]),
    "D10: a vote that is not applicable": (Kind.IDENTITY, [torch(outcome=Outcome.NOT_APPLICABLE)]),
    "D10: faults of the derivation": (Kind.IDENTITY, [evidence(faults=("a premise",)), torch()]),
    "D10: faults of the derivation of a definition": (Kind.DEFINITION, [evidence(faults=("a premise",))]),
    "D7: a measurement that disagrees": (Kind.EMPIRICAL, [torch(outcome=Outcome.REFUTED, detail="3, not 2")]),
    "D7: a measurement that disagrees, without words": (Kind.EMPIRICAL, [torch(outcome=Outcome.REFUTED)]),
    "D7: measurements that disagree with each other": (Kind.EMPIRICAL, [torch(), torch(outcome=Outcome.REFUTED)]),
    "D7: a measurement with a fault": (Kind.EMPIRICAL, [torch(faults=("a draw",))]),
    "D7: no measurement": (Kind.EMPIRICAL, []),
    "D8: no twin was refuted": (Kind.IDENTITY, [evidence(refuted_twins=())]),
    "D8: a twin that there is not was refuted": (Kind.IDENTITY, [evidence(refuted_twins=("another", "one"))]),
    "D8: one of two layers let a twin live": (Kind.IDENTITY, [evidence(), torch(refuted_twins=OWN[:1])]),
    "D8: the twins of a definition live": (Kind.DEFINITION, [evidence(refuted_twins=())]),
    "no evidence": (Kind.IDENTITY, []),
    "an external fact without evidence": (Kind.EXTERNAL, []),
    "an external fact that the source refutes": (Kind.EXTERNAL, [evidence(layer=Layer.SOURCE, outcome=Outcome.REFUTED)]),
    "a definition that is vacuous": (Kind.DEFINITION, [evidence(outcome=Outcome.VACUOUS)]),
    "a definition that is undecided": (Kind.DEFINITION, [evidence(outcome=Outcome.INCONCLUSIVE)]),
}


def judged(kind: Kind, found: list[Evidence]) -> Judgement:
    return judge(entry(HONEST, kind=kind).claim, found)


@pytest.mark.parametrize("name", UNEARNED)
def test_is_not_green(name: str) -> None:
    kind, found = UNEARNED[name]
    assert judged(kind, found).verdict not in GREEN
    assert judged(kind, found[::-1]).verdict not in GREEN


UNPROVED: dict[str, list[Evidence]] = {
    "for three keys": [evidence(general=False)],
    "by torch, however general": [evidence(layer=Layer.TORCH)],
    "by the source": [evidence(layer=Layer.SOURCE)],
    "undecided, and by torch": [evidence(outcome=Outcome.INCONCLUSIVE), torch()],
    "by a correction that is not there": [evidence(outcome=Outcome.INCONCLUSIVE, correction=Outcome.HOLDS)],
}


@pytest.mark.parametrize("name", UNPROVED)
def test_is_not_proved(name: str) -> None:
    assert judged(Kind.IDENTITY, UNPROVED[name]).verdict is not Verdict.PROVED


def test_control_earned() -> None:
    assert judged(Kind.IDENTITY, [evidence(), torch()]).verdict is Verdict.PROVED


# ── what tests send ─────────────────────────────────────────────────────────────────────────────────────────────────


def collector() -> Collector:
    return Collector(SimpleNamespace(option=SimpleNamespace(ledger=None, claims="", incremental=None)))  # type: ignore[arg-type]


def sent(found: Any, marker: tuple[str, str] | None = (ID, "torch"), passed: bool = True) -> Collector:
    """What the collector makes of a test that recorded this."""
    properties: list[tuple[str, Any]] = [("evidence", found if isinstance(found, str) else json.dumps(asdict(found)))]
    if marker:
        properties.append(("claim", list(marker)))
    report = SimpleNamespace(nodeid="tests/x.py::x", user_properties=properties, passed=passed, failed=not passed,
                             skipped=False, when="call", longrepr="")
    receiving = collector()
    receiving.pytest_runtest_logreport(report)  # type: ignore[arg-type]
    return receiving


SENT: dict[str, tuple[Any, tuple[str, str] | None]] = {
    "D8: about another claim": (evidence(claim=OTHER, layer=Layer.TORCH), (ID, "torch")),
    "D8: by another layer": (evidence(claim=ID), (ID, "torch")),
    "D8: without a marker": (evidence(claim=ID), None),
    "D8: about no claim": (evidence(claim="eot.nowhere", layer=Layer.TORCH), (ID, "torch")),
    "D8: no evidence": ("{}", (ID, "torch")),
    "D8: no data": ("nothing", (ID, "torch")),
    "D8: an outcome that is none": (json.dumps(asdict(evidence(claim=ID)) | {"outcome": "proved"}), (ID, "symbolic")),
    "D8: a layer that is none": (json.dumps(asdict(evidence(claim=ID)) | {"layer": "oracle"}), (ID, "oracle")),
    "D8: a field that is none": (json.dumps(asdict(evidence(claim=ID)) | {"verdict": "proved"}), (ID, "symbolic")),
}


@pytest.mark.parametrize("name", SENT)
def test_is_not_collected(name: str) -> None:
    received = sent(*SENT[name])
    assert not received.evidence
    assert received.misplaced
    assert received.incomplete == {marker[0] for _, marker in [SENT[name]] if marker}


def test_two_outcomes_of_one_test() -> None:
    both = [evidence(claim=ID, layer=Layer.TORCH), evidence(claim=ID, layer=Layer.TORCH, outcome=Outcome.REFUTED)]
    properties: list[tuple[str, Any]] = [("claim", [ID, "torch"]), *(("evidence", json.dumps(asdict(e))) for e in both)]
    receiving = collector()
    receiving.pytest_runtest_logreport(SimpleNamespace(  # type: ignore[arg-type]
        nodeid="x", user_properties=properties, passed=True, failed=False, skipped=False, when="call", longrepr=""))
    assert receiving.misplaced


@pytest.mark.parametrize("claim", [OTHER, "eot.nowhere"])
def test_evidence_for_a_claim_that_did_not_run(claim: str) -> None:
    with pytest.raises(ValueError, match=claim):
        ledger.build([evidence(claim=claim)], [ID], {})


# ── what a file says ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def genuine() -> dict[str, Any]:
    """The ledger of two claims, one proved and one corrected, as `verify` would write it."""
    ids = [ID, "eot.s7.fisher-scaled"]
    found = [examine(entries()[id]).evidence for id in ids]
    return json.loads(json.dumps(ledger.build(found, ids, ledger.environment(["cpu"], 1.0, 0, {}))))  # type: ignore[no-any-return]


def row(written: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return written["claims"][place]  # type: ignore[no-any-return]


def vote(written: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return row(written, place)["evidence"][0]  # type: ignore[no-any-return]


EDITS: dict[str, Edit] = {
    "another verdict": lambda d: row(d).update(verdict="open"),
    "a refuted claim proved": lambda d: row(d, 1).update(verdict="proved"),
    "a verdict that is none": lambda d: row(d).update(verdict="certain"),
    "no verdict": lambda d: row(d).pop("verdict"),
    "a verdict in a list": lambda d: row(d).update(verdict=["proved"]),
    "another severity": lambda d: row(d, 1).update(severity="wording"),
    "another scope": lambda d: row(d).update(scope="everything"),
    "another statement": lambda d: row(d)["statement"].update(latex="0 = 0"),
    "another title": lambda d: row(d).update(title="Another"),
    "another kind": lambda d: row(d).update(kind="definition"),
    "a kind that is none": lambda d: row(d).update(kind="truth"),
    "the witness is gone": lambda d: row(d, 1).update(witness=None),
    "another witness": lambda d: row(d, 1)["witness"].update(left="0.25"),
    "the correction is gone": lambda d: row(d, 1).update(correction=None),
    "another correction": lambda d: row(d, 1)["correction"].update(latex="0 = 0"),
    "another stated correction": lambda d: row(d, 1)["stated_correction"]["statement"].update(latex="0 = 0"),
    "evidence that was refuted holds": lambda d: vote(d, 1).update(outcome="holds"),
    "evidence for every size": lambda d: vote(d).update(general=not vote(d)["general"]),
    "evidence by another layer": lambda d: vote(d).update(layer="torch"),
    "a layer that is none": lambda d: vote(d).update(layer="oracle"),
    "an outcome that is none": lambda d: vote(d).update(outcome="proved"),
    "the evidence is gone": lambda d: row(d).update(evidence=[]),
    "evidence twice": lambda d: row(d)["evidence"].append({**vote(d), "layer": "torch"}),
    "a fault is gone": lambda d: vote(d).update(faults=["a fault"]),
    "a twin is gone": lambda d: row(d)["twins"].pop(),
    "a stated twin is gone": lambda d: row(d)["stated_twins"].pop(),
    "a twin refuted by another layer": lambda d: row(d)["twins"][0].update(refuted_by=["torch"]),
    "a twin that lives": lambda d: row(d).update(survivors=["torch: a twin"]),
    "a step is gone": lambda d: row(d).update(derivation=[]),
    "a step that does not hold": lambda d: row(d)["derivation"][0].update(holds=False),
    "another step": lambda d: row(d)["derivation"][-1].update(statement="0 = 0"),
    "a step that holds in words": lambda d: row(d)["derivation"][0].update(holds="yes"),
    "another support": lambda d: row(d).update(depends_on=[]),
    "an unwritten hypothesis": lambda d: row(d).update(hypotheses=["x > 0"]),
    "a quoted theorem": lambda d: row(d).update(
        quotes=[{"name": "n", "statement": "s", "source": "t", "step": "x"}]),
    "another id": lambda d: row(d).update(id=OTHER),
    "an id with a path": lambda d: row(d).update(id="../../etc/passwd"),
    "an id with markup": lambda d: row(d).update(id="<script>"),
    "another document": lambda d: row(d).update(document="inference"),
    "another number": lambda d: row(d).update(number="60"),
    "a claim twice": lambda d: d["claims"].append(deepcopy(row(d))),
    "no claims": lambda d: d.update(claims=[]),
    "claims that are no objects": lambda d: d.update(claims=["proved"]),
    "no environment": lambda d: d.pop("environment"),
    "another schema": lambda d: d.update(schema=99),
    "no digest": lambda d: row(d).pop("digest"),
    "another digest": lambda d: row(d).update(digest="0" * 16),
    "a worst part": lambda d: row(d).update(worst_part=OTHER),
    "a part that is not there": lambda d: row(d).update(parts=["eot.nowhere"]),
    "files that are a list": lambda d: d.update(files=["derivations.catalogue"]),
    "files without hashes": lambda d: d.update(files={"derivations.catalogue": None}),
    "sources that are one text": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "sources": "derivations"})),
    "sources that are no texts": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "sources": [1]})),
    "voters that are no texts": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "voters": None})),
    "a run that was complete in words": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "complete": "yes"})),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_forged_file_is_not_read(name: str, genuine: dict[str, Any], tmp_path: Path) -> None:
    forged = deepcopy(genuine)
    EDITS[name](forged)
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(forged))
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


def test_a_forged_summary_is_counted_again(genuine: dict[str, Any], tmp_path: Path) -> None:
    forged = deepcopy(genuine)
    forged["summary"] = {"claims": 999, "by_verdict": {"proved": 999}, "by_document": {"eot": 999}}
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(forged))
    assert ledger.read(path)["summary"]["by_verdict"] == genuine["summary"]["by_verdict"]


@pytest.mark.parametrize("text", ["", "nothing", "[]", "null", '"proved"', '{"schema": 1}', '{"schema": NaN}', "{" * 50])
def test_what_is_no_ledger_is_not_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


def test_a_row_about_an_older_statement_is_not_reused(genuine: dict[str, Any]) -> None:
    old = deepcopy(genuine)
    row(old)["statement"]["text"] = "Another one."
    assert [each["id"] for each in ledger.current(old)["claims"]] == [row(genuine, 1)["id"]]


def test_control_a_genuine_file_is_read(genuine: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    ledger.write(genuine, path)
    assert [each["verdict"] for each in ledger.read(path)["claims"]] == ["proved", "corrected"]


# ── what a run is compared with ─────────────────────────────────────────────────────────────────────────────────────


def test_green_rests_on_green(genuine: dict[str, Any]) -> None:
    rows = [{"id": "a.1", "verdict": "proved", "depends_on": ["a.2"]}, {"id": "a.2", "verdict": "open", "depends_on": []},
            {"id": "a.3", "verdict": "proved", "depends_on": ["a.1"]}]
    assert ledger.green({"claims": rows}) == set()


LOSSES: dict[str, Edit] = {
    "a layer no longer holds": lambda d: d[ID]["layers"].update(torch="holds", symbolic="refuted"),
    "a stronger verdict before": lambda d: d[ID].update(verdict="refuted"),
    "a twin more before": lambda d: d[ID]["twins"].update({"one more": ["symbolic"]}),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_a_problem(name: str, genuine: dict[str, Any]) -> None:
    before = ledger.snapshot(genuine)
    assert not ledger.problems(genuine, before, complete=False)
    LOSSES[name](before)
    assert ledger.problems(genuine, before, complete=False)


def told(*found: Evidence, **environment: Any) -> dict[str, Any]:
    """A ledger of one claim with this evidence, as a whole run would leave it."""
    rows = ledger.build([replace(e, claim=ID, refuted_twins=e.refuted_twins and TWINS) for e in found], [ID], {})["claims"]
    whole = {"asked": [ID], "complete": True} | environment
    return json.loads(json.dumps(ledger.assemble([{**row, "complete": True} for row in rows], whole)))  # type: ignore[no-any-return]


def proved(*given: str) -> Evidence:
    return evidence(given=given, derivation=(Step("a = b", "why", True, given=given),))


def disproved(*given: str) -> Evidence:
    return evidence(outcome=Outcome.REFUTED, witness=FALSE, derivation=(Step("not always: a = b", "why", True, given=given),))


def powered(power: float | None) -> list[Evidence]:
    return [proved(), torch(power=power, mutants=20)]


WEAKENED: dict[str, tuple[list[Evidence], list[Evidence]]] = {
    "F10: a stronger hypothesis": ([proved("x ≥ 0")], [proved("x > 0")]),
    "F10: one hypothesis more, and one less": ([proved("x ≥ 0", "y ≥ 0")], [proved("x ≥ 0", "x = 1")]),
    "F10: a hypothesis more": ([proved("x ≥ 0")], [proved("x ≥ 0", "y ≥ 0")]),
    "F10: a disproof of a print that has a hypothesis less": ([disproved("x ≥ 0")], [disproved()]),
    "F10: a disproof of a print that has a hypothesis more": ([disproved()], [disproved("x ≥ 0")]),
    "F10: a vote that no longer tells mutants": (powered(0.95), powered(0.5)),
    "F10: a vote that is just too weak": (powered(0.8), powered(0.7999)),
    "F10: a vote whose power nobody counts": (powered(0.95), powered(None)),
    **{f"F26: a new layer that says {outcome}": ([proved()], [proved(), torch(outcome=outcome)])
       for outcome in Outcome if outcome not in (Outcome.HOLDS, Outcome.REFUTED)},
    "F26: a vote in doubt that is worth less": ([proved(), torch(outcome=Outcome.INCONCLUSIVE)],
                                                [proved(), torch(outcome=Outcome.VACUOUS)]),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_a_weaker_statement_or_vote_does_not_pass(name: str) -> None:
    before, now = WEAKENED[name]
    assert regression.compare(told(*now), ledger.snapshot(told(*before))).failed


KEPT: dict[str, tuple[list[Evidence], list[Evidence]]] = {
    "a hypothesis less": ([proved("x ≥ 0", "y ≥ 0")], [proved("x ≥ 0")]),
    "hypotheses in another order": ([proved("x ≥ 0", "y ≥ 0")], [proved("y ≥ 0", "x ≥ 0")]),
    "a little less power": (powered(0.95), powered(0.8)),
    "less of little power": (powered(0.7), powered(0.2)),
    "a new vote": ([proved()], powered(0.5)),
}


@pytest.mark.parametrize("name", KEPT)
def test_control_what_is_no_loss_passes(name: str) -> None:
    before, now = KEPT[name]
    assert not regression.compare(told(*now), ledger.snapshot(told(*before))).failed


def test_control_a_baseline_that_does_not_know_hypotheses_and_powers() -> None:
    """It has the declared hypotheses among the words, and nothing else of them."""
    now = told(proved("x ≥ 0"), torch(power=0.5, mutants=20))
    old = deepcopy(ledger.snapshot(now))
    old[ID]["text"]["hypotheses"] += old[ID].pop("given")
    del old[ID]["powers"], old[ID]["disproved_given"]
    assert not regression.compare(now, old).differences


# ── what is accepted ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_FAILED = f"{ID}: a test of it failed or did not run"
DOUBTFUL = torch(outcome=Outcome.INCONCLUSIVE, detail="7 tolerances off", refuted_twins=())


def marked(**fields: Any) -> dict[str, Any]:
    found = told(proved())
    return {**found, "claims": [sealed({**row(found), **fields})]}


def unmarked() -> dict[str, Any]:
    found = told(proved())
    row(found).pop("complete")
    return {**found, "claims": [sealed(row(found))]}


UNFIT: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "F26: a vote in doubt": (lambda: told(proved(), DOUBTFUL), f"{ID}: torch: inconclusive (7 tolerances off)"),
    "F26: a vote on nothing": (lambda: told(proved(), torch(outcome=Outcome.VACUOUS)), f"{ID}: torch: vacuous"),
    "F26: a vote that failed": (lambda: told(proved(), torch(outcome=Outcome.ERROR, detail="no")), f"{ID}: torch failed: no"),
    "F26: a twin that lives": (lambda: told(proved(), torch(refuted_twins=())), f"{ID}: the twin lives: torch: "),
    "F26: a step that does not hold": (
        lambda: told(evidence(outcome=Outcome.INCONCLUSIVE, faults=("step 1",))), f"{ID}: symbolic: step 1"),
    "F26: a test that failed": (lambda: marked(complete=False), TEST_FAILED),
    "F26: tests of which nothing is known": (unmarked, TEST_FAILED),
    "F26: a run of one layer": (lambda: told(proved(), complete=False), "a run that did not ask every layer"),
    "F26: a quick run": (lambda: told(proved(), quick=True), "a quick run"),
}


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A baseline in which the claim is proved."""
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(ledger.snapshot(told(proved()))))
    monkeypatch.setattr(ledger, "baselines", lambda: {"eot": path})
    monkeypatch.delenv("CI", raising=False)
    return path


@pytest.mark.parametrize("name", UNFIT)
def test_is_not_made_the_baseline(name: str, baseline: Path) -> None:
    make, named = UNFIT[name]
    before = baseline.read_text()
    with pytest.raises(ValueError, match=r"^accept: ") as refused:
        regression.accept(make())
    assert named in str(refused.value)
    assert baseline.read_text() == before


def test_a_problem_is_not_hidden_by_those_of_others() -> None:
    wrong = [replace(DOUBTFUL, claim=id) for id in (ID, OTHER)]
    found = ledger.assemble(ledger.build(wrong, [ID, OTHER], {})["claims"], {"complete": True})
    assert f"{ID}: " in ledger.unfit(found, {})
    assert f"(and problems of {OTHER})" in ledger.unfit(found, {})


def test_control_a_loss_is_accepted_and_a_problem_that_was_there(baseline: Path) -> None:
    regression.accept(told(proved("x > 0")))
    assert ledger.load_baseline()[ID]["given"] == ["x > 0"]
    old = told(proved(), DOUBTFUL)
    baseline.write_text(json.dumps(ledger.snapshot(old)))
    regression.accept(old)
    assert regression.compare(told(proved(), DOUBTFUL), ledger.load_baseline()).unchanged == 1
