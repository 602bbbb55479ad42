"""What iterative solvers refuse."""

import pytest
import torch

from numerics.solvers import check_converged


def test_problems_that_did_not_converge_are_counted() -> None:
    converged = torch.tensor([[True, False], [False, True]])
    error = torch.tensor([[0.0, 0.25], [0.125, 0.0]])
    with pytest.raises(RuntimeError, match=r"^all: 2 of 4 problems did not converge in 7 steps; the largest gap is 0.25$"):
        check_converged("all", converged, error, 7, "gap")
    with pytest.raises(RuntimeError, match=r"the largest gap is inf, and NaN$"):
        check_converged("all", converged, error * torch.nan, 7, "gap", lambda: ", and NaN")
    check_converged("all", converged | ~converged, error, 7, "gap", lambda: pytest.fail("nothing to note"))
