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
from tests.primal.eot_regularizers import Drawn as Quadratic
from tests.primal.eot_regularizers import close_to_others
from tests.primal.eot_regularizers import problems as quadratic_problems

PRIMAL = Layer.PRIMAL
Array = NDArray[np.float64]
WIDTH, FEATURES, COLD = 2, 3, 0.05
SMALLEST = 1e-300                                            # for weights that are 0 where the statement has positive ones


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


@confirms(PRIMAL, "transport.s5.sparsity", on=quadratic_problems(), count=20, corrected=close_to_others)
def weights_of_the_entropy(drawn: Quadratic) -> Reading:
    solution = matrix.solve(drawn.scores, drawn.tau)
    assert solution.certified
    point = drawn.point(n=drawn.m, eps=drawn.tau)
    return Reading(point, {"cvxpy": float64(solution.plan[drawn.query])}, tolerances.plan_from_gap(solution.gap, drawn.tau))


# ── couplings ───────────────────────────────────────────────────────────────────────────────────────────────────────


def divergence(plan: Array, other: Array) -> float:
    """KL(P ‖ R) of two matrices of one mass."""
    positive = plan > 0
    return float((plan[positive] * np.log(plan[positive] / other[positive])).sum())


def steepest(plan: Array, other: Array) -> float:
    """By how much KL(P ‖ R) moves with P, at most, for each unit of ℓ1."""
    return float(1 + np.abs(np.log(plan[plan > 0] / other[plan > 0])).max())


def half_steps(drawn: Drawn, sharpness: float) -> tuple[dict[str, Array], coupling.Coupling, float]:
    """Potentials after some half-steps, the last of them on the columns; the solver's optimum; what its marginals may cost."""
    cost, epsilon = sharpness * drawn.epsilon * drawn.cost, drawn.epsilon
    f, g = np.zeros(drawn.n), np.zeros(drawn.m)
    for step in range((1, 3, 9)[drawn.seed % 3]):
        if step % 2 == 0:
            g = g + epsilon * np.log(drawn.b / np.exp((f[:, None] + g - cost) / epsilon).sum(axis=0))
        else:
            f = f + epsilon * np.log(drawn.a / np.exp((f[:, None] + g - cost) / epsilon).sum(axis=1))
    best = drawn.coupled(cost, drawn.a, drawn.b)
    reach = 1 + float(np.abs(f).max() + np.abs(g).max() + np.abs(cost).max())
    off = 4 * reach * (1 + reach / epsilon) * (best.infeasibility + tolerances.rounding("float64", cost.size))
    return {"f": f, "g": g, "C": cost, "P": best.plan}, best, off


def dual(drawn: Drawn, f: Array, g: Array, cost: Array) -> float:
    """D(f, g)."""
    mass = np.exp((f[:, None] + g - cost) / drawn.epsilon).sum()
    return float(drawn.a @ f + drawn.b @ g - drawn.epsilon * mass + drawn.epsilon)


@confirms(PRIMAL, "transport.s1.sinkhorn", on=problems())
def left_over(drawn: Drawn) -> Reading:
    given, best, off = half_steps(drawn, 2.0)
    f, g, cost = given["f"], given["g"], given["C"]
    after = f + drawn.epsilon * np.log(drawn.a / np.exp((f[:, None] + g - cost) / drawn.epsilon).sum(axis=1))
    found = best.objective - dual(drawn, after, g, cost)
    return Reading(drawn.point(**given), {"cvxpy": float64(found)}, off)


@confirms(PRIMAL, "transport.s3.sinkformers", on=problems())
def gap_before(drawn: Drawn) -> Reading:
    given, best, off = half_steps(drawn, 4.0)
    found = (best.objective - dual(drawn, given["f"], given["g"], given["C"])) / drawn.epsilon
    return Reading(drawn.point(**given), {"cvxpy": float64(found)}, off * max(1.0, 1 / drawn.epsilon))


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
    scale = 1 + float(np.abs(f).max() + np.abs(g).max() + np.abs(drawn.cost).max()) + drawn.epsilon * (1 + scaled.sum())
    off = scale * (best.infeasibility + tolerances.rounding("float64", best.plan.size, 1 + scale / drawn.epsilon))
    return Reading(drawn.point(P=best.plan, f=f, g=g), {"cvxpy": float64(best.objective - dual(drawn, f, g, drawn.cost))}, off)


# ── stability and summary ───────────────────────────────────────────────────────────────────────────────────────────


@confirms(PRIMAL, "transport.s5.score-stability", on=problems())
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
    point = drawn.point(D=diameter, κ=math.expm1(spread / (2 * drawn.epsilon)), u=before[0] * gains,
                        v=np.maximum(before[0] * ~gains, SMALLEST), r=np.exp((change - change.min()) / drawn.epsilon))
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


