"""Votes on: Section 9, first part: entropic transport in place of the divergence."""

import math

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Sampled, Value, choose, confirms, float64
from evidence.deciphering.appendix_d_2_preference import conic_true_preference
from evidence.deciphering.conic_transport import CONIC_ANY, array, certified, problems
from evidence.deciphering.transport import APART, closed_preference, reading, value
from evidence.deciphering.transport_sharing import ANY
from evidence.instances.derivatives import gradient
from evidence.instances.ot import OtProblem
from numerics import ot_attention as ot
from numerics import tolerances
from numerics.primal import coupling
from numerics.primal import optimal_transport as transport


def proportional(x: OtProblem) -> Reading:
    """‖ũ − u‖² for the u that is proportional to the column sums of exp(−M/γ)."""
    sums = torch.exp(-x["M"] / x.gamma).sum(0)
    prior = sums / sums.sum()
    return reading(x, extra={"u": prior}, closed_form=(ot.true_preference(prior, x["M"], x.gamma) - prior).square().sum())


@confirms(Layer.TORCH, "deciphering.23", on=ANY)
def cost_of_transport(x: OtProblem) -> Reading:
    plan = ot.coupling(x["g"], x["u"], x["M"], x.gamma)
    return reading(
        x,
        x["g"],
        x["M"],
        at_the_coupling=value(x, plan),
        by_duality=plan.sum(-1) @ x["g"] - ot.conjugate(x["g"], x["u"], x["M"], x.gamma),
    )


@confirms(Layer.TORCH, "deciphering.fn11", on=choose(x=st.floats(-2, 2), y=st.floats(0.1, 2)))
def squared_distance(drawn: dict[str, float]) -> Reading:
    positions = torch.tensor([[drawn["x"]], [drawn["x"] + drawn["y"]]], dtype=torch.float64)
    apart = float(positions[1, 0] - positions[0, 0])
    return Reading(
        {"D": apart, "rho": 2.0}, {"squared": ot.squared_distance(positions)[0, 1]}, tolerances.rounding("float64", 2, 4.0)
    )


@confirms(Layer.TORCH, "deciphering.s9.smooth", on=ANY, count=16)
def response(x: OtProblem) -> Reading:
    def pushed(t: Tensor) -> Tensor:
        rows, columns = x["f"] + t * x["x"], x["g"] + t * x["y"]
        plan = torch.exp((rows[:, None] + columns[None, :] - x["M"]) / x.gamma)
        return x["x"] @ plan.sum(-1) + x["y"] @ plan.sum(0)

    derivative = gradient(pushed, x["t"])
    reach = (x["f"].abs().max() + x["g"].abs().max() + x["t"] * (x["x"].abs().max() + x["y"].abs().max())) / x.gamma
    return reading(x, derivative.abs() * (1 + reach), autograd=derivative)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.23", on=CONIC_ANY, count=16)
def conic_cost_of_transport(x: OtProblem) -> Reading:
    logits = (array(x, "g")[:, None] - array(x, "M")) / x.gamma
    raw = np.exp(logits - logits.max(0))
    rows = (raw / raw.sum(0)) @ array(x, "u")
    solved = certified(transport.solve_coupling(rows / math.fsum(rows), array(x, "u"), array(x, "M"), x.gamma))
    steepest = float(np.abs(array(x, "g")).max()) + x.gamma  # ∂W/∂p = g: what the rounding of p does
    error = solved.value_error + x.tolerance(steepest, solved.objective)
    return Reading(x.point(), {"cvxpy": float64(solved.objective)}, error)


CONIC_APART = problems(("distances", "symmetric"), gammas=(1.0, 0.5))


@confirms(Layer.PRIMAL, "deciphering.s9.deviates", on=CONIC_APART, count=16, corrected=conic_true_preference)
def conic_proportional(x: OtProblem) -> Reading:
    """‖ũ − u‖² for the u that is proportional to the column sums of exp(−M/γ)."""
    sums = np.exp(-array(x, "M") / x.gamma).sum(0)
    prior = sums / math.fsum(sums)
    solved = certified(transport.minimize_marginal(prior, array(x, "M"), x.gamma))
    error = float(np.square(solved.marginal - prior).sum())
    return Reading(x.point(u=float64(prior)), {"cvxpy": float64(error)}, solved.plan_error**2 + x.tolerance(1.0))


def entropic_value(x: OtProblem) -> Reading:
    points, p, u = array(x, "T"), array(x, "R")[0], array(x, "u")
    if x.seed % 3 == 0:  # equal places: all the entropy there is
        points, p, u = 0 * points, np.full(x.N, 1 / x.N), np.full(x.N, 1 / x.N)
    distance = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    cost = distance**1.5
    solved = certified(transport.solve_coupling(p, u, cost, x.gamma))
    cheapest = coupling.solve_transport(cost, p, u)
    assert cheapest.certified, f"the solver left a gap of {cheapest.gap} with status {cheapest.status}"
    point: dict[str, Value] = {
        "N": x.N,
        "gamma": x.gamma,
        "rho": 1.5,
        "D": float64(distance),
        "R": float64(cheapest.plan),
        "p": float64(p),
        "u": float64(u),
        "P": float64(solved.plan),
    }
    return Reading(point, {"cvxpy": float64(solved.objective)}, solved.value_error + cheapest.gap + x.tolerance(cost.max()))


VOTES = [
    Sampled("deciphering.s9.deviates", Layer.TORCH, proportional, on=APART, corrected=closed_preference),
    Sampled(
        "deciphering.s9.wasserstein",
        Layer.PRIMAL,
        entropic_value,
        on=problems(("distances",), gammas=(1.0, 0.2, 0.05)),
        count=16,
        corrected=entropic_value,
    ),
]
