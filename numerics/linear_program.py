"""Optimal transport without entropy, ε = 0: the linear program itself, with potentials that prove its value.

    min over P ≥ 0 of ⟨C, P⟩  with P 1 = a, Pᵀ1 = b         max of Σ_i a_i f_i + Σ_j b_j g_j  with f_i + g_j ≤ C_ij

Claims      transport.s1.kantorovich
Notation    C = cost; a = source; b = target; P = plan; f, g = row and column potential, as in ``numerics.transport``
Solver      SciPy's HiGHS, all problems of a batch as one sparse program, in float64. As many rows as columns, all of the same
            mass, are an assignment, and SciPy's shortest augmenting paths find it, one problem after the other; g is then the
            shortest distance between columns, j to k costing C_ik − C_ij for the row i of j. The status that either
            reports decides nothing: f is computed again as f_i = min_j (C_ij − g_j), which makes every f_i + g_j ≤ C_ij,
            and the gap follows from that.
Layers      It stands apart from the closed forms, and casts no vote: the conic layer uses the same solver.
Derivatives Of the value, the first: ∂/∂C = P, ∂/∂a = f, ∂/∂b = g, along directions in which the masses stay equal. Where
            several plans or potentials are optimal these are subgradients. The plan, a vertex, has none.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_array
from torch import Tensor

from numerics import arguments
from numerics.transport.sinkhorn import scaling

_MASS, _COST = 2.0**27, 2.0**10
"""To what masses and costs are scaled: HiGHS takes for zero what is below 1e-7."""


@dataclass(frozen=True)
class ExactTransport:
    """An optimal plan with its potentials and its certificate. Only the value carries derivatives.

    Attributes:
        plan: P, (..., n, m), with at most n + m − 1 entries that are not zero.
        row_potential: f, (..., n).
        column_potential: g, (..., m), with Σ_j b_j g_j = 0.
        value: ⟨C, P⟩, (...).
        gap: ⟨C, P⟩ − Σ_i a_i f_i − Σ_j b_j g_j, (...): the value exceeds the least one by no more, but for the marginal errors.
        row_error: |Σ_j P_ij − a_i|, (..., n).
        column_error: |Σ_i P_ij − b_j|, (..., m).
    """

    plan: Tensor
    row_potential: Tensor
    column_potential: Tensor
    value: Tensor
    gap: Tensor
    row_error: Tensor
    column_error: Tensor


def exact_plan(
    cost: Tensor, source: Tensor | None = None, target: Tensor | None = None, mask: Tensor | None = None
) -> ExactTransport:
    """Return a plan of least cost: the limit of ``sinkhorn`` as ε → 0, where that plan is unique.

    Args:
        cost: C, floating, (..., n, m), +inf where forbidden.
        source: a, floating, (..., n), nonnegative; uniform by default.
        target: b, floating, (..., m), nonnegative, of the same mass; uniform by default.
        mask: boolean, broadcastable to (..., n, m): True takes part.

    Raises:
        ValueError: for a shape, dtype or mask other than these, for numbers that are negative or not finite, or for masses
            that differ by more than rounding.
        RuntimeError: if no plan has these marginals, or the solver fails.
    """
    if mask is not None and mask.is_floating_point():
        raise ValueError(f"mask: expected a boolean tensor, for there is no ε to add to, got {arguments.describe(mask)}")
    x, source_mass, _, _, dtype = scaling(cost, source, target, 1.0, float("inf"), mask)
    batch = x.source.shape[:-1]
    a, b = source_mass.double().expand(*batch, -1), x.target.double()
    C = cost.double() if mask is None else torch.where(mask, cost.double(), torch.inf)
    C = C.expand(*batch, *C.shape[-2:])
    _check(C, a, b, dtype)
    flat = (part.detach().cpu().reshape(-1, *part.shape[len(batch) :]) for part in (C, a, b))
    P, g = (torch.from_numpy(part).to(C).reshape(*batch, *part.shape[1:]) for part in _solve(*(part.numpy() for part in flat)))
    fixed, a0, b0 = C.detach(), a.detach(), b.detach()
    g = g - (b0 * g).sum(-1, keepdim=True) / b0.sum(-1, keepdim=True).clamp(min=torch.finfo(b0.dtype).tiny)
    f = (fixed - g.unsqueeze(-2)).amin(-1)
    f = torch.where(f.isfinite(), f, 0.0)  # a row that may go nowhere, and has no mass
    finite = torch.where(fixed == torch.inf, 0.0, fixed)
    value = (finite * P).sum((-2, -1))
    gap = value - (a0 * f).sum(-1) - (b0 * g).sum(-1)
    change = torch.where(fixed == torch.inf, 0.0, C) - finite
    first_order = (P * change).sum((-2, -1)) + (f * (a - a0)).sum(-1) + (g * (b - b0)).sum(-1)
    errors = (P.sum(-1) - a0).abs(), (P.sum(-2) - b0).abs()
    return ExactTransport(*(part.to(dtype) for part in (P, f, g, value + first_order, gap, *errors)))


def _check(C: Tensor, a: Tensor, b: Tensor, dtype: torch.dtype) -> None:
    if bool((C.isnan() | C.isneginf()).any()):
        raise ValueError("cost: expected numbers or +inf, got NaN or -inf")
    for name, marginal in (("source", a), ("target", b)):
        if not bool((marginal.isfinite() & (marginal >= 0)).all()):
            raise ValueError(f"{name}: expected finite numbers ≥ 0, got others")
    mass_difference, mass = (a.sum(-1) - b.sum(-1)).abs(), a.sum(-1)
    unit = torch.finfo(torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype).eps
    if bool((mass_difference > unit * sum(C.shape[-2:]) * mass).any()):
        raise ValueError(f"target: expected the mass of the source, got one that is off by {float(mass_difference.max()):.3g}")


def _solve(C: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P (B, n, m) and g (B, m)."""
    plan, potential = np.zeros_like(C), np.zeros_like(b)
    even = (a == a[:, :1]).all(1) & (b == b[:, :1]).all(1) & (C.shape[1] == C.shape[2]) & (a > 0).all(1)
    for k in np.flatnonzero(even):
        even[k] = _assign(C[k], a[k], plan[k], potential[k])
    plan[~even], potential[~even] = _program(C[~even], a[~even], b[~even])
    return plan, potential


