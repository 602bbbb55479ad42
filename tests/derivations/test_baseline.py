"""The baseline: one file a document and one line a claim, strictly read, and changed by an explicit command only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from derivations import baseline as remembered
from derivations import regression
from derivations.baseline import Kept, snapshot
from derivations.catalogue import DOCUMENTS, entries
from derivations.records import to_json
from derivations.regression import compare
from tests.derivations.test_regression import IDS, JACOBIAN, rewritten, scaled, written


@pytest.fixture(scope="module")
def before() -> dict[str, Kept]:
    return snapshot(written({}, IDS))


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, Kept]) -> Path:
    path = tmp_path / "baseline.json"
    path.write_text(remembered.as_text(before))
    monkeypatch.setattr(remembered, "baselines", lambda: dict.fromkeys(DOCUMENTS, path))
    monkeypatch.delenv("CI", raising=False)
    return path


def test_what_is_accepted_is_the_baseline(baseline: Path) -> None:
    row = written(rewritten(JACOBIAN, scaled(sp.Integer(2))), [*IDS, "eot.46"])
    assert compare(row, remembered.load()).failed
    regression.accept(row)
    assert not compare(row, remembered.load()).differences
    assert [path.name for path in baseline.parent.iterdir()] == ["baseline.json"]


def test_accepting_part_of_the_claims_leaves_the_others(baseline: Path, before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    regression.accept(row)
    assert remembered.load() == before
    row["environment"]["asked"] = ["deciphering"]
    regression.accept(row)
    assert list(remembered.load()) == [id for id in entries() if id in IDS and id.startswith("eot.")]


def test_a_claim_that_changed_is_one_line_that_changed(baseline: Path) -> None:
    regression.accept(written({}, IDS))
    lines = baseline.read_text().splitlines()
    regression.accept(written(rewritten(JACOBIAN, scaled(sp.Integer(2)), title="Another title"), [JACOBIAN]))
    changed = [new for old, new in zip(lines, baseline.read_text().splitlines(), strict=True) if old != new]
    assert [line.partition(":")[0] for line in changed] == [f'"{JACOBIAN}"']
    assert len(lines) == len(IDS) + 2


def test_nothing_is_accepted_in_ci(baseline: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, Kept]) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(ValueError, match=r"^accept: expected a run by hand, got one in CI"):
        regression.accept(written({}, [JACOBIAN]))
    assert remembered.load() == before


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False), ("0", False), ("False", False)])
def test_what_counts_as_ci(value: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", value)
    assert regression.in_ci() is expected


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_has_its_own_file_with_one_line_a_claim(document: str) -> None:
    path = remembered.baselines()[document]
    lines = path.read_text(encoding="utf-8").splitlines()
    own = [id for id in entries() if id.startswith(f"{document}.")]
    assert (lines[0], lines[-1]) == ("{", "}")
    assert [json.loads(line.split(":", 1)[0]) for line in lines[1:-1]] == own
    kept = remembered.load()
    assert remembered.as_text({id: kept[id] for id in own}) == path.read_text(encoding="utf-8")


def test_what_is_generated_is_marked_as_generated() -> None:
    attributes = (Path(__file__).parents[2] / ".gitattributes").read_text(encoding="utf-8")
    assert "derivations/*/baseline.json linguist-generated" in attributes.splitlines()


KEPT = to_json(remembered.load()["eot.59"])


@pytest.mark.parametrize(("kept", "named"), [
    ([], "expected object, got array"), ({"eot.59": 3}, "eot.59: expected object, got int"),
    ({"eot.59": KEPT | {"verdict": "excellent"}}, "eot.59: verdict: expected a known word, got 'excellent'"),
    ({"eot.59": KEPT | {"layers": {"oracle": "holds"}}}, "expected a known word, got 'oracle'"),
    ({"eot.59": {"verdict": "proved"}}, "eot.59: expected the field severity, got none"),
    ({"eot.59": KEPT | {"severity": "dire"}}, "eot.59: severity: expected a known word, got 'dire'"),
    ({"eot.59": KEPT | {"status": "proved"}}, "eot.59: expected known fields, got status"),
    ({"geometric.59": KEPT}, "expected claims of its own documents, got geometric.59"),
])
def test_a_baseline_holds_verdicts(kept: Any, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(kept))
    monkeypatch.setattr(remembered, "baselines", lambda: {"eot": path})
    with pytest.raises(ValueError, match=r"^baseline: .*baseline\.json") as refused:
        remembered.load()
    assert named in str(refused.value)
