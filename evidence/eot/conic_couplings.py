"""The primer's two-marginal problems of eot through linear and conic solvers."""

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from evidence import float64
from numerics.primal import coupling


class CouplingProblem:
    """Two positive marginals, a third one on the places of the first, and costs."""

    def __init__(self, n: int, m: int, seed: int, epsilon: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.m, self.epsilon = n, m, epsilon
        self.a, self.b = rng.dirichlet(np.ones(n) * 3), rng.dirichlet(np.ones(m) * 3)
        self.cost = rng.integers(0, 2, size=(n, m)).astype(float) if tied else rng.random((n, m)) * 3
        self.second, self.third = rng.dirichlet(np.ones(n) * 3), rng.dirichlet(np.ones(n) * 3)
        positions = rng.normal(size=(n, 2))
        self.metric = np.linalg.norm(positions[:, None] - positions[None, :], axis=-1)
        self.any_cost = rng.random((n, n)) + 0.1

    def point(self) -> dict[str, int | float | Tensor]:
        """The variables by their printed names."""
        return {
            "n": self.n,
            "m": self.m,
            "eps": self.epsilon,
            "a": float64(self.a),
            "b": float64(self.b),
            "C": float64(self.cost),
        }


@st.composite
def problems(draw: st.DrawFn, epsilons: tuple[float, ...] = (0.5, 2.0, 8.0), smallest: int = 1) -> CouplingProblem:
    """Draw a small problem, n = 1 or m = 1 and tied costs included."""
    sizes = draw(st.integers(smallest, 3)), draw(st.integers(smallest, 4))
    return CouplingProblem(*sizes, draw(st.integers(0, 2**31)), draw(st.sampled_from(epsilons)), draw(st.booleans()))


def entropic(drawn: CouplingProblem, cost: np.ndarray) -> coupling.Coupling:
    """The certified optimum of the entropic problem."""
    solution = coupling.solve_entropic(cost, drawn.a, drawn.b, drawn.epsilon)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution
