"""The listings of transport that claim an optimum, through conic solvers that know neither softmax nor Sinkhorn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from derivations.claims import Layer
from numerics import tolerances
from numerics.primal import matrix
from tests.layers import Reading, confirms, float64
from tests.primal.eot_appendix import DrawnBatch, batches
from tests.primal.eot_couplings import Drawn, entropic, problems

PRIMAL = Layer.PRIMAL
Array = NDArray[np.float64]


@confirms(PRIMAL, "transport.listing.AttentionAsOT", on=batches())
def attention(drawn: DrawnBatch) -> Reading:
    solution = drawn.solved()
    point = drawn.point() | {"S": float64(drawn.scores)}
    return Reading(point, {"cvxpy": float64(solution.plan)}, drawn.error(solution))


def features(drawn: DrawnBatch) -> tuple[Array, Array]:
    """Features max(W x, 0) with a little added, so that the kernel is positive."""
    return np.maximum(drawn.queries, 0) + 0.2, np.maximum(drawn.keys, 0) + 0.2


def kernel_plan(drawn: DrawnBatch) -> Reading:
    """The plan for the cost −log κ at ε = 1."""
    query, key = features(drawn)
    affinity = query @ key.T
    solution = matrix.solve(np.log(affinity), 1.0)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    point = drawn.point() | {"G": float64(affinity)}
    return Reading(point, {"cvxpy": float64(solution.plan)}, tolerances.plan_from_gap(solution.gap, 1.0))


@confirms(PRIMAL, "transport.listing.LinearAttentionAsOT.plan", on=batches(), corrected=kernel_plan)
def kernel_plan_of_small_features(drawn: DrawnBatch) -> Reading:
    """The same plan, as a factor does not change it, against what the listing makes of features 1e4 times as small."""
    query, key = features(drawn)
    found = kernel_plan(drawn)
    point = {"n": drawn.n, "m": drawn.m, "w": 2, "X": float64(1e-4 * query), "Y": float64(1e-4 * key)}
    return Reading(point, found.routes, found.tolerance)


@confirms(PRIMAL, "transport.listing.sinkhorn.optimal", on=problems())
def optimal_value(drawn: Drawn) -> Reading:
    """The least value of ⟨R, C⟩ − ε H(R), against the bound that scalings give after many rounds."""
    solution = entropic(drawn, drawn.cost)
    kernel, target = np.exp(-drawn.cost / drawn.epsilon), np.ones(drawn.m)
    for _ in range(500):
        source = drawn.a / (kernel @ target)
        target = drawn.b / (kernel.T @ source)
    point = drawn.point() | {"R": float64(solution.plan), "u": float64(source), "v": float64(target)}
    scale = 1 + float(np.abs(drawn.cost).max()) + drawn.epsilon * np.log(drawn.n * drawn.m)
    steepest = float(np.abs(np.log(solution.plan.clip(1e-300))).max()) * drawn.epsilon + scale
    off = max(solution.gap, 0.0) + steepest * solution.infeasibility + tolerances.rounding("float64", drawn.n * drawn.m,
                                                                                           10 * scale)
    return Reading(point, {"cvxpy": float64(solution.objective)}, off)
