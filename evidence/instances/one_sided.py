"""One-sided problems: a batch of rows with a loss behind them, and one row with everything that the claims of eot name.

`one_sided_problems` reaches every corner that has broken an implementation before: m = 1 and m = 2, tied scores (all of them,
or the largest two), a common offset, scores of 0 and up to 10⁴, temperatures from 10⁻⁶ to 10⁶, up to two leading dimensions,
and masks, boolean or floating, which leave one position of a row or none.  A corner is chosen with a probability that reaches
it in a few dozen examples; the numbers themselves come from a seeded NumPy generator, so that an example costs a handful of
draws and shrinks towards small shapes and seed 0.

`rows` draws from it single rows without a mask, with m = 1, m = 2, ties and equal scores, of ordinary magnitude: a derivation's
expression is evaluated as printed, with exp(s/τ) and no shift.
"""

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Value
from evidence.instances.placement import Placed
from numerics import tolerances

TEMPERATURES = (1.0, 0.1, 8.0, 1e6, 1e-6)
"""Ordinary, cold, that of a head with d = 64, huge, tiny."""

SCALES = (1.0, 0.0, 30.0, 1e4)
"""Magnitudes of the scores: ordinary, all zero, saturating, large."""

MASKS = ("none", "boolean", "float", "bias", "dead row")
"""No mask; boolean; floating, of 0 and −inf; floating, of numbers and −inf; boolean, with a row of False only."""


@dataclass(frozen=True)
class OneSided:
    """One batch of one-sided problems with a loss behind them.

    Attributes:
        scores: (*batch, m), finite.
        temperature: positive.
        values: (m, dv).
        context_gradient: ∇_c L, (*batch, dv).
        mask: None, or boolean or floating, (*batch, m).
        kind: of the mask, one of ``MASKS``.
    """

    scores: Tensor
    temperature: float
    values: Tensor
    context_gradient: Tensor
    mask: Tensor | None
    kind: str = field(repr=False)

    @property
    def m(self) -> int:
        return self.scores.shape[-1]

    @property
    def utility(self) -> Tensor:
        """u_j = −⟨∇_c L, v_j⟩, summed anew rather than by the code under test."""
        return -(self.context_gradient.unsqueeze(-2) * self.values).sum(-1)

    @property
    def allowed(self) -> Tensor:
        """Which positions take part, boolean, (*batch, m)."""
        if self.mask is None:
            return torch.ones_like(self.scores, dtype=torch.bool)
        return self.mask if self.mask.dtype == torch.bool else self.mask > -torch.inf

    @property
    def dead(self) -> Tensor:
        """Which rows are fully masked, boolean, (*batch,)."""
        return ~self.allowed.any(-1)

    def to(self, dtype: torch.dtype | None = None, device: str | None = None) -> "OneSided":
        """The same problem, rounded to another dtype or moved to another device."""

        def move(x: Tensor) -> Tensor:
            return x.to(device=device, dtype=dtype if x.is_floating_point() else None)

        mask = None if self.mask is None else move(self.mask)
        scores = _finite(self.scores, dtype or self.scores.dtype).to(device=device)
        return OneSided(scores, self.temperature, move(self.values), move(self.context_gradient), mask, self.kind)


@cache
@st.composite
def one_sided_problems(
    draw: st.DrawFn,
    dtype: torch.dtype = torch.float64,
    *,
    max_m: int = 8,
    max_batch: int = 3,
    temperatures: tuple[float, ...] = TEMPERATURES,
    scales: tuple[float, ...] = SCALES,
    masks: tuple[str, ...] = MASKS,
) -> OneSided:
    """Draw a batch of one-sided problems.

    Scores are of a drawn scale, often tied (rounded to a few levels), often with a large common offset.

    Args:
        draw: given by Hypothesis.
        dtype: of all floating tensors. Numbers are drawn in float64 and rounded.
        max_m: the largest number of keys; 1 and 2 are drawn more often than the others.
        max_batch: the largest size of each of up to two leading dimensions; 0 for a single row.
        temperatures: to choose from.
        scales: of the scores, to choose from.
        masks: to choose from; see ``MASKS``.
    """
    m = draw(st.sampled_from([size for size in (1, 2) if size <= max_m]) | st.integers(1, max_m))
    batch = tuple(draw(st.lists(st.integers(1, max_batch), max_size=2))) if max_batch else ()
    temperature = draw(st.sampled_from(temperatures))
    scale = draw(st.sampled_from(scales))
    tied = draw(st.booleans())
    offset = draw(st.sampled_from((0.0, 1.0, -10.0)))
    kind = draw(st.sampled_from(masks))
    width = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    scores = rng.standard_normal((*batch, m))
    scores = scale * ((scores.round() if tied else scores) + offset)
    return OneSided(
        scores=_finite(torch.from_numpy(scores), dtype),
        temperature=temperature,
        values=torch.tensor(rng.standard_normal((m, width)), dtype=dtype),
        context_gradient=torch.tensor(rng.standard_normal((*batch, width)), dtype=dtype),
        mask=_mask(rng, kind, (*batch, m), dtype),
        kind=kind,
    )


