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

_MAX_STEPS = 200
"""The largest number of Newton steps, over all values of α."""

_MAX_SEARCH_STEPS = 60
"""The largest number of steps of one line search."""

_FIRST_MAX_LOGIT = 100.0
"""The first α is so small that no logit ⟨t_i, λ⟩ exceeds this at its solution: there a few steps from λ = 0 suffice."""

_ALPHA_FACTOR = 10.0
"""α is raised by this factor at a time."""

_RAISE_BELOW = 0.1
"""α is raised when λ is within this relative distance of the solution for the current α."""


def maximize(rows: Rows, tolerance: float, near: Tensor | None = None) -> Tensor:
    """Return λ, (r, d), within about ``tolerance`` (1 + ‖λ‖) of the solution if 200 steps suffice; it is not certified.

    Each row raises its α at its own pace. It has converged when the bound α‖g‖ is within the tolerance or, where rounding keeps
    the bound above it, when the last step was so short that another one gains nothing, or rounding hides the slope along it.

    Args:
        rows: the problems.
        tolerance: relative to 1 + ‖λ‖.
        near: where to start, (r, d), in rows for which a point near the solution is known; NaN in the others.
    """
    radius = rows.radius
    first = _FIRST_MAX_LOGIT / (radius * (radius + rows.target.norm(dim=-1, keepdim=True)))
    current_alpha = torch.minimum(rows.alpha, torch.where(first > 0, first, torch.inf))  # 0 if a norm overflowed
    dual = torch.zeros_like(rows.target)
    if near is not None:
        known = near.isfinite().all(-1, keepdim=True)
        dual, current_alpha = torch.where(known, near, dual), torch.where(known, rows.alpha, current_alpha)
    active = torch.arange(len(dual), device=dual.device)
    for _ in range(_MAX_STEPS):
        part, lam = rows.take(active), dual[active]
        scores = part.scores(lam) + part.log_prior
        weights = scores.softmax(-1)
        mean = part.mean(weights)
        alpha = _raise_alpha(part, lam, mean, current_alpha[active], tolerance)
        current_alpha[active] = alpha
        gradient = part.target - lam / alpha - mean
        error = alpha * gradient.norm(dim=-1, keepdim=True)
        allowed = tolerance * (1 + lam.norm(dim=-1, keepdim=True))
        at_last_alpha = alpha >= part.alpha
        unconverged = (~((error <= allowed) & at_last_alpha) & ~error.isnan()).squeeze(-1)
        if not bool(unconverged.any()):
            break
        part, lam, alpha, gradient = part.take(unconverged), lam[unconverged], alpha[unconverged], gradient[unconverged]
        delta = Hessian(part, weights[unconverged], mean[unconverged], alpha).solve(gradient)
        decrement = (gradient * delta).sum(-1, keepdim=True).clamp(min=0)
        size, fell = line_search(scores[unconverged], part.scores(delta), delta, part.target - lam / alpha, alpha)
        short = (alpha * decrement).sqrt() <= 0.1 * allowed[unconverged]
        dual[active[unconverged]] = lam + torch.where(short & at_last_alpha[unconverged], 1.0, size) * delta
        active = active[unconverged][~((short | ~fell) & at_last_alpha[unconverged]).squeeze(-1)]
    return dual


def line_search(scores: Tensor, along: Tensor, delta: Tensor, slack: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    """Find the size t > 0 that maximizes D(λ + tδ), by Newton's method in t inside a shrinking bracket.

    Args:
        scores: log u_i + ⟨t_i, λ⟩, (r, n).
        along: ⟨t_i, δ⟩, (r, n).
        delta: δ, (r, d), a direction in which D rises.
        slack: b − λ/α, (r, d).
        alpha: (r, 1).

    Returns:
        t, and whether the slope fell to a tenth, (r, 1) each. It does unless rounding hides it.
    """
    linear = (delta * slack).sum(-1, keepdim=True)
    square = delta.square().sum(-1, keepdim=True) / alpha
    # Once the slope is a tenth of what it was, another Newton step gains more than a better t.
    target_slope = 0.1 * (linear - (scores.softmax(-1) * along).sum(-1, keepdim=True)).abs()
    t, low, high = torch.ones_like(linear), torch.zeros_like(linear), torch.full_like(linear, torch.inf)
    for _ in range(_MAX_SEARCH_STEPS):
        p = torch.addcmul(scores, t, along).softmax(-1)
        center = (p * along).sum(-1, keepdim=True)
        slope = linear - t * square - center
        done = slope.abs() <= target_slope
        if bool(done.all()):
            break
        rising = slope > 0
        low, high = torch.where(rising, t, low), torch.where(rising, high, t)
        curvature = square + (p * (along - center).square()).sum(-1, keepdim=True)
        newton = t + slope / curvature
        middle = torch.where(high == torch.inf, 2 * low, (low + high) / 2)
        t = torch.where(done, t, torch.where((newton > low) & (newton < high), newton, middle))
    return t, done


def _raise_alpha(rows: Rows, dual: Tensor, mean: Tensor, alpha: Tensor, tolerance: float) -> Tensor:
    """Raise the α of each row as long as λ is close to the solution for the current one; return the new α, (r, 1)."""
    while True:
        gap = dual - alpha * (rows.target - mean)
        near = gap.norm(dim=-1, keepdim=True) <= _RAISE_BELOW * dual.norm(dim=-1, keepdim=True) + tolerance
        raised = near & (alpha < rows.alpha)
        if not bool(raised.any()):
            return alpha
        alpha = torch.where(raised, torch.minimum(_ALPHA_FACTOR * alpha, rows.alpha), alpha)
