"""Votes on: Section 5: the optimization problem, and the perspectives from which it can be derived."""

import torch

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.appendix_b_perspectives import posterior
from evidence.deciphering.problem import more, restricted, shares
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@confirms(Layer.TORCH, "inference.fn3", on=mem_problems(smallest_n=2), corrected=posterior)
def appendices(problem: MemProblem) -> Reading:
    """How many of the parts after section 8 are appendices."""
    parts = ["References", "Checklist"]
    return Reading({}, {"headings": float64(len([part for part in parts if "Appendix" in part]))}, problem.tolerance())


TWO_POINTS = 2


def corner(problem: MemProblem) -> Reading:
    """KL(p ‖ u) at p = (1, 0), for a u on two points."""
    u = shares(more(problem, v=(TWO_POINTS,))["v"])
    p = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return Reading(
        {"v": u},
        {"closed_form": mem.primal_objective(p, torch.zeros(2, 1).double(), torch.zeros(1).double(), u)},
        problem.tolerance(u.log()),
    )


VOTES = [Sampled("inference.s5.kl-finite", Layer.TORCH, corner, on=mem_problems(smallest_n=2), corrected=restricted)]
