"""Layers of torch that map a sequence of vectors to another: how many vectors they return."""

from __future__ import annotations

import torch
from torch import nn

from derivations.deciphering.notation import n
from derivations.inference.section4_setup import layer_length
from derivations.relations import Equation
from evidence import Finding, Layer, Reading, Run, finding, float64, hold
from numerics import tolerances

WIDTH, LENGTHS = 4, (1, 2, 5, 9)


def lengths(count: int) -> dict[str, int]:
    """The number of vectors that layers of each kind return for a number of inputs."""
    words = torch.randn(1, count, WIDTH, generator=torch.Generator().manual_seed(count))
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        made = {
            "convolution": nn.Conv1d(WIDTH, WIDTH, 3, padding="same")(words.mT).mT,
            "recurrent": nn.LSTM(WIDTH, WIDTH, batch_first=True)(words)[0],
            "self-attention": nn.MultiheadAttention(WIDTH, 1, batch_first=True)(words, words, words)[0],
        }
    return {name: output.shape[1] for name, output in made.items()}


def keep_the_length(claim: str, run: Run) -> Finding:
    """Each kind of layer returns as many vectors as it gets."""
    exact = tolerances.rounding("float64", 1)
    readings = [
        Reading({"kept": count, "n": count}, {name: float64(made) for name, made in lengths(count).items()}, exact)
        for count in LENGTHS
    ]
    vote = hold(claim, Layer.SOURCE, readings, statement=Equation(layer_length, n))
    return finding(
        vote,
        f"torch.nn's Conv1d, padded, LSTM and MultiheadAttention on {', '.join(map(str, LENGTHS))} vectors",
        "without padding a convolution of width 3 returns two vectors less",
    )
