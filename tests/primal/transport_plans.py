"""The transport chapter through linear and conic solvers, which know no closed form."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import coupling, matrix
from tests.layers import Reading, confirms, float64
from tests.primal.eot_regularizers import close_to_others
from tests.primal.eot_regularizers import problems as quadratic_problems

PRIMAL = Layer.PRIMAL
Array = NDArray[np.float64]
WIDTH, FEATURES, COLD = 2, 3, 0.05


class Drawn:
    """n queries against m keys with everything that the claims name, as plain numbers."""

    def __init__(self, n: int, m: int, seed: int, epsilon: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.m, self.seed, self.epsilon = n, m, seed, epsilon
        self.queries, self.keys = rng.normal(size=(n, WIDTH)), rng.normal(size=(m, WIDTH))
        self.scores, self.cost, self.square = rng.normal(size=(n, m)), rng.normal(size=(n, m)), rng.normal(size=(n, n))
        if tied:
            self.queries[:], self.scores[:] = self.queries[0], self.scores[:, :1]
        self.raw = self.queries @ self.keys.T
        self.a, self.b = rng.dirichlet(np.ones(n) * 3), rng.dirichlet(np.ones(m) * 3)
        self.features = np.exp(rng.normal(size=(n, FEATURES))), np.exp(rng.normal(size=(m, FEATURES)))
        self.potentials = rng.normal(size=n), rng.normal(size=m)
        self.losses = rng.normal(size=n), rng.normal(size=m) + 1

    @property
    def kernel(self) -> Array:
        """κ."""
        return np.asarray(self.features[0] @ self.features[1].T)

    def point(self, **given: Array | float) -> dict[str, int | float | Tensor]:
        """Every variable by its printed name, with replacements."""
        arrays: dict[str, Array | float] = {
            "Q": self.queries, "K": self.keys, "S": self.scores, "C": self.cost, "T": self.square, "a": self.a, "b": self.b,
            "κ": self.kernel}
        sizes: dict[str, int | float | Tensor] = {"n": self.n, "m": self.m, "d": WIDTH, "eps": self.epsilon,
                                                  "tau": 1 / self.epsilon}
        return sizes | {name: float64(value) for name, value in (arrays | given).items()}

    def solved(self, scores: Array, epsilon: float) -> tuple[Array, float]:
        """The certified plan with unit rows, and how far from the optimum it may be in ℓ1."""
        solution = matrix.solve(scores, epsilon)
        assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
        return solution.plan, tolerances.plan_from_gap(solution.gap, epsilon)

    def coupled(self, cost: Array, a: Array, b: Array) -> coupling.Coupling:
        """The certified coupling."""
        solution = coupling.solve_entropic(cost, a, b, self.epsilon)
        assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
        return solution


@st.composite
def problems(draw: st.DrawFn, square: bool = False, epsilons: tuple[float, ...] = (0.5, 1.0, 4.0)) -> Drawn:
    """Draw a small problem; n = 1, m = 1, n ≠ m, equal queries and equal scores included."""
    n = draw(st.integers(1, 3))
    m = n if square else draw(st.integers(1, 4))
    return Drawn(n, m, draw(st.integers(0, 2**31)), draw(st.sampled_from(epsilons)), draw(st.integers(0, 3)) == 0)


# ── plans with unit rows ────────────────────────────────────────────────────────────────────────────────────────────


@confirms(PRIMAL, "transport.s0.interpretation", on=problems())
def interpretation(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.epsilon**2 * drawn.scores, drawn.epsilon)      # ε S/τ with τ = 1/ε
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, off)


@confirms(PRIMAL, "transport.thm1", "transport.s7.optimization", on=problems())
def theorem(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.raw / math.sqrt(WIDTH), drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, off)


@confirms(PRIMAL, "transport.s5.standard", on=problems())
def standard(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.raw, math.sqrt(WIDTH))
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, off)


@confirms(PRIMAL, "transport.lem1", "transport.s2.row-softmax", on=problems())
def lemma(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, off)


def at_one(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, 1.0)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, off)


confirms(PRIMAL, "transport.s3.standard", on=problems(), corrected=at_one)(at_one)


def optimal_value(drawn: Drawn) -> Reading:
    solution = matrix.solve(drawn.scores, drawn.epsilon)
    assert solution.certified
    scale = drawn.n * (float(np.abs(drawn.scores).max()) + drawn.epsilon * (1 + math.log(drawn.m)))
    off = tolerances.rounding("float64", drawn.n * drawn.m, scale)
    return Reading(drawn.point(P=solution.plan), {"cvxpy": float64(solution.objective)}, off)


@confirms(PRIMAL, "transport.s2.uniform-target", on=problems(), corrected=optimal_value)
def arriving(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, off)


def own_plan(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.epsilon * np.log(drawn.kernel), drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, off)


@confirms(PRIMAL, "transport.s4.transport-reading", on=problems(), corrected=own_plan)
def split_mass(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan * (1 - plan))}, off)


def entropy(plan: Array) -> float:
    """−Σ P log P with 0 log 0 = 0."""
    positive = plan[plan > 0]
    return float(-(positive * np.log(positive)).sum())


@confirms(PRIMAL, "transport.s5.cold-entropy", on=problems())
def entropy_term(drawn: Drawn) -> Reading:
    plan, _ = drawn.solved(drawn.scores, drawn.epsilon)
    off = tolerances.rounding("float64", plan.size, drawn.epsilon * drawn.n * (1 + math.log(drawn.m)))
    return Reading(drawn.point(P=plan), {"cvxpy": float64(drawn.epsilon * entropy(plan))}, off, "right")


def total_score(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, drawn.epsilon)
    best = np.eye(drawn.m)[drawn.scores.argmax(axis=1)]
    scale = float(np.abs(drawn.scores).max()) + 1
    error = off * scale + tolerances.rounding("float64", plan.size, drawn.n * (scale + drawn.epsilon * math.log(drawn.m)))
    return Reading(drawn.point(R=(best, plan)[drawn.seed % 2]), {"cvxpy": float64((plan * drawn.scores).sum())}, error)


@confirms(PRIMAL, "transport.s5.cold-matching", on=problems(square=True), corrected=total_score)
def choices(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, max(COLD, float(np.ptp(drawn.scores)) / 39))
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, off)


confirms(PRIMAL, "transport.s5.sparsity", on=quadratic_problems(), count=20)(close_to_others)


# ── couplings ───────────────────────────────────────────────────────────────────────────────────────────────────────


def divergence(plan: Array, other: Array) -> float:
    """KL(P ‖ R) of two matrices of one mass."""
    positive = plan > 0
    return float((plan[positive] * np.log(plan[positive] / other[positive])).sum())


def steepest(plan: Array, other: Array) -> float:
    """By how much KL(P ‖ R) moves with P, at most, for each unit of ℓ1."""
    return float(1 + np.abs(np.log(plan[plan > 0] / other[plan > 0])).max())


def half_steps(drawn: Drawn, sharpness: float) -> tuple[Array, Array, coupling.Coupling]:
    """An iterate that has its columns right, the one with its rows right, and the solver's optimum, for costs −S."""
    scores = sharpness * drawn.scores
    columns = np.exp(scores / drawn.epsilon) * drawn.b
    for _ in range(1 + drawn.seed % 2):
        rows = columns * (drawn.a / columns.sum(axis=1))[:, None]
        columns = rows * (drawn.b / rows.sum(axis=0))
    return columns, columns * (drawn.a / columns.sum(axis=1))[:, None], drawn.coupled(-scores, drawn.a, drawn.b)


