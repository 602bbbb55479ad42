"""Votes on: Additions: continuous attention on a grid, where the sums of attention stand for the integrals."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from evidence import Layer, Reading, choose, confirms
from evidence.geometric.section8_continuous import LINE, parameters
from evidence.instances.continuous import F64, Continuous
from numerics import continuous as ct
from numerics import regularizers, tolerances


@confirms(
    Layer.TORCH,
    "geometric.s8.softmax-on-a-grid",
    on=choose(x=LINE, m=st.integers(1, 6), step=st.sampled_from((0.05, 0.3, 1.0))),
)
def weights_on_a_grid(drawn: dict[str, Any]) -> Reading:
    x, m, step = drawn["x"], drawn["m"], drawn["step"]
    assert isinstance(x, Continuous)
    assert isinstance(m, int)
    t = x["mean"] + step * x["covariance"].sqrt()[0] * (torch.arange(m, dtype=F64) - m // 2)
    f = ct.scores(t[:, None], *ct.natural(x["mean"], x["covariance"]))
    density = ct.softmax_density(t[:, None], x["mean"], x["covariance"])
    routes = {"softmax": torch.softmax(f, -1), "density": density / density.sum()}
    return Reading(parameters(x) | {"m": m, "x": t.cpu()}, routes, x.tolerance(f, 1 / density.sum()))


@confirms(
    Layer.TORCH, "geometric.s8.sparsemax-on-a-grid", on=choose(a=st.floats(0.25, 4.0), cells=st.floats(1.6, 40.0)), count=48
)
def level_on_a_grid(drawn: dict[str, float]) -> Reading:
    """The weight at the grid's middle, over h, is its λ: the score there is 0."""
    a, h = drawn["a"], drawn["a"] / drawn["cells"]
    variance = torch.full((1, 1), 2 * a**3 / 3, dtype=F64)
    zero = torch.zeros(1, dtype=F64)
    count = math.ceil(2 * drawn["cells"]) + 2
    t = h * torch.arange(-count, count + 1, dtype=F64)[:, None]
    weights = regularizers.sparsemax(h * ct.scores(t, *ct.natural(zero, variance)))
    K = (int((weights > 0).sum()) - 1) // 2
    level = weights[count] / h
    peak = ct.sparsemax_density(zero[None], zero, variance)[0]
    return Reading(
        {"K": K, "h": h, "a": a}, {"sparsemax": level - peak}, tolerances.rounding("float64", len(t), float(level + peak) / h)
    )
