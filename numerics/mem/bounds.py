"""How far a dual point is from the solution: bounds from what is computed at that point, rounding included.

Claims      deciphering.9
Notation    as in ``rows``; g = ∇D(λ); ν² = gᵀH⁻¹g; r = max_i ‖t_i‖; u = eps/2
Bounds      (a) −D is strongly convex with modulus 1/α, so ‖λ − λ*‖ ≤ α‖g‖.
            (b) Within a ball of radius R about λ logits change relatively to each other by at most ω = 2rR, weights by a
                factor of at most e^ω, so H at a fraction s of the way to its edge is at least e^{−sω}H. If λ* were outside,
                D would still rise where the way from λ to λ* leaves the ball, a step x of length R from λ; integrating
                H along x, ⟨g, x⟩ ≥ ‖x‖_H² (1 − e^{−ω})/ω, whence R ≤ ‖x‖_H √c ≤ √c ν ω/(1 − e^{−ω}), for c ≥ ‖H⁻¹‖.
                That fails, so λ* is inside, for every R > −log(1 − 2r√c ν)/(2r), provided that 2r√c ν < 1.
            (b) is needed where α‖Σ‖ is huge: rounding λ alone by ε makes g = Hε, which (a) inflates to α‖Hε‖.
            (c) KL(p ‖ p*) + KL(p* ‖ p) = ⟨λ − λ*, y⟩ = −α⟨g + y, y⟩ ≤ (α/4)‖g‖² for p = tilt(λ) and y = Σ p_i t_i − ĥ, as
                λ = α(b − Σ p_i t_i − g) and λ* = α(b − ĥ). Pinsker's inequality, twice, gives ‖p − p*‖₁ ≤ √α ‖g‖/2; and
                as the left side is not negative, ‖Σ p_i t_i − ĥ‖ ≤ ‖g‖.
            (d) With ‖λ − λ*‖ ≤ e, weights change by factors within e^{±ω}, ω = 2re, whence ‖p − p*‖₁ ≤ 2 tanh(ω/4).
            (e) ĥ = b − λ*/α, hence b − λ/α is off by ‖λ − λ*‖/α.
Rounding    What is computed for g is off by at most ρ from its sums, ρ = u(2‖b‖ + 2‖λ‖/α + 5‖ĥ‖ + 2^{−19} r), as
            ``Rows.mean`` is that precise, and ``Rows.total``, by which it is divided: it may be off by nu, as may p; and by
            Σ_i p_i η_i (t_i − ĥ) from the logits. There the products lose at most (2 + d^{3/2} 2^{2−b})u r‖λ‖, for heads of b
            bits (see ``Rows.weights``), a template that was centred u r‖λ‖, log u_i being added and the differences that
            softmax makes 9u r‖λ‖, its exponentials and quotients 8u.
            What log u_i loses, 2u|log u_i|, is at most 2u(|log p_i| + 2r‖λ‖), and Σ p_i log² p_i ≤ (1 + log n)². So with
            η = u(10 + 2 log n + (16 + d^{3/2} 2^{2−b}) r‖λ‖) that sum is at most ‖F‖_F η, in the metric of H⁻¹ at most η; and
            p is off by at most 2η + 2nu in the ℓ1 norm. (a) becomes α(‖g‖ + ρ + ‖F‖_F η), and in (b) ν becomes ν + √c ρ + η.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.mem.rows import Hessian, Rows, head_bits


@dataclass(frozen=True)
class Bounds:
    """What is known of r dual points.

    Attributes:
        weights: p = tilt(λ), (r, n).
        length: ‖λ‖, (r,).
        gradient_norm: a bound on ‖g‖, (r,): what is computed, and the allowance for its rounding.
        error: a bound on ‖λ − λ*‖, (r,).
        weights_error: a bound on ‖p − p*‖₁, (r,), for p as computed.
    """

    weights: Tensor
    length: Tensor
    gradient_norm: Tensor
    error: Tensor
    weights_error: Tensor

    def put(self, index: slice | Tensor, found: "Bounds") -> None:
        """Write what was found for some rows."""
        for name, values in vars(found).items():
            getattr(self, name)[index] = values


def bounds_at(rows: Rows, dual: Tensor, wanted: Tensor) -> Bounds:
    """Return the bounds for λ = ``dual``, (r, d). (b) is worked out only where (a) is above ``wanted``, (r,)."""
    weights = rows.weights(dual)
    mean = rows.mean(weights) / rows.total(weights)
    gradient = rows.target - dual / rows.alpha - mean
    sums, logits = _rounding(rows, dual, mean)
    squares = rows.templates.square().sum(-1)
    trace = ((weights * squares).sum(-1) - mean.square().sum(-1)).clamp(min=0) + _eps(dual) * squares.amax(-1)
    norm = gradient.norm(dim=-1) + sums + trace.sqrt() * logits
    alpha = rows.alpha.squeeze(-1)
    error = alpha * norm
    loose = ~(error <= wanted)
    if bool(loose.any()):
        local = _local(rows.take(loose), *(x[loose] for x in (weights, mean, gradient, sums, logits)))
        error = error.index_put((loose,), torch.minimum(error[loose], local))
    near = torch.minimum(alpha.sqrt() * norm / 2, 2 * torch.tanh(rows.radius.squeeze(-1) * error / 2))
    return Bounds(weights, dual.norm(dim=-1), norm, error, near + 2 * logits + _eps(dual) * weights.shape[-1])


def _rounding(rows: Rows, dual: Tensor, mean: Tensor) -> tuple[Tensor, Tensor]:
    """Return ρ and η, (r,) each: see the module's notes."""
    radius, length = rows.radius.squeeze(-1), dual.norm(dim=-1)
    n, d = rows.templates.shape[-2:]
    unit = _eps(dual) / 2
    sums = 2 * (rows.target.norm(dim=-1) + length / rows.alpha.squeeze(-1)) + 5 * mean.norm(dim=-1) + 2.0**-19 * radius
    products = 16 + d**1.5 * 2.0 ** (2 - head_bits(d))
    return unit * sums, unit * (10 + 2 * math.log(n) + products * radius * length)


def _local(
    rows: Rows, weights: Tensor, mean: Tensor, gradient: Tensor, sums: Tensor, logits: Tensor
) -> Tensor:
    """Bound (b), (r,)."""
    hessian = Hessian(rows, weights, mean, rows.alpha)
    x = hessian.solve(gradient)
    left = gradient - hessian.times(x)
    # ν² = ⟨x, g⟩ + ⟨x, left⟩ + leftᵀH⁻¹left for any x, however inexact the solution was.
    alpha = rows.alpha.squeeze(-1)
    square = (x * (gradient + left)).sum(-1) + alpha * left.square().sum(-1)
    root = hessian.bound().squeeze(-1).sqrt()
    decrement = root * (square.clamp(min=0).sqrt() + root * sums + logits)
    diameter = 2 * rows.radius.squeeze(-1)
    inside = diameter * decrement
    radius = torch.where(inside > 0, -torch.log1p(-inside) / diameter, decrement)
    return torch.where(inside < 1, radius, torch.inf)


def _eps(x: Tensor) -> float:
    return torch.finfo(x.dtype).eps
