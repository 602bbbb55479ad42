"""Invented evidence, and ledgers with typed verdicts."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from derivations.judge.verdicts import judge
from derivations.ledger import ledger
from derivations.ledger.rows import sealed, settle
from derivations.records.base import encoded, to_json
from derivations.records.claims import SUPPORTING_VERDICTS, Evidence, Judgement, Kind, Layer, Outcome, Verdict
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from derivations.run.pytest_plugin import Collector
from tests.attacks.entries import HONEST, entry
from tests.attacks.ledgers import FALSE, ID, OWN, evidence, row, torch

OTHER = "eot.54"
Edit = Callable[[dict[str, Any]], object]

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


def judged(kind: Kind, evidence: list[Evidence]) -> Judgement:
    return judge(entry(HONEST, kind=kind).claim, evidence)


@pytest.mark.parametrize("name", UNEARNED)
def test_is_not_green(name: str) -> None:
    kind, evidence = UNEARNED[name]
    assert judged(kind, evidence).verdict not in SUPPORTING_VERDICTS
    assert judged(kind, evidence[::-1]).verdict not in SUPPORTING_VERDICTS


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


# ── evidence of tests ───────────────────────────────────────────────────────────────────────────────────────────────


def collector() -> Collector:
    return Collector(SimpleNamespace(option=SimpleNamespace(ledger=None, claims="", incremental=None)))  # type: ignore[arg-type]


def collected(evidence_sent: Any, marker: tuple[str, str] | None = (ID, "torch"), passed: bool = True) -> Collector:
    """The collector's result for a test that recorded this evidence."""
    text = evidence_sent if isinstance(evidence_sent, str) else encoded(evidence_sent).decode()
    properties: list[tuple[str, Any]] = [("evidence", text)]
    if marker:
        properties.append(("claim", list(marker)))
    report = SimpleNamespace(
        nodeid="tests/x.py::x",
        user_properties=properties,
        passed=passed,
        failed=not passed,
        skipped=False,
        when="call",
        longrepr="",
    )
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
    "D8: an outcome that is none": (json.dumps(to_json(evidence(claim=ID)) | {"outcome": "proved"}), (ID, "symbolic")),
    "D8: a layer that is none": (json.dumps(to_json(evidence(claim=ID)) | {"layer": "oracle"}), (ID, "oracle")),
    "D8: a field that is none": (json.dumps(to_json(evidence(claim=ID)) | {"verdict": "proved"}), (ID, "symbolic")),
}


@pytest.mark.parametrize("name", SENT)
def test_is_not_collected(name: str) -> None:
    received = collected(*SENT[name])
    assert not received.evidence
    assert received.misplaced
    assert received.incomplete == {marker[0] for _, marker in [SENT[name]] if marker}


def test_two_outcomes_of_one_test() -> None:
    both = [evidence(claim=ID, layer=Layer.TORCH), evidence(claim=ID, layer=Layer.TORCH, outcome=Outcome.REFUTED)]
    properties: list[tuple[str, Any]] = [("claim", [ID, "torch"]), *(("evidence", encoded(e).decode()) for e in both)]
    receiving = collector()
    receiving.pytest_runtest_logreport(
        SimpleNamespace(  # type: ignore[arg-type]
            nodeid="x", user_properties=properties, passed=True, failed=False, skipped=False, when="call", longrepr=""
        )
    )
    assert receiving.misplaced


def test_a_vote_that_never_ended() -> None:
    """One worker process dies in a vote after another vote on the claim ended."""
    tests = [("x::symbolic", "symbolic"), ("x::torch", "torch")]
    properties: list[tuple[str, Any]] = [
        ("claim", [ID, "symbolic"]),
        ("evidence", encoded(evidence(claim=ID)).decode()),
        ("tests", tests),
        ("deselected", False),
    ]
    receiving = collector()
    receiving.pytest_runtest_logreport(
        SimpleNamespace(  # type: ignore[arg-type]
            nodeid="x::symbolic", user_properties=properties, passed=True, failed=False, skipped=False, when="call", longrepr=""
        )
    )
    (missing,) = receiving.silent()
    assert (missing.layer, missing.outcome, missing.detail) == (Layer.TORCH, Outcome.ERROR, "x::torch did not end")
    assert receiving.incomplete == {ID}
    assert judged(Kind.IDENTITY, [*receiving.evidence, missing]).verdict is Verdict.OPEN


