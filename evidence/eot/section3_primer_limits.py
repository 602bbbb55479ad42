"""Votes on: Section 3, the primer: the entropic plan as ε grows and as it falls to 0."""

import numpy as np

from evidence import Layer, Reading, confirms, float64
from evidence.eot.conic_couplings import CouplingProblem, entropic, problems
from evidence.eot.section3_primer import entropy, entropy_error, linear
from numerics import tolerances
from numerics.primal import coupling


def error(solution: coupling.Coupling, epsilon: float) -> float:
    """How far the plan may be from the optimum in the ℓ1 norm, by its gap."""
    return tolerances.plan_from_gap(max(solution.gap, 0.0), epsilon) + solution.infeasibility


@confirms(Layer.PRIMAL, "eot.s3.eps-to-infinity", on=problems(epsilons=(0.5, 2.0, 8.0, 50.0)))
def divergence_from_independent(drawn: CouplingProblem) -> Reading:
    solution = entropic(drawn, drawn.cost)
    plan, product = solution.plan, np.outer(drawn.a, drawn.b)
    positive = plan > 0
    divergence = float((plan[positive] * np.log(plan[positive] / product[positive])).sum() - plan.sum() + product.sum())
    error = max(solution.gap, 0.0) / drawn.epsilon + 2 * entropy_error(solution)
    return Reading(drawn.point() | {"P": float64(plan)}, {"cvxpy": float64(divergence)}, error, "right")


def entropy_near_zero(drawn: CouplingProblem) -> Reading:
    solution = entropic(drawn, drawn.cost)
    vertex = linear(drawn.cost, drawn.a, drawn.b)
    point = drawn.point() | {"P": float64(solution.plan), "R": float64(vertex.plan)}
    error = 2 * max(solution.gap, 0.0) / drawn.epsilon + entropy_error(solution) + entropy_error(vertex)
    return Reading(point, {"cvxpy": float64(entropy(solution.plan))}, error)


@confirms(Layer.PRIMAL, "eot.s3.eps-to-zero", on=problems(epsilons=(0.05, 0.2), smallest=2), corrected=entropy_near_zero)
def four_entries_with_equal_costs(drawn: CouplingProblem) -> Reading:
    solution = entropic(drawn, np.ones_like(drawn.cost))
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan[:2, :2].prod())}, 4 * error(solution, drawn.epsilon))
