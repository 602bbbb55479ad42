"""Votes on: Attention in pieces: merging them, and the one number per query of the backward pass."""

from functools import reduce

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence import Layer, Reading, choose, confirms
from evidence.eot.forward import reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import flash, one_sided, tolerances

PieceSizes = dict[str, int]
PIECES = choose(t1=st.integers(1, 4), t2=st.integers(1, 4), seed=st.integers(0, 2**31))


@confirms(Layer.TORCH, "beyond.merge", on=PIECES, count=16)
def all_keys(drawn: PieceSizes) -> Reading:
    t1, t2 = drawn["t1"], drawn["t2"]
    generator = torch.Generator().manual_seed(drawn["seed"])
    scores, values = torch.randn(2, t1 + t2, generator=generator, dtype=torch.float64)
    tiles = [flash.contribution(s[None], v[:, None]) for s, v in ((scores[:t1], values[:t1]), (scores[t1:], values[t1:]))]
    tiled = flash.finish(flash.combine(*tiles)).output[0, 0]
    query = torch.ones(1, 1, 1, dtype=torch.float64)
    at_once = scaled_dot_product_attention(query, scores[None, :, None], values[None, :, None], scale=1.0)[0, 0, 0]
    point = {"t1": t1, "t2": t2, "x": scores[:t1], "y": scores[t1:], "X": values[:t1], "Y": values[t1:]}
    scale = float(values.abs().max() * (1 + scores.abs().max()))
    return Reading(point, {"tiles": tiled, "one call": at_once}, tolerances.rounding("float64", t1 + t2, 1 + scale))


@confirms(Layer.TORCH, "beyond.merge-associative", on=choose(seed=st.integers(0, 2**31)), count=16)
def three_pieces(drawn: PieceSizes) -> Reading:
    generator = torch.Generator().manual_seed(drawn["seed"])
    numbers = torch.randn(6, generator=generator, dtype=torch.float64)
    sums, outputs = numbers[:3], numbers[3:]
    pieces = [
        flash.Contribution(peak[None], torch.ones(1, dtype=torch.float64), out[None, None])
        for peak, out in zip(sums, outputs, strict=True)
    ]
    streamed = flash.finish(reduce(flash.combine, pieces)).output[0, 0]
    backwards = flash.finish(reduce(flash.combine, pieces[::-1])).output[0, 0]
    point = dict(zip("abdABD", map(float, numbers), strict=True))
    return Reading(
        point, {"streamed": streamed, "backwards": backwards}, tolerances.rounding("float64", 3, 1 + float(numbers.abs().sum()))
    )


@confirms(Layer.TORCH, "beyond.row-correction", on=rows(max_m=3), count=16)
def score_gradient(row: Row) -> Reading:
    def loss(s: Tensor) -> Tensor:
        return (row.g * one_sided.context(one_sided.plan(s, row.tau), row.values)).sum()

    p = one_sided.plan(row.s, row.tau)
    upstream = row.values @ row.g
    attended = (row.g * one_sided.context(p, row.values)).sum()
    return reading(row, row.u / row.tau, autograd=gradient(loss, row.s), kept_number=p / row.tau * (upstream - attended))
