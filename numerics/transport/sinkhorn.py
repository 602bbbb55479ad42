"""Optimal plans between a source and a target: balanced, relaxed, and one-sided.

Claims      transport.s1.kantorovich, transport.s1.entropic, transport.s1.kl, transport.s3.sinkhorn-attention,
            transport.listing.sinkhorn, transport.listing.sinkhorn_divergence
Notation    See the package.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import torch
from torch import Tensor

from numerics import arguments, tolerances
from numerics.arguments import Positive, without_autocast
from numerics.solvers import check_converged
from numerics.transport import feasibility, solver
from numerics.transport.solver import Scaling


@dataclass(frozen=True)
class Transport:
    """An optimal plan with its potentials and its certificate. The errors and what follows carry no derivatives.

    Whatever the potentials, P_ij = a_i b_j exp((f_i + g_j − C_ij)/ε) is the optimal plan between its own marginals: the
    marginal errors are the whole distance from the stated problem. They are those of the plan as it is returned,
    in its dtype.

    Attributes:
        plan: P, (..., n, m).
        row_potential: f, (..., n).
        column_potential: g, (..., m); with ρ = ∞, f and g are determined up to a constant (one for each connected part of
            what is allowed), chosen so that Σ_j b_j g_j = 0.
        value: the optimal value, Σ_i a_i f_i + Σ_j b_j g_j, or ρ Σ_j b_j (1 − exp(−g_j/ρ)) for its last sum, (...).
        row_error: |Σ_j P_ij − a_i|, (..., n).
        column_error: |Σ_i P_ij − b_j exp(−g_j/ρ)|, (..., m).
        converged: whether each of the errors is no more than rounding can explain: that of n + m exponents and sums in float64
            and, where the plan is returned in a shorter dtype, that of its entries. Boolean, (...).
        steps: how many steps the slowest problem took.
    """

    plan: Tensor
    row_potential: Tensor
    column_potential: Tensor
    value: Tensor
    row_error: Tensor
    column_error: Tensor
    converged: Tensor
    steps: int

    def to(self, dtype: torch.dtype) -> Self:
        """Return the result in another dtype."""
        return replace(self, **{name: x.to(dtype) for name, x in vars(self).items() if name not in ("converged", "steps")})


@without_autocast
def sinkhorn(
    cost: Tensor,
    source: Tensor | None = None,
    target: Tensor | None = None,
    temperature: Positive = 1.0,
    *,
    relaxation: Positive = math.inf,
    mask: Tensor | None = None,
    max_steps: int = 200,
    strict: bool = True,
) -> Transport:
    """Minimize ⟨C, P⟩ + ε Σ_ij P_ij log(P_ij/(a_i b_j)) + ρ KL(Pᵀ1 ‖ b) over P ≥ 0 with P 1 = a.

    With ρ = ∞ the target is met exactly, Pᵀ1 = b; as ρ → 0, P becomes ``one_sided_plan``. Differentiable twice in every
    tensor, also under ``torch.func`` (but for ``vmap``: the batch is what it is for); at ρ = ∞ in directions along which
    the masses of source and target stay equal. It is solved in float64, whatever the dtype of the arguments, and needs
    O(nm + min(n, m)²) numbers.

    Args:
        cost: C, floating, (..., n, m), +inf where forbidden.
        source: a, floating, (..., n), nonnegative; uniform by default.
        target: b, floating, (..., m), nonnegative; uniform by default. With ρ = ∞ it must have the mass of the source, but
            for the rounding of their dtypes, which is taken off: b is scaled.
        temperature: ε, positive; a number, or a tensor that broadcasts over (...).
        relaxation: ρ, as the temperature, or ``math.inf``.
        mask: broadcastable to (..., n, m): boolean, True takes part; or floating, added to −C/ε.
        max_steps: ≥ 1.
        strict: whether a problem without a solution, or one that did not converge, is an error. Otherwise ``converged`` says
            which they are.

    Raises:
        ValueError: for a shape, dtype or number other than these; for NaN, −inf or a negative mass; if ``strict``, and no plan
            has these marginals.
        RuntimeError: if ``strict``, and a problem did not converge.
    """
    result, dtype = solved(cost, source, target, temperature, relaxation, mask, max_steps=max_steps, strict=strict)
    return result.to(dtype)


def solved(
    cost: Tensor,
    source: Tensor | None,
    target: Tensor | None,
    temperature: Positive,
    relaxation: Positive,
    mask: Tensor | None,
    *,
    max_steps: int,
    strict: bool,
    stored: torch.dtype | None = None,
) -> tuple[Transport, torch.dtype]:
    """Return the solution in float64, and the dtype to return; arguments and errors as for ``sinkhorn``.

    The certificate is that of the plan in ``stored``, by default the dtype to return.
    """
    arguments.check_count("max_steps", max_steps)
    mask = None if mask is None else arguments.check_mask_dtype("mask", mask, cost)
    x, source_mass, epsilon, floor, dtype = scaling(cost, source, target, temperature, relaxation, mask, double=True)
    data = feasibility.Data(cost, source, target, mask, masked(cost, mask)[0])
    x, parts = feasibility.checked(data, x, source_mass, epsilon, strict=strict)
    fixed = x.detached()
    psi, steps = solver.solve(fixed, parts, max_steps)
    psi = solver.completed(x, solver.centred(x, solver.refined(x, psi, parts), parts))
    point = solver.evaluate(x, psi)
    plan = solver.plan(x, point)
    stored = dtype if stored is None else stored
    errors, converged = _certified(fixed, psi.detach(), source_mass.detach(), plan.detach(), stored)
    if strict:
        off = torch.cat(errors, -1)
        check_converged("sinkhorn", converged, off, max_steps, "marginal error", partial(_unresolved, fixed, psi.detach()))
    return Transport(
        plan=plan,
        row_potential=epsilon[..., None] * point.row + floor,
        column_potential=epsilon[..., None] * psi,
        value=epsilon * point.objective + (x.source * floor).sum(-1),
        row_error=errors[0],
        column_error=errors[1],
        converged=converged,
        steps=steps,
    ), dtype


@without_autocast
def one_sided_plan(
    cost: Tensor,
    source: Tensor | None = None,
    target: Tensor | None = None,
    temperature: Positive = 1.0,
    mask: Tensor | None = None,
) -> Tensor:
    """Return P_ij = a_i b_j exp(−C_ij/ε) / Σ_k b_k exp(−C_ik/ε), which asks for the source alone: ρ = 0.

    With uniform marginals this is attention with the scores −C: a row of it is a_i times a softmax.

    Args:
        cost: C, floating, (..., n, m), +inf where forbidden.
        source: a, floating, (..., n), nonnegative; uniform by default.
        target: b, a prior here, floating, (..., m), nonnegative; uniform by default.
        temperature: ε, positive; a number, or a tensor that broadcasts over (...).
        mask: as for ``sinkhorn``.

    Returns:
        (..., n, m), in the widest dtype of the tensors; a row with nothing left is zero.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    x, *_, dtype = scaling(cost, source, target, temperature, math.inf, mask)
    return solver.plan(x, solver.evaluate(x, torch.zeros_like(x.target))).to(dtype)


