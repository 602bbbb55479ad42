"""The transport chapter through linear and conic solvers, which know no closed form."""

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from evidence import float64
from numerics import tolerances
from numerics.primal import coupling, matrix
from numerics.primal.arguments import Array

CONIC_WIDTH, FEATURES, CONIC_COLD = 2, 3, 0.05


class PlanProblem:
    """n queries against m keys with everything that the claims name, as plain numbers."""

    def __init__(self, n: int, m: int, seed: int, epsilon: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.m, self.seed, self.epsilon = n, m, seed, epsilon
        self.queries, self.keys = rng.normal(size=(n, CONIC_WIDTH)), rng.normal(size=(m, CONIC_WIDTH))
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

    def point(self, **values: Array | float) -> dict[str, int | float | Tensor]:
        """Every variable by its printed name, with replacements."""
        arrays: dict[str, Array | float] = {
            "Q": self.queries,
            "K": self.keys,
            "S": self.scores,
            "C": self.cost,
            "T": self.square,
            "a": self.a,
            "b": self.b,
            "κ": self.kernel,
        }
        sizes: dict[str, int | float | Tensor] = {
            "n": self.n,
            "m": self.m,
            "d": CONIC_WIDTH,
            "eps": self.epsilon,
            "tau": 1 / self.epsilon,
        }
        return sizes | {name: float64(value) for name, value in (arrays | values).items()}

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
def conic_problems(draw: st.DrawFn, square: bool = False, epsilons: tuple[float, ...] = (0.5, 1.0, 4.0)) -> PlanProblem:
    """Draw a small problem; n = 1, m = 1, n ≠ m, equal queries and equal scores included."""
    n = draw(st.integers(1, 3))
    m = n if square else draw(st.integers(1, 4))
    return PlanProblem(n, m, draw(st.integers(0, 2**31)), draw(st.sampled_from(epsilons)), draw(st.integers(0, 3)) == 0)


def half_steps(drawn: PlanProblem, sharpness: float) -> tuple[dict[str, Array], coupling.Coupling, float]:
    """Potentials after some half-steps, the last on the columns; the solver's optimum; the cost of its marginal errors."""
    cost, epsilon = sharpness * drawn.epsilon * drawn.cost, drawn.epsilon
    f, g = np.zeros(drawn.n), np.zeros(drawn.m)
    for step in range((1, 3, 9)[drawn.seed % 3]):
        if step % 2 == 0:
            g = g + epsilon * np.log(drawn.b / np.exp((f[:, None] + g - cost) / epsilon).sum(axis=0))
        else:
            f = f + epsilon * np.log(drawn.a / np.exp((f[:, None] + g - cost) / epsilon).sum(axis=1))
    best = drawn.coupled(cost, drawn.a, drawn.b)
    reach = 1 + float(np.abs(f).max() + np.abs(g).max() + np.abs(cost).max())
    error = 4 * reach * (1 + reach / epsilon) * (best.infeasibility + tolerances.rounding("float64", cost.size))
    return {"f": f, "g": g, "C": cost, "P": best.plan}, best, error


def dual(drawn: PlanProblem, f: Array, g: Array, cost: Array) -> float:
    """D(f, g)."""
    mass = np.exp((f[:, None] + g - cost) / drawn.epsilon).sum()
    return float(drawn.a @ f + drawn.b @ g - drawn.epsilon * mass + drawn.epsilon)
