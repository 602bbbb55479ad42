"""The claims that a list of ids and documents names, and their dependencies."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from derivations.register import selection

CLAIMS = {
    "eot.1": ("eot.2",),
    "eot.2": ("inference.1", "eot.3"),
    "eot.3": (),
    "eot.s1.part": (),
    "inference.1": ("eot.2",),
    "eotic.1": (),
}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        id: SimpleNamespace(needs=needs, supporting=needs, part_of="eot.3" if "part" in id else None)
        for id, needs in CLAIMS.items()
    }
    monkeypatch.setattr(selection, "entries", lambda: known)
    monkeypatch.setattr(selection, "documents", lambda: {"eot": None, "inference": None, "eotic": None})


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("", set()),
        ("eot.1", {"eot.1"}),
        ("eot.3", {"eot.3", "eot.s1.part"}),
        ("eot.1,,inference", {"eot.1", "inference.1"}),
        ("eot", {"eot.1", "eot.2", "eot.3", "eot.s1.part"}),
    ],
)
def test_ids_and_documents_name_claims_with_their_parts(pattern: str, chosen: set[str]) -> None:
    assert selection.selected(pattern) == chosen


@pytest.mark.parametrize("pattern", ["eot.9", "eot.1,geometric", "e"])
def test_other_names_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=rf"^ID: expected a claim or a document, got {pattern.split(',')[-1]}$"):
        selection.selected(pattern)


def test_dependencies_of_claims() -> None:
    assert selection.needs_of(["inference.1", "eot.1"]) == {"eot.1": ("eot.2",), "inference.1": ("eot.2",)}
    assert selection.all_needs("eot.1") == {"eot.2", "inference.1", "eot.3"}
    assert selection.all_needs("eot.3") == set()
