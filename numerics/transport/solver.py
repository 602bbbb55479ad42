"""The solver behind every plan of this package: Sinkhorn's iteration, then Newton's method.

Notation    L = log kernel, −C/ε less the largest entry of its row, −inf where forbidden; a = source; b = target; ψ = column
            potential / ε; φ = row potential / ε; κ = ε/ρ, 0 for a target that is met exactly
Problem     With the rows eliminated, P_ij = a_i b_j exp(ψ_j + L_ij) / Z_i, Z_i = Σ_k b_k exp(ψ_k + L_ik), the dual is
                Φ(ψ) = −Σ_i a_i log Z_i + Σ_j b_j (1 − exp(−κψ_j))/κ,
            concave, with ∇Φ_j = b_j exp(−κψ_j) − Σ_i P_ij and −∇²Φ = diag(Pᵀ1) − Pᵀ diag(1/a) P + κ diag(b exp(−κψ)).
Solver      One step is a sweep of Sinkhorn's (an exact maximization over each column, then each row, in the log domain) and
            then a step of Newton's method, halved until Φ grows enough; where it never does, the sweep alone counts. A small
            ε is approached from larger ones: ψ ε is carried along, so no step starts where its exponentials underflow. After
            each sweep every connected part is shifted as a whole, which for small κ > 0 is the slowest direction of all.
            Scaled by √(Pᵀ1) on both sides the Hessian has its spectrum in [0, 1], and its null vectors are known: one for
            each connected part of what is allowed. It is D^{1/2}(I − MᵀM)D^{1/2} with M = diag(a)^{−1/2} P D^{−1/2}, and
            (I − MᵀM)⁻¹ = I + Mᵀ(I − MMᵀ)⁻¹M: the matrix that is factored stands on the shorter side, rows or columns.
Stopping    The rounding of L, ψ and φ moves P_ij by u(|L_ij| + |ψ_j| + |φ_i|)P_ij, and by what it does to the sum of the row:
            each marginal has an allowance of its own, the sum of that, and a residual below it is zero. Where that leaves
            less than half of the digits, nothing is.
Derivatives With the inverse Hessian H frozen at the solution, each pass of ψ ← ψ + H ∇Φ(ψ; C, a, b) gains one order of the
            dependence of ψ on the data; two passes make first and second derivatives exact.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from numerics import tolerances
from numerics.line_search import backtrack
from numerics.solvers import INITIAL_TILT, RATE, ROUGH_TOLERANCE
from numerics.transport.parts import Parts


class Scaling(NamedTuple):
    """A batch of problems, of one dtype and one batch shape.

    Attributes:
        log_kernel: L, (..., n, m); a row that may reach no column with mass is zero, and so is its source.
        source: a, (..., n).
        target: b, (..., m).
        kappa: κ, (...).
        relaxed: whether any κ may differ from zero.
        target_mask: 0 where a target has mass and −inf where it has none, (..., m); None if the log kernel says so already.
    """

    log_kernel: Tensor
    source: Tensor
    target: Tensor
    kappa: Tensor
    relaxed: bool
    target_mask: Tensor | None

    def detached(self) -> "Scaling":
        """Return the same problems as constants."""
        return self._replace(
            log_kernel=self.log_kernel.detach(),
            source=self.source.detach(),
            target=self.target.detach(),
            kappa=self.kappa.detach(),
        )


class Point(NamedTuple):
    """The quantities that belong to a ψ.

    Attributes:
        terms: exp(ψ_j + L_ij) over the largest of its row, (..., n, m).
        ratio: a_i over the sum of b_j times these, (..., n): P_ij = ratio_i terms_ij b_j.
        row: φ, (..., n).
        column: Pᵀ1, (..., m).
        required: b exp(−κψ), (..., m).
        objective: Φ, (...).
    """

    terms: Tensor
    ratio: Tensor
    row: Tensor
    column: Tensor
    required: Tensor
    objective: Tensor

    @property
    def residual(self) -> Tensor:
        """∇Φ, (..., m)."""
        return self.required - self.column


def evaluate(x: Scaling, psi: Tensor, annealing: Tensor | None = None) -> Point:
    """Evaluate the dual at ψ; ``annealing`` multiplies ε, and ψ stays in units of the target ε."""
    highest = math.log(torch.finfo(psi.dtype).max) / 4
    logits = _annealed(x.log_kernel + psi.unsqueeze(-2), annealing)
    if x.target_mask is None:
        peak = logits.amax(-1, keepdim=True).detach()
        logits = logits - peak
    else:
        peak = (logits + x.target_mask.unsqueeze(-2)).amax(-1, keepdim=True).detach()
        peak = torch.where(peak == -torch.inf, 0.0, peak)
        # Where the target is zero a logit may lie above the peak; it must not overflow, being multiplied by zero.
        logits = (logits - peak).clamp(max=highest)
    terms = logits.exp()
    total = _apply(terms, x.target)
    total = torch.where(total == 0, 1.0, total)  # no target has any mass
    ratio = x.source / total
    row = -(total.log() + peak.squeeze(-1))
    column = x.target * _apply(terms.mT, ratio)
    required, gain = x.target, psi
    if x.relaxed:
        # Where the target is zero, nothing bounds ψ: see the clamp above.
        exponent = -x.kappa[..., None] * psi
        exponent = torch.where(x.target > 0, exponent, exponent.clamp(max=highest))
        stiff = (x.kappa == 0)[..., None]
        required = x.target * exponent.exp()
        gain = torch.where(stiff, psi, -exponent.expm1() / torch.where(stiff, 1.0, x.kappa[..., None]))
    objective = (x.source * row).sum(-1) + _annealed((x.target * gain).sum(-1), annealing, own=0)
    return Point(terms, ratio, row, column, required, objective)


def plan(x: Scaling, point: Point) -> Tensor:
    """Return P, (..., n, m)."""
    return point.terms * point.ratio.unsqueeze(-1) * x.target.unsqueeze(-2)


def extended(x: Scaling, psi: Tensor, row: Tensor, annealing: Tensor | None = None) -> Tensor:
    """Return the ψ that maximizes the dual for these φ: half a sweep. It is finite where a target is zero, too."""
    weights = torch.where(x.source > 0, x.source, 1.0).log() + row
    exponents = _annealed(x.log_kernel, annealing) + torch.where(x.source > 0, weights, -torch.inf).unsqueeze(-1)
    live = (exponents != -torch.inf).any(-2)
    total = torch.where(live.unsqueeze(-2), exponents, 0.0).logsumexp(-2)
    step = -total / (1 / (1.0 if annealing is None else annealing[..., None]) + x.kappa[..., None])
    return torch.where(live, step, psi)


def solve(x: Scaling, parts: Parts, max_steps: int) -> tuple[Tensor, int]:
    """Return ψ (..., m), and after how many steps its residual was down to rounding, or ``max_steps``."""
    if x.target_mask is not None:
        within = torch.where(x.source.unsqueeze(-1) > 0, x.log_kernel + x.target_mask.unsqueeze(-2), 0.0)
        x = x._replace(log_kernel=within, target_mask=None)
    psi, sizes = torch.zeros_like(x.target), _sizes(x)
    annealing = (sizes.amax((-2, -1)) / INITIAL_TILT).clamp(min=1)
    solved = torch.zeros_like(annealing, dtype=torch.bool)
    point = evaluate(x, psi, annealing)
    for step in range(1, max_steps + 1):
        swept = _shift_parts(x, _sinkhorn_sweep(x, psi, point, annealing), point, parts)
        psi = torch.where(solved.unsqueeze(-1), psi, swept)
        point = evaluate(x, psi, annealing)
        final = annealing == 1
        error = point.residual.abs()
        exact = (error <= allowances(x, psi, point, sizes)[1]).all(-1)
        near = torch.where(final, exact, error.sum(-1) <= ROUGH_TOLERANCE * x.source.sum(-1))
        solved = solved | (near & final)
        if bool(solved.all()):
            return psi, step
        move, point, improved = _newton_step(x, psi, annealing, point, parts)
        psi = torch.where(near.unsqueeze(-1), psi, psi + move)
        annealing = torch.where(near, (annealing / RATE).clamp(min=1), annealing)
        if bool((near & ~final | ~improved).any()):
            point = evaluate(x, psi, annealing)
    return psi, max_steps


def refined(x: Scaling, psi: Tensor, parts: Parts) -> Tensor:
    """Return ψ again, differentiable twice in the data."""
    fixed = x.detached()
    psi = completed(fixed, psi)
    hessian = _Hessian.at(fixed, evaluate(fixed, psi), torch.ones_like(fixed.kappa), parts)
    follow = psi
    for _ in range(2):
        follow = completed(x, follow + hessian.solve(evaluate(x, follow).residual))
    return psi + (follow - follow.detach())


def completed(x: Scaling, psi: Tensor) -> Tensor:
    """Return ψ with the limit for a mass that tends to zero, where the target is zero."""
    has_mass = x.target > 0
    return psi if bool(has_mass.all()) else torch.where(has_mass, psi, extended(x, psi, evaluate(x, psi).row))


def centred(x: Scaling, psi: Tensor, parts: Parts) -> Tensor:
    """Return ψ with Σ_j b_j ψ_j = 0 over every connected part, where the target is met exactly: a choice of gauge."""
    mass = parts.of_columns(x.target)
    mean = parts.of_columns(x.target * psi) / torch.where(mass > 0, mass, 1.0)
    return psi - torch.where((x.kappa == 0).unsqueeze(-1), mean, 0.0)


def allowances(x: Scaling, psi: Tensor, point: Point, sizes: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return how far rows (..., n) and columns (..., m) may be off but for rounding; see the module's notes."""
    sizes = _sizes(x) if sizes is None else sizes
    positive_source = torch.where(x.source > 0, x.source, 1.0)
    weights = point.terms * (point.ratio / positive_source).unsqueeze(-1) * x.target.unsqueeze(-2)
    own = weights * (sizes + psi.abs().unsqueeze(-2))
    row = own.sum(-1) + point.row.abs()
    column = _apply((own + weights * row.unsqueeze(-1)).mT, x.source)
    if x.relaxed:
        column = column + point.required * (x.kappa[..., None] * psi).abs()
    unit = tolerances.eps(psi.dtype)
    share, half = tolerances.plan(psi.dtype, sum(point.terms.shape[-2:])), math.sqrt(unit)
    return (
        x.source * (share + unit * row).clamp(max=half),
        torch.minimum(share * torch.maximum(point.required, point.column) + unit * column, half * point.required),
    )


# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _apply(matrix: Tensor, vector: Tensor) -> Tensor:
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _annealed(x: Tensor, annealing: Tensor | None, own: int = 2) -> Tensor:
    return x if annealing is None else x / annealing[(..., *[None] * own)]


def _sizes(x: Scaling) -> Tensor:
    """Return |L|, 0 where forbidden."""
    return torch.where(x.log_kernel == -torch.inf, 0.0, -x.log_kernel).abs()


class _Hessian(NamedTuple):
    """−∇²Φ = D^{1/2}(I − MᵀM)D^{1/2}, made regular: see the module's notes.

    Attributes:
        factor: the Cholesky factor of I − MMᵀ if there are fewer rows than columns, else of I − MᵀM; NaN where rounding left
            it none.
        scale: √D, (..., m).
        matrix: M, (..., n, m).
    """

    factor: Tensor
    scale: Tensor
    matrix: Tensor

    @classmethod
    def at(cls, x: Scaling, point: Point, annealing: Tensor, parts: Parts) -> "_Hessian":
        """Return the Hessian at a point; its null vectors, √a or √(Pᵀ1) on each part, have the eigenvalue 1 instead."""
        column, stiff = point.column, (x.kappa == 0)[..., None]
        has_mass = column > 0
        diagonal = torch.where(has_mass, column, 1.0)
        if x.relaxed:
            diagonal = diagonal + torch.where(has_mass, (x.kappa * annealing)[..., None] * point.required, 0.0)
        scale = diagonal.sqrt()
        left = point.ratio / torch.where(x.source > 0, x.source, 1.0).sqrt()
        matrix = point.terms * left.unsqueeze(-1) * (x.target / scale).unsqueeze(-2)
        thin = matrix.shape[-2] < matrix.shape[-1]
        short = matrix if thin else matrix.mT
        mass, labels = (x.source, parts.rows) if thin else (column, parts.columns)
        total = parts.of_rows(mass) if thin else parts.of_columns(mass)
        null = torch.where(stiff & (total > 0), mass.sqrt() / torch.where(total > 0, total, 1.0).sqrt(), 0.0)
        same = labels.unsqueeze(-1) == labels.unsqueeze(-2)
        system = same * null.unsqueeze(-1) * null.unsqueeze(-2) - torch.matmul(short, short.mT)
        system.diagonal(dim1=-2, dim2=-1).add_(1 + tolerances.rounding(column.dtype, sum(matrix.shape[-2:])))
        factor, info = torch.linalg.cholesky_ex(system)
        return cls(torch.where((info == 0)[..., None, None], factor, torch.nan), scale, matrix)

    def solve(self, residual: Tensor) -> Tensor:
        """Return (−∇²Φ)⁻¹ residual."""
        right = residual / self.scale
        if self.matrix.shape[-2] < self.matrix.shape[-1]:
            return (right + _apply(self.matrix.mT, self._solved(_apply(self.matrix, right)))) / self.scale
        return self._solved(right) / self.scale

    def _solved(self, right: Tensor) -> Tensor:
        half = torch.linalg.solve_triangular(self.factor, right.unsqueeze(-1), upper=False)
        step: Tensor = torch.linalg.solve_triangular(self.factor.mT, half, upper=True)
        return step.squeeze(-1)


