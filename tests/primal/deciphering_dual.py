"""Section 6 of deciphering and of inference through the conic solver: Theorem 1, and how its solutions behave for small α."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import mem
from tests.layers import Reading, confirms, float64
from tests.properties.mem_problems import MemProblem, mem_problems

PRIMAL = Layer.PRIMAL
Array = np.ndarray
COUNT = 12
HALVINGS = 4
PLACES = 300                                                 # of the law that is not steep; the rest has mean 9/PLACES²


def numbers(problem: MemProblem) -> dict[str, Array]:
    """Everything that is drawn, as NumPy arrays."""
    return {name: tensor.numpy() for name, tensor in problem.drawn.items()}


def evidence_for(problem: MemProblem) -> Array:
    """The z for which the drawn λ is α(μ + z − Σ p_i t_i) with p ∝ u exp⟨t_i, λ⟩."""
    x = numbers(problem)
    weights = x["u"] * np.exp(x["T"] @ x["lam"])
    return np.asarray(x["lam"] / problem.alpha + (weights / weights.sum() - x["u"]) @ x["T"])


def solved(problem: MemProblem, evidence: Array, alpha: float | None = None) -> mem.Estimate:
    """The certified optimum; an uncertified one is an error, not a vote."""
    x = numbers(problem)
    solution = mem.solve(x["T"], x["u"], evidence, problem.alpha if alpha is None else alpha)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def size(problem: MemProblem) -> float:
    """The largest squared length of a template, and 1."""
    return max(1.0, float((numbers(problem)["T"] ** 2).sum(-1).max()))


def reading(problem: MemProblem, value: Array | float, error: float, *magnitudes: float) -> Reading:
    """What the solver found, with its certified error and the rounding of the formula."""
    return Reading(problem.point(), {"cvxpy": float64(value)}, error + problem.tolerance(size(problem), *magnitudes))


# ── Theorem 1 ───────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(PRIMAL, "deciphering.9", "inference.12", on=mem_problems(), count=COUNT)
def least_value(problem: MemProblem) -> Reading:
    z = evidence_for(problem)
    solution = solved(problem, z)
    return reading(problem, solution.objective, solution.value_error, float(z @ z))


def minimizer(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, solution.plan, solution.plan_error)


@confirms(PRIMAL, "deciphering.thm1", "deciphering.11", "inference.thm1", "inference.13", "inference.sC.proofs",
          on=mem_problems(), count=COUNT, corrected=minimizer)
def beaten(problem: MemProblem) -> Reading:
    """P((1 − ε)π + ε δ_K) − P(π), K = 3, for the law that is not steep, cut after some hundred places."""
    place, alpha, s = 3, 8.0, 1.0
    k = np.arange(1, PLACES + 1)
    pi = 18.0 / (k * (k + 1.0) * (k + 2) * (k + 3))
    pi /= pi.sum()
    prior = pi * np.exp(-k)
    prior /= prior.sum()
    share = s / (place - 1.5)
    rival = (1 - share) * pi + share * (k == place)
    aim = 1.5 + 1 / alpha + s
    values = [mem.certify(q, k[:, None], prior, [aim - prior @ k], alpha) for q in (rival, pi)]
    cut = 9 / PLACES**2 * (alpha * aim + 1) * 4              # the mean is off by that, and so is the divergence
    return Reading({"K": place, "alpha": alpha, "s": s}, {"program": float64(values[0].objective - values[1].objective)}, cut)


def estimate(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, solution.mean, solution.mean_error)


confirms(PRIMAL, "deciphering.12", "inference.14", on=mem_problems(), count=COUNT, corrected=estimate)(beaten)


@confirms(PRIMAL, "deciphering.s6.suboptimality", on=mem_problems(), count=COUNT)
def excess(problem: MemProblem) -> Reading:
    x, z = numbers(problem), evidence_for(problem)
    solution = solved(problem, z)
    rival = mem.certify(x["q"], x["T"], x["u"], z, problem.alpha).objective
    return reading(problem, rival - solution.objective, solution.value_error, rival, float(z @ z))


@confirms(PRIMAL, "deciphering.s6.maximizer", on=mem_problems(), count=COUNT)
def largest_dual_value(problem: MemProblem) -> Reading:
    z = numbers(problem)["z"]
    solution = solved(problem, z)
    found = reading(problem, solution.bound, solution.value_error, float(z @ z))
    return Reading({**found.point, "lam": float64(solution.multiplier)}, found.routes, found.tolerance, "right")


@confirms(PRIMAL, "deciphering.s6.small-dual", "inference.s6.small-dual", on=mem_problems(), count=COUNT)
def squared_evidence(problem: MemProblem) -> Reading:
    x = numbers(problem)
    solution = solved(problem, x["z"])
    residual = problem.prior.numpy() @ x["T"] + x["z"] - solution.mean
    value = problem.alpha**2 * float(x["z"] @ x["z"])
    off = 4 * problem.alpha * (1 + problem.alpha) * solution.mean_error * (size(problem) + float(np.abs(x["z"]).sum()))
    found = reading(problem, value, off, value)
    return Reading({**found.point, "lam": float64(problem.alpha * residual)}, found.routes, found.tolerance)


# ── (15)–(18): orders and constants ─────────────────────────────────────────────────────────────────────────────────


def extrapolated(problem: MemProblem, order: int, error: Callable[[float, mem.Estimate], tuple[Array, float]]) -> Reading:
    """The limit of error(α)/α^order over α, α/2, …, with the last difference and the solver's error as its tolerance."""
    z = numbers(problem)["z"]
    alphas = [2 * problem.small / 2**k for k in range(HALVINGS + 1)]
    found = [error(alpha, solved(problem, z, alpha)) for alpha in alphas]
    column = [value / alpha**order for alpha, (value, _) in zip(alphas, found, strict=True)]
    best = [column[0]]
    for degree in range(1, HALVINGS + 1):
        column = [y + (y - x) / (2**degree - 1) for x, y in pairwise(column)]
        best.append(column[0])
    last = float(np.abs(best[-1] - best[-2]).max())
    noise = sum(off / alpha**order for alpha, (_, off) in zip(alphas, found, strict=True))
    return reading(problem, best[-1], last + 4 * noise, size(problem) ** 2)


