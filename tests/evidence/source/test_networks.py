"""Observations of complete networks refuse networks that behave differently."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from evidence import Outcome, Run
from evidence.source import networks


class SeparateWords(nn.Module):
    """A model in which no word sees another one, called like BERT."""

    class BertSelfAttention(nn.Module):
        """A module with the name of the shipped one that returns its input."""

        def forward(self, x: Tensor) -> tuple[Tensor]:
            """The input."""
            return (x,)

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.attention = nn.Embedding(16, 2), self.BertSelfAttention()

    def forward(self, input_ids: Tensor) -> Any:
        """One vector for each word."""

        class Output:
            last_hidden_state = self.attention(self.embedding(input_ids))[0]

        return Output


def test_attention_without_connections_is_not_pivotal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "small_bert", SeparateWords)
    assert networks.pivotal("deciphering.s1.pivotal", Run()).outcome is Outcome.REFUTED


def test_network_whose_other_layers_reach_other_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "silenced", lambda model: torch.no_grad())
    assert networks.pivotal("deciphering.s1.pivotal", Run()).outcome is Outcome.REFUTED


def test_nothing_to_silence_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no module of attention"), networks.silenced(nn.Linear(1, 1)):
        pass


def test_loss_that_looks_at_another_number_of_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "CHANGE", -1.0)
    assert networks.blanks("deciphering.s3.blanks-train-bert", Run()).outcome is Outcome.REFUTED


def test_small_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    class Small:
        vocab_size = 10_000

    monkeypatch.setattr(transformers, "T5Config", Small)
    assert networks.vocabularies("deciphering.s3.large-vocabulary", Run()).outcome is Outcome.REFUTED


def test_logits_are_replaced_for_a_while() -> None:
    model, logits = networks.seeded(networks.masked_language_model), torch.zeros(1, 2, 16)
    ids = torch.ones(1, 2, dtype=torch.int64)
    with networks.predicting(model, logits):
        assert model(input_ids=ids).logits is logits
    assert bool(model(input_ids=ids).logits.any())


READ = {
    "a patch": lambda last: last[:, 1],
    "all of them": lambda last: last,
    "the first vector and one number of a patch": lambda last: last[:, 0] + last[:, 2, 3],
}


@pytest.mark.parametrize("read", READ)
def test_classifier_that_reads_patches_is_refused(monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    through = networks.through

    def elsewhere(model: Any, pixels: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        embedded, last, _, image = through(model, pixels)
        return embedded, last, READ[read](last), image

    monkeypatch.setattr(networks, "through", elsewhere)
    assert networks.vision("deciphering.s9.vision", Run()).outcome is Outcome.REFUTED


def test_passes_are_counted() -> None:
    x = torch.ones(8)
    with networks.Counted() as mode:
        (x * x + x).mean()
    assert mode.numbers == 3 * len(x)


def test_normalization_that_does_more_is_not_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.t5 import modeling_t5

    def slow(width: int) -> Any:
        return lambda x: [x + 1 for _ in range(9)]

    monkeypatch.setattr(modeling_t5, "T5LayerNorm", slow)
    assert networks.faster_norm("deciphering.s7.faster-norm", Run()).outcome is Outcome.REFUTED
