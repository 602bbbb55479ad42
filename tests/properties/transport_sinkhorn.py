"""The transport chapter's sections 1 and 3 in torch: couplings, the entropic problem, Sinkhorn's half-steps and their limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import one_sided, tolerances
from numerics.transport import sinkhorn, sinkhorn_weights
from tests.layers import Reading, confirms
from tests.properties.transport_problems import Problem, problems

TORCH = Layer.TORCH


# ── couplings ───────────────────────────────────────────────────────────────────────────────────────────────────────


def independent(x: Problem) -> Tensor:
    """The plan for costs that are all zero: a bᵀ."""
    return sinkhorn(torch.zeros_like(x["C"]), x["a"], x["b"], x.eps).plan


def best(x: Problem) -> Tensor:
    """The optimal coupling of a and b."""
    return sinkhorn(x["C"], x["a"], x["b"], x.eps).plan


def entropy(plan: Tensor) -> Tensor:
    """−Σ P log P."""
    return -torch.xlogy(plan, plan).sum()


@confirms(TORCH, "transport.s1.kantorovich", on=problems())
def mixed_cost(x: Problem) -> Reading:
    odds, plan, rival = float(x["W"][0, 0]), best(x), independent(x)
    mixture = (odds * plan + rival) / (1 + odds)
    return x.reading(x["C"].abs().sum(), given={"odds": odds, "P": plan, "R": rival}, direct=(mixture * x["C"]).sum())


@confirms(TORCH, "transport.s1.entropic", on=problems())
def objective_of_independent(x: Problem) -> Reading:
    plan = independent(x)
    return x.reading(x["C"].abs().sum(), direct=(plan * x["C"]).sum() - x.eps * entropy(plan))


@confirms(TORCH, "transport.s1.kl", on=problems())
def divergence_from_independent(x: Problem) -> Reading:
    solved = sinkhorn(x["C"], x["a"], x["b"], x.eps)
    logs = (solved.plan / (x["a"][:, None] * x["b"])).log()
    value = (solved.value - (solved.plan * x["C"]).sum()) / x.eps
    return x.reading(x["C"].abs().max() / x.eps, logs, given={"P": solved.plan}, direct=(solved.plan * logs).sum(), value=value)


# ── half-steps ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Iterates:
    """An iterate before and after its rows are rescaled, and the limit of the iteration, all of mass 1."""

    n: int
    m: int
    before: Tensor
    after: Tensor
    limit: Tensor

    def to(self, device: str) -> Iterates:
        """The same iterates, on another device."""
        return Iterates(self.n, self.m, *(x.to(device) for x in (self.before, self.after, self.limit)))

    def distance(self, plan: Tensor) -> Tensor:
        """KL(P ‖ plan)."""
        return (self.limit * (self.limit / plan).log()).sum()

    def reading(self, value: Tensor) -> Reading:
        """A value read at these iterates."""
        rows, columns = (torch.full((size,), 1 / size, dtype=torch.float64) for size in (self.n, self.m))
        point = {"n": self.n, "m": self.m, "a": rows, "b": columns, "W": self.before.cpu(), "P": self.limit.cpu()}
        logs = max(float((self.limit / plan).log().abs().max()) for plan in (self.before, self.after))
        off = float((self.limit.sum(0) - 1 / self.m).abs().sum() + (self.limit.sum(1) - 1 / self.n).abs().sum())
        return Reading(point, {"half-steps": value}, tolerances.rounding("float64", self.n * self.m, 1 + logs) + off * logs)


@st.composite
def iterates(draw: st.DrawFn, scale: float = 1.0) -> Iterates:
    """Draw scores; the iterate is that after one, three or five half-steps; n = 1, m = 1 and n ≠ m included."""
    n, m, steps = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from((1, 3, 5)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    scores = scale * torch.randn(n, m, generator=generator, dtype=torch.float64)
    return Iterates(n, m, *(sinkhorn_weights(scores, 1.0, count) / n for count in (steps, steps + 1, math.inf)))


@confirms(TORCH, "transport.s1.sinkhorn", on=iterates(2.0))
def fallen(x: Iterates) -> Reading:
    return x.reading(x.distance(x.before) - x.distance(x.after))


@confirms(TORCH, "transport.s3.sinkformers", on=iterates(6.0))
def distance_before(x: Iterates) -> Reading:
    return x.reading(x.distance(x.before))


# ── the table ───────────────────────────────────────────────────────────────────────────────────────────────────────


def no_half_step(x: Problem) -> Reading:
    return x.reading(half_steps=sinkhorn_weights(x["S"], 1.0, 0), closed_form=one_sided.plan(x["S"], 1.0))


confirms(TORCH, "transport.s3.standard", on=problems(), corrected=no_half_step)(no_half_step)


@confirms(TORCH, "transport.s3.sinkhorn-attention", on=problems())
def gap(x: Problem) -> Reading:
    solved = sinkhorn(x["C"], x["a"], x["b"], x.eps)
    f, g = (solved.row_potential + x.eps * x["a"].log(), solved.column_potential + x.eps * x["b"].log())
    if x.seed % 2:                                           # elsewhere than at the optimum
        f, g = f + 0.3 * x["a"].log(), g - 0.2 * x["b"].log()
    plan = independent(x) if x.seed % 3 == 0 else solved.plan
    scaled = ((f[:, None] + g - x["C"]) / x.eps).exp()
    dual = x["a"] @ f + x["b"] @ g - x.eps * scaled.sum() + x.eps
    primal = (plan * x["C"]).sum() - x.eps * entropy(plan)
    return x.reading(f, g, x["C"].abs().sum(), scaled.sum(), given={"f": f, "g": g, "P": plan}, direct=primal - dual)
