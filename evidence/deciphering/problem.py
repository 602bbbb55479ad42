"""Sections 3 and 4 of deciphering, and their like in inference, in torch: the setup and the problem (4)."""

from itertools import product

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, choose
from evidence.instances.derivatives import gradient
from evidence.instances.mem import MemProblem
from numerics import mem, tolerances

NEARLY_ZERO = 1e-12


def more(problem: MemProblem, **shapes: tuple[int, ...]) -> dict[str, Tensor]:
    """Further tensors of ordinary magnitude, by name."""
    generator = torch.Generator().manual_seed(problem.seed + 1)
    return {name: torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2) for name, shape in shapes.items()}


def shares(free: Tensor) -> Tensor:
    """A point of the open simplex."""
    return torch.softmax(free, -1)


def line() -> tuple[Tensor, Tensor]:
    """Points of a line and their weights: the trapezoidal rule, which is exact to rounding for Gaussian integrands.

    With a step h the rule's error is of order exp(−2π²/h²) and the tails beyond 16 deviations are below exp(−128).
    """
    step = 2.0**-3
    points = torch.arange(-16, 16 + step, step, dtype=torch.float64)
    return points, torch.exp(-points.square() / 2) * step / (2 * torch.pi) ** 0.5


def sign_vectors(d: int) -> Tensor:
    """All vectors of ±1: a law with independent entries of mean 0 and variance 1, enumerated exactly."""
    return torch.tensor(list(product((-1.0, 1.0), repeat=d)), dtype=torch.float64)


NOISES = choose(d=st.integers(1, 4), sigma=st.sampled_from((0.5, 2.0, 3.0)))


def places(drawn: dict[str, float]) -> dict[str, Tensor]:
    """h, μ, another vector v and an origin s."""
    ends = {"h": (-1, 2), "mu": (3, 1), "v": (2, -1), "s": (1, 0)}
    return {name: torch.linspace(*pair, int(drawn["d"]), dtype=torch.float64) for name, pair in ends.items()}


def mean_evidence(drawn: dict[str, float]) -> Reading:
    d, vectors = int(drawn["d"]), places(drawn)
    z = vectors["h"] - vectors["mu"] + drawn["sigma"] * sign_vectors(d)
    return Reading({"d": d, **vectors}, {"enumerated": z.mean(0)}, tolerances.rounding("float64", len(z), 16))


def objective_at_prior(problem: MemProblem) -> Reading:
    value = mem.primal_objective(problem.prior, problem.templates, problem.evidence, problem.prior, problem.alpha)
    return Reading(problem.point(), {"closed_form": value}, problem.tolerance(problem.evidence.square().sum() * problem.alpha))


def information(p: Tensor, u: Tensor) -> Tensor:
    """KL(p ‖ u) by torch."""
    return torch.distributions.kl_divergence(torch.distributions.Categorical(p), torch.distributions.Categorical(u))


def divergence(problem: MemProblem) -> Reading:
    routes = {
        "torch": information(problem["q"], problem.prior),
        "closed_form": mem.primal_objective(
            problem["q"], torch.zeros_like(problem.templates), torch.zeros_like(problem.evidence), problem.prior
        ),
    }
    return Reading(problem.point(), routes, problem.tolerance(problem.prior.log()))


def restricted(problem: MemProblem) -> Reading:
    """Σ x²/w − 1 for a positive x with one entry almost 0, or for an x proportional to w, whose mass need not be 1."""
    q, w = problem.drawn["q"], problem.drawn["u"]  # q has a zero
    x = q.clamp(min=NEARLY_ZERO) if problem.seed % 3 else w
    x, w = x / x.sum(), w * (1.0, 2.0)[problem.seed % 2]
    routes = {"direct": (x.square() / w).sum() - 1}
    return Reading({"n": problem.n, "x": x, "w": w}, routes, problem.tolerance(x.square() / w, w.log(), x.log()))


def evidence_for(problem: MemProblem, alpha: float) -> Tensor:
    """The z for which the drawn λ maximizes the dual of (4)."""
    tilted = mem.tilt(problem.dual, problem.templates, problem.prior)
    center, _ = mem.moments(problem.templates, tilted)
    prior_center, _ = mem.moments(problem.templates, problem.prior)
    return problem.dual / alpha + center - prior_center


def solved(problem: MemProblem, alpha: float) -> mem.Solution:
    """The certified solution of (4) for that z."""
    solution = mem.solve(problem.templates, evidence_for(problem, alpha), problem.prior, alpha, tolerance=1e-10)
    assert bool(solution.converged)
    return solution


def minimizer(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.alpha)
    return Reading(problem.point(), {"Newton": solution.weights}, problem.tolerance() + float(solution.weights_error))


def estimate(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.alpha)
    slope = gradient(lambda dual: mem.log_partition(dual, problem.templates, problem.prior), problem.dual)
    return Reading(
        problem.point(),
        {"Newton": solution.mean, "autograd": slope},
        problem.tolerance(problem.templates) + float(solution.mean_error),
    )


def pairs_of_points(problem: MemProblem) -> Reading:
    extra = more(problem, b=(problem.d,), v=(problem.d,))
    s = problem.drawn["s"]
    two = torch.stack([extra["b"] + s * extra["v"], extra["b"] - s * extra["v"]])
    center, _ = mem.moments(two, torch.tensor([0.5, 0.5], dtype=torch.float64))
    return Reading(
        {"d": problem.d, "alpha": problem.alpha, "s": s, **extra},
        {"moments": (extra["b"] - center).square().sum()},
        problem.tolerance(two),
    )


def minimizer_of_penalized(problem: MemProblem) -> Reading:
    """The minimizer of (4), to be compared with u, where u satisfies the constraint and so solves that problem."""
    most = problem.evidence.square().sum() * 2 * problem.alpha
    z = problem.evidence / most.clamp(min=1).sqrt()
    solution = mem.solve(problem.templates, z, problem.prior, problem.alpha, tolerance=1e-10)
    return Reading(
        problem.point() | {"z": z.cpu()}, {"Newton": solution.weights}, problem.tolerance() + float(solution.weights_error)
    )
