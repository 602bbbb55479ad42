"""Section 4 of eot through the conic solver: each regularizer's problem as it is printed, no closed form known."""

import numpy as np
from hypothesis import strategies as st

from evidence import Reading, Value, float64
from numerics import tolerances
from numerics.primal import regularizers as conic_regularizers


class RegularizedProblem:
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
        values: dict[str, Value] = {
            "m": self.m,
            "a": self.a,
            "p": float64(self.p),
            "mu": float64(self.mu),
            "theta": self.theta,
            "lam": self.lam,
            "S": float64(self.scores),
            "s": float64(self.own),
            "i": self.query + 1,
            "gamma": self.gamma,
            "tau": self.tau,
            "w": float64(self.inside),
        }
        return values | other

    @property
    def own(self) -> np.ndarray:
        """The scores of the query."""
        return np.asarray(self.scores[self.query])

    @property
    def tsallis(self) -> np.ndarray:
        """θ1 + p^a/a − μ."""
        return np.asarray(self.theta + self.p**self.a / self.a - self.mu)


@st.composite
def regularized_problems(draw: st.DrawFn) -> RegularizedProblem:
    """Draw a small problem; m = 1, ties, one-hot and dense solutions included."""
    return RegularizedProblem(
        draw(st.integers(1, 5)), draw(st.integers(0, 2**31)), draw(st.sampled_from((0.5, 1.0, 2.0))), draw(st.booleans())
    )


def certified(solution: conic_regularizers.Solution) -> conic_regularizers.Solution:
    """The certified optimum; an uncertified one is an error, not a vote."""
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def conic_reading(
    drawn: RegularizedProblem,
    solution: conic_regularizers.Solution,
    extra: dict[str, Value] | None = None,
    shape: tuple[int, ...] | None = None,
    scale: float = 1.0,
) -> Reading:
    """The certified plan, with the error that its certificate states."""
    plan = float64(solution.plan) * scale
    error = scale * (certified(solution).error + tolerances.rounding("float64", drawn.m, 10.0))
    return Reading(drawn.point(**(extra or {})), {"cvxpy": plan.expand(shape) if shape else plan}, error)


def conic_close_to_others(drawn: RegularizedProblem) -> Reading:
    return conic_reading(drawn, conic_regularizers.solve_quadratic(drawn.theta + drawn.p - drawn.mu), shape=(drawn.m, drawn.m))
