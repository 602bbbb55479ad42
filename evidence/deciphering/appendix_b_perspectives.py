"""Votes on: Appendix B: the problem as regularized maximum likelihood and as maximum a posteriori estimation."""

import math

import torch

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.deciphering.perspectives import Perspective, log_likelihood, product_of_values
from evidence.deciphering.problem import NOISES, information, more, shares
from evidence.deciphering.section3_setup import noise_covariance
from evidence.instances.derivatives import gradient, log_density
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem

OBSERVATIONS = 3


@confirms(Layer.TORCH, "deciphering.30", on=mem_problems(smallest_n=2))
def regularized_likelihood(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    return view.reading(torch=view.penalty(view["x"]) - view.of_weights(view["x"]))


@confirms(Layer.TORCH, "deciphering.31", on=mem_problems())
def divided_by_eta(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    at_zero = view.log_likelihood(torch.zeros_like(problem.evidence))
    return view.reading(torch=(view.penalty(view["x"]) - view.of_weights(view["x"]) + at_zero) / view.eta)


@confirms(Layer.TORCH, "deciphering.sB.alpha-likelihood", on=mem_problems())
def alpha_of_eta(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    alpha = 1 / (view.eta * view.sigma**2)
    closed = mem.primal_objective(view["x"], problem.templates, problem.evidence, problem.prior, alpha)
    at_zero = view.log_likelihood(torch.zeros_like(problem.evidence))
    likelihood = (at_zero - view.of_weights(view["x"])) / view.eta + information(view["x"], problem.prior)
    return view.reading(closed_form=closed, likelihood=likelihood)


def log_prior(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    return view.reading(torch=-view.penalty(view["p"]))


def mass_of_logits(problem: MemProblem) -> Reading:
    """∫ exp(−ηK(p_θ, u)) over the logits (θ, 0) with |θ| ≤ 10⁶, for two templates of equal preference, by the midpoint rule."""
    logits = torch.linspace(-1e6, 1e6, 20_001, dtype=torch.float64)
    laws = torch.distributions.Categorical(logits=torch.stack([logits, torch.zeros_like(logits)], -1))
    even = torch.distributions.Categorical(logits=torch.zeros(2, dtype=torch.float64))
    eta = Perspective(problem).eta
    density = torch.exp(-eta * torch.distributions.kl_divergence(laws, even))
    return Reading({"eta": eta, "κ": math.log(2), "C": 1.0}, {"midpoints": density.mean() * 2e6}, 1.0)


@confirms(Layer.TORCH, "deciphering.sB.decay", on=mem_problems(smallest_n=2))
def decay(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    apart = information(view["x"], problem.prior) - information(problem.prior, problem.prior)
    return view.reading(autograd=gradient(lambda eta: -eta * apart, float64(view.eta).to(problem.device)))


@confirms(Layer.TORCH, "deciphering.33", on=mem_problems())
def observation(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    around = torch.distributions.Normal(view["h"], torch.full_like(view["h"], view.sigma))
    return view.reading(torch=(log_density(around, view["b"]) - log_density(around, view["s"])).sum())


@confirms(Layer.TORCH, "deciphering.sB.bayes", on=mem_problems(smallest_n=2))
def bayes(problem: MemProblem) -> Reading:
    joint = shares(more(problem, J=(problem.n * OBSERVATIONS,))["J"]).view(problem.n, OBSERVATIONS)
    parameter = torch.distributions.Categorical(joint.sum(-1))
    observation = torch.distributions.Categorical(joint)  # given each parameter
    seen = torch.arange(OBSERVATIONS)[:, None]
    posterior = torch.softmax(parameter.logits + log_density(observation, seen), -1)
    ratios = posterior[:, :, None] / posterior[:, None, :]  # [l, i, j]
    point: dict[str, Value] = {"n": problem.n, "N": OBSERVATIONS, "J": joint}
    return Reading(point, {"softmax": ratios.permute(1, 2, 0)}, problem.tolerance(ratios))


@confirms(Layer.TORCH, "deciphering.sB.posterior", "deciphering.sB.map", on=mem_problems(smallest_n=2))
def posterior(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    values = [view.of_weights(view[name]) - view.penalty(view[name]) for name in ("x", "p")]
    return view.reading(torch=values[0] - values[1])


VOTES = [
    Sampled("deciphering.sB.log-likelihood", Layer.TORCH, product_of_values, on=mem_problems(), corrected=log_likelihood),
    Sampled("deciphering.32", Layer.TORCH, mass_of_logits, on=mem_problems(), corrected=log_prior),
    Sampled("deciphering.sB.gaussian-difference", Layer.TORCH, noise_covariance, on=NOISES, count=20),
]
