"""The claims that a list of ids and documents names, and their dependencies."""

from types import SimpleNamespace

import pytest

from derivations.register import selection
from tests.registers import register

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
    made = [
        SimpleNamespace(id=id, needs=needs, supporting=needs, part_of="eot.3" if "part" in id else None)
        for id, needs in CLAIMS.items()
    ]
    register(monkeypatch, *made, documents=("eot", "inference", "eotic", "empty"))


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
    refused = rf"^ID: expected a claim or a document, got {pattern.split(',')[-1]}; "
    with pytest.raises(ValueError, match=refused):
        selection.selected(pattern)
    with pytest.raises(ValueError, match=refused):
        selection.named(pattern.split(","))


def test_a_name_that_is_close_is_suggested() -> None:
    for name, hint in (("eot.s1.parts", "did you mean eot.s1.part"), ("9", "see `python -m derivations list`")):
        with pytest.raises(ValueError, match=rf"^ID: expected a claim or a document, got {name}; {hint}"):
            selection.known(name)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ((), [*CLAIMS]),
        (("inference", "eot.2"), ["eot.2", "inference.1"]),
        (("eot.3",), ["eot.3"]),  # without its part
        (("empty",), []),
        (("eotic", "eotic.1"), ["eotic.1"]),
    ],
)
def test_claims_are_named_in_printed_order(names: tuple[str, ...], chosen: list[str]) -> None:
    assert selection.named(names) == chosen


def test_dependencies_of_claims() -> None:
    assert selection.needs_of(["inference.1", "eot.1"]) == {"eot.1": ("eot.2",), "inference.1": ("eot.2",)}
    assert selection.all_needs("eot.1") == {"eot.2", "inference.1", "eot.3"}
    assert selection.all_needs("eot.3") == set()
