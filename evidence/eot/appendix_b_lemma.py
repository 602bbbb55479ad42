"""Votes on: Appendix B, the lemma: does the problem meet the theorem's conditions, and where does its gradient vanish?"""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.appendix import maximizer, shares, slopes
from evidence.eot.appendix_b_conjugate import gradient_of_conjugate, slope_of_conjugate
from evidence.eot.conic_appendix import conic_maximizer, slack
from evidence.eot.conic_one_sided import ConicRow, error, problems, solved
from evidence.eot.forward import reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


def mass_beside(row: Row, plan: Tensor) -> Reading:
    """The masses of p + h e_j, one j a row."""
    beside = plan + row["t"] * torch.eye(row.m, dtype=torch.float64, device=row.device)
    point = row.point() | {"p": plan.cpu(), "h": row["t"].cpu()}
    return Reading(point, {"direct": beside.sum(-1)}, row.tolerance(row["t"]))


def mass_beside_any(row: Row) -> Reading:
    return mass_beside(row, row["p"] / row["p"].sum())


def slope_of_h(row: Row) -> Reading:
    routes = {"autograd": slopes(row, row["p"])}
    return Reading(row.point() | {"w": row["p"]}, routes, row.tolerance(row.s, row.tau, *routes.values()))


@confirms(Layer.TORCH, "eot.sB.strictly-concave", on=rows())
def excess_over_chord(row: Row) -> Reading:
    first, second, odds = shares(row), torch.full((row.m,), 1 / row.m, dtype=torch.float64), row["t"].cpu().exp()
    mixed = (odds * first + second) / (1 + odds)

    def h(plan: Tensor) -> Tensor:
        return -one_sided.objective(plan, row.s.cpu(), row.tau)

    gap = h(mixed) - (odds * h(first) + h(second)) / (1 + odds)
    point = row.point() | {"p": first, "x": second, "t": odds}
    return Reading(point, {"closed_form": gap}, row.tolerance(row.s, row.tau))


def slope_at_maximizer(row: Row) -> Reading:
    return reading(row, row.s, row.tau, autograd=slopes(row, one_sided.plan(row.s, row.tau)))


def gradient_at_maximizer(row: Row) -> Reading:
    plan = one_sided.plan(row.s, row.tau)
    return reading(row, row.s, row.tau, autograd=gradient(lambda p: -row.tau * one_sided.entropy(p), plan))


def supporting_plane(row: Row) -> Reading:
    plan = shares(row)
    point = row.point() | {"p": plan, "c": row["lam"].cpu()}
    return Reading(point, {"closed_form": -row.tau * one_sided.entropy(plan)}, row.tolerance(row.s, row.tau, row["lam"]))


@confirms(Layer.TORCH, "eot.sB.conditions-met", on=rows(), corrected=supporting_plane)
def mass_beside_maximizer(row: Row) -> Reading:
    return mass_beside(row, one_sided.plan(row.s, row.tau))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def conic_slope_at_maximizer(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    slope = drawn.scores - drawn.epsilon * (np.log(solution.plan) + 1)
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    return Reading(drawn.point(), {"cvxpy": float64(slope)}, 2 * drawn.epsilon * relative + slack(drawn, 0.0))


def conic_gradient_at_maximizer(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    gradient = drawn.epsilon * (np.log(solution.plan) + 1)
    return Reading(drawn.point(), {"cvxpy": float64(gradient)}, 2 * drawn.epsilon * relative + slack(drawn, 0.0))


VOTES = [
    Sampled("eot.138", Layer.PRIMAL, conic_gradient_at_maximizer, on=problems(), corrected=conic_gradient_at_maximizer),
    Sampled(
        ("eot.136", "eot.sB.first-order"),
        Layer.PRIMAL,
        conic_slope_at_maximizer,
        on=problems(),
        corrected=conic_slope_at_maximizer,
    ),
    Sampled("eot.138", Layer.TORCH, gradient_at_maximizer, on=rows(), corrected=gradient_at_maximizer),
    Sampled(("eot.136", "eot.sB.first-order"), Layer.TORCH, slope_at_maximizer, on=rows(), corrected=slope_at_maximizer),
    Sampled(("eot.135", "eot.lemB.4", "eot.139"), Layer.TORCH, maximizer, on=rows()),
    Sampled("eot.134", Layer.TORCH, gradient_of_conjugate, on=rows()),
    Sampled("eot.137", Layer.TORCH, mass_beside_any, on=rows(), corrected=slope_of_h),
    Sampled(("eot.135", "eot.lemB.4", "eot.139"), Layer.PRIMAL, conic_maximizer, on=problems()),
    Sampled("eot.134", Layer.PRIMAL, slope_of_conjugate, on=problems(), count=12),
]
