"""Votes on: Section 3, Remarks 3.4 and 3.5: the temperature √d_k, and the source measure."""

import math
from itertools import product

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, Value, choose, confirms
from evidence.eot.conic_one_sided import problems
from evidence.eot.section3_theorem import conic_plan, plan
from evidence.instances.one_sided import rows
from evidence.models.temperature import saturation, shipped
from numerics import tolerances


def sign_vectors(d: int) -> Tensor:
    """All vectors of ±1: a law with independent entries of mean 0 and variance 1, enumerated exactly."""
    return torch.tensor(list(product((-1.0, 1.0), repeat=d)), dtype=torch.float64)


def dot_product_variance(d: int) -> Tensor:
    """Var⟨x, y⟩ over all pairs of sign vectors."""
    signs = sign_vectors(d)
    return (signs @ signs.T).var(correction=0)


WIDTHS = choose(d=st.integers(1, 5))
SEEDS = st.integers(0, 2**31)


@confirms(Layer.TORCH, "eot.rem3.4", on=WIDTHS, count=20)
def variance_of_dot(drawn: dict[str, int]) -> Reading:
    d = drawn["d"]
    return Reading(drawn, {"enumerated": dot_product_variance(d)}, tolerances.rounding("float64", 4**d, d * d))


@confirms(Layer.TORCH, "eot.s3.unit-variance", on=WIDTHS, count=20)
def variance_of_scaled_dot(drawn: dict[str, int]) -> Reading:
    d = drawn["d"]
    return Reading(drawn, {"enumerated": dot_product_variance(d) / d}, tolerances.rounding("float64", 4**d, d))


@confirms(Layer.TORCH, "eot.s3.stable-trade-off", on=choose(d=st.integers(1, 3), m=st.integers(1, 3), seed=SEEDS), count=20)
def variance_of_cost(drawn: dict[str, int]) -> Reading:
    d, m = drawn["d"], drawn["m"]
    plan = torch.rand(m, generator=torch.Generator().manual_seed(drawn["seed"]), dtype=torch.float64) + 0.1
    plan /= plan.sum()
    signs = sign_vectors(d * (1 + m))
    cost = -torch.einsum("nr,njr,j->n", signs[:, :d], signs[:, d:].reshape(-1, m, d), plan)
    point: dict[str, Value] = {"d": d, "m": m, "p": plan}
    variance = (cost / math.sqrt(d)).var(correction=0)
    return Reading(point, {"enumerated": variance}, tolerances.rounding("float64", len(signs)))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


VOTES = [
    Sampled("eot.rem3.5", Layer.TORCH, plan, on=rows()),
    Sampled("eot.rem3.5", Layer.PRIMAL, conic_plan, on=problems()),
    Observed("eot.s3.sqrt-width", Layer.SOURCE, shipped),
    Observed("eot.s3.saturation", Layer.TORCH, saturation),
]
