"""The transformations of the cited papers, by the package that their authors publish."""

from collections.abc import Callable

from torch import Tensor

from derivations.documents.eot.notation import j
from derivations.documents.eot.regularizers import p
from derivations.register.catalogue import entries
from derivations.relations import Equation, UniqueMinimum
from evidence import Finding, Layer, Reading, Run, finding, hold
from evidence.eot.regularizers import Point
from evidence.eot.section4_entmax import condition
from numerics import tolerances


def solution(claim: str) -> Equation:
    """p_j and the proved solution of a claim's problem."""
    minimum: UniqueMinimum = entries()[claim].printed()  # type: ignore[assignment]
    return Equation(p[j], minimum.candidate(j))


def published(claim: str, proved: str, compute: Callable[[Point], Tensor]) -> Finding:
    """The package's result, and the solution proved for another claim."""
    readings = []
    for seed in range(32):
        point = Point(1 + seed % 5, seed, (0.25, 0.5, 1.0, 2.0)[seed % 4], seed % 3 == 0)
        allowed = tolerances.rounding("float64", point.m**2, 100 * condition(point))
        readings.append(Reading(point.point(), {"entmax": compute(point)}, allowed))
    vote = hold(claim, Layer.SOURCE, readings, statement=solution(proved))
    return finding(vote, f"{vote.instances} inputs to the package that the paper's authors publish")


def sparsemax(claim: str, run: Run) -> Finding:
    import entmax

    return published(claim, "eot.prop4.2", lambda point: entmax.sparsemax(point.quadratic))


def alpha_entmax(claim: str, run: Run) -> Finding:
    import entmax

    return published(claim, "eot.prop4.3", lambda point: entmax.entmax_bisect(point.tsallis, 1 + point.a, n_iter=60))
