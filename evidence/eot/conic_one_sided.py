"""The one-sided problem of eot through the conic solver, which knows no closed form."""

from functools import cache

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from evidence import float64
from numerics import tolerances
from numerics.primal import one_sided

STEP = 1e-3  # of central differences; their error is of order STEP²


class ConicRow:
    """A query against m keys, as plain numbers."""

    def __init__(self, m: int, seed: int, epsilon: float, tied: bool) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.epsilon = m, epsilon
        self.query, self.keys = rng.normal(size=2), rng.normal(size=(m, 2))
        if tied:
            self.keys[:] = self.keys[0]
        self.utilities, self.shift = rng.normal(size=m), float(rng.normal())
        self.scores = self.keys @ self.query

    def point(self) -> dict[str, int | float | Tensor]:
        """Every variable by its printed name; τ is ε here, as in Theorem 3.3."""
        return {
            "m": self.m,
            "d": 2,
            "tau": self.epsilon,
            "eps": self.epsilon,
            "Q": float64(self.query),
            "K": float64(self.keys),
            "s": float64(self.scores),
            "u": float64(self.utilities),
            "t": self.shift,
        }


@cache
@st.composite
def problems(draw: st.DrawFn, smallest: int = 1, epsilons: tuple[float, ...] = (0.5, 1.0, 4.0)) -> ConicRow:
    """Draw a small problem; m = 1 and ties included."""
    m, seed = draw(st.integers(smallest, 5)), draw(st.integers(0, 2**31))
    return ConicRow(m, seed, draw(st.sampled_from(epsilons)), draw(st.booleans()))


def solved(scores: np.ndarray, epsilon: float) -> one_sided.Solution:
    """The certified optimum; an uncertified one is an error, not a vote."""
    solution = one_sided.solve(scores, epsilon)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def error(solution: one_sided.Solution, epsilon: float) -> float:
    """How far the certified plan may be from the optimum, by its gap."""
    return tolerances.plan_from_gap(solution.gap, epsilon)


def differences(drawn: ConicRow) -> tuple[np.ndarray, float]:
    """∂p_k/∂s_j with rows j and columns k from solves at s ± h e_j, and a bound on its error."""
    rows, worst = [], 0.0
    for j in range(drawn.m):
        step = STEP * np.eye(drawn.m)[j]
        ahead, behind = solved(drawn.scores + step, drawn.epsilon), solved(drawn.scores - step, drawn.epsilon)
        rows.append((ahead.plan - behind.plan) / (2 * STEP))
        worst = max(worst, error(ahead, drawn.epsilon), error(behind, drawn.epsilon))
    third_derivative = 1 / drawn.epsilon**3  # |∂³p_k/∂s_j³| ≤ 1/τ³: p(1−p) times a quadratic ≤ 1
    return np.array(rows), STEP**2 / 6 * third_derivative + worst / STEP
