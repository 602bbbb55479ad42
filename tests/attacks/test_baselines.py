"""Ledgers that are weaker than the baseline, and ledgers and files that cannot become the baseline."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from derivations.ledger import baseline as remembered
from derivations.ledger import ledger, regression
from derivations.ledger.baseline import Kept, snapshot
from derivations.ledger.rows import sealed
from derivations.records.base import to_json
from derivations.records.claims import Evidence, Layer, Outcome, Step, Verdict
from derivations.records.normal_form import Sample
from derivations.records.theorems import WEIERSTRASS
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from tests.attacks.ledgers import FALSE, ID, TWINS, evidence, row, torch

OTHER = "eot.54"


def ledger_of(*evidence: Evidence, **environment: Any) -> dict[str, Any]:
    """A complete ledger of one claim with this evidence."""
    rows = ledger.build([replace(e, claim=ID, refuted_twins=e.refuted_twins and TWINS) for e in evidence], [ID], {})["claims"]
    run = {"asked": [ID], "complete": True} | environment
    return json.loads(json.dumps(ledger.assemble([{**row, "complete": True} for row in rows], run)))  # type: ignore[no-any-return]


def proved(*hypotheses: str) -> Evidence:
    return evidence(given=hypotheses, derivation=(Step("a = b", "why", True, given=hypotheses),))


def disproved(*hypotheses: str) -> Evidence:
    step = Step("not always: a = b", "why", True, given=hypotheses)
    return evidence(outcome=Outcome.REFUTED, witness=FALSE, derivation=(step,))


QUOTING = (Step("a = b", "why", True, quotes=(WEIERSTRASS,)),)


def powered(power: float | None) -> list[Evidence]:
    return [proved(), torch(power=power, mutants=20)]


LOSSES: dict[str, Callable[[Kept], dict[str, Any]]] = {
    "a layer no longer holds": lambda entry: {"layers": {**entry.layers, Layer.SYMBOLIC: Outcome.REFUTED}},
    "a stronger verdict before": lambda entry: {"verdict": Verdict.REFUTED},
    "a twin more before": lambda entry: {"twins": {**entry.twins, "one more": (Layer.SYMBOLIC,)}},
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_a_problem(name: str) -> None:
    now = ledger_of(proved())
    before = snapshot(now)
    assert not remembered.problems(now, before, complete=False)
    assert remembered.problems(now, {ID: replace(before[ID], **LOSSES[name](before[ID]))}, complete=False)


KEPT_ROW = to_json(snapshot(ledger_of(proved()))[ID])
VALUED = {"form": {"sign": "equal"}, "left": "a", "right": "b", "variables": {}, "values": []}
SAMPLE = {"at": {}, "right": "1"}
FORGED: dict[str, Any] = {
    "a list": [],
    "a claim that is no object": {ID: 3},
    "no verdict": {ID: {}},
    "an empty file": None,
    "a verdict that is none": {ID: KEPT_ROW | {"verdict": "certain"}},
    "an unknown field": {ID: KEPT_ROW | {"accepted": True}},
    "an error in words": {ID: KEPT_ROW | {"errors": {"torch": "small"}}},
    "a layer that is none": {ID: KEPT_ROW | {"layers": {"oracle": "holds"}}},
    "steps in one text": {ID: KEPT_ROW | {"derivation": "a = b"}},
    "a claim of another document": {"geometric.7": KEPT_ROW},
    "an id with a letter that looks alike": {ID.replace("o", "о"): KEPT_ROW},
    "an error that is not a number": {ID: KEPT_ROW | {"errors": {"torch": "NaN"}}},
    **{
        f"a value that is {value}": {ID: KEPT_ROW | {"canonical": VALUED | {"values": [{**SAMPLE, "left": value}]}}}
        for value in ("Infinity", "-inf", "NaN", "sNaN", "１", "1e99999999999999999999", "", "1\n")
    },
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_baseline_is_not_read(name: str, baseline: Path) -> None:
    baseline.write_text("" if FORGED[name] is None else json.dumps(FORGED[name]))
    with pytest.raises(ValueError, match=r"^baseline: .*baseline\.json: "):
        remembered.load()


def test_control_a_baseline_with_values_is_read(baseline: Path) -> None:
    values = [{"at": {"x": "1/2"}, "left": left, "right": "-2.5e-10"} for left in ("0", "-1.25e+7", "oo", "-oo", None)]
    baseline.write_text(json.dumps({ID: KEPT_ROW | {"canonical": VALUED | {"values": values}}}))
    assert remembered.load()[ID].canonical


@pytest.mark.parametrize("where", ["a claim", "a field"])
def test_a_baseline_that_says_something_twice_is_not_read(where: str, baseline: Path) -> None:
    row = json.dumps(KEPT_ROW)
    again = f'{{"{ID}":{row},"{ID}":{row}}}' if where == "a claim" else f'{{"{ID}":{row[:-1]},"general":false}}}}'
    baseline.write_text(again)
    with pytest.raises(ValueError, match="duplicate"):
        remembered.load()


WEAKENED: dict[str, tuple[list[Evidence], list[Evidence]]] = {
    "F10: a stronger hypothesis": ([proved("x ≥ 0")], [proved("x > 0")]),
    "F10: one hypothesis more, and one less": ([proved("x ≥ 0", "y ≥ 0")], [proved("x ≥ 0", "x = 1")]),
    "F10: a hypothesis more": ([proved("x ≥ 0")], [proved("x ≥ 0", "y ≥ 0")]),
    "F10: a disproof of a print that has a hypothesis less": ([disproved("x ≥ 0")], [disproved()]),
    "F10: a disproof of a print that has a hypothesis more": ([disproved()], [disproved("x ≥ 0")]),
    "F10: a vote that no longer tells mutants": (powered(0.95), powered(0.5)),
    "F10: a vote that is just too weak": (powered(0.8), powered(0.7999)),
    "F10: a vote whose power nobody counts": (powered(0.95), powered(None)),
    "a proof that newly rests on a quoted theorem": ([proved()], [evidence(derivation=QUOTING)]),
    "an error that is no longer known": ([proved(), torch(error=0.3)], [proved(), torch(error=None)]),
    **{
        f"F26: a new layer that says {outcome}": ([proved()], [proved(), torch(outcome=outcome)])
        for outcome in Outcome
        if outcome not in (Outcome.HOLDS, Outcome.REFUTED)
    },
    "F26: a vote in doubt that is worth less": (
        [proved(), torch(outcome=Outcome.INCONCLUSIVE)],
        [proved(), torch(outcome=Outcome.VACUOUS)],
    ),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_a_weaker_statement_or_vote_does_not_pass(name: str) -> None:
    before, now = WEAKENED[name]
    assert regression.compare(ledger_of(*now), snapshot(ledger_of(*before))).failed


KEPT: dict[str, tuple[list[Evidence], list[Evidence]]] = {
    "a hypothesis less": ([proved("x ≥ 0", "y ≥ 0")], [proved("x ≥ 0")]),
    "hypotheses in another order": ([proved("x ≥ 0", "y ≥ 0")], [proved("y ≥ 0", "x ≥ 0")]),
    "a little less power": (powered(0.95), powered(0.8)),
    "less of little power": (powered(0.7), powered(0.2)),
    "a new vote": ([proved()], powered(0.5)),
    "a proof that no longer rests on a quoted theorem": ([evidence(derivation=QUOTING)], [proved()]),
    "an error that was not known": ([proved(), torch(error=None)], [proved(), torch(error=0.3)]),
}


@pytest.mark.parametrize("name", KEPT)
def test_control_statements_that_are_no_weaker_pass(name: str) -> None:
    before, now = KEPT[name]
    assert not regression.compare(ledger_of(*now), snapshot(ledger_of(*before))).failed


UNINFORMATIVE: dict[str, list[tuple[str | None, str | None]]] = {
    "no values": [],
    "values of 0": [("0", "0")] * 3,
    "values that are not finite": [(None, None)] * 3,
    "values of 0 on the side that changed": [("0", "1")] * 3,
}


@pytest.mark.parametrize("name", UNINFORMATIVE)
def test_values_that_tell_nothing_do_not_vouch_for_another_side(name: str) -> None:
    now = ledger.build([examine(entries()["eot.59"]).evidence], ["eot.59"], {})
    entry = snapshot(now)["eot.59"]
    assert entry.canonical is not None
    at = entry.canonical.values[0].at
    values = tuple(Sample(at, left, right) for left, right in UNINFORMATIVE[name])
    before = {"eot.59": replace(entry, canonical=replace(entry.canonical, left="another", values=values))}
    assert regression.compare(now, before, lambda *_: list(values)).failed


# ── accepted results ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_FAILED = f"{ID}: a test of it failed or did not run"
DOUBTFUL = torch(outcome=Outcome.INCONCLUSIVE, detail="7 tolerances off", refuted_twins=())


def marked(**fields: Any) -> dict[str, Any]:
    assembled = ledger_of(proved())
    return {**assembled, "claims": [sealed({**row(assembled), **fields})]}


def unmarked() -> dict[str, Any]:
    assembled = ledger_of(proved())
    row(assembled).pop("complete")
    return {**assembled, "claims": [sealed(row(assembled))]}


UNFIT: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "F26: a vote in doubt": (lambda: ledger_of(proved(), DOUBTFUL), f"{ID}: torch: inconclusive (7 tolerances off)"),
    "F26: a vote on nothing": (lambda: ledger_of(proved(), torch(outcome=Outcome.VACUOUS)), f"{ID}: torch: vacuous"),
    "F26: a vote that failed": (
        lambda: ledger_of(proved(), torch(outcome=Outcome.ERROR, detail="no")),
        f"{ID}: torch failed: no",
    ),
    "F26: a twin that lives": (lambda: ledger_of(proved(), torch(refuted_twins=())), f"{ID}: the twin lives: torch: "),
    "F26: a step that does not hold": (
        lambda: ledger_of(evidence(outcome=Outcome.INCONCLUSIVE, faults=("step 1",))),
        f"{ID}: symbolic: step 1",
    ),
    "F26: a test that failed": (lambda: marked(complete=False), TEST_FAILED),
    "F26: tests of which nothing is known": (unmarked, TEST_FAILED),
    "F26: a run of one layer": (lambda: ledger_of(proved(), complete=False), "a run that did not include every layer"),
    "F26: a quick run": (lambda: ledger_of(proved(), quick=True), "a quick run"),
}


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A baseline in which the claim is proved."""
    path = tmp_path / "baseline.json"
    path.write_text(remembered.as_text(snapshot(ledger_of(proved()))))
    monkeypatch.setattr(remembered, "baselines", lambda: {"eot": path})
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


def test_one_problem_does_not_hide_another() -> None:
    wrong = [replace(DOUBTFUL, claim=id) for id in (ID, OTHER)]
    assembled = ledger.assemble(ledger.build(wrong, [ID, OTHER], {})["claims"], {"complete": True})
    assert f"{ID}: " in remembered.rejection(assembled, {})
    assert f"(and problems of {OTHER})" in remembered.rejection(assembled, {})


def test_control_a_loss_is_accepted_and_a_problem_that_was_there(baseline: Path) -> None:
    regression.accept(ledger_of(proved("x > 0")))
    assert remembered.load()[ID].given == ("x > 0",)
    old = ledger_of(proved(), DOUBTFUL)
    baseline.write_text(remembered.as_text(snapshot(old)))
    regression.accept(old)
    assert regression.compare(ledger_of(proved(), DOUBTFUL), remembered.load()).unchanged == 1
