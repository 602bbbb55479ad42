"""The transport chapter's sections 5 and 7 in torch: temperature, principles, stability, and the summary's claims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import ot
import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from derivations.claims import Layer
from numerics import one_sided, tolerances
from tests.layers import Reading, confirms, float64
from tests.properties.eot_forward import gradient
from tests.properties.eot_regularizers import Point, close_to_others, points
from tests.properties.transport_problems import WIDTH, Problem, problems
from tests.properties.transport_theorem import weights

TORCH = Layer.TORCH
COLD, HOT = 1e-3, 1e12
SMALLEST = 1e-300                                            # for weights that are 0 where the statement has positive ones


# ── the table ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Led:
    """One best key and m others that lie δ + w below."""

    epsilon: float
    lead: float
    below: Tensor
    tied: int
    device: str = "cpu"

    def to(self, device: str) -> Led:
        """The same row, computed on another device."""
        return Led(self.epsilon, self.lead, self.below, self.tied, device)

    @property
    def scores(self) -> Tensor:
        """The best key first."""
        return torch.cat((torch.zeros(1, dtype=torch.float64), -self.lead - self.below)).to(self.device)


@st.composite
def led(draw: st.DrawFn) -> Led:
    """Draw a row with a lead; some have no spread below it, where the bound is nearly met."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    m = draw(st.integers(1, 5))
    below = draw(st.sampled_from((0.0, 1.0))) * torch.rand(m, generator=generator, dtype=torch.float64)
    return Led(draw(st.sampled_from((0.2, 1.0, 3.0))), draw(st.sampled_from((0.5, 2.0))), below, draw(st.integers(1, 3)))


def with_a_lead(x: Led) -> Reading:
    point = {"m": x.below.numel(), "eps": x.epsilon, "δ": x.lead, "w": x.below}
    plan = one_sided.plan(x.scores, x.epsilon)
    return Reading(point, {"closed_form": plan[0]}, tolerances.plan("float64", plan.numel(), float(x.scores.abs().max())))


@confirms(TORCH, "transport.s5.cold-one-hot", on=led(), corrected=with_a_lead)
def tied_for_the_best(x: Led) -> Reading:
    scores = torch.cat((x.scores[:1].expand(x.tied), x.scores[1:]))
    plan = one_sided.plan(scores, COLD)
    point = {"m": scores.numel(), "s": scores.cpu(), "eps": COLD, "j": 1}
    return Reading(point, {"closed_form": plan[0]}, tolerances.plan("float64", plan.numel(), 5 / COLD))


