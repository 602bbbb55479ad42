"""The problems of geometric through linear and conic solvers: with and without a regularizer, no closed form known."""

import numpy as np
from hypothesis import strategies as st

from evidence import Reading, Value, float64
from numerics import tolerances
from numerics.primal import coupling, one_sided
from numerics.primal.arguments import Array


class WeightsProblem:
    """Data at m locations, any weights, a query and keys; and a Karush–Kuhn–Tucker point (p, μ, θ) of the squared norm."""

    def __init__(self, m: int, seed: int, kind: str) -> None:
        rng = np.random.default_rng(seed)
        self.m = m
        self.x = rng.uniform(-2, 2, m)
        if kind == "tied":
            self.x[:] = self.x[0]
        elif kind == "one":
            self.x = np.eye(m)[0] * rng.uniform(1, 3)
        self.any = rng.dirichlet(np.ones(m) * 3)
        self.query, self.keys = rng.normal(size=3), rng.normal(size=(m, 3))
        face = rng.random(m) < 0.4
        face[rng.integers(m)] = True
        self.p = np.where(face, rng.uniform(0.2, 1, m), 0.0)
        self.p /= self.p.sum()
        self.mu, self.theta, self.tau = np.where(face, 0.0, rng.uniform(0.1, 2, m)), rng.uniform(-2, 2), rng.uniform(0.5, 3)

    @property
    def best(self) -> int:
        """The index of a largest entry of x, counted from 1."""
        return int(self.x.argmax()) + 1


@st.composite
def problems(draw: st.DrawFn, smallest: int = 1, kinds: tuple[str, ...] = ("any", "tied", "one")) -> WeightsProblem:
    """Draw a small problem; one location and ties included."""
    return WeightsProblem(draw(st.integers(smallest, 5)), draw(st.integers(0, 2**31)), draw(st.sampled_from(kinds)))


def reading(
    drawn: WeightsProblem, values: dict[str, Value], deviation: float, *, right: bool = False, **routes: Array | float
) -> Reading:
    """Routes from a certified solution that is at most `off` away from the exact one."""
    tensors = {name: float64(route) for name, route in routes.items()}
    largest = max([1.0, *(float(route.abs().max()) for route in tensors.values())])
    tolerance = deviation + tolerances.rounding("float64", drawn.m**2, 20.0 * largest)
    return Reading({"m": drawn.m, **values}, tensors, tolerance, "right" if right else "left")


def linear(x: Array) -> coupling.Coupling:
    """The certified maximum of ⟨p, x⟩ over the simplex, p = m times the first row.

    As a transport problem: the first of two sources, with the mass 1/m, chooses among m targets, each of which takes 1/m; the
    second source, at no cost, gets the rest.
    """
    m = x.size
    solution = coupling.solve_transport(np.stack((-x, np.zeros(m))), np.array([1 / m, 1 - 1 / m]), np.full(m, 1 / m))
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def vertex(x: Array) -> tuple[Array, float]:
    """A maximizer of ⟨p, x⟩ over the simplex, and how much better another could be."""
    solution = linear(x)
    return x.size * solution.plan[0], x.size * solution.gap


def regularized(scores: Array, strength: float = 1.0) -> tuple[one_sided.Solution, float]:
    """The certified maximizer of ⟨p, x⟩ + τ H(p), and how far it may be from the exact one."""
    solution = one_sided.solve(scores, strength)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution, tolerances.plan_from_gap(solution.gap, strength)


def conic_solution(drawn: WeightsProblem) -> Reading:
    solution, error = regularized(drawn.x)
    return reading(drawn, {"x": float64(drawn.x), "f": float64(drawn.x)}, error, conic=solution.plan)


def conic_centred(drawn: WeightsProblem) -> Reading:
    """The product of the squared lengths of the centred weights and data, with the certified weights."""
    solution, error_bound = regularized(drawn.x)
    parts = solution.plan - solution.plan.mean(), drawn.x - drawn.x.mean()
    squares, product = [float(part @ part) for part in parts], float(parts[0] @ parts[1])
    (a, b), (c, d) = ((max(0.0, float(part.max())), max(0.0, -float(part.min()))) for part in parts)
    g, h = (
        max(0.0, drawn.m * top * low / square - 1) if square else 0.0
        for top, low, square in ((a, b, squares[0]), (c, d, squares[1]))
    )
    error = (drawn.m - 1) ** 2 * (2 * abs(product) + error_bound) * error_bound * float(np.abs(parts[1]).sum())
    values: dict[str, Value] = {"A": a, "B": b, "C": c, "D": d, "N": max(0.0, product), "g": g, "h": h}
    return reading(drawn, values, error, right=True, conic=squares[0] * squares[1])
