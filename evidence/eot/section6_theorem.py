"""Votes on: Section 6.2, Theorem 6.3: the log-sum-exp function, the dual value, and the sign between them."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, confirms, float64
from evidence.eot.conic_dual import dual_value, value_error
from evidence.eot.conic_one_sided import ConicRow, error, problems, solved
from evidence.eot.potential import dual, level, number, reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from evidence.models.captured import SCALED
from evidence.models.rows import POTENTIAL_GRADIENT, in_random_models, pretrained_rows
from numerics import fisher, one_sided


def lagrangian(p: Tensor, row: Row, multiplier: Tensor) -> Tensor:
    """J(p) + λ(1 − Σ p) for any p > 0."""
    return one_sided.objective(p, row.s, row.tau) + multiplier * (1 - p.sum())


@confirms(Layer.TORCH, "eot.72", on=rows(), count=16)
def lagrangian_value(row: Row) -> Reading:
    closed = lagrangian(row["p"], row, row["lam"])
    return reading(row, row["p"] * row.s, row["lam"] * row["p"], row["p"] ** 2, free=True, closed_form=closed)


@confirms(Layer.TORCH, "eot.74", on=rows(), count=16)
def lagrangian_slope(row: Row) -> Reading:
    multiplier = row.tau - number(row, "φ")
    return reading(row, free=True, autograd=gradient(lambda p: lagrangian(p, row, multiplier), row["p"]))


@confirms(Layer.TORCH, "eot.75", "eot.76", on=rows(), count=16)
def mass(row: Row) -> Reading:
    phi = number(row, "φ")
    return reading(
        row,
        (phi.abs() / row.tau).exp() * (row.s / row.tau).exp().sum(),
        direct=((row.s - phi) / row.tau).exp().sum(),
        closed_form=((fisher.potential(row.s, row.tau) - phi) / row.tau).exp(),
    )


@confirms(Layer.TORCH, "eot.77", on=rows(), count=16)
def logarithm_of_mass(row: Row) -> Reading:
    phi = number(row, "φ")
    closed = fisher.potential(row.s, row.tau) - phi
    return reading(row, phi, logsumexp=row.tau * torch.logsumexp((row.s - phi) / row.tau, -1), closed_form=closed)


@confirms(Layer.TORCH, "eot.s6.potential-gradient", on=rows(), count=16)
def potential_slope(row: Row) -> Reading:
    return reading(row, autograd=gradient(lambda s: fisher.potential(s, row.tau), row.s))


@confirms(Layer.TORCH, "eot.rem6.4", on=rows(), count=16)
def potential(row: Row) -> Reading:
    return reading(row, closed_form=fisher.potential(row.s, row.tau))


@confirms(Layer.TORCH, "eot.rem6.5", on=rows(), count=16)
def conjugate(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(row, closed_form=p @ row.s + row.tau * one_sided.entropy(p))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.rem6.4", "eot.rem6.5", on=problems())
def minus_value(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(-solution.objective)}, value_error(drawn, solution))


@confirms(Layer.PRIMAL, "eot.71", on=problems())
def level_of_the_plan(drawn: ConicRow) -> Reading:
    """s_j − τ log p_j of the solver's plan, and τ − λ* of its certificate."""
    solution = solved(drawn.scores, drawn.epsilon)
    level = drawn.scores - drawn.epsilon * np.log(solution.plan)
    relative = error(solution, drawn.epsilon) / solution.plan.min()
    mirrored = np.full(drawn.m, drawn.epsilon - solution.multiplier)
    error_bound = drawn.epsilon * 2 * relative + value_error(drawn, solution)
    return Reading(drawn.point(), {"plan": float64(level), "multiplier": float64(mirrored)}, error_bound)


VOTES = [
    Sampled("eot.71", Layer.TORCH, level, on=rows(), count=16),
    Sampled(("eot.thm6.3", "eot.s6.dual-value"), Layer.TORCH, dual, on=rows(), count=16, corrected=dual),
    Sampled(("eot.thm6.3", "eot.s6.dual-value"), Layer.PRIMAL, dual_value, on=problems(), count=16, corrected=dual_value),
    Observed("eot.s6.potential-gradient", Layer.TORCH, pretrained_rows(POTENTIAL_GRADIENT), name="encoder"),
    in_random_models("eot.s6.potential-gradient", POTENTIAL_GRADIENT, SCALED),
]
