"""The listings of transport in torch: models of what they compute, and our replacements, against the proved expressions.

A print is read from the model, mistakes included; a correction is read from the packages' functions or from the model with
the mistake taken out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import one_sided, tolerances, transport
from tests.bridge import Value
from tests.layers import Reading, confirms, float64
from tests.listings import models

TORCH = Layer.TORCH
WIDTH = 2


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
    return x.reading(x.point("C", "a"), listing=plan.sum(-1))


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
    plan = models.sinkhorn(x["a"], x["b"], x["C"] + 2, 0.1 * x.epsilon)
    return x.reading(x.point("b"), listing=plan.sum(0))


def shifted_without_guard(x: Tokens) -> Reading:
    return x.reading(x.point("C", "a", "b", "v", "t"), 1e2, model=returned_plan(x, 0.0, x["C"] + x["t"]))


@confirms(TORCH, "transport.listing.sinkhorn.shift", on=ANY, corrected=shifted_without_guard)
def shifted_with_guard(x: Tokens) -> Reading:
    moved = 12.0 * x.epsilon
    return x.reading(x.point("C", "a", "b", "v", t=moved), 1e-3, listing=returned_plan(x, models.GUARD, x["C"] + moved))


def normalized_kernel(x: Tokens) -> Reading:
    share = one_sided.plan(-x["C"].float(), x.epsilon).double()
    return Reading(x.point("C"), {"closed_form": share}, tolerances.plan("float32", x.m, 8.0), "right")


@confirms(TORCH, "transport.listing.sinkhorn.overflow", on=ANY, corrected=normalized_kernel)
def kernel_in_float32(x: Tokens) -> Reading:
    cost = x["C"] - 100 * x.epsilon
    return Reading(x.point(C=cost), {"listing": models.kernel(cost.float(), x.epsilon).double()}, 1e-6, "right")


def points_in_common(x: Tokens) -> Reading:
    places = x["points"]
    cost = (places[:, None] - places[None]).square().sum(-1)
    mass = torch.eye(x.n, dtype=torch.float64, device=x.device)
    listing = torch.stack([torch.stack([models.sinkhorn_divergence(p, q, cost, 1.0) for q in mass]) for p in mass])
    replacement = transport.sinkhorn_divergence(cost, cost, cost, mass[:, None], mass[None, :], 1.0)
    allowed = 10 * models.GUARD * math.exp(float(cost.max())) * max(1.0, float(cost.max()))
    return Reading(x.point(X=places), {"listing": listing, "replacement": replacement}, allowed)


@confirms(TORCH, "transport.listing.sinkhorn_divergence", on=PAIRS, count=16, corrected=points_in_common)
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


# ── AttentionAsOT ───────────────────────────────────────────────────────────────────────────────────────────────────


def listed_weights(query: Tensor, key: Tensor, epsilon: float) -> Tensor:
    """The weights of the model's module."""
    return models.AttentionAsOT(1, 1, epsilon).weights(query, key)


@confirms(TORCH, "transport.listing.AttentionAsOT", on=ANY)
def row_softmax(x: Tokens) -> Reading:
    scores = models.similarities(x["Q"], x["K"])
    return x.reading(x.point(S=scores), scores, listing=listed_weights(x["Q"], x["K"], x.epsilon),
                     closed_form=one_sided.plan(scores, x.epsilon))


@confirms(TORCH, "transport.listing.AttentionAsOT.standard", on=ANY)
def standard_weights(x: Tokens) -> Reading:
    eye = torch.eye(x.m, dtype=torch.float64, device=x.device)
    library = torch.nn.functional.scaled_dot_product_attention(x["Q"][None], x["K"][None], eye[None])[0]
    return x.reading(x.point("Q", "K"), listing=listed_weights(x["Q"], x["K"], 1.0), library=library)


def odds_in_a_row(x: Tokens) -> Reading:
    plan = torch.softmax(x["S"] / x.epsilon, -1)
    return x.reading(x.point("S"), 10, listing=plan[:, :, None] / plan[:, None, :])


@confirms(TORCH, "transport.listing.AttentionAsOT.sorting", on=PAIRS, corrected=odds_in_a_row)
def columns_of_softmax(x: Tokens) -> Reading:
    return x.reading(x.point("S"), listing=torch.softmax(x["S"] / x.epsilon, -1).sum(0))


def all_heads(x: Tokens) -> Reading:
    module = models.AttentionAsOT(x.n * x.m, x.n)
    held = module.split(torch.zeros(1, 3, x.n * x.m))
    return Reading({"N": 3, "H": x.n, "g": x.m}, {"listing": float64(held.numel())}, tolerances.rounding("float64", 1))


