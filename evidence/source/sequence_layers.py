"""Layers of torch that map a sequence of vectors to another: how many vectors they return."""

import torch

from derivations.documents.deciphering.notation import n
from derivations.documents.inference.section4_setup import layer_length
from derivations.relations import Equation
from evidence import Finding, Layer, Reading, Run, finding, float64, hold
from evidence.source.layers import WIDTH, layers
from numerics import tolerances

LENGTHS = (1, 2, 5, 9)


def lengths(count: int) -> dict[str, int]:
    """The number of vectors that layers of each kind return for a number of inputs."""
    words = torch.randn(count, WIDTH, generator=torch.Generator().manual_seed(count))
    with torch.no_grad():
        return {name: len(layer(words)) for name, layer in layers().items()}


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
