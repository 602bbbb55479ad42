"""Votes on: Section 8, footnote 10: the size of the templates, and whether Theorem 2 applies at α = 1."""

import math
from dataclasses import replace
from typing import Any

import mpmath as mp
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Sampled, choose, confirms, float64
from evidence.deciphering.attention import reading
from evidence.deciphering.attention_mem import GENERIC, output_of_layer
from evidence.instances import fifty_digits
from evidence.instances.fifty_digits import Vector
from evidence.instances.heads import Head, drawn_heads
from evidence.instances.mem import MemProblem, mem_problems, rounded
from numerics import tolerances


def signs(size: int) -> Tensor:
    """All vectors of ±1: independent entries of mean 0 and variance 1, enumerated."""
    return torch.cartesian_prod(*[float64([-1.0, 1.0])] * size).reshape(-1, size)


def mean_square(width: int, divisor: int) -> Tensor:
    """E‖x/√e‖², over all x of ±1 in that width."""
    return (signs(width) / math.sqrt(divisor)).square().sum(-1).mean()


def norm_by_heads(drawn: dict[str, int]) -> Reading:
    width = drawn["H"] * drawn["e"]
    return Reading(dict(drawn), {"signs": mean_square(width, drawn["e"])}, tolerances.rounding("float64", width, float(width)))


@confirms(
    Layer.TORCH, "deciphering.fn10", on=choose(H=st.integers(1, 3), e=st.integers(2, 3)), count=12, corrected=norm_by_heads
)
def norm_at_fixed_width(drawn: dict[str, int]) -> Reading:
    width = drawn["H"]
    return Reading(
        {"d": width, "e": drawn["e"]},
        {"signs": mean_square(width, drawn["e"])},
        tolerances.rounding("float64", width, float(width)),
    )


@confirms(Layer.TORCH, "deciphering.s8.bounded-moments", on=drawn_heads(), count=12)
def even_moment(head: Head) -> Reading:
    order = 1 + head.seed % 3
    powers = head["T"].square().sum(-1) ** order
    plain = reading(head, powers, norms=powers.sum())
    return replace(plain, point={**plain.point, "r": order})


def at_fixed_product(problem: MemProblem) -> Reading:
    law, w = problem.law, problem.drawn["z"].tolist()
    start = problem.small

    def remainder(x: Any) -> Vector:
        optimum = fifty_digits.maximize(law, [mp.mpf(c) / x for c in w], x)
        return [entry - mp.mpf(c) for entry, c in zip(optimum.dual, w, strict=True)]

    leading = fifty_digits.leading(remainder, 1, start)
    values = rounded(leading.values)
    point = {name: value for name, value in problem.point().items() if name != "c"}  # an index here
    return Reading(point | {"w": problem.drawn["z"]}, {"50 digits": values}, float(leading.error) + problem.tolerance(values))


VOTES = [
    Sampled(
        "deciphering.s8.theorem2-applies",
        Layer.TORCH,
        output_of_layer,
        on=mem_problems(smallest_n=2, **GENERIC),
        count=12,
        corrected=at_fixed_product,
    )
]
