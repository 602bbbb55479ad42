"""Problem (24) in the form that the solvers use: arguments checked and converted to one dtype."""

from typing import NamedTuple

import torch
from torch import Tensor

from numerics.arguments import Positive, broadcast, positive, tensors


class Problem(NamedTuple):
    """Tensors in the dtype to compute in, with scalars shaped (...) or (), and the dtype to return."""

    templates: Tensor
    evidence: Tensor
    prior: Tensor
    cost: Tensor
    alpha: Tensor
    temperature: Tensor
    dtype: torch.dtype


def problem(
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor,
    cost: Tensor,
    alpha: Positive,
    temperature: Positive,
    *,
    double: bool = False,
) -> Problem:
    """Check the data of problem (24) and bring them to one dtype: float64 if ``double``, numbers included.

    Raises:
        ValueError: naming the argument, for a shape, dtype or number other than the package's notes say.
    """
    (t, z, u, M), dtype = tensors(templates=(templates, 2), evidence=(evidence, 1), prior=(prior, 1), cost=(cost, 2))
    if double:
        t, z, u, M = t.double(), z.double(), u.double(), M.double()
    check_cost(M, t.shape[-2], u.shape[-1])
    if z.shape[-1] != t.shape[-1]:
        raise ValueError(f"evidence: expected (..., {t.shape[-1]}) like the templates {tuple(t.shape)}, got {tuple(z.shape)}")
    batch = broadcast(templates=t.shape[:-2], evidence=z.shape[:-1], prior=u.shape[:-1], cost=M.shape[:-2])
    return Problem(t, z, u, M, positive("alpha", alpha, batch, t), positive("temperature", temperature, batch, t), dtype)


def check_cost(cost: Tensor, rows: int | None, columns: int) -> None:
    """Refuse a cost that is not (..., rows, columns)."""
    if cost.shape[-1] != columns or (rows is not None and cost.shape[-2] != rows):
        size = "N" if rows is None else rows
        raise ValueError(f"cost: expected (..., {size}, {columns}), from each of {columns} priors, got {tuple(cost.shape)}")
