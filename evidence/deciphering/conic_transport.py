"""Section 9 and Appendix D of deciphering through the conic solver, which knows no closed form."""

import numpy as np
from hypothesis import strategies as st

from evidence import Reading, float64
from evidence.instances.ot import SYMMETRIC, OtProblem, ot_problems
from numerics.primal import optimal_transport as transport
from numerics.primal.arguments import Array


def problems(
    costs: tuple[str, ...] = ("distances", "symmetric", "ties", "any"),
    smallest: int = 1,
    gammas: tuple[float, ...] = (1.0, 0.5, 3.0),
) -> st.SearchStrategy[OtProblem]:
    """Small problems."""
    return ot_problems(smallest=smallest, max_size=3, max_d=2, costs=costs, gammas=gammas, alphas=(1.0, 0.5, 2.0))


CONIC_ANY, CONIC_EVEN = problems(), problems(SYMMETRIC)


def array(x: OtProblem, name: str) -> Array:
    """A drawn tensor as an array."""
    return np.asarray(x.drawn[name].numpy())


def certified(plan: transport.Plan) -> transport.Plan:
    """The certified optimum; an uncertified one is an error, not a vote."""
    assert plan.certified, f"the solver left a gap of {plan.gap} with status {plan.status}"
    return plan


def preferred(x: OtProblem) -> transport.Plan:
    """The minimizer of W over p."""
    return certified(transport.minimize_marginal(array(x, "u"), array(x, "M"), x.gamma))


def shares(x: OtProblem, plan: Array) -> Array:
    """x(i|j) = X_ij/u_j as rows j; any distribution where u_j = 0."""
    u = array(x, "u")
    rows = np.where(u > 0, plan / np.where(u > 0, u, 1.0), 1.0 / x.N).T
    return np.asarray(rows / rows.sum(-1, keepdims=True))


def conic_mean_of_true_preference(x: OtProblem) -> Reading:
    preference, templates = preferred(x), array(x, "T")
    return Reading(
        x.point(j=1),
        {"cvxpy": float64(preference.marginal @ templates)},
        preference.plan_error * float(np.abs(templates).max()) + x.tolerance(templates.max()),
    )
