"""Votes on: Section 3: templates, the preference distribution and the noisy evidence."""

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, Value, choose, confirms
from evidence.deciphering.problem import NOISES, line, mean_evidence, more, places, shares, sign_vectors
from evidence.instances.mem import MemProblem, mem_problems
from evidence.source import layers
from numerics import mem, tolerances


@confirms(Layer.TORCH, "deciphering.1", on=mem_problems())
def moved_templates(problem: MemProblem) -> Reading:
    extra = more(problem, p=(problem.n,), v=(problem.d,))
    p, v = shares(extra["p"]).to(problem.device), extra["v"].to(problem.device)
    center, _ = mem.moments(problem.templates + v, p)
    return Reading(problem.point() | {"p": p.cpu(), "v": v.cpu()}, {"moments": center}, problem.tolerance(problem.templates, v))


@confirms(Layer.TORCH, "deciphering.s3.convex-combination", on=mem_problems(smallest_n=2))
def in_every_half_space(problem: MemProblem) -> Reading:
    extra = more(problem, p=(problem.n,), v=(problem.d,))
    p, v = shares(extra["p"]), extra["v"]
    heights = problem.drawn["T"] @ v
    point = problem.point() | {"p": p, "v": v, "m": heights.max()}
    center, _ = mem.moments(problem.templates, p.to(problem.device))
    below = heights.max().to(problem.device) - center @ v.to(problem.device)
    return Reading(point, {"moments": below}, problem.tolerance(problem.templates.square(), v, heights) * problem.d)


def growing_mean(drawn: dict[str, float]) -> Reading:
    """∫ a p(a) da up to R = e^40 for p(a) = 1/a² on a ≥ 1, by the midpoint rule in log a."""
    step = 2.0**-6
    places = torch.exp(torch.arange(step / 2, 40, step, dtype=torch.float64))
    return Reading({"H": drawn["m"]}, {"quadrature": (places * places**-2 * places * step).sum()}, 1.0)


def gaussian_mean(drawn: dict[str, float]) -> Reading:
    points, weights = line()
    m = torch.tensor(drawn["m"], dtype=torch.float64)
    routes = {"quadrature": ((points + m) * weights).sum()}
    point: dict[str, Value] = {"m": m, "n": points.numel(), "w": weights / weights.sum(), "x": points}
    return Reading(point, routes, tolerances.rounding("float64", points.numel(), 1 + float(m.abs())))


MEANS = choose(m=st.floats(-3, 3).map(float))


@confirms(Layer.TORCH, "deciphering.s3.mean-shift", on=mem_problems())
def mean_shift(problem: MemProblem) -> Reading:
    extra = more(problem, p=(problem.n,), v=(problem.d,))
    p, v = shares(extra["p"]), extra["v"]
    shifted, _ = mem.moments(problem.templates, p.to(problem.device))
    center, _ = mem.moments(problem.templates, problem.prior)
    return Reading(problem.point() | {"p": p, "v": v}, {"moments": shifted - center}, problem.tolerance(problem.templates, v))


def enumerated(drawn: dict[str, float]) -> Tensor:
    """μ + z − h for z = h − μ + σg, with g any vector of signs: 2^d × d."""
    d, vectors = int(drawn["d"]), places(drawn)
    h, mu = vectors["h"], vectors["mu"]
    z = h - mu + drawn["sigma"] * sign_vectors(d)
    return mu + z - h


@confirms(Layer.TORCH, "deciphering.3", on=NOISES, count=20)
def noise_covariance(drawn: dict[str, float]) -> Reading:
    deviation = enumerated(drawn)
    routes = {"enumerated": deviation.T @ deviation / len(deviation)}
    return Reading({**drawn, **places(drawn)}, routes, tolerances.rounding("float64", len(deviation), 16))


@confirms(Layer.TORCH, "deciphering.s3.estimate-of-h", on=NOISES, count=20)
def noise_size(drawn: dict[str, float]) -> Reading:
    deviation = enumerated(drawn)
    tolerance = tolerances.rounding("float64", deviation.numel(), 64)
    return Reading(drawn, {"enumerated": deviation.square().sum(-1).mean()}, tolerance)


VOTES = [
    Sampled("deciphering.2", Layer.TORCH, growing_mean, on=MEANS, count=20, corrected=gaussian_mean),
    Sampled("deciphering.s3.shift-of-mu", Layer.TORCH, mean_evidence, on=NOISES, count=20, corrected=mean_evidence),
    Observed("deciphering.fn5", Layer.SOURCE, layers.lengths),
]
