"""No behaviour depends on wording: every message is changed, and nothing else changes."""

import json
import sys
from collections.abc import Callable
from functools import wraps
from inspect import getmembers, isfunction
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from derivations import __main__ as commands
from derivations.ledger import baseline, incremental, ledger, messages, regression
from derivations.ledger.differences import Aspect
from derivations.ledger.incremental import Reason, ReasonKind
from derivations.records import rendering
from derivations.records.claims import CauseKind, Evidence, Layer, Outcome
from derivations.records.normal_form import Sign
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from tests.derivations.ledger.test_regression import CORRECTED, IDS, JACOBIAN

TWINS = tuple(entries()[JACOBIAN].twins)


def vote(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "claim": JACOBIAN,
        "layer": Layer.TORCH,
        "outcome": Outcome.HOLDS,
        "scope": "drawn",
        "error": 0.02,
        "refuted_twins": TWINS,
    }
    return Evidence(**(fields | changes))


RUNS: dict[str, tuple[Evidence, ...]] = {
    "as before": (vote(),),
    "the layers contradict each other": (vote(outcome=Outcome.REFUTED),),
    "a layer failed": (vote(outcome=Outcome.ERROR),),
    "a vote in doubt": (vote(outcome=Outcome.INCONCLUSIVE),),
    "a twin lives": (vote(refuted_twins=TWINS[1:]),),
    "a layer is gone": (),
    "an error grew": (vote(error=0.9),),
}


def functions() -> dict[str, Callable[..., str]]:
    """The functions of the renderer that return text."""
    own = [
        pair
        for module in (rendering, messages)
        for pair in getmembers(module, isfunction)
        if pair[1].__module__ == module.__name__
    ]
    return {name: function for name, function in own if function.__annotations__.get("return") is str}


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every text by another one: reversed, and in brackets."""

    def reworded(function: Callable[..., str]) -> Callable[..., str]:
        return wraps(function)(lambda *arguments: f"⟦{function(*arguments)[::-1]}⟧")

    for name, function in functions().items():
        monkeypatch.setattr(sys.modules[function.__module__], name, reworded(function))
    for table in (rendering.SIGNS, messages.ASPECTS, messages.REASONS, messages.TEXTS):
        for key in table:  # whose placeholders are preserved
            monkeypatch.setitem(table, key, f"other {table[key]}")  # type: ignore[index, attr-defined]
    for kind, words in rendering.CAUSES.items():
        monkeypatch.setitem(rendering.CAUSES, kind, reworded(words))


def run(votes: tuple[Evidence, ...]) -> dict[str, Any]:
    """The complete ledger of these votes and of the symbolic layer's evidence."""
    evidence = [*(examine(entries()[id]).evidence for id in IDS), *votes]
    rows = ledger.build(evidence, IDS, {})["claims"]
    run_data = {"asked": IDS, "complete": True}
    return json.loads(json.dumps(ledger.assemble([{**row, "complete": True} for row in rows], run_data)))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def before() -> dict[str, baseline.Kept]:
    return baseline.snapshot(run(RUNS["as before"]))


def decided(votes: tuple[Evidence, ...], before: dict[str, baseline.Kept]) -> dict[str, Any]:
    """All decisions of a run, without texts."""
    decision = run(votes)
    comparison = regression.compare(decision, before)
    return {
        "verdicts": {row["id"]: (row["verdict"], row["severity"], row["cause"]) for row in decision["claims"]},
        "green": ledger.green(decision),
        "problems": len(baseline.problems(decision, before)),
        "fit": not baseline.rejection(decision, before),
        "classes": comparison.classes,
        "aspects": [(each.claim, each.change, each.aspect, each.subject) for each in comparison.differences],
        "unchanged": comparison.unchanged,
    }


@pytest.fixture(scope="module")
def as_worded(before: dict[str, baseline.Kept]) -> dict[str, dict[str, Any]]:
    """The decisions of each run, in the words of the renderer."""
    return {name: decided(votes, before) for name, votes in RUNS.items()}


