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
            With b itself off by β, as μ is, and by ur more as templates were centred, b − λ/α is off by at most that more.
Rounding    What is computed for g is off by at most ρ from its sums: b by u‖b‖ and the drift of ``Batch``, λ/α by u‖λ‖/α,
            p̂ = Σ p_i t_i by 3u‖p̂‖ + ur spread, as ``Rows.mean`` and ``Rows.total`` say, differences by u(2‖p̂‖ + 2‖g‖), and as
            templates were centred, Σ(u_i − p_i)t_i by ur‖p − u‖₁. ρ has a little more, for terms of higher order and for what
            underflows.
            And it is off by Σ_i p_i δ_i (t_i − p̂), for logits off by δ_i. There the products lose at most
            (2 + d^{3/2} 2^{2−b})ur‖λ‖, for heads of b bits (see ``Rows.weights``), a template that was centred ur‖λ‖, log u_i
            4u|log u_i| and the blur, log u_i being added u(|log p_i| + r‖λ‖), the differences that softmax makes u|log p_i|,
            its exponentials and quotients 8u. As |log u_i| ≤ |log p_i| + 2r‖λ‖, and Σ p_i(1 − log p_i)² ≤ (1 + log n)², since
            x(1 − log x)² is concave, δ in the norm of L²(p) is at most η = u(14 + 6 log n + (16 + d^{3/2} 2^{2−b})r‖λ‖) + blur.
            p is off by e^{δ_i}, not by 1 + δ_i, hence a factor e^{2η}. So that sum is at most ‖F‖_F η, in the metric of H⁻¹ at
            most η, and p is off by at most η + 2nu in the ℓ1 norm. (a) becomes α(‖g‖ + ρ + ‖F‖_F η), and in (b) ν becomes
            ν + √c ρ + η, with a factor for what the products in ν have lost, which grows with √α r, and for H being at p.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.mem.kernels import TINY
from numerics.mem.rows import Hessian, Rows, head_bits, spread


@dataclass(frozen=True)
class Bounds:
    """What is known of r dual points.

    Attributes:
        weights: p = tilt(λ), (r, n).
        length: ‖λ‖, (r,).
        gradient_norm: a bound on ‖g‖, (r,): what is computed, and the allowance for its rounding.
        error: a bound on ‖λ − λ*‖, (r,).
        weights_error: a bound on ‖p − p*‖₁, (r,), for p as computed.
        mean_error: a bound on ‖b − λ/α − ĥ‖, (r,), both as computed.
    """

    weights: Tensor
    length: Tensor
    gradient_norm: Tensor
    error: Tensor
    weights_error: Tensor
    mean_error: Tensor

    def put(self, index: slice | Tensor, found: "Bounds") -> None:
        """Write what was found for some rows."""
        for name, values in vars(found).items():
            getattr(self, name)[index] = values


def bounds_at(rows: Rows, dual: Tensor, wanted: Tensor) -> Bounds:
    """Return the bounds for λ = ``dual``, (r, d). (b) is worked out only where (a) is above ``wanted``, (r,)."""
    weights = rows.weights(dual)
    mean = rows.mean(weights) / rows.total(weights)
    gradient = rows.target - dual / rows.alpha - mean
    sums, logits = _rounding(rows, dual, weights, mean)
    squares = rows.templates.square().sum(-1)
    n, d = rows.templates.shape[-2:]
    trace = ((weights * squares).sum(-1) - mean.square().sum(-1)).clamp(min=0) + (n + d + 8) * _eps(dual) * squares.amax(-1)
    norm = gradient.norm(dim=-1) + sums + trace.sqrt() * logits
    alpha = rows.alpha.squeeze(-1)
    error = alpha * norm + TINY
    loose = ~(error <= wanted)
    if bool(loose.any()):
        local = _local(rows.take(loose), *(x[loose] for x in (weights, mean, gradient, sums, logits)))
        error = error.index_put((loose,), torch.minimum(error[loose], local))
    near = torch.minimum(alpha.sqrt() * norm / 2, 2 * torch.tanh(_radius(rows) * error / 2))
    apart = torch.minimum(norm, error / alpha + sums) + _eps(dual) * (_radius(rows) + norm)
    return Bounds(weights, dual.norm(dim=-1), norm, error, near + 2 * logits + n * _eps(dual), apart)


def _rounding(rows: Rows, dual: Tensor, weights: Tensor, mean: Tensor) -> tuple[Tensor, Tensor]:
    """Return ρ and η e^{2η}, (r,) each: see the module's notes."""
    radius, length = _radius(rows), dual.norm(dim=-1)
    n, d = rows.templates.shape[-2:]
    unit = _eps(dual) / 2
    moved = (weights - rows.log_prior.exp()).abs().sum(-1) + spread(n, d)
    sums = 2 * (rows.target.norm(dim=-1) + length / rows.alpha.squeeze(-1)) + 6 * mean.norm(dim=-1) + moved * radius
    products = 16 + d**1.5 * 2.0 ** (2 - head_bits(d))
    logits = unit * (14 + 6 * math.log(n) + products * radius * length) + rows.blur
    return unit * sums + rows.drift + TINY, logits * torch.exp(2 * logits)


def _radius(rows: Rows) -> Tensor:
    """max_i ‖t_i‖ of each row, (r,) or (1,), not less."""
    return rows.radius.squeeze(-1) * (1 + (rows.templates.shape[-1] + 8) * _eps(rows.alpha))


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
    diameter = 2 * _radius(rows)
    lost = 4 * (sum(rows.templates.shape[-2:]) + 16) * _eps(gradient) * (1 + alpha.sqrt() * diameter)
    decrement = root * (square.clamp(min=0).sqrt() * (1 + lost) + root * sums + logits) * torch.exp(2 * logits)
    inside = diameter * decrement
    radius = torch.where(inside > 0, -torch.log1p(-inside) / diameter, decrement)
    return torch.where((inside < 1) & (lost < 1), radius, torch.inf)


def _eps(x: Tensor) -> float:
    return torch.finfo(x.dtype).eps
