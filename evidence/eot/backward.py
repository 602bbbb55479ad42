"""Section 5 of eot in torch: autograd and closed forms against the proved expressions."""

import torch
from torch import Tensor

from evidence import Reading
from evidence.eot.forward import descent, reading
from evidence.instances.derivatives import jacobian
from evidence.instances.one_sided import Row


def score_functions(row: Row) -> Tensor:
    """∂log p_i/∂s_j with rows i and columns j, by autograd."""
    return jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)


def on_average(row: Row) -> Reading:
    return reading(row, row.u / row.tau, row["b"] / row.tau, autograd=descent(row, row.u))


def estimator_variance(row: Row, baseline: Tensor | float) -> Tensor:
    """Var[(u_i − b) g_i] for each score, over the enumerated actions."""
    updates = (row.u - baseline)[:, None] * score_functions(row)
    mean = row.weights @ updates
    return row.weights @ (updates - mean) ** 2


def with_baseline(row: Row) -> Reading:
    return reading(row, row.u / row.tau, row["b"] / row.tau, autograd=descent(row, row.u - row["b"]))


def mean_estimate(row: Row) -> Reading:
    updates = (row.u - row["b"])[:, None] * score_functions(row)
    return reading(row, row.u / row.tau, row["b"] / row.tau, enumerated=row.weights @ updates)
