"""Votes are in the module with the name of their claim's chapter, and registered once."""

import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import strategies as st

from derivations.records.claims import Layer, Outcome
from derivations.register.catalogue import entries
from evidence import bridge, registry
from evidence.registry import (
    CASES,
    OBSERVATIONS,
    TABLE,
    Case,
    Finding,
    Observation,
    Observed,
    Run,
    Sampled,
    confirms,
    load,
    observes,
)
from tests.registers import register

load()
VOTES = [
    *(case for cases in CASES.values() for case in cases.values()),
    *(each for known in OBSERVATIONS.values() for each in known.values()),
]
CHAPTER = re.compile(r"(section|appendix_|listing_)")


def test_no_vote_names_an_unknown_claim() -> None:
    assert len(VOTES) > 800
    assert {vote.claim for vote in VOTES} <= set(entries())


def test_every_vote_is_in_the_module_named_like_a_chapter_that_prints_it() -> None:
    assert [(vote.claim, vote.module) for vote in VOTES if vote.module not in chapters(vote.claim)] == []


def chapters(id: str) -> set[str]:
    """The chapters of a claim and of what it reprints."""
    entry = entries()[id]
    own = entry.module.replace("derivations.documents.", "evidence.")
    return {own, *(chapters(entry.original) if entry.original else ())}


def test_every_module_named_like_a_chapter_is_one() -> None:
    root = Path(importlib.import_module("evidence").__path__[0])
    named = [path for path in root.glob("*/*.py") if CHAPTER.match(path.name)]
    assert len(named) > 80
    documents = root.with_name("derivations") / "documents"
    assert [path.name for path in named if not (documents / path.parent.name / path.name).is_file()] == []


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("eot.46", '@confirms(Layer.TORCH, "eot.46"'),
        ("deciphering.15", 'Sampled("deciphering.15"'),
        ("inference.17", 'Sampled("deciphering.15"'),
        ("beyond.cold-mass", 'sought("beyond.cold-mass"'),
    ],
)
def test_a_vote_records_its_line(claim: str, line: str) -> None:
    vote = CASES[Layer.TORCH][claim]
    lines = Path(importlib.import_module(vote.module).__file__ or "").read_text(encoding="utf-8").splitlines()
    assert line in lines[vote.line - 1]


def test_a_reprint_has_the_votes_of_its_original() -> None:
    reprints = {id: entry.original for id, entry in entries().items() if entry.original}
    assert len(reprints) > 80
    for layer, known in CASES.items():
        missing = {id for id, original in reprints.items() if original in known} - known.keys()
        assert missing == set(), layer
    for id, original in reprints.items():
        assert OBSERVATIONS.get(original, {}).keys() <= OBSERVATIONS.get(id, {}).keys()


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
    with pytest.raises(ValueError, match=r"^layer: the symbolic vote comes from the derivation"):
        observes(Layer.SYMBOLIC, "eot.46")


def test_a_second_vote_of_one_layer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"claim: eot\.46 already has a torch check"):
        confirms(Layer.TORCH, "eot.46", on=None)(CASES[Layer.TORCH]["eot.46"].printed)


# ── registration and loading ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty register, which is restored afterwards."""
    monkeypatch.setattr(registry, "CASES", {layer: {} for layer in Layer})
    monkeypatch.setattr(registry, "OBSERVATIONS", {})


SOURCE = """\"\"\"Votes on a section.\"\"\"
@confirms(Layer.PRIMAL, "eot.1", "eot.2", on="numbers")
def check(instance): ...


@observes(Layer.SOURCE, "eot.1", name="here")
def observe(claim, run): ...


VOTES = [
    Sampled("eot.3", Layer.TORCH, check, on="numbers", count=5, corrected=check),
    (
        Sampled(("eot.4", "eot.5"), Layer.TORCH, check, on="numbers"),
        Observed("eot.4", Layer.TORCH, observe),
    ),
]
"""


