"""Votes on: How far attention moves when scores do: one bound for changes of every size, attained for every number of keys."""

from collections.abc import Mapping

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, choose, confirms
from evidence.beyond.search import Free, Problem, sought
from numerics import one_sided, tolerances

Values = Mapping[str, Tensor]


def shares(x: Tensor) -> Tensor:
    """Numbers of [0, 1] as the first of two columns whose rows sum to 1."""
    first = torch.sigmoid(4 * x)
    return torch.stack([first, 1 - first], -1)


def values(free: Free) -> Values:
    """Weights, tilts, values, and the ends of both intervals."""
    return {
        "p": torch.softmax(free["p"], -1),
        "h": shares(free["h"]),
        "g": shares(free["g"]),
        "x": torch.tanh(free["x"]).exp(),
        "y": torch.tanh(free["y"]).exp(),
        "L": torch.tanh(free["L"]).exp(),
        "c": torch.tanh(free["c"]),
    }


def sides(z: Values) -> tuple[Tensor, Tensor]:
    """L tanh(ω/4τ), and the change of the mean under a change of a softmax's scores, at τ = 1."""
    low, high = 2 * z["x"].log(), 2 * (z["x"] + z["y"]).log()
    tilts = low.exp()[:, None] + (high.exp() - low.exp())[:, None] * z["h"][..., 0]
    scores = z["p"].log()
    f = z["c"][:, None] + z["L"][:, None] * z["g"][..., 0]
    original, tilted = torch.softmax(scores, -1), torch.softmax(scores + tilts.log(), -1)
    return z["L"] * torch.tanh((high - low) / 4), ((tilted - original) * f).sum(-1)


def shapes(m: int) -> dict[str, tuple[int, ...]]:
    """Three numbers for each key and four for all."""
    return {"p": (m,), "h": (m,), "g": (m,), "x": (), "y": (), "L": (), "c": ()}


MOVES = Problem(shapes, values, sides, scale=30.0, counts=lambda m: {"m": m, "N": 2})


@confirms(Layer.TORCH, "beyond.stability-attained", on=choose(n=st.integers(1, 6), seed=st.integers(0, 2**31)), count=16)
def worst_case(drawn: dict[str, int]) -> Reading:
    n, z = drawn["n"], 0.1 + 2 * float(torch.rand((), generator=torch.Generator().manual_seed(drawn["seed"])))
    middle = torch.zeros(n + 1, dtype=torch.float64)
    middle[0] = torch.tensor(float(n), dtype=torch.float64).log()
    rise = torch.zeros(n + 1, dtype=torch.float64)
    rise[0] = 2 * z
    high, low = one_sided.plan(middle + rise), one_sided.plan(middle - rise)
    routes = {"first key": high[0] - low[0], "half of the sum": (high - low).abs().sum() / 2}
    return Reading({"n": n, "z": z}, routes, tolerances.rounding("float64", n + 1, 10.0 * n))


VOTES = [sought("beyond.stability", MOVES)]
