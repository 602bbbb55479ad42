"""Votes on: Appendix B, last part: the parameter of greatest posterior density."""

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.conic_problem import ConicProblem, problems, reading
from evidence.deciphering.perspectives import Perspective
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem
from numerics.primal import mem_variants


def fitted(view: Perspective) -> mem.Solution:
    """The certified solution of (4) with α = 1/(ησ²), for the z that has the drawn λ as its multiplier."""
    problem, alpha = view.problem, 1 / (view.eta * view.sigma**2)
    tilted = mem.tilt(problem.dual, problem.templates, problem.prior)
    shift = mem.moments(problem.templates, tilted)[0] - mem.moments(problem.templates, problem.prior)[0]
    return mem.solve(problem.templates, problem.dual / alpha + shift, problem.prior, alpha, tolerance=1e-10)


@confirms(Layer.TORCH, "deciphering.sB.argmin", on=mem_problems(smallest_n=2))
def greatest_posterior(problem: MemProblem) -> Reading:
    view = Perspective(problem)
    maximum = fitted(view)
    plain = view.reading(Newton=maximum.weights)
    return Reading(plain.point, plain.routes, plain.tolerance + float(maximum.weights_error))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def likely(drawn: ConicProblem, divided: bool) -> Reading:
    """The minimizer of (30), or of (31), for the z that has λ as its multiplier with α = 1/(ησ²)."""
    sigma, eta = float(drawn["sigma"]), float(drawn["eta"])
    z = drawn.evidence(1 / (eta * sigma**2))
    return reading(drawn, mem_variants.solve_likelihood(drawn["T"], drawn["u"], z, sigma, eta, divided=divided))


@confirms(Layer.PRIMAL, "deciphering.sB.argmin", on=problems(), count=16)
def conic_greatest_posterior(drawn: ConicProblem) -> Reading:
    return likely(drawn, divided=False)


def with_square(drawn: ConicProblem) -> Reading:
    return likely(drawn, divided=True)


def without_square(drawn: ConicProblem) -> Reading:
    sigma, eta = float(drawn["sigma"]), float(drawn["eta"])
    z = drawn.evidence(1 / (eta * sigma**2))
    return reading(drawn, mem_variants.solve_without_square(drawn["T"], drawn["u"], z, sigma, eta))


VOTES = [
    Sampled("deciphering.sB.argmin-rearranged", Layer.PRIMAL, without_square, on=problems(), count=16, corrected=with_square)
]
