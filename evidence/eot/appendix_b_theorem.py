"""Votes on: Appendix B, the theorem on gradients of conjugates: what is printed, and what is true."""

import numpy as np
import torch

from evidence import Layer, Reading, Sampled, float64
from evidence.eot.appendix import potential, shares
from evidence.eot.conic_appendix import slack
from evidence.eot.conic_one_sided import STEP, ConicRow, problems, solved
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided, tolerances


def fenchel_young_gap(row: Row) -> Reading:
    plan = shares(row)
    gap = one_sided.objective(plan, row.s.cpu(), row.tau) + potential(row).cpu()
    return Reading(row.point() | {"p": plan}, {"closed_form": gap}, row.tolerance(row.s, row.tau))


def touching_plane(row: Row) -> Reading:
    other = row.s.cpu() + (row.seed % 3 - 1) * row["p"].cpu()
    plan = row.weights.cpu()
    values = {"F_p": row.tau * torch.xlogy(plan, plan).sum(), "G_s": potential(row).cpu()}
    there = potential(row, other.to(row.device)).cpu()
    point = row.point() | values | {"p": plan, "t": other, "G_t": there}
    return Reading(point, {"closed_form": there}, row.tolerance(row.s, other, row.tau))


def parabola(row: Row) -> Reading:
    edge = torch.tensor(1.0, dtype=torch.float64)
    slope = gradient(lambda p: p**2, edge)
    return Reading({"p": 1.0, "s": 3.0}, {"autograd": slope}, row.tolerance(3.0))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def conic_fenchel_young_gap(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    plan = np.random.default_rng(drawn.m).dirichlet(np.ones(drawn.m))
    there = float(-plan @ drawn.scores + drawn.epsilon * (plan * np.log(plan)).sum())
    point = drawn.point() | {"p": float64(plan)}
    return Reading(point, {"cvxpy": float64(there - solution.objective)}, slack(drawn, solution.gap))


def conic_parabola(drawn: ConicRow) -> Reading:
    """∇f at the point where p² on [0, 1] attains its conjugate at 3, by a central difference."""
    slope = ((1 + STEP) ** 2 - (1 - STEP) ** 2) / (2 * STEP)
    return Reading({"p": 1.0, "s": 3.0}, {"difference": float64(slope)}, tolerances.rounding("float64", 1, 1 / STEP))


VOTES = [
    Sampled("eot.thmB.3", Layer.TORCH, parabola, on=rows(), corrected=touching_plane),
    Sampled(("eot.132", "eot.sB.equality-condition"), Layer.TORCH, parabola, on=rows(), corrected=fenchel_young_gap),
    Sampled(
        ("eot.132", "eot.sB.equality-condition"), Layer.PRIMAL, conic_parabola, on=problems(), corrected=conic_fenchel_young_gap
    ),
]
