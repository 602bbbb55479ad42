"""The problems of geometric through linear and conic solvers: with and without a regularizer, no closed form known."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import coupling, one_sided, regularizers
from tests.bridge import Value
from tests.layers import Reading, confirms, float64

PRIMAL = Layer.PRIMAL
Array = NDArray[np.float64]


class Drawn:
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
        """The number of a largest entry of x, from 1."""
        return int(self.x.argmax()) + 1


@st.composite
def problems(draw: st.DrawFn, smallest: int = 1, kinds: tuple[str, ...] = ("any", "tied", "one")) -> Drawn:
    """Draw a small problem; one location and ties included."""
    return Drawn(draw(st.integers(smallest, 5)), draw(st.integers(0, 2**31)), draw(st.sampled_from(kinds)))


def reading(drawn: Drawn, given: dict[str, Value], off: float, *, right: bool = False, **routes: Array | float) -> Reading:
    """Routes from a certified solution that is at most `off` away from the exact one."""
    tensors = {name: float64(route) for name, route in routes.items()}
    largest = max([1.0, *(float(route.abs().max()) for route in tensors.values())])
    tolerance = off + tolerances.rounding("float64", drawn.m**2, 20.0 * largest)
    return Reading({"m": drawn.m, **given}, tensors, tolerance, "right" if right else "left")


# ── without a regularizer ───────────────────────────────────────────────────────────────────────────────────────────


def linear(x: Array) -> coupling.Coupling:
    """The certified maximum of ⟨p, x⟩ over the simplex, p = m times the first row.

    As a transport problem: the first of two sources, with the mass 1/m, chooses among m places of which each takes 1/m; the
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


@confirms(PRIMAL, "geometric.s2.basis-vector", on=problems(), count=16)
def optimal_value(drawn: Drawn) -> Reading:
    plan, gap = vertex(drawn.x)
    top = float(drawn.x.max())
    given = {"p": float64(drawn.any), "top": top, "s": float64(top - drawn.x), "best": drawn.best}
    return reading(drawn, given, gap, linear_program=float(plan @ drawn.x))


@confirms(PRIMAL, "geometric.s2.corner", on=problems(smallest=2, kinds=("any", "one")), count=16)
def lost(drawn: Drawn) -> Reading:
    plan, gap = vertex(drawn.x)
    top, second = np.sort(drawn.x)[::-1][:2]
    given = {"p": float64(drawn.any), "top": float(top), "margin": float(top - second),
             "h": float64(np.clip(second - drawn.x, 0, None)), "best": drawn.best}
    return reading(drawn, given, gap, linear_program=float((plan - drawn.any) @ drawn.x))


@confirms(PRIMAL, "geometric.s2.not-the-direction", on=problems(smallest=2, kinds=("any", "one")), count=16)
def sine(drawn: Drawn) -> Reading:
    plan, gap = vertex(drawn.x)
    margin = float(-np.diff(np.sort(drawn.x)[::-1][:2])[0])
    squared = float((plan @ plan) * (drawn.x @ drawn.x) - (plan @ drawn.x) ** 2)
    return reading(drawn, {"x": float64(drawn.x), "best": drawn.best}, 60 * drawn.m * gap / margin, linear_program=squared)


@confirms(PRIMAL, "geometric.2", "geometric.5", on=problems(), count=16)
def unnormalized_cosine(drawn: Drawn) -> Reading:
    """The dual bound, which no plan enters, against the cosine at the plan found; where all p are optimal, at any of them."""
    solution, x = linear(drawn.x), float64(drawn.x)
    plan = drawn.any if np.ptp(drawn.x) == 0 else drawn.m * solution.plan[0]
    return reading(drawn, {"p": float64(plan), "x": x, "f": x}, drawn.m * solution.gap, dual=-drawn.m * solution.bound)


# ── with one ────────────────────────────────────────────────────────────────────────────────────────────────────────


def soft(scores: Array, strength: float = 1.0) -> tuple[one_sided.Solution, float]:
    """The certified maximizer of ⟨p, x⟩ + τ H(p), and how far it may be from the exact one."""
    solution = one_sided.solve(scores, strength)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution, tolerances.plan_from_gap(solution.gap, strength)


