"""Votes on: Section 3, Theorem 3.3: attention weights are the only solution, with the proof's Lagrangian line by line."""

import numpy as np
from torch import Tensor

from evidence import Layer, Observed, Reading, confirms, float64
from evidence.dtypes import in_dtypes, plan_error, point
from evidence.eot.conic_one_sided import ConicRow, error, problems, solved
from evidence.eot.forward import reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import OneSided, Row, rows
from evidence.models.captured import SCALED
from evidence.models.certified import certified_rows
from evidence.models.rows import WEIGHTS, in_random_models, pretrained_rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.18", "eot.thm3.3", on=rows())
def plan(row: Row) -> Reading:
    scores = one_sided.scores_from(row["Q"], row["K"])
    return reading(row, closed_form=one_sided.plan(scores, row.tau), softmax=row.weights)


def lagrangian(p: Tensor, row: Row) -> Tensor:
    """J(p) + λ(1 − Σ p) for any p > 0."""
    return one_sided.objective(p, row.s, row.tau) + row["lam"] * (1 - p.sum())


@confirms(Layer.TORCH, "eot.7", on=rows())
def lagrangian_value(row: Row) -> Reading:
    return reading(row, row["p"] * row.s, row["lam"] * row["p"], closed_form=lagrangian(row["p"], row))


@confirms(Layer.TORCH, *(f"eot.{number}" for number in range(8, 15)), on=rows())
def lagrangian_slope(row: Row) -> Reading:
    return reading(row, row.s, row["lam"], row.tau, autograd=gradient(lambda p: lagrangian(p, row), row["p"]))


@confirms(Layer.TORCH, "eot.s3.proportional", on=rows())
def ratios(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(row, closed_form=p[:, None] / p[None, :])


@confirms(Layer.TORCH, "eot.15", on=rows())
def mass(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau).sum())


@confirms(Layer.TORCH, "eot.16", on=rows())
def mass_without_constant(row: Row) -> Reading:
    return reading(
        row,
        closed_form=one_sided.log_partition(row.s, row.tau).exp() / row["Z"],
        term_by_term=((row.s / row.tau).exp() / row["Z"]).sum(),
    )


@confirms(Layer.TORCH, "eot.17", on=rows())
def constant(row: Row) -> Reading:
    return reading(
        row,
        closed_form=(row.s / row.tau).exp() / one_sided.plan(row.s, row.tau),
        log_partition=one_sided.log_partition(row.s, row.tau).exp().expand(row.m),
    )


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.18", "eot.thm3.3", on=problems())
def conic_plan(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, error(solution, drawn.epsilon))


@confirms(Layer.PRIMAL, "eot.17", on=problems())
def conic_constant(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    exponentials = np.exp(drawn.scores / drawn.epsilon)
    ratio = exponentials / solution.plan
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    return Reading(drawn.point(), {"cvxpy": float64(ratio)}, 2 * relative * float(ratio.max()))


@confirms(Layer.PRIMAL, "eot.s3.proportional", on=problems())
def conic_ratios(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    ratio = solution.plan[:, None] / solution.plan[None, :]
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    return Reading(drawn.point(), {"cvxpy": float64(ratio)}, 3 * relative * float(ratio.max()))


# ── in models and other dtypes ──────────────────────────────────────────────────────────────────────────────────────


def stored_plan(problem: OneSided) -> Reading:
    plan = one_sided.plan(problem.scores, problem.temperature)
    return Reading(point(problem), {"closed_form": plan}, plan_error(problem))


VOTES = [
    in_dtypes("eot.18", stored_plan),
    in_random_models("eot.18", WEIGHTS, SCALED),
    Observed(("eot.18", "eot.thm3.3"), Layer.TORCH, pretrained_rows(WEIGHTS), name="encoder"),
    Observed("eot.thm3.3", Layer.PRIMAL, certified_rows, name="solver"),
]