def _sinkhorn_sweep(x: Scaling, psi: Tensor, point: Point, annealing: Tensor) -> Tensor:
    """Return ψ after half a sweep, from Pᵀ1 where that has not underflowed."""
    has_mass = x.target > 0
    if not bool((~has_mass | (point.column > torch.finfo(psi.dtype).tiny)).all()):
        return extended(x, psi, point.row, annealing)
    total = torch.where(has_mass, point.column / x.target, 1.0).log() - psi / annealing.unsqueeze(-1)
    return torch.where(has_mass, -total / (1 / annealing + x.kappa).unsqueeze(-1), psi)


def _shift_parts(x: Scaling, psi: Tensor, point: Point, parts: Parts) -> Tensor:
    """Return ψ after the best shift of every connected part: with κ > 0 the one that makes the masses agree."""
    level = centred(x, psi, parts)
    if not x.relaxed:
        return level
    kappa = x.kappa.unsqueeze(-1)
    required = parts.of_columns(x.target * (-kappa * psi).exp())
    shift = (required / parts.of_columns(point.column)).log() / kappa
    return torch.where(shift.isfinite(), psi + shift, level)


def _newton_step(x: Scaling, psi: Tensor, annealing: Tensor, point: Point, parts: Parts) -> tuple[Tensor, Point, Tensor]:
    """Return a step that raises Φ enough, or by less than its rounding, the point reached, and whether there was one."""
    step = _Hessian.at(x, point, annealing, parts).solve(point.residual)
    slope = (step * point.residual).sum(-1)
    step = torch.where((slope.isfinite() & (slope > 0)).unsqueeze(-1), step, 0.0) * annealing.unsqueeze(-1)
    idle = (step == 0).all(-1)
    unit = tolerances.rounding(psi.dtype, sum(point.terms.shape[-2:]))
    slack = unit * ((x.source * point.row.abs()).sum(-1) + (x.target * psi.abs()).sum(-1) / annealing)
    size, trial, improved = backtrack(
        lambda size: evaluate(x, psi + size * step, annealing),
        lambda trial: trial.objective,
        point.objective,
        slope,
        slack,
        idle,
    )
    return torch.where(improved.unsqueeze(-1), size.unsqueeze(-1) * step, 0.0), trial, improved
