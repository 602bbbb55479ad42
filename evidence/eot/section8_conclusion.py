"""Votes on: Section 8: what the conclusion sums up."""

import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.backward import with_baseline
from evidence.eot.conic_appendix import conic_maximizer
from evidence.eot.conic_one_sided import problems
from evidence.eot.forward import descent, reading
from evidence.eot.framing import colder, fisher, variance_without_baseline
from evidence.eot.section0_abstract import plan, update
from evidence.instances.derivatives import along, jacobian
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.s8.maximum-entropy", on=rows())
def largest_entropy(row: Row) -> Reading:
    routes = {"closed_form": one_sided.entropy(one_sided.plan(row.s, row.tau))}
    return Reading(row.point() | {"q": colder(row)}, routes, row.tolerance(row.s, row.tau))


def response(row: Row) -> Tensor:
    """How the weights move when the scores move along the descent direction."""
    return along(lambda s: one_sided.plan(s, row.tau), row.s, descent(row, row.u))


def every_response(row: Row) -> Reading:
    return reading(row, row.u / row.tau**2, autograd=response(row))


@confirms(Layer.TORCH, "eot.s8.reinforces", on=rows(), corrected=every_response)
def least_response_of_a_good_key(row: Row) -> Reading:
    moves = response(row).cpu()
    advantage = (row.u - row.weights @ row.u).cpu()
    chosen = int(torch.where(advantage >= 0, moves, torch.inf).argmin())
    point = row.point() | {"j": chosen + 1}
    return Reading(point, {"autograd": moves[chosen]}, row.tolerance(row.u / row.tau**2))


@confirms(Layer.TORCH, "eot.s8.entropy-geometry", on=rows())
def metric_of_entropy(row: Row) -> Reading:
    slopes = jacobian(lambda s: one_sided.plan(s, row.tau), row.s)
    return reading(row, 1 / row.tau**2, 1 / row.weights, autograd=slopes.T @ (slopes / row.weights[:, None]))


def natural_step(row: Row) -> Reading:
    return reading(row, row.u / row.tau, fisher=fisher(row) @ (row.tau * row.u))


@confirms(Layer.TORCH, "eot.s8.landscape", on=rows(), corrected=natural_step)
def plain_step(row: Row) -> Reading:
    step = descent(row, row.u)
    return reading(row, row.u.square() / row.tau**4, fisher=torch.outer(fisher(row) @ step, step))


VOTES = [
    Sampled("eot.s8.unique-solution", Layer.TORCH, plan, on=rows()),
    Sampled("eot.s8.policy-gradient", Layer.TORCH, update, on=rows()),
    Sampled("eot.s8.variance-reduced", Layer.TORCH, variance_without_baseline, on=rows(), corrected=with_baseline),
    Sampled("eot.s8.unique-solution", Layer.PRIMAL, conic_maximizer, on=problems()),
]