def of_outputs(drawn: Drawn) -> Reading:
    """W₁ of what the first query sees before and after the inputs move in a ball, by two optima and a linear program."""
    radius, count = (0.25, 2.0)[drawn.seed % 2], drawn.m
    move = 0.1 * radius
    directions = drawn.keys / (1e-3 + np.linalg.norm(drawn.keys, axis=1, keepdims=True))
    before = (radius - move) * directions * (1.0, 0.5)[drawn.seed % 4 // 2]
    if drawn.seed % 2:                                       # a query between keys far apart, which moves alone
        before = np.concatenate((np.zeros((1, WIDTH)), radius * np.array([[1.0, 0.0], [-1.0, 0.0]])))
        count = 3
    after = before.copy()
    after[: 1 if drawn.seed % 2 else None] += np.array([move, 0.0])
    (p, first), (q, second) = (drawn.solved(x[:1] @ x.T, drawn.epsilon) for x in (before, after))
    apart = np.linalg.norm(before[:, None] - after, axis=-1)
    plan = coupling.solve_transport(apart, p[0], q[0])
    assert plan.certified
    off = 2 * radius * (first + second) + max(plan.gap, 0.0) + tolerances.rounding("float64", count**2, 2 * radius)
    tilt, moves = q[0] / p[0], np.linalg.norm(after - before, axis=1)
    tilt, gains = tilt / tilt.min(), tilt > 1
    point: dict[str, int | float | Tensor] = {
        "m": count, "R": radius, "eps": drawn.epsilon, "δ": float(moves.max()),
        "κ": max(float(tilt.max()) ** 0.5 - 1, SMALLEST), "r": float64(tilt),
        "u": float64(p[0] * gains), "v": float64(np.maximum(p[0] * ~gains, SMALLEST)),
        "e": float64(moves.max() - moves)}
    return Reading(point, {"linear program": float64(plan.objective)}, off, "right")


confirms(PRIMAL, "transport.s5.wasserstein-stability", on=problems(), corrected=of_outputs)(slope)


def ratios(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.scores, drawn.epsilon)
    ratio = plan[:, :, None] / plan[:, None, :]
    return Reading(drawn.point(), {"cvxpy": float64(ratio)}, 3 * off / float(plan.min()) * float(ratio.max()))


@confirms(PRIMAL, "transport.s7.soft-sorting", on=problems(), corrected=ratios)
def hard_choices(drawn: Drawn) -> Reading:
    plan, off = drawn.solved(drawn.square, max(COLD, float(np.ptp(drawn.square)) / 39))
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, off)


def on_a_line(drawn: Drawn) -> tuple[Array, Array, dict[str, float | Array]]:
    """Places of training and testing, and a loss of the Lipschitz constant L = ε there; γ(L) = L."""
    train, test = drawn.potentials[0], drawn.potentials[1] + (0.0, 6.0)[drawn.seed % 2]
    places = (x + 9 if drawn.seed % 3 else np.abs(x) for x in (train, test))
    f, g = (drawn.epsilon * place for place in places)
    spare = drawn.epsilon * np.abs(train[:, None] - test) - g + f[:, None]
    return train, test, {"f": f, "g": g, "L": drawn.epsilon, "γ": drawn.epsilon, "z": np.maximum(spare, 0.0)}


def carried(drawn: Drawn) -> Reading:
    """L W₁ of training and test data, by the linear program."""
    train, test, given = on_a_line(drawn)
    best = coupling.solve_transport(np.abs(train[:, None] - test), drawn.a, drawn.b)
    assert best.certified
    scale = drawn.epsilon * (10 + float(np.abs(train).max() + np.abs(test).max()))
    off = drawn.epsilon * max(best.gap, 0.0) + tolerances.rounding("float64", drawn.n * drawn.m, 4 * scale)
    return Reading(drawn.point(**given, P=best.plan), {"linear program": float64(drawn.epsilon * best.objective)}, off)


@confirms(PRIMAL, "transport.s7.generalization", on=problems(), corrected=carried)
def risk_gap(drawn: Drawn) -> Reading:
    """The gap, along the best coupling of the two distributions."""
    train, test, given = on_a_line(drawn)
    best = coupling.solve_transport(np.abs(train[:, None] - test), drawn.a, drawn.b)
    assert best.certified
    f, g = np.asarray(given["f"]), np.asarray(given["g"])
    scale = 1 + float(np.abs(f).max() + np.abs(g).max())
    off = scale * (best.infeasibility + tolerances.rounding("float64", drawn.n * drawn.m))
    return Reading(drawn.point(**given), {"linear program": float64((best.plan * (g - f[:, None])).sum())}, off, "right")
