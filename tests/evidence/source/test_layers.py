"""Layers of torch keep the length of a sequence, and one that does not is refused."""

import pytest
import torch
from torch import nn

from evidence import Outcome, Run
from evidence.source import layers


def test_padded_convolution_recurrent_layer_and_attention_keep_the_length() -> None:
    finding = layers.lengths("deciphering.fn5", Run())
    assert finding.outcome is Outcome.HOLDS
    assert len(finding.refuted_twins) == 2


@pytest.mark.parametrize("count", layers.LENGTHS)
def test_vectors_of_the_same_width_are_returned(count: int) -> None:
    """A layer's output is compared, and not the states or the weights that it returns with it."""
    for name, layer in layers.layers().items():
        assert layer(torch.ones(count, layers.WIDTH)).shape == (count, layers.WIDTH), name


def test_convolution_without_padding_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    convolution = nn.Conv1d(layers.WIDTH, layers.WIDTH, 2)
    monkeypatch.setattr(layers, "LENGTHS", (2, 3, 5))
    monkeypatch.setattr(layers, "layers", lambda: {"convolution": lambda x: convolution(x.T).T})
    with torch.no_grad():
        finding = layers.lengths("deciphering.fn5", Run())
    assert finding.outcome is Outcome.REFUTED
