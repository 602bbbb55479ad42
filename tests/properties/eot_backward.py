"""Section 5 of eot in torch: autograd and closed forms against the proved expressions."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from derivations.claims import Layer
from numerics import one_sided
from tests.layers import Reading, confirms
from tests.properties.eot_forward import descent, gradient, reading
from tests.properties.rows import Row, rows

TORCH = Layer.TORCH
NOT_DIAGONAL = ("eot.55", "eot.56", "eot.57", "eot.58")


def loss(context: Tensor, row: Row) -> Tensor:
    """A loss that is not linear in the context and has the gradient g at the row's own context."""
    here = (row.weights @ row.values).detach()
    return (row.g * context).sum() + ((context - here) ** 2).sum() + ((context - here) ** 3).sum()


@confirms(TORCH, "eot.44", on=rows())
def context_slope(row: Row) -> Reading:
    slopes = jacobian(lambda p: one_sided.context(p, row.values), row["p"])
    return reading(row, autograd=slopes)


@confirms(TORCH, "eot.45", on=rows())
def utilities(row: Row) -> Reading:
    return reading(
        row,
        row.values,
        row.g,
        autograd=-gradient(lambda p: loss(one_sided.context(p, row.values), row), row.weights),
        closed_form=one_sided.utility(row.g, row.values),
    )


@confirms(TORCH, "eot.thm5.2", "eot.48", on=rows())
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


@confirms(TORCH, "eot.46", "eot.60", "eot.61", "eot.62", "eot.63", "eot.64", on=rows())
def score_gradient(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(
        row,
        row.u / row.tau,
        autograd=-descent(row, row.u),
        closed_form=one_sided.score_gradient(p, row.u, row.tau),
        jacobian=-(one_sided.plan_jacobian(p, row.tau).T @ row.u),
    )


@confirms(TORCH, "eot.47", on=rows())
def expected_utility(row: Row) -> Reading:
    return reading(row, row.u, row.tau, context=one_sided.context(row.weights, (row.u + row.tau)[:, None])[0])


def jacobians(row: Row) -> dict[str, Tensor]:
    """∂p_k/∂s_j with rows j and columns k, by autograd and by the closed form."""
    autograd = jacobian(lambda s: one_sided.plan(s, row.tau), row.s)
    return {"autograd": autograd.T, "closed_form": one_sided.plan_jacobian(row.weights, row.tau).T}


@confirms(TORCH, "eot.51", "eot.52", "eot.53", "eot.54", on=rows())
def diagonal(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **{route: matrix.diagonal() for route, matrix in jacobians(row).items()})


@confirms(TORCH, "eot.59", *NOT_DIAGONAL, on=rows())
def whole_jacobian(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **jacobians(row))


# ── Remark 5.3 and the estimators ───────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "eot.rem5.3", "eot.s5.proportional", on=rows())
def update(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(TORCH, "eot.s5.expected-reward", on=rows())
def expected_reward(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(TORCH, "eot.s5.query-key-gradient", on=rows())
def query_gradient(row: Row) -> Reading:
    def expected(query: Tensor) -> Tensor:
        return (row.u * one_sided.plan(one_sided.scores_from(query, row["K"]), row.tau)).sum()

    return reading(row, row.u.abs().max() * row["K"] / row.tau, autograd=gradient(expected, row["Q"]))


def score_functions(row: Row) -> Tensor:
    """∂log p_i/∂s_j with rows i and columns j, by autograd."""
    return jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)


@confirms(TORCH, "eot.s5.score-function", on=rows())
def log_derivative(row: Row) -> Reading:
    return reading(row, 1 / row.tau, autograd=score_functions(row))


def on_average(row: Row) -> Reading:
    return reading(row, row.u / row.tau, row["b"] / row.tau, autograd=descent(row, row.u))


@confirms(TORCH, "eot.s5.reinforce", on=rows(), corrected=on_average)
def single_sample(row: Row) -> Reading:
    advantage = row.u - row.weights @ row.u
    return reading(row, row.u / row.tau, autograd=advantage[:, None] * score_functions(row))


def estimator_variance(row: Row, baseline: Tensor | float) -> Tensor:
    """Var[(u_i − b) g_i] for each score, over the enumerated actions."""
    updates = (row.u - baseline)[:, None] * score_functions(row)
    mean = row.weights @ updates
    return row.weights @ (updates - mean) ** 2


def saved(row: Row) -> Reading:
    difference = estimator_variance(row, 0.0) - estimator_variance(row, row["b"])
    return reading(row, (row.u.abs().max() + row["b"].abs()) ** 2 / row.tau**2, enumerated=difference)


@confirms(TORCH, "eot.s5.baseline-variance", on=rows(), corrected=saved)
def variance_without_baseline(row: Row) -> Reading:
    return reading(row, row.u.square() / row.tau**2, enumerated=estimator_variance(row, 0.0))


def with_baseline(row: Row) -> Reading:
    return reading(row, row.u / row.tau, row["b"] / row.tau, autograd=descent(row, row.u - row["b"]))


def mean_estimate(row: Row) -> Reading:
    updates = (row.u - row["b"])[:, None] * score_functions(row)
    return reading(row, row.u / row.tau, row["b"] / row.tau, enumerated=row.weights @ updates)


confirms(TORCH, "eot.s5.variance-reduced", on=rows(), corrected=with_baseline)(variance_without_baseline)
confirms(TORCH, "eot.s1.variance-reduced", on=rows(), corrected=mean_estimate)(variance_without_baseline)
