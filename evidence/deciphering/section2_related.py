"""Votes on: Section 2, and sections 3.2 and 6 where they name other models: claims about other papers."""

import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.attention_mem import drawn
from evidence.instances.derivatives import gradient
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@confirms(Layer.TORCH, "deciphering.s2.not-identifiable", on=mem_problems())
def moved_weights(problem: MemProblem) -> Reading:
    """Weight moved from t_0 = Σ g t to the others in the proportions g."""
    free = drawn(problem, p=(problem.n,), g=(problem.n,), step=(1,), last=(1,))
    p, g = torch.softmax(free["p"], -1), torch.softmax(free["g"], -1)
    step, last = float(free["step"]), float(free["last"])
    templates = problem.drawn["T"]
    zero = g @ templates
    output = (p + step * g) @ templates + (last - step) * zero
    point = problem.point() | {"p": p, "g": g, "y": step, "p0": last}
    return Reading(point, {"output": output}, problem.tolerance(templates, zero))


@confirms(Layer.TORCH, "deciphering.s2.kernel-smoother", on=mem_problems())
def smoother(problem: MemProblem) -> Reading:
    layer = mem.closed_form(problem.templates, problem.evidence, problem.prior, problem.alpha)
    squares = problem.templates.square().sum()
    return Reading(
        problem.point(),
        {"closed form": layer},
        problem.tolerance(layer) * (1 + problem.alpha * float(squares + problem.evidence.square().sum())),
    )


@confirms(Layer.TORCH, "deciphering.s2.hopfield", on=mem_problems())
def hopfield(problem: MemProblem) -> Reading:
    state, beta, patterns = problem.evidence, problem.alpha, problem.templates

    def energy(at: Tensor) -> Tensor:
        return -torch.logsumexp(beta * patterns @ at, -1) / beta + at.square().sum() / 2

    step = state - gradient(energy, state)
    library = torch.softmax(beta * patterns @ state, -1) @ patterns
    point = problem.point() | {"X": problem.drawn["T"], "xi": problem.drawn["z"], "beta": beta}
    return Reading(point, {"autograd": step, "softmax": library}, problem.tolerance(step, problem.evidence))


def additive(problem: MemProblem) -> Reading:
    x, y, v = (float(value) for value in drawn(problem, x=(1,), y=(1,), v=(1,)).values())
    units = v**2 * torch.tanh(torch.tensor([x + abs(y), x - abs(y), x], dtype=torch.float64))
    return Reading({"x": x, "y": abs(y), "v": v**2}, {"tanh": units[0] + units[1] - 2 * units[2]}, problem.tolerance())


def general_score(problem: MemProblem) -> Reading:
    free = drawn(problem, W=(problem.d, problem.d), S=(problem.d,))
    evidence = (free["W"] @ free["S"]).to(problem.device)
    library = torch.softmax(problem.templates @ evidence, -1) @ problem.templates
    return Reading(
        problem.point() | free,
        {"mem": mem.closed_form(problem.templates, evidence), "softmax": library},
        problem.tolerance(evidence) * (1 + float(evidence.abs().sum() * problem.templates.abs().max())),
    )


VOTES = [
    Sampled("deciphering.s6.bahdanau-luong", Layer.TORCH, additive, on=mem_problems(smallest_n=2), corrected=general_score)
]
