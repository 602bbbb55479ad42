"""Layers that torch ships, which map a sequence of vectors to another one."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from derivations.documents.deciphering.notation import n
from derivations.documents.deciphering.section3_setup import length
from derivations.relations import Equation
from evidence import Finding, Layer, Reading, Run, finding, float64, hold
from numerics import tolerances

WIDTH = 4
LENGTHS = (1, 2, 3, 5, 8)


def layers() -> dict[str, Callable[[Tensor], Tensor]]:
    """A padded convolution, a recurrent layer and self-attention, from (length, width) to (length, width)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        convolution = nn.Conv1d(WIDTH, WIDTH, 3, padding="same")
        recurrent, attention = nn.LSTM(WIDTH, WIDTH), nn.MultiheadAttention(WIDTH, 1)
    return {
        "convolution": lambda x: convolution(x.T).T,
        "recurrent": lambda x: recurrent(x)[0],
        "self-attention": lambda x: attention(x, x, x)[0],
    }


def readings() -> Iterator[Reading]:
    """The output lengths of the layers for inputs of several lengths."""
    for count in LENGTHS:
        routes = {name: float64(len(layer(torch.ones(count, WIDTH)))) for name, layer in layers().items()}
        yield Reading({"n": count, "length": count}, routes, tolerances.rounding("float64", 1))


def lengths(claim: str, run: Run) -> Finding:
    """Outputs are as long as the input; a convolution only if it is padded."""
    vote = hold(claim, Layer.SOURCE, readings(), statement=Equation(length, n))
    return finding(
        vote,
        f"torch's Conv1d with padding, LSTM and MultiheadAttention, inputs of {len(LENGTHS)} lengths",
        "a convolution without padding gives fewer outputs than inputs",
    )
