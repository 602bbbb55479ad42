"""Parts of the shipped T5 other than its heads: its kinds of attention, the cost of its positions, its layer normalization."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from derivations.documents.deciphering.section7_t5 import trained
from derivations.documents.deciphering.section8_heads import kinds
from derivations.relations import Equation
from evidence import Finding, Layer, Outcome, Reading, Run, finding, float64, hold
from evidence.source.heads import t5_calls
from numerics import tolerances

if TYPE_CHECKING:
    from evidence.source.shipped import Fact

STACKS, BUCKETS, HEADS = 2, 32, 8  # of T5-small


def counted(claim: str, count: int, statement: Equation, fact: "Fact") -> Finding:
    """Compare a count of parts with the stated one, given a fact about them."""
    counter, exact = statement.sides[0].name, tolerances.rounding("float64", 1)
    vote = hold(claim, Layer.SOURCE, [Reading({counter: count}, {"T5": float64(count)}, exact)], statement=statement)
    return Finding(
        vote.outcome if fact.holds else Outcome.REFUTED,
        f"{fact.where}: {count} counted",
        vote.why_not or fact.statement,
        refuted_twins=vote.refuted,
    )


def three_types(claim: str, run: Run) -> Finding:
    """Self-attention in the encoder and in the decoder, and cross-attention."""
    from evidence.source import shipped_t5

    count = len({call.role for call in t5_calls()})
    return counted(claim, count, Equation(kinds, 3), shipped_t5.there_are_three_kinds())


def trainable_positions(claim: str, run: Run) -> Finding:
    """A number for each bucket and head of each stack."""
    from evidence.source import shipped_t5

    count, _ = position_numbers()
    return counted(claim, count, Equation(trained, STACKS * BUCKETS * HEADS), shipped_t5.position_is_nowhere_else())


def little_cost(claim: str, run: Run) -> Finding:
    """Less than one in ten thousand of all trained numbers."""
    positional, total = position_numbers()
    return Finding(
        Outcome.HOLDS if positional < total / 10_000 else Outcome.REFUTED,
        "the shipped T5 at the sizes of T5-small",
        f"{positional} of {total:,} trained numbers hold positions, and one addition for each score is all that they cost",
    )


def position_numbers() -> tuple[int, int]:
    """How many trained numbers of T5-small hold positions, and how many numbers it has."""
    from transformers import T5Config, T5Model

    with torch.device("meta"):
        model = T5Model(T5Config(num_decoder_layers=6))
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters() if parameter.requires_grad}
    return sum(size for name, size in sizes.items() if "relative_attention_bias" in name), sum(sizes.values())


def layer_norm(claim: str, run: Run) -> Finding:
    """The shipped normalization of centred inputs, which neither subtracts a mean nor adds a bias."""
    from evidence.source import shipped_t5

    fact, vote = shipped_t5.layer_norm_only_rescales(), hold(claim, Layer.SOURCE, normalized())
    result = finding(vote, f"{fact.where}: {vote.instances} inputs", fact.statement)
    return result if fact.holds else replace(result, outcome=Outcome.REFUTED)


def normalized() -> Iterator[Reading]:
    """Outputs of the shipped module for some gains, offsets and centred inputs."""
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    for seed in range(12):
        generator = torch.Generator().manual_seed(seed)
        x, gain, offset = torch.randn(3, 2 + seed % 4, generator=generator, dtype=torch.float64) + 1
        norm = T5LayerNorm(len(x), eps=0.1).double()
        centred = x - x.mean()
        with torch.no_grad():
            norm.weight.copy_(gain)
            output = norm(centred)
        # The shipped module takes the mean square in float32, whatever it is given.
        allowed = tolerances.rounding("float32", len(x), float(gain.abs().max() * centred.abs().max()) / 0.1**0.5)
        yield Reading({"d": len(x), "eps": 0.1, "x": x, "G": gain, "bN": offset}, {"T5": output}, allowed)
