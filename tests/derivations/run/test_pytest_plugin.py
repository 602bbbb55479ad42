"""The collector accepts from each test the evidence on its own claim and layer, and detects whether a run is complete."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from derivations.ledger import incremental
from derivations.records.base import encoded
from derivations.records.claims import Evidence, Layer, Outcome
from derivations.register import selection
from derivations.register.catalogue import entries
from derivations.run.pytest_plugin import Collector
from tests.derivations.ledger.test_ledger import evidence
from tests.registers import register


def collected(*sent: Evidence, more: tuple[tuple[str, Any], ...] = ()) -> Collector:
    collector = Collector(SimpleNamespace())  # type: ignore[arg-type]
    properties = [("claim", ["eot.59", "torch"]), *(("evidence", encoded(e).decode()) for e in sent), *more]
    report = pytest.TestReport("t::x[eot.59]", ("", 0, ""), {}, "passed", None, "call", user_properties=properties)
    collector.pytest_runtest_logreport(report)
    return collector


def test_evidence_is_about_the_claim_and_layer_of_its_test() -> None:
    vote = evidence(layer=Layer.TORCH)
    assert collected(vote).evidence == [vote]
    assert not collected(vote).misplaced
    for stranger in (evidence(claim="eot.60", layer=Layer.TORCH), evidence()):
        results = collected(vote, stranger)
        assert results.evidence == [vote]
        assert "t::x[eot.59]: expected evidence for eot.59 (torch), got some for" in results.misplaced[0]


def test_a_test_cannot_rename_itself() -> None:
    results = collected(evidence(), more=(("claim", ["eot.59", "symbolic"]),))
    assert not results.evidence
    assert results.misplaced


def test_votes_of_one_test_agree() -> None:
    votes = [evidence(layer=Layer.TORCH), evidence(layer=Layer.TORCH, outcome=Outcome.REFUTED)]
    assert not collected(votes[0], votes[0]).misplaced
    assert "expected one outcome, got holds, refuted" in collected(*votes).misplaced[0]


def test_invalid_evidence_is_named() -> None:
    assert "expected evidence, got something else" in collected(more=(("evidence", '{"layer": "torch"}'),)).misplaced[0]
    assert "expected evidence, got something else" in collected(more=(("evidence", "7"),)).misplaced[0]


def test_misplaced_evidence_leaves_its_claim_incomplete() -> None:
    assert not collected(evidence(layer=Layer.TORCH)).incomplete
    assert collected(evidence(claim="eot.60", layer=Layer.TORCH)).incomplete == {"eot.59"}


BOTH = ["derivations", "evidence"]


@pytest.mark.parametrize(
    ("arguments", "options", "complete"),
    [
        ([], {}, True),
        (BOTH, {}, True),
        (["evidence"], {}, False),
        (["derivations/test_derivations.py"], {}, False),
        (BOTH, {"claims": ""}, False),
        (BOTH, {"keyword": "Jacobian"}, False),
        (BOTH, {"deselect": ["x"]}, False),
        (["derivations", "evidence/test_votes.py::test_torch"], {}, False),
        (BOTH, {"markexpr": "not slow"}, False),
        (BOTH, {"ignore": ["evidence"]}, False),
        (BOTH, {"ignore_glob": ["*votes*"]}, False),
    ],
)
def test_a_run_is_complete_if_it_includes_every_test(arguments: list[str], options: dict[str, Any], complete: bool) -> None:
    anything = {"claims": "eot.59", "keyword": "", "markexpr": "", "deselect": None, "ignore": None, "ignore_glob": None}
    option = SimpleNamespace(**anything | options)
    paths = arguments or [str(path) for path in incremental.voting_files().values()]
    where = SimpleNamespace(dir=Path(__file__).parents[3])
    config = SimpleNamespace(option=option, args=paths, invocation_params=where)
    assert Collector(config).asks_all() is complete  # type: ignore[arg-type]


def test_parts_are_selected_with_their_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    part = replace(entries()["eot.64"], part_of="eot.59")
    register(monkeypatch, entries()["eot.59"], part)
    assert selection.selected("eot.59") == {"eot.59", "eot.64"}
