"""Appendix B of deciphering, and Section 5 of inference, in torch: likelihoods, priors and posteriors."""

import torch
from torch import Tensor

from evidence import Reading
from evidence.deciphering.problem import information, more, shares
from evidence.instances.derivatives import log_density
from evidence.instances.mem import MemProblem
from numerics import mem


class Perspective:
    """A problem with σ, η, two members p and x of the family, observations b and s around h, and residuals r."""

    def __init__(self, problem: MemProblem) -> None:
        n, d = problem.n, problem.d
        extra = more(problem, p=(n,), x=(n,), b=(d,), h=(d,), r=(d,), s=(d,), scale=(2,))
        self.sigma, self.eta = (float(x) for x in extra.pop("scale").mul(0.5).exp())
        extra |= {name: shares(extra[name]) for name in ("p", "x")}
        self.problem, self.extra = problem, extra

    def __getitem__(self, name: str) -> Tensor:
        return self.extra[name].to(self.problem.device)

    @property
    def noise(self) -> torch.distributions.Normal:
        """N(0, σ²) for one coordinate."""
        zero = torch.zeros((), dtype=torch.float64, device=self.problem.device)
        return torch.distributions.Normal(zero, zero + self.sigma)

    def log_likelihood(self, deviation: Tensor) -> Tensor:
        """The logarithm of the density of the noise."""
        return log_density(self.noise, deviation).sum()

    def of_weights(self, p: Tensor) -> Tensor:
        """The log likelihood of μ + z for the mean of p."""
        center, _ = mem.moments(self.problem.templates, p)
        return self.log_likelihood(self.problem.target - center)

    def penalty(self, p: Tensor) -> Tensor:
        """η KL(p ‖ u)."""
        return self.eta * information(p, self.problem.prior)

    def reading(self, **routes: Tensor) -> Reading:
        """Routes with the tolerance for the magnitudes that enter."""
        point = self.problem.point() | self.extra | {"sigma": self.sigma, "eta": self.eta}
        sizes = [x.abs().max() for x in routes.values()]
        deviation = (self.problem.templates.abs().max() + self.problem.target.abs().max() + 4).square() * self.problem.d
        scale = max(1.0, 1 / self.sigma**2) * max(1.0, self.eta, 1 / self.eta)
        return Reading(point, routes, self.problem.tolerance(*sizes, deviation * scale, self.problem.prior.log() * scale))


def product_of_values(problem: MemProblem) -> Reading:
    """ℓ(r) times −‖s‖²/(2σ²): what proportionality would make symmetric."""
    view = Perspective(problem)
    return view.reading(torch=-view.log_likelihood(view["r"]) * view["s"].square().sum() / (2 * view.sigma**2))


def log_likelihood(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    return view.reading(torch=view.log_likelihood(view["r"]))


def nearer_and_farther(problem: MemProblem) -> Reading:
    """The minimizer of (4), and that of the problem with 2α, whose mean is nearer to μ + z."""
    view = Perspective(problem)
    own, other = (
        mem.solve(problem.templates, problem.evidence, problem.prior, alpha, tolerance=1e-10)
        for alpha in (problem.alpha, 2 * problem.alpha)
    )
    error = float(own.gap + other.gap) + float(own.weights_error + other.weights_error) * problem.tolerance(problem.prior.log())
    plain = view.reading(Newton=information(other.weights, problem.prior))
    return Reading({**plain.point, "p": own.weights, "x": other.weights}, plain.routes, plain.tolerance + error)
