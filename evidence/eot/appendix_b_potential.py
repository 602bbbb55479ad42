"""Votes on: Appendix B, second half: the conjugate computed line by line, and its relation to Lagrangian duality."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.appendix import conjugate, maximizer, potential, shares, slopes
from evidence.eot.conic_appendix import conic_conjugate, conic_maximizer, slack
from evidence.eot.conic_one_sided import ConicRow, problems, solved
from evidence.eot.forward import reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.140", on=rows())
def upper_bound(row: Row) -> Reading:
    return Reading(row.point() | {"p": shares(row)}, {"closed_form": potential(row)}, row.tolerance(row.s, row.tau))


@confirms(Layer.TORCH, "eot.142", on=rows())
def missing_mass_of_row(row: Row) -> Reading:
    def whole(level: Tensor) -> Tensor:
        return -one_sided.objective(row["p"], row.s, row.tau) - level * (row["p"].sum() - 1)

    return reading(row, row["p"], autograd=gradient(whole, row["lam"]))


@confirms(Layer.TORCH, "eot.143", "eot.sB.proportional", "eot.sB.generalized-condition", on=rows())
def slope_of_row_lagrangian(row: Row) -> Reading:
    return reading(row, row.s, row["lam"], row.tau, autograd=slopes(row, row["p"], row["lam"]))


@confirms(Layer.TORCH, "eot.remB.5", on=rows())
def dual_bound(row: Row) -> Reading:
    best = row.tau - potential(row)
    level = best + (row.tau * torch.log(torch.tensor(float(row.m))) if row.seed % 2 else 0.0)
    return Reading(
        row.point() | {"μ": level.cpu()},
        {"closed_form": -potential(row)},
        row.tolerance(row.s, row.tau, level, torch.tensor(float(row.m)) * row.tau),
    )


@confirms(Layer.TORCH, "eot.sB.conjugate-variables", on=rows())
def slope_of_dual(row: Row) -> Reading:
    def dual(level: Tensor) -> Tensor:
        return level - row.tau * torch.exp((row.s + level) / row.tau - 1).sum()

    here = gradient(dual, row["lam"])
    scale = torch.exp((row.s.abs() + row["lam"].abs()) / row.tau)
    return Reading(row.point() | {"μ": row["lam"].cpu()}, {"autograd": here}, row.tolerance(here, row["lam"], scale))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.140", on=problems())
def supremum(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    point = drawn.point() | {"p": float64(solution.plan)}
    return Reading(point, {"cvxpy": float64(-solution.bound)}, slack(drawn, solution.gap))


@confirms(Layer.PRIMAL, "eot.remB.5", on=problems())
def dual_value(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    level = solution.multiplier + (drawn.epsilon * np.log(drawn.m) if drawn.shift > 0 else 0.0)
    point = drawn.point() | {"μ": float(level)}
    return Reading(point, {"cvxpy": float64(solution.objective)}, slack(drawn, solution.gap) * drawn.m)


VOTES = [
    Sampled(("eot.141", "eot.144"), Layer.TORCH, maximizer, on=rows()),
    Sampled(("eot.145", "eot.146", "eot.147", "eot.148", "eot.149"), Layer.TORCH, conjugate, on=rows()),
    Sampled(("eot.141", "eot.144"), Layer.PRIMAL, conic_maximizer, on=problems()),
    Sampled(("eot.145", "eot.146", "eot.147", "eot.148", "eot.149"), Layer.PRIMAL, conic_conjugate, on=problems()),
]