@confirms(PRIMAL, "transport.s1.sinkhorn", on=problems(epsilons=(0.5, 1.0)))
def fallen(drawn: Drawn) -> Reading:
    before, after, best = half_steps(drawn, 2.0)
    value = divergence(best.plan, before) - divergence(best.plan, after)
    reach = steepest(best.plan, before) + steepest(best.plan, after)
    off = reach * (best.infeasibility + tolerances.rounding("float64", before.size))
    return Reading(drawn.point(W=before, P=best.plan), {"cvxpy": float64(value)}, off)


@confirms(PRIMAL, "transport.s3.sinkformers", on=problems(epsilons=(0.5, 1.0)))
def distance_before(drawn: Drawn) -> Reading:
    before, after, best = half_steps(drawn, 6.0)
    reach = steepest(best.plan, before) + steepest(best.plan, after)
    off = reach * (best.infeasibility + tolerances.rounding("float64", before.size))
    return Reading(drawn.point(W=before, P=best.plan), {"cvxpy": float64(divergence(best.plan, before))}, off)


@confirms(PRIMAL, "transport.s1.kl", on=problems())
def divergence_from_independent(drawn: Drawn) -> Reading:
    best, product = drawn.coupled(drawn.cost, drawn.a, drawn.b), np.outer(drawn.a, drawn.b)
    off = 2 * steepest(best.plan, product) * (best.infeasibility + tolerances.rounding("float64", product.size))
    logs = 1 + float(np.abs(np.log(product)).max())
    return Reading(drawn.point(P=best.plan), {"cvxpy": float64(divergence(best.plan, product))}, off * logs)


