"""A backtracking line search over a batch: every problem halves its own step until its objective has grown enough."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

Point = TypeVar("Point")

_HALVINGS = 60
_SUFFICIENT = 1e-4
"""The share of the growth along the tangent that is enough (Armijo's condition)."""


def backtrack(
    trial_at: Callable[[Tensor], Point],
    objective: Callable[[Point], Tensor],
    start: Tensor,
    slope: Tensor,
    slack: Tensor,
    exempt: Tensor,
) -> tuple[Tensor, Point, Tensor]:
    """Return the step sizes, (...), the points reached, and whether the objective has grown enough, boolean (...).

    Args:
        trial_at: the points reached by steps of the sizes (..., 1).
        objective: of such a point, (...), to be maximized.
        start: the objective at size 0, (...).
        slope: its derivative along the step there, (...).
        slack: how much of the growth rounding may hide, (...).
        exempt: problems that need not grow, boolean (...).
    """
    size = torch.ones_like(slope)
    for _ in range(_HALVINGS):
        trial = trial_at(size.unsqueeze(-1))
        accepted = exempt | (objective(trial) >= start + _SUFFICIENT * size * slope - slack)
        if bool(accepted.all()):
            break
        size = torch.where(accepted, size, size / 2)
    return size, trial, accepted
