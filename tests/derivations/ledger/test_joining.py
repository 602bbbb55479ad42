"""A run updates the rows that it computed; the others stay, with the run that they are of."""

import json
from pathlib import Path
from typing import Any

import pytest

from derivations.ledger import baseline, ledger
from derivations.ledger.incremental import Sources, outdated_rows, stale
from derivations.ledger.joining import joined
from derivations.ledger.rows import settle
from derivations.ledger.runs import environments, runs_of
from derivations.records.claims import Outcome
from tests.derivations.report.samples import row as sample

FILES = {"derivations": "1", "derivations.one": "1"}


def run(date: str, *ids: str, files: dict[str, str] = FILES, complete: bool = True, **environment: Any) -> dict[str, Any]:
    """The ledger of a run of these claims."""
    rows = [{**sample(id), "run": date, "complete": complete, "sources": ["derivations.one"]} for id in ids]
    surroundings = {"date": date, "complete": True, "asked": list(ids), **environment}
    return json.loads(json.dumps(ledger.assemble(rows, surroundings) | {"files": files}))  # type: ignore[no-any-return]


def dates(of: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["run"] for row in of["claims"]}


def test_rows_that_a_run_did_not_compute_stay(tmp_path: Path) -> None:
    after = joined(run("first", "eot.1", "eot.2"), run("second", "eot.2", files={**FILES, "derivations.one": "2"}), ())
    assert dates(after) == {"eot.1": "first", "eot.2": "second"}
    assert after["environment"]["date"] == "second"
    assert after["runs"]["first"]["files"] == {"derivations.one": "1"}
    assert runs_of(after)["first"]["files"] == FILES
    ledger.write(after, tmp_path / "ledger.json")
    assert dates(ledger.read(tmp_path / "ledger.json")) == dates(after)
    third = joined(after, run("third", "eot.2"), ())
    assert third["runs"]["first"]["files"] == {}  # the sources are those of the first run again
    assert set(third["runs"]) == {"first"}  # and the second has no row any more
    assert "runs" not in joined(third, run("fourth", "eot.1", "eot.2"), ())


def test_rows_that_were_reused_hold_for_the_files_of_now() -> None:
    now = run("second", "eot.2", files={**FILES, "derivations.two": "2"})
    assert joined(run("first", "eot.1", "eot.2"), now, (), {"eot.1"})["runs"]["first"]["files"] == {}
    assert joined(run("first", "eot.1", "eot.2"), now, ())["runs"]["first"]["files"] == {"derivations.two": None}


def test_a_row_of_an_unknown_run_is_refused(tmp_path: Path) -> None:
    after = joined(run("first", "eot.1", "eot.2"), run("second", "eot.2"), ())
    after["claims"] = settle([{**row, "run": "never"} for row in after["claims"]])
    ledger.write(after, tmp_path / "ledger.json")
    with pytest.raises(ValueError, match="run: expected the date of a run of the ledger, got 'never'"):
        ledger.read(tmp_path / "ledger.json")


def test_each_row_is_compared_with_the_sources_of_its_own_run(tmp_path: Path) -> None:
    for name in ("__init__.py", "one.py"):
        (tmp_path / name).write_text("")
    sources = Sources({"derivations": tmp_path})
    old = {**sources.hashes, "derivations.one": "another"}
    after = joined(run("first", "eot.1", "eot.2", files=old), run("second", "eot.2", files=sources.hashes), ())
    assert set(outdated_rows(sources, after)) == {"eot.1"}
    assert set(stale(after, sources, {"eot.1": (), "eot.2": ()})) == {"eot.1"}
    other = joined(run("first", "eot.1", "eot.2", files=sources.hashes), run("second", "eot.2", files=old), ())
    assert set(outdated_rows(sources, other)) == {"eot.2"}


def test_rows_of_claims_that_their_document_no_longer_has() -> None:
    before = run("first", "eot.1", "eot.no-more", "elsewhere.1")
    assert set(dates(joined(before, run("second", "eot.1"), ()))) == {"eot.1", "eot.no-more", "elsewhere.1"}
    whole = joined(before, {**run("second", "eot.1"), "environment": {"date": "second", "asked": ["eot"]}}, ())
    assert set(dates(whole)) == {"eot.1", "elsewhere.1"}


PARTIAL: list[dict[str, Any]] = [{"quick": True}, {"complete": False}]


@pytest.mark.parametrize("less", [*PARTIAL, {"quick": True, "complete": False}])
def test_a_partial_row_gives_way_to_a_fuller_one(less: dict[str, Any]) -> None:
    full, partial = run("full", "eot.1"), run("partial", "eot.1")
    partial["environment"] |= less
    assert dates(joined(full, partial, ())) == {"eot.1": "full"}
    assert dates(joined(partial, full, ())) == {"eot.1": "full"}
    assert dates(joined(full, partial, {"eot.1"})) == {"eot.1": "partial"}
    assert dates(joined(run("quick", "eot.1", quick=True), run("symbolic", "eot.1", complete=False), ())) == {"eot.1": "quick"}
    assert not baseline.rejection({**joined(full, partial, ()), "claims": []}, {})


def test_a_partial_row_that_says_something_else_is_not_hidden() -> None:
    full, partial = run("full", "eot.1"), run("partial", "eot.1", quick=True)
    rows = [{**row, "evidence": [{**e, "outcome": Outcome.INCONCLUSIVE} for e in row["evidence"]]} for row in partial["claims"]]
    after = joined(full, {**partial, "claims": settle(rows)}, ())
    assert dates(after) == {"eot.1": "partial"}
    assert baseline.rejection(after, {}) == "expected a ledger from a complete `verify`, got one with rows from a quick run"


def test_only_runs_with_rows_count() -> None:
    after = joined(run("full", "eot.1"), run("partial", "eot.1", quick=True), ())
    assert [each.get("quick", False) for each in environments(after)] == [False]


def test_a_shard_stands_alone() -> None:
    shard = {"part": 1, "of": 2, "asked": ["eot"]}
    now = run("second", "eot.1", shard=shard)
    assert joined(run("first", "eot.1", "eot.2", shard=shard), now, ()) == now
