"""Plans whose two marginals are both relaxed, from any start, with their primal–dual gap.

    min over P ≥ 0 of  ⟨C, P⟩ + ε KL(P ‖ a ⊗ b) + ρ_a KL(P1 ‖ a) + ρ_b KL(Pᵀ1 ‖ b),    KL(p ‖ q) = Σ p log(p/q) − p + q

Notation    See the package; κ_a = ε/ρ_a and κ_b = ε/ρ_b, 0 for a marginal that is met exactly; φ = f/ε, ψ = g/ε;
            L = −C/ε, −inf where forbidden; r = P1, c = Pᵀ1; v = a exp(−κ_a φ) and w = b exp(−κ_b ψ), what r and c should be
Duality     For all φ and ψ let P_ij = a_i b_j exp(φ_i + ψ_j + L_ij). The primal objective at any Q exceeds the dual one by
                ε KL(Q ‖ P) + ρ_a KL(Q1 ‖ v) + ρ_b KL(Qᵀ1 ‖ w),
            exactly, without the cancellation of a difference, where Q meets the marginals with ρ = ∞, whose term then drops
            out. The gap is that of Q = P, with rows and columns first made to meet such marginals.
Solver      φ is eliminated: given ψ its best value is −log Σ_j b_j exp(ψ_j + L_ij)/(1 + κ_a). One step is a sweep of
            Sinkhorn's, the best shift of φ − t, ψ + t, and a step of Newton's method for ψ, halved until the dual grows
            enough. Without a start, a small ε is approached from larger ones.
Derivatives As in ``solver``: two steps of Newton's method with the Hessian held constant make first and second ones exact.
            They start from f and g, not from φ and ψ: with these held P_ij = a_i b_j exp((f_i + g_j − C_ij)/ε), whose
            exponents are small where P is not, moves little with ε. φ, ψ and L move by 1/ε of themselves, and cancel.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from numerics import arguments, tolerances
from numerics.arguments import Positive, without_autocast
from numerics.line_search import backtrack
from numerics.solvers import INITIAL_TILT, RATE, ROUGH_TOLERANCE, check_converged
from numerics.transport import feasibility, gaps
from numerics.transport.parts import Parts
from numerics.transport.sinkhorn import Transport, masked, scaling
from numerics.transport.solver import Scaling


@dataclass(frozen=True)
class Unbalanced(Transport):
    """An optimal plan with its potentials and its certificate, as a ``Transport``. The gap carries no derivatives, either.

    Attributes:
        plan: P, (..., n, m).
        row_potential: f, (..., n).
        column_potential: g, (..., m). With both marginals met exactly, f and g are determined up to a constant.
        value: the dual objective, which the optimal value exceeds by no more than the gap, (...).
        gap: the primal objective less the dual one, (...), at P, or at the plan beside it that meets a marginal with ρ = ∞, as
            far as what is allowed lets it.
        row_error: |r − v|, (..., n): how far P1 is from a exp(−f/ρ_a), or from a.
        column_error: |c − w|, (..., m).
        converged: whether the errors of a problem add up to no more than rounding can explain, boolean, (...).
        steps: how many steps the slowest problem took.
    """

    gap: Tensor


class _Problem(NamedTuple):
    kernel: Tensor  # L, (..., n, m)
    tilted: Tensor  # L_ij + log b_j, −inf where b_j is 0
    reached: Tensor  # columns that some row with mass may go to, (..., m)
    source: Tensor
    target: Tensor
    kappa_a: Tensor  # (..., 1)
    kappa_b: Tensor
    dead: Tensor  # rows that may go nowhere, (..., n)
    offset_a: Tensor  # f₀/ρ_a where φ is counted from f₀/ε, else 0; (..., n) or (..., 1)
    offset_b: Tensor

    def on(self, kernel: Tensor) -> "_Problem":
        """Return the same problem with another L."""
        has_mass = self.target > 0
        tilt = torch.where(has_mass, torch.where(has_mass, self.target, 1.0).log(), -torch.inf)
        reached = ((kernel != -torch.inf) & (self.source > 0).unsqueeze(-1)).any(-2)
        return self._replace(kernel=kernel, tilted=kernel + tilt.unsqueeze(-2), reached=reached)


class _Point(NamedTuple):
    phi: Tensor
    plan: Tensor
    v: Tensor
    w: Tensor
    objective: Tensor  # of the dual, over ε, less Σa Σb

    @property
    def residual(self) -> Tensor:
        return self.w - self.plan.sum(-2)


@without_autocast
def unbalanced(
    cost: Tensor,
    source: Tensor | None = None,
    target: Tensor | None = None,
    temperature: Positive = 1.0,
    source_relaxation: Positive = 1.0,
    target_relaxation: Positive = 1.0,
    *,
    start: Tensor | None = None,
    mask: Tensor | None = None,
    max_steps: int = 200,
    strict: bool = True,
) -> Unbalanced:
    """Solve the problem of the module's notes. Differentiable twice in every tensor but ``start``.

    Args:
        cost: C, floating, (..., n, m), +inf where forbidden.
        source: a, floating, (..., n), nonnegative, of any mass; uniform by default.
        target: b, floating, (..., m), nonnegative, of any mass; uniform by default.
        temperature: ε, positive; a number, or a tensor that broadcasts over (...).
        source_relaxation: ρ_a, as the temperature, or ``math.inf`` for P1 = a.
        target_relaxation: ρ_b, as the temperature, or ``math.inf`` for Pᵀ1 = b. With both infinite the masses agree as for
                ``sinkhorn``.
        start: a column potential g to start from, floating, (..., m): that of a similar problem saves steps.
        mask: broadcastable to (..., n, m): boolean, True takes part; or floating, added to −C/ε.
        max_steps: ≥ 1.
        strict: whether a problem that did not converge is an error. Otherwise ``converged`` says which they are.

    Raises:
        ValueError: for a shape, dtype or number other than these; for NaN, −inf or a negative mass; if ``strict``, and no plan
            meets the marginals that are to be met.
        RuntimeError: if ``strict``, and a problem did not converge.
    """
    arguments.check_count("max_steps", max_steps)
    x, epsilon, rates, dtype = _problem(
        cost, source, target, temperature, source_relaxation, target_relaxation, mask, strict=strict
    )
    fixed = _Problem(*(part.detach() for part in x))
    if start is None:
        psi, schedule = torch.zeros_like(x.target), _schedule(fixed)
    else:
        g = arguments.floating("start", start, "m", last=x.target.shape[-1])
        arguments.check_expands("start", g, x.target.shape)
        arguments.check_entries("start", g, g.isfinite(), "finite potentials")
        psi, schedule = (g.detach().to(x.target) / epsilon.detach()[..., None]).expand(x.target.shape), [1.0]
    steps = 0
    for factor in schedule:
        scaled, steps_used = _maximize(_scaled(fixed, factor), psi / factor, max_steps - steps, rough=factor > 1)
        psi, steps = scaled * factor, steps + steps_used
    recentred, f, g = _recentred(x, fixed, psi, epsilon, rates)
    refined = _refined(recentred, _Problem(*(part.detach() for part in recentred)))
    point = _evaluate(recentred, refined)
    potentials = f + epsilon[..., None] * point.phi, g + epsilon[..., None] * refined
    gains = (
        _relaxed_marginal(x.source, potentials[0], rates[0], ~x.dead)[1],
        _relaxed_marginal(x.target, potentials[1], rates[1], x.reached)[1],
    )
    value = gains[0].sum(-1) + gains[1].sum(-1) + epsilon * (x.source.sum(-1) * x.target.sum(-1) - point.plan.sum((-2, -1)))
    fixed_epsilon = epsilon.detach()
    detached = _Point(*(part.detach() for part in point))._replace(phi=potentials[0].detach() / fixed_epsilon[..., None])
    psi = potentials[1].detach() / fixed_epsilon[..., None]
    return _result(fixed, potentials, point.plan, value, detached, psi, fixed_epsilon, dtype, (steps, max_steps), strict=strict)


def _problem(
    cost: Tensor,
    source: Tensor | None,
    target: Tensor | None,
    temperature: Positive,
    rho_a: Positive,
    rho_b: Positive,
    mask: Tensor | None,
    *,
    strict: bool,
) -> tuple[_Problem, Tensor, tuple[Tensor, Tensor], torch.dtype]:
    """Check the data; return the problem, ε (...), 1/ρ (..., 1) for rows and columns, and the dtype of the result."""
    mask = None if mask is None else arguments.check_mask_dtype("mask", mask, cost)
    x0, a, epsilon, floor, dtype = scaling(cost, source, target, temperature, math.inf, mask)
    data = feasibility.Data(cost, source, target, mask, masked(cost, mask)[0])
    feasibility.check_data(data, x0, a, epsilon)
    batch = x0.source.shape[:-1]
    rhos = [
        None if not isinstance(rho, Tensor) and rho == math.inf else arguments.positive(name, rho, batch, x0.source)
        for name, rho in (("source_relaxation", rho_a), ("target_relaxation", rho_b))
    ]
    for name, rho in zip(("source_relaxation", "target_relaxation"), rhos, strict=True):
        if rho is not None:
            arguments.check_entries(name, rho, ~rho.isnan(), "positive numbers")
    kappas = [epsilon.new_zeros(()) if rho is None else epsilon / rho for rho in rhos]
    rates = [epsilon.new_zeros(()) if rho is None else 1 / rho for rho in rhos]
    batch = arguments.broadcast(batch=batch, source_relaxation=kappas[0].shape, target_relaxation=kappas[1].shape)
    a, b = a.expand(*batch, -1), x0.target.expand(*batch, -1)
    dead = (a > 0) & (x0.source == 0)
    kernel = (x0.log_kernel - (floor / epsilon[..., None]).unsqueeze(-1)).expand(*batch, -1, -1)
    kernel = torch.where(dead.unsqueeze(-1), -torch.inf, kernel)
    kappa_a, kappa_b, rate_a, rate_b = (y.expand(batch).unsqueeze(-1) for y in (*kappas, *rates))
    both = (kappa_a == 0) & (kappa_b == 0)
    problem = Scaling(kernel, torch.where(dead, 0.0, a), b, (~both).to(a).squeeze(-1), relaxed=True, target_mask=None)
    if strict:
        feasibility.check_unbalanced(problem.detached(), a.detach(), (kappa_a == 0, kappa_b == 0), data)
    if bool(both.any()):
        alive = (kernel != -torch.inf) & (problem.source > 0).unsqueeze(-1) & (b > 0).unsqueeze(-2)
        b = feasibility.agreeing(problem, Parts.of(alive), data.slack).target
    nothing = torch.zeros_like(kappa_a)
    x = _Problem(kernel, kernel, dead, a, b, kappa_a, kappa_b, dead, nothing, nothing).on(kernel)
    return x, epsilon.expand(batch), (rate_a, rate_b), dtype


def _evaluate(x: _Problem, psi: Tensor) -> _Point:
    """Return the quantities that belong to a ψ, with the best φ for it."""
    logits = x.tilted + psi.unsqueeze(-2)
    peak = logits.detach().amax(-1, keepdim=True)
    live = peak.squeeze(-1) != -torch.inf
    peak = torch.where(live.unsqueeze(-1), peak, 0.0)
    terms = (logits - peak).exp()
    if arguments.differentiated(*x) and bool((x.target == 0).any()):  # no mass, but a derivative in it
        mass = x.target.unsqueeze(-2)
        terms = torch.where(mass > 0, terms, mass * _bounded(x.kernel + psi.unsqueeze(-2) - peak, mass).exp())
    total = torch.where(live, terms.sum(-1), 1.0).log() + peak.squeeze(-1)
    phi = torch.where(live, -(total + x.offset_a) / (1 + x.kappa_a), 0.0)
    plan = terms * (x.source * _bounded(phi + peak.squeeze(-1), x.source).exp()).unsqueeze(-1)
    v, gain_a = _relaxed_marginal(x.source, phi, x.kappa_a, live, x.offset_a)
    w, gain_b = _relaxed_marginal(x.target, psi, x.kappa_b, x.reached, x.offset_b)
    return _Point(phi, plan, v, w, gain_a.sum(-1) + gain_b.sum(-1) - plan.sum((-2, -1)))


def _relaxed_marginal(
    mass: Tensor, potential: Tensor, kappa: Tensor, live: Tensor, offset: float | Tensor = 0.0
) -> tuple[Tensor, Tensor]:
    """Return a exp(−κφ) and a(1 − exp(−κφ))/κ, κφ counted from ``offset``. Mass that may go nowhere has φ = ∞ where κ > 0."""
    stiff, exponent = kappa == 0, _bounded(-kappa * potential - offset, mass)
    factor = torch.where(live, exponent.exp(), stiff.to(exponent))
    change = torch.where(live, exponent.expm1(), stiff.to(exponent) - 1)
    gain = torch.where(stiff, potential, -change / torch.where(stiff, 1.0, kappa))
    return mass * factor, mass * gain


def _bounded(exponents: Tensor, mass: Tensor) -> Tensor:
    """Return exponents that may be multiplied by a mass of zero, where nothing bounds them: 0 · inf would be NaN."""
    return torch.where(mass > 0, exponents, exponents.clamp(max=math.log(torch.finfo(exponents.dtype).max) / 4))


def _sinkhorn_sweep(x: _Problem, point: _Point, psi: Tensor) -> Tensor:
    """Return the best ψ for the φ of a point, finite where a target is zero too; from Pᵀ1 where that has not underflowed."""
    column = point.plan.sum(-2)
    if bool((column > torch.finfo(psi.dtype).tiny).all()):
        return -((column / x.target).log() - psi + x.offset_b) / (1 + x.kappa_b)
    weights = torch.where(x.source > 0, torch.where(x.source > 0, x.source, 1.0).log() + point.phi, -torch.inf)
    logits = x.kernel + weights.unsqueeze(-1)
    live = (logits != -torch.inf).any(-2)
    total = torch.where(live.unsqueeze(-2), logits, 0.0).logsumexp(-2)
    return torch.where(live, -(total + x.offset_b) / (1 + x.kappa_b), psi)


def _shifted(x: _Problem, point: _Point, psi: Tensor) -> Tensor:
    """Return ψ + t with the best t for potentials φ − t and ψ + t, which leave P unchanged."""
    kappa = x.kappa_a + x.kappa_b
    shift = (point.w.sum(-1, keepdim=True) / point.v.sum(-1, keepdim=True)).log() / kappa
    return torch.where(shift.isfinite(), psi + shift, psi)


def _factor(x: _Problem, point: _Point) -> tuple[Tensor, Tensor]:
    """Return the Cholesky factor of −∇²Φ, scaled to a unit diagonal and made regular, and that scale."""
    column, rows = point.plan.sum(-2), point.plan.sum(-1) + x.kappa_a * point.v
    diagonal = column + x.kappa_b * point.w
    scale = torch.where(diagonal > 0, diagonal, 1.0).sqrt()
    left = point.plan / torch.where(rows > 0, rows, 1.0).sqrt().unsqueeze(-1) / scale.unsqueeze(-2)
    system = -torch.matmul(left.mT, left)
    system.diagonal(dim1=-2, dim2=-1).add_(1 + tolerances.rounding(column.dtype, sum(point.plan.shape[-2:])))
    factor, info = torch.linalg.cholesky_ex(system)
    return torch.where((info == 0)[..., None, None], factor, torch.nan), scale


def _direction(factor: Tensor, scale: Tensor, residual: Tensor) -> Tensor:
    half = torch.linalg.solve_triangular(factor, (residual / scale).unsqueeze(-1), upper=False)
    step: Tensor = torch.linalg.solve_triangular(factor.mT, half, upper=True).squeeze(-1)
    return step / scale


def _maximize(x: _Problem, psi: Tensor, max_steps: int, *, rough: bool) -> tuple[Tensor, int]:
    """Return ψ and the number of steps."""
    unit = tolerances.rounding(psi.dtype, sum(x.kernel.shape[-2:]))
    trial = _evaluate(x, psi)
    for step in range(1, max_steps + 1):
        psi = _sinkhorn_sweep(x, trial, psi)
        psi = _shifted(x, _evaluate(x, psi), psi)
        point = _evaluate(x, psi)
        enough = ROUGH_TOLERANCE * point.plan.sum((-2, -1)) if rough else _rounding(x, psi, point)
        done = point.residual.abs().sum(-1) <= enough
        if bool(done.all()):
            return psi, step
        move = _direction(*_factor(x, point), point.residual)
        slope = (move * point.residual).sum(-1)
        move = torch.where((slope.isfinite() & (slope > 0) & ~done).unsqueeze(-1), move, 0.0)
        slack = unit * (point.plan.sum((-2, -1)) + point.objective.abs())
        size, trial, grown = backtrack(
            lambda size, start=psi, move=move: _evaluate(x, start + size * move),  # type: ignore[misc]
            lambda trial: trial.objective,
            point.objective,
            slope,
            slack,
            (move == 0).all(-1),
        )
        psi = torch.where(grown.unsqueeze(-1), psi + size.unsqueeze(-1) * move, psi)
        trial = trial if bool(grown.all()) else _evaluate(x, psi)
    return psi, max_steps


def _rounding(x: _Problem, psi: Tensor, point: _Point) -> Tensor:
    """Return the largest residual, in ℓ1, that rounding alone can cause, (...); see ``solver``."""
    sizes = torch.where(x.kernel == -torch.inf, 0.0, x.kernel.abs())
    sizes = sizes + point.phi.abs().unsqueeze(-1) + psi.abs().unsqueeze(-2)
    rounding_sum = (point.plan * sizes).sum((-2, -1)) + (point.w * (x.kappa_b * psi).abs()).sum(-1)
    unit = tolerances.eps(psi.dtype)
    # Where hardly any mass is worth carrying, the plan needs digits down to √u of the masses that could be carried.
    least = math.sqrt(unit) * torch.maximum(x.source.sum(-1), x.target.sum(-1))
    mass = torch.maximum(torch.maximum(point.plan.sum((-2, -1)), point.w.sum(-1)), least)
    allowed = tolerances.plan(psi.dtype, sum(point.plan.shape[-2:])) * mass + unit * rounding_sum
    return torch.minimum(allowed, math.sqrt(unit) * mass)


def _schedule(x: _Problem) -> list[float]:
    """Return factors of ε from one at which no exponential underflows down to 1."""
    spread = torch.where(x.kernel == -torch.inf, 0.0, x.kernel - x.kernel.amax(-1, keepdim=True)).abs()
    factor = float(spread.nan_to_num(nan=0.0, posinf=0.0).amax()) / INITIAL_TILT if spread.numel() else 1.0
    factors = [1.0]
    while factors[-1] < factor:
        factors.append(factors[-1] * RATE)
    return factors[::-1]


def _scaled(x: _Problem, factor: float) -> _Problem:
    """Return the same problem with ε a number of times as large."""
    return x.on(x.kernel / factor)._replace(kappa_a=x.kappa_a * factor, kappa_b=x.kappa_b * factor)


def _recentred(
    x: _Problem, fixed: _Problem, psi: Tensor, epsilon: Tensor, rates: tuple[Tensor, Tensor]
) -> tuple[_Problem, Tensor, Tensor]:
    """Return the problem with φ and ψ counted from f/ε and g/ε, and the constants f and g: those that belong to a ψ."""
    scale = epsilon.detach()[..., None]
    f, g = scale * _evaluate(fixed, psi).phi, scale * psi
    kernel = x.kernel + (f.unsqueeze(-1) + g.unsqueeze(-2)) / epsilon[..., None, None]
    return x.on(kernel)._replace(offset_a=rates[0] * f, offset_b=rates[1] * g), f, g


def _refined(x: _Problem, fixed: _Problem) -> Tensor:
    """Return ψ for a solution at 0: its derivatives and, where the target is zero, its value too."""
    start = _completed(fixed, torch.zeros_like(fixed.target))
    if not arguments.differentiated(*x):
        return start
    follow, point = start, _evaluate(fixed, start)
    factor, column = _factor(fixed, point), point.plan.sum(-2)
    total = column.sum(-1, keepdim=True)
    # Where both marginals are met exactly the potentials are determined up to a constant, and the derivatives in masses that
    # do not agree would be those of 1/0: a constant is neither asked for nor returned.
    share = torch.where((x.kappa_a == 0) & (x.kappa_b == 0) & (total > 0), column / torch.where(total > 0, total, 1.0), 0.0)
    for _ in range(2):
        residual = _evaluate(x, follow).residual
        step = _direction(*factor, residual - share * residual.sum(-1, keepdim=True))
        follow = _completed(x, follow + step - (share * step).sum(-1, keepdim=True))
    return start + (follow - follow.detach())


def _completed(x: _Problem, psi: Tensor) -> Tensor:
    """Return ψ with the limit for a mass that tends to zero, where the target is zero."""
    return torch.where(x.target > 0, psi, _sinkhorn_sweep(x, _evaluate(x, psi), psi))


def _result(
    x: _Problem,
    potentials: tuple[Tensor, Tensor],
    plan: Tensor,
    value: Tensor,
    point: _Point,
    psi: Tensor,
    epsilon: Tensor,
    dtype: torch.dtype,
    steps: tuple[int, int],
    *,
    strict: bool,
) -> Unbalanced:
    """Certify a solution, whose constants are ``point`` and ψ, and return it; ``steps`` are those taken and those allowed."""
    row_error, column_error = (point.plan.sum(-1) - point.v).abs(), point.residual.abs()
    error = row_error.sum(-1) + column_error.sum(-1)
    converged = error <= 2 * _rounding(x, psi, point)  # rows and columns
    if strict:
        check_converged("unbalanced", converged, error, steps[1], "marginal error")
    gap = gaps.gap(point.plan, (x.source, x.target), (x.kappa_a, x.kappa_b), (point.v, point.w))
    return Unbalanced(
        plan=plan,
        row_potential=torch.where(x.dead & (x.kappa_a > 0), torch.inf, potentials[0]),
        column_potential=potentials[1],
        value=value,
        gap=epsilon * gap,
        row_error=row_error,
        column_error=column_error,
        converged=converged,
        steps=steps[0],
    ).to(dtype)
