"""The effect of replacing softmax attention: in a trained encoder, and in a small model trained with each replacement.

Encoder     The pretrained encoder reads its paragraph, sentence by sentence, with its weights unchanged. The table gives the
            distance of its last hidden states from those with softmax, relative to the latter, and the cosine of the mean
            states of each sentence.
Recall      A layer of attention learns to look up: from 32 pairs of a key and a value it has to return the values of 32 keys,
            drawn with repetition. Each attention starts from the same weights and sees the same sequences. The loss is taken
            on sequences never trained on, in nats an answer (guessing costs log 8 = 2.08), and also, as ``swapped``, with the
            weights that were trained with softmax.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy

from numerics.models.encoder import PARAGRAPH, LanguageModel
from numerics.modules import MultiheadAttention
from numerics.modules.hugging_face import register

KEYS, VALUES, PAIRS, WIDTH, HEADS = 48, 8, 32, 16, 2
BATCH, HELD_OUT, RATE = 32, 512, 1e-2


@dataclass(frozen=True)
class Change:
    """The effect of an attention in the encoder.

    Attributes:
        attention: its name.
        distance: ‖h − h₀‖/‖h₀‖ over all tokens, h₀ with softmax.
        cosine: of the sentences' mean states with and without, on average.
        least: the least of these cosines.
        time: over that of softmax.
    """

    attention: str
    distance: float
    cosine: float
    least: float
    time: float


@dataclass(frozen=True)
class Recall:
    """Losses of the small model, nats an answer, on sequences never trained on.

    Attributes:
        attention: its name.
        swapped: with the weights that were trained with softmax.
        trained: with weights trained with this attention.
        accuracy: the share of right answers, with these weights.
        time: of training, over that of softmax.
    """

    attention: str
    swapped: float
    trained: float
    accuracy: float
    time: float


class Lookup(nn.Module):
    """Embeddings of keys and values, one layer of attention, and a linear map to the values."""

    def __init__(self, attention: str) -> None:
        super().__init__()
        self.key, self.value = nn.Embedding(KEYS, WIDTH), nn.Embedding(VALUES, WIDTH)
        self.attention = MultiheadAttention(WIDTH, HEADS, batch_first=True, attention=attention)
        self.answer = nn.Linear(WIDTH, VALUES)

    def forward(self, keys: Tensor, values: Tensor, queries: Tensor) -> Tensor:
        """Return logits (B, PAIRS, VALUES) of the values of the queried keys; keys, values and queries are (B, PAIRS)."""
        pairs = self.key(keys) + self.value(values)
        logits: Tensor = self.answer(self.attention(self.key(queries), pairs, pairs, need_weights=False)[0])
        return logits


def sentences() -> list[str]:
    """The sentences of the encoder's paragraph."""
    return re.findall(r"\S.*?[.](?=\s|$)", PARAGRAPH)


def changes(encoder: LanguageModel, attentions: list[str]) -> Iterator[Change]:
    """Measure each attention in the encoder, whose own implementation is restored."""
    implementation = encoder.model.config._attn_implementation
    inputs = [encoder.encode(sentence) for sentence in sentences()]
    try:
        reference, first = _states(encoder, inputs, "softmax")
        for attention in attentions:
            outputs, seconds = _states(encoder, inputs, attention)
            deviation = torch.cat(outputs) - torch.cat(reference)
            means, expected = (torch.stack([x.mean(0) for x in states]) for states in (outputs, reference))
            cosines = cosine_similarity(means, expected)
            yield Change(
                attention,
                float(deviation.norm() / torch.cat(reference).norm()),
                float(cosines.mean()),
                float(cosines.min()),
                seconds / first,
            )
    finally:
        encoder.model.set_attn_implementation(implementation)


def recalls(attentions: list[str], steps: int, seed: int = 0) -> Iterator[Recall]:
    """Train the small model with softmax and with each attention.

    Args:
        attentions: names of ``KINDS``.
        steps: of Adam, with a linear decay to zero.
        seed: of weights and sequences.
    """
    softmax, first = _trained("softmax", steps, seed)
    for attention in attentions:
        model, seconds = (softmax, first) if attention == "softmax" else _trained(attention, steps, seed)
        swapped = Lookup(attention)
        swapped.load_state_dict(softmax.state_dict())
        trained, accuracy = _held_out(model)
        yield Recall(attention, _held_out(swapped)[0], trained, accuracy, seconds / first)


def _states(encoder: LanguageModel, inputs: list[dict[str, Tensor]], attention: str) -> tuple[list[Tensor], float]:
    encoder.model.set_attn_implementation(register(attention))
    with torch.no_grad():
        encoder.model(**inputs[0])  # what is compiled at first is not timed
        start = time.perf_counter()
        states = [encoder.model(**x).last_hidden_state[0] for x in inputs]
    return states, time.perf_counter() - start


def _trained(attention: str, steps: int, seed: int) -> tuple[Lookup, float]:
    """Return a trained model and the seconds it took."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Lookup(attention)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    start = time.perf_counter()
    for _ in range(steps):
        *question, right = _drawn(BATCH, generator)
        loss = cross_entropy(model(*question).flatten(0, 1), right.flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return model, time.perf_counter() - start


def _held_out(model: Lookup) -> tuple[float, float]:
    """Return the loss and the share of right answers."""
    *question, right = _drawn(HELD_OUT, torch.Generator().manual_seed(-1))
    with torch.no_grad():
        logits = model(*question).flatten(0, 1)
        return float(cross_entropy(logits, right.flatten())), float((logits.argmax(-1) == right.flatten()).float().mean())


def _drawn(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return keys, their values, the queried keys, and the right answers, (count, PAIRS) each."""
    keys = torch.rand(count, KEYS, generator=generator).argsort(-1)[:, :PAIRS]
    values, positions = (torch.randint(size, (count, PAIRS), generator=generator) for size in (VALUES, PAIRS))
    return keys, values, keys.gather(-1, positions), values.gather(-1, positions)
