"""Section 4 and Appendix B of deciphering, and Section 5 of inference, through the conic solver.

The programs are stated as they are printed and solved with a certified gap; the tilt of Theorem 1 is unknown to them."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, float64
from numerics import tolerances
from numerics.primal import mem as conic_mem
from numerics.primal import mem_variants
from numerics.primal.arguments import Array

LAYOUTS = ("generic", "duplicated", "collinear")


@dataclass(frozen=True)
class ConicProblem:
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
        return {
            "T": templates,
            "u": rng.dirichlet(np.full(self.n, 4.0)),
            "z": rng.normal(size=self.d),
            "lam": lam * max(1.0, 0.5 / float(np.linalg.norm(lam))),
            "sigma": sigma,
            "eta": eta,
        }

    def __getitem__(self, name: str) -> Array:
        return self.numbers[name]

    def point(self) -> dict[str, int | float | Tensor]:
        """Every variable by its printed name."""
        return {
            "n": self.n,
            "d": self.d,
            "alpha": self.alpha,
            "kappa": self.alpha,
            **{name: float64(x) for name, x in self.numbers.items()},
        }

    def evidence(self, alpha: float) -> Array:
        """The z that lies λ/α off the mean of tilt(λ), less μ: by Theorem 1 λ is then the multiplier of the residual."""
        scores = self["T"] @ self["lam"] + np.log(self["u"])
        weights = np.exp(scores - scores.max())
        moved: Array = self["lam"] / alpha + weights / weights.sum() @ self["T"] - self["u"] @ self["T"]
        return moved

    @property
    def rounding(self) -> float:
        """The error of the evaluated formula and of the evidence, relative to the plan."""
        scale = 1 + float(np.abs(self["T"]).max()) * float(np.abs(self["lam"]).sum()) * max(self.alpha, 1 / self.alpha)
        return tolerances.rounding("float64", self.n * self.d, scale**2)


@cache
@st.composite
def problems(draw: st.DrawFn, smallest: int = 2) -> ConicProblem:
    """Draw a small problem; d = 1, repeated templates and templates on a line included."""
    return ConicProblem(
        draw(st.integers(smallest, 4)),
        draw(st.integers(1, 3)),
        draw(st.sampled_from((1.0, 0.5, 2.0))),
        draw(st.sampled_from(LAYOUTS)),
        draw(st.integers(0, 2**31)),
    )


def reading(drawn: ConicProblem, solution: conic_mem.Estimate | mem_variants.Constrained) -> Reading:
    """The plan of a certified solution; an uncertified one is an error, not a vote."""
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, solution.plan_error + drawn.rounding)


def conic_objective_at_prior(drawn: ConicProblem) -> Reading:
    value = conic_mem.certify(drawn["u"], drawn["T"], drawn["u"], drawn["z"], drawn.alpha).objective
    return Reading(drawn.point(), {"program": float64(value)}, drawn.rounding * (1 + float(drawn["z"] @ drawn["z"])))


def closest(drawn: ConicProblem) -> Reading:
    """With all templates at the origin only the divergence is left of (4)."""
    return reading(drawn, conic_mem.solve(np.zeros_like(drawn["T"]), drawn["u"], np.zeros(drawn.d), drawn.alpha))


def conic_minimizer(drawn: ConicProblem) -> Reading:
    return reading(drawn, conic_mem.solve(drawn["T"], drawn["u"], drawn.evidence(drawn.alpha), drawn.alpha))


def conic_estimate(drawn: ConicProblem) -> Reading:
    solution = conic_mem.solve(drawn["T"], drawn["u"], drawn.evidence(drawn.alpha), drawn.alpha)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    scale = 1 + float(np.abs(drawn["T"]).max())
    return Reading(drawn.point(), {"cvxpy": float64(solution.mean)}, solution.mean_error + drawn.rounding * scale)


def constrained(drawn: ConicProblem) -> Reading:
    """The plan nearest to u in the ball with the squared radius ‖λ‖²/κ²."""
    radius = float(drawn["lam"] @ drawn["lam"]) / drawn.alpha**2
    return reading(drawn, mem_variants.solve_constrained(drawn["T"], drawn["u"], drawn.evidence(drawn.alpha), radius))


def least_residual(drawn: ConicProblem) -> Reading:
    """For n = 1: the least ‖μ + z − h‖² that any p on the support of u has, certified from both sides."""
    solution = mem_variants.solve_constrained(drawn["T"][:1], np.ones(1), drawn["z"], 1 / (2 * drawn.alpha))
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    low, high = solution.distance
    point = drawn.point() | {"n": 1, "T": float64(drawn["T"][:1]), "u": float64([1.0]), "x": float64([1.0])}
    return Reading(point, {"cvxpy": float64(low**2)}, drawn.rounding + high**2 - low**2, "right")


def penalized(drawn: ConicProblem) -> Reading:
    """The minimizer of (4), held against u, which solves the constrained problem for this z."""
    z = drawn["z"] / max(1.0, np.sqrt(2 * drawn.alpha) * float(np.linalg.norm(drawn["z"])) * 1.01)
    nearest = mem_variants.solve_constrained(drawn["T"], drawn["u"], z, 1 / (2 * drawn.alpha))
    assert nearest.certified
    np.testing.assert_allclose(nearest.plan, drawn["u"], atol=nearest.plan_error + drawn.rounding)
    plain = reading(drawn, conic_mem.solve(drawn["T"], drawn["u"], z, drawn.alpha))
    return Reading({**plain.point, "z": float64(z)}, plain.routes, plain.tolerance)
