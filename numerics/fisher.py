"""The Fisher information of attention: the matrix, its products in O(m), and the natural gradient that undoes it.

F = (1/τ²)(D − p pᵀ), D = diag(p), is diagonal plus rank one, so that no product with it needs an m × m matrix. It is
singular, F1 = 0, because a constant added to all scores changes no weight: what takes the place of an inverse is the
Moore-Penrose inverse, F⁺ = τ² Π D⁻¹ Π with Π = I − 11ᵀ/m (``eot.98``, corrected).

Claims      eot.71, eot.78, eot.88, eot.97, eot.98, eot.99, eot.103, eot.s7.efficient, eot.s7.metric
Sources     F as a metric and the natural gradient: Amari, "Natural gradient works efficiently in learning", Neural
            Computation 10 (1998). F⁺: the four conditions of Penrose, "A generalized inverse for matrices" (1955), hold for
            Π D⁻¹ Π, since (D − p pᵀ)D⁻¹ = I − p1ᵀ.
Notation    p = plan; τ = temperature; u = utility = −∂L/∂p; x any vector of m numbers
Shapes      Rows live on the last axis. Other conventions: ``numerics.arguments``.
Masks       A position with weight 0 takes no part: F is 0 there, and means run over the other positions. A row of zeros,
            as ``one_sided.plan`` returns it for a fully masked row, gives zeros.
"""

import torch
from torch import Tensor

from numerics import one_sided
from numerics.arguments import Positive, check_rows, common, floating, per_row


def potential(scores: Tensor, temperature: Positive = 1.0, mask: Tensor | None = None) -> Tensor:
    """Return φ* = τ log Σ_l exp(s_l/τ), whose gradient is the plan (``eot.71``).

    Args:
        scores: floating, (..., m) with m ≥ 1.
        temperature: positive; a number, or a tensor that broadcasts over the rows (...).
        mask: as for ``one_sided.plan``.

    Returns:
        (...), in the dtype of ``scores``; −inf where a row is fully masked.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    s = floating("scores", scores, "m")
    tau = per_row("temperature", temperature, s).squeeze(-1)
    log_z = one_sided.log_partition(s, temperature, mask)
    live = log_z != -torch.inf
    return torch.where(live, tau * torch.where(live, log_z, 0.0), -torch.inf).to(scores.dtype)


def fisher(plan: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return F_jk = E_i[∂log p_i/∂s_j ∂log p_i/∂s_k] = (p_j δ_jk − p_j p_k)/τ² (``eot.78``, ``eot.88``).

    Args:
        plan: the optimal plan, floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (..., m, m), symmetric and positive semidefinite, in the dtype of ``plan``.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p = floating("plan", plan, "m")
    covariance = p.diag_embed() - p.unsqueeze(-1) * p.unsqueeze(-2)
    return (covariance / per_row("temperature", temperature, p).unsqueeze(-1).square()).to(plan.dtype)


def jacobian(plan: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return ∂p_j/∂s_k = τ F_jk, which is the Hessian of the potential (``eot.103``).

    Arguments, result and errors as for ``fisher``.
    """
    return one_sided.plan_jacobian(plan, temperature)


def fisher_product(plan: Tensor, x: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return Fx = (1/τ²) p (x − pᵀx), in O(m) per row (``eot.s7.efficient``).

    Args:
        plan: the optimal plan, floating, (..., m).
        x: floating, (..., m); what it holds where the plan is 0 does not matter.
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (..., m), the three arguments broadcast against each other, in the wider dtype of the two tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p, y, dtype = _pair(plan, "x", x)
    centred = y - (p * y).sum(-1, keepdim=True)
    return (p * centred / per_row("temperature", temperature, centred).square()).to(dtype)


def jacobian_product(plan: Tensor, x: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return (∂p/∂s)x = τFx, in O(m) per row; with x = u it is −∂L/∂s (``eot.97``).

    Arguments, result and errors as for ``fisher_product``.
    """
    p, y, dtype = _pair(plan, "x", x)
    centred = y - (p * y).sum(-1, keepdim=True)
    return (p * centred / per_row("temperature", temperature, centred)).to(dtype)


def pseudo_inverse_product(plan: Tensor, x: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return F⁺x = τ² Π D⁻¹ Πx, in O(m) per row (``eot.98``, corrected).

    Its conditioning is that of D⁻¹: an error of x is multiplied by up to τ²/min p. For −F⁺∇L itself, use
    ``natural_direction``, where the weights cancel.

    Arguments, result and errors as for ``fisher_product``.
    """
    return _pseudo_inverse_product(plan, "x", x, temperature)


def natural_gradient(plan: Tensor, gradient: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return F⁺∇L, the natural gradient of the loss in the scores; descent follows minus it (``eot.98``, corrected).

    Of all Δ with FΔ = ∇L, which differ by a constant vector and move the plan alike, it is the one that sums to zero.

    Args:
        plan: the optimal plan, floating, (..., m).
        gradient: ∇L = ∂L/∂s, floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        As for ``pseudo_inverse_product``, which this is.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    return _pseudo_inverse_product(plan, "gradient", gradient, temperature)


def natural_direction(plan: Tensor, utility: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return −F⁺∇L = τ(u − ū), where ū is the plain mean of u over the positions with weight (``eot.99``, corrected).

    The weights do not enter but by being zero or not, so nothing is lost where they are tiny.

    Args:
        plan: the optimal plan, floating, (..., m).
        utility: u = −∂L/∂p, floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (..., m), the three arguments broadcast against each other, in the wider dtype of the two tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p, u, dtype = _pair(plan, "utility", utility)
    centred = _centred(u, p > 0)
    return (centred * per_row("temperature", temperature, centred)).to(dtype)


def _pseudo_inverse_product(plan: Tensor, name: str, x: Tensor, temperature: Positive) -> Tensor:
    p, y, dtype = _pair(plan, name, x)
    live = p > 0
    scaled = _centred(y, live) / torch.where(live, p, 1.0)
    return (_centred(scaled, live) * per_row("temperature", temperature, scaled).square()).to(dtype)


def _pair(plan: Tensor, name: str, x: Tensor) -> tuple[Tensor, Tensor, torch.dtype]:
    """Return plan and x in the dtype to compute in, x with 0 where the plan is 0, and the dtype of the result."""
    p, y = common(floating("plan", plan, "m"), floating(name, x, "m"))
    check_rows(name, y, "plan", p)
    y = torch.where(p == 0, 0.0, y)
    return p.expand_as(y), y, torch.promote_types(plan.dtype, x.dtype)


def _centred(x: Tensor, live: Tensor) -> Tensor:
    """Return x less its mean over the live positions, and 0 at the others."""
    count = live.sum(-1, keepdim=True).clamp(min=1)
    mean = torch.where(live, x, 0.0).sum(-1, keepdim=True) / count
    return torch.where(live, x - mean, 0.0)