def test_a_vote_that_another_plugin_deselected() -> None:
    properties: list[tuple[str, Any]] = [
        ("claim", [ID, "symbolic"]),
        ("evidence", encoded(evidence(claim=ID)).decode()),
        ("tests", [("x::symbolic", "symbolic")]),
        ("deselected", True),
    ]
    receiving = collector()
    receiving.pytest_runtest_logreport(
        SimpleNamespace(  # type: ignore[arg-type]
            nodeid="x::symbolic", user_properties=properties, passed=True, failed=False, skipped=False, when="call", longrepr=""
        )
    )
    assert not receiving.silent()
    assert receiving.incomplete == {ID}


@pytest.mark.parametrize("claim", [OTHER, "eot.nowhere"])
def test_evidence_for_a_claim_that_did_not_run(claim: str) -> None:
    with pytest.raises(ValueError, match=claim):
        ledger.build([evidence(claim=claim)], [ID], {})


# ── contents of files ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def genuine_ledger() -> dict[str, Any]:
    """A ledger with one proved and one corrected claim, as `verify` writes it."""
    ids = [ID, "eot.s7.fisher-scaled"]
    evidence = [examine(entries()[id]).evidence for id in ids]
    return json.loads(json.dumps(ledger.build(evidence, ids, ledger.environment(["cpu"], 1.0, 0, {}))))  # type: ignore[no-any-return]


def vote(written: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return row(written, index)["evidence"][0]  # type: ignore[no-any-return]


EDITS: dict[str, Edit] = {
    "another verdict": lambda d: row(d).update(verdict="open"),
    "a refuted claim proved": lambda d: row(d, 1).update(verdict="proved"),
    "a verdict that is none": lambda d: row(d).update(verdict="certain"),
    "no verdict": lambda d: row(d).pop("verdict"),
    "a verdict in a list": lambda d: row(d).update(verdict=["proved"]),
    "another severity": lambda d: row(d, 1).update(severity="wording"),
    "another scope": lambda d: row(d).update(scope="everything"),
    "another cause": lambda d: row(d).update(cause="contradiction"),
    "an unknown field": lambda d: row(d).update(status="proved"),
    "an unknown field of evidence": lambda d: vote(d).update(trust="high"),
    "an unknown field of the ledger": lambda d: d.update(signature="valid"),
    "another statement": lambda d: row(d)["statement"].update(latex="0 = 0"),
    "another title": lambda d: row(d).update(title="Another"),
    "another kind": lambda d: row(d).update(kind="definition"),
    "a kind that is none": lambda d: row(d).update(kind="truth"),
    "the witness is gone": lambda d: row(d, 1).update(witness=None),
    "another witness": lambda d: row(d, 1)["witness"].update(left="0.25"),
    "another sign of the witness": lambda d: row(d, 1)["witness"].update(sign="<"),
    "other inputs of the witness": lambda d: row(d, 1)["witness"].update(inputs={"m": 3}),
    "inputs that are not exact": lambda d: row(d, 1)["witness"].update(inputs={"m": 0.1}),
    "inputs in words": lambda d: row(d, 1)["witness"].update(inputs="m = 3"),
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
    "a twin that lives": lambda d: row(d).update(survivors=[{"layer": "torch", "twin": "a twin", "part": None}]),
    "a step is gone": lambda d: row(d).update(derivation=[]),
    "a step that does not hold": lambda d: row(d)["derivation"][0].update(holds=False),
    "another step": lambda d: row(d)["derivation"][-1].update(statement="0 = 0"),
    "a step that holds in words": lambda d: row(d)["derivation"][0].update(holds="yes"),
    "another support": lambda d: row(d).update(depends_on=[]),
    "an unwritten hypothesis": lambda d: row(d).update(hypotheses=["x > 0"]),
    "a quoted theorem": lambda d: row(d).update(quotes=[{"name": "n", "statement": "s", "source": "t", "step": "x"}]),
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
    "files that are a list": lambda d: d.update(files=["derivations.register.catalogue"]),
    "files without hashes": lambda d: d.update(files={"derivations.register.catalogue": None}),
    "sources that are one text": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "sources": "derivations"})),
    "sources that are no texts": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "sources": [1]})),
    "voters that are no texts": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "voters": None})),
    "a run that was complete in words": lambda d: d["claims"].__setitem__(0, sealed({**row(d), "complete": "yes"})),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_forged_file_is_not_read(name: str, genuine_ledger: dict[str, Any], tmp_path: Path) -> None:
    forged = deepcopy(genuine_ledger)
    EDITS[name](forged)
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(forged))
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


