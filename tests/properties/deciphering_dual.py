"""Section 6 of deciphering and of inference in torch: the dual, the recovered minimizer, certificates and invariances."""

from __future__ import annotations

import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import mem, tolerances
from tests.layers import Reading, confirms
from tests.properties.mem_problems import MemProblem, mem_problems

TORCH = Layer.TORCH
HEAVY_TERMS = 100_000                                        # of the law that is not steep; what is left out is below 9/N²


def evidence_for(problem: MemProblem) -> Tensor:
    """The z for which the drawn λ maximizes (9), by torch's own softmax: λ/α + Σ_i p_i t_i − μ."""
    weights = torch.softmax(problem.templates @ problem.dual + problem.prior.log(), -1)
    return problem.dual / problem.alpha + (weights - problem.prior) @ problem.templates


def solved(problem: MemProblem, evidence: Tensor) -> mem.Solution:
    """The certified solution; an uncertified one is an error, not a vote."""
    solution = mem.solve(problem.templates, evidence, problem.prior, problem.alpha, tolerance=1e-11)
    assert bool(solution.converged), f"λ* is known to {float(solution.error)} only"
    return solution


def reading(problem: MemProblem, *magnitudes: Tensor | float, error: Tensor | float = 0.0, **routes: Tensor) -> Reading:
    """Routes at a problem whose variables have their drawn values."""
    return Reading(problem.point(), routes, problem.tolerance(*magnitudes, *routes.values()) + float(error))


def spread(problem: MemProblem) -> float:
    """The largest length of a template, and 1."""
    return max(1.0, float(problem.drawn["T"].norm(dim=-1).max()))


def primal(problem: MemProblem, weights: Tensor, evidence: Tensor) -> Tensor:
    return mem.primal_objective(weights, problem.templates, evidence, problem.prior, problem.alpha)


# ── Theorem 1 ───────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.9", "inference.12", on=mem_problems())
def least_value(problem: MemProblem) -> Reading:
    z = evidence_for(problem)
    solution = solved(problem, z)
    target = problem.prior @ problem.templates + z
    return reading(problem, spread(problem) ** 2, target.square().sum(), error=solution.gap,
                   solver=primal(problem, solution.weights, z))


@confirms(TORCH, "deciphering.10", on=mem_problems())
def partition(problem: MemProblem) -> Reading:
    log_m = mem.log_partition(problem.dual, problem.templates, problem.prior)
    return reading(problem, closed_form=log_m.exp())


def minimizer(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, spread(problem) ** 2, error=solution.weights_error, solver=solution.weights)


@confirms(TORCH, "deciphering.thm1", "deciphering.11", "inference.thm1", "inference.13", "inference.sC.proofs",
          on=mem_problems(), corrected=minimizer)
def beaten(problem: MemProblem) -> Reading:
    """P((1 − ε)π + ε δ_K) − P(π) for the law that is not steep, summed term by term: π is the tilt of u at λ* = 1."""
    place, alpha, s = 3, 8.0, 1.0
    k = torch.arange(1, HEAVY_TERMS + 1, dtype=torch.float64, device=problem.device)
    pi = 18 / (k * (k + 1) * (k + 2) * (k + 3))
    prior = pi * torch.exp(-k)                                # log u_k = log π_k − k up to a constant, which cancels
    share = s / (place - 1.5)
    rival = (1 - share) * pi + share * (k == place)
    aim = 1.5 + 1 / alpha + s

    def objective(q: Tensor) -> Tensor:
        kl = q * (q.log() - pi.log() + k) + q * prior.sum().log()
        return alpha / 2 * (aim - (q * k).sum()) ** 2 + kl.sum()

    left_out = alpha * aim * 9 / HEAVY_TERMS**2 + 9 / HEAVY_TERMS**2
    off = tolerances.rounding("float64", HEAVY_TERMS, alpha * aim**2)
    return Reading({"K": place, "alpha": alpha, "s": s}, {"summed": objective(rival) - objective(pi)}, 2 * left_out + off)