def test_the_runs_differ(as_worded: dict[str, dict[str, Any]]) -> None:
    assert len({str(each) for each in as_worded.values()}) == len(RUNS)
    assert not as_worded["as before"]["aspects"]
    assert as_worded["as before"]["fit"]


@pytest.mark.parametrize("name", RUNS)
def test_verdicts_and_classes_are_the_same_in_other_words(
    name: str, as_worded: dict[str, dict[str, Any]], before: dict[str, baseline.Kept], other_words: None
) -> None:
    assert decided(RUNS[name], before) == as_worded[name]


@pytest.mark.usefixtures("other_words")
def test_the_words_are_other_ones() -> None:
    corrected = next(row for row in run(())["claims"] if row["id"] == CORRECTED)
    assert corrected["scope"].startswith("⟦")
    assert corrected["witness"]["text"].startswith("⟦")
    assert messages.because({"a.1": Reason(ReasonKind.NEW)}).startswith("⟦")


@pytest.mark.parametrize("name", RUNS)
def test_a_ledger_that_was_written_in_other_words_is_read(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "ledger.json"
    ledger.write(run(RUNS[name]), path)
    verdicts = [row["verdict"] for row in ledger.read(path)["claims"]]
    request.getfixturevalue("other_words")
    again = ledger.read(path)
    assert [row["verdict"] for row in again["claims"]] == verdicts
    assert {row["id"] for row in ledger.current(again)["claims"]} == set(IDS)
    assert all(row["scope"].startswith("⟦") for row in again["claims"])


@pytest.mark.parametrize("name", ["as before", "the layers contradict each other", "a layer is gone"])
def test_the_exit_status_is_the_same_in_other_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, before: dict[str, baseline.Kept]
) -> None:
    path, baseline_path = tmp_path / "ledger.json", tmp_path / "baseline.json"
    ledger.write(run(RUNS[name]), path)
    baseline_path.write_text(baseline.as_text(before))
    monkeypatch.setattr(baseline, "baselines", lambda: {id.split(".")[0]: baseline_path for id in IDS})
    statuses = []
    for wording in ("", "other_words"):
        if wording:
            request.getfixturevalue(wording)
        with pytest.raises(SystemExit) as ended:
            commands.regress.callback((), path, False)  # type: ignore[misc]
        statuses.append(ended.value.code)
    assert statuses[0] == statuses[1] == int(name != "as before")


NEEDS = {"a.1": (), "a.2": (), "a.3": ("a.1",), "a.4": ("a.3",)}


@pytest.mark.usefixtures("other_words")
def test_the_same_rows_are_used_again_in_other_words() -> None:
    rows = [{"id": id, "voters": [], "sources": [f"module{id}"], "complete": id != "a.1", "parts": []} for id in NEEDS]
    sources = incremental.Sources({})
    reasons = incremental.stale({"claims": rows, "files": sources.hashes}, sources, NEEDS)
    assert reasons == {
        "a.1": Reason(ReasonKind.INCOMPLETE),
        "a.3": Reason(ReasonKind.NEED, "a.1"),
        "a.4": Reason(ReasonKind.NEED, "a.3"),
    }


@pytest.mark.parametrize(
    ("kinds", "table"),
    [
        (CauseKind, rendering.CAUSES),
        (Sign, rendering.SIGNS),
        (Aspect, messages.ASPECTS),
        (ReasonKind, messages.REASONS),
        (baseline.Texts.__struct_fields__, messages.TEXTS),
    ],
    ids=["causes", "signs", "aspects", "reasons", "texts"],
)
def test_everything_has_words(kinds: Any, table: dict[Any, Any]) -> None:
    assert set(kinds) == set(table)


def test_a_change_of_a_statement_is_classed_by_its_values_and_not_by_its_words(before: dict[str, baseline.Kept]) -> None:
    entry = before[JACOBIAN]
    assert entry.canonical is not None
    other = replace(entry, canonical=replace(entry.canonical, left="0" * 16))
    comparison = regression.compare(run(RUNS["as before"]), {**before, JACOBIAN: other})
    assert comparison.classes == {JACOBIAN: regression.Change.REWRITE}