@without_autocast
def sinkhorn_divergence(
    cross: Tensor,
    within_source: Tensor,
    within_target: Tensor,
    source: Tensor | None = None,
    target: Tensor | None = None,
    temperature: Positive = 1.0,
    *,
    max_steps: int = 200,
) -> Tensor:
    """Return S_ε(a, b) = W_ε(a, b; C_xy) − W_ε(a, a; C_xx)/2 − W_ε(b, b; C_yy)/2.

    W_ε is the optimal value of ``sinkhorn`` with its entropic term. S_ε(a, a) = 0 if the three costs agree. S_ε ≥ 0 where
    all three costs come from one on points whose kernel exp(−c/ε) is positive definite, as ‖x − y‖² and ‖x − y‖ have.

    Args:
        cross: C_xy, floating, (..., n, m).
        within_source: C_xx, floating, (..., n, n), between the points of the source.
        within_target: C_yy, floating, (..., m, m).
        source: a, floating, (..., n), nonnegative; uniform by default.
        target: b, floating, (..., m), nonnegative, of the same mass; uniform by default.
        temperature: ε, positive; a number, or a tensor that broadcasts over (...).
        max_steps: ≥ 1.

    Returns:
        (...), in the widest dtype of the tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        RuntimeError: if a problem did not converge.
    """
    (C, *_), _ = arguments.tensors(cross=(cross, 2), within_source=(within_source, 2), within_target=(within_target, 2))
    n, m = C.shape[-2:]
    for name, square, size in (("within_source", within_source, n), ("within_target", within_target, m)):
        if square.shape[-2:] != (size, size):
            raise ValueError(f"{name}: expected (..., {size}, {size}), got {arguments.describe(square)}")
    (value, dtype), (a, first), (b, second) = (
        (solution.value, dtype)
        for cost, left, right in ((cross, source, target), (within_source, source, source), (within_target, target, target))
        for solution, dtype in [solved(cost, left, right, temperature, math.inf, None, max_steps=max_steps, strict=True)]
    )
    return (value - (a + b) / 2).to(torch.promote_types(dtype, torch.promote_types(first, second)))