@pytest.fixture
def section(tmp_path: Path, empty: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import the source of a module of votes on eot."""
    monkeypatch.syspath_prepend(tmp_path)

    def importing(source: str) -> ModuleType:
        (tmp_path / "votes_on_eot.py").write_text("from evidence import *\n" + source)
        spec = importlib.util.spec_from_file_location("evidence.eot.section99", tmp_path / "votes_on_eot.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "evidence.eot.section99", module)
        spec.loader.exec_module(module)
        return module

    return importing


def test_a_vote_is_registered_with_the_line_of_its_module(section: Callable[[str], ModuleType]) -> None:
    module = section(SOURCE)
    for _ in range(2):  # what was read is not read again
        registry.read(module)
    places = {(vote.claim, vote.layer): vote.line for cases in registry.CASES.values() for vote in cases.values()}
    assert places == {
        ("eot.1", "primal"): 3,
        ("eot.2", "primal"): 3,
        ("eot.3", "torch"): 12,
        ("eot.4", "torch"): 13,
        ("eot.5", "torch"): 13,
    }
    first, third = registry.CASES[Layer.PRIMAL]["eot.2"], registry.CASES[Layer.TORCH]["eot.3"]
    assert first == Case("eot.2", Layer.PRIMAL, "numbers", module.check, None, 32, "evidence.eot.section99", 3)  # type: ignore[arg-type]
    assert third == Case("eot.3", Layer.TORCH, "numbers", module.check, module.check, 5, "evidence.eot.section99", 12)  # type: ignore[arg-type]
    assert {
        "eot.1": {"source-here": Observation("eot.1", Layer.SOURCE, "here", module.observe, "evidence.eot.section99", 7)},
        "eot.4": {"torch": Observation("eot.4", Layer.TORCH, "", module.observe, "evidence.eot.section99", 13)},
    } == registry.OBSERVATIONS


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "VOTES = [row for row in ()]",
            r"VOTES: expected a list in evidence\.eot\.section99 with its rows written out, got none",
        ),
        ("VOTES = [*(row for row in ())]", "VOTES: expected a list"),
        ("VOTES = [Sampled('eot.1', Layer.SOURCE, len, on=None)]", "layer: expected torch or primal, got source"),
        ("VOTES = [Observed('eot.1', Layer.SYMBOLIC, len)]", "layer: the symbolic vote comes from the derivation"),
        ("VOTES = 2 * [[Sampled('eot.1', Layer.TORCH, len, on=None)]]", "VOTES: expected a list"),
        (
            "VOTES = [Sampled('eot.1', Layer.TORCH, len, on=None), Sampled('eot.1', Layer.TORCH, len, on=None)]",
            r"claim: eot\.1 already has a torch check",
        ),
        (
            "VOTES = [Sampled('geometric.1', Layer.TORCH, len, on=None)]",
            r"claim: expected a check of geometric\.1 in a module of evidence\.geometric, got one in evidence\.eot\.section99",
        ),
    ],
)
def test_a_table_is_refused(section: Callable[[str], ModuleType], source: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        registry.read(section(source))


@pytest.mark.parametrize("source", ["confirms(Layer.TORCH, 'eot.1', on=None)(len)", "observes(Layer.TORCH, 'eot.1')(len)"])
def test_only_functions_are_decorated(section: Callable[[str], ModuleType], source: str) -> None:
    with pytest.raises(ValueError, match=f"^vote: expected a function, got one of .*, which belongs into the table {TABLE}"):
        section(source)


def test_observations_of_one_name_are_one(empty: None) -> None:
    observes(Layer.TORCH, "eot.1")(nothing)
    observes(Layer.TORCH, "eot.1", name="again")(nothing)
    assert list(registry.OBSERVATIONS["eot.1"]) == ["torch", "torch-again"]
    with pytest.raises(ValueError, match=r"claim: eot\.1 already has an observation torch-again"):
        observes(Layer.TORCH, "eot.1", name="again")(nothing)


def test_votes_are_in_the_order_of_the_documents(empty: None) -> None:
    Sampled(("eot.3", "eot.1"), Layer.TORCH, len, st.nothing()).register("evidence.eot.section1", 1)  # type: ignore[arg-type]
    Observed(("eot.3", "eot.2"), Layer.TORCH, nothing).register("evidence.eot.section1", 2)
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

    register(monkeypatch, *(SimpleNamespace(id=id, module=home, original=None) for id, home in homes.items()))
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
