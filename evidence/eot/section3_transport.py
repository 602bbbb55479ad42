"""Votes on: Section 3, the primer: the classical problem has a solution, and why it supposedly needs entropy."""

import numpy as np
from hypothesis import strategies as st

from evidence import Layer, Reading, confirms, float64
from evidence.eot.section3_primer import linear
from numerics import tolerances


class SolvedProblem:
    """Marginals and costs for which a cheapest plan is known: it uses no path whose cost exceeds the potentials."""

    def __init__(self, n: int, m: int, seed: int, dear: float) -> None:
        rng = np.random.default_rng(seed)
        used = rng.random((n, m)) >= dear
        used[rng.integers(n), rng.integers(m)] = True
        self.plan = np.where(used, rng.random((n, m)) + 0.1, 0.0)
        self.plan /= self.plan.sum()
        self.f, self.g = rng.normal(size=n), rng.normal(size=m)
        self.left_over = np.where(used, 0.0, rng.random((n, m)) * 3)
        self.a, self.b = self.plan.sum(axis=1), self.plan.sum(axis=0)
        self.cost = self.f[:, None] + self.g + self.left_over


@st.composite
def solved_problems(draw: st.DrawFn) -> SolvedProblem:
    """Draw a small problem; n = 1 or m = 1, marginals with zeros, and costs that all plans share included."""
    sizes = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return SolvedProblem(*sizes, draw(st.integers(0, 2**31)), draw(st.sampled_from((0.0, 0.5, 0.8))))


@confirms(Layer.PRIMAL, "eot.s3.kantorovich", on=solved_problems())
def least_cost(drawn: SolvedProblem) -> Reading:
    solution = linear(drawn.cost, drawn.a, drawn.b)
    n, m = drawn.cost.shape
    point = {
        "n": n,
        "m": m,
        "a": float64(drawn.a),
        "b": float64(drawn.b),
        "f": float64(drawn.f),
        "g": float64(drawn.g),
        "c": float64(drawn.left_over),
        "P": float64(drawn.plan),
        "R": float64(solution.plan),
    }
    error = solution.infeasibility * np.abs(drawn.cost).max() + tolerances.rounding("float64", n * m, np.abs(drawn.cost).max())
    return Reading(point, {"linear program": float64(solution.objective)}, error)
