"""Votes on: Section 3: the three examples: vocabularies, captions and words in order."""

import torch

from evidence import Layer, Observed, Reading, Value, confirms
from evidence.deciphering.problem import more, shares
from evidence.instances.mem import MemProblem, mem_problems
from evidence.source import networks


def shares_of_places(problem: MemProblem, places: torch.Tensor) -> tuple[torch.Tensor, dict[str, Value]]:
    """The joint shares of places in the image and in the caption, divided by those of the caption, [i, k]."""
    words = shares(more(problem, w=(3,))["w"])
    joint = torch.outer(places, words)
    return joint / joint.sum(0), {"m": problem.n, "K": 3, "v": places, "w": words}


def even(problem: MemProblem) -> Reading:
    posterior, point = shares_of_places(problem, torch.full((problem.n,), 1 / problem.n, dtype=torch.float64))
    return Reading(point, {"first": posterior[0], "last": posterior[-1]}, problem.tolerance())


@confirms(Layer.TORCH, "deciphering.s3.caption-places", on=mem_problems(smallest_n=2), corrected=even)
def uneven(problem: MemProblem) -> Reading:
    posterior, point = shares_of_places(problem, shares(more(problem, v=(problem.n,))["v"]))
    return Reading(point, {"Bayes": posterior}, problem.tolerance())


VOTES = [
    Observed("deciphering.s3.blanks-train-bert", Layer.SOURCE, networks.blanks),
    Observed("deciphering.s3.large-vocabulary", Layer.SOURCE, networks.vocabularies),
]
