"""Sections 3 and 4 of deciphering, and their like in inference, in torch: the setup and the problem (4)."""

from __future__ import annotations

from itertools import product

import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import mem, tolerances
from tests.layers import Reading, choose, confirms
from tests.properties.mem_problems import MemProblem, mem_problems

TORCH = Layer.TORCH
TWO_POINTS = 2
NEARLY_ZERO = 1e-12


def more(problem: MemProblem, **shapes: tuple[int, ...]) -> dict[str, Tensor]:
    """Further tensors of ordinary magnitude, by name."""
    generator = torch.Generator().manual_seed(problem.seed + 1)
    return {name: torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2)
            for name, shape in shapes.items()}


def shares(free: Tensor) -> Tensor:
    """A point of the open simplex."""
    return torch.softmax(free, -1)


# ── Section 3 ───────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.1", on=mem_problems())
def moved_templates(problem: MemProblem) -> Reading:
    extra = more(problem, p=(problem.n,), v=(problem.d,))
    p, v = shares(extra["p"]).to(problem.device), extra["v"].to(problem.device)
    center, _ = mem.moments(problem.templates + v, p)
    return Reading(problem.point() | {"p": p.cpu(), "v": v.cpu()}, {"moments": center},
                   problem.tolerance(problem.templates, v))


@confirms(TORCH, "deciphering.s3.convex-combination", on=mem_problems(smallest_n=2))
def in_every_half_space(problem: MemProblem) -> Reading:
    extra = more(problem, p=(problem.n,), v=(problem.d,))
    p, v = shares(extra["p"]), extra["v"]
    heights = problem.drawn["T"] @ v
    point = {"n": problem.n, "p": p, "m": heights.max(), "s": heights.max() - heights}
    center, _ = mem.moments(problem.templates, p.to(problem.device))
    return Reading(point, {"moments": center @ v.to(problem.device)}, problem.tolerance(problem.templates, v, heights),
                   "right")


def line() -> tuple[Tensor, Tensor]:
    """Points of a line and their weights: the trapezoidal rule, which is exact to rounding for Gaussian integrands.

    With a step h the rule's error is of order exp(−2π²/h²) and the tails beyond 16 deviations are below exp(−128).
    """
    step = 2.0**-3
    points = torch.arange(-16, 16 + step, step, dtype=torch.float64)
    return points, torch.exp(-points.square() / 2) * step / (2 * torch.pi) ** 0.5


@confirms(TORCH, "deciphering.2", "inference.4", on=choose(m=st.floats(-3, 3).map(float)), count=20)
def gaussian_mean(drawn: dict[str, float]) -> Reading:
    points, weights = line()
    m = torch.tensor(drawn["m"], dtype=torch.float64)
    routes = {"quadrature": ((points + m) * weights).sum()}
    point = {"m": m, "n": points.numel(), "w": weights / weights.sum(), "x": points}
    return Reading(point, routes, tolerances.rounding("float64", points.numel(), 1 + float(m.abs())))


@confirms(TORCH, "deciphering.s3.mean-shift", "inference.s4.mean-shift", on=mem_problems())
def mean_shift(problem: MemProblem) -> Reading:
    extra = more(problem, p=(problem.n,), v=(problem.d,))
    p, v = shares(extra["p"]), extra["v"]
    shifted, _ = mem.moments(problem.templates, p.to(problem.device))
    center, _ = mem.moments(problem.templates, problem.prior)
    return Reading(problem.point() | {"p": p, "v": v}, {"moments": shifted - center}, problem.tolerance(problem.templates, v))


def sign_vectors(d: int) -> Tensor:
    """All vectors of ±1: a law with independent entries of mean 0 and variance 1, enumerated exactly."""
    return torch.tensor(list(product((-1.0, 1.0), repeat=d)), dtype=torch.float64)


NOISES = choose(d=st.integers(1, 4), sigma=st.sampled_from((0.5, 2.0, 3.0)))


def places(drawn: dict[str, float]) -> dict[str, Tensor]:
    """h, μ, another vector v and an origin s."""
    ends = {"h": (-1, 2), "mu": (3, 1), "v": (2, -1), "s": (1, 0)}
    return {name: torch.linspace(*pair, int(drawn["d"]), dtype=torch.float64) for name, pair in ends.items()}


