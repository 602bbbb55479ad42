"""Transport with a quadratic regularizer: plans that are sparse, as sparsemax is beside softmax.

    min over P ≥ 0 of ⟨C, P⟩ + γ/2 ‖P‖²  with P 1 = a, Pᵀ1 = b

Notation    See the package; γ = temperature; f, g = row and column potential; S = where P > 0; n_i = entries of S in row i
Solution    P_ij = (f_i + g_j − C_ij)_+/γ. Given g, every f_i solves Σ_j (f_i + g_j − C_ij)_+ = γ a_i: the threshold of a
            sparsemax, found as there.
Dual        D(g) = Σ_i a_i f_i + Σ_j b_j g_j − Σ_ij (f_i + g_j − C_ij)²_+/2γ with the best f: concave, with ∇D = b − Pᵀ1 and,
            where S does not change, −γ∇²D = diag(Sᵀ1) − Sᵀ diag(1/n) S, the Laplacian of a graph.
Solver      One step is a sweep, the best g for f, and a step of Newton's method with a ridge in proportion to the residual,
            halved until D grows enough. A small γ is approached from larger ones.
Derivatives Of the plan and the value, of every order, where no entry of P just reaches zero and S connects all columns with
            mass: two steps of Newton's method from the solution see the data. D is piecewise quadratic, so one would do.
References  Blondel, Seguy & Rolet 2018; Lorenz, Manns & Meyer 2021.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import arguments, tolerances
from numerics.arguments import Positive, without_autocast
from numerics.line_search import backtrack
from numerics.solvers import RATE, ROUGH_TOLERANCE, check_converged
from numerics.transport import feasibility
from numerics.transport.sinkhorn import Transport, scaling

_RIDGE, _THRESHOLD_STEPS = 1e-4, 16


@dataclass(frozen=True)
class QuadraticTransport(Transport):
    """An optimal plan with its potentials and its certificate, as a ``Transport``. The gap carries no derivatives, either.

    Whatever the potentials, P is the optimal plan between its own marginals: the marginal errors are the whole distance from
    the stated problem.

    Attributes:
        plan: P, (..., n, m).
        row_potential: f, (..., n).
        column_potential: g, (..., m), with Σ_j b_j g_j = 0.
        value: the dual objective, which is the optimal value, (...).
        gap: ⟨C, P⟩ + γ/2 ‖P‖² less the dual objective, (...): what the marginal errors make of it, Σ_j g_j (Σ_i P_ij − b_j).
        row_error: |Σ_j P_ij − a_i|, (..., n).
        column_error: |Σ_i P_ij − b_j|, (..., m).
        converged: whether the errors of a problem add up to no more than rounding can explain, boolean, (...).
        steps: how many steps the slowest problem took.
    """

    gap: Tensor


@without_autocast
def quadratic_plan(
    cost: Tensor,
    source: Tensor | None = None,
    target: Tensor | None = None,
    temperature: Positive = 1.0,
    *,
    max_steps: int = 200,
    strict: bool = True,
) -> QuadraticTransport:
    """Solve the problem of the module's notes.

    Args:
        cost: C, floating, (..., n, m), finite.
        source: a, floating, (..., n), nonnegative; uniform by default.
        target: b, floating, (..., m), nonnegative; uniform by default. The masses agree as for ``sinkhorn``.
        temperature: γ, positive; a number, or a tensor that broadcasts over (...).
        max_steps: ≥ 1.
        strict: whether a problem that did not converge is an error. Otherwise ``converged`` says which they are.

    Raises:
        ValueError: for a shape, dtype or number other than these; if ``strict``, for masses that differ.
        RuntimeError: if ``strict``, and a problem did not converge.
    """
    arguments.check_count("max_steps", max_steps)
    x, a, gamma, _, dtype = scaling(cost, source, target, temperature, math.inf, None)
    arguments.check_entries("cost", cost, cost.isfinite(), "finite numbers")
    data = feasibility.Data(cost, source, target, None, torch.ones_like(cost, dtype=torch.bool))
    x, _ = feasibility.checked(data, x, a, gamma, strict=strict)
    batch = x.source.shape[:-1]
    C, a, b = cost.to(a).expand(*batch, *cost.shape[-2:]), a.expand(*batch, -1), x.target
    gamma = gamma.expand(batch)[..., None]
    fixed = (C.detach(), a.detach(), b.detach(), gamma.detach())
    g, steps = torch.zeros_like(b), 0
    for factor in _schedule(*fixed):
        g, steps_used = _maximize(g, *fixed[:3], factor * fixed[3], max_steps - steps, rough=factor > 1)
        steps += steps_used
    if arguments.differentiated(C, a, b, gamma):
        support = _point(g, *fixed)[1] > 0
        follow = g
        for _ in range(2):
            follow = follow + _newton(support, fixed[3], b - _point(follow, C, a, b, gamma)[1].sum(-2), None)
        g = g + (follow - follow.detach())
    g = g - (b * g).sum(-1, keepdim=True) / b.sum(-1, keepdim=True).clamp(min=torch.finfo(g.dtype).tiny)
    f, P, value = _point(g, C, a, b, gamma)
    row_error, column_error = (P.sum(-1) - a).detach().abs(), (P.sum(-2) - b).detach().abs()
    error = row_error.sum(-1) + column_error.sum(-1)
    converged = error <= 2 * _rounding(P.detach(), f.detach(), g.detach(), fixed[0], fixed[3])
    if strict:
        check_converged("quadratic_plan", converged, error, max_steps, "marginal error")
    gap = (f * (P.sum(-1) - a)).sum(-1) + (g * (P.sum(-2) - b)).sum(-1)
    return QuadraticTransport(
        plan=P,
        row_potential=f,
        column_potential=g,
        value=value,
        gap=gap.detach(),
        row_error=row_error,
        column_error=column_error,
        converged=converged,
        steps=steps,
    ).to(dtype)


def _point(g: Tensor, C: Tensor, a: Tensor, b: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best f for g, P and D; columns without mass are no part of the problem, whatever is rounded."""
    empty = (b == 0) & (b > 0).any(-1, keepdim=True)
    y = (g.unsqueeze(-2) - C).masked_fill(empty.unsqueeze(-2), -torch.inf)
    f = _threshold(y, gamma * a)
    excess = (f.unsqueeze(-1) + y).clamp(min=0)
    value = (a * f).sum(-1) + (b * g).sum(-1) - excess.square().sum((-2, -1)) / (2 * gamma.squeeze(-1))
    return f, excess / gamma.unsqueeze(-1), value


