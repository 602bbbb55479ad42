"""The appendices of eot, and what frames the paper, through conic solvers that know no closed form."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import coupling, matrix
from tests.layers import Reading, confirms, float64
from tests.primal.eot_one_sided import STEP, Drawn, error, problems, solved

PRIMAL = Layer.PRIMAL


class DrawnBatch:
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
        return {"n": self.n, "m": self.m, "d": 2, "tau": self.epsilon, "eps": self.epsilon, "Q": float64(self.queries),
                "K": float64(self.keys)}

    def solved(self) -> matrix.Plan:
        """The certified optimum of the whole matrix, found as one program."""
        solution = matrix.solve(self.scores, self.epsilon)
        assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
        return solution

    def error(self, solution: matrix.Plan) -> float:
        """How far, in the ℓ1 norm of a row, the certified plan may be from the optimum."""
        return tolerances.plan_from_gap(solution.gap, self.epsilon)


@st.composite
def batches(draw: st.DrawFn) -> DrawnBatch:
    """Draw a small problem; n = 1, m = 1 and equal queries included."""
    sizes = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return DrawnBatch(*sizes, draw(st.integers(0, 2**31)), draw(st.sampled_from((0.5, 1.0, 4.0))), draw(st.booleans()))


@confirms(PRIMAL, "eot.113", "eot.thmA.6", "eot.thmA.7", "eot.123", "eot.s2.exact", on=batches())
def whole_matrix(drawn: DrawnBatch) -> Reading:
    solution = drawn.solved()
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, drawn.error(solution))


def visible(drawn: DrawnBatch) -> bool:
    """Whether every weight is at least e⁻⁶/m, far above what a certified plan may be off by: so that it is seen not to be 0."""
    return bool((np.ptp(drawn.scores, axis=-1) <= 6 * drawn.epsilon).all())


confirms(PRIMAL, "eot.sA.relative-interior", on=batches().filter(visible))(whole_matrix)


@confirms(PRIMAL, "eot.sA.decomposable", "eot.112", on=batches())
def optimal_value_of_matrix(drawn: DrawnBatch) -> Reading:
    solution = drawn.solved()
    scale = float(np.abs(drawn.scores).max()) + drawn.epsilon * (1 + np.log(drawn.m))
    off = solution.gap + tolerances.rounding("float64", drawn.n * drawn.m, drawn.n * scale)
    return Reading(drawn.point() | {"P": float64(solution.plan)}, {"cvxpy": float64(solution.objective)}, off)


@confirms(PRIMAL, "eot.s2.source-marginal", on=batches())
def total_mass(drawn: DrawnBatch) -> Reading:
    solution = drawn.solved()
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan.sum(axis=0).sum())}, drawn.n * drawn.error(solution))


# ── Appendix B ──────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(PRIMAL, "eot.126", "eot.128", "eot.135", "eot.141", "eot.144", "eot.lemB.4", "eot.139", "eot.sB.penalty",
          "eot.sB.step-unconstrained", "eot.s0.exact-solution", "eot.s8.unique-solution", on=problems())
def maximizer(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, error(solution, drawn.epsilon))


def slack(drawn: Drawn, gap: float) -> float:
    """The gap of a solve, and rounding in the numbers that make its value."""
    scale = float(np.abs(drawn.scores).max()) + drawn.epsilon * (1 + np.log(drawn.m))
    return gap + tolerances.rounding("float64", drawn.m, scale)


@confirms(PRIMAL, "eot.129", "eot.130", on=problems())
def optimal_value(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.objective)}, slack(drawn, solution.gap))


@confirms(PRIMAL, "eot.131", "eot.145", "eot.sB.step-value", *(f"eot.{number}" for number in range(146, 150)), on=problems())
def conjugate(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(-solution.objective)}, slack(drawn, solution.gap))


@confirms(PRIMAL, "eot.140", on=problems())
def supremum(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    point = drawn.point() | {"p": float64(solution.plan)}
    return Reading(point, {"cvxpy": float64(-solution.bound)}, slack(drawn, solution.gap))


@confirms(PRIMAL, "eot.remB.5", on=problems())
def dual_value(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    level = solution.multiplier + (drawn.epsilon * np.log(drawn.m) if drawn.shift > 0 else 0.0)
    point = drawn.point() | {"μ": float(level)}
    return Reading(point, {"cvxpy": float64(solution.objective)}, slack(drawn, solution.gap) * drawn.m)


@confirms(PRIMAL, "eot.134", "eot.sB.step-gradient", "eot.sB.step-conjugate", on=problems(), count=12)
def slope_of_conjugate(drawn: Drawn) -> Reading:
    slopes, worst = [], 0.0
    for j in range(drawn.m):
        step = STEP * np.eye(drawn.m)[j]
        ahead, behind = solved(drawn.scores + step, drawn.epsilon), solved(drawn.scores - step, drawn.epsilon)
        slopes.append((behind.objective - ahead.objective) / (2 * STEP))
        worst = max(worst, slack(drawn, ahead.gap), slack(drawn, behind.gap))
    third_derivative = 1 / drawn.epsilon**2                  # |∂³φ/∂s_j³| = p(1 − p)|1 − 2p|/τ²
    return Reading(drawn.point(), {"differences of optima": float64(slopes)}, STEP**2 / 6 * third_derivative + worst / STEP)


def fenchel_young_gap(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    plan = np.random.default_rng(drawn.m).dirichlet(np.ones(drawn.m))
    there = float(-plan @ drawn.scores + drawn.epsilon * (plan * np.log(plan)).sum())
    point = drawn.point() | {"p": float64(plan)}
    return Reading(point, {"cvxpy": float64(there - solution.objective)}, slack(drawn, solution.gap))


def parabola(drawn: Drawn) -> Reading:
    """∇f at the point where p² on [0, 1] attains its conjugate at 3, by a central difference."""
    slope = ((1 + STEP) ** 2 - (1 - STEP) ** 2) / (2 * STEP)
    return Reading({"p": 1.0, "s": 3.0}, {"difference": float64(slope)}, tolerances.rounding("float64", 1, 1 / STEP))


confirms(PRIMAL, "eot.132", "eot.sB.equality-condition", on=problems(), corrected=fenchel_young_gap)(parabola)


@confirms(PRIMAL, "eot.136", "eot.sB.first-order", on=problems(), corrected=lambda drawn: slope_at_maximizer(drawn))
def slope_at_maximizer(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    slope = drawn.scores - drawn.epsilon * (np.log(solution.plan) + 1)
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    return Reading(drawn.point(), {"cvxpy": float64(slope)}, 2 * drawn.epsilon * relative + slack(drawn, 0.0))


@confirms(PRIMAL, "eot.138", on=problems(), corrected=lambda drawn: gradient_at_maximizer(drawn))
def gradient_at_maximizer(drawn: Drawn) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    gradient = drawn.epsilon * (np.log(solution.plan) + 1)
    return Reading(drawn.point(), {"cvxpy": float64(gradient)}, 2 * drawn.epsilon * relative + slack(drawn, 0.0))


# ── related work ────────────────────────────────────────────────────────────────────────────────────────────────────


def received(drawn: Drawn) -> Reading:
    n = 2 + drawn.m % 3
    solution = matrix.solve(np.tile(drawn.scores, (n, 1)), drawn.epsilon)
    alone = solved(drawn.scores, drawn.epsilon)
    off = n * tolerances.plan_from_gap(solution.gap, drawn.epsilon) + n * error(alone, drawn.epsilon)
    return Reading({"n": n, "m": drawn.m, "p": float64(alone.plan)}, {"cvxpy": float64(solution.plan.sum(axis=0))}, off)


confirms(PRIMAL, "eot.s2.sinkhorn-citation", on=problems(), corrected=received)(received)


@confirms(PRIMAL, "eot.s2.fixed-marginals", on=batches())
def column_sums(drawn: DrawnBatch) -> Reading:
    marginal = np.random.default_rng(drawn.m).dirichlet(np.ones(drawn.n) * 3)
    cost = -drawn.queries @ drawn.queries.T
    solution = coupling.solve_entropic(cost, marginal, marginal, drawn.epsilon)
    assert solution.certified
    off = solution.infeasibility + tolerances.rounding("float64", drawn.n)
    point = {"n": drawn.n, "a": float64(marginal), "P": float64(solution.plan)}
    return Reading(point, {"cvxpy": float64(solution.plan.sum(axis=0))}, off)