IMPOSSIBLE: dict[str, dict[str, object]] = {
    "negative seconds": {"seconds": -1.0},
    "more seconds than there are": {"seconds": 1e308},
    "a power above 1": {"power": 1.5, "mutants": 2},
    "a power below 0": {"power": -1.0, "mutants": 2},
    "a negative number of mutants": {"mutants": -1},
    "more living mutants than mutants": {"mutants": 1, "alive": ["one", "another"]},
    "a negative error": {"error": -1.0},
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_evidence_that_no_run_finds_is_not_read(name: str, genuine_ledger: dict[str, Any], tmp_path: Path) -> None:
    """Its digest is right; such numbers would count when shards are balanced and powers are compared."""
    forged = deepcopy(genuine_ledger)
    vote(forged).update(IMPOSSIBLE[name])
    _is_refused(forged, tmp_path)


def test_a_second_proof_beside_the_first_is_not_read(genuine_ledger: dict[str, Any], tmp_path: Path) -> None:
    forged = deepcopy(genuine_ledger)
    row(forged)["evidence"].append(deepcopy(vote(forged)))
    _is_refused(forged, tmp_path)


def _is_refused(forged: dict[str, Any], folder: Path) -> None:
    path = folder / "ledger.json"
    path.write_text(json.dumps({**forged, "claims": settle(forged["claims"])}))
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


def test_a_forged_summary_is_counted_again(genuine_ledger: dict[str, Any], tmp_path: Path) -> None:
    forged = deepcopy(genuine_ledger)
    forged["summary"] = {"claims": 999, "by_verdict": {"proved": 999}, "by_document": {"eot": 999}}
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(forged))
    assert ledger.read(path)["summary"]["by_verdict"] == genuine_ledger["summary"]["by_verdict"]


@pytest.mark.parametrize("text", ["", "nothing", "[]", "null", '"proved"', '{"schema": 1}', '{"schema": NaN}', "{" * 50])
def test_a_file_that_is_no_ledger_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="ledger"):
        ledger.read(path)


def test_a_row_about_an_older_statement_is_not_reused(genuine_ledger: dict[str, Any]) -> None:
    old = deepcopy(genuine_ledger)
    row(old)["statement"]["text"] = "Another one."
    assert [each["id"] for each in ledger.current(old)["claims"]] == [row(genuine_ledger, 1)["id"]]


def test_control_a_genuine_file_is_read(genuine_ledger: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    ledger.write(genuine_ledger, path)
    assert [each["verdict"] for each in ledger.read(path)["claims"]] == ["proved", "corrected"]


def test_green_rests_on_green(genuine_ledger: dict[str, Any]) -> None:
    rows = [
        {"id": "a.1", "verdict": "proved", "depends_on": ["a.2"]},
        {"id": "a.2", "verdict": "open", "depends_on": []},
        {"id": "a.3", "verdict": "proved", "depends_on": ["a.1"]},
    ]
    assert ledger.green({"claims": rows}) == set()