@confirms(PRIMAL, "transport.s3.sinkhorn-attention", on=problems())
def gap(drawn: Drawn) -> Reading:
    best = drawn.coupled(drawn.cost, drawn.a, drawn.b)
    f, g = drawn.potentials
    scaled = np.exp((f[:, None] + g - drawn.cost) / drawn.epsilon)
    dual = drawn.a @ f + drawn.b @ g - drawn.epsilon * scaled.sum() + drawn.epsilon
    scale = 1 + float(np.abs(f).max() + np.abs(g).max() + np.abs(drawn.cost).max()) + drawn.epsilon * (1 + scaled.sum())
    off = scale * (best.infeasibility + tolerances.rounding("float64", best.plan.size, 1 + scale / drawn.epsilon))
    return Reading(drawn.point(P=best.plan, f=f, g=g), {"cvxpy": float64(best.objective - dual)}, off)


# ── stability and summary ───────────────────────────────────────────────────────────────────────────────────────────


def wasserstein(drawn: Drawn) -> Reading:
    """W₁ between the rows of two score vectors over values that are all a diameter apart, by the linear program."""
    spread, m = 1.0, drawn.m
    scores, change = np.zeros(m), np.zeros(m)
    change[0] = spread
    if m > 1:                                                # nearly the worst split
        scores[1:] = spread / 2 - drawn.epsilon * math.log(m - 1) + 0.1 * drawn.scores[0, 1:]
    (before, first), (after, second) = (drawn.solved(s[None], drawn.epsilon) for s in (scores, scores + change))
    diameter = 3.0
    plan = coupling.solve_transport(diameter * (1 - np.eye(m)), before[0], after[0])
    assert plan.certified
    gains = after[0] > before[0]
    point = drawn.point(D=diameter, κ=math.expm1(spread / (2 * drawn.epsilon)), u=before[0] * gains, v=before[0] * ~gains,
                        r=np.exp((change - change.min()) / drawn.epsilon))
    off = diameter * (first + second) + max(plan.gap, 0.0)
    return Reading(point, {"linear program": float64(plan.objective)}, off, "right")


def slope(drawn: Drawn) -> Reading:
    """The first output of self-attention on (0, 2L), and how it moves with its own input."""
    constant, step = 3.0 + drawn.epsilon, 1e-2
    second = 2 * constant

    def output(first: float) -> tuple[float, float]:
        weights, off = drawn.solved(np.array([[first * first, first * second]]), 1.0)
        return float(weights[0] @ np.array([first, second])), off * second

    (ahead, one), (behind, other) = output(step), output(-step)
    # F = x + (y − x) σ(xy − x²); |σ'| ≤ 1/4, |σ''| ≤ 1/10 and |σ'''| ≤ 1/8 give |F'''| ≤ y⁴ for y ≥ 2, |x| ≤ 1/100.
    third = second**4
    off = (one + other) / (2 * step) + step**2 / 6 * third
    return Reading({"L": constant, "x1": 0.0, "x2": second}, {"differences of optima": float64((ahead - behind) / (2 * step))},
                   off, "right")


confirms(PRIMAL, "transport.s5.wasserstein-stability", on=problems(), corrected=wasserstein)(slope)


def ratios(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, drawn.epsilon)
    ratio = plan[:, :, None] / plan[:, None, :]
    return Reading(drawn.point(), {"cvxpy": float64(ratio)}, 3 * off / float(plan.min()) * float(ratio.max()))


@confirms(PRIMAL, "transport.s7.soft-sorting", on=problems(), corrected=ratios)
def hard_choices(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.square, max(COLD, float(np.ptp(drawn.square)) / 39))
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, off)


def risk_gap(drawn: Drawn) -> Reading:
    """The gap as the cost of a coupling whose marginals are the two distributions, with a distance that leaves slack."""
    train, test = drawn.losses
    slack = 0.1 * drawn.kernel
    best = coupling.solve_transport(test - train[:, None] + slack, drawn.a, drawn.b)
    assert best.certified
    value = float((best.plan * (test - train[:, None])).sum())
    scale = 1 + float(np.abs(train).max() + np.abs(test).max())
    off = scale * (best.infeasibility + tolerances.rounding("float64", drawn.n * drawn.m, 1.0))
    return Reading(drawn.point(P=best.plan, z=slack, f=train, g=test), {"linear program": float64(value)}, off, "right")


confirms(PRIMAL, "transport.s7.generalization", on=problems(), corrected=risk_gap)(risk_gap)
