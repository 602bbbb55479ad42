"""Attention problems with everything the transport chapter names, drawn for comparison with proved expressions.

Magnitudes are ordinary here, since a derivation's expression is evaluated as printed, with exp(S/ε) and no shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import ot
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value, float64
from evidence.instances.placement import Placed
from numerics import tolerances

WIDTH = 2
FEATURES = 3


@dataclass(frozen=True)
class Problem(Placed):
    """n queries against m keys: Q, K, V, any scores S, positive features f and g, real ones x and y, projections, plans.

    Attributes:
        n: queries.
        m: keys.
        eps: ε.
        tau: τ.
        seed: of what is drawn.
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
        """What is drawn, on the CPU; R is one-hot, uniform or anything, by the seed."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        n, m = self.n, self.m
        queries, scores = normal(n, WIDTH), normal(n, m)
        if self.tied:
            queries, scores = queries[:1].repeat(n, 1), scores[:, :1].repeat(1, m)
        rival = (normal(n, m) * (0.0, 1.0, 50.0)[self.seed % 3]).softmax(-1)
        return {"Q": queries, "K": normal(m, WIDTH), "V": normal(m, WIDTH), "S": scores, "W": normal(n, m).exp(),
                "lam": normal(n), "o": normal(n), "a": normal(n).softmax(0), "b": normal(m).softmax(0), "C": normal(n, m),
                "f": normal(n, FEATURES).exp(), "g": normal(m, FEATURES).exp(), "x": normal(n, FEATURES),
                "y": normal(m, FEATURES), "z": normal(n), "R": rival, "T": normal(n, n),
                "projections": normal(FEATURES, WIDTH)}

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def raw(self) -> Tensor:
        """QKᵀ."""
        return self["Q"] @ self["K"].T

    @property
    def scaled(self) -> Tensor:
        """QKᵀ/√d."""
        return self.raw / WIDTH**0.5

    def point(self, **given: Value) -> dict[str, Value]:
        """Every variable by its printed name, with replacements."""
        sizes: dict[str, Value] = {"n": self.n, "m": self.m, "d": WIDTH, "e": WIDTH, "F": FEATURES, "eps": self.eps,
                                   "tau": self.tau}
        return sizes | self.drawn | {name: x.cpu() if isinstance(x, Tensor) else x for name, x in given.items()}

    def reading(self, *magnitudes: Tensor | float, computed: str = "left", given: dict[str, Value] | None = None,
                **routes: Tensor) -> Reading:
        """Routes at this problem, with the rounding of sums over its entries for these magnitudes and the routes' own."""
        everything = (1.0, *magnitudes, *routes.values())
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max()) for x in everything)
        exponent = float((self["Q"].abs() @ self["K"].abs().T).max() + self["S"].abs().max()) / min(self.eps, self.tau, 1.0)
        scale = largest * (1 + exponent) * max(1.0, self.eps, self.tau, 1 / self.eps)
        tolerance = tolerances.rounding("float64", self.n * self.m * FEATURES, scale)
        return Reading(self.point(**(given or {})), routes, tolerance, computed)  # type: ignore[arg-type]


@st.composite
def problems(draw: st.DrawFn, square: bool = False, smallest: int = 1) -> Problem:
    """Draw a small problem; n = 1, m = 1, n ≠ m, one query n times and equal scores included."""
    n = draw(st.integers(smallest, 3))
    m = n if square else draw(st.integers(smallest, 4))
    epsilon, tau = draw(st.sampled_from((1.0, 0.5, 4.0))), draw(st.sampled_from((1.0, 0.7, 3.0)))
    return Problem(n, m, epsilon, tau, draw(st.integers(0, 2**31)), draw(st.integers(0, 3)) == 0)


def by_pot(scores: Tensor, epsilon: float) -> Tensor:
    """The plan with unit rows and free columns, by POT."""
    n, m = scores.shape
    mass, share = torch.ones(n, dtype=torch.float64).numpy(), torch.full((m,), 1 / m, dtype=torch.float64).numpy()
    cost = -scores.double().cpu().numpy()
    plan = ot.unbalanced.sinkhorn_unbalanced(mass, share, cost, epsilon, (float("inf"), 0.0), reg_type="kl")
    return float64(plan)
