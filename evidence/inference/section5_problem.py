"""Votes on: Section 5: the optimization problem, and the perspectives from which it can be derived."""

from __future__ import annotations

import torch

from evidence import Layer, Reading, confirms, float64
from evidence.deciphering.appendix_b_perspectives import alpha_of_eta, divided_by_eta, posterior, regularized_likelihood
from evidence.deciphering.conic_problem import (
    closest,
    conic_estimate,
    conic_minimizer,
    conic_objective_at_prior,
    constrained,
    least_residual,
    penalized,
    problems,
)
from evidence.deciphering.perspectives import log_likelihood, nearer_and_farther, product_of_values
from evidence.deciphering.problem import (
    NOISES,
    divergence,
    estimate,
    minimizer,
    minimizer_of_penalized,
    more,
    objective_at_prior,
    pairs_of_points,
    restricted,
    shares,
)
from evidence.deciphering.section3_setup import noise_covariance
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem

confirms(Layer.TORCH, "inference.s5.log-likelihood", on=mem_problems(), corrected=log_likelihood)(product_of_values)


confirms(Layer.TORCH, "inference.8", on=mem_problems(smallest_n=2))(regularized_likelihood)


confirms(Layer.TORCH, "inference.9", on=mem_problems())(divided_by_eta)


confirms(Layer.TORCH, "inference.s5.alpha-likelihood", on=mem_problems())(alpha_of_eta)


@confirms(Layer.TORCH, "inference.fn3", on=mem_problems(smallest_n=2), corrected=posterior)
def appendices(problem: MemProblem) -> Reading:
    """How many of the parts after section 8 are appendices."""
    parts = ["References", "Checklist"]
    return Reading({}, {"headings": float64(len([part for part in parts if "Appendix" in part]))}, problem.tolerance())


confirms(Layer.TORCH, "inference.s5.perspectives", on=mem_problems())(nearer_and_farther)


TWO_POINTS = 2


confirms(Layer.TORCH, "inference.s5.gaussian-difference", on=NOISES, count=20)(noise_covariance)


confirms(Layer.TORCH, "inference.6", on=mem_problems())(objective_at_prior)


confirms(Layer.TORCH, "inference.s5.kl", on=mem_problems(smallest_n=2))(divergence)


def corner(problem: MemProblem) -> Reading:
    """KL(p ‖ u) at p = (1, 0), for a u on two points."""
    u = shares(more(problem, v=(TWO_POINTS,))["v"])
    p = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return Reading(
        {"v": u},
        {"closed_form": mem.primal_objective(p, torch.zeros(2, 1).double(), torch.zeros(1).double(), u)},
        problem.tolerance(u.log()),
    )


confirms(Layer.TORCH, "inference.s5.kl-finite", on=mem_problems(smallest_n=2), corrected=restricted)(corner)


confirms(Layer.TORCH, "inference.s5.minimizer", on=mem_problems(smallest_n=2))(minimizer)


confirms(Layer.TORCH, "inference.7", on=mem_problems(smallest_n=2))(estimate)


confirms(Layer.TORCH, "inference.s5.infinitely-many", on=mem_problems())(pairs_of_points)


confirms(Layer.TORCH, "inference.s5.mem-minimizes", on=mem_problems(smallest_n=2), corrected=minimizer)(minimizer_of_penalized)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "inference.6", on=problems(1), count=16)(conic_objective_at_prior)


confirms(Layer.PRIMAL, "inference.s5.both-requirements", on=problems(), count=16)(closest)


confirms(Layer.PRIMAL, "inference.s5.minimizer", on=problems(), count=16)(conic_minimizer)


confirms(Layer.PRIMAL, "inference.7", on=problems(), count=16)(conic_estimate)


confirms(Layer.PRIMAL, "inference.11", on=problems(), count=16, corrected=constrained)(least_residual)


confirms(Layer.PRIMAL, "inference.s5.mem-minimizes", on=problems(), count=16, corrected=constrained)(penalized)
