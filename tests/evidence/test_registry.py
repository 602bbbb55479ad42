"""Votes are in the module with the name of their claim's chapter, and registered once."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from derivations.records.claims import Layer, Outcome
from derivations.register.catalogue import entries
from evidence import bridge, registry
from evidence.registry import CASES, OBSERVATIONS, Finding, Run, confirms, load, observes

load()
VOTES = [
    *(case for cases in CASES.values() for case in cases.values()),
    *(each for known in OBSERVATIONS.values() for each in known.values()),
]
CHAPTER = re.compile(r"(section|appendix_|listing_)")


def test_no_vote_names_an_unknown_claim() -> None:
    assert len(VOTES) > 800
    assert {vote.claim for vote in VOTES} <= set(entries())


def test_every_vote_is_in_the_module_named_like_its_chapter() -> None:
    homes = {id: entry.module.replace("derivations.documents.", "evidence.") for id, entry in entries().items()}
    assert [(vote.claim, vote.module) for vote in VOTES if vote.module != homes[vote.claim]] == []


def test_every_module_named_like_a_chapter_is_one() -> None:
    root = Path(importlib.import_module("evidence").__path__[0])
    chapters = root.with_name("derivations") / "documents"
    named = [path for path in root.glob("*/*.py") if CHAPTER.match(path.name)]
    assert len(named) > 80
    assert [path.name for path in named if not (chapters / path.parent.name / path.name).is_file()] == []


def test_a_vote_records_its_line() -> None:
    vote = CASES[Layer.TORCH]["eot.46"]
    lines = Path(importlib.import_module(vote.module).__file__ or "").read_text(encoding="utf-8").splitlines()
    assert "confirms" in lines[vote.line - 1]


def test_loading_one_claim_does_not_load_the_others() -> None:
    code = "import sys; from evidence.registry import load; load(['eot.59']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "evidence.eot.section5_gradient" in loaded
    assert not {"evidence.deciphering", "transformers", "sklearn"} & set(loaded)


def nothing(claim: str, run: Run) -> Finding:
    raise NotImplementedError


@pytest.mark.parametrize("layer", [Layer.SYMBOLIC, Layer.SOURCE])
def test_unknown_layers_are_refused(layer: Layer) -> None:
    with pytest.raises(ValueError, match=f"^layer: expected torch or primal, got {layer}"):
        confirms(layer, "eot.46", on=None)


def test_nothing_is_observed_for_the_symbolic_layer() -> None:
    with pytest.raises(ValueError, match=r"^layer: expected a numeric layer"):
        observes(Layer.SYMBOLIC, "eot.46")


def test_a_second_vote_of_one_layer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"claim: expected one without a torch check, got eot\.46"):
        confirms(Layer.TORCH, "eot.46", on=None)(CASES[Layer.TORCH]["eot.46"].printed)


# ── registration and loading ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty register, which is restored afterwards."""
    monkeypatch.setattr(registry, "CASES", {layer: {} for layer in Layer})
    monkeypatch.setattr(registry, "OBSERVATIONS", {})


REGISTERING = """

def of_a_chapter():
    return confirms(Layer.PRIMAL, "eot.1", "eot.2", on="numbers")


of_a_chapter()(check)
seen = observes(Layer.SOURCE, "eot.1", name="here")(observe)
"""


def test_a_vote_is_registered_with_the_line_of_its_module(empty: None) -> None:
    names = {
        "__name__": "evidence.paper.section1",
        "confirms": confirms,
        "observes": observes,
        "Layer": Layer,
        "check": len,
        "observe": nothing,
    }
    exec(compile(REGISTERING, "section1.py", "exec"), names)
    case = registry.CASES[Layer.PRIMAL]["eot.2"]
    assert (case.strategy, case.printed, case.corrected, case.count, case.automatic) == ("numbers", len, None, 32, False)
    assert (case.claim, case.module, case.line) == ("eot.2", "evidence.paper.section1", 7)
    seen = registry.OBSERVATIONS["eot.1"]["source-here"]
    assert (seen.layer, seen.name, seen.observe, seen.module, seen.line) == (
        Layer.SOURCE,
        "here",
        nothing,
        "evidence.paper.section1",
        8,
    )
    assert names["seen"] is nothing


def test_observations_of_one_name_are_one(empty: None) -> None:
    observes(Layer.TORCH, "eot.1")(nothing)
    observes(Layer.TORCH, "eot.1", name="again")(nothing)
    assert list(registry.OBSERVATIONS["eot.1"]) == ["torch", "torch-again"]
    with pytest.raises(ValueError, match=r"claim: expected one without an observation torch-again, got eot\.1, which has one"):
        observes(Layer.TORCH, "eot.1", name="again")(nothing)


def test_votes_are_in_the_order_of_the_documents(empty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entries", lambda: dict.fromkeys(["eot.1", "eot.2", "eot.3"]))
    confirms(Layer.TORCH, "eot.3", "eot.1", on=None)(len)
    observes(Layer.TORCH, "eot.3", "eot.2")(nothing)
    assert [case.claim for case in registry.cases(Layer.TORCH)] == ["eot.1", "eot.3"]
    assert list(registry.cases(Layer.PRIMAL)) == []
    assert [each.claim for each in registry.observations()] == ["eot.2", "eot.3"]


def test_a_run_is_complete_by_default() -> None:
    assert (Run().quick, Run().device, Run().model) == (False, "cpu", None)
    assert Finding(Outcome.HOLDS, "scope") == Finding(Outcome.HOLDS, "scope", "", None, (), None, "cpu")


@pytest.mark.parametrize(
    ("claims", "read"),
    [
        (["eot.1"], ["evidence.eot.section1"]),
        (["paper.1"], ["paper.checks", "paper.checks.votes"]),
        (None, ["evidence.eot.section1", "other.checks", "other.checks.votes", "paper.checks", "paper.checks.votes"]),
    ],
)
def test_selected_votes_are_loaded(claims: list[str] | None, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    homes = {
        "paper.1": "paper.section1",
        "eot.2": "derivations.documents.eot.section2",
        "eot.1": "derivations.documents.eot.section1",
    }
    imported: list[str] = []
    admitted: list[tuple[str, Path]] = []

    def importing(name: str) -> SimpleNamespace:
        assert bridge._closed
        imported.append(name)
        return SimpleNamespace(__path__=[])

    monkeypatch.setattr(registry, "entries", lambda: {id: SimpleNamespace(module=home) for id, home in homes.items()})
    monkeypatch.setattr(registry, "checks", lambda: ["other.checks", "paper.checks"])
    monkeypatch.setattr(registry, "outside", lambda: {"paper": Path("paper"), "other": Path("other")})
    monkeypatch.setattr(registry, "admit_sources", lambda package, folder: admitted.append((package, folder)))
    monkeypatch.setattr(
        registry,
        "pkgutil",
        SimpleNamespace(iter_modules=lambda path: [SimpleNamespace(name="votes"), SimpleNamespace(name="test_votes")]),
    )
    monkeypatch.setattr(
        registry,
        "importlib",
        SimpleNamespace(import_module=importing, util=SimpleNamespace(find_spec=lambda name: name != "evidence.eot.section2")),
    )
    registry.load(claims)
    assert imported == read
    assert admitted == [(name, Path(name.removesuffix(".checks"), "checks")) for name in read if name.endswith(".checks")]
