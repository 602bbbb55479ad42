"""Votes on: Section 6, Theorem 1: the dual of (4), and how a maximizer of the dual gives the minimizer."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.conic_dual import conic_estimate, conic_evidence_for, conic_minimizer, conic_reading, conic_solved
from evidence.deciphering.dual import estimate, evidence_for, minimizer, primal, reading, solved, spread
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem, tolerances
from numerics.primal import mem as conic_mem

HEAVY_TERMS = 100_000  # of the law that is not steep; what is left out is below 9/N²


@confirms(Layer.TORCH, "deciphering.9", on=mem_problems())
def least_value(problem: MemProblem) -> Reading:
    z = evidence_for(problem)
    solution = solved(problem, z)
    target = problem.prior @ problem.templates + z
    return reading(
        problem, spread(problem) ** 2, target.square().sum(), error=solution.gap, solver=primal(problem, solution.weights, z)
    )


@confirms(Layer.TORCH, "deciphering.10", on=mem_problems())
def partition(problem: MemProblem) -> Reading:
    log_m = mem.log_partition(problem.dual, problem.templates, problem.prior)
    return reading(problem, closed_form=log_m.exp())


@confirms(Layer.TORCH, "deciphering.thm1", "deciphering.11", on=mem_problems(), corrected=minimizer)
def beaten(problem: MemProblem) -> Reading:
    """P((1 − ε)π + ε δ_K) − P(π) for the law that is not steep, summed term by term: π is the tilt of u at λ* = 1."""
    atom, alpha, s = 3, 8.0, 1.0
    k = torch.arange(1, HEAVY_TERMS + 1, dtype=torch.float64, device=problem.device)
    pi = 18 / (k * (k + 1) * (k + 2) * (k + 3))
    prior = pi * torch.exp(-k)  # log u_k = log π_k − k up to a constant, which cancels
    share = s / (atom - 1.5)
    rival = (1 - share) * pi + share * (k == atom)
    aim = 1.5 + 1 / alpha + s

    def objective(q: Tensor) -> Tensor:
        kl = q * (q.log() - pi.log() + k) + q * prior.sum().log()
        return alpha / 2 * (aim - (q * k).sum()) ** 2 + kl.sum()

    left_out = alpha * aim * 9 / HEAVY_TERMS**2 + 9 / HEAVY_TERMS**2
    error = tolerances.rounding("float64", HEAVY_TERMS, alpha * aim**2)
    return Reading({"K": atom, "alpha": alpha, "s": s}, {"summed": objective(rival) - objective(pi)}, 2 * left_out + error)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


PLACES = 300  # of the law that is not steep; the rest has mean 9/PLACES²


@confirms(Layer.PRIMAL, "deciphering.9", on=mem_problems(), count=12)
def conic_least_value(problem: MemProblem) -> Reading:
    z = conic_evidence_for(problem)
    solution = conic_solved(problem, z)
    return conic_reading(problem, solution.objective, solution.value_error, float(z @ z))


@confirms(Layer.PRIMAL, "deciphering.thm1", "deciphering.11", on=mem_problems(), count=12, corrected=conic_minimizer)
def conic_beaten(problem: MemProblem) -> Reading:
    """P((1 − ε)π + ε δ_K) − P(π), K = 3, for the law that is not steep, cut after some hundred places."""
    atom, alpha, s = 3, 8.0, 1.0
    k = np.arange(1, PLACES + 1)
    pi = 18.0 / (k * (k + 1.0) * (k + 2) * (k + 3))
    pi /= pi.sum()
    prior = pi * np.exp(-k)
    prior /= prior.sum()
    share = s / (atom - 1.5)
    rival = (1 - share) * pi + share * (k == atom)
    aim = 1.5 + 1 / alpha + s
    values = [conic_mem.certify(q, k[:, None], prior, [aim - prior @ k], alpha) for q in (rival, pi)]
    cut = 9 / PLACES**2 * (alpha * aim + 1) * 4  # the mean is off by that, and so is the divergence
    return Reading({"K": atom, "alpha": alpha, "s": s}, {"program": float64(values[0].objective - values[1].objective)}, cut)


VOTES = [
    Sampled("deciphering.12", Layer.TORCH, beaten, on=mem_problems(), corrected=estimate),
    Sampled("deciphering.12", Layer.PRIMAL, conic_beaten, on=mem_problems(), count=12, corrected=conic_estimate),
]
