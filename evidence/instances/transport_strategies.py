"""Problems of entropic transport and of tiled attention, drawn at random, with the corners that break implementations."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from numerics import tolerances

COSTS = ("plain", "squared", "tied", "zero", "offset", "forbidding", "blocks")
"""Normal; ‖x_i − y_j‖²; small integers; all zero; normal and a thousand; with +inf; finite within two blocks only."""

MARGINALS = ("uniform", "positive", "skewed", "sparse")
"""All equal; random; over ten orders of magnitude; with zeros."""

EPSILONS = (1.0, 0.1, 10.0, 0.01, 1e-3, 1e3)

RELAXATIONS = (math.inf, 1.0, 0.01, 100.0)


@dataclass(frozen=True)
class Transported:
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

    def to(self, dtype: torch.dtype) -> "Transported":
        """The same problem, rounded to another dtype."""
        parts = (x.to(dtype) for x in (self.cost, self.source, self.target))
        return Transported(*parts, self.temperature, self.relaxation, self.kind)


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
) -> Transported:
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
    parts = (torch.tensor(x, dtype=torch.float64) for x in (cost, source, target))
    return Transported(*parts, temperature, relaxation, kind)


@dataclass(frozen=True)
class Tiled:
    """One batch of attention problems, with two ways of cutting the keys into tiles.

    Attributes:
        query: (*batch, n, d).
        key: (*batch, m, d).
        value: (*batch, m, dv).
        mask: boolean or floating, (*batch, n, m), or None.
        temperature: positive.
        tiles: two lists of sizes with the sum m.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    temperature: float
    tiles: tuple[list[int], list[int]]

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor, Tensor | None, float]:
        return self.query, self.key, self.value, self.mask, self.temperature

    @property
    def allowed(self) -> Tensor:
        """What takes part, boolean, (*batch, n, m)."""
        shape = (*self.query.shape[:-1], self.key.shape[-2])
        if self.mask is None:
            return torch.ones(shape, dtype=torch.bool)
        return self.mask if self.mask.dtype == torch.bool else self.mask != -torch.inf

    @property
    def logit(self) -> float:
        """The largest |s| that is finite, each of its d products counted by itself, and of |mask|: where rounding starts."""
        sizes = (self.query.double().abs() @ self.key.double().abs().mT).amax() / self.temperature
        added = 0.0 if self.mask is None or self.mask.dtype == torch.bool else float(
            torch.where(self.allowed, self.mask, 0.0).double().abs().max())
        return float(sizes) + added

    @property
    def error(self) -> float:
        """The error of one weight, in the dtype of the problem."""
        return tolerances.plan(self.query.dtype, self.key.shape[-2], (self.query.shape[-1] + 3) * self.logit)

    def to(self, dtype: torch.dtype) -> "Tiled":
        """The same problem, rounded to another dtype."""
        mask = self.mask if self.mask is None or self.mask.dtype == torch.bool else self.mask.to(dtype)
        return Tiled(self.query.to(dtype), self.key.to(dtype), self.value.to(dtype), mask, self.temperature, self.tiles)


@st.composite
def tilings(draw: st.DrawFn, dtype: torch.dtype = torch.float64, *, max_keys: int = 9) -> Tiled:
    """Draw attention problems with masks that leave whole tiles, and whole rows, with nothing.

    Args:
        draw: given by Hypothesis.
        dtype: of all tensors. Numbers are drawn in float64 and rounded.
        max_keys: the largest m.
    """
    n, m, d, dv = draw(st.integers(1, 4)), draw(st.integers(1, max_keys)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    batch = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
    tiles = (draw(_cuts(m)), draw(_cuts(m)))
    kind = draw(st.sampled_from(["none", "boolean", "tile", "row", "everything", "float", "float -inf", "causal"]))
    scale, temperature = draw(st.sampled_from([1.0, 0.0, 30.0])), draw(st.sampled_from([1.0, 0.3, 8.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    query, key = scale * rng.standard_normal((*batch, n, d)), rng.standard_normal((*batch, m, d))
    value = rng.standard_normal((*batch, m, dv))
    shape = (*batch, n, m)
    mask = {
        "boolean": rng.random(shape) < 0.6,
        "tile": np.ones(shape, dtype=bool),
        "row": rng.random(shape) < 0.8,
        "everything": np.zeros(shape, dtype=bool),
        "float": rng.standard_normal(shape),
        "float -inf": np.where(rng.random(shape) < 0.5, -np.inf, rng.standard_normal(shape)),
        "causal": np.broadcast_to(np.tril(np.ones((n, m), dtype=bool)), shape).copy(),
    }.get(kind)
    if mask is not None and kind == "tile":
        index = int(rng.integers(len(tiles[0])))
        mask[..., sum(tiles[0][:index]) : sum(tiles[0][: index + 1])] = False
    if mask is not None and kind == "row":
        mask[..., int(rng.integers(n)), :] = False
    parts = (torch.tensor(x, dtype=dtype) for x in (query, key, value))
    added = None if mask is None else torch.tensor(mask, dtype=torch.bool if mask.dtype == bool else dtype)
    return Tiled(*parts, added, temperature, tiles)


@st.composite
def _cuts(draw: st.DrawFn, m: int) -> list[int]:
    ends = sorted(draw(st.sets(st.integers(1, m - 1), max_size=m - 1)) if m > 1 else set())
    return [stop - start for start, stop in zip([0, *ends], [*ends, m], strict=True)]


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
