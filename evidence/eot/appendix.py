"""The appendices of eot in torch: closed forms and autograd against the proved expressions."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value
from evidence.eot.forward import reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row
from evidence.instances.placement import Placed
from numerics import one_sided, tolerances


@dataclass(frozen=True)
class Batch(Placed):
    """n queries against m keys, a positive matrix W, multipliers λ, constants Z, a plan P and a distribution b."""

    n: int
    m: int
    tau: float
    seed: int
    cornered: bool

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """The drawn values, on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        plan = normal(self.n, self.m).exp() + 0.01
        if self.cornered:
            plan = torch.eye(self.m, dtype=torch.float64)[plan.argmax(-1)]
        share = normal(self.m).exp()
        return {
            "Q": normal(self.n, 2),
            "K": normal(self.m, 2),
            "W": normal(self.n, self.m).exp(),
            "lam": normal(self.n),
            "Z": normal(self.n).exp(),
            "P": plan / plan.sum(-1, keepdim=True),
            "b": share / share.sum(),
            "c": normal(1)[0],
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def s(self) -> Tensor:
        return one_sided.scores_from(self["Q"], self["K"])

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name."""
        return {"n": self.n, "m": self.m, "d": 2, "tau": self.tau, "eps": self.tau, **self.drawn}

    def reading(self, *magnitudes: Tensor | float, computed: Literal["left", "right"] = "left", **routes: Tensor) -> Reading:
        """Routes at this batch, with the tolerance of sums over its entries for these magnitudes and the routes' own."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max()) for x in (1.0, *magnitudes, *routes.values()))
        exponent = float((self["Q"].abs() @ self["K"].abs().T).max()) / self.tau
        scale = largest * (1 + exponent) * max(1.0, self.tau, 1 / self.tau) ** 2
        return Reading(self.point(), routes, tolerances.rounding("float64", self.n * self.m, scale), computed)


@cache
@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Draw a small batch; n = 1 and m = 1, and plans with zeros, included."""
    return Batch(
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        draw(st.sampled_from((1.0, 0.5, 4.0))),
        draw(st.integers(0, 2**31)),
        draw(st.booleans()),
    )


def potential(row: Row, scores: Tensor | None = None) -> Tensor:
    """φ(s) = τ log Z."""
    return row.tau * one_sided.log_partition(row.s if scores is None else scores, row.tau)


def maximizer(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau), autograd=gradient(lambda s: potential(row, s), row.s))


def value(row: Row) -> Tensor:
    """f(p*) − ⟨p*, s⟩ by the closed forms of plan and objective."""
    return one_sided.objective(one_sided.plan(row.s, row.tau), row.s, row.tau)


def conjugate(row: Row) -> Reading:
    return reading(row, row.s, row.tau, closed_form=potential(row), objective=-value(row))


def shares(row: Row) -> Tensor:
    """The optimal plan or another point of the simplex, by the parity of the seed."""
    return row.weights.cpu() if row.seed % 2 else row["p"].cpu() / row["p"].cpu().sum()


def slopes(row: Row, weights: Tensor, level: Tensor | float = 0.0) -> Tensor:
    """The gradient in R^m of ⟨w, s⟩ − τ Σ w log w − λ(Σ w − 1), by autograd."""
    return gradient(lambda w: -one_sided.objective(w, row.s, row.tau) - level * (w.sum() - 1), weights)
