"""Abstract, related work and conclusion of eot in torch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.functional import jacobian, jvp

from derivations.claims import Layer
from numerics import one_sided
from tests.layers import Reading, confirms
from tests.properties.eot_backward import estimator_variance, mean_estimate, on_average, single_sample, with_baseline
from tests.properties.eot_forward import descent, gradient, reading
from tests.properties.rows import Row, rows

TORCH = Layer.TORCH


@confirms(TORCH, "eot.s0.exact-solution", "eot.s8.unique-solution", on=rows())
def plan(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(one_sided.scores_from(row["Q"], row["K"]), row.tau), softmax=row.weights)


def fisher(row: Row) -> Tensor:
    """F from its definition, with the score functions by autograd."""
    scores = jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)
    return scores.T @ (row.weights[:, None] * scores)


@confirms(TORCH, "eot.s0.policy-gradient", "eot.s8.policy-gradient", "eot.s0.geometry", "eot.s8.curvature", on=rows())
def update(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u), fisher=row.tau * fisher(row) @ row.u)


def variance_without_baseline(row: Row) -> Reading:
    return reading(row, row.u.square() / row.tau**2, enumerated=estimator_variance(row, 0.0))


confirms(TORCH, "eot.s0.variance-reduced", on=rows(), corrected=mean_estimate)(variance_without_baseline)
confirms(TORCH, "eot.s8.variance-reduced", on=rows(), corrected=with_baseline)(variance_without_baseline)
confirms(TORCH, "eot.s2.exact-update", on=rows(), corrected=on_average)(single_sample)


@confirms(TORCH, "eot.s2.log-derivative", on=rows())
def slope_of_mean(row: Row) -> Reading:
    slope = gradient(lambda s: (row.u * torch.softmax(s / row.tau, -1)).sum(), row.s)
    return reading(row, row.u / row.tau, autograd=slope)


def colder(row: Row) -> Tensor:
    """The plan itself, or one with a larger mean score: at half the temperature."""
    return one_sided.plan(row.s, row.tau if row.seed % 2 else row.tau / 2).cpu()


@confirms(TORCH, "eot.s8.maximum-entropy", on=rows())
def largest_entropy(row: Row) -> Reading:
    routes = {"closed_form": one_sided.entropy(one_sided.plan(row.s, row.tau))}
    return Reading(row.point() | {"q": colder(row)}, routes, row.tolerance(row.s, row.tau))


@confirms(TORCH, "eot.s2.gibbs", on=rows())
def largest_entropy_for_energy(row: Row) -> Reading:
    routes = {"closed_form": one_sided.entropy(one_sided.plan(row.s, row.tau))}
    return Reading(row.point() | {"E": -row.s.cpu(), "q": colder(row)}, routes, row.tolerance(row.s, row.tau))


def received(row: Row) -> Reading:
    queries = 2 + row.seed % 3
    matrix = torch.softmax(row.s.expand(queries, row.m) / row.tau, -1)
    return Reading({"n": queries, "m": row.m, "p": row.weights.cpu()}, {"direct": matrix.sum(0)}, row.tolerance(float(queries)))


confirms(TORCH, "eot.s2.sinkhorn-citation", on=rows(), corrected=received)(received)


# ── section 8 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def response(row: Row) -> Tensor:
    """How the weights move when the scores move along the descent direction."""
    return jvp(lambda s: one_sided.plan(s, row.tau), row.s, descent(row, row.u))[1]


def every_response(row: Row) -> Reading:
    return reading(row, row.u / row.tau**2, autograd=response(row))


@confirms(TORCH, "eot.s8.reinforces", on=rows(), corrected=every_response)
def least_response_of_a_good_key(row: Row) -> Reading:
    moves = response(row).cpu()
    advantage = (row.u - row.weights @ row.u).cpu()
    chosen = int(torch.where(advantage >= 0, moves, torch.inf).argmin())
    point = row.point() | {"j": chosen + 1}
    return Reading(point, {"autograd": moves[chosen]}, row.tolerance(row.u / row.tau**2))


@confirms(TORCH, "eot.s8.entropy-geometry", on=rows())
def metric_of_entropy(row: Row) -> Reading:
    slopes = jacobian(lambda s: one_sided.plan(s, row.tau), row.s)
    return reading(row, 1 / row.tau**2, 1 / row.weights, autograd=slopes.T @ (slopes / row.weights[:, None]))


def natural_step(row: Row) -> Reading:
    return reading(row, row.u / row.tau, fisher=fisher(row) @ (row.tau * row.u))


@confirms(TORCH, "eot.s8.landscape", on=rows(), corrected=natural_step)
def plain_step(row: Row) -> Reading:
    step = descent(row, row.u)
    return reading(row, row.u.square() / row.tau**4, fisher=torch.outer(fisher(row) @ step, step))
