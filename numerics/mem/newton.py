"""Newton's method on the dual of the maximum entropy on the mean, safeguarded so that it converges from everywhere.

−D is strongly convex with modulus 1/α, and its Hessian changes at most by the factor by which weights change. A step
solves H δ = ∇D(λ), then maximizes D along δ, which needs no further matrix product since logits are linear along a line.
α itself is raised step by step: far from the solution a large α makes D nearly piecewise quadratic, and plain Newton would
have to cross its kinks one by one.

Claims      deciphering.8, deciphering.9
Notation    as in ``rows``; g = ∇D(λ) = b − λ/α − Σ_i p_i t_i
"""

import torch
from torch import Tensor

from numerics.mem.rows import Hessian, Rows

_STEPS = 200
_SEARCH_STEPS = 60
_FIRST_LOGIT = 100.0
"""How large the logits ⟨t_i, λ⟩ may be at the α that is tried first: there a few steps are enough from λ = 0."""
_RAISE = 10.0
_CLOSE = 0.1
"""The relative distance to the solution for the present α at which α is raised."""


def maximize(rows: Rows, tolerance: float) -> Tensor:
    """Return λ, (r, d), within about ``tolerance`` (1 + ‖λ‖) of the solution if 200 steps are enough; it is not certified.

    Each row raises its α at its own pace, and leaves when it is done: when the bound α‖g‖ is below the tolerance or, where
    rounding keeps it above, when the last step was so short that nothing is left to gain.
    """
    dual = torch.zeros_like(rows.target)
    radius = rows.radius
    start = _FIRST_LOGIT / (radius * (radius + rows.target.norm(dim=-1, keepdim=True)))
    present = torch.minimum(rows.alpha, torch.where(start > 0, start, torch.inf))       # 0 is that of a length that overflows
    left = torch.arange(len(dual), device=dual.device)
    for _ in range(_STEPS):
        now, lam = rows.take(left), dual[left]
        scores = now.scores(lam) + now.log_prior
        weights = scores.softmax(-1)
        mean = now.mean(weights)
        alpha = _raised(now, lam, mean, present[left], tolerance)
        present[left] = alpha
        gradient = now.target - lam / alpha - mean
        error = alpha * gradient.norm(dim=-1, keepdim=True)
        allowed = tolerance * (1 + lam.norm(dim=-1, keepdim=True))
        last = alpha >= now.alpha
        more = (~((error <= allowed) & last) & ~error.isnan()).squeeze(-1)
        if not bool(more.any()):
            break
        now, lam, alpha, gradient, last = now.take(more), lam[more], alpha[more], gradient[more], last[more]
        delta = Hessian(now, weights[more], mean[more], alpha).solve(gradient)
        decrement = (gradient * delta).sum(-1, keepdim=True).clamp(min=0)
        size = search(scores[more], now.scores(delta), delta, now.target - lam / alpha, alpha)
        settled = last & ((alpha * decrement).sqrt() <= 0.1 * allowed[more])
        dual[left[more]] = lam + torch.where(settled, 1.0, size) * delta
        left = left[more][~settled.squeeze(-1)]
        if len(left) == 0:
            break
    return dual


def search(scores: Tensor, along: Tensor, delta: Tensor, slack: Tensor, alpha: Tensor) -> Tensor:
    """Return the size t > 0 that maximizes D(λ + tδ), (r, 1), by Newton's method in t inside a shrinking bracket.

    Args:
        scores: log u_i + ⟨t_i, λ⟩, (r, n).
        along: ⟨t_i, δ⟩, (r, n).
        delta: δ, (r, d), a direction in which D rises.
        slack: b − λ/α, (r, d).
        alpha: (r, 1).
    """
    linear = (delta * slack).sum(-1, keepdim=True)
    square = delta.square().sum(-1, keepdim=True) / alpha
    # Once the slope is a tenth of what it was, another Newton step gains more than a better t.
    enough = 0.1 * (linear - (scores.softmax(-1) * along).sum(-1, keepdim=True)).abs()
    t, low, high = torch.ones_like(linear), torch.zeros_like(linear), torch.full_like(linear, torch.inf)
    for _ in range(_SEARCH_STEPS):
        p = torch.addcmul(scores, t, along).softmax(-1)
        center = (p * along).sum(-1, keepdim=True)
        slope = linear - t * square - center
        done = slope.abs() <= enough
        if bool(done.all()):
            break
        rising = slope > 0
        low, high = torch.where(rising, t, low), torch.where(rising, high, t)
        curvature = square + (p * (along - center).square()).sum(-1, keepdim=True)
        newton = t + slope / curvature
        middle = torch.where(high == torch.inf, 2 * low, (low + high) / 2)
        t = torch.where(done, t, torch.where((newton > low) & (newton < high), newton, middle))
    return t


def _raised(rows: Rows, dual: Tensor, mean: Tensor, alpha: Tensor, tolerance: float) -> Tensor:
    """Return the largest α on each row's ladder for whose predecessor λ is close to the solution."""
    while True:
        gap = dual - alpha * (rows.target - mean)
        near = gap.norm(dim=-1, keepdim=True) <= _CLOSE * dual.norm(dim=-1, keepdim=True) + tolerance
        close = near & (alpha < rows.alpha)
        if not bool(close.any()):
            return alpha
        alpha = torch.where(close, torch.minimum(_RAISE * alpha, rows.alpha), alpha)
