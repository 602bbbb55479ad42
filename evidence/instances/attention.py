"""Attention of n queries over m keys: problems with all that the transport chapter names, and batches cut into tiles.

`attention_problems` reaches n = 1, m = 1, n > m and n < m, one query n times and equal scores.  Its magnitudes are ordinary,
since a derivation's expression is evaluated as printed, with exp(S/ε) and no shift.  `tilings` draws hard cases for streaming:
tiles of one key, one tile of all, masks that leave a tile, a row or everything with nothing, equal and saturating scores.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value, float64
from evidence.instances.placement import Placed
from numerics import tolerances

WIDTH = 2
FEATURES = 3


@dataclass(frozen=True)
class AttentionProblem(Placed):
    """n queries against m keys: Q, K, V, any scores S, positive features f and g, real ones x and y, projections, plans.

    Attributes:
        n: queries.
        m: keys.
        eps: ε.
        tau: τ.
        seed: of the drawn values.
        tied: whether all queries are one, and all scores of a row.
        device: where the routes are computed.
    """

    n: int
    m: int
    eps: float
    tau: float
    seed: int
    tied: bool

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """The drawn values, on the CPU; R is one-hot, uniform or anything, by the seed."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        n, m = self.n, self.m
        queries, scores = normal(n, WIDTH), normal(n, m)
        if self.tied:
            queries, scores = queries[:1].repeat(n, 1), scores[:, :1].repeat(1, m)
        rival = (normal(n, m) * (0.0, 1.0, 50.0)[self.seed % 3]).softmax(-1)
        return {
            "Q": queries,
            "K": normal(m, WIDTH),
            "V": normal(m, WIDTH),
            "S": scores,
            "W": normal(n, m).exp(),
            "lam": normal(n),
            "o": normal(n),
            "a": normal(n).softmax(0),
            "b": normal(m).softmax(0),
            "C": normal(n, m),
            "f": normal(n, FEATURES).exp(),
            "g": normal(m, FEATURES).exp(),
            "x": normal(n, FEATURES),
            "y": normal(m, FEATURES),
            "z": normal(n),
            "R": rival,
            "T": normal(n, n),
            "projections": normal(FEATURES, WIDTH),
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def raw(self) -> Tensor:
        """QKᵀ."""
        return self["Q"] @ self["K"].T

    @property
    def scaled(self) -> Tensor:
        """QKᵀ/√d."""
        return self.raw / math.sqrt(WIDTH)

    def point(self, **values: Value) -> dict[str, Value]:
        """Every variable by its printed name, with replacements."""
        sizes: dict[str, Value] = {
            "n": self.n,
            "m": self.m,
            "d": WIDTH,
            "e": WIDTH,
            "F": FEATURES,
            "eps": self.eps,
            "tau": self.tau,
        }
        return sizes | self.drawn | {name: x.cpu() if isinstance(x, Tensor) else x for name, x in values.items()}

    def reading(self, *magnitudes: Tensor | float, extra: Mapping[str, Value] | None = None, **routes: Tensor) -> Reading:
        """Routes at this problem, with the rounding of sums over its entries for these magnitudes and the routes' own."""
        everything = (1.0, *magnitudes, *routes.values())
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max()) for x in everything)
        exponent = float((self["Q"].abs() @ self["K"].abs().T).max() + self["S"].abs().max()) / min(self.eps, self.tau, 1.0)
        scale = largest * (1 + exponent) * max(1.0, self.eps, self.tau, 1 / self.eps)
        tolerance = tolerances.rounding("float64", self.n * self.m * FEATURES, scale)
        return Reading(self.point(**(extra or {})), routes, tolerance)


@cache
@st.composite
def attention_problems(draw: st.DrawFn, square: bool = False, smallest: int = 1) -> AttentionProblem:
    """Draw a small problem; n = 1, m = 1, n ≠ m, one query n times and equal scores included."""
    n = draw(st.integers(smallest, 3))
    m = n if square else draw(st.integers(smallest, 4))
    epsilon, tau = draw(st.sampled_from((1.0, 0.5, 4.0))), draw(st.sampled_from((1.0, 0.7, 3.0)))
    return AttentionProblem(n, m, epsilon, tau, draw(st.integers(0, 2**31)), draw(st.integers(0, 3)) == 0)


def by_pot(scores: Tensor, epsilon: float) -> Tensor:
    """The plan with unit rows and free columns, by POT."""
    import ot  # importing it takes a second

    n, m = scores.shape
    mass, share = torch.ones(n, dtype=torch.float64).numpy(), torch.full((m,), 1 / m, dtype=torch.float64).numpy()
    cost = -scores.double().cpu().numpy()
    plan = ot.unbalanced.sinkhorn_unbalanced(mass, share, cost, epsilon, (float("inf"), 0.0), reg_type="kl")
    return float64(plan)


# ── attention in tiles ───────────────────────────────────────────────────────────────────────────────────────────────


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
        """Which entries take part, boolean, (*batch, n, m)."""
        shape = (*self.query.shape[:-1], self.key.shape[-2])
        if self.mask is None:
            return torch.ones(shape, dtype=torch.bool)
        return self.mask if self.mask.dtype == torch.bool else self.mask != -torch.inf

    @property
    def logit(self) -> float:
        """The largest |s| that is finite, each of its d products counted by itself, and of |mask|: where rounding starts."""
        sizes = (self.query.double().abs() @ self.key.double().abs().mT).amax() / self.temperature
        added = (
            0.0
            if self.mask is None or self.mask.dtype == torch.bool
            else float(torch.where(self.allowed, self.mask, 0.0).double().abs().max())
        )
        return float(sizes) + added

    @property
    def error(self) -> float:
        """The error of one weight, in the dtype of the problem."""
        return tolerances.plan(self.query.dtype, self.key.shape[-2], (self.query.shape[-1] + 3) * self.logit)

    def rounded_to(self, dtype: torch.dtype) -> "Tiled":
        """The same problem, rounded to another dtype."""
        mask = self.mask if self.mask is None or self.mask.dtype == torch.bool else self.mask.to(dtype)
        return replace(self, query=self.query.to(dtype), key=self.key.to(dtype), value=self.value.to(dtype), mask=mask)


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
    q, k, v = (torch.tensor(x, dtype=dtype) for x in (query, key, value))
    added = None if mask is None else torch.tensor(mask, dtype=torch.bool if mask.dtype == bool else dtype)
    return Tiled(q, k, v, added, temperature, tiles)


@st.composite
def _cuts(draw: st.DrawFn, m: int) -> list[int]:
    ends = sorted(draw(st.sets(st.integers(1, m - 1), max_size=m - 1)) if m > 1 else set())
    return [stop - start for start, stop in zip([0, *ends], [*ends, m], strict=True)]
