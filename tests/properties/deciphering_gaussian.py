"""Section 5 of deciphering, and Section 3 of inference, in torch: the Gaussian example by quadrature and by autograd."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.distributions import Independent, Normal, kl_divergence

from derivations.claims import Layer
from numerics import mem, tolerances
from tests import fifty_digits
from tests.bridge import Value
from tests.layers import Reading, confirms
from tests.properties.deciphering_problem import line, more, shares
from tests.properties.mem_problems import MemProblem, mem_problems, rounded

TORCH = Layer.TORCH
ALPHAS = (1.0, 0.25, 4.0)


@dataclass(frozen=True)
class GaussianProblem:
    """u = N(μ, I) on ℝ^d, an observation b and α; dual points λ and ν, points x and y, and a law q = N(h, spread² I).

    `near` makes q the minimizer itself, and ν the maximizer, up to a small move.
    """

    d: int
    alpha: float
    near: bool
    seed: int
    device: str = "cpu"

    def to(self, device: str) -> GaussianProblem:
        """The same problem, computed on another device."""
        return GaussianProblem(self.d, self.alpha, self.near, self.seed, device)

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """What is drawn, on the CPU, by its printed name."""
        generator = torch.Generator().manual_seed(self.seed)
        names = ("mu", "b", "lam", "nu", "x", "y", "h")
        found = {name: torch.randn(self.d, generator=generator, dtype=torch.float64).clamp(-2, 2) for name in names}
        found["spread"] = torch.randn(1, generator=generator, dtype=torch.float64)[0].clamp(-1, 1).exp()
        if self.near:
            share = 2.0**-20
            found["h"] = (found["mu"] + self.alpha * found["b"]) / (1 + self.alpha) + share * found["h"]
            found["nu"] = self.alpha * (found["b"] - found["mu"]) / (1 + self.alpha) + share * found["nu"]
            found["spread"] = found["spread"] ** share
        return found

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name."""
        return {"d": self.d, "alpha": self.alpha, "K": self.excess.cpu(), **self.drawn}

    def reading(self, **routes: Tensor) -> Reading:
        """Routes with the tolerance for quadratic forms, and sums over the quadrature's points, of these magnitudes."""
        size = max(float(x.detach().abs().max()) for x in (*routes.values(), *self.drawn.values()))
        scale = (1 + size) ** 2 * max(self.alpha, 1 / self.alpha)
        return Reading(self.point(), routes, tolerances.rounding("float64", self.d * line()[0].numel(), scale))

    # ── u and its integrals ─────────────────────────────────────────────────────────────────────────────────────────

    def law(self, center: Tensor, spread: Tensor | float = 1.0) -> Independent:
        """N(center, spread² I)."""
        return Independent(Normal(center, torch.ones_like(center) * spread), 1)

    @property
    def excess(self) -> Tensor:
        """KL(q ‖ N(h, I))."""
        return kl_divergence(self.law(self["h"], self["spread"]), self.law(self["h"]))

    def integrals(self, dual: Tensor) -> tuple[Tensor, Tensor]:
        """∫ u e^⟨a, λ⟩, and the mean of the law of this density once normalized, by quadrature in each coordinate."""
        points, weights = (x.to(self.device) for x in line())
        a = self["mu"][:, None] + points
        tilted = weights * torch.exp(a * dual[:, None])
        return tilted.sum(-1).prod(), (a * tilted).sum(-1) / tilted.sum(-1)

    def dual_value(self, dual: Tensor) -> Tensor:
        """The objective of (8), with the integrated M."""
        return self["b"] @ dual - dual.square().sum() / (2 * self.alpha) - self.integrals(dual)[0].log()

    def maximizer(self) -> Tensor:
        """λ* by Newton's method on the integrated dual."""
        dual = torch.zeros_like(self["b"])
        for _ in range(3):
            slope = torch.autograd.functional.jacobian(self.dual_value, dual)
            curvature = torch.autograd.functional.hessian(self.dual_value, dual)
            dual = dual - torch.linalg.solve(curvature, slope)
        return dual

    def estimate(self, alpha: float) -> Tensor:
        """The mean of the minimizer, from the normal equations of α/2 ‖b − h‖² + ½ ‖h − μ‖²."""
        eye = torch.eye(self.d, dtype=torch.float64, device=self.device)
        return torch.linalg.solve((1 + alpha) * eye, self["mu"] + alpha * self["b"])


@st.composite
def gaussian_problems(draw: st.DrawFn) -> GaussianProblem:
    """Draw a problem; d = 1 included."""
    return GaussianProblem(draw(st.integers(1, 3)), draw(st.sampled_from(ALPHAS)), draw(st.booleans()),
                           draw(st.integers(0, 2**31)))


