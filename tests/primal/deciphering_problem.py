"""Section 4 and Appendix B of deciphering, and Section 5 of inference, through the conic solver.

The programs are stated as they are printed and solved with a certified gap; the tilt of Theorem 1 is unknown to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import mem, mem_variants
from tests.layers import Reading, confirms, float64

PRIMAL = Layer.PRIMAL
Array = np.ndarray
LAYOUTS = ("generic", "duplicated", "collinear")


@dataclass(frozen=True)
class Drawn:
    """n templates in ℝ^d with a prior, a dual point λ, α (which is κ where a constraint is meant), σ and η."""

    n: int
    d: int
    alpha: float
    layout: str
    seed: int

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """Everything by its printed name; λ is at least 1/2 long, so that a constraint binds."""
        rng = np.random.default_rng(self.seed)
        templates = rng.normal(size=(self.n, self.d))
        if self.layout == "duplicated":
            templates[-1] = templates[0]
        if self.layout == "collinear":
            templates = templates[:, :1] * templates[0]
        lam = rng.normal(size=self.d)
        sigma, eta = np.exp(rng.uniform(-0.5, 0.5, size=2))
        return {"T": templates, "u": rng.dirichlet(np.full(self.n, 4.0)), "z": rng.normal(size=self.d),
                "lam": lam * max(1.0, 0.5 / np.linalg.norm(lam)), "sigma": sigma, "eta": eta}

    def __getitem__(self, name: str) -> Array:
        return self.numbers[name]

    def point(self) -> dict[str, int | float | Tensor]:
        """Every variable by its printed name."""
        return {"n": self.n, "d": self.d, "alpha": self.alpha, "kappa": self.alpha,
                **{name: float64(x) for name, x in self.numbers.items()}}

    def evidence(self, alpha: float) -> Array:
        """The z that lies λ/α off the mean of tilt(λ), less μ: by Theorem 1 λ is then the multiplier of the residual."""
        scores = self["T"] @ self["lam"] + np.log(self["u"])
        weights = np.exp(scores - scores.max())
        return self["lam"] / alpha + weights / weights.sum() @ self["T"] - self["u"] @ self["T"]

    @property
    def rounding(self) -> float:
        """The error of the evaluated formula and of the evidence, relative to the plan."""
        scale = 1 + float(np.abs(self["T"]).max()) * float(np.abs(self["lam"]).sum()) * max(self.alpha, 1 / self.alpha)
        return tolerances.rounding("float64", self.n * self.d, scale**2)


@st.composite
def problems(draw: st.DrawFn, smallest: int = 2) -> Drawn:
    """Draw a small problem; d = 1, repeated templates and templates on a line included."""
    return Drawn(draw(st.integers(smallest, 4)), draw(st.integers(1, 3)), draw(st.sampled_from((1.0, 0.5, 2.0))),
                 draw(st.sampled_from(LAYOUTS)), draw(st.integers(0, 2**31)))


def reading(drawn: Drawn, solution: mem.Estimate | mem_variants.Constrained) -> Reading:
    """The plan of a certified solution; an uncertified one is an error, not a vote."""
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, solution.plan_error + drawn.rounding)


@confirms(PRIMAL, "deciphering.4", "inference.6", on=problems(1), count=16)
def objective_at_prior(drawn: Drawn) -> Reading:
    value = mem.certify(drawn["u"], drawn["T"], drawn["u"], drawn["z"], drawn.alpha).objective
    return Reading(drawn.point(), {"program": float64(value)}, drawn.rounding * (1 + float(drawn["z"] @ drawn["z"])))


@confirms(PRIMAL, "deciphering.s4.both-requirements", "inference.s5.both-requirements", on=problems(), count=16)
def closest(drawn: Drawn) -> Reading:
    """With all templates at the origin only the divergence is left of (4)."""
    return reading(drawn, mem.solve(np.zeros_like(drawn["T"]), drawn["u"], np.zeros(drawn.d), drawn.alpha))


@confirms(PRIMAL, "deciphering.s4.minimizer", "inference.s5.minimizer", on=problems(), count=16)
def minimizer(drawn: Drawn) -> Reading:
    return reading(drawn, mem.solve(drawn["T"], drawn["u"], drawn.evidence(drawn.alpha), drawn.alpha))


@confirms(PRIMAL, "deciphering.5", "inference.7", on=problems(), count=16)
def estimate(drawn: Drawn) -> Reading:
    solution = mem.solve(drawn["T"], drawn["u"], drawn.evidence(drawn.alpha), drawn.alpha)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    scale = 1 + float(np.abs(drawn["T"]).max())
    return Reading(drawn.point(), {"cvxpy": float64(solution.mean)}, solution.mean_error + drawn.rounding * scale)


@confirms(PRIMAL, "deciphering.s4.reliability", on=problems(), count=16)
def reliability(drawn: Drawn) -> Reading:
    step, values, error = float(drawn["sigma"]), {"alpha": drawn.alpha, "s": float(drawn["sigma"])}, drawn.rounding
    for number, alpha in (("₁", drawn.alpha), ("₂", drawn.alpha + step)):
        solution = mem.solve(drawn["T"], drawn["u"], drawn["z"], alpha)
        assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
        off = drawn["u"] @ drawn["T"] + drawn["z"] - solution.mean
        values |= {"r" + number: float(off @ off), "k" + number: max(0.0, solution.objective - alpha / 2 * float(off @ off))}
        error += (2 + alpha) * float(np.linalg.norm(off)) * solution.mean_error + solution.value_error
    return Reading(values, {"cvxpy": float64(values["r₁"])}, error * (1 + 8 / drawn.alpha))


# ── the constrained problem ─────────────────────────────────────────────────────────────────────────────────────────


def constrained(drawn: Drawn) -> Reading:
    """The plan nearest to u in the ball with the squared radius ‖λ‖²/κ²."""
    radius = float(drawn["lam"] @ drawn["lam"]) / drawn.alpha**2
    return reading(drawn, mem_variants.solve_constrained(drawn["T"], drawn["u"], drawn.evidence(drawn.alpha), radius))


def least_residual(drawn: Drawn) -> Reading:
    """For n = 1: the least ‖μ + z − h‖² that any p on the support of u has, certified from both sides."""
    found = mem_variants.solve_constrained(drawn["T"][:1], np.ones(1), drawn["z"], 1 / (2 * drawn.alpha))
    assert found.certified, f"the solver left a gap of {found.gap} with status {found.status}"
    low, high = found.distance
    point = drawn.point() | {"n": 1, "T": float64(drawn["T"][:1]), "u": float64([1.0]), "x": float64([1.0])}
    return Reading(point, {"cvxpy": float64(low**2)}, drawn.rounding + high**2 - low**2, "right")


confirms(PRIMAL, "deciphering.s4.mem", "inference.11", on=problems(), count=16, corrected=constrained)(least_residual)


def penalized(drawn: Drawn) -> Reading:
    """The minimizer of (4), held against u, which solves the constrained problem for this z."""
    z = drawn["z"] / max(1.0, np.sqrt(2 * drawn.alpha) * float(np.linalg.norm(drawn["z"])) * 1.01)
    nearest = mem_variants.solve_constrained(drawn["T"], drawn["u"], z, 1 / (2 * drawn.alpha))
    assert nearest.certified
    np.testing.assert_allclose(nearest.plan, drawn["u"], atol=nearest.plan_error + drawn.rounding)
    plain = reading(drawn, mem.solve(drawn["T"], drawn["u"], z, drawn.alpha))
    return Reading({**plain.point, "z": float64(z)}, plain.routes, plain.tolerance)


confirms(PRIMAL, "deciphering.s4.mem-minimizes", "inference.s5.mem-minimizes", on=problems(), count=16,
         corrected=constrained)(penalized)


# ── likelihood and posterior ────────────────────────────────────────────────────────────────────────────────────────


def likely(drawn: Drawn, divided: bool) -> Reading:
    """The minimizer of (30), or of (31), for the z that has λ as its multiplier with α = 1/(ησ²)."""
    sigma, eta = float(drawn["sigma"]), float(drawn["eta"])
    z = drawn.evidence(1 / (eta * sigma**2))
    return reading(drawn, mem_variants.solve_likelihood(drawn["T"], drawn["u"], z, sigma, eta, divided=divided))


@confirms(PRIMAL, "deciphering.sB.argmin", on=problems(), count=16)
def greatest_posterior(drawn: Drawn) -> Reading:
    return likely(drawn, divided=False)


def with_square(drawn: Drawn) -> Reading:
    return likely(drawn, divided=True)


def without_square(drawn: Drawn) -> Reading:
    sigma, eta = float(drawn["sigma"]), float(drawn["eta"])
    z = drawn.evidence(1 / (eta * sigma**2))
    return reading(drawn, mem_variants.solve_without_square(drawn["T"], drawn["u"], z, sigma, eta))


confirms(PRIMAL, "deciphering.sB.argmin-rearranged", on=problems(), count=16, corrected=with_square)(without_square)
