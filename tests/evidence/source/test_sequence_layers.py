"""Layers that keep the length of a sequence, and a control that does not."""

import pytest

from derivations.records.claims import Outcome
from evidence import Run
from evidence.source import sequence_layers


def test_all_kinds_keep_the_length() -> None:
    assert set(sequence_layers.lengths(7).values()) == {7}
    assert sequence_layers.keep_the_length("inference.fn2", Run()).outcome is Outcome.HOLDS


def test_a_layer_that_shortens_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence_layers, "lengths", lambda count: {"convolution": count - 1, "recurrent": count})
    assert sequence_layers.keep_the_length("inference.fn2", Run()).outcome is Outcome.REFUTED
