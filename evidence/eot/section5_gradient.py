"""Votes on: Section 5, Theorem 5.2: what backpropagation does to the scores."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Observed, Reading, confirms, float64
from evidence.dtypes import in_dtypes, plan_error, point
from evidence.eot.conic_one_sided import ConicRow, differences, problems
from evidence.eot.forward import descent, reading
from evidence.instances.derivatives import gradient, jacobian
from evidence.instances.one_sided import OneSided, Row, rows
from evidence.models.captured import ARCHITECTURES
from evidence.models.rows import SCORE_GRADIENT, in_random_models, pretrained_rows
from numerics import one_sided, tolerances

NOT_DIAGONAL = ("eot.55", "eot.56", "eot.57", "eot.58")


def loss(context: Tensor, row: Row) -> Tensor:
    """A loss that is not linear in the context and has the gradient g at the row's own context."""
    here = (row.weights @ row.values).detach()
    return (row.g * context).sum() + ((context - here) ** 2).sum() + ((context - here) ** 3).sum()


@confirms(Layer.TORCH, "eot.44", on=rows())
def context_slope(row: Row) -> Reading:
    slopes = jacobian(lambda p: one_sided.context(p, row.values), row["p"])
    return reading(row, autograd=slopes)


@confirms(Layer.TORCH, "eot.45", on=rows())
def utilities(row: Row) -> Reading:
    return reading(
        row,
        row.values,
        row.g,
        autograd=-gradient(lambda p: loss(one_sided.context(p, row.values), row), row.weights),
        closed_form=one_sided.utility(row.g, row.values),
    )


@confirms(Layer.TORCH, "eot.thm5.2", on=rows())
def gradient_through_the_model(row: Row) -> Reading:
    def model(scores: Tensor) -> Tensor:
        return loss(one_sided.context(one_sided.plan(scores, row.tau), row.values), row)

    p = one_sided.plan(row.s, row.tau)
    utility = one_sided.utility(row.g, row.values)
    return reading(
        row,
        row.u / row.tau,
        row.values,
        row.g,
        autograd=gradient(model, row.s),
        closed_form=one_sided.score_gradient(p, utility, row.tau),
    )


@confirms(Layer.TORCH, "eot.46", "eot.60", "eot.61", "eot.62", "eot.63", "eot.64", on=rows())
def score_gradient(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(
        row,
        row.u / row.tau,
        autograd=-descent(row, row.u),
        closed_form=one_sided.score_gradient(p, row.u, row.tau),
        jacobian=-(one_sided.plan_jacobian(p, row.tau).T @ row.u),
    )


@confirms(Layer.TORCH, "eot.47", on=rows())
def expected_utility(row: Row) -> Reading:
    return reading(row, row.u, row.tau, context=one_sided.context(row.weights, (row.u + row.tau)[:, None])[0])


def jacobians(row: Row) -> dict[str, Tensor]:
    """∂p_k/∂s_j with rows j and columns k, by autograd and by the closed form."""
    autograd = jacobian(lambda s: one_sided.plan(s, row.tau), row.s)
    return {"autograd": autograd.T, "closed_form": one_sided.plan_jacobian(row.weights, row.tau).T}


@confirms(Layer.TORCH, "eot.51", "eot.52", "eot.53", "eot.54", on=rows())
def diagonal(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **{route: matrix.diagonal() for route, matrix in jacobians(row).items()})


@confirms(Layer.TORCH, "eot.59", *NOT_DIAGONAL, on=rows())
def whole_jacobian(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **jacobians(row))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.59", on=problems(), count=12)
def conic_jacobian(drawn: ConicRow) -> Reading:
    slopes, error = differences(drawn)
    return Reading(drawn.point(), {"differences of optima": float64(slopes)}, error)


@confirms(Layer.PRIMAL, "eot.46", "eot.64", on=problems(), count=12)
def conic_score_gradient(drawn: ConicRow) -> Reading:
    slopes, error = differences(drawn)
    gradient = -(slopes @ drawn.utilities)
    return Reading(drawn.point(), {"differences of optima": float64(gradient)}, error * float(np.abs(drawn.utilities).sum()))


# ── in models and other dtypes ──────────────────────────────────────────────────────────────────────────────────────


def stored_gradient(problem: OneSided) -> Reading:
    plan = one_sided.plan(problem.scores, problem.temperature)
    gradient = one_sided.score_gradient(plan, problem.utility, problem.temperature)
    return Reading(point(problem), {"closed_form": gradient}, gradient_error(problem))


def gradient_error(problem: OneSided) -> float:
    """The error of a score gradient, by the smaller of two bounds; small gradients need the second one."""
    dtype, tau, m = problem.scores.dtype, problem.temperature, problem.m
    utility, logits = problem.utility.double(), problem.scores.double() / tau
    largest, p = float(utility.abs().max()), logits.softmax(-1)
    sensitivity = float((p * (2 * (utility - p @ utility).abs() + p @ utility.abs())).max())
    computed = tolerances.plan(torch.float32, m, float(logits.abs().max()))
    return min(
        tolerances.score_gradient(dtype, m, largest, tau, plan_error(problem)),
        tolerances.stored_score_gradient(dtype, m, largest, tau, sensitivity, computed),
    )


def stored_jacobian(problem: OneSided) -> Reading:
    """∂p_k/∂s_j; |d p(δ − p)| ≤ |dp|, and one more rounding of at most 1/4."""
    plan = one_sided.plan(problem.scores, problem.temperature)
    slopes = one_sided.plan_jacobian(plan, problem.temperature).T
    return Reading(point(problem), {"closed_form": slopes}, 1.25 * plan_error(problem) / problem.temperature)


VOTES = [
    in_dtypes("eot.46", stored_gradient),
    in_dtypes("eot.59", stored_jacobian),
    Observed(("eot.thm5.2", "eot.46"), Layer.TORCH, pretrained_rows(SCORE_GRADIENT), name="encoder"),
    in_random_models("eot.thm5.2", SCORE_GRADIENT, ARCHITECTURES),
]
