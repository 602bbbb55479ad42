"""Votes on: Section 2: claims about other papers."""

import torch

from evidence import Layer, Reading, confirms
from evidence.deciphering.problem import more, shares
from evidence.instances.mem import MemProblem, mem_problems


@confirms(Layer.TORCH, "inference.s2.not-identifiable", on=mem_problems())
def moved_weights(problem: MemProblem) -> Reading:
    """Two distributions on n + 1 templates, of which the last is a combination of the others."""
    free = more(problem, p=(problem.n,), g=(problem.n,), xy=(2,))
    p, g, (x, y) = shares(free["p"]), shares(free["g"]), free["xy"].exp().tolist()
    templates = torch.cat((problem.drawn["T"], g[None] @ problem.drawn["T"]))
    weights = torch.cat((p + y * g, torch.tensor([x], dtype=torch.float64)))
    point = problem.point() | {"p": p, "g": g, "x": x, "y": y}
    return Reading(point, {"output": weights / weights.sum() @ templates}, problem.tolerance(templates))
