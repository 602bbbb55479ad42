"""Votes on: The temperature as a variable: slopes, joint convexity, what happens as it falls."""

from collections.abc import Mapping

import torch
from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.beyond.keys import SMALL, reading, variable
from evidence.beyond.search import Free, Problem, sought
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row
from numerics import fisher, one_sided

Values = Mapping[str, Tensor]


def temperature(row: Row) -> Tensor:
    """τ as a tensor that can move."""
    return torch.tensor(row.tau, dtype=torch.float64, device=row.device)


def hot(row: Row) -> float:
    """The magnitude of what is differentiated."""
    return float((1 + row.s.abs().max()) ** 2 / min(row.tau, 1.0) ** 3)


@confirms(Layer.TORCH, "beyond.temperature-slope", on=SMALL, count=16)
def potential_slope(row: Row) -> Reading:
    slope = gradient(lambda tau: tau * torch.logsumexp(row.s / tau, -1), temperature(row))
    return reading(row, hot(row), autograd=slope)


@confirms(Layer.TORCH, "beyond.entropy-slope", on=SMALL, count=16)
def entropy_slope(row: Row) -> Reading:
    slope = gradient(lambda tau: one_sided.entropy(torch.softmax(row.s / tau, -1)), temperature(row))
    return reading(row, hot(row), autograd=slope)


@confirms(Layer.TORCH, "beyond.tangent-gap", on=SMALL, count=16)
def above_the_tangent(row: Row) -> Reading:
    weights, x, rho = one_sided.plan(row.s, row.tau), variable(row, "v"), variable(row, "t") + 0.5
    tangent = (weights * x).sum() + rho * one_sided.entropy(weights)
    base = reading(row, hot(row), rho, closed_form=fisher.potential(x, float(rho)) - tangent)
    return Reading(dict(base.point) | {"x": x.cpu(), "rho": float(rho)}, base.routes, base.tolerance)


# ── bounds ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def bounded(x: Tensor) -> Tensor:
    """Numbers between −2 and 2."""
    return 2 * torch.tanh(x / 2)


def two_groups(m: int) -> dict[str, tuple[int, ...]]:
    """m numbers above, as many below, and three for all."""
    return {"a": (m,), "b": (m,), "c": (), "tau": (), "γ": ()}


def group_values(free: Free) -> Values:
    """Scores c + a above and c − b below, 1/τ and its step."""
    return {
        "a": bounded(free["a"]).abs(),
        "b": bounded(free["b"]).abs(),
        "c": bounded(free["c"]),
        "γ": bounded(free["γ"]).exp(),
        "tau": bounded(free["tau"]).exp(),
    }


def share(x: Values, inverse: Tensor) -> Tensor:
    """The share of the keys above."""
    scores = torch.cat([x["c"][:, None] + x["a"], x["c"][:, None] - x["b"]], -1)
    return torch.softmax(inverse[:, None] * scores, -1)[:, : x["a"].shape[-1]].sum(-1)


def share_sides(x: Values) -> tuple[Tensor, Tensor]:
    """The share at the lower temperature, and at the original one."""
    return share(x, 1 / x["tau"] + x["γ"]), share(x, 1 / x["tau"])


TOP = Problem(two_groups, group_values, share_sides, counts=lambda m: {"k": m, "n": m})


def cold_shapes(m: int) -> dict[str, tuple[int, ...]]:
    """m numbers below, and two for all."""
    return {"b": (m,), "D": (), "tau": ()}


def cold_values(free: Free) -> Values:
    """Two tied keys, a gap, and how far below it the others are."""
    return {"b": bounded(free["b"]).square(), "D": bounded(free["D"]).exp(), "tau": bounded(free["tau"]).exp()}


def cold_sides(x: Values) -> tuple[Tensor, Tensor]:
    """The bound, and the mass of the others by softmax."""
    tau, count = x["tau"], x["b"].shape[-1]
    ties = torch.zeros(len(tau), 2, dtype=torch.float64, device=tau.device)
    scores = torch.cat([ties, -x["D"][:, None] - x["b"]], -1)
    most = count * torch.exp(-x["D"] / tau)
    return most / (2 + most), torch.softmax(scores / tau[:, None], -1)[:, 2:].sum(-1)


COLD = Problem(cold_shapes, cold_values, cold_sides, least=1e-3, sharp=True, counts=lambda m: {"k": 2, "n": m})


VOTES = [sought("beyond.top-mass", TOP), sought("beyond.cold-mass", COLD)]
