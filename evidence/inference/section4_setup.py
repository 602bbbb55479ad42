"""Votes on: Section 4: the unknown distribution, its prior guess and the noisy evidence."""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import nn

from derivations.deciphering.notation import n
from derivations.inference.section4_setup import kept
from derivations.relations import Equation
from evidence import Finding, Layer, Reading, Run, choose, confirms, finding, float64, hold, observes
from evidence.deciphering.problem import NOISES, mean_evidence
from evidence.deciphering.section3_setup import gaussian_mean, mean_shift, noise_covariance, noise_size
from evidence.instances.mem import mem_problems
from numerics import tolerances

confirms(Layer.TORCH, "inference.4", on=choose(m=st.floats(-3, 3).map(float)), count=20)(gaussian_mean)


confirms(Layer.TORCH, "inference.s4.mean-shift", on=mem_problems())(mean_shift)


confirms(Layer.TORCH, "inference.5", on=NOISES, count=20)(noise_covariance)


confirms(Layer.TORCH, "inference.s4.shift-of-mu", on=NOISES, count=20, corrected=mean_evidence)(mean_evidence)


confirms(Layer.TORCH, "inference.s4.estimate-of-h", on=NOISES, count=20)(noise_size)


# ── by shipped source code ────────────────────────────────────────────────────────────────────────────────────────────

WIDTH, LENGTHS = 4, (1, 2, 5, 9)


def lengths(count: int) -> dict[str, int]:
    """How many vectors torch's layers of each kind make of so many."""
    words = torch.randn(1, count, WIDTH, generator=torch.Generator().manual_seed(count))
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        made = {
            "convolution": nn.Conv1d(WIDTH, WIDTH, 3, padding="same")(words.mT).mT,
            "recurrent": nn.LSTM(WIDTH, WIDTH, batch_first=True)(words)[0],
            "self-attention": nn.MultiheadAttention(WIDTH, 1, batch_first=True)(words, words, words)[0],
        }
    return {name: output.shape[1] for name, output in made.items()}


@observes(Layer.SOURCE, "inference.fn2")
def layers_that_keep_the_length(claim: str, run: Run) -> Finding:
    exact = tolerances.rounding("float64", 1)
    readings = [
        Reading({"kept": made, "n": count}, {name: float64(made) for name, made in lengths(count).items()}, exact)
        for count in LENGTHS
        for made in [lengths(count)["self-attention"]]
    ]
    vote = hold(claim, Layer.SOURCE, readings, statement=Equation(kept, n))
    return finding(vote, f"torch.nn's Conv1d, padded, LSTM and MultiheadAttention on {', '.join(map(str, LENGTHS))} vectors",
                   "without padding a convolution of width 3 returns two vectors less")
