"""Votes on: Appendix D, second part: the true preference distribution, and what becomes of it as γ → 0."""

from dataclasses import replace

import torch

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.deciphering.conic_transport import CONIC_ANY, CONIC_EVEN, conic_mean_of_true_preference, preferred, shares
from evidence.deciphering.transport import ANY, APART, EVEN, closed_preference, mean_of_true_preference, reading, value
from evidence.instances.ot import OtProblem, ot_problems
from numerics import ot_attention as ot


@confirms(Layer.TORCH, "deciphering.40", on=EVEN)
def true_preference(x: OtProblem) -> Reading:
    return reading(
        x,
        closed_form=ot.true_preference(x["u"], x["M"], x.gamma),
        column_sums=ot.coupling(torch.zeros_like(x["g"]), x["u"], x["M"], x.gamma).sum(-1),
    )


@confirms(Layer.TORCH, "deciphering.prop1", on=ANY)
def least_value(x: OtProblem) -> Reading:
    return reading(x, x["M"], extra={"R": x["Q"]}, at_the_minimizer=value(x, x["Q"].T * x["u"]))


@confirms(Layer.TORCH, "deciphering.sD.kernel-limit", on=ot_problems(smallest=2, costs=("distances",), gammas=(1.0, 0.25)))
def what_leaves(x: OtProblem) -> Reading:
    """Of the first template, whose costs are moved apart by γ/10 or, for every other seed, by 3γ."""
    column = x["M"][:, 0] - x["M"][0, 0]
    excess = column[1:] - column[1:].min() + x.gamma * (0.1, 3.0)[x.seed % 2]
    spare = torch.cat([torch.zeros_like(excess[:1]), excess - excess.min()])
    costs = x["M"].clone()
    costs[1:, 0] = x["M"][0, 0] + excess
    leaving = 1 / ot.kernel(costs, x.gamma)[0, 0] - 1
    extra = {"δ": excess.min(), "s": spare, "j": 1}
    return replace(reading(x, costs / x.gamma, extra=extra, kernel=leaving), computed="right")


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.prop1", on=CONIC_ANY, count=16)
def conic_least_value(x: OtProblem) -> Reading:
    preference = preferred(x)
    return Reading(
        x.point(R=float64(shares(x, preference.plan))),
        {"cvxpy": float64(preference.objective)},
        preference.value_error + x.tolerance(preference.objective),
    )


@confirms(Layer.PRIMAL, "deciphering.40", "deciphering.sD.preference-limit", on=CONIC_EVEN, count=16)
def conic_true_preference(x: OtProblem) -> Reading:
    preference = preferred(x)
    return Reading(x.point(), {"cvxpy": float64(preference.marginal)}, preference.plan_error + x.tolerance(1.0))


VOTES = [
    Sampled("deciphering.41", Layer.TORCH, mean_of_true_preference, on=EVEN),
    Sampled("deciphering.sD.preference-limit", Layer.TORCH, closed_preference, on=APART),
    Sampled("deciphering.41", Layer.PRIMAL, conic_mean_of_true_preference, on=CONIC_EVEN, count=16),
]
