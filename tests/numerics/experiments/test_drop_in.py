"""The measured drop-ins: measurements, output, and a line for each on the page."""

import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from numerics.__main__ import main
from numerics.experiments import drop_in
from numerics.models.encoder import load_encoder
from numerics.modules import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "drop_in_attention.md"


def test_softmax_does_not_change_the_encoder_and_its_approximations_change_it_less() -> None:
    encoder = load_encoder()
    before = encoder.model.config._attn_implementation
    softmax, exact, sparse = drop_in.changes(encoder, ["softmax", "maximum-entropy", "sparsemax"])
    assert encoder.model.config._attn_implementation == before
    assert (softmax.distance, softmax.attention) == (0.0, "softmax")
    assert softmax.cosine == pytest.approx(1.0, abs=1e-6)
    assert 0 < exact.distance < sparse.distance
    assert sparse.least <= sparse.cosine < exact.cosine < 1
    assert len(drop_in.sentences()) == 4
    assert all(sentence.endswith(".") for sentence in drop_in.sentences())


def test_recall_is_learned_and_is_the_same_again() -> None:
    (untrained,) = drop_in.recalls(["softmax"], 1)
    assert untrained.trained == pytest.approx(math.log(drop_in.VALUES), abs=0.2)
    first, sparse = drop_in.recalls(["softmax", "sparsemax"], 60)
    assert first.swapped == first.trained < untrained.trained / 1.2
    assert sparse.swapped != sparse.trained
    (again,) = drop_in.recalls(["sparsemax"], 60)
    assert (again.trained, again.accuracy, again.swapped) == (sparse.trained, sparse.accuracy, sparse.swapped)


def test_the_command_prints_the_tables_of_the_page() -> None:
    result = CliRunner().invoke(main, ["drop-in", "--attention", "softmax", "--attention", "entmax", "--steps", "2"])
    assert result.exit_code == 0, result.output
    printed = re.findall(r"^\| (?:attention|entmax|softmax) .*$", result.output, flags=re.MULTILINE)
    assert len(printed) == 6
    page = PAGE.read_text(encoding="utf-8")
    assert printed[0] in page
    assert printed[3] in page
    for name in KINDS:
        assert len(re.findall(rf"^\| `?{name}`? \|", page, flags=re.MULTILINE)) == 3
