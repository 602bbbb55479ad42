"""What attention layers solve, through the conic solver, which knows no closed form."""

from __future__ import annotations

import numpy as np

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import mem, one_sided
from tests.layers import Reading, confirms, float64
from tests.properties.mem_problems import MemProblem, mem_problems

PRIMAL = Layer.PRIMAL
COUNT = 12
GENERIC = {"layouts": ("generic",), "priors": ("generic",), "evidence": ("generic",)}
SOLVER = ("deciphering.s7.solves-the-problem", "inference.s7.solves-the-problem")


def linearized(problem: MemProblem) -> Reading:
    """min −α⟨z, Σ p_i t_i⟩ + KL(p ‖ u): expected scores α⟨t_i, z⟩ + log u_i and entropy."""
    templates, prior, evidence = (problem.drawn[name].numpy() for name in ("T", "u", "z"))
    scores = problem.alpha * templates @ evidence + np.log(prior)
    solution = one_sided.solve(scores, 1.0)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    allowed = tolerances.plan_from_gap(solution.gap, 1.0) + problem.tolerance(float64(scores))
    return Reading(problem.point(), {"cvxpy": float64(solution.plan)}, allowed)


Drawn = dict[str, np.ndarray]


def drawn(problem: MemProblem) -> Drawn:
    """Templates, prior and λ by their printed names."""
    return {name: problem.drawn[name].numpy().copy() for name in ("T", "u", "lam")}


def solved(at: Drawn, alpha: float) -> tuple[mem.Estimate, np.ndarray, float]:
    """The solution for the evidence that makes λ optimal, that evidence, and how far it may be from it.

    The weights that λ stands for are those of the solver for the scores ⟨t_i, λ⟩ + log u_i; an error e of theirs in the ℓ1
    norm moves the evidence by e max ‖t_i‖.  λ* = α(μ + z − ĥ) moves by at most α times as much, ĥ by as much.
    """
    weights = one_sided.solve(at["T"] @ at["lam"] + np.log(at["u"]), 1.0)
    evidence = at["lam"] / alpha + weights.plan @ at["T"] - at["u"] @ at["T"]
    estimate = mem.solve(at["T"], at["u"], evidence, alpha)
    assert weights.certified, f"the solver left a gap of {weights.gap} with status {weights.status}"
    assert estimate.certified, f"the solver left a gap of {estimate.gap} with status {estimate.status}"
    off = tolerances.plan_from_gap(weights.gap, 1.0) * float(np.linalg.norm(at["T"], axis=1).max())
    return estimate, evidence, off


def exact_mean(problem: MemProblem) -> Reading:
    """ĥ, the mean of the solver's plan; the derivation's left side is the layer's output."""
    estimate, _, off = solved(drawn(problem), problem.alpha)
    allowed = estimate.mean_error + off + problem.tolerance()
    return Reading(problem.point(), {"cvxpy": float64(estimate.mean)}, allowed, "right")


confirms(PRIMAL, *SOLVER, on=mem_problems(smallest_n=2), count=COUNT, corrected=linearized)(exact_mean)
confirms(PRIMAL, "deciphering.s1.solver", "inference.s1.solver", on=mem_problems(smallest_n=2), count=COUNT)(linearized)


@confirms(PRIMAL, "deciphering.s7.shared-support", on=mem_problems(), count=COUNT)
def support(problem: MemProblem) -> Reading:
    estimate, _, off = solved(drawn(problem), problem.alpha)
    reach = problem.alpha * float(problem.drawn["T"].norm(dim=1).max())      # of weights, per unit of evidence
    allowed = estimate.plan_error + reach * off + problem.tolerance()
    return Reading(problem.point(), {"cvxpy": float64(estimate.plan)}, allowed)


def deviation_at(problem: MemProblem, at: Drawn) -> Reading:
    """‖λ* − αz‖²/‖λ*‖² with λ* the solver's multiplier."""
    estimate, evidence, off = solved(at, problem.alpha)
    size = float(np.linalg.norm(estimate.multiplier))
    found = float(np.sum((estimate.multiplier - problem.alpha * evidence) ** 2)) / size**2
    moved = estimate.multiplier_error + 2 * problem.alpha * (off + problem.tolerance(float64(at["T"])))
    allowed = 4 * moved / size * (1 + found)                 # of a squared ratio: relative errors, doubled, of both parts
    point = problem.point() | {name: float64(x) for name, x in at.items()}
    return Reading(point, {"cvxpy": float64(found)}, allowed)


def deviation(problem: MemProblem) -> Reading:
    return deviation_at(problem, drawn(problem))


def mostly_orthogonal(problem: MemProblem) -> Reading:
    """Large templates on an axis, and a λ that is nearly orthogonal to it."""
    at = drawn(problem)
    at["T"][:, 0] *= 4
    at["T"][:, 1:], at["lam"][0], at["lam"][1:] = 0.0, 0.02, 10.0
    return deviation_at(problem, at)


confirms(PRIMAL, "deciphering.s8.as-a-result", on=mem_problems(smallest_n=2, **GENERIC), count=COUNT, corrected=deviation)(
    mostly_orthogonal)
