"""Appendix B of deciphering, and Section 5 of inference, in torch: likelihoods, priors and posteriors."""

from __future__ import annotations

import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import mem
from tests.layers import Reading, confirms
from tests.properties.deciphering_problem import information, more, shares
from tests.properties.mem_problems import MemProblem, mem_problems

TORCH = Layer.TORCH
OBSERVATIONS = 3


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

    def log_likelihood(self, off: Tensor) -> Tensor:
        """The logarithm of the density of the noise."""
        return self.noise.log_prob(off).sum()

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
        off = (self.problem.templates.abs().max() + self.problem.target.abs().max() + 4).square() * self.problem.d
        scale = max(1.0, 1 / self.sigma**2) * max(1.0, self.eta, 1 / self.eta)
        return Reading(point, routes, self.problem.tolerance(*sizes, off * scale, self.problem.prior.log() * scale))


def product_of_values(problem: MemProblem) -> Reading:
    """ℓ(r) times −‖s‖²/(2σ²): what proportionality would make symmetric."""
    view = Perspective(problem)
    return view.reading(torch=-view.log_likelihood(view["r"]) * view["s"].square().sum() / (2 * view.sigma**2))


def log_likelihood(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    return view.reading(torch=view.log_likelihood(view["r"]))


confirms(TORCH, "deciphering.sB.log-likelihood", "inference.s5.log-likelihood", on=mem_problems(),
         corrected=log_likelihood)(product_of_values)


@confirms(TORCH, "deciphering.30", "inference.8", on=mem_problems(smallest_n=2))
def regularized_likelihood(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    return view.reading(torch=view.penalty(view["x"]) - view.of_weights(view["x"]))


@confirms(TORCH, "deciphering.31", "inference.9", on=mem_problems())
def divided_by_eta(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    at_zero = view.log_likelihood(torch.zeros_like(problem.evidence))
    return view.reading(torch=(view.penalty(view["x"]) - view.of_weights(view["x"]) + at_zero) / view.eta)


@confirms(TORCH, "deciphering.sB.alpha-likelihood", "deciphering.sB.alpha-map", "inference.s5.alpha-likelihood",
          on=mem_problems())
def alpha_of_eta(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    alpha = 1 / (view.eta * view.sigma**2)
    closed = mem.primal_objective(view["x"], problem.templates, problem.evidence, problem.prior, alpha)
    at_zero = view.log_likelihood(torch.zeros_like(problem.evidence))
    likelihood = (at_zero - view.of_weights(view["x"])) / view.eta + information(view["x"], problem.prior)
    return view.reading(closed_form=closed, likelihood=likelihood)


@confirms(TORCH, "deciphering.32", on=mem_problems())
def log_prior(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    return view.reading(torch=-view.penalty(view["p"]))


@confirms(TORCH, "deciphering.sB.decay", on=mem_problems(smallest_n=2))
def decay(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    eta = torch.tensor(view.eta, dtype=torch.float64, device=problem.device, requires_grad=True)
    ratio = -eta * (information(view["x"], problem.prior) - information(problem.prior, problem.prior))
    return view.reading(autograd=torch.autograd.grad(ratio, eta)[0])


@confirms(TORCH, "deciphering.33", on=mem_problems())
def observation(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    around = torch.distributions.Normal(view["h"], torch.full_like(view["h"], view.sigma))
    return view.reading(torch=(around.log_prob(view["b"]) - around.log_prob(view["s"])).sum())


@confirms(TORCH, "deciphering.sB.bayes", on=mem_problems(smallest_n=2))
def bayes(problem: MemProblem) -> Reading:
    joint = shares(more(problem, J=(problem.n * OBSERVATIONS,))["J"]).view(problem.n, OBSERVATIONS)
    parameter = torch.distributions.Categorical(joint.sum(-1))
    observation = torch.distributions.Categorical(joint)     # given each parameter
    seen = torch.arange(OBSERVATIONS)[:, None]
    posterior = torch.softmax(parameter.logits + observation.log_prob(seen), -1)
    ratios = posterior[:, :, None] / posterior[:, None, :]   # [l, i, j]
    point = {"n": problem.n, "N": OBSERVATIONS, "J": joint}
    return Reading(point, {"softmax": ratios.permute(1, 2, 0)}, problem.tolerance(ratios))


@confirms(TORCH, "deciphering.sB.posterior", "deciphering.sB.map", "inference.fn3", on=mem_problems(smallest_n=2))
def posterior(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    values = [view.of_weights(view[name]) - view.penalty(view[name]) for name in ("x", "p")]
    return view.reading(torch=values[0] - values[1])


@confirms(TORCH, "deciphering.s4.perspectives", "inference.s5.perspectives", "inference.s3.perspectives", on=mem_problems())
def lagrangian(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    center, _ = mem.moments(problem.templates, view["x"])
    excess = (problem.target - center).square().sum() - view.eta
    plain = view.reading(torch=information(view["x"], problem.prior) + problem.alpha / 2 * excess)
    return Reading({**plain.point, "rho": view.eta}, plain.routes, plain.tolerance)


def fitted(view: Perspective) -> mem.Solution:
    """The certified solution of (4) with α = 1/(ησ²), for the z that has the drawn λ as its multiplier."""
    problem, alpha = view.problem, 1 / (view.eta * view.sigma**2)
    tilted = mem.tilt(problem.dual, problem.templates, problem.prior)
    shift = mem.moments(problem.templates, tilted)[0] - mem.moments(problem.templates, problem.prior)[0]
    return mem.solve(problem.templates, problem.dual / alpha + shift, problem.prior, alpha, tolerance=1e-10)


@confirms(TORCH, "deciphering.sB.argmin", on=mem_problems(smallest_n=2))
def greatest_posterior(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    found = fitted(view)
    plain = view.reading(Newton=found.weights)
    return Reading(plain.point, plain.routes, plain.tolerance + float(found.weights_error))