def _threshold(y: Tensor, mass: Tensor) -> Tensor:
    """Return the f with Σ_j (f + y_j)_+ = mass, for rows y; the largest of those for a mass of zero."""
    with torch.no_grad():
        active = _held(y, mass.unsqueeze(-1))
    # From the peak: differences of costs count, not costs.
    peak = y.amax(-1, keepdim=True).detach()
    return (mass - torch.where(active, y - peak, 0.0).sum(-1)) / active.sum(-1) - peak.squeeze(-1)


def _held(y: Tensor, mass: Tensor) -> Tensor:
    """Return which entries are above the threshold, at least one in a row: Newton's method sheds those that are too many."""
    tau, last = y.amax(-1, keepdim=True) - mass, None
    for _ in range(_THRESHOLD_STEPS if y.device.type == "cpu" else 0):
        above = y > tau
        count = above.sum(-1, keepdim=True)
        if last is not None and bool((count == last).all()):
            return above | (y == y.amax(-1, keepdim=True))
        tau = tau + (torch.where(above, y - tau, 0.0).sum(-1, keepdim=True) - mass) / count.clamp(min=1)
        last = count
    top = y.sort(-1, descending=True).values
    number = torch.arange(1, y.shape[-1] + 1, dtype=y.dtype, device=y.device)
    size = (number * top > top.cumsum(-1) - mass).sum(-1, keepdim=True).clamp(min=1)
    return y >= top.gather(-1, size - 1)