def _finite(scores: Tensor, dtype: torch.dtype) -> Tensor:
    """Scores in another dtype, whose range may be smaller."""
    limit = min(torch.finfo(scores.dtype).max, torch.finfo(dtype).max)
    return scores.clamp(-limit, limit).to(dtype)


def _mask(rng: np.random.Generator, kind: str, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor | None:
    if kind == "none":
        return None
    allowed = rng.random(shape) < 0.7
    rows = allowed.reshape(-1, shape[-1])
    if kind == "dead row":
        rows[rng.integers(len(rows))] = False
    else:
        rows[np.arange(len(rows)), rng.integers(shape[-1], size=len(rows))] = True
    if kind in ("boolean", "dead row"):
        return torch.tensor(allowed)
    bias: Any = rng.standard_normal(shape) if kind == "bias" else 0.0
    return torch.tensor(np.where(allowed, bias, -np.inf), dtype=dtype)


# ── one row with everything that the claims name ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Row(Placed):
    """One query against m keys: scores s = K Q, values V, loss gradient g, any λ, a baseline b, a positive vector p."""

    problem: OneSided
    seed: int

    @property
    def m(self) -> int:
        return self.problem.m

    @property
    def tau(self) -> float:
        return self.problem.temperature

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """The drawn values besides the problem, on the CPU; K and Q are such that the scores are the problem's."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        query, rest = normal(2).exp(), normal(self.m)
        keys = torch.stack([(self.problem.scores - query[1] * rest) / query[0], rest], -1)
        return {
            "Q": query,
            "K": keys,
            "p": normal(self.m).exp(),
            "lam": normal(1)[0],
            "b": normal(1)[0],
            "Z": normal(1)[0].exp(),
            "t": normal(1)[0],
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def s(self) -> Tensor:
        return self["K"] @ self["Q"]

    @property
    def values(self) -> Tensor:
        return self.problem.values.to(self.device)

    @property
    def g(self) -> Tensor:
        return self.problem.context_gradient.to(self.device)

    @property
    def u(self) -> Tensor:
        return -(self.values @ self.g)

    @property
    def weights(self) -> Tensor:
        """exp(s/τ)/Z by torch's own softmax."""
        return torch.softmax(self.s / self.tau, -1)

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU, where the derivations' expressions are evaluated."""
        sizes: dict[str, Value] = {"m": self.m, "d": 2, "e": self.values.shape[-1], "tau": self.tau, "eps": self.tau}
        tensors = {"s": self.s, "V": self.values, "g": self.g, "u": self.u, "π": self.weights}
        return sizes | {name: x.cpu() for name, x in tensors.items()} | self.drawn

    def tolerance(self, *magnitudes: Tensor | float) -> float:
        """Rounding in float64 of sums over the keys, relative to the magnitudes that enter and to exp's argument."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max().cpu()) for x in (1.0, *magnitudes))
        exponent = float((self["K"].abs() @ self["Q"]).max()) / self.tau
        return tolerances.rounding("float64", self.m, largest * (1 + exponent) * max(1.0, self.tau, 1 / self.tau) ** 2)


@cache
@st.composite
def rows(draw: st.DrawFn, max_m: int = 5) -> Row:
    """Draw a row of ordinary magnitude, m = 1, m = 2 and ties included."""
    problem = draw(
        one_sided_problems(max_m=max_m, max_batch=0, temperatures=(1.0, 0.5, 4.0), scales=(1.0, 0.0, 2.0), masks=("none",))
    )
    return Row(replace(problem, scores=problem.scores.clamp(-12, 12)), draw(st.integers(0, 2**31)))
