"""Votes on: Section 3: what a support within T excludes, and the limits of a preference blind to previous words."""

import torch
from torch.distributions import Categorical, kl_divergence

from evidence import Layer, Reading, Value, confirms
from evidence.deciphering.problem import more, shares
from evidence.instances.mem import MemProblem, mem_problems


def padded(weights: torch.Tensor, others: int) -> torch.Tensor:
    """Weights of the templates, and none for the other words."""
    return torch.cat((weights, torch.zeros(others, dtype=torch.float64)))


@confirms(Layer.TORCH, "deciphering.s3.strong-constraint", on=mem_problems(smallest_n=2))
def information(problem: MemProblem) -> Reading:
    """At uniform weights too, for one seed in three."""
    others = 1 + problem.seed % 7
    weights = shares(more(problem, r=(problem.n,))["r"] * (problem.seed % 3))
    everything = torch.full((problem.n + others,), 1 / (problem.n + others), dtype=torch.float64)
    divergence = kl_divergence(Categorical(padded(weights, others)), Categorical(everything))
    return Reading({"m": problem.n, "o": others, "r": weights}, {"torch": divergence}, problem.tolerance(weights.log()))


@confirms(Layer.TORCH, "deciphering.s3.words-so-far", on=mem_problems(smallest_n=2))
def errors(problem: MemProblem) -> Reading:
    """Of the weights half-way too, for one seed in three."""
    free = more(problem, p=(problem.n,), q=(problem.n,), u=(problem.n,))
    p, q, u = (shares(2 * free[name]) for name in ("p", "q", "u"))
    u = u if problem.seed % 3 else (p + q) / 2
    total = torch.dist(u, p) ** 2 + torch.dist(u, q) ** 2
    return Reading({"n": problem.n, "p": p, "q": q, "u": u}, {"torch": total}, problem.tolerance())


def divergence(problem: MemProblem) -> Reading:
    """Of an estimate with one word outside T; nothing outside, for one seed in three."""
    truth, within, outside, total = spilling(problem)
    value = kl_divergence(Categorical(padded(truth, 1)), Categorical(total))
    point: dict[str, Value] = {"m": problem.n, "r": truth, "s": within, "t": outside}
    return Reading(point, {"torch": value}, problem.tolerance(truth.log(), within.log()))


def spilling(problem: MemProblem) -> tuple[torch.Tensor, torch.Tensor, float, torch.Tensor]:
    """True weights on T, an estimate's shares within T, the odds of its one word outside, and all of its weights."""
    free = more(problem, r=(problem.n,), s=(problem.n,), t=(1,))
    truth, within = shares(2 * free["r"]), shares(2 * free["s"])
    outside = float(free["t"].abs()) * (problem.seed % 3)
    return truth, within, outside, torch.cat((within, torch.tensor([outside], dtype=torch.float64))) / (1 + outside)


@confirms(Layer.TORCH, "deciphering.s3.within-support", on=mem_problems(smallest_n=2), corrected=divergence)
def distance(problem: MemProblem) -> Reading:
    """Of the estimate's mean from the truth's, on a line, squared."""
    truth, within, outside, total = spilling(problem)
    position = more(problem, x=(problem.n + 1,))["x"]
    squared = (total @ position - truth @ position[:-1]) ** 2
    point: dict[str, Value] = {"m": problem.n, "r": truth, "s": within, "t": outside, "x": position[:-1], "w": position[-1]}
    return Reading(point, {"torch": squared}, problem.tolerance())
