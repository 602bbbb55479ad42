"""One row of attention with everything the derivations name, drawn for comparison with proved expressions.

Magnitudes are ordinary here, since a derivation's expression is evaluated as printed, with exp(s/τ) and no shift; the
extremes are drawn in `test_one_sided.py`, where the closed forms stand alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Value
from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics import tolerances


@dataclass(frozen=True)
class Row:
    """One query against m keys: scores s = K Q, values V, loss gradient g, any λ, a baseline b, a positive vector p."""

    problem: OneSided
    seed: int
    device: str = "cpu"

    def to(self, device: str) -> Row:
        """The same row, computed on another device."""
        return Row(self.problem, self.seed, device)

    @property
    def m(self) -> int:
        return self.problem.m

    @property
    def tau(self) -> float:
        return self.problem.temperature

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """What is drawn besides the problem, on the CPU; K and Q are such that the scores are the problem's."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        query, rest = normal(2).exp(), normal(self.m)
        keys = torch.stack([(self.problem.scores - query[1] * rest) / query[0], rest], -1)
        return {"Q": query, "K": keys, "p": normal(self.m).exp(), "lam": normal(1)[0],
                "b": normal(1)[0], "Z": normal(1)[0].exp(), "t": normal(1)[0]}

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
        given: dict[str, Value] = {"m": self.m, "d": 2, "e": self.values.shape[-1], "tau": self.tau, "eps": self.tau}
        tensors = {"s": self.s, "V": self.values, "g": self.g, "u": self.u, "π": self.weights}
        return given | {name: x.cpu() for name, x in tensors.items()} | self.drawn

    def tolerance(self, *magnitudes: Tensor | float) -> float:
        """Rounding in float64 of sums over the keys, relative to the magnitudes that enter and to exp's argument."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max().cpu()) for x in (1.0, *magnitudes))
        exponent = float((self["K"].abs() @ self["Q"]).max()) / self.tau
        return tolerances.rounding("float64", self.m, largest * (1 + exponent) * max(1.0, self.tau, 1 / self.tau) ** 2)


@st.composite
def rows(draw: st.DrawFn, max_m: int = 5) -> Row:
    """Draw a row of ordinary magnitude, m = 1, m = 2 and ties included."""
    problem = draw(
        one_sided_problems(
            max_m=max_m, max_batch=0, temperatures=(1.0, 0.5, 4.0), scales=(1.0, 0.0, 2.0), masks=("none",)
        )
    )
    shrunk = OneSided(
        problem.scores.clamp(-12, 12), problem.temperature, problem.values, problem.context_gradient, None, "none"
    )
    return Row(shrunk, draw(st.integers(0, 2**31)))
