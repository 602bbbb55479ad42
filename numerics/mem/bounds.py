"""How far a dual point is from the solution: bounds from what is computed at that point, rounding included.

Claims      deciphering.9
Notation    as in ``rows``; g = ∇D(λ); ν² = gᵀH⁻¹g; r = max_i ‖t_i‖
Bounds      (a) −D is strongly convex with modulus 1/α, so ‖λ − λ*‖ ≤ α‖g‖.
            (b) In a ball of radius R about λ, logits change relative to each other by at most ω = 2rR and weights by a factor
                of at most e^ω, so at a fraction s of the way to its edge the Hessian is at least e^{−sω}H. If λ* were outside,
                D would still increase where the segment from λ to λ* leaves the ball, a step x of length R from λ; integrating
                the Hessian along x gives ⟨g, x⟩ ≥ ‖x‖_H² (1 − e^{−ω})/ω, whence R ≤ ‖x‖_H √c ≤ √c ν ω/(1 − e^{−ω}) for
                c ≥ ‖H⁻¹‖. This fails, and λ* is inside, for every R > −log(1 − 2r√c ν)/(2r), provided that 2r√c ν < 1.
            (b) is needed where α‖Σ‖ is huge: rounding λ alone by ε makes g = Hε, which (a) inflates to α‖Hε‖.
            (c) KL(p ‖ p*) + KL(p* ‖ p) = ⟨λ − λ*, y⟩ = −α⟨g + y, y⟩ ≤ (α/4)‖g‖² for p = tilt(λ) and y = Σ p_i t_i − ĥ, as
                λ = α(b − Σ p_i t_i − g) and λ* = α(b − ĥ). Pinsker's inequality, twice, gives ‖p − p*‖₁ ≤ √α ‖g‖/2; and
                as the left side is not negative, ‖Σ p_i t_i − ĥ‖ ≤ ‖g‖.
            (d) With ‖λ − λ*‖ ≤ e, weights change by factors within e^{±ω}, ω = 2re, whence ‖p − p*‖₁ ≤ 2 tanh(ω/4).
            (e) ĥ = b − λ*/α, hence the error of b − λ/α is ‖λ − λ*‖/α.
Rounding    Let ρ bound the rounding of the terms and sums of g, and η the error of the logits in the norm of L²(p). Then (a)
            becomes α(‖g‖ + ρ + ‖F‖_F η), in (b) ν becomes ν + √c ρ + η, and the error of p in the ℓ1 norm grows by η + 2nu,
            for u = eps/2. The argument is in ``docs/notes/mem_rounding.md``.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.mem.pcg import UNDERFLOW_NORM, duality_gap, is_certified, mean_error_with_center
from numerics.mem.rows import Hessian, Rows, high_bits, mean_rounding


@dataclass(frozen=True)
class Bounds:
    """Error bounds of r dual points.

    Attributes:
        weights: p = tilt(λ), (r, n).
        dual_norm: ‖λ‖, (r,).
        gradient_norm: a bound on ‖g‖, (r,): the computed norm plus a bound on its rounding.
        error: a bound on ‖λ − λ*‖, (r,).
        weights_error: a bound on ‖p − p*‖₁, (r,), for p as computed.
        mean_error: a bound on ‖μ + z − λ/α − ĥ‖, (r,), for μ + z − λ/α as computed.
        gap: a bound on P(p) − D(λ), (r,).
        certified: whether the error is within the tolerance, boolean, (r,).
    """

    weights: Tensor
    dual_norm: Tensor
    gradient_norm: Tensor
    error: Tensor
    weights_error: Tensor
    mean_error: Tensor
    gap: Tensor
    certified: Tensor

    @classmethod
    def unknown(cls, weights: Tensor) -> "Bounds":
        """No bounds yet: infinite, and nothing is certified."""

        def norm() -> Tensor:
            return weights.new_full(weights.shape[:1], torch.inf)

        return cls(weights, norm(), norm(), norm(), norm(), norm(), norm(), norm() < 0)

    def assign(self, index: slice | Tensor, rows: "Bounds") -> None:
        """Overwrite the bounds of some rows."""
        for name, values in vars(rows).items():
            getattr(self, name)[index] = values


def bounds_at(rows: Rows, dual: Tensor, tolerance: float, span: float | Tensor) -> Bounds:
    """Return the bounds for λ = ``dual``, (r, d). (b) is computed only where (a) exceeds the tolerance.

    Args:
        rows: the problems.
        dual: λ, (r, d).
        tolerance: of the error, relative to 1 + ‖λ‖.
        span: bound on the norm of every mean of the templates as given, of all rows or (r,).
    """
    weights = rows.weights(dual)
    mean = rows.mean(weights) / rows.total(weights)
    gradient = rows.target - dual / rows.alpha - mean
    sums, logits = _rounding(rows, dual, weights, mean)
    squares = rows.templates.square().sum(-1)
    n, d = rows.templates.shape[-2:]
    trace = ((weights * squares).sum(-1) - mean.square().sum(-1)).clamp(min=0) + (n + d + 8) * _eps(dual) * squares.amax(-1)
    norm = gradient.norm(dim=-1) + sums + trace.sqrt() * logits
    alpha = rows.alpha.squeeze(-1)
    error = alpha * norm + UNDERFLOW_NORM
    dual_norm = dual.norm(dim=-1)
    loose = ~is_certified(error, dual_norm, tolerance)
    if bool(loose.any()):
        local = _local_bound(rows.take(loose), *(x[loose] for x in (weights, mean, gradient, sums, logits)))
        error = error.index_put((loose,), torch.minimum(error[loose], local))
    weights_error = torch.minimum(alpha.sqrt() * norm / 2, 2 * torch.tanh(_radius(rows) * error / 2))
    weights_error = weights_error + 2 * logits + n * _eps(dual)
    mean_error = torch.minimum(norm, error / alpha + sums) + _eps(dual) * (_radius(rows) + norm)
    mean_error = mean_error_with_center(mean_error, span, dual_norm, alpha)
    certified = is_certified(error, dual_norm, tolerance)
    return Bounds(weights, dual_norm, norm, error, weights_error, mean_error, duality_gap(alpha, norm), certified)


def _rounding(rows: Rows, dual: Tensor, weights: Tensor, mean: Tensor) -> tuple[Tensor, Tensor]:
    """Return ρ and η e^{2η}, (r,) each: see ``docs/notes/mem_rounding.md``."""
    radius, dual_norm = _radius(rows), dual.norm(dim=-1)
    n, d = rows.templates.shape[-2:]
    unit = _eps(dual) / 2
    shift = (weights - rows.log_prior.exp()).abs().sum(-1) + mean_rounding(n, d)
    sums = 2 * (rows.target.norm(dim=-1) + dual_norm / rows.alpha.squeeze(-1)) + 6 * mean.norm(dim=-1) + shift * radius
    products = 16 + d**1.5 * 2.0 ** (2 - high_bits(d))
    logits = unit * (14 + 6 * math.log(n) + products * radius * dual_norm) + rows.log_prior_error
    return unit * sums + rows.target_error + UNDERFLOW_NORM, logits * torch.exp(2 * logits)


def _radius(rows: Rows) -> Tensor:
    """An upper bound on max_i ‖t_i‖ of each row, (r,) or (1,)."""
    return rows.radius.squeeze(-1) * (1 + (rows.templates.shape[-1] + 8) * _eps(rows.alpha))


def _local_bound(rows: Rows, weights: Tensor, mean: Tensor, gradient: Tensor, sums: Tensor, logits: Tensor) -> Tensor:
    """Bound (b), (r,)."""
    hessian = Hessian(rows, weights, mean, rows.alpha)
    x = hessian.solve(gradient)
    residual = gradient - hessian.times(x)
    # ν² = ⟨x, g⟩ + ⟨x, residual⟩ + residualᵀH⁻¹residual for any x, however inexact the solution was.
    alpha = rows.alpha.squeeze(-1)
    decrement_squared = (x * (gradient + residual)).sum(-1) + alpha * residual.square().sum(-1)
    root = hessian.bound().squeeze(-1).sqrt()
    diameter = 2 * _radius(rows)
    relative = 4 * (sum(rows.templates.shape[-2:]) + 16) * _eps(gradient) * (1 + alpha.sqrt() * diameter)
    decrement = root * (decrement_squared.clamp(min=0).sqrt() * (1 + relative) + root * sums + logits) * torch.exp(2 * logits)
    inside = diameter * decrement
    radius = torch.where(inside > 0, -torch.log1p(-inside) / diameter, decrement)
    return torch.where((inside < 1) & (relative < 1), radius, torch.inf)


def _eps(x: Tensor) -> float:
    return torch.finfo(x.dtype).eps