@confirms(TORCH, "transport.s5.cold-entropy", on=problems())
def entropy_term(x: Problem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(computed="right", given={"P": plan}, closed_form=x.eps * one_sided.entropy(plan).sum())


def total_score(x: Problem) -> Reading:
    plan, scores = one_sided.plan(x["S"], x.eps), x["S"]
    routes = {"closed_form": (plan * scores).sum(), "objective": -one_sided.objective(plan, scores, x.eps).sum()
              - x.eps * one_sided.entropy(plan).sum()}
    rival = (x["R"], plan, torch.eye(x.m, dtype=torch.float64, device=x.device)[scores.argmax(-1)])[x.seed % 3]
    return x.reading(scores.abs().sum(), float(x.n), given={"R": rival}, **routes)


@confirms(TORCH, "transport.s5.cold-matching", on=problems(square=True), corrected=total_score)
def choices(x: Problem) -> Reading:
    return x.reading(1 / COLD, closed_form=one_sided.plan(x["S"], COLD).sum(0))


@confirms(TORCH, "transport.s5.standard", on=problems())
def standard(x: Problem) -> Reading:
    return x.reading(shipped=weights(x, 1.0), closed_form=one_sided.plan(x.raw, WIDTH**0.5))


@confirms(TORCH, "transport.s5.hot", on=problems())
def evenly(x: Problem) -> Reading:
    row = one_sided.plan(x["S"][0], HOT)
    # |∂p/∂s| ≤ 1/(4τ) for each of the scores.
    off = float(x["S"].abs().sum()) / (2 * HOT) + tolerances.plan("float64", x.m)
    return Reading(x.point(s=x["S"][0]), {"largest": row.amax(), "least": row.amin()}, off)


@confirms(TORCH, "transport.s5.row-stochasticity", on=problems())
def row_mass(x: Problem) -> Reading:
    return x.reading(closed_form=one_sided.plan(x["S"], x.eps).sum(-1))


@confirms(TORCH, "transport.s5.sparsity", on=points(), corrected=close_to_others)
def weights_of_the_entropy(x: Point) -> Reading:
    epsilon, plan = float(x["tau"]), one_sided.plan(x["S"], float(x["tau"]))
    return Reading(x.point(n=x.m, eps=epsilon), {"closed_form": plan}, tolerances.plan("float64", x.m, 2 / epsilon))


# ── guarantees ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Perturbed:
    """A row of scores, a change of them, and a diameter; the sharp case splits the mass as the bound's equality asks."""

    epsilon: float
    diameter: float
    scores: Tensor
    change: Tensor
    device: str = "cpu"

    def to(self, device: str) -> Perturbed:
        """The same row, computed on another device."""
        return Perturbed(self.epsilon, self.diameter, self.scores, self.change, device)


@st.composite
def perturbed(draw: st.DrawFn) -> Perturbed:
    """Draw a perturbation; in the sharp case the keys that gain hold e^{−ω/(2ε)} of what the others hold."""
    epsilon, spread = draw(st.sampled_from((0.5, 1.0, 4.0))), draw(st.sampled_from((0.1, 1.0, 3.0)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    m = draw(st.integers(1, 5))
    scores, change = (torch.randn(m, generator=generator, dtype=torch.float64) for _ in range(2))
    if m > 1 and draw(st.booleans()):
        scores = torch.zeros(m, dtype=torch.float64)
        scores[1:] += spread / 2 - epsilon * math.log(m - 1)
        change = torch.zeros(m, dtype=torch.float64)
        change[0] = spread
    return Perturbed(epsilon, draw(st.sampled_from((4.0, 1.5))), scores, change)


@confirms(TORCH, "transport.s5.score-stability", on=perturbed())
def moved_mass(x: Perturbed) -> Reading:
    before, after = (one_sided.plan(s.to(x.device), x.epsilon) for s in (x.scores, x.scores + x.change))
    gains = (after > before).double()
    spread = float(x.change.max() - x.change.min())
    tilt = ((x.change - x.change.min()) / x.epsilon).exp()
    point = {"m": x.scores.numel(), "D": x.diameter, "κ": math.expm1(spread / (2 * x.epsilon)), "r": tilt,
             "u": (before * gains).cpu(), "v": (before * (1 - gains)).clamp(min=SMALLEST).cpu()}
    apart = x.diameter * (1 - torch.eye(before.numel(), dtype=torch.float64))
    # Both rows are brought to the same mass: their rounding would have nowhere to go.
    ends = [(p / p.sum()).cpu().numpy() for p in (before, after)]
    routes = {"closed_form": x.diameter * ((after - before) * gains).sum(),
              "wasserstein": float64(ot.emd2(*ends, apart.numpy()))}
    logit = float((x.scores.abs() + x.change.abs()).max()) / x.epsilon
    off = 2 * x.diameter * before.numel() * tolerances.plan("float64", before.numel(), logit)
    return Reading(point, routes, off, "right")


@dataclass(frozen=True)
class Ball:
    """Inputs in a ball of the plane, before and after none has moved by more than δ."""

    radius: float
    epsilon: float
    before: Tensor
    after: Tensor
    device: str = "cpu"

    def to(self, device: str) -> Ball:
        """The same inputs, computed on another device."""
        return Ball(self.radius, self.epsilon, self.before, self.after, device)


@st.composite
def balls(draw: st.DrawFn) -> Ball:
    """Draw inputs that all move together, or the query alone between two keys far apart, or all at random."""
    radius, epsilon = draw(st.sampled_from((0.25, 1.0, 3.0))), draw(st.sampled_from((0.5, 1.0, 4.0)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    move = radius * draw(st.sampled_from((0.01, 0.2, 1.0)))
    step = torch.tensor([move, 0.0], dtype=torch.float64)

    def within(count: int, size: float) -> Tensor:
        drawn = torch.randn(count, 2, generator=generator, dtype=torch.float64)
        return size * drawn / (1e-3 + drawn.norm(dim=-1, keepdim=True)) * torch.rand(count, 1, generator=generator)

    how, count = draw(st.sampled_from(("together", "query", "any"))), draw(st.integers(1, 4))
    if how == "together":
        before = within(count, radius) * (1 - move / radius)
        return Ball(radius, epsilon, before, before + step)
    if how == "query":
        before = radius * torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
        return Ball(radius, epsilon, before, before + torch.eye(3, dtype=torch.float64)[:, :1] * step)
    before = within(count, radius)
    after = before + within(count, move)
    return Ball(radius, epsilon, before, after * (radius / after.norm(dim=-1, keepdim=True)).clamp(max=1))


def distance_of_outputs(x: Ball) -> Reading:
    """The largest W₁ of what a query sees, before and after, by the linear program."""
    before, after = x.before.to(x.device), x.after.to(x.device)
    plans = [one_sided.plan(inputs @ inputs.T, x.epsilon).cpu() for inputs in (before, after)]
    apart = torch.cdist(x.before, x.after, compute_mode="donot_use_mm_for_euclid_dist")
    found = [float(ot.emd2((p / p.sum()).numpy(), (q / q.sum()).numpy(), apart.numpy())) for p, q in zip(*plans, strict=True)]
    moves, count, farthest = (x.after - x.before).norm(dim=-1), len(x.before), int(np.argmax(found))
    moved, tilt = float(moves.max()), plans[1][farthest] / plans[0][farthest]
    tilt, gains = tilt / tilt.min(), tilt > 1
    point = {"m": count, "R": x.radius, "eps": x.epsilon, "δ": moved,
             "κ": max(float(tilt.max()) ** 0.5 - 1, SMALLEST), "r": tilt,
             "u": plans[0][farthest] * gains, "v": (plans[0][farthest] * ~gains).clamp(min=SMALLEST),
             "e": (moved - moves).clamp(min=0)}
    off = 4 * x.radius * count * tolerances.plan("float64", count, x.radius**2 / x.epsilon)
    return Reading(point, {"wasserstein": float64(max(found))}, off, "right")


@confirms(TORCH, "transport.s5.wasserstein-stability", on=balls(), corrected=distance_of_outputs)
def slope_of_self_attention(x: Ball) -> Reading:
    constant = 1 + x.radius
    second = 2 * constant

    def first_output(first: Tensor) -> Tensor:
        inputs = torch.stack((first, float64(second).to(x.device)))[:, None]
        return scaled_dot_product_attention(inputs, inputs, inputs, scale=1.0)[0, 0]

    slope = gradient(first_output, float64(0.0).to(x.device))
    point = {"L": constant, "x1": 0.0, "x2": second}
    return Reading(point, {"autograd": slope}, tolerances.rounding("float64", 2, 1 + second**2), "right")


def slope_of_entropy(x: Problem) -> Reading:
    row = x["S"][0]
    slope = gradient(lambda epsilon: one_sided.entropy(one_sided.plan(row, epsilon)), float64(x.eps))
    return x.reading(row.square().sum() / x.eps**3, given={"s": row}, autograd=slope)


@confirms(TORCH, "transport.s5.interpolation", on=problems(smallest=2), corrected=slope_of_entropy)
def cold_concentration(x: Problem) -> Reading:
    return x.reading(1 / COLD, given={"s": x["S"][0]}, closed_form=one_sided.plan(x["S"][0], COLD).square().sum())


# ── the summary ─────────────────────────────────────────────────────────────────────────────────────────────────────


def ratios(x: Problem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(1 / plan.min(), closed_form=plan[:, :, None] / plan[:, None, :])


@confirms(TORCH, "transport.s7.soft-sorting", on=problems(), corrected=ratios)
def hard_choices(x: Problem) -> Reading:
    return x.reading(1 / COLD, closed_form=one_sided.plan(x["T"], COLD).sum(0))


@dataclass(frozen=True)
class Losses:
    """A loss with the Lipschitz constant L on a line, and the places where it is trained and tested."""

    steepness: float
    train: Tensor
    test: Tensor
    masses: tuple[Tensor, Tensor]
    rising: bool
    device: str = "cpu"

    def to(self, device: str) -> Losses:
        """The same losses, computed on another device."""
        return Losses(self.steepness, self.train, self.test, self.masses, self.rising, device)

    def loss(self, places: Tensor) -> Tensor:
        """L (x + 5) or L |x|."""
        return self.steepness * (places + 5 if self.rising else places.abs())

    def reading(self, routes: dict[str, Tensor], computed: Literal["left", "right"], size: float) -> Reading:
        """Routes at these losses, for a γ(L) = L."""
        f, g = self.loss(self.train), self.loss(self.test)
        (a, b), largest = self.masses, 1 + size + float(f.max() + g.max())
        a, b, apart = a / a.sum(), b / b.sum(), (self.train[:, None] - self.test).abs()
        plan = ot.emd(a.numpy(), b.numpy(), apart.numpy())
        point = {"n": len(f), "m": len(g), "a": a, "b": b, "f": f, "g": g, "γ": self.steepness, "L": self.steepness,
                 "P": float64(plan), "z": (self.steepness * apart - g + f[:, None]).clamp(min=0)}
        return Reading(point, routes, tolerances.rounding("float64", len(f) * len(g), largest), computed)


@st.composite
def losses(draw: st.DrawFn) -> Losses:
    """Draw places; in some cases all tests lie to the right of all training, so that a rising loss meets the bound."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    train, test = (torch.rand(draw(st.integers(1, 4)), generator=generator, dtype=torch.float64) for _ in range(2))
    masses = [torch.randn(len(x), generator=generator, dtype=torch.float64).softmax(0) for x in (train, test)]
    shift = draw(st.sampled_from((0.0, 3.0)))
    return Losses(draw(st.sampled_from((0.5, 1.0, 4.0))), train, test + shift, (masses[0], masses[1]), draw(st.booleans()))


def carried(x: Losses) -> Reading:
    """L W₁, by the linear program and by the area between the distribution functions."""
    (a, b), apart = x.masses, (x.train[:, None] - x.test).abs()
    places = torch.cat((x.train, x.test)).to(x.device)
    order = places.argsort()
    height = torch.cat((a, -b)).to(x.device)[order].cumsum(0)[:-1].abs()
    routes = {"linear program": float64(ot.emd2((a / a.sum()).numpy(), (b / b.sum()).numpy(), apart.numpy())),
              "sorted": (height * places[order].diff()).sum()}
    return x.reading({name: x.steepness * route for name, route in routes.items()}, "left", x.steepness * float(apart.max()))


@confirms(TORCH, "transport.s7.generalization", on=losses(), corrected=carried)
def risk_gap(x: Losses) -> Reading:
    a, b = (part.to(x.device) for part in x.masses)
    return x.reading({"direct": b @ x.loss(x.test.to(x.device)) - a @ x.loss(x.train.to(x.device))}, "right", 0.0)