def maximizer(problem: MemProblem) -> Reading:
    solution = solved(problem, evidence_for(problem))
    return reading(problem, solution.multiplier, solution.multiplier_error)


def second_order(problem: MemProblem) -> Reading:
    z = numbers(problem)["z"]
    return extrapolated(problem, 2, lambda alpha, found: (found.multiplier - alpha * z, found.multiplier_error))


confirms(PRIMAL, "deciphering.16", "inference.18", on=mem_problems(), count=COUNT, corrected=second_order)(maximizer)


def moments(problem: MemProblem) -> tuple[Array, Array]:
    """μ and Σz, from the definitions."""
    x = numbers(problem)
    center = x["u"] @ x["T"]
    off = x["T"] - center
    return center, (x["u"] * (off @ x["z"])) @ off


@confirms(PRIMAL, "deciphering.s6.close-to-mean", on=mem_problems(), count=COUNT)
def first_of_estimate(problem: MemProblem) -> Reading:
    center, _ = moments(problem)
    return extrapolated(problem, 1, lambda alpha, found: (found.mean - center, found.mean_error))


def second_of_estimate(problem: MemProblem) -> Reading:
    center, along = moments(problem)
    return extrapolated(problem, 2, lambda alpha, found: (found.mean - center - alpha * along, found.mean_error))


confirms(PRIMAL, "deciphering.17", "deciphering.18", "inference.19", "inference.20", on=mem_problems(), count=8,
         corrected=second_of_estimate)(estimate)


@confirms(PRIMAL, "inference.cor1", on=mem_problems(), count=COUNT, corrected=second_of_estimate)
def estimate_with_root(problem: MemProblem) -> Reading:
    found = estimate(problem)
    return Reading({**found.point, "tau": problem.alpha**-2}, found.routes, found.tolerance)


# ── what does not change ────────────────────────────────────────────────────────────────────────────────────────────


def objective(problem: MemProblem, templates: Array, evidence: Array, alpha: float) -> Reading:
    """P(q) for changed templates, evidence and α."""
    x = numbers(problem)
    value = mem.certify(x["q"], templates, x["u"], evidence, alpha).objective
    error = tolerances.rounding("float64", problem.n * problem.d, alpha * float((templates**2).sum() + evidence @ evidence))
    return reading(problem, value, 4 * error, value)


@confirms(PRIMAL, "deciphering.s6.shift", on=mem_problems(), count=COUNT)
def moved(problem: MemProblem) -> Reading:
    x = numbers(problem)
    return objective(problem, x["T"] + x["c"], x["z"], problem.alpha)


@confirms(PRIMAL, "deciphering.s6.scale", on=mem_problems(), count=COUNT)
def scaled(problem: MemProblem) -> Reading:
    x = numbers(problem)
    return objective(problem, x["s"] * x["T"], x["s"] * x["z"], problem.alpha / float(x["s"]) ** 2)


@confirms(PRIMAL, "inference.s7.growing-templates", on=mem_problems(), count=COUNT)
def grown(problem: MemProblem) -> Reading:
    x = numbers(problem)
    return objective(problem, x["s"] * x["T"], x["z"], problem.alpha)
