"""Votes on: Section 5, what transport should guarantee: stability in the Wasserstein distance, interpolation, intuition."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.instances.derivatives import gradient
from evidence.instances.placement import Placed
from evidence.transport.conic_plans import CONIC_WIDTH, PlanProblem, conic_problems
from evidence.transport.design import COLD
from numerics import one_sided, tolerances
from numerics.primal import coupling

SMALLEST = 1e-300  # for weights that are 0 where the statement has positive ones


@dataclass(frozen=True)
class Perturbed(Placed):
    """A row of scores, a change of them, and a diameter; the sharp case splits the mass as the bound's equality asks."""

    epsilon: float
    diameter: float
    scores: Tensor
    change: Tensor


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


@confirms(Layer.TORCH, "transport.s5.score-stability", on=perturbed())
def moved_mass(x: Perturbed) -> Reading:
    import ot  # importing it takes a second

    plan, shifted = (one_sided.plan(s.to(x.device), x.epsilon) for s in (x.scores, x.scores + x.change))
    gains = (shifted > plan).double()
    spread = float(x.change.max() - x.change.min())
    tilt = ((x.change - x.change.min()) / x.epsilon).exp()
    point: dict[str, Value] = {
        "m": x.scores.numel(),
        "D": x.diameter,
        "κ": math.expm1(spread / (2 * x.epsilon)),
        "r": tilt,
        "u": (plan * gains).cpu(),
        "v": (plan * (1 - gains)).clamp(min=SMALLEST).cpu(),
    }
    apart = x.diameter * (1 - torch.eye(plan.numel(), dtype=torch.float64))
    # Both rows are brought to the same mass: their rounding would have nowhere to go.
    ends = [(p / p.sum()).cpu().numpy() for p in (plan, shifted)]
    routes = {
        "closed_form": x.diameter * ((shifted - plan) * gains).sum(),
        "wasserstein": float64(ot.emd2(*ends, apart.numpy())),
    }
    logit = float((x.scores.abs() + x.change.abs()).max()) / x.epsilon
    error = 2 * x.diameter * plan.numel() * tolerances.plan("float64", plan.numel(), logit)
    return Reading(point, routes, error, "right")


@dataclass(frozen=True)
class Ball(Placed):
    """Inputs in a ball of the plane, as they were and after moves by at most δ."""

    radius: float
    epsilon: float
    original: Tensor
    perturbed: Tensor


