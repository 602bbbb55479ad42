"""The listings of Sinkhorn's iteration and divergence in torch: models of what they compute, beside our replacements.

A print is read from the model, mistakes included; a correction is read from the packages' functions or from the model with
the mistake taken out.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property

import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import tolerances, transport
from tests.bridge import Value
from tests.layers import Reading, confirms, float64
from tests.listings import models

TORCH = Layer.TORCH
WIDTH = 2
ROUNDS = 10                                                  # of the listing


@dataclass(frozen=True)
class Tokens:
    """n queries and m keys, or sources and targets, with everything that the listings' claims name."""

    n: int
    m: int
    epsilon: float
    seed: int
    tied: bool
    device: str = "cpu"

    def to(self, device: str) -> Tokens:
        """The same tokens, computed on another device."""
        return Tokens(self.n, self.m, self.epsilon, self.seed, self.tied, device)

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """Everything by its printed name, on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            values = torch.randn(*shape, generator=generator, dtype=torch.float64)
            return values.round() if self.tied else values

        n, m = self.n, self.m
        return {"C": normal(n, m), "S": normal(n, m), "O": normal(n, n), "Q": normal(n, WIDTH), "K": normal(m, WIDTH),
                "a": normal(n).exp(), "b": normal(m).exp(), "u": normal(n).exp(), "v": normal(m).exp(),
                "start": normal(n).exp(),
                "V": normal(m), "x": normal(WIDTH), "y": normal(WIDTH) + 0.5, "points": normal(n, WIDTH), "c": normal(n),
                "X": normal(n, WIDTH).abs() + 0.1, "Y": normal(m, WIDTH).abs() + 0.1, "t": normal(1)[0],
                "A": normal(n, m).exp(),
                "row": normal(1, m).exp(), "h": normal(n), "P": torch.softmax(normal(m), -1), "B": torch.softmax(normal(m), -1),
                "w": normal(1)[0] + 0.3, "g": normal(m).abs()}

    def __getitem__(self, name: str) -> Tensor:
        drawn = self.drawn[name]
        return (drawn / drawn.sum() if name in ("a", "b") else drawn).to(self.device)

    def point(self, *names: str, **given: Value) -> dict[str, Value]:
        """Sizes and ε, the drawn values of these names, and what is given, on the CPU."""
        shared: dict[str, Value] = {"n": self.n, "m": self.m, "d": WIDTH, "w": WIDTH, "eps": self.epsilon}
        placed = {name: value.detach().cpu() if isinstance(value, Tensor) else value for name, value in given.items()}
        return {**shared, **{name: self[name].cpu() for name in names}, **placed}

    def reading(self, point: dict[str, Value], *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
        """Routes with the rounding of sums over all pairs of numbers of these magnitudes, exponents over ε included."""
        sizes = [float(torch.as_tensor(x, dtype=torch.float64).detach().abs().max()) for x in (1.0, *magnitudes,
                                                                                               *routes.values())]
        exponent = 1 + 8 / self.epsilon
        return Reading(point, {name: x.detach() for name, x in routes.items()},
                       tolerances.rounding("float64", self.n * self.m + WIDTH, exponent**2 * max(sizes) ** 2))


@st.composite
def tokens(draw: st.DrawFn, smallest: int = 1, square: bool = False) -> Tokens:
    """Draw sizes from 1 up, ties included."""
    n = draw(st.integers(smallest, 4))
    m = n if square else draw(st.integers(smallest, 4))
    return Tokens(n, m, draw(st.sampled_from((1.0, 0.5, 2.0))), draw(st.integers(0, 2**31)), draw(st.booleans()))


ANY, SQUARE, SEVERAL, PAIRS = tokens(), tokens(square=True), tokens(smallest=2), tokens(smallest=2, square=True)


# ── sinkhorn and sinkhorn_divergence ────────────────────────────────────────────────────────────────────────────────


def balanced(x: Tokens) -> transport.Transport:
    """The certified plan."""
    return transport.sinkhorn(x["C"], x["a"], x["b"], x.epsilon)


def converged_rows(x: Tokens) -> Reading:
    found = balanced(x)
    scaling = x["b"] * (found.column_potential / x.epsilon).exp()
    return x.reading(x.point("C", "a", v=scaling), 1e3, solver=found.plan.sum(-1))


@confirms(TORCH, "transport.listing.sinkhorn", on=SEVERAL, corrected=converged_rows)
def rows_of_ten_rounds(x: Tokens) -> Reading:
    plan = models.sinkhorn(x["a"], x["b"], x["C"], 0.1 * x.epsilon)
    return x.reading(x.point("C", "a", eps=0.1 * x.epsilon, T=ROUNDS), listing=plan.sum(-1))


@confirms(TORCH, "transport.listing.sinkhorn.optimal", on=ANY)
def value_of_what_is_returned(x: Tokens) -> Reading:
    left, right = models.scalings(x["a"], x["b"], x["C"], x.epsilon, guard=0.0)
    plan = models.sinkhorn(x["a"], x["b"], x["C"], x.epsilon, guard=0.0)
    value = (plan * x["C"]).sum() + x.epsilon * torch.xlogy(plan, plan).sum()
    return x.reading(x.point("C", a=plan.sum(-1), b=plan.sum(-2), R=plan, u=left, v=right), x["C"], listing=value)


def returned_plan(x: Tokens, guard: float, cost: Tensor) -> Tensor:
    """The plan after one round from v."""
    left, right = models.scalings(x["a"], x["b"], cost, x.epsilon, 1, guard, x["v"])
    return left[:, None] * models.kernel(cost, x.epsilon) * right


def columns_without_guard(x: Tokens) -> Reading:
    plan = returned_plan(x, 0.0, x["C"])
    return x.reading(x.point("C", "a", "b", "v"), model=plan.sum(0), solver=balanced(x).plan.sum(0))


@confirms(TORCH, "transport.listing.sinkhorn.columns", on=ANY, corrected=columns_without_guard)
def columns_with_guard(x: Tokens) -> Reading:
    cost, epsilon = x["C"] + 2, 0.1 * x.epsilon
    plan = models.sinkhorn(x["a"], x["b"], cost, epsilon)
    before = models.scalings(x["a"], x["b"], cost, epsilon, ROUNDS - 1)[1]
    return x.reading(x.point("a", "b", C=cost, eps=epsilon, v=before), listing=plan.sum(0))


def shifted_without_guard(x: Tokens) -> Reading:
    return x.reading(x.point("C", "a", "b", "v", "t"), 1e2, model=returned_plan(x, 0.0, x["C"] + x["t"]))


@confirms(TORCH, "transport.listing.sinkhorn.shift", on=ANY, corrected=shifted_without_guard)
def shifted_with_guard(x: Tokens) -> Reading:
    moved = 12.0 * x.epsilon
    return x.reading(x.point("C", "a", "b", "v", t=moved), 1e-3, listing=returned_plan(x, models.GUARD, x["C"] + moved))


def log_domain_plan(x: Tokens) -> Reading:
    """Costs that overflow the kernel in float32, to the solver."""
    cost = (x["C"] - 100 * x.epsilon).float()
    found = transport.sinkhorn(cost, x["a"].float(), x["b"].float(), x.epsilon)
    logarithm = x["a"].log() + found.row_potential.double() / x.epsilon
    exponent = float(torch.cat([logarithm, cost.double().flatten() / x.epsilon]).abs().max())
    return Reading(x.point("b", C=cost.double(), phi=logarithm), {"solver": found.plan.double()},
                   tolerances.marginals("float32", x.n + x.m, exponent), "right")


@confirms(TORCH, "transport.listing.sinkhorn.overflow", on=ANY, corrected=log_domain_plan)
def kernel_in_float32(x: Tokens) -> Reading:
    """What the listing computes in float32 is inf, and what it stands for is read in float64."""
    cost = x["C"] - 100 * x.epsilon
    assert bool(models.kernel(cost.float(), x.epsilon).isinf().all())
    exact = models.kernel(cost, x.epsilon)
    return Reading(x.point(C=cost), {"listing": exact}, tolerances.rounding("float64", 1, 200 * float(exact.max())), "right")


def numbers_held(x: Tokens) -> Reading:
    plan = models.sinkhorn(x["a"], x["b"], x["C"], x.epsilon)
    assert plan.shape == x["C"].shape
    return Reading(x.point(), {"listing": float64(plan.numel())}, tolerances.rounding("float64", 1))


confirms(TORCH, "transport.listing.sinkhorn.shapes", on=ANY, corrected=numbers_held)(numbers_held)


def point_and_even_mass(x: Tokens) -> tuple[dict[str, Value], Tensor, Tensor, Tensor]:
    """The point of the claim, costs c between any two of n + 1 points, all mass at the first, and even mass."""
    price = 0.5 + float(x["g"][0])
    eye = torch.eye(x.n + 1, dtype=torch.float64, device=x.device)
    return x.point(m=x.n, c=price), price * (1 - eye), eye[0], torch.full_like(eye[0], 1 / (x.n + 1))


def divergence_of_values(x: Tokens) -> Reading:
    point, cost, p, q = point_and_even_mass(x)
    found = transport.sinkhorn_divergence(cost, cost, cost, p, q, x.epsilon)
    return x.reading(point, 10 * cost, replacement=found)


@confirms(TORCH, "transport.listing.sinkhorn_divergence", on=ANY, corrected=divergence_of_values)
def divergence_of_costs(x: Tokens) -> Reading:
    point, cost, p, q = point_and_even_mass(x)
    return x.reading(point, 10 * cost, listing=models.sinkhorn_divergence(p, q, cost, x.epsilon))


def points_in_common(x: Tokens) -> Reading:
    places = x["points"] / 2
    cost = (places[:, None] - places[None]).square().sum(-1)
    mass = torch.eye(x.n, dtype=torch.float64, device=x.device)
    listing = torch.stack([torch.stack([models.sinkhorn_divergence(p, q, cost, 1.0) for q in mass]) for p in mass])
    replacement = transport.sinkhorn_divergence(cost, cost, cost, mass[:, None], mass[None, :], 1.0)
    allowed = 10 * models.GUARD * math.exp(float(cost.max())) * max(1.0, float(cost.max()))
    return Reading(x.point(X=places), {"listing": listing, "replacement": replacement}, allowed)


@confirms(TORCH, "transport.listing.sinkhorn_divergence.one-cost", on=PAIRS, count=16, corrected=points_in_common)
def two_points(x: Tokens) -> Reading:
    one, cost = torch.ones(1, dtype=torch.float64, device=x.device), (x["x"] - x["y"]).square().sum()
    return x.reading(x.point("x", "y"), cost, listing=models.sinkhorn_divergence(one, one, cost.reshape(1, 1)))


def value_with_entropy(x: Tokens) -> Reading:
    found = balanced(x)
    left, right = x["a"] * (found.row_potential / x.epsilon).exp(), x["b"] * (found.column_potential / x.epsilon).exp()
    value = found.value + x.epsilon * (torch.xlogy(x["a"], x["a"]).sum() + torch.xlogy(x["b"], x["b"]).sum())
    direct = (found.plan * x["C"]).sum() + x.epsilon * torch.xlogy(found.plan, found.plan).sum()
    return x.reading(x.point("C", u=left, v=right), 1e3, solver=value, plan=direct)


@confirms(TORCH, "transport.listing.sinkhorn_divergence.value", on=SEVERAL, corrected=value_with_entropy)
def sum_of_costs(x: Tokens) -> Reading:
    left, right = models.scalings(x["a"], x["b"], x["C"], x.epsilon)
    plan = models.sinkhorn(x["a"], x["b"], x["C"], x.epsilon)
    return x.reading(x.point("C", u=left, v=right), listing=(plan * x["C"]).sum())


# ── compute_attention_ot_divergence ─────────────────────────────────────────────────────────────────────────────────


def always_zero(x: Tokens) -> Reading:
    """What goes through the listing in its float32: one token, features of width 1; and one head, called as it should be."""
    query, key = torch.randn(2, x.n, 1, generator=torch.Generator().manual_seed(x.seed)).to(x.device)
    scores = (query @ key.mT).double()
    mass = torch.full((x.n,), 1 / x.n, dtype=torch.float64, device=x.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)         # a transpose of three axes
        one = models.attention_divergence(query[None, :1], key[None, :1], x.epsilon)
    plan = transport.sinkhorn(-scores, mass, mass, x.epsilon).plan
    return x.reading(x.point(a=mass, S=scores, P=plan), one_token=one.double(),
                     width_1=models.attention_divergence(query, key, x.epsilon).double(),
                     one_head=models.sinkhorn_divergence(mass, mass, -scores, x.epsilon))


confirms(TORCH, "transport.listing.compute_attention_ot_divergence", on=SQUARE, corrected=always_zero)(always_zero)


def column_of_scalings(x: Tokens) -> Reading:
    """A kernel of ones meets a column of ones: it adds up how many they are."""
    kernel = torch.ones(x.m, x.n, x.n, device=x.device)
    met = kernel @ torch.ones(x.m, x.n, device=x.device).unsqueeze(-1)
    return Reading({"B": x.m, "N": x.n}, {"repaired": met[0, 0, 0].double()}, tolerances.rounding("float64", 1))


@confirms(TORCH, "transport.listing.compute_attention_ot_divergence.batch", on=SEVERAL, corrected=column_of_scalings)
def rows_of_scalings(x: Tokens) -> Reading:
    """The second axis from the end of v is what a matrix meets."""
    query = torch.ones(x.m, x.n, WIDTH, device=x.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)         # a transpose of three axes, said once in a process
        with pytest.raises(RuntimeError):
            models.attention_divergence(query, query, x.epsilon)
    return Reading({"B": x.m, "N": x.n}, {"listing": float64(models.start_of_keys(query).shape[-2])},
                   tolerances.rounding("float64", 1))
