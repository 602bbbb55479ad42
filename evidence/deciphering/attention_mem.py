"""What attention layers solve, and what other papers call them: deciphering and inference in torch and in 50 digits."""

import torch
from torch import Tensor

from evidence import Reading
from evidence.instances.mem import MemProblem
from numerics import mem

GENERIC = {"layouts": ("generic",), "priors": ("generic",), "evidence": ("generic",)}


def drawn(problem: MemProblem, **shapes: tuple[int, ...]) -> dict[str, Tensor]:
    """Further tensors of ordinary magnitude, by name, on the CPU."""
    generator = torch.Generator().manual_seed(problem.seed + 2)
    return {
        name: torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-1.5, 1.5) for name, shape in shapes.items()
    }


def evidence_for(problem: MemProblem, templates: Tensor, dual: Tensor) -> Tensor:
    """z = λ/α + ĥ(λ) − μ, for which λ is optimal."""
    mean, _ = mem.moments(templates, mem.tilt(dual, templates, problem.prior))
    centre, _ = mem.moments(templates, problem.prior)
    return dual / problem.alpha + mean - centre


SOLVER = ("deciphering.s7.solves-the-problem", "inference.s7.solves-the-problem")


def output_of_layer(problem: MemProblem) -> Reading:
    z = evidence_for(problem, problem.templates, problem.dual)
    layer = mem.closed_form(problem.templates, z, problem.prior, problem.alpha)
    return Reading(problem.point(), {"closed form": layer}, problem.tolerance(layer, z))


def weights_of_layer(problem: MemProblem) -> Reading:
    routes = {
        "tilt": mem.tilt(problem.alpha * problem.evidence, problem.templates, problem.prior),
        "softmax": torch.softmax(problem.alpha * problem.templates @ problem.evidence + problem.prior.log(), -1),
    }
    return Reading(problem.point(), routes, problem.tolerance())
