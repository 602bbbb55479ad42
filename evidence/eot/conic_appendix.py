"""The appendices of eot, its abstract and conclusion, through conic solvers that know no closed form."""

from functools import cache

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, float64
from evidence.eot.conic_one_sided import ConicRow, error, solved
from numerics import tolerances
from numerics.primal import matrix


class ConicBatch:
    """Several queries against m keys, as plain numbers."""

    def __init__(self, n: int, m: int, seed: int, epsilon: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.m, self.epsilon = n, m, epsilon
        self.queries, self.keys = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
        if tied:
            self.queries[:] = self.queries[0]
        self.scores = self.queries @ self.keys.T

    def point(self) -> dict[str, int | float | Tensor]:
        """Every variable by its printed name; τ is ε here, as in Theorem A.7."""
        return {
            "n": self.n,
            "m": self.m,
            "d": 2,
            "tau": self.epsilon,
            "eps": self.epsilon,
            "Q": float64(self.queries),
            "K": float64(self.keys),
        }

    def solved(self) -> matrix.Plan:
        """The certified optimum of the whole matrix, found as one program."""
        solution = matrix.solve(self.scores, self.epsilon)
        assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
        return solution

    def error(self, solution: matrix.Plan) -> float:
        """How far, in the ℓ1 norm of a row, the certified plan may be from the optimum."""
        return tolerances.plan_from_gap(solution.gap, self.epsilon)


@cache
@st.composite
def conic_batches(draw: st.DrawFn) -> ConicBatch:
    """Draw a small problem; n = 1, m = 1 and equal queries included."""
    sizes = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return ConicBatch(*sizes, draw(st.integers(0, 2**31)), draw(st.sampled_from((0.5, 1.0, 4.0))), draw(st.booleans()))


def conic_maximizer(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, error(solution, drawn.epsilon))


def slack(drawn: ConicRow, gap: float) -> float:
    """The gap of a solution, and the rounding of its value."""
    scale = float(np.abs(drawn.scores).max()) + drawn.epsilon * (1 + np.log(drawn.m))
    return gap + tolerances.rounding("float64", drawn.m, scale)


def conic_conjugate(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(-solution.objective)}, slack(drawn, solution.gap))
