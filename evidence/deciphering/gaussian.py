"""Section 5 of deciphering, and Section 3 of inference, in torch: the Gaussian example by quadrature and by autograd."""

from dataclasses import dataclass
from functools import cache, cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.distributions import Independent, Normal, kl_divergence

from evidence import Reading, Value
from evidence.deciphering.problem import line
from evidence.instances.derivatives import hessian, jacobian
from evidence.instances.placement import Placed
from numerics import tolerances

ALPHAS = (1.0, 0.25, 4.0)


@dataclass(frozen=True)
class GaussianProblem(Placed):
    """u = N(μ, I) on ℝ^d, an observation b and α; dual points λ and ν, points x and y, and a law q = N(h, spread² I).

    `near` makes q the minimizer itself, and ν the maximizer, up to a small move.
    """

    d: int
    alpha: float
    near: bool
    seed: int

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """The drawn values, on the CPU, by their printed names."""
        generator = torch.Generator().manual_seed(self.seed)
        names = ("mu", "b", "lam", "nu", "x", "y", "h")
        values = {name: torch.randn(self.d, generator=generator, dtype=torch.float64).clamp(-2, 2) for name in names}
        values["spread"] = torch.randn(1, generator=generator, dtype=torch.float64)[0].clamp(-1, 1).exp()
        if self.near:
            share = 2.0**-20
            values["h"] = (values["mu"] + self.alpha * values["b"]) / (1 + self.alpha) + share * values["h"]
            values["nu"] = self.alpha * (values["b"] - values["mu"]) / (1 + self.alpha) + share * values["nu"]
            values["spread"] = values["spread"] ** share
        return values

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

    def law(self, center: Tensor, spread: Tensor | float = 1.0) -> Independent[Normal]:
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
            slope = jacobian(self.dual_value, dual)
            curvature = hessian(self.dual_value, dual)
            dual = dual - torch.linalg.solve(curvature, slope)
        return dual

    def estimate(self, alpha: float) -> Tensor:
        """The mean of the minimizer, from the normal equations of α/2 ‖b − h‖² + ½ ‖h − μ‖²."""
        eye = torch.eye(self.d, dtype=torch.float64, device=self.device)
        center: Tensor = torch.linalg.solve((1 + alpha) * eye, self["mu"] + alpha * self["b"])
        return center


@cache
@st.composite
def gaussian_problems(draw: st.DrawFn) -> GaussianProblem:
    """Draw a problem; d = 1 included."""
    return GaussianProblem(
        draw(st.integers(1, 3)), draw(st.sampled_from(ALPHAS)), draw(st.booleans()), draw(st.integers(0, 2**31))
    )