@confirms(TORCH, "deciphering.s5.closed-form", "inference.1", on=gaussian_problems())
def objective(problem: GaussianProblem) -> Reading:
    q = problem.law(problem["h"], problem["spread"])
    value = problem.alpha / 2 * (problem["b"] - q.mean).square().sum() + kl_divergence(q, problem.law(problem["mu"]))
    return problem.reading(torch=value)


@confirms(TORCH, "deciphering.7", "inference.2", on=gaussian_problems())
def minimizer_density(problem: GaussianProblem) -> Reading:
    return problem.reading(normal_equations=problem.law(problem.estimate(problem.alpha)).log_prob(problem["x"]))


@confirms(TORCH, "deciphering.8", "inference.3", on=gaussian_problems())
def greatest_dual_value(problem: GaussianProblem) -> Reading:
    return problem.reading(Newton=problem.dual_value(problem.maximizer()))


@confirms(TORCH, "deciphering.s5.mgf", "inference.s3.mgf", on=gaussian_problems())
def generating_function(problem: GaussianProblem) -> Reading:
    whole = problem.integrals(problem["lam"])[0]
    base = problem.reading(quadrature=whole)
    exponent = float(whole.log().abs()) + float(problem["mu"].abs() @ problem["lam"].abs())
    return Reading(base.point, base.routes, base.tolerance + tolerances.rounding("float64", problem.d, exponent * float(whole)))


@confirms(TORCH, "deciphering.s5.dual-point", "inference.s3.dual-point", on=gaussian_problems())
def dual_slope(problem: GaussianProblem) -> Reading:
    return problem.reading(autograd=torch.autograd.functional.jacobian(problem.dual_value, problem["lam"]))


@confirms(TORCH, "deciphering.s5.proportional", "inference.s3.proportional", on=gaussian_problems())
def density_ratio(problem: GaussianProblem) -> Reading:
    u, lam = problem.law(problem["mu"]), problem["lam"]
    return problem.reading(torch=u.log_prob(problem["x"]) - u.log_prob(problem["y"]) + lam @ (problem["x"] - problem["y"]))


@confirms(TORCH, "deciphering.s5.minimizer", "inference.s3.minimizer", on=gaussian_problems())
def tilted_density(problem: GaussianProblem) -> Reading:
    dual = problem.maximizer()
    log_density = problem.law(problem["mu"]).log_prob(problem["x"]) + dual @ problem["x"]
    return problem.reading(quadrature=log_density - problem.integrals(dual)[0].log())


@confirms(TORCH, "deciphering.s5.estimate", "inference.s3.estimate", on=gaussian_problems())
def tilted_mean(problem: GaussianProblem) -> Reading:
    return problem.reading(quadrature=problem.integrals(problem.maximizer())[1],
                           normal_equations=problem.estimate(problem.alpha))


@confirms(TORCH, "deciphering.s5.reliability", on=gaussian_problems())
def vanishing_reliability(problem: GaussianProblem) -> Reading:
    alpha = 2.0**-30                                         # ĥ − μ = α/(1+α) (b − μ), at most α‖b − μ‖ off the limit
    base = problem.reading(normal_equations=problem.estimate(alpha))
    off = alpha * float((problem["b"] - problem["mu"]).abs().max())
    return Reading(base.point, base.routes, base.tolerance + off)


# ── a discrete u ────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s5.convex", on=mem_problems(smallest_n=2))
def chord(problem: MemProblem) -> Reading:
    extra = more(problem, x=(problem.n,), y=(problem.n,), b=(problem.d,))
    points = {"x": shares(extra["x"]), "y": shares(extra["y"])}
    if problem.weighting == "generic":                       # close to each other, where the chord touches
        points["y"] = points["x"] + 2.0**-20 * (points["y"] - points["x"])
    t = float(problem.drawn["s"])
    z = extra["b"].to(problem.device) - problem.prior @ problem.templates
    ends = [mem.primal_objective(points[name].to(problem.device), problem.templates, z, problem.prior, problem.alpha)
            for name in ("x", "y")]
    value = t / (1 + t) * ends[0] + 1 / (1 + t) * ends[1]
    return Reading(problem.point() | points | {"b": extra["b"], "t": t}, {"closed_form": value},
                   problem.tolerance(problem.templates.square(), z.square(), problem.prior.log(), *ends))


LAYOUTS = ("generic", "duplicated", "collinear")


@confirms(TORCH, "deciphering.s5.general-setting", on=mem_problems(smallest_n=2, layouts=LAYOUTS), count=20)
def first_order(problem: MemProblem) -> Reading:
    def shift(alpha: object) -> list[object]:
        return [x - m for x, m in zip(problem.maximizer(alpha).estimate, problem.law.mean(), strict=True)]

    measured = fifty_digits.leading(shift, 1, problem.small)
    return Reading(problem.point(), {"50 digits": rounded(measured.values)}, problem.tolerance() + float(measured.error))