@confirms(PRIMAL, "geometric.3", on=problems(), count=16)
def regularized_value(drawn: Drawn) -> Reading:
    """The dual bound, which no plan enters, against the objective in lengths and the angle at the plan found."""
    solution, _ = soft(drawn.x)
    omega = float((solution.plan * np.log(solution.plan)).sum())
    given = {"p": float64(solution.plan), "x": float64(drawn.x), "omega": omega}
    return reading(drawn, given, solution.gap, dual=-solution.bound)


@confirms(PRIMAL, "geometric.4", "geometric.s6.framing", on=problems(), count=16)
def solution(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x)
    return reading(drawn, {"x": float64(drawn.x), "f": float64(drawn.x)}, off, conic=found.plan)


@confirms(PRIMAL, "geometric.s3.close-to-practice", on=problems(), count=16)
def scaled_products(drawn: Drawn) -> Reading:
    products = drawn.keys @ drawn.query
    found, off = soft(products / np.sqrt(3))
    return reading(drawn, {"d": 3, "s": float64(products)}, off, conic=found.plan)


def apart(x: Array) -> dict[str, Value]:
    """The largest entry, whose weight is the one nearest to 1, and the others."""
    largest = int(x.argmax())
    return {"others": x.size - 1, "x_t": float(x[largest]), "x": float64(np.delete(x, largest))}


def cooled(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x, drawn.tau)
    return reading(drawn, apart(drawn.x) | {"tau": drawn.tau}, off, right=True, conic=float(found.plan.max()))


@confirms(PRIMAL, "geometric.s3.avoid-corners", on=problems(smallest=2), count=16, corrected=cooled)
def projected(drawn: Drawn) -> Reading:
    found = regularizers.solve_quadratic(drawn.theta + drawn.p - drawn.mu)
    assert found.certified, f"the solver left a gap of {found.gap} with status {found.status}"
    given = {"p": float64(drawn.p), "mu": float64(drawn.mu), "theta": drawn.theta}
    return reading(drawn, given, found.error, right=True, conic=found.plan)


@confirms(PRIMAL, "geometric.s3.unique-inside", on=problems(smallest=2), count=16)
def inside(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x)
    return reading(drawn, apart(drawn.x), off, right=True, conic=float(found.plan.max()))


def centred(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x)
    aligned = float((found.plan - 1 / drawn.m) @ (drawn.x - drawn.x.mean()))
    return reading(drawn, {"x": float64(drawn.x)}, off * float(np.abs(drawn.x - drawn.x.mean()).max()), conic=aligned)


@confirms(PRIMAL, "geometric.s3.direction", "geometric.s4.direction", on=problems(smallest=2), count=16, corrected=centred)
def closer_than_corner(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x)
    cosine = float(found.plan @ drawn.x / np.linalg.norm(found.plan) / np.linalg.norm(drawn.x))
    off = 2 * off * np.sqrt(drawn.m)                         # ‖p‖ ≥ 1/√m, and a direction turns by at most 2|dp|/‖p‖
    return reading(drawn, {"x": float64(drawn.x), "best": drawn.best}, off, conic=cosine)


def of_summary(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x)
    return reading(drawn, {"f": float64(drawn.x)}, off, conic=found.plan)


@confirms(PRIMAL, "geometric.s4.points-along-summary", on=problems(smallest=2, kinds=("any", "one")), count=16,
          corrected=of_summary)
def maximizer_of_5(drawn: Drawn) -> Reading:
    plan, gap = vertex(drawn.x)
    margin = float(-np.diff(np.sort(drawn.x)[::-1][:2])[0])
    return reading(drawn, {"f": float64(drawn.x)}, gap / margin, linear_program=plan)


@confirms(PRIMAL, "geometric.s4.important", on=problems(), count=16)
def ratios(drawn: Drawn) -> Reading:
    found, off = soft(drawn.x)
    ratio = found.plan[:, None] / found.plan[None, :]
    return reading(drawn, {"f": float64(drawn.x)}, 3 * off / float(found.plan.min()) * float(ratio.max()), conic=ratio)