def _assign(C: np.ndarray, a: np.ndarray, plan: np.ndarray, potential: np.ndarray) -> bool:
    """Fill in the plan and the potential of one assignment; return whether there is one."""
    try:
        rows, columns = linear_sum_assignment(C)
    except ValueError:                                       # too much is forbidden
        return False
    plan[rows, columns] = a
    between = np.empty_like(C)
    between[columns] = C[rows] - C[rows, columns][:, None]
    for _ in columns:
        nearer = (potential[:, None] + between).min(0)
        if (nearer >= potential).all():
            break
        potential[:] = nearer
    return True


def _program(C: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same by one program, with a block for each problem and a variable for each allowed entry."""
    count, n, m = C.shape
    problem, i, j = np.nonzero(np.isfinite(C))
    plan, potential = np.zeros_like(C), np.zeros_like(b)
    if not C.size:
        return plan, potential
    unit = _positive(a.sum(-1, keepdims=True)) / _MASS
    size = _positive(np.abs(np.where(np.isfinite(C), C, 0.0)).max((1, 2))[:, None]) / _COST
    totals = np.concatenate([(a / unit).ravel(), (b / _positive(b.sum(-1, keepdims=True)) * _MASS).ravel()])
    rows = np.concatenate([problem * n + i, count * n + problem * m + j])
    if (totals[np.bincount(rows, minlength=totals.size) == 0] > 0).any():
        raise RuntimeError("exact_plan: expected marginals that some plan has, got mass whose allowed targets cannot take it")
    if problem.size:
        columns = np.tile(np.arange(problem.size), 2)
        incidence = csr_array((np.ones(rows.size), (rows, columns)), shape=(totals.size, problem.size))
        solve: Any = linprog  # whose stubs know no sparse matrices
        solution = solve((C / size[..., None])[problem, i, j], A_eq=incidence, b_eq=totals, bounds=(0, None), method="highs")
        if solution.status != 0:
            raise RuntimeError(f"exact_plan: {solution.message}")
        plan[problem, i, j] = np.maximum(solution.x, 0.0)
        plan *= unit[..., None]
        potential = np.asarray(solution.eqlin.marginals)[count * n :].reshape(count, m) * size
    return plan, potential


def _positive(x: np.ndarray) -> np.ndarray:
    """Return x with ones for zeros."""
    return np.where(x > 0, x, 1.0)
