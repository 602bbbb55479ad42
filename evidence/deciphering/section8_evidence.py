"""Votes on: Section 8: what the relative deviation measures, and the figures."""

import numpy as np
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, float64
from evidence.deciphering.attention_mem import GENERIC, evidence_for
from evidence.deciphering.conic_attention import ConicLayer, drawn, solved
from evidence.instances.mem import MemProblem, mem_problems
from evidence.models.deviations import by_head, by_layer, of_small_t5
from numerics import mem


def deviation_at(problem: MemProblem, templates: Tensor, dual: Tensor) -> Reading:
    """‖λ* − αz‖²/‖λ*‖² with λ* from the solver, for the evidence that makes this λ optimal."""
    z = evidence_for(problem, templates, dual)
    solution = mem.solve(templates, z, problem.prior, problem.alpha, tolerance=1e-12)
    size, gap = solution.dual.norm(), (solution.dual - problem.alpha * z).norm()
    ratio = (gap / size).square()
    # An error of z moves λ* by α times as much; a relative error of gap or size counts twice in the square.
    error = float(solution.error) + 2 * problem.alpha * problem.tolerance(templates, z, dual)
    point = problem.point() | {"T": templates.cpu(), "lam": dual.cpu()}
    return Reading(point, {"solver": ratio}, 4 * error / float(size) * (1 + float(ratio)))


def deviation(problem: MemProblem) -> Reading:
    return deviation_at(problem, problem.templates, problem.dual)


def far_apart(problem: MemProblem) -> Reading:
    """The same where most of λ is orthogonal to the templates' differences, which are large."""
    templates, dual = problem.templates.clone(), problem.dual.clone()
    templates[:, 1:], templates[:, 0], dual[1:], dual[0] = 0.0, 4 * templates[:, 0], 10.0, 0.02
    return deviation_at(problem, templates, dual)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


CONIC_GENERIC = {"layouts": ("generic",), "priors": ("generic",), "evidence": ("generic",)}


def conic_deviation_at(problem: MemProblem, layer: ConicLayer) -> Reading:
    """‖λ* − αz‖²/‖λ*‖² with λ* the solver's multiplier."""
    estimate, evidence, error_bound = solved(layer, problem.alpha)
    size = float(np.linalg.norm(estimate.multiplier))
    ratio = float(np.sum((estimate.multiplier - problem.alpha * evidence) ** 2)) / size**2
    error = estimate.multiplier_error + 2 * problem.alpha * (error_bound + problem.tolerance(float64(layer["T"])))
    allowed = 4 * error / size * (1 + ratio)  # of a squared ratio: relative errors, doubled, of both parts
    point = problem.point() | {name: float64(x) for name, x in layer.items()}
    return Reading(point, {"cvxpy": float64(ratio)}, allowed)


def conic_deviation(problem: MemProblem) -> Reading:
    return conic_deviation_at(problem, drawn(problem))


def mostly_orthogonal(problem: MemProblem) -> Reading:
    """Large templates on an axis, and a λ that is nearly orthogonal to it."""
    layer = drawn(problem)
    layer["T"][:, 0] *= 4
    layer["T"][:, 1:], layer["lam"][0], layer["lam"][1:] = 0.0, 0.02, 10.0
    return conic_deviation_at(problem, layer)


VOTES = [
    Sampled(
        "deciphering.s8.as-a-result", Layer.TORCH, far_apart, on=mem_problems(smallest_n=2, **GENERIC), corrected=deviation
    ),
    Sampled(
        "deciphering.s8.as-a-result",
        Layer.PRIMAL,
        mostly_orthogonal,
        on=mem_problems(smallest_n=2, **CONIC_GENERIC),
        count=12,
        corrected=conic_deviation,
    ),
    Observed(("deciphering.fig4", "deciphering.s8.nearly-coincides", "deciphering.s8.other-models"), Layer.TORCH, by_layer),
    Observed("deciphering.fig5", Layer.TORCH, by_head),
    Observed("deciphering.fig6", Layer.TORCH, of_small_t5("encoder")),
    Observed("deciphering.fig7", Layer.TORCH, of_small_t5("decoder")),
    Observed("deciphering.fig8", Layer.TORCH, of_small_t5("cross")),
]
