"""Optimal transport without entropy, ε = 0: the linear program itself, with potentials that prove its value.

    min over P ≥ 0 of ⟨C, P⟩  with P 1 = a, Pᵀ1 = b         max of Σ_i a_i f_i + Σ_j b_j g_j  with f_i + g_j ≤ C_ij

Claims      transport.s1.kantorovich
Notation    C = cost; a = source; b = target; P = plan; f, g = row and column potential, as in ``numerics.transport``;
            R_ij = C_ij − f_i − g_j, the reduced costs; k = min(n, m)
Solver      POT's network simplex, one problem after the other, in float64 (``numerics.network``). Its status decides nothing:
            R ≥ 0 is made to hold, and the gap is ⟨R, P⟩.
Masses      The simplex gets whole numbers, whose sums agree exactly. Only the pairs of its plan are kept. They have no cycle:
            in them the masses as given determine P, and the costs f and g.
Costs       f and g are sums of several numbers, and R is what their exact sums leave of C, rounded once. An optimal plan
            differs from P by cycles, each of which leaves at most k pairs of P, and so it holds no pair with R_ij > kδ, where δ
            is the largest R_ij with P_ij > 0. While the gap is more than rounding, the problem is solved again for R cut at
            (k + 1)δ. What is forbidden starts at that cost. Rounding is counted in units of ⟨C, P⟩ less what the least costs
            of rows and columns add up to. So large costs and large offsets take no digits from small costs.
Layers      It stands apart from the closed forms, and casts no vote. The conic layer uses another solver, with which tests
            compare it.
Derivatives Of the value, the first: ∂/∂C = P, ∂/∂a = f, ∂/∂b = g, along directions in which the masses stay equal. Where
            several plans or potentials are optimal these are subgradients. The plan, a vertex, has none.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerics import arguments, network, tolerances
from numerics.network import Array
from numerics.transport import feasibility
from numerics.transport.sinkhorn import masked, scaling


@dataclass(frozen=True)
class ExactTransport:
    """An optimal plan with its potentials and its certificate. Only the value carries derivatives.

    Attributes:
        plan: P, (..., n, m), with at most n + m − 1 entries that are not zero.
        row_potential: f, (..., n).
        column_potential: g, (..., m), with Σ_j b_j g_j = 0.
        value: ⟨C, P⟩, (...).
        gap: Σ_ij P_ij (C_ij − f_i − g_j) ≥ 0, (...), at the potentials before they are rounded: no plan with the marginals of P
            costs less by more.
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
        target: b, floating, (..., m), nonnegative; uniform by default. The masses agree as for ``sinkhorn``.
        mask: boolean, broadcastable to (..., n, m): True takes part.

    Raises:
        ValueError: for a shape, dtype or mask other than these, for NaN, −inf or a negative mass, for masses that differ, or if
            no plan has these marginals.
        RuntimeError: if the solver fails, or leaves a gap that is more than rounding.
    """
    if isinstance(mask, Tensor) and mask.is_floating_point():
        raise ValueError(f"mask: expected a boolean tensor, for there is no ε to add to, got {arguments.describe(mask)}")
    x, a, epsilon, _, dtype = scaling(cost, source, target, 1.0, math.inf, mask, double=True)
    data = feasibility.Data(cost, source, target, mask, masked(cost, mask)[0])
    x, _ = feasibility.checked(data, x, a, epsilon, strict=True)
    batch, b = x.source.shape[:-1], x.target
    a, C = a.expand(*batch, -1), torch.where(data.allowed, cost.double(), torch.inf).expand(x.log_kernel.shape)
    a0, b0, fixed = a.detach(), b.detach(), C.detach()
    P, f, g, gap = _solved(fixed, a0, b0)
    mean = (b0 * g).sum(-1, keepdim=True) / b0.sum(-1, keepdim=True).clamp(min=torch.finfo(b0.dtype).tiny)
    f, g = torch.where((fixed < torch.inf).any(-1), f + mean, 0.0), g - mean
    row_error, column_error = (P.sum(-1) - a0).abs(), (P.sum(-2) - b0).abs()
    lost = (row_error.sum(-1) + column_error.sum(-1)) / a0.sum(-1).clamp(min=torch.finfo(a0.dtype).tiny)
    allowed = 2 * (data.slack + tolerances.rounding("float64", sum(cost.shape[-2:])))
    arguments.check_entries(data.forbids, lost, lost <= allowed, "marginals that some plan has, without a share that is lost")
    finite = torch.where(fixed == torch.inf, 0.0, fixed)
    change = torch.where(fixed == torch.inf, 0.0, C) - finite
    first_order = (P * change).sum((-2, -1)) + (f * (a - a0)).sum(-1) + (g * (b - b0)).sum(-1)
    value = (finite * P).sum((-2, -1)) + first_order
    return ExactTransport(*(part.to(dtype) for part in (P, f, g, value, gap, row_error, column_error)))


def _solved(cost: Tensor, source: Tensor, target: Tensor) -> list[Tensor]:
    """Return P, f, g and the gap."""
    batch = source.shape[:-1]
    flat = (x.cpu().reshape(-1, *x.shape[len(batch) :]).numpy() for x in (cost, source, target))
    solutions = [_problem(C, a, b) for C, a, b in zip(*flat, strict=True)]
    n, m = cost.shape[-2:]
    parts = zip(*solutions, strict=True) if solutions else ([], [], [], [])
    return [
        torch.from_numpy(np.array(part, dtype=np.float64)).to(cost).reshape((*batch, *shape))
        for part, shape in zip(parts, ((n, m), (n,), (m,), ()), strict=True)
    ]


def _problem(C: Array, a: Array, b: Array) -> network.Optimum:
    """Solve one problem, whose masses may be zero: in units, and where there is mass."""
    unit = 2.0 ** np.frexp(np.abs(np.where(np.isfinite(C), C, 0.0)).max())[1]
    C, (rows, columns) = C / unit, (np.flatnonzero(mass) for mass in (a, b))
    plan, f, g, gap = np.zeros_like(C), np.zeros_like(a), np.zeros_like(b), 0.0
    if rows.size:
        inner = np.ix_(rows, columns)
        plan[inner], f[rows], g[columns], gap = network.transport(C[inner], a[rows], b[columns])
    rows, columns = (np.flatnonzero(mass == 0) for mass in (a, b))
    if columns.size:
        g[columns] = _finite((C[:, columns] - f[:, None])[a > 0].min(0, initial=np.inf))
    if rows.size:
        f[rows] = _finite((C[rows] - g).min(1))
    return network.Optimum(plan, f * unit, g * unit, gap * unit)


def _finite(x: Array) -> Array:
    """Return x with zeros for infinities."""
    return np.where(np.isfinite(x), x, 0.0)
