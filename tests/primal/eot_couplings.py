"""The primer's two-marginal problems of eot through linear and conic solvers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import coupling
from tests.layers import Reading, confirms, float64

PRIMAL = Layer.PRIMAL


class Drawn:
    """Two positive marginals, a third one on the places of the first, and costs."""

    def __init__(self, n: int, m: int, seed: int, epsilon: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.m, self.epsilon = n, m, epsilon
        self.a, self.b = rng.dirichlet(np.ones(n) * 3), rng.dirichlet(np.ones(m) * 3)
        self.cost = rng.integers(0, 2, size=(n, m)).astype(float) if tied else rng.random((n, m)) * 3
        self.second, self.third = rng.dirichlet(np.ones(n) * 3), rng.dirichlet(np.ones(n) * 3)
        places = rng.normal(size=(n, 2))
        self.metric = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
        self.any_cost = rng.random((n, n)) + 0.1

    def point(self) -> dict[str, int | float | Tensor]:
        """The variables by their printed names."""
        return {"n": self.n, "m": self.m, "eps": self.epsilon, "a": float64(self.a), "b": float64(self.b),
                "C": float64(self.cost)}


@st.composite
def problems(draw: st.DrawFn, epsilons: tuple[float, ...] = (0.5, 2.0, 8.0), smallest: int = 1) -> Drawn:
    """Draw a small problem, n = 1 or m = 1 and tied costs included."""
    sizes = draw(st.integers(smallest, 3)), draw(st.integers(smallest, 4))
    return Drawn(*sizes, draw(st.integers(0, 2**31)), draw(st.sampled_from(epsilons)), draw(st.booleans()))


def entropic(drawn: Drawn, cost: np.ndarray) -> coupling.Coupling:
    """The certified optimum of the entropic problem."""
    solution = coupling.solve_entropic(cost, drawn.a, drawn.b, drawn.epsilon)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def linear(cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> coupling.Coupling:
    """The certified optimum of the linear problem."""
    solution = coupling.solve_transport(cost, a, b)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def entropy(plan: np.ndarray) -> float:
    """−Σ P log P with 0 log 0 = 0."""
    positive = plan[plan > 0]
    return float(-(positive * np.log(positive)).sum())


def entropy_error(solution: coupling.Coupling) -> float:
    """By how much the marginals' residual can move the plan's entropy, whose slope is −1 − log P."""
    steepest = 1 - np.log(solution.plan[solution.plan > 0].min())
    return float(steepest * (solution.infeasibility + tolerances.rounding("float64", solution.plan.size)))


def error(solution: coupling.Coupling, epsilon: float) -> float:
    """How far the plan may be from the optimum in the ℓ1 norm, by its gap."""
    return tolerances.plan_from_gap(max(solution.gap, 0.0), epsilon) + solution.infeasibility


@confirms(PRIMAL, "eot.s3.most-entropic", on=problems())
def entropy_of_plan(drawn: Drawn) -> Reading:
    solution = entropic(drawn, drawn.cost)
    point = drawn.point() | {"P": float64(solution.plan)}
    return Reading(point, {"cvxpy": float64(entropy(solution.plan))}, entropy_error(solution), "right")


@confirms(PRIMAL, "eot.s3.eps-to-infinity", on=problems(epsilons=(0.5, 2.0, 8.0, 50.0)))
def divergence_from_independent(drawn: Drawn) -> Reading:
    solution = entropic(drawn, drawn.cost)
    plan, product = solution.plan, np.outer(drawn.a, drawn.b)
    positive = plan > 0
    divergence = float((plan[positive] * np.log(plan[positive] / product[positive])).sum() - plan.sum() + product.sum())
    off = max(solution.gap, 0.0) / drawn.epsilon + 2 * entropy_error(solution)
    return Reading(drawn.point() | {"P": float64(plan)}, {"cvxpy": float64(divergence)}, off, "right")


def entropy_near_zero(drawn: Drawn) -> Reading:
    solution = entropic(drawn, drawn.cost)
    vertex = linear(drawn.cost, drawn.a, drawn.b)
    point = drawn.point() | {"P": float64(solution.plan), "R": float64(vertex.plan)}
    off = 2 * max(solution.gap, 0.0) / drawn.epsilon + entropy_error(solution) + entropy_error(vertex)
    return Reading(point, {"cvxpy": float64(entropy(solution.plan))}, off)


@confirms(PRIMAL, "eot.s3.eps-to-zero", on=problems(epsilons=(0.05, 0.2), smallest=2), corrected=entropy_near_zero)
def four_entries_with_equal_costs(drawn: Drawn) -> Reading:
    solution = entropic(drawn, np.ones_like(drawn.cost))
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan[:2, :2].prod())}, 4 * error(solution, drawn.epsilon))


def detour(drawn: Drawn) -> Reading:
    there, onward = linear(drawn.metric, drawn.a, drawn.second), linear(drawn.metric, drawn.second, drawn.third)
    first, second = there.plan, onward.plan
    glued = first @ (second / drawn.second[:, None])
    longer = float(((first + second - glued) * drawn.metric).sum())
    off = (there.infeasibility + onward.infeasibility + tolerances.rounding("float64", drawn.n**3)) * drawn.metric.max()
    point = {"n": drawn.n, "a": float64(drawn.a), "b": float64(drawn.second), "c": float64(drawn.third),
             "P": float64(first), "Q": float64(second), "D": float64(drawn.metric)}
    return Reading(point, {"linear program": float64(longer)}, 10 * off + tolerances.rounding("float64", 1))


@confirms(PRIMAL, "eot.s3.distance", on=problems(smallest=1), corrected=detour)
def distance_to_itself(drawn: Drawn) -> Reading:
    plan = linear(drawn.any_cost, drawn.a, drawn.a)
    point = {"n": drawn.n, "D": float64(drawn.any_cost), "P": float64(plan.plan)}
    return Reading(point, {"linear program": float64(plan.objective)}, tolerances.rounding("float64", drawn.n, 10.0))
