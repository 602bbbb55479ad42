"""Votes on: Section 6: gradient ascent on (9), and its traces in models before the transformer."""

from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.deciphering.attention_mem import drawn
from evidence.instances.derivatives import gradient
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem


@confirms(Layer.TORCH, "deciphering.s6.gradient-ascent", on=mem_problems(smallest_n=2))
def parabola(problem: MemProblem) -> Reading:
    """D(ν) + ⟨∇D(ν), λ − ν⟩ by autograd; ν = λ for one seed in three."""
    nu = problem.drawn["lam"] + drawn(problem, nu=(problem.d,))["nu"] * (problem.seed % 3)
    here = nu.to(problem.device)

    def value(at: Tensor) -> Tensor:
        log_partition = mem.log_partition(at, problem.templates, problem.prior)
        return at @ problem.target - at.square().sum() / (2 * problem.alpha) - log_partition

    slope = gradient(value, here)
    tangent = value(here) + slope @ (problem.dual - here)
    allowed = problem.tolerance(problem.target, slope, tangent) * (1 + float(nu.abs().sum() * problem.drawn["T"].abs().max()))
    return Reading(problem.point() | {"nu": nu}, {"autograd": tangent}, allowed)
