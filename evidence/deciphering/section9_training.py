"""Votes on: Section 9: which templates are trained, and claims about images."""

import torch

from evidence import Layer, Observed, Reading, Value, confirms
from evidence.deciphering.transport import ANY
from evidence.instances.derivatives import jacobian
from evidence.instances.ot import OtProblem
from evidence.source import networks
from numerics import ot_attention as ot
from numerics import tolerances


@confirms(Layer.TORCH, "deciphering.s9.trained", on=ANY)
def gradients(problem: OtProblem) -> Reading:
    """∂h_a/∂(t_g)_b by autograd, [a, b, g], for a group of templates with one member in the input."""
    labels = torch.zeros(problem.N, dtype=torch.int64, device=problem.device)
    cost = ot.group_cost(labels, labels[:1], torch.float64)
    share = problem["t"].reshape(1)

    def output(templates: torch.Tensor) -> torch.Tensor:
        weights = ot.weights(templates, problem["z"], share, cost, problem.alpha, problem.gamma)
        return weights @ templates

    slopes = jacobian(output, problem["T"]).transpose(1, 2)
    size = float(1 + share * (1 + problem.alpha / problem.gamma * problem["z"].abs().sum()) * (1 + problem["T"].abs().sum()))
    exponent = 1 + problem.alpha / problem.gamma * float((problem["T"].abs() @ problem["z"].abs()).max())
    point: dict[str, Value] = {
        "G": problem.N,
        "d": problem.d,
        "W": problem.drawn["T"],
        "z": problem.drawn["z"],
        "v": share.cpu()[0],
        "alpha": problem.alpha,
        "gamma": problem.gamma,
    }
    return Reading(point, {"autograd": slopes}, tolerances.rounding("float64", problem.N * problem.d, size * exponent))


VOTES = [Observed("deciphering.s9.vision", Layer.SOURCE, networks.vision)]