@confirms(TORCH, "transport.listing.AttentionAsOT.heads", on=SEVERAL, corrected=all_heads)
def heads_and_a_rest(x: Tokens) -> Reading:
    module = models.AttentionAsOT(x.n * x.m + 1, x.n)
    return Reading({"d_model": x.n * x.m + 1, "H": module.heads, "g": module.width},
                   {"listing": float64(module.heads * module.width)}, tolerances.rounding("float64", 1))


# ── sinkhorn_attention ──────────────────────────────────────────────────────────────────────────────────────────────


def tokens_with(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Queries and keys in a batch of one that have these scores, which are square."""
    n = scores.shape[-1]
    return scores[None] * math.sqrt(n), torch.eye(n, dtype=torch.float64, device=scores.device)[None]


def attention_plan(x: Tokens, rounds: int, guard: float = models.GUARD, start: Tensor | None = None,
                   shift: float = 0.0) -> Tensor:
    """γ for the scores O."""
    given = None if start is None else start[None]
    return models.sinkhorn_attention_plan(*tokens_with(x["O"] + shift), x.epsilon, rounds, guard, given)[0]


def repaired_rows(x: Tokens) -> Reading:
    found = transport.sinkhorn(-x["O"], temperature=x.epsilon)
    scaling = (found.column_potential / x.epsilon).exp()
    rows = transport.sinkhorn_weights(x["O"], x.epsilon, math.inf).sum(-1)
    return x.reading(x.point(S=x["O"], v=scaling), 1e3, replacement=rows, solver=x.n * found.plan.sum(-1))


@confirms(TORCH, "transport.listing.sinkhorn_attention", on=PAIRS, corrected=repaired_rows)
def row_of_sinkhorn_attention(x: Tokens) -> Reading:
    return x.reading(x.point(), listing=attention_plan(x, 10)[0].sum(), three_rounds=attention_plan(x, 3)[0].sum())


def half_a_round(x: Tokens) -> Reading:
    return x.reading(x.point(S=x["O"]), 10, replacement=transport.sinkhorn_weights(x["O"], x.epsilon, 0))


@confirms(TORCH, "transport.listing.sinkhorn_attention.one-iteration", on=PAIRS, corrected=half_a_round)
def one_round(x: Tokens) -> Reading:
    return x.reading(x.point(S=x["O"]), listing=attention_plan(x, 1))


def columns_of_a_round(x: Tokens) -> Reading:
    return x.reading(x.point(v=x["start"], S=x["O"]), 10, model=attention_plan(x, 1, 0.0, x["start"]).sum(0))


@confirms(TORCH, "transport.listing.sinkhorn_attention.marginals", on=PAIRS, corrected=columns_of_a_round)
def columns_of_attention(x: Tokens) -> Reading:
    return x.reading(x.point(), listing=attention_plan(x, 10).sum(0))


def lifted_without_guard(x: Tokens) -> Reading:
    plan = attention_plan(x, 1, 0.0, x["start"], float(x["t"]))
    return x.reading(x.point("t", S=x["O"], v=x["start"]), 1e2, model=plan)


@confirms(TORCH, "transport.listing.sinkhorn_attention.shift", on=SQUARE, corrected=lifted_without_guard)
def lowered_with_guard(x: Tokens) -> Reading:
    shift = -25.0 * x.epsilon
    return x.reading(x.point(S=x["O"], v=x["start"], t=shift), listing=attention_plan(x, 1, models.GUARD, x["start"], shift))


def keys_counted(x: Tokens) -> Reading:
    start = transport.sinkhorn(x["C"], temperature=x.epsilon).column_potential
    return Reading(x.point(), {"replacement": float64(start.shape[-1])}, tolerances.rounding("float64", 1))


@confirms(TORCH, "transport.listing.sinkhorn_attention.keys", on=ANY, corrected=keys_counted)
def keys_from_queries(x: Tokens) -> Reading:
    start = models.start_of_keys(x["Q"][None])
    return Reading(x.point(), {"listing": float64(start.shape[-1])}, tolerances.rounding("float64", 1))


# ── compute_attention_ot_divergence ─────────────────────────────────────────────────────────────────────────────────


def always_zero(x: Tokens) -> Reading:
    mass = torch.full((x.n,), 1 / x.n, dtype=torch.float64, device=x.device)
    value = models.sinkhorn_divergence(mass, mass, -x["O"], x.epsilon)
    return x.reading(x.point(a=mass, S=x["O"], P=models.sinkhorn(mass, mass, -x["O"], x.epsilon)), listing=value)


confirms(TORCH, "transport.listing.compute_attention_ot_divergence", on=SQUARE, corrected=always_zero)(always_zero)
