"""What iterative solvers share: how they approach problems with little entropy, and how they refuse what they did not solve."""

from collections.abc import Callable

import torch
from torch import Tensor

ROUGH_TOLERANCE = 1e-2
"""The residual, as a share of the mass or length at hand, at which a problem with more entropy counts as solved."""
INITIAL_TILT = 10.0
"""How far the exponents of the first problem spread."""
RATE = 4.0
"""How many times as much entropy a problem has as the next one."""


def check_converged(
    solver: str, converged: Tensor, error: Tensor, max_steps: int, measure: str, note: Callable[[], str] = str
) -> None:
    """Raise RuntimeError for problems that did not converge.

    Args:
        solver: its name.
        converged: boolean, (...).
        error: of each problem, (...), or of each of its parts.
        max_steps: how many steps were allowed.
        measure: what ``error`` is called.
        note: what more there is to say.
    """
    if not bool(converged.all()):
        raise RuntimeError(
            f"{solver}: {int((~converged).sum())} of {converged.numel()} problems did not converge in {max_steps} steps; "
            f"the largest {measure} is {float(error.nan_to_num(nan=torch.inf).max()):.3g}{note()}"
        )
