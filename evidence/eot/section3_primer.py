"""Votes on: Section 3, the primer on optimal transport with and without entropy."""

import numpy as np

from evidence import Finding, Layer, Outcome, Reading, Run, Value, confirms, float64, observes
from evidence.eot.conic_couplings import CouplingProblem, entropic, problems
from numerics import tolerances
from numerics.primal import coupling


def linear(cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> coupling.Coupling:
    """The certified optimum of the linear problem."""
    solution = coupling.solve_transport(cost, a, b)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    return solution


def entropy(plan: np.ndarray) -> float:
    """−Σ P log P with 0 log 0 = 0."""
    positive = plan[plan > 0]
    return float(-(positive * np.log(positive)).sum())


def entropy_error(solution: coupling.Coupling) -> float:
    """By how much the marginals' residual can move the plan's entropy, whose slope is −1 − log P."""
    steepest = 1 - np.log(solution.plan[solution.plan > 0].min())
    return float(steepest * (solution.infeasibility + tolerances.rounding("float64", solution.plan.size)))


@confirms(Layer.PRIMAL, "eot.s3.most-entropic", on=problems())
def entropy_of_plan(drawn: CouplingProblem) -> Reading:
    solution = entropic(drawn, drawn.cost)
    point = drawn.point() | {"P": float64(solution.plan)}
    return Reading(point, {"cvxpy": float64(entropy(solution.plan))}, entropy_error(solution), "right")


def detour(drawn: CouplingProblem) -> Reading:
    there, onward = linear(drawn.metric, drawn.a, drawn.second), linear(drawn.metric, drawn.second, drawn.third)
    first, second = there.plan, onward.plan
    glued = first @ (second / drawn.second[:, None])
    longer = float(((first + second - glued) * drawn.metric).sum())
    error = (there.infeasibility + onward.infeasibility + tolerances.rounding("float64", drawn.n**3)) * drawn.metric.max()
    point: dict[str, Value] = {
        "n": drawn.n,
        "a": float64(drawn.a),
        "b": float64(drawn.second),
        "c": float64(drawn.third),
        "P": float64(first),
        "Q": float64(second),
        "D": float64(drawn.metric),
    }
    return Reading(point, {"linear program": float64(longer)}, 10 * error + tolerances.rounding("float64", 1))


@confirms(Layer.PRIMAL, "eot.s3.distance", on=problems(smallest=1), corrected=detour)
def distance_to_itself(drawn: CouplingProblem) -> Reading:
    plan = linear(drawn.any_cost, drawn.a, drawn.a)
    point: dict[str, Value] = {"n": drawn.n, "D": float64(drawn.any_cost), "P": float64(plan.plan)}
    return Reading(point, {"linear program": float64(plan.objective)}, tolerances.rounding("float64", drawn.n, 10.0))


@observes(Layer.PRIMAL, "eot.s3.sparse-solutions")
def support_of_plans(claim: str, run: Run) -> Finding:
    rng = np.random.default_rng(0)
    sizes = [(4, 4), (6, 9), (12, 12)] * 4
    supports = []
    for n, m in sizes:
        a, b = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        plan = coupling.solve_transport(rng.random((n, m)), a, b).plan
        supports.append((int((plan > 1e-9).sum()), n + m - 1, n * m))
    within = all(used <= vertex for used, vertex, _ in supports)
    share = float(np.mean([used / entries for used, _, entries in supports]))
    return Finding(
        Outcome.HOLDS if within else Outcome.REFUTED,
        f"{len(sizes)} random problems up to 12 × 12, generic costs, a simplex solver",
        f"the document: often very sparse; here {share:.0%} of the paths are used on average, never more than "
        "n + m − 1, for costs without ties; with equal costs dense plans are optimal too (eot.s3.eps-to-zero)",
    )
