"""Section 4 of eot through the conic solver: each regularizer's problem as it is printed, no closed form known."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import regularizers
from tests.bridge import Value
from tests.layers import Reading, confirms, float64

PRIMAL = Layer.PRIMAL


class Drawn:
    """A Karush–Kuhn–Tucker point (p, μ, θ), and scores that a locality penalty is put on."""

    def __init__(self, m: int, seed: int, a: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.a = m, a
        face = rng.random(m) < 0.6
        face[rng.integers(m)] = True
        weights = np.ones(m) if tied else rng.uniform(0.1, 1, m)
        self.p = np.where(face, weights, 0.0) / np.where(face, weights, 0.0).sum()
        self.mu = np.where(face, 0.0, rng.uniform(0.1, 2, m))
        self.theta, self.lam = rng.uniform(-2, 2, 2)
        self.scores = rng.uniform(-2, 2, (m, m))
        self.inside = rng.dirichlet(np.ones(m) * 3)
        self.query, self.gamma, self.tau = int(rng.integers(m)), rng.uniform(0, 2), rng.uniform(0.5, 3)

    def point(self, **other: Value) -> dict[str, Value]:
        """Every variable by its printed name."""
        given: dict[str, Value] = {
            "m": self.m, "a": self.a, "p": float64(self.p), "mu": float64(self.mu), "theta": self.theta, "lam": self.lam,
            "S": float64(self.scores), "s": float64(self.own), "i": self.query + 1, "gamma": self.gamma, "tau": self.tau,
            "w": float64(self.inside)}
        return given | other

    @property
    def own(self) -> np.ndarray:
        """The scores of the query."""
        return np.asarray(self.scores[self.query])

    @property
    def tsallis(self) -> np.ndarray:
        """θ1 + p^a/a − μ."""
        return np.asarray(self.theta + self.p**self.a / self.a - self.mu)


@st.composite
def problems(draw: st.DrawFn) -> Drawn:
    """Draw a small problem; m = 1, ties, one-hot and dense solutions included."""
    return Drawn(draw(st.integers(1, 5)), draw(st.integers(0, 2**31)), draw(st.sampled_from((0.5, 1.0, 2.0))),
                 draw(st.booleans()))


def certified(solution: regularizers.Solution) -> regularizers.Solution:
    """The certified optimum; an uncertified one is an error, not a vote."""
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def reading(drawn: Drawn, solution: regularizers.Solution, given: dict[str, Value] | None = None,
            shape: tuple[int, ...] | None = None, scale: float = 1.0) -> Reading:
    """The certified plan, as far from the optimum as its certificate says."""
    plan = float64(solution.plan) * scale
    off = scale * (certified(solution).error + tolerances.rounding("float64", drawn.m, 10.0))
    return Reading(drawn.point(**(given or {})), {"cvxpy": plan.expand(shape) if shape else plan}, off)


@confirms(PRIMAL, "eot.prop4.1", "eot.s4.tab1-softmax", on=problems(), count=20)
def softmax(drawn: Drawn) -> Reading:
    return reading(drawn, regularizers.solve_penalized(drawn.own, np.zeros(drawn.m), drawn.tau))


@confirms(PRIMAL, "eot.prop4.2", on=problems(), count=20)
def sparsemax(drawn: Drawn) -> Reading:
    return reading(drawn, regularizers.solve_quadratic(drawn.theta + drawn.p - drawn.mu))


@confirms(PRIMAL, "eot.24", "eot.s4.complementary-slackness", on=problems(), count=20)
def sparsemax_by_multiplier(drawn: Drawn) -> Reading:
    return reading(drawn, regularizers.solve_quadratic(drawn.p - drawn.mu - drawn.lam))


def close_to_others(drawn: Drawn) -> Reading:
    return reading(drawn, regularizers.solve_quadratic(drawn.theta + drawn.p - drawn.mu), shape=(drawn.m, drawn.m))


def dense(drawn: Drawn) -> Reading:
    return reading(drawn, regularizers.solve_quadratic(drawn.theta + drawn.inside))


def product_of_two(drawn: Drawn) -> Reading:
    scores = np.repeat(drawn.own[:1], 2)
    solution = certified(regularizers.solve_quadratic(scores))
    point = drawn.point(s=float64(scores), theta=float(scores[0] - 0.5))
    product = torch.prod(float64(solution.plan))
    return Reading(point, {"cvxpy": product}, 2 * solution.error + tolerances.rounding("float64", 2))


confirms(PRIMAL, "eot.s4.sparsemax-sparse", on=problems(), count=20, corrected=close_to_others)(product_of_two)
confirms(PRIMAL, "eot.s4.tab1-sparsemax", on=problems(), count=20, corrected=dense)(product_of_two)


@confirms(PRIMAL, "eot.prop4.3", "eot.33", on=problems(), count=20)
def entmax(drawn: Drawn) -> Reading:
    return reading(drawn, regularizers.solve_tsallis(drawn.tsallis, 1 + drawn.a))


@confirms(PRIMAL, "eot.s4.entmax-threshold", on=problems(), count=20, corrected=entmax)
def any_threshold(drawn: Drawn) -> Reading:
    solution = regularizers.solve_tsallis(drawn.own, 1 + drawn.a)
    return reading(drawn, solution, {"theta": float(drawn.own.min() - 1)})


@confirms(PRIMAL, "eot.s4.tab1-entmax", on=problems(), count=20)
def support(drawn: Drawn) -> Reading:
    solution = regularizers.solve_tsallis(drawn.tsallis, 1 + drawn.a)
    return reading(drawn, solution, shape=(drawn.m, drawn.m), scale=1 / drawn.a)


def local_plan(drawn: Drawn) -> regularizers.Solution:
    """The plan of one query with the penalty as a term of its own."""
    penalty = drawn.gamma * np.abs(np.arange(drawn.m) - drawn.query)
    return regularizers.solve_penalized(drawn.own, penalty, drawn.tau)


@confirms(PRIMAL, "eot.35", "eot.36", "eot.43", "eot.prop4.4", "eot.tab1", on=problems(), count=20)
def locality(drawn: Drawn) -> Reading:
    return reading(drawn, local_plan(drawn))


@confirms(PRIMAL, "eot.42", on=problems(), count=20)
def ratios(drawn: Drawn) -> Reading:
    solution = certified(local_plan(drawn))
    plan: Tensor = float64(solution.plan)
    ratio = plan[:, None] / plan[None, :]
    relative = solution.error / float(plan.min()) + tolerances.rounding("float64", drawn.m, 10.0)
    return Reading(drawn.point(), {"cvxpy": ratio}, 3 * relative * float(ratio.max()))