def scaling(
    cost: Tensor,
    source: Tensor | None,
    target: Tensor | None,
    temperature: Positive,
    relaxation: Positive,
    mask: Tensor | None,
    *,
    double: bool = False,
) -> tuple[Scaling, Tensor, Tensor, Tensor, torch.dtype]:
    """Check the data of a problem; return it for the solver, the source as given, ε, the least cost of a row, the dtype.

    What is returned is in float64 if ``double``, else in the dtype to compute in.
    """
    inputs = {"cost": (cost, 2), "source": (source, 1), "target": (target, 1)}
    needed = {name: (x, ndim) for name, (x, ndim) in inputs.items() if x is not None or name == "cost"}
    parts, dtype = arguments.tensors(**needed)  # type: ignore[arg-type]
    C, *marginals = (x.double() for x in parts) if double else parts
    n, m = C.shape[-2:]
    a = C.new_full((n,), 1 / n) if source is None else marginals.pop(0)
    b = C.new_full((m,), 1 / m) if target is None else marginals.pop(0)
    for name, marginal, size in (("source", a, n), ("target", b, m)):
        if marginal.shape[-1] != size:
            raise ValueError(f"{name}: expected (..., {size}) for a cost {tuple(C.shape)}, got {tuple(marginal.shape)}")
    allowed, added = masked(C, mask)
    batch = arguments.broadcast(cost=C.shape[:-2], source=a.shape[:-1], target=b.shape[:-1], mask=allowed.shape[:-2])
    epsilon = arguments.positive("temperature", temperature, batch, C)
    kappa = C.new_zeros(())
    relaxed = isinstance(relaxation, Tensor) or relaxation != math.inf
    if relaxed:
        kappa = epsilon / arguments.positive("relaxation", relaxation, batch, C)
    batch = arguments.broadcast(batch=batch, temperature=epsilon.shape, relaxation=kappa.shape)
    live = (allowed & (b != 0).unsqueeze(-2)).any(-1, keepdim=True)
    floor = torch.where(live, torch.where(allowed, C, torch.inf).amin(-1, keepdim=True), 0.0).detach()
    # Differences of costs are divided, not costs: neither a tiny ε nor a large common offset costs digits.
    logits = (floor - torch.where(allowed, C, floor)) / epsilon[..., None, None] + added
    kernel = torch.where(live, torch.where(allowed, logits, -torch.inf), 0.0).expand(*batch, n, m)
    a, b = a.expand(*batch, n), b.expand(*batch, m)
    x = Scaling(
        log_kernel=kernel,
        source=torch.where(live.squeeze(-1), a, 0.0),
        target=b,
        kappa=kappa.expand(batch),
        relaxed=relaxed,
        target_mask=torch.where(b > 0, 0.0, -torch.inf).to(C),
    )
    return x, a, epsilon, floor.squeeze(-1), dtype


def _certified(
    x: Scaling, psi: Tensor, source: Tensor, plan: Tensor, dtype: torch.dtype
) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """Return the errors of the rows and of the columns of a plan as it is stored, and whether rounding explains them."""
    point = solver.evaluate(x, psi)
    stored = plan.to(dtype).double()
    errors = (stored.sum(-1) - source).abs(), (stored.sum(-2) - point.required).abs()
    relative, absolute = tolerances.storage(dtype)
    rows, columns = solver.allowances(x, psi, point)
    n, m = plan.shape[-2:]
    # Rows and columns, each within the rounding of the other.
    converged = (errors[0] <= 2 * rows + relative * source + absolute * m).all(-1)
    return errors, converged & (errors[1] <= 2 * columns + relative * point.required + absolute * n).all(-1)


def _unresolved(x: Scaling, psi: Tensor) -> str:
    """Return whether float64 can resolve ε, as the end of a message."""
    point = solver.evaluate(x, psi)
    relative_rounding = float((solver.allowances(x, psi, point)[0] / torch.where(x.source > 0, x.source, 1.0)).max())
    if relative_rounding < 1e-3 * math.sqrt(tolerances.eps("float64")):
        return ""
    return (
        f", and at this temperature the rounding of C/ε in float64 alone moves a marginal by {relative_rounding:.1g} of itself"
    )


def masked(cost: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return where a plan may have mass, and the term added to −C/ε there."""
    allowed, added = cost != torch.inf, cost.new_zeros(())
    if mask is None:
        return allowed, added
    mask = arguments.check_mask(mask, cost.shape, cost, own=2)
    if mask.dtype == torch.bool:
        return allowed & mask, added
    bias = mask.to(cost)
    allowed = allowed & (bias != -torch.inf)
    return allowed, torch.where(allowed, bias, 0.0)