def enumerated(drawn: dict[str, float]) -> Tensor:
    """μ + z − h for z = h − μ + σg, with g any vector of signs: 2^d × d."""
    d, at = int(drawn["d"]), places(drawn)
    h, mu = at["h"], at["mu"]
    z = h - mu + drawn["sigma"] * sign_vectors(d)
    return mu + z - h


@confirms(TORCH, "deciphering.3", "deciphering.sB.gaussian-difference", "inference.5", "inference.s5.gaussian-difference",
          on=NOISES, count=20)
def noise_covariance(drawn: dict[str, float]) -> Reading:
    off = enumerated(drawn)
    routes = {"enumerated": off.T @ off / len(off)}
    return Reading({**drawn, **places(drawn)}, routes, tolerances.rounding("float64", len(off), 16))


def mean_evidence(drawn: dict[str, float]) -> Reading:
    d, at = int(drawn["d"]), places(drawn)
    z = at["h"] - at["mu"] + drawn["sigma"] * sign_vectors(d)
    return Reading({"d": d, **at}, {"enumerated": z.mean(0)}, tolerances.rounding("float64", len(z), 16))


confirms(TORCH, "deciphering.s3.shift-of-mu", "inference.s4.shift-of-mu", on=NOISES, count=20, corrected=mean_evidence)(
    mean_evidence)


@confirms(TORCH, "deciphering.s3.estimate-of-h", "inference.s4.estimate-of-h", on=NOISES, count=20)
def noise_size(drawn: dict[str, float]) -> Reading:
    off = enumerated(drawn)
    return Reading(drawn, {"enumerated": off.square().sum(-1).mean()}, tolerances.rounding("float64", off.numel(), 64))


# ── Section 4: the problem ──────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.4", "inference.6", on=mem_problems())
def objective_at_prior(problem: MemProblem) -> Reading:
    value = mem.primal_objective(problem.prior, problem.templates, problem.evidence, problem.prior, problem.alpha)
    return Reading(problem.point(), {"closed_form": value}, problem.tolerance(problem.evidence.square().sum() * problem.alpha))


def information(p: Tensor, u: Tensor) -> Tensor:
    """KL(p ‖ u) by torch."""
    return torch.distributions.kl_divergence(torch.distributions.Categorical(p), torch.distributions.Categorical(u))


@confirms(TORCH, "inference.s5.kl", "inference.s3.kl", on=mem_problems(smallest_n=2))
def divergence(problem: MemProblem) -> Reading:
    routes = {"torch": information(problem["q"], problem.prior),
              "closed_form": mem.primal_objective(problem["q"], torch.zeros_like(problem.templates),
                                                  torch.zeros_like(problem.evidence), problem.prior)}
    return Reading(problem.point(), routes, problem.tolerance(problem.prior.log()))


def printed_divergence(problem: MemProblem) -> Reading:
    """The same at a positive q, where what is printed is finite."""
    q = (problem.drawn["q"] + problem.prior.cpu()) / 2
    return Reading(problem.point() | {"q": q}, {"torch": information(q.to(problem.device), problem.prior)},
                   problem.tolerance(problem.prior.log()))


confirms(TORCH, "deciphering.s4.kl", on=mem_problems(smallest_n=2), corrected=divergence)(printed_divergence)


def restricted(problem: MemProblem) -> Reading:
    """Σ x²/w − 1 for a positive x of which one entry is almost 0, or for an x in proportion to w, whose mass need not be 1."""
    q, w = problem.drawn["q"], problem.drawn["u"]            # q has a zero
    x = q.clamp(min=NEARLY_ZERO) if problem.seed % 3 else w
    x, w = x / x.sum(), w * (1.0, 2.0)[problem.seed % 2]
    routes = {"direct": (x.square() / w).sum() - 1}
    return Reading({"n": problem.n, "x": x, "w": w}, routes, problem.tolerance(x.square() / w, w.log(), x.log()))


def corner(problem: MemProblem) -> Reading:
    """KL(p ‖ u) at p = (1, 0), for a u on two points."""
    u = shares(more(problem, v=(TWO_POINTS,))["v"])
    p = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return Reading({"v": u}, {"closed_form": mem.primal_objective(p, torch.zeros(2, 1).double(), torch.zeros(1).double(), u)},
                   problem.tolerance(u.log()))


