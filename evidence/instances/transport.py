"""Entropic transport between two marginals, balanced or relaxed: batches with the corners that break implementations.

`transports` reaches one row, one column and one entry, more rows than columns and fewer, up to two leading dimensions,
marginals with zeros and with masses over ten orders of magnitude, costs with ties, with an offset, all zero, and with +inf,
which may leave a row with nothing or cut the problem in two, temperatures from 10⁻³ to 10³, relaxations from 10⁻² to infinity.
"""

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

COSTS = ("plain", "squared", "tied", "zero", "offset", "forbidding", "blocks")
"""Normal; ‖x_i − y_j‖²; small integers; all zero; normal and a thousand; with +inf; finite within two blocks only."""

MARGINALS = ("uniform", "positive", "skewed", "sparse")
"""All equal; random; over ten orders of magnitude; with zeros."""

EPSILONS = (1.0, 0.1, 10.0, 0.01, 1e-3, 1e3)

RELAXATIONS = (math.inf, 1.0, 0.01, 100.0)


@dataclass(frozen=True)
class TransportProblem:
    """One batch of problems.

    Attributes:
        cost: (*batch, n, m).
        source: (*batch, n).
        target: (*batch, m).
        temperature: positive.
        relaxation: positive, perhaps infinite.
        kind: of the cost, one of ``COSTS``; with "forbidding" and "blocks" a plan with these marginals exists, too.
    """

    cost: Tensor
    source: Tensor
    target: Tensor
    temperature: float
    relaxation: float
    kind: str = field(repr=False)

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor, float]:
        return self.cost, self.source, self.target, self.temperature


@cache
@st.composite
def transports(
    draw: st.DrawFn,
    *,
    max_size: int = 6,
    max_batch: int = 2,
    costs: tuple[str, ...] = COSTS,
    marginals: tuple[str, ...] = MARGINALS,
    temperatures: tuple[float, ...] = EPSILONS,
    relaxations: tuple[float, ...] = (math.inf,),
) -> TransportProblem:
    """Draw a batch of float64 problems, with marginals that sum to one.

    Args:
        draw: given by Hypothesis.
        max_size: the largest number of rows and of columns; 1 is drawn more often than the others.
        max_batch: the largest size of each of up to two leading dimensions; 0 for a single problem.
        costs: to choose from; see ``COSTS``.
        marginals: to choose from, for source and target; see ``MARGINALS``.
        temperatures: to choose from.
        relaxations: to choose from.
    """
    n, m = (draw(st.just(1) | st.integers(1, max_size)) for _ in range(2))
    batch = tuple(draw(st.lists(st.integers(1, max_batch), max_size=2))) if max_batch else ()
    kind, row, column = draw(st.sampled_from(costs)), draw(st.sampled_from(marginals)), draw(st.sampled_from(marginals))
    temperature, relaxation = draw(st.sampled_from(temperatures)), draw(st.sampled_from(relaxations))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    source, target = _marginal(rng, row, (*batch, n)), _marginal(rng, column, (*batch, m))
    cost = _cost(rng, kind, (*batch, n, m))
    if kind in ("forbidding", "blocks"):
        cost, source, target = _feasible(rng, kind, cost, source, target)
    c, a, b = (torch.tensor(x, dtype=torch.float64) for x in (cost, source, target))
    return TransportProblem(c, a, b, temperature, relaxation, kind)


def _marginal(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Any:
    mass = {
        "uniform": np.ones(shape),
        "positive": rng.exponential(size=shape) + 1e-3,
        "skewed": 10.0 ** rng.uniform(-10, 0, size=shape),
        "sparse": rng.exponential(size=shape) + 1e-3,
    }[kind]
    if kind == "sparse":
        mass[rng.random(shape) < 0.5] = 0.0
        mass[..., rng.integers(shape[-1])] = 1.0
    return mass / mass.sum(-1, keepdims=True)


def _cost(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Any:
    if kind == "squared":
        x, y = rng.standard_normal((*shape[:-1], 2)), rng.standard_normal((*shape[:-2], shape[-1], 2))
        return ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)
    cost = np.zeros(shape) if kind == "zero" else rng.standard_normal(shape)
    return {"tied": cost.round(), "offset": cost + 1e3}.get(kind, cost)


def _feasible(rng: np.random.Generator, kind: str, cost: Any, source: Any, target: Any) -> tuple[Any, Any, Any]:
    """Forbid some of the costs, and replace the marginals by those of a plan on the others; zeros are kept."""
    n, m = cost.shape[-2:]
    if kind == "blocks":
        rows, columns = rng.integers(2, size=n), rng.integers(2, size=m)
        rows[0], columns[0] = 0, 0
        allowed = np.broadcast_to(rows[:, None] == columns, cost.shape).copy()
    else:
        allowed = rng.random(cost.shape) < 0.7
        allowed[..., 0, 0] = True
    plan = np.where(allowed, source[..., :, None] * target[..., None, :] * rng.uniform(0.5, 2.0, cost.shape), 0.0)
    plan[..., 0, 0] += 1e-3
    plan = plan / plan.sum((-2, -1), keepdims=True)
    return np.where(allowed, cost, np.inf), plan.sum(-1), plan.sum(-2)
