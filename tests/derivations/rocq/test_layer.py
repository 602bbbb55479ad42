"""The seals of claims and the faults of a run, from exports and Rocq's answers as they may be."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from derivations.records.seals import About, Seal, SealOutcome
from derivations.register.entry import Entry
from derivations.rocq import layer
from derivations.rocq.checking import Checked
from derivations.rocq.export import HEADER, Theorem
from derivations.rocq.headline import Headline
from derivations.rocq.layer import Findings, check, coverage, summary
from derivations.rocq.library import Library

ACCEPTED, INCONCLUSIVE, NOT_EXPORTED, DISAGREES = SealOutcome
IDS = ("one.1", "one.2", "one.3", "two.1", "two.2", "two.3")
EXPORTS = {
    "one.1": ("", ""),
    "one.2": ("", "a power"),
    "one.3": ("the statement says 1", ""),
    "two.1": ("", ""),
    "two.2": ("", ""),
    "two.3": ("", ""),
}
ANSWERS = {
    "one_1": Checked(True, 0.5, ("boolp.propositional_extensionality",)),
    "two_1": Checked(False, 1.0, detail="x" * 2000),
    "two_2": Checked(False, 2.0, ("mine",), "it rests on the axiom mine"),
    "two_3": Checked(True, 4.0),
}
SOURCE = """(* claim: one.2, one.9 *)
Theorem by_hand : True.
(* claim: two.1 *)
Lemma broken : True.
"""


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Library:
    """A library whose file Bad does not compile, and answers to the theorems of five claims."""
    made = Library(tmp_path, "digest", "whole", {"Bad": "line 4: no"}, {})

    def built(workers: int) -> Library:
        assert workers in (1, 2)
        return made

    def exports(claims: Mapping[str, Entry]) -> Any:
        for id in claims:
            name = id.replace(".", "_")
            wrong, reason = EXPORTS[id]
            yield (
                id,
                SimpleNamespace(
                    name=name,
                    wrong=wrong,
                    not_exported=reason,
                    theorem=Theorem(name, f"Theorem {name} : True.", "exact: I.", {}),
                ),
            )

    def checked(theorems: Sequence[Theorem], library: Library, workers: int, progress: Any) -> dict[str, Checked]:
        assert workers in (1, 3)
        return {each.name: ANSWERS[each.name] for each in theorems}

    def headlines_checked(by_hand: Sequence[Headline], library: Library) -> dict[Headline, Checked]:
        return {
            each: Checked(False, 0.0, detail=f"{each.file}.v: wrong") if each.theorem == "broken" else Checked(True, 3.0)
            for each in by_hand
        }

    catalogue = {id: cast(Entry, SimpleNamespace(id=id, repair=id == "two.1")) for id in IDS}
    for name, value in (
        ("entries", lambda: catalogue),
        ("ordered", lambda ids: [id for id in IDS if id in ids]),
        ("sources", lambda: {"Good": SOURCE}),
        ("version", lambda: "8.16.1"),
        ("built", built),
        ("exports", exports),
        ("checked", checked),
        ("headlines_checked", headlines_checked),
        ("refused", lambda texts: ["Good.v:1: Axiom is not allowed"] if "Good" not in texts else []),
        ("cache_folder", lambda: tmp_path / "cache"),
    ):
        monkeypatch.setattr(layer, name, value)
    return made


def test_each_claim_has_the_seal_of_its_theorem(library: Library, tmp_path: Path) -> None:
    found = check(IDS, 3)
    line = HEADER.count("\n") + 2
    by_hand = Seal("by_hand", About.BY_HAND, ACCEPTED, "formal/theories/Good.v:2", (), 3.0)
    assert found.seals == {
        "one.1": [
            Seal(
                "one_1",
                About.PRINT,
                ACCEPTED,
                f"{tmp_path}/cache/exported/one_1.v:{line}",
                ("boolp.propositional_extensionality",),
                0.5,
            )
        ],
        "one.2": [Seal("", About.PRINT, NOT_EXPORTED, detail="a power"), by_hand],
        "one.3": [Seal("one_3", About.PRINT, DISAGREES, detail="the statement says 1")],
        "two.1": [
            Seal("two_1", About.CORRECTION, INCONCLUSIVE, "", (), 1.0, "x" * 1500),
            Seal("broken", About.BY_HAND, INCONCLUSIVE, "formal/theories/Good.v:4", (), 0.0, "Good.v: wrong"),
        ],
        "two.3": [Seal("two_3", About.PRINT, ACCEPTED, f"{tmp_path}/cache/exported/two_3.v:{line}", (), 4.0)],
        "two.2": [Seal("two_2", About.PRINT, INCONCLUSIVE, "", ("mine",), 2.0, "it rests on the axiom mine")],
    }
    stored = (tmp_path / "cache" / "exported" / "one_1.v").read_text(encoding="utf-8")
    assert stored == f"{HEADER}\nTheorem one_1 : True.\nProof.\nexact: I.\nQed.\n"
    assert stored.splitlines()[HEADER.count("\n") + 1] == "Theorem one_1 : True."
    assert sorted(found.accepted()) == ["one.1", "one.2", "two.3"]
    assert coverage(found) == ["one: 2 accepted, 1 disagrees", "two: 1 accepted, 2 inconclusive"]


def test_the_faults_of_a_run(library: Library) -> None:
    assert check(IDS, 3).alarms == [
        "one.3: the exported statement is not the relation: the statement says 1",
        "formal/theories/Bad.v does not compile: line 4: no",
        "two.2: the exported theorem rests on the axiom mine",
        "formal/theories/Good.v:2: expected the id of a claim, got one.9",
        "formal/theories/Good.v:4: broken: Good.v: wrong",
    ]


def test_only_requested_claims_are_asked_about(library: Library) -> None:
    found = check(["one.1", "two.9"], 1)
    assert list(found.seals) == ["one.1"]
    assert not [alarm for alarm in found.alarms if "two" in alarm or "broken" in alarm]


def test_a_file_that_does_not_compile_is_one_fault(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer, "sources", lambda: {"Bad": SOURCE, "Good": ""})
    alarms = check(IDS, 3).alarms
    assert [alarm for alarm in alarms if "Bad" in alarm] == [
        "formal/theories/Bad.v does not compile: line 4: no",
        "formal/theories/Bad.v:2: expected the id of a claim, got one.9",
    ]


def test_the_summary_counts_claims_and_theorems(library: Library) -> None:
    verdicts = {"one.1": "proved", "one.2": "corrected", "one.3": "proved", "two.1": "proved"}
    assert summary(check(IDS, 3), verdicts) == (
        "kernel: Rocq 8.16.1 accepts theorems about 3 claims (1 theorems by hand), among them 1 of the 3 that are proved"
    )
    assert coverage(Findings()) == []