def _newton(support: Tensor, gamma: Tensor, residual: Tensor, ridge: Tensor | None) -> Tensor:
    """Return the step −(∇²D)⁻¹ ∇D, with a ridge relative to the diagonal; without one, on what S connects."""
    S = support.to(residual)
    rows, columns = S.sum(-1, keepdim=True).clamp(min=1), S.sum(-2)
    scale = columns.clamp(min=1).sqrt()
    left = S / rows.sqrt() / scale.unsqueeze(-2)
    system = -torch.matmul(left.mT, left)
    system.diagonal(dim1=-2, dim2=-1).add_(1.0 if ridge is None else 1 + ridge)
    if ridge is None:  # the null vectors are known: one for each connected part
        linked = _connected(S)
        mass = torch.matmul(linked, columns.unsqueeze(-1)).clamp(min=1)
        system = system + linked * scale.unsqueeze(-1) * scale.unsqueeze(-2) / mass
    factor, _ = torch.linalg.cholesky_ex(system)
    step: Tensor = torch.cholesky_solve((residual / scale).unsqueeze(-1), factor).squeeze(-1)
    return gamma * step / scale


def _connected(S: Tensor) -> Tensor:
    """Return which columns S connects, 0 or 1, (..., m, m); none with a column that is empty."""
    linked = (torch.matmul(S.mT, S) > 0).to(S)
    for _ in range(S.shape[-1].bit_length()):
        linked = (torch.matmul(linked, linked) > 0).to(S)
    return linked


def _schedule(C: Tensor, a: Tensor, b: Tensor, gamma: Tensor) -> list[float]:
    """Return factors of γ from one at which plans are about even down to 1."""
    if not C.numel():
        return [1.0]
    spread = C.amax((-2, -1)) - C.amin((-2, -1))
    even = spread * C.shape[-1] * C.shape[-2] / a.sum(-1).clamp(min=torch.finfo(a.dtype).tiny)
    largest, factors = float((even / gamma.squeeze(-1)).nan_to_num(nan=1.0).amax()), [1.0]
    while factors[-1] * RATE < largest and len(factors) < 40:
        factors.append(factors[-1] * RATE)
    return factors[::-1]


def _maximize(g: Tensor, C: Tensor, a: Tensor, b: Tensor, gamma: Tensor, max_steps: int, *, rough: bool) -> tuple[Tensor, int]:
    """Return g and the number of steps."""
    unit = tolerances.rounding(g.dtype, sum(C.shape[-2:]))
    for step in range(1, max_steps + 1):
        g = _threshold((_point(g, C, a, b, gamma)[0].unsqueeze(-1) - C).mT, gamma * b)
        f, P, value = _point(g, C, a, b, gamma)
        residual = b - P.sum(-2)
        error = residual.abs().sum(-1)
        done = error <= (ROUGH_TOLERANCE * a.sum(-1) if rough else _rounding(P, f, g, C, gamma))
        if bool(done.all()):
            return g, step
        ridge = (_RIDGE * error / a.sum(-1).clamp(min=torch.finfo(g.dtype).tiny)).clamp(min=math.sqrt(unit), max=1)[..., None]
        move = _newton(P > 0, gamma, residual, ridge)
        slope = (move * residual).sum(-1)
        move = torch.where((slope.isfinite() & (slope > 0) & ~done).unsqueeze(-1), move, 0.0)
        slack = unit * ((a * f.abs()).sum(-1) + (b * g.abs()).sum(-1) + value.abs())
        size, _, grown = backtrack(
            lambda size, start=g, move=move: _point(start + size * move, C, a, b, gamma),  # type: ignore[misc]
            lambda trial: trial[2],
            value,
            slope,
            slack,
            (move == 0).all(-1),
        )
        g = torch.where(grown.unsqueeze(-1), g + size.unsqueeze(-1) * move, g)
    return g, max_steps


def _rounding(P: Tensor, f: Tensor, g: Tensor, C: Tensor, gamma: Tensor) -> Tensor:
    """Return the largest marginal error, in ℓ1, that rounding alone can cause: P_ij is off by u(|f_i| + |g_j| + |C_ij|)/γ."""
    unit, positive = tolerances.rounding(P.dtype, sum(P.shape[-2:])), P > 0
    sizes = f.abs().unsqueeze(-1) + g.abs().unsqueeze(-2) + C.abs()
    rounding_sum = torch.where(positive, sizes, 0.0).sum((-2, -1)) / gamma.squeeze(-1)
    mass = P.sum((-2, -1))
    return torch.minimum(unit * mass + tolerances.eps(P.dtype) * rounding_sum, math.sqrt(tolerances.eps(P.dtype)) * mass)
