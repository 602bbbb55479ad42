"""Votes on: Section 7, first half: the Fisher information matrix of the attention distribution."""

import torch

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.fisher import SMALL, both, named, reading, slopes
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row
from numerics import one_sided


@confirms(Layer.TORCH, "eot.78", "eot.83", "eot.84", "eot.85", "eot.86", "eot.87", "eot.88", on=SMALL, count=10)
def matrix(row: Row) -> Reading:
    return reading(row, 1 / row.tau**2, **both(row))


@confirms(Layer.TORCH, "eot.def7.1", on=SMALL, count=10)
def onto(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.tau * row.weights.log(), row.tau))


def scores_of_parallel_keys(row: Row) -> Reading:
    query = row["Q"]
    return reading(row, row.s, closed_form=one_sided.scores_from(query, row.s[:, None] * query / query.square().sum()))


@confirms(Layer.TORCH, "eot.s7.fixed-query", on=SMALL, count=10, corrected=scores_of_parallel_keys)
def other_scores(row: Row) -> Reading:
    other = row.s + named(row, "v")
    return Reading(row.point() | {"s": other.cpu()}, {"direct": other}, row.tolerance(other))


def length(row: Row) -> Reading:
    v = named(row, "v")
    routes = {name: v @ matrix @ v for name, matrix in both(row).items()}
    return reading(row, (v.abs().max() / row.tau) ** 2 * row.m, **routes)


@confirms(Layer.TORCH, "eot.80", on=SMALL, count=10)
def log_weights(row: Row) -> Reading:
    return reading(row, row.s / row.tau, log_softmax=torch.log_softmax(row.s / row.tau, -1))


@confirms(Layer.TORCH, "eot.81", on=SMALL, count=10)
def slope_of_log_partition(row: Row) -> Reading:
    return reading(row, 1 / row.tau, autograd=gradient(lambda s: one_sided.log_partition(s, row.tau), row.s))


@confirms(Layer.TORCH, "eot.s7.four-terms", on=SMALL, count=10)
def both_deltas(row: Row) -> Reading:
    one_hot = torch.eye(row.m, dtype=torch.float64, device=row.device)
    return reading(row, enumerated=torch.einsum("i,ij,ik->jk", row.weights, one_hot, one_hot))


VOTES = [
    Sampled("eot.def7.2", Layer.TORCH, length, on=SMALL, count=10),
    Sampled("eot.s7.metric", Layer.TORCH, length, on=SMALL, count=10, corrected=length),
    Sampled("eot.82", Layer.TORCH, slopes, on=SMALL, count=10),
]
