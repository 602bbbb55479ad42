"""Where votes are: in the module named as the chapter of their claim, and registered once."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from derivations.catalogue import entries
from derivations.claims import Layer
from evidence.registry import CASES, OBSERVATIONS, Finding, Run, confirms, load, observes

load()
VOTES = [*(case for cases in CASES.values() for case in cases.values()),
         *(each for known in OBSERVATIONS.values() for each in known.values())]
CHAPTER = re.compile(r"(section|appendix_|listing_)")


def test_no_vote_names_an_unknown_claim() -> None:
    assert len(VOTES) > 800
    assert {vote.claim for vote in VOTES} <= set(entries())


def test_every_vote_stands_in_the_module_named_as_the_chapter_of_its_claim() -> None:
    homes = {id: entry.module.replace("derivations.", "evidence.") for id, entry in entries().items()}
    assert [(vote.claim, vote.module) for vote in VOTES if vote.module != homes[vote.claim]] == []


def test_every_module_named_like_a_chapter_is_one() -> None:
    root = Path(importlib.import_module("evidence").__path__[0])
    named = [path for path in root.glob("*/*.py") if CHAPTER.match(path.name)]
    assert len(named) > 80
    assert [path.name for path in named if not (root.with_name("derivations") / path.parent.name / path.name).is_file()] == []


def test_a_vote_knows_its_line() -> None:
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
def test_layers_that_are_not_polled_are_refused(layer: Layer) -> None:
    with pytest.raises(ValueError, match=f"^layer: expected torch or primal, got {layer}"):
        confirms(layer, "eot.46", on=None)


def test_nothing_is_observed_for_the_symbolic_layer() -> None:
    with pytest.raises(ValueError, match=r"^layer: expected a numeric layer"):
        observes(Layer.SYMBOLIC, "eot.46")


def test_a_second_vote_of_one_layer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"claim: expected one without a torch check, got eot\.46"):
        confirms(Layer.TORCH, "eot.46", on=None)(CASES[Layer.TORCH]["eot.46"].printed)