def estimate(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    at = problem.dual.clone().requires_grad_()
    slope = torch.autograd.grad(mem.log_partition(at, problem.templates, problem.prior), at)[0]
    return reading(problem, spread(problem) ** 2, error=solution.mean_error, solver=solution.mean, autograd=slope)


confirms(TORCH, "deciphering.12", "inference.14", on=mem_problems(), corrected=estimate)(beaten)


# ── certificates ────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s6.maximizer", on=mem_problems())
def largest_dual_value(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.evidence)
    value = mem.dual_objective(solution.dual, problem.templates, problem.evidence, problem.prior, problem.alpha)
    point = problem.point() | {"lam": solution.dual.cpu()}
    return Reading(point, {"closed_form": value}, problem.tolerance(value, spread(problem) ** 2), "right")


@confirms(TORCH, "deciphering.s6.dual-distance", on=mem_problems())
def squared_gradient(problem: MemProblem) -> Reading:
    z, y = evidence_for(problem), problem["c"]
    slope = mem.dual_gradient(y, problem.templates, z, problem.prior, problem.alpha)
    value = problem.alpha**2 * slope.square().sum()
    return Reading(problem.point() | {"y": y.cpu()}, {"closed_form": value}, problem.tolerance(value, spread(problem) ** 2))


@confirms(TORCH, "deciphering.s6.suboptimality", on=mem_problems())
def excess(problem: MemProblem) -> Reading:
    z = evidence_for(problem)
    solution = solved(problem, z)
    values = [primal(problem, weights, z) for weights in (problem["q"], solution.weights)]
    return reading(problem, *values, spread(problem) ** 2, error=solution.gap, closed_form=values[0] - values[1])


@confirms(TORCH, "deciphering.s6.one-pass-gap", on=mem_problems())
def one_pass_gap(problem: MemProblem) -> Reading:
    at = problem.alpha * problem.evidence
    above = primal(problem, mem.tilt(at, problem.templates, problem.prior), problem.evidence)
    below = mem.dual_objective(at, problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, above, below, spread(problem) ** 2, closed_form=above - below)


@confirms(TORCH, "deciphering.s6.one-pass-bound", on=mem_problems())
def one_pass_bound(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.evidence)
    found = mem.certificate(problem.templates, problem.evidence, problem.prior, problem.alpha)
    shift = solution.mean - problem.prior @ problem.templates
    value = problem.alpha / 2 * found.shift.square()
    point = problem.point() | {"lam": solution.dual.cpu(), "g": shift.cpu()}
    off = float(solution.error) * (1 + problem.alpha) * spread(problem) ** 2
    return Reading(point, {"certificate": value}, problem.tolerance(value, spread(problem) ** 2) + off)


@confirms(TORCH, "deciphering.s6.exact", on=mem_problems())
def monotone(problem: MemProblem) -> Reading:
    y = problem["c"]
    ends = [mem.moments(problem.templates, mem.tilt(x, problem.templates, problem.prior))[0] for x in (problem.dual, y)]
    value = (problem.dual - y) @ (ends[0] - ends[1])
    return Reading(problem.point() | {"y": y.cpu()}, {"moments": value}, problem.tolerance(value, spread(problem) ** 2))


@confirms(TORCH, "deciphering.s6.small-dual", "inference.s6.small-dual", on=mem_problems())
def squared_evidence(problem: MemProblem) -> Reading:
    value = problem.alpha**2 * evidence_for(problem).square().sum()
    return reading(problem, spread(problem) ** 2, softmax=value)


@confirms(TORCH, "deciphering.s6.invertible", on=mem_problems())
def quadratic_form(problem: MemProblem) -> Reading:
    y = problem["c"]
    _, covariance = mem.moments(problem.templates, problem.prior)
    value = y @ (y + problem.alpha * covariance @ y)
    return Reading(problem.point() | {"y": y.cpu()}, {"moments": value}, problem.tolerance(value, spread(problem) ** 2))


# ── invariances ─────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s6.shift", on=mem_problems())
def moved(problem: MemProblem) -> Reading:
    value = mem.primal_objective(
        problem["q"], problem.templates + problem["c"], problem.evidence, problem.prior, problem.alpha)
    return reading(problem, spread(problem) ** 2, problem["c"], closed_form=value)


@confirms(TORCH, "deciphering.s6.scale", on=mem_problems())
def scaled(problem: MemProblem) -> Reading:
    s = problem["s"]
    value = mem.primal_objective(
        problem["q"], s * problem.templates, s * problem.evidence, problem.prior, problem.alpha / s**2)
    return reading(problem, spread(problem) ** 2, s**2, 1 / s**2, closed_form=value)


@confirms(TORCH, "inference.s7.growing-templates", on=mem_problems())
def grown(problem: MemProblem) -> Reading:
    s = problem["s"]
    value = mem.primal_objective(problem["q"], s * problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, (s * spread(problem)) ** 2, closed_form=value)


# ── limitations ─────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "inference.s7.finite-moments", on=mem_problems())
def even_moment(problem: MemProblem) -> Reading:
    r, x = 2, problem["c"]
    value = problem.prior @ (problem.templates @ x) ** (2 * r)
    point = problem.point() | {"x": x.cpu(), "r": r}
    return Reading(point, {"direct": value}, problem.tolerance(value, ((problem.templates @ x) ** 4).sum()), "right")


@confirms(TORCH, "inference.s7.normalized-templates", on=mem_problems())
def trace(problem: MemProblem) -> Reading:
    _, covariance = mem.moments(problem.templates, problem.prior)
    return Reading(problem.point(), {"moments": covariance.trace()}, problem.tolerance(spread(problem) ** 2), "right")
