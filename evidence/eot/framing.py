"""Abstract, related work and conclusion of eot in torch."""

import torch
from torch import Tensor

from evidence import Reading
from evidence.eot.backward import estimator_variance
from evidence.eot.forward import reading
from evidence.instances.derivatives import jacobian
from evidence.instances.one_sided import Row
from numerics import one_sided


def fisher(row: Row) -> Tensor:
    """F from its definition, with the score functions by autograd."""
    scores = jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)
    return scores.T @ (row.weights[:, None] * scores)


def variance_without_baseline(row: Row) -> Reading:
    return reading(row, row.u.square() / row.tau**2, enumerated=estimator_variance(row, 0.0))


def colder(row: Row) -> Tensor:
    """The plan itself, or one with a larger mean score: at half the temperature."""
    return one_sided.plan(row.s, row.tau if row.seed % 2 else row.tau / 2).cpu()
