"""BERT's positions are a trained table; sinusoids and a frozen table are refused."""

import pytest
import torch

from evidence import Outcome, Reading, Run
from evidence.source import bert_positions
from evidence.source.shipped_bert import sinusoidal
from numerics import tolerances

CLAIM = "deciphering.s7.bert-positions"


def test_rows_have_different_norms_and_every_number_is_trained() -> None:
    finding = bert_positions.learned(CLAIM, Run())
    assert finding.outcome is Outcome.REFUTED
    assert finding.correction is Outcome.HOLDS
    assert len(finding.refuted_twins) == 2


def test_sinusoids_do_not_refute_the_print(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, width = bert_positions.ROWS, 8
    table = sinusoidal(rows, width)
    squares = table.square().sum(-1)[:, None].expand(rows, rows)
    reading = Reading({"n": rows, "d": width, "P": table}, {"sinusoids": squares}, tolerances.rounding("float64", width))
    monkeypatch.setattr(bert_positions, "pretrained", lambda: iter([reading]))
    assert bert_positions.learned(CLAIM, Run()).outcome is Outcome.HOLDS


def test_two_tables_are_trained_and_three_places_of_the_pretrained_one_are_read() -> None:
    for readings, count in ((bert_positions.trained(), 2), (bert_positions.pretrained(), 3)):
        tables = [tuple(reading.point["P"].flatten().tolist()) for reading in readings]
        assert len(set(tables)) == count


@pytest.mark.parametrize("factor", [0.0, 2.0])
def test_untrained_numbers_refute_the_correction(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    own = list(bert_positions.trained())
    changed = [Reading(x.point, {name: factor * value for name, value in x.routes.items()}, x.tolerance) for x in own]
    monkeypatch.setattr(bert_positions, "trained", lambda: iter(changed))
    with torch.no_grad():
        assert bert_positions.learned(CLAIM, Run()).correction is Outcome.REFUTED
