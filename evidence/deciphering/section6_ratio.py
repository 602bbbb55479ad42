"""Votes on: Section 6: how loose the certificate of one pass of attention is, in terms of κ = αL."""

import torch
from hypothesis import strategies as st

from evidence import Layer, Reading, Value, confirms
from evidence.deciphering.dual import solved, spread
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem, tolerances


def tight(alpha: float, radius: float) -> MemProblem:
    """Two templates ±r of equal weight and little evidence."""
    return MemProblem(
        {
            "T": torch.tensor([[radius], [-radius]], dtype=torch.float64),
            "u": torch.full((2,), 0.5, dtype=torch.float64),
            "z": torch.tensor([1e-2], dtype=torch.float64),
            "lam": torch.zeros(1, dtype=torch.float64),
        },
        alpha,
    )


def kappa_of(problem: MemProblem) -> float:
    """αL, from the templates' distances to their mean."""
    return problem.alpha * float((problem.templates - problem.prior @ problem.templates).square().sum(-1).max())


TIGHT = st.builds(tight, st.sampled_from([1.0, 0.25, 4.0]), st.sampled_from([1.0, 0.5]))


ANY = st.one_of(TIGHT, mem_problems(smallest_n=2)).filter(lambda problem: kappa_of(problem) > 0)


def point(problem: MemProblem, solution: mem.Solution) -> dict[str, Value]:
    g = solution.mean - problem.prior @ problem.templates
    return {**problem.point(), "kappa": kappa_of(problem), "g": g.cpu(), "lam": solution.dual.cpu()}


def solved_with_room(problem: MemProblem) -> tuple[mem.Solution, float]:
    """The solution, and how much of a squared distance rounding and the solver may have changed."""
    solution = solved(problem, problem.evidence)
    size = (1 + kappa_of(problem)) ** 2 * spread(problem) ** 2
    return solution, tolerances.rounding("float64", problem.n * problem.d, size) + size * float(solution.mean_error)


@confirms(Layer.TORCH, "deciphering.s6.one-pass-mean", on=ANY)
def mean_error(problem: MemProblem) -> Reading:
    solution, error = solved_with_room(problem)
    certificate = mem.certificate(problem.templates, problem.evidence, problem.prior, problem.alpha)
    value = (certificate.mean_error * (1 + kappa_of(problem))).square()
    return Reading(point(problem, solution), {"certificate": value}, error)


@confirms(Layer.TORCH, "deciphering.s6.one-pass-dual", on=ANY)
def dual_distance(problem: MemProblem) -> Reading:
    solution, error = solved_with_room(problem)
    distance = (problem.alpha * problem.evidence - solution.dual).norm() / problem.alpha
    return Reading(
        point(problem, solution),
        {"solver": ((1 + kappa_of(problem)) * distance).square()},
        error + (1 + kappa_of(problem)) ** 2 * float(solution.error) / problem.alpha * spread(problem),
    )


EVEN_PAIRS = mem_problems(smallest_n=2, max_n=2, layouts=("generic",), priors=("uniform",))


@confirms(Layer.TORCH, "deciphering.s6.covariance-bound", on=st.one_of(EVEN_PAIRS, mem_problems(smallest_n=2)))
def weighted_spread(problem: MemProblem) -> Reading:
    """Tight for two templates of one weight and their mean for c."""
    mu, _ = mem.moments(problem.templates, problem.prior)
    y, c = problem["lam"], mu if problem.n == 2 else problem["c"]
    distances = (problem.templates - c).square().sum(-1)
    value = problem.prior @ (distances * ((problem.templates - mu) @ y).square())
    return Reading(problem.point() | {"y": y.cpu(), "c": c.cpu()}, {"moments": value}, problem.tolerance(value))
