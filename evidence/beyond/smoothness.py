"""Votes on: How far a mean can move with its weights: the constants D/2 and D²/4 behind the bounds of attention's output."""

from collections.abc import Mapping

import torch
from torch import Tensor

from evidence.beyond.search import Free, Problem, sought
from evidence.beyond.stability import shares

Values = Mapping[str, Tensor]
ROOM = 1 + 1e-9
"""By what a diameter is enlarged, so that rounding leaves none of the distances above it."""


def diameter(templates: Tensor) -> Tensor:
    """The largest distance of two templates, (batch,)."""
    apart = (templates[:, :, None, :] - templates[:, None, :, :]).square().sum(-1).amax((-2, -1))
    return ROOM * apart.clamp(min=1e-12).sqrt()


def two_shapes(m: int) -> dict[str, tuple[int, ...]]:
    """Two weightings of m templates of the plane."""
    return {"p": (m,), "w": (m,), "T": (m, 2)}


def two_values(free: Free) -> Values:
    """Weights, templates and their diameter."""
    templates = torch.tanh(free["T"])
    return {"p": torch.softmax(free["p"], -1), "w": torch.softmax(free["w"], -1), "T": templates, "D": diameter(templates)}


def both_ways(x: Values) -> Tensor:
    """KL(p, w) + KL(w, p)."""
    return ((x["p"] - x["w"]) * (x["p"].log() - x["w"].log())).sum(-1)


def distance(x: Values) -> Tensor:
    """‖p − w‖₁."""
    return (x["p"] - x["w"]).abs().sum(-1)


def of_means(x: Values) -> Tensor:
    """‖h_p − h_w‖²."""
    return torch.einsum("bn,bnd->bd", x["p"] - x["w"], x["T"]).square().sum(-1)


def counts(m: int) -> dict[str, int]:
    """The sizes by their printed names."""
    return {"n": m, "d": 2}


JEFFREYS = Problem(two_shapes, two_values, lambda x: (both_ways(x), distance(x) ** 2), counts=counts, least=1e-3)

NEAR = Problem(two_shapes, two_values, lambda x: (x["D"] ** 2 * distance(x) ** 2 / 4, of_means(x)), counts=counts, sharp=True)

SMOOTH = Problem(two_shapes, two_values, lambda x: (x["D"] ** 2 * both_ways(x) / 4, of_means(x)), counts=counts, least=1e-3)


def changed_values(free: Free) -> Values:
    """Weights, changes of their scores, and the spread of these."""
    return {"p": torch.softmax(free["p"], -1), "g": shares(free["g"]), "ω": 2 * torch.tanh(free["ω"]).abs()}


def cost_sides(x: Values) -> tuple[Tensor, Tensor]:
    """ω²/8, and KL(p, p') by softmax."""
    after = torch.log_softmax(x["p"].log() + x["ω"][:, None] * x["g"][..., 0], -1)
    return x["ω"] ** 2 / 8, (x["p"] * (x["p"].log() - after)).sum(-1)


COST = Problem(
    lambda m: {"p": (m,), "g": (m,), "ω": ()}, changed_values, cost_sides, least=1e-3, counts=lambda m: {"n": m, "N": 2}
)


def carried_values(free: Free) -> Values:
    """The common part of two weightings, their differences, and the distances of the keys."""
    far = torch.tanh(free["D"]).exp()
    return {
        "r": torch.softmax(free["r"], -1),
        "v": torch.softmax(9 * free["v"], -1),
        "v'": torch.softmax(9 * free["v'"], -1),
        "x": (2 * torch.tanh(free["x"])).exp(),
        "y": (2 * torch.tanh(free["y"])).exp(),
        "D": far,
        "e": far[:, None, None] * torch.sigmoid(9 * free["e"]),
    }


def carried_sides(x: Values) -> tuple[Tensor, Tensor]:
    """The mass that differs times the diameter, and the cost of the plan that carries it."""
    share = x["y"] / (x["x"] + x["y"])
    moving = share[:, None, None] * x["v"][:, :, None] * x["v'"][:, None, :]
    distances = x["D"][:, None, None] - x["e"]
    return share * x["D"], (moving * distances).sum((-2, -1)) - (moving * distances).diagonal(dim1=-2, dim2=-1).sum(-1)


CARRIED = Problem(
    lambda m: {"r": (m,), "v": (m,), "v'": (m,), "x": (), "y": (), "D": (), "e": (m, m)},
    carried_values,
    carried_sides,
    counts=lambda m: {"n": m},
)


VOTES = [
    sought("beyond.jeffreys", JEFFREYS),
    sought("beyond.mean-distance", NEAR),
    sought("beyond.mean-smooth", SMOOTH),
    sought("beyond.hoeffding", COST),
    sought("beyond.carried", CARRIED),
]
