"""Problems of attention by optimal transport, drawn at random, with the corners that have broken an implementation before."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from numerics import tolerances

COSTS = ("squared", "inner", "plain", "forbidding", "zero", "groups")
"""‖t_i − t_j‖²; C − ⟨t_i, t_j⟩; not symmetric; not symmetric, with +inf; all zero; 0 within a group and +inf across."""

PRIORS = ("positive", "sparse", "vertex")
"""All positive; with zeros; on one template only."""

ALPHAS = (1.0, 0.1, 10.0, 1e-3, 300.0)

GAMMAS = (1.0, 8.0, 0.1, 1e3, 0.01)


MILD: dict[str, Any] = {"alphas": (1.0, 0.1, 3.0), "temperatures": (1.0, 3.0, 0.5)}
"""What to draw α and γ from where numbers of very different sizes would leave nothing to compare."""


@dataclass(frozen=True)
class Problem:
    """One batch of problems.

    Attributes:
        templates: (*batch, N, d).
        evidence: (*batch, d).
        prior: (*batch, n).
        cost: (*batch, N, n); every column has a finite entry.
        alpha: positive.
        temperature: positive.
        kind: of the cost, one of ``COSTS``.
    """

    templates: Tensor
    evidence: Tensor
    prior: Tensor
    cost: Tensor
    alpha: float
    temperature: float
    kind: str = field(repr=False)

    @property
    def N(self) -> int:
        return self.templates.shape[-2]

    @property
    def n(self) -> int:
        return self.prior.shape[-1]

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.templates, self.evidence, self.prior, self.cost

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor, Tensor, float, float]:
        return *self.tensors, self.alpha, self.temperature

    @property
    def reach(self) -> float:
        """The length of the longest template."""
        return float(self.templates.double().norm(dim=-1).max())

    @property
    def logit(self) -> float:
        """The largest |α⟨t, z⟩/γ| or |M/γ| that is finite: where rounding starts."""
        tilt = float((self.templates.double() @ self.evidence.double().unsqueeze(-1)).abs().max()) * self.alpha
        finite = self.cost[self.cost < torch.inf].double()
        return (tilt + float(finite.abs().max())) / self.temperature

    @property
    def rounding(self) -> float:
        """The error of weights whose logits are rounded in each of d products, and when cost, peak and γ are taken off."""
        return tolerances.plan(self.templates.dtype, self.N + self.n, (self.templates.shape[-1] + 3) * self.logit)

    def to(self, dtype: torch.dtype | None = None, device: str = "cpu") -> "Problem":
        """The same problem, rounded to another dtype or moved to another device."""
        parts = (x.to(device, dtype or x.dtype) for x in self.tensors)
        return Problem(*parts, self.alpha, self.temperature, self.kind)


@st.composite
def problems(
    draw: st.DrawFn,
    dtype: torch.dtype = torch.float64,
    *,
    max_size: int = 6,
    max_batch: int = 3,
    costs: tuple[str, ...] = COSTS,
    priors: tuple[str, ...] = PRIORS,
    alphas: tuple[float, ...] = ALPHAS,
    temperatures: tuple[float, ...] = GAMMAS,
) -> Problem:
    """Draw a batch of problems.

    Templates are often on a grid (ties, duplicates); a cost of no special form may belong to fewer sources than templates.

    Args:
        draw: given by Hypothesis.
        dtype: of all tensors. Numbers are drawn in float64 and rounded.
        max_size: the largest number of templates; 1 and 2 are drawn more often than the others.
        max_batch: the largest size of each of up to two leading dimensions; 0 for a single problem.
        costs: to choose from; see ``COSTS``.
        priors: to choose from; see ``PRIORS``.
        alphas: to choose from.
        temperatures: to choose from.
    """
    N = draw(st.sampled_from([size for size in (1, 2) if size <= max_size]) | st.integers(1, max_size))
    d = draw(st.integers(1, 3))
    batch = tuple(draw(st.lists(st.integers(1, max_batch), max_size=2))) if max_batch else ()
    kind, prior = draw(st.sampled_from(costs)), draw(st.sampled_from(priors))
    n = draw(st.integers(1, N)) if kind in ("plain", "forbidding") else N
    tied = draw(st.booleans())
    alpha, temperature = draw(st.sampled_from(alphas)), draw(st.sampled_from(temperatures))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    templates = rng.standard_normal((*batch, N, d))
    templates = templates.round() if tied else templates
    evidence = rng.standard_normal((*batch, d))
    return Problem(
        torch.tensor(templates, dtype=dtype),
        torch.tensor(evidence.round() if tied else evidence, dtype=dtype),
        torch.tensor(_prior(rng, prior, (*batch, n)), dtype=dtype),
        torch.tensor(_cost(rng, kind, templates, n, tied), dtype=dtype),
        alpha,
        temperature,
        kind,
    )


def batch_of_problems(
    seed: int, count: int, N: int = 5, d: int = 3, *, symmetric: bool, dtype: torch.dtype = torch.float64
) -> Problem:
    """Draw ``count`` problems with α = γ = 1 and costs that are symmetric or not, a tenth of the latter forbidden."""
    rng = np.random.default_rng(seed)
    templates, evidence = rng.standard_normal((count, N, d)), rng.standard_normal((count, d))
    cost = rng.exponential(size=(count, N, N))
    if symmetric:
        cost = cost + cost.swapaxes(-1, -2)
    else:
        cost[rng.random(cost.shape) < 0.1] = np.inf
        cost[:, 0] = 1.0
    parts = (templates, evidence, rng.dirichlet(np.ones(N), count), cost)
    return Problem(*(torch.tensor(x, dtype=dtype) for x in parts), 1.0, 1.0, "squared" if symmetric else "forbidding")


def double(*rows: object) -> Tensor:
    """A float64 tensor of the numbers given."""
    return torch.tensor(rows, dtype=torch.float64)


def _prior(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Any:
    u = rng.exponential(size=shape) + 1e-3
    if kind == "vertex":
        u = np.zeros(shape)
    if kind == "sparse":
        u[rng.random(shape) < 0.5] = 0.0
    rows = u.reshape(-1, shape[-1])
    empty = np.flatnonzero(rows.sum(-1) == 0)
    rows[empty, rng.integers(shape[-1], size=len(empty))] = 1.0
    return u / u.sum(-1, keepdims=True)


def _cost(rng: np.random.Generator, kind: str, templates: Any, n: int, tied: bool) -> Any:
    N = templates.shape[-2]
    if kind == "squared":
        return ((templates[..., :, None, :] - templates[..., None, :, :]) ** 2).sum(-1)
    if kind == "inner":
        products = templates @ templates.swapaxes(-1, -2)
        return products.max((-2, -1), keepdims=True) - products
    if kind == "groups":
        group = rng.integers(2, size=N)
        return np.broadcast_to(np.where(group[:, None] == group, 0.0, np.inf), (*templates.shape[:-2], N, N)).copy()
    cost = np.zeros((*templates.shape[:-1], n)) if kind == "zero" else rng.standard_normal((*templates.shape[:-1], n))
    cost = cost.round() if tied else cost
    if kind == "forbidding":
        cost[rng.random(cost.shape) < 0.4] = np.inf
        columns = cost.swapaxes(-1, -2).reshape(-1, N)
        keep = rng.integers(N, size=len(columns))
        columns[np.arange(len(columns)), keep] = 0.5
        cost = columns.reshape(*cost.swapaxes(-1, -2).shape).swapaxes(-1, -2)
    return cost