confirms(TORCH, "deciphering.s4.kl-finite", on=mem_problems(smallest_n=2))(restricted)
confirms(TORCH, "inference.s5.kl-finite", on=mem_problems(smallest_n=2), corrected=restricted)(corner)


def evidence_for(problem: MemProblem, alpha: float) -> Tensor:
    """The z for which the drawn λ maximizes the dual of (4)."""
    tilted = mem.tilt(problem.dual, problem.templates, problem.prior)
    center, _ = mem.moments(problem.templates, tilted)
    prior_center, _ = mem.moments(problem.templates, problem.prior)
    return problem.dual / alpha + center - prior_center


def solved(problem: MemProblem, alpha: float) -> mem.Solution:
    """The certified solution of (4) for that z."""
    found = mem.solve(problem.templates, evidence_for(problem, alpha), problem.prior, alpha, tolerance=1e-10)
    assert bool(found.converged)
    return found


@confirms(TORCH, "deciphering.s4.minimizer", "inference.s5.minimizer", on=mem_problems(smallest_n=2))
def minimizer(problem: MemProblem) -> Reading:
    found = solved(problem, problem.alpha)
    return Reading(problem.point(), {"Newton": found.weights}, problem.tolerance() + float(found.weights_error))


@confirms(TORCH, "deciphering.5", "inference.7", on=mem_problems(smallest_n=2))
def estimate(problem: MemProblem) -> Reading:
    found = solved(problem, problem.alpha)
    dual = problem.dual.clone().requires_grad_()
    slope = torch.autograd.grad(mem.log_partition(dual, problem.templates, problem.prior), dual)[0]
    return Reading(problem.point(), {"Newton": found.mean, "autograd": slope},
                   problem.tolerance(problem.templates) + float(found.mean_error))


@confirms(TORCH, "deciphering.s4.reliability", on=mem_problems(smallest_n=2))
def reliability(problem: MemProblem) -> Reading:
    step = float(problem.drawn["s"])
    values: dict[str, Tensor | float] = {"alpha": problem.alpha, "s": step}
    error = 0.0
    for number, alpha in (("₁", problem.alpha), ("₂", problem.alpha + step)):
        found = mem.solve(problem.templates, problem.evidence, problem.prior, alpha, tolerance=1e-10)
        off = problem.target - found.mean
        values["r" + number] = off.square().sum().cpu()
        values["k" + number] = information(found.weights, problem.prior).clamp(min=0).cpu()   # 0 but for rounding
        error += 2 * float(found.mean_error * off.norm()) + float(found.gap)
    return Reading(values, {"Newton": values["r₁"]}, problem.tolerance(problem.target.square()) + error)


# ── Section 4: the constraint ───────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s4.infinitely-many", "inference.s5.infinitely-many", on=mem_problems())
def pairs_of_points(problem: MemProblem) -> Reading:
    extra = more(problem, b=(problem.d,), v=(problem.d,))
    s = problem.drawn["s"]
    two = torch.stack([extra["b"] + s * extra["v"], extra["b"] - s * extra["v"]])
    center, _ = mem.moments(two, torch.tensor([0.5, 0.5], dtype=torch.float64))
    return Reading({"d": problem.d, "alpha": problem.alpha, "s": s, **extra},
                   {"moments": (extra["b"] - center).square().sum()}, problem.tolerance(two))


def minimizer_of_penalized(problem: MemProblem) -> Reading:
    """The minimizer of (4), to be compared with u, where u satisfies the constraint and so solves that problem."""
    most = problem.evidence.square().sum() * 2 * problem.alpha
    z = problem.evidence / most.clamp(min=1).sqrt()
    found = mem.solve(problem.templates, z, problem.prior, problem.alpha, tolerance=1e-10)
    return Reading(problem.point() | {"z": z.cpu()}, {"Newton": found.weights},
                   problem.tolerance() + float(found.weights_error))


confirms(TORCH, "deciphering.s4.mem-minimizes", "inference.s5.mem-minimizes", on=mem_problems(smallest_n=2),
         corrected=minimizer)(minimizer_of_penalized)
