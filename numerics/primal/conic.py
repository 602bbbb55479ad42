"""The only call of the conic solver: tight tolerances, and RuntimeError if the solver returns no solution.

The solver's status is reported but not trusted: a certificate decides whether a plan is accepted.
"""

import importlib.util
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics import tolerances

__all__ = ["cp", "solve"]


def _cvxpy() -> ModuleType:
    """CVXPY, which is imported when it is first used: that takes longer than the votes on most claims."""
    if "cvxpy" in sys.modules:
        return sys.modules["cvxpy"]
    spec = importlib.util.find_spec("cvxpy")
    assert spec is not None  # it is required
    assert spec.loader is not None
    spec.loader = loader = importlib.util.LazyLoader(spec.loader)
    module = sys.modules["cvxpy"] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import cvxpy as cp
else:
    cp = _cvxpy()


def solve(problem: "cp.Problem", variable: "cp.Variable", data: object) -> tuple[NDArray[np.float64], str]:
    """Solve a program with CLARABEL and return the value of one variable and the solver's status.

    Args:
        problem: built, with the values of its parameters set.
        variable: the one whose value is returned.
        data: named in the error message.

    Raises:
        RuntimeError: if the solver returned no value at all.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the gap will tell
        try:
            problem.solve(
                solver=cp.CLARABEL, tol_gap_abs=tolerances.SOLVER, tol_gap_rel=tolerances.SOLVER, tol_feas=tolerances.SOLVER
            )
        except cp.SolverError as error:
            raise RuntimeError(f"the solver returned no plan for {data!r}: {error}") from error
    if variable.value is None:
        raise RuntimeError(f"the solver returned no plan: status {problem.status!r} for {data!r}")
    return np.asarray(variable.value, dtype=np.float64), str(problem.status)