@st.composite
def balls(draw: st.DrawFn) -> Ball:
    """Draw inputs that all move together, or the query alone between two keys far apart, or all at random."""
    radius, epsilon = draw(st.sampled_from((0.25, 1.0, 3.0))), draw(st.sampled_from((0.5, 1.0, 4.0)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    move = radius * draw(st.sampled_from((0.01, 0.2, 1.0)))
    step = torch.tensor([move, 0.0], dtype=torch.float64)

    def within(count: int, size: float) -> Tensor:
        drawn = torch.randn(count, 2, generator=generator, dtype=torch.float64)
        placed: Tensor = size * drawn / (1e-3 + drawn.norm(dim=-1, keepdim=True)) * torch.rand(count, 1, generator=generator)
        return placed

    how, count = draw(st.sampled_from(("together", "query", "any"))), draw(st.integers(1, 4))
    if how == "together":
        original = within(count, radius) * (1 - move / radius)
        return Ball(radius, epsilon, original, original + step)
    if how == "query":
        original = radius * torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
        return Ball(radius, epsilon, original, original + torch.eye(3, dtype=torch.float64)[:, :1] * step)
    original = within(count, radius)
    perturbed = original + within(count, move)
    return Ball(radius, epsilon, original, perturbed * (radius / perturbed.norm(dim=-1, keepdim=True)).clamp(max=1))


def distance_of_outputs(x: Ball) -> Reading:
    """The largest W₁ of what a query sees, before and after, by the linear program."""
    import ot  # importing it takes a second

    original, perturbed = x.original.to(x.device), x.perturbed.to(x.device)
    plans = [one_sided.plan(inputs @ inputs.T, x.epsilon).cpu() for inputs in (original, perturbed)]
    apart = torch.cdist(x.original, x.perturbed, compute_mode="donot_use_mm_for_euclid_dist")
    ends = [[(p / p.sum()).numpy() for p in plan] for plan in plans]
    distances = [float(ot.emd2(p, q, apart.numpy())) for p, q in zip(*ends, strict=True)]
    moves, count, farthest = (x.perturbed - x.original).norm(dim=-1), len(x.original), int(np.argmax(distances))
    largest, tilt = float(moves.max()), plans[1][farthest] / plans[0][farthest]
    tilt, gains = tilt / tilt.min(), tilt > 1
    point = {
        "m": count,
        "R": x.radius,
        "eps": x.epsilon,
        "δ": largest,
        "κ": max(float(tilt.max()) ** 0.5 - 1, SMALLEST),
        "r": tilt,
        "u": plans[0][farthest] * gains,
        "v": (plans[0][farthest] * ~gains).clamp(min=SMALLEST),
        "e": (largest - moves).clamp(min=0),
    }
    error = 4 * x.radius * count * tolerances.plan("float64", count, x.radius**2 / x.epsilon)
    return Reading(point, {"wasserstein": float64(max(distances))}, error, "right")


@confirms(Layer.TORCH, "transport.s5.wasserstein-stability", on=balls(), corrected=distance_of_outputs)
def slope_of_self_attention(x: Ball) -> Reading:
    constant = 1 + x.radius
    second = 2 * constant

    def first_output(first: Tensor) -> Tensor:
        inputs = torch.stack((first, float64(second).to(x.device)))[:, None]
        return scaled_dot_product_attention(inputs, inputs, inputs, scale=1.0)[0, 0]

    slope = gradient(first_output, float64(0.0).to(x.device))
    point = {"L": constant, "x1": 0.0, "x2": second}
    return Reading(point, {"autograd": slope}, tolerances.rounding("float64", 2, 1 + second**2), "right")


def slope_of_entropy(x: AttentionProblem) -> Reading:
    row = x["S"][0]
    slope = gradient(lambda epsilon: one_sided.entropy(one_sided.plan(row, epsilon)), float64(x.eps))
    return x.reading(row.square().sum() / x.eps**3, extra={"s": row}, autograd=slope)


@confirms(Layer.TORCH, "transport.s5.interpolation", on=attention_problems(smallest=2), corrected=slope_of_entropy)
def cold_concentration(x: AttentionProblem) -> Reading:
    return x.reading(1 / COLD, extra={"s": x["S"][0]}, closed_form=one_sided.plan(x["S"][0], COLD).square().sum())


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


CONIC_SMALLEST = 1e-300  # for weights that are 0 where the statement has positive ones


@confirms(Layer.PRIMAL, "transport.s5.score-stability", on=conic_problems())
def wasserstein(drawn: PlanProblem) -> Reading:
    """W₁ between the rows of two score vectors over values that are all a diameter apart, by the linear program."""
    spread, m = 1.0, drawn.m
    scores, change = np.zeros(m), np.zeros(m)
    change[0] = spread
    if m > 1:  # nearly the worst split
        scores[1:] = spread / 2 - drawn.epsilon * math.log(m - 1) + 0.1 * drawn.scores[0, 1:]
    (original, first), (perturbed, second) = (drawn.solved(s[None], drawn.epsilon) for s in (scores, scores + change))
    diameter = 3.0
    plan = coupling.solve_transport(diameter * (1 - np.eye(m)), original[0], perturbed[0])
    assert plan.certified
    gains = perturbed[0] > original[0]
    point = drawn.point(
        D=diameter,
        κ=math.expm1(spread / (2 * drawn.epsilon)),
        u=original[0] * gains,
        v=np.maximum(original[0] * ~gains, CONIC_SMALLEST),
        r=np.exp((change - change.min()) / drawn.epsilon),
    )
    error = diameter * (first + second) + max(plan.gap, 0.0)
    return Reading(point, {"linear program": float64(plan.objective)}, error, "right")


def slope(drawn: PlanProblem) -> Reading:
    """The first output of self-attention on (0, 2L), and how it moves with its own input."""
    constant, step = 3.0 + drawn.epsilon, 1e-2
    second = 2 * constant

    def output(first: float) -> tuple[float, float]:
        weights, plan_error = drawn.solved(np.array([[first * first, first * second]]), 1.0)
        return float(weights[0] @ np.array([first, second])), plan_error * second

    (ahead, one), (behind, other) = output(step), output(-step)
    # F = x + (y − x) σ(xy − x²); |σ'| ≤ 1/4, |σ''| ≤ 1/10 and |σ'''| ≤ 1/8 give |F'''| ≤ y⁴ for y ≥ 2, |x| ≤ 1/100.
    third = second**4
    deviation = (one + other) / (2 * step) + step**2 / 6 * third
    return Reading(
        {"L": constant, "x1": 0.0, "x2": second},
        {"differences of optima": float64((ahead - behind) / (2 * step))},
        deviation,
        "right",
    )


def of_outputs(drawn: PlanProblem) -> Reading:
    """W₁ of what the first query sees before and after the inputs move in a ball, by two optima and a linear program."""
    radius, count = (0.25, 2.0)[drawn.seed % 2], drawn.m
    move = 0.1 * radius
    directions = drawn.keys / (1e-3 + np.linalg.norm(drawn.keys, axis=1, keepdims=True))
    original = (radius - move) * directions * (1.0, 0.5)[drawn.seed % 4 // 2]
    if drawn.seed % 2:  # a query between keys far apart, which moves alone
        original = np.concatenate((np.zeros((1, CONIC_WIDTH)), radius * np.array([[1.0, 0.0], [-1.0, 0.0]])))
        count = 3
    perturbed = original.copy()
    perturbed[: 1 if drawn.seed % 2 else None] += np.array([move, 0.0])
    (p, first), (q, second) = (drawn.solved(x[:1] @ x.T, drawn.epsilon) for x in (original, perturbed))
    apart = np.linalg.norm(original[:, None] - perturbed, axis=-1)
    plan = coupling.solve_transport(apart, p[0], q[0])
    assert plan.certified
    error = 2 * radius * (first + second) + max(plan.gap, 0.0) + tolerances.rounding("float64", count**2, 2 * radius)
    tilt, moves = q[0] / p[0], np.linalg.norm(perturbed - original, axis=1)
    tilt, gains = tilt / tilt.min(), tilt > 1
    point: dict[str, int | float | Tensor] = {
        "m": count,
        "R": radius,
        "eps": drawn.epsilon,
        "δ": float(moves.max()),
        "κ": max(float(tilt.max()) ** 0.5 - 1, CONIC_SMALLEST),
        "r": float64(tilt),
        "u": float64(p[0] * gains),
        "v": float64(np.maximum(p[0] * ~gains, CONIC_SMALLEST)),
        "e": float64(moves.max() - moves),
    }
    return Reading(point, {"linear program": float64(plan.objective)}, error, "right")


VOTES = [Sampled("transport.s5.wasserstein-stability", Layer.PRIMAL, slope, on=conic_problems(), corrected=of_outputs)]
