"""What attention layers solve, through the conic solver, which knows no closed form."""

import numpy as np

from evidence import Reading, float64
from evidence.instances.mem import MemProblem
from numerics import tolerances
from numerics.primal import mem, one_sided

SOLVER = ("deciphering.s7.solves-the-problem", "inference.s7.solves-the-problem")


def linearized(problem: MemProblem) -> Reading:
    """min −α⟨z, Σ p_i t_i⟩ + KL(p ‖ u): expected scores α⟨t_i, z⟩ + log u_i and entropy."""
    templates, prior, evidence = (problem.drawn[name].numpy() for name in ("T", "u", "z"))
    scores = problem.alpha * templates @ evidence + np.log(prior)
    solution = one_sided.solve(scores, 1.0)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    allowed = tolerances.plan_from_gap(solution.gap, 1.0) + problem.tolerance(float64(scores))
    return Reading(problem.point(), {"cvxpy": float64(solution.plan)}, allowed)


ConicLayer = dict[str, np.ndarray]


def drawn(problem: MemProblem) -> ConicLayer:
    """Templates, prior and λ by their printed names."""
    return {name: problem.drawn[name].numpy().copy() for name in ("T", "u", "lam")}


def solved(layer: ConicLayer, alpha: float) -> tuple[mem.Estimate, np.ndarray, float]:
    """The solution for the evidence that makes λ optimal, that evidence, and how far it may be from it.

    The weights that λ stands for are those of the solver for the scores ⟨t_i, λ⟩ + log u_i; an error e of theirs in the ℓ1
    norm moves the evidence by e max ‖t_i‖.  λ* = α(μ + z − ĥ) moves by at most α times as much, ĥ by as much.
    """
    weights = one_sided.solve(layer["T"] @ layer["lam"] + np.log(layer["u"]), 1.0)
    evidence = layer["lam"] / alpha + weights.plan @ layer["T"] - layer["u"] @ layer["T"]
    estimate = mem.solve(layer["T"], layer["u"], evidence, alpha)
    assert weights.certified, f"the solver left a gap of {weights.gap} with status {weights.status}"
    assert estimate.certified, f"the solver left a gap of {estimate.gap} with status {estimate.status}"
    error = tolerances.plan_from_gap(weights.gap, 1.0) * float(np.linalg.norm(layer["T"], axis=1).max())
    return estimate, evidence, error


def exact_mean(problem: MemProblem) -> Reading:
    """ĥ, the mean of the solver's plan; the derivation's left side is the layer's output."""
    estimate, _, error = solved(drawn(problem), problem.alpha)
    allowed = estimate.mean_error + error + problem.tolerance()
    return Reading(problem.point(), {"cvxpy": float64(estimate.mean)}, allowed, "right")
