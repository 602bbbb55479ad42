"""What changes when a model attends by something else: in a trained encoder, and in a small model trained on each.

Encoder     The pretrained encoder reads its paragraph, sentence by sentence; its weights stay what they are. Measured are the
            distance of its last hidden states from those with softmax, relatively to these, and the cosine of the mean states
            of each sentence.
Cloze       A small BERT learns to name the bytes that are hidden in windows of a text that ships with the project: from the
            same weights, on the same batches, with each attention. The loss is that on windows never trained on, in nats a
            hidden byte; it is also measured with the weights that softmax made (``swapped``).
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from transformers import BertConfig, BertForMaskedLM

from numerics.models import tiny
from numerics.models.encoder import PARAGRAPH, LanguageModel
from numerics.modules.hugging_face import register

WINDOW, BATCH, HIDDEN, RATE = 48, 16, 0.15, 3e-3
_MASK, _IGNORED = 383, -100                                  # beyond the bytes and special tokens of ByT5; what no loss counts


@dataclass(frozen=True)
class Change:
    """What an attention changes in the encoder.

    Attributes:
        attention: its name.
        distance: ‖h − h₀‖/‖h₀‖ over all tokens, h₀ with softmax.
        cosine: of the sentences' mean states with and without, on average.
        least: the least of these cosines.
        milliseconds: a sentence.
    """

    attention: str
    distance: float
    cosine: float
    least: float
    milliseconds: float


@dataclass(frozen=True)
class Cloze:
    """Losses of the small model, nats a hidden byte, on windows never trained on.

    Attributes:
        attention: its name.
        swapped: with the weights that were trained with softmax.
        trained: with weights trained with this attention.
        milliseconds: a step of training.
    """

    attention: str
    swapped: float
    trained: float
    milliseconds: float


def sentences() -> list[str]:
    """The sentences of the encoder's paragraph."""
    return re.findall(r"\S.*?[.](?=\s|$)", PARAGRAPH)


def changes(encoder: LanguageModel, attentions: list[str]) -> Iterator[Change]:
    """Measure each attention in the encoder, whose implementation is left as it was."""
    before = encoder.model.config._attn_implementation
    inputs = [encoder.encode(sentence) for sentence in sentences()]
    try:
        reference, _ = _states(encoder, inputs, "softmax")
        for attention in attentions:
            found, seconds = _states(encoder, inputs, attention)
            off = torch.cat(found) - torch.cat(reference)
            means = (torch.stack([x.mean(0) for x in states]) for states in (found, reference))
            cosines = cosine_similarity(*means)
            yield Change(attention, float(off.norm() / torch.cat(reference).norm()), float(cosines.mean()),
                         float(cosines.min()), 1e3 * seconds / len(inputs))
    finally:
        encoder.model.set_attn_implementation(before)


def cloze(attentions: list[str], steps: int, seed: int = 0) -> Iterator[Cloze]:
    """Train the small model with softmax and with each attention.

    Args:
        attentions: names of ``KINDS``.
        steps: of AdamW, with a linear decay to zero.
        seed: of weights and batches.
    """
    softmax, seconds = _trained("softmax", steps, seed)
    for attention in attentions:
        swapped = _held_out(softmax, attention)
        model, seconds = (softmax, seconds) if attention == "softmax" else _trained(attention, steps, seed)
        yield Cloze(attention, swapped, _held_out(model, attention), 1e3 * seconds / steps)


def _states(encoder: LanguageModel, inputs: list[tiny.Batch], attention: str) -> tuple[list[Tensor], float]:
    encoder.model.set_attn_implementation(register(attention))
    with torch.no_grad():
        encoder.model(**inputs[0])                           # what is compiled at first is not timed
        start = time.perf_counter()
        found = [encoder.model(**x).last_hidden_state[0] for x in inputs]
    return found, time.perf_counter() - start


def _trained(attention: str, steps: int, seed: int) -> tuple[BertForMaskedLM, float]:
    """Return a trained model and the seconds it took."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertForMaskedLM(BertConfig(
            vocab_size=_MASK + 1, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128,
            max_position_embeddings=WINDOW, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        ))
    model.set_attn_implementation(register(attention))
    seen, _ = tiny.windows()
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 50) * (1 - step / steps))
    start = time.perf_counter()
    for _ in range(steps):
        chosen = seen[torch.randint(len(seen), (BATCH,), generator=generator), :WINDOW]
        loss = model.train()(**_hidden(chosen, generator)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval(), time.perf_counter() - start


def _held_out(model: BertForMaskedLM, attention: str) -> float:
    model.set_attn_implementation(register(attention))
    _, unseen = tiny.windows()
    with torch.no_grad():
        return float(model(**_hidden(unseen.reshape(-1, WINDOW), torch.Generator().manual_seed(1))).loss)


def _hidden(window: Tensor, generator: torch.Generator) -> tiny.Batch:
    hidden = torch.rand(window.shape, generator=generator) < HIDDEN
    hidden[:, 0] = True                                      # every window has something to name
    return {"input_ids": window.masked_fill(hidden, _MASK), "labels": window.masked_fill(~hidden, _IGNORED)}
