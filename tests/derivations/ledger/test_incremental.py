"""The claims that a change affects: a small project of three packages with every relevant kind of change."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from derivations.ledger import incremental
from derivations.ledger.incremental import (
    Reason,
    ReasonKind,
    Sources,
    changed_files,
    may_have_new_votes,
    other_settings,
    outdated,
    outdated_rows,
    stale,
)
from derivations.ledger.messages import because, reason

FILES = {
    "proofs/__init__.py": "",
    "proofs/kernel.py": "RULES = 1\n",
    "proofs/one.py": "from proofs.kernel import RULES\n",
    "proofs/two.py": "def late():\n    from . import kernel\n",
    "numbers/__init__.py": "",
    "numbers/models/__init__.py": "",
    "numbers/models/capture.py": "import json\n",
    "numbers/models/texts/first.txt": "words\n",
    "checks/__init__.py": "",
    "checks/conftest.py": "",
    "checks/votes/__init__.py": "",
    "checks/votes/test_claims.py": "import importlib\nimportlib.import_module('checks.helpers')\n",
    "checks/votes/first.py": "import proofs.one as one\n",
    "checks/votes/second.py": "from numbers.models.capture import json\n",
    "checks/helpers.py": "",
}
NEEDS = {"a.1": (), "a.2": (), "a.3": ("a.1",), "a.4": ("a.3",)}
VOTERS = {"a.1": ["checks.votes.first"], "a.2": ["checks.votes.second", "checks.votes.test_claims"], "a.3": [], "a.4": []}
DERIVED = {"a.1": "proofs.one", "a.2": "proofs.two", "a.3": "proofs.kernel", "a.4": "proofs.kernel"}
SETTINGS = {"python": "3.12", "packages": {"sympy": "1"}, "device": "cpu", "quick": False, "model": None, "profile": "gate"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(incremental, "ROOT", tmp_path)
    monkeypatch.setattr(incremental, "ALWAYS", ("checks.conftest", "pyproject.toml"))
    return tmp_path


def read(root: Path) -> Sources:
    return Sources({name: root / name for name in ("proofs", "numbers", "checks")})


def last(root: Path) -> dict[str, Any]:
    rows = [
        {"id": id, "voters": VOTERS[id], "sources": sorted({*VOTERS[id], DERIVED[id]}), "complete": True, "parts": []}
        for id in NEEDS
    ]
    return {"claims": rows, "files": read(root).hashes, "environment": {**SETTINGS, "complete": True}}


def test_nothing_changed(root: Path) -> None:
    ledger = last(root)
    assert not changed_files(read(root), ledger)
    assert not stale(ledger, read(root), NEEDS)
    assert not stale(ledger, read(root), NEEDS, VOTERS)


def test_compiled_files_are_no_change(root: Path) -> None:
    ledger = last(root)
    for name in ("capture.cpython-312.pyc", "capture.f-1.py312.nbi"):
        path = root / "numbers" / "models" / "__pycache__" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
        assert not changed_files(read(root), ledger)
    (root / "numbers" / "models" / "texts" / "second.txt").write_text("more words\n")
    assert changed_files(read(root), ledger)


def test_imports_are_followed(root: Path) -> None:
    sources = read(root)
    always = {"checks", "checks.conftest", "pyproject.toml"}
    assert sources.closure(["checks.votes.first"]) == {
        "checks.votes",
        "checks.votes.first",
        "proofs",
        "proofs.one",
        "proofs.kernel",
        *always,
    }
    assert "proofs.kernel" in sources.closure(["proofs.two"])
    assert "checks.helpers" in sources.closure(["checks.votes.test_claims"])
    assert "numbers.models/*" in sources.closure(["checks.votes.second"])
    assert sources.closure(["no.such.module"]) == {"no.such.module", *always}


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        ("proofs/one.py", {"a.1", "a.3", "a.4"}),  # a.3 needs a.1, a.4 needs a.3
        ("proofs/two.py", {"a.2"}),
        ("proofs/kernel.py", set(NEEDS)),
        ("proofs/__init__.py", set(NEEDS)),
        ("numbers/models/capture.py", {"a.2"}),
        ("numbers/models/texts/first.txt", {"a.2"}),
        ("checks/helpers.py", {"a.2"}),
        ("checks/votes/first.py", {"a.1", "a.3", "a.4"}),
        ("checks/conftest.py", set(NEEDS)),
        ("pyproject.toml", set(NEEDS)),
        ("numbers/baseline.json", set()),
    ],
)
def test_a_change_affects_dependent_claims(root: Path, changed: str, touched: set[str]) -> None:
    ledger = last(root)
    (root / changed).write_text("CHANGED = 1\n")
    stale_claims = stale(ledger, read(root), NEEDS)
    assert set(stale_claims) == touched
    if touched:
        name = changed.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        assert because(stale_claims) in (f"{name} changed", "pyproject.toml changed", "numbers.models/* changed")


def test_a_deleted_module_affects_its_importers(root: Path) -> None:
    ledger = last(root)
    (root / "proofs/kernel.py").unlink()
    (root / "proofs/one.py").write_text("RULES = 1\n")
    assert {"a.1", "a.3"} <= set(stale(ledger, read(root), NEEDS))


def test_added_and_removed_votes_are_noticed(root: Path) -> None:
    ledger = last(root)
    more = {**VOTERS, "a.2": [*VOTERS["a.2"], "checks.votes.first"]}
    assert stale(ledger, read(root), NEEDS, more) == {"a.2": Reason(ReasonKind.VOTER, "checks.votes.first")}
    less = {**VOTERS, "a.2": VOTERS["a.2"][:1]}
    assert stale(ledger, read(root), NEEDS, less) == {"a.2": Reason(ReasonKind.LOST_VOTER, "checks.votes.test_claims")}


def test_votes_of_a_new_module_are_known_after_collection(root: Path) -> None:
    ledger = last(root)
    assert not may_have_new_votes(read(root), ledger, {"checks.votes"})
    (root / "checks/votes/third.py").write_text("")
    assert not stale(ledger, read(root), NEEDS)
    assert may_have_new_votes(read(root), ledger, {"checks.votes"})
    assert not may_have_new_votes(read(root), ledger, {"checks.other"})


def test_failed_and_new_claims_run_again(root: Path) -> None:
    ledger = last(root)
    ledger["claims"][1]["complete"] = False
    assert stale(ledger, read(root), NEEDS) == {"a.2": Reason(ReasonKind.INCOMPLETE)}
    assert set(stale(ledger, read(root), {**NEEDS, "a.5": ("a.4",)})) == {"a.2", "a.5"}
    ledger["claims"].pop()
    assert set(stale(ledger, read(root), NEEDS)) == {"a.2", "a.4"}


def test_a_local_model_may_have_changed(root: Path) -> None:
    ledger = last(root)
    ledger["environment"]["model"] = "folder"
    assert other_settings(ledger, {**SETTINGS, "model": "folder"}) == "the files of a model given by --model are not tracked"


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("python", "3.13", "python: 3.12 → 3.13"),
        ("packages", {"sympy": "2"}, "packages: sympy 1 → 2"),
        ("device", "cuda", "device: cpu → cuda"),
        ("quick", False, "quick: True → False"),
        ("profile", "explore", "profile: gate → explore"),
        ("model", "other", "model: None → other"),
        ("packages", {}, "packages: sympy 1 → None"),
    ],
)
def test_other_settings_run_everything(root: Path, name: str, value: Any, reason: str) -> None:
    ledger = last(root)
    ledger["environment"]["quick"] = name == "quick"
    assert other_settings(ledger, {**SETTINGS, "quick": ledger["environment"]["quick"]}) is None
    assert other_settings(ledger, {**SETTINGS, name: value}) == reason
    assert set(stale(ledger, read(root), NEEDS, settings={**SETTINGS, name: value}).values()) == {
        Reason(ReasonKind.SETTINGS, reason)
    }
    ledger["environment"]["complete"] = False
    assert other_settings(ledger, SETTINGS) == "the last run did not include every layer"
    del ledger["files"]
    assert other_settings(ledger, SETTINGS) == "the last run does not record its source files"


def test_a_ledger_is_outdated_by_changes_of_its_dependencies(root: Path) -> None:
    ledger = last(root)
    assert not outdated(read(root), ledger)
    (root / "proofs/kernel.py").write_text("RULES = 2\n")
    (root / "numbers/new.py").write_text("")  # which no row rests on
    assert outdated(read(root), ledger) == {"proofs.kernel"}
    del ledger["files"]
    assert not outdated(read(root), ledger)


def test_rows_are_outdated_by_their_dependencies(root: Path) -> None:
    ledger = last(root)
    assert not outdated_rows(read(root), ledger)
    (root / "proofs/two.py").write_text("CHANGED = 1\n")
    assert outdated_rows(read(root), ledger) == {"a.2": Reason(ReasonKind.OUTDATED, "proofs.two")}
    ledger["claims"][3]["parts"] = ["a.2"]
    assert set(outdated_rows(read(root), ledger)) == {"a.2", "a.4"}
    del ledger["claims"][0]["sources"]
    assert outdated_rows(read(root), ledger)["a.1"] == Reason(ReasonKind.UNKNOWN)
    del ledger["files"]
    assert set(outdated_rows(read(root), ledger)) == set(NEEDS)


def test_many_reasons_are_summarized() -> None:
    reasons = {str(n): Reason(ReasonKind.CHANGED, f"module{n}") for n in range(5)} | {"x": Reason(ReasonKind.NEED, "a.1")}
    assert because(reasons) == "module0 changed, module1 changed, module2 changed and 2 more"
    assert because({}) == ""
    assert because({"x": Reason(ReasonKind.NEED, "a.1")}) == ""


@pytest.mark.parametrize("kind", ReasonKind)
def test_every_reason_has_words(kind: ReasonKind) -> None:
    assert reason(Reason(kind, "a.module"))


def test_the_project_itself_is_read() -> None:
    sources = incremental.project()
    known = {"derivations.register.catalogue", "numerics", "evidence.harness", "pyproject.toml", "numerics.models/*"}
    assert known <= set(sources.hashes)
    closure = sources.closure(["evidence.eot.section5_gradient"])
    assert {"evidence.harness", "derivations.relations", "numerics.one_sided"} <= closure
    assert not any(name.startswith("derivations.documents.eot") for name in closure)


def test_the_first_changed_source_is_the_reason() -> None:
    sources = SimpleNamespace(closure=lambda names: {*names, "derivations.b"})
    touched = incremental._touched({"sources": ["derivations.c"]}, {"derivations.c", "derivations.b", "derivations.a"}, sources)
    assert touched == "derivations.b"
    assert incremental._touched({"sources": ["derivations.c"]}, {"derivations.a"}, sources) is None
    assert incremental._touched({"sources": ["derivations.c"]}, set(), sources) is None
