"""One-sided entropic optimal transport: the closed forms behind scaled-dot-product attention.

A row of attention weights solves  min over the simplex of  −⟨p, s⟩ + τ Σ_j p_j log p_j.  This module holds the closed
forms that belong to that problem, for use in real models: batched, in any floating dtype, differentiable twice.

Claims      eot.1, eot.4, eot.5, eot.18, eot.44, eot.45, eot.46, eot.50, eot.59
Notation    s = scores; τ = temperature (also printed ε); p = plan (also α, p*); u = utility; c = context; v_j = values
Shapes      Rows live on the last axis; a temperature broadcasts over ``scores.shape[:-1]``. ``query``, ``keys`` and
            ``values`` have the shapes of ``torch.nn.functional.scaled_dot_product_attention``, or are the vectors of a single
            query. Dtypes, masks and other conventions: ``numerics.arguments``
"""

import math

import torch
from torch import Tensor

from numerics.arguments import (
    Positive,
    broadcastable,
    check_mask,
    check_rows,
    common,
    floating,
    known_true,
    number,
    on_cpu,
    per_row,
    transformed,
    without_autocast,
)


def plan(scores: Tensor, temperature: Positive = 1.0, mask: Tensor | None = None) -> Tensor:
    """Return the optimal plan, p_j = exp(s_j/τ) / Σ_l exp(s_l/τ) (``eot.18``; with s = ⟨q, k⟩, ``eot.1``).

    Args:
        scores: floating, (..., m) with m ≥ 1.
        temperature: positive; a number, or a tensor that broadcasts over the rows (...).
            A tensor is not read back from its device: its entries that are not positive give rows of NaN.
        mask: boolean or floating, broadcastable to (..., m). See the module's notes.

    Returns:
        (..., m), in the dtype of ``scores``.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    if mask is None and not isinstance(temperature, Tensor):
        quick = _unmasked_plan(scores, temperature)
        if quick is not None:
            return quick
    logits, _, live = _logits(scores, temperature, mask)
    return torch.where(live, logits.softmax(-1), 0.0).to(scores.dtype)


def log_partition(scores: Tensor, temperature: Positive = 1.0, mask: Tensor | None = None) -> Tensor:
    """Return log Z = log Σ_l exp(s_l/τ) (``eot.50``).

    Arguments and errors as for ``plan``.

    Returns:
        (...), in the dtype of ``scores``; −inf, with derivatives zero, where a row is fully masked.
    """
    logits, peak, live = _logits(scores, temperature, mask)
    total = logits.logsumexp(-1, keepdim=True) + peak
    return torch.where(live, total, -torch.inf).squeeze(-1).to(scores.dtype)


@without_autocast
def scores_from(query: Tensor, keys: Tensor) -> Tensor:
    """Return the scores s_j = ⟨q, k_j⟩ (the negative of the cost, ``eot.5``). They are not divided by √d.

    Args:
        query: floating, (..., n, d), or (d,) for one query.
        keys: floating, (..., m, d), with no more leading dimensions than ``query`` unless that is one vector.

    Returns:
        (..., n, m), or (..., m) for one query.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    return _product("query", query, "keys", keys, transposed=True)


def entropy(plan: Tensor) -> Tensor:
    """Return the Shannon entropy H(p) = −Σ_j p_j log p_j, with 0 log 0 = 0 (``eot.4``).

    The slope of H at p_j = 0 is +inf. Automatic differentiation sees 0 there instead: such an entry counts as absent,
    which is what the chain rule through a plan needs, since ∂p_j/∂s vanishes with p_j.

    Args:
        plan: floating, (..., m); rows need not sum to one.

    Returns:
        (...), in the dtype of ``plan``; −inf where a p_j is negative.

    Raises:
        ValueError: if ``plan`` is not a floating tensor (..., m) with m ≥ 1.
    """
    p = floating("plan", plan, "m")
    terms: Tensor = torch.special.entr(torch.where(p == 0, 1.0, p))
    return terms.sum(-1).to(plan.dtype)


def objective(plan: Tensor, scores: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return J(p) = −Σ_j p_j s_j + τ Σ_j p_j log p_j (``eot.5``), where 0 · (−inf) = 0.

    Args:
        plan: floating, (..., m).
        scores: floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (...), the three arguments broadcast against each other, in the wider dtype of the two tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p, s = common(floating("plan", plan, "m"), floating("scores", scores, "m"))
    check_rows("scores", s, "plan", p)
    tau = per_row("temperature", temperature, p + s).squeeze(-1)
    s = torch.where((p == 0) & (s == -torch.inf), 0.0, s)
    return (-(p * s).sum(-1) - tau * entropy(p)).to(torch.promote_types(plan.dtype, scores.dtype))


@without_autocast
def context(plan: Tensor, values: Tensor) -> Tensor:
    """Return the context c = Σ_j p_j v_j (``eot.44``).

    Args:
        plan: floating, (..., n, m), or (m,) for one query.
        values: floating, (..., m, dv), with no more leading dimensions than ``plan`` unless that is one vector.

    Returns:
        (..., n, dv), or (..., dv) for one query.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    return _product("plan", plan, "values", values, transposed=False)


@without_autocast
def utility(context_gradient: Tensor, values: Tensor) -> Tensor:
    """Return the marginal utilities u_j = −∂L/∂p_j = −⟨∇_c L, v_j⟩ (``eot.45``).

    Args:
        context_gradient: ∇_c L, floating, (..., n, dv), or (dv,) for one query.
        values: floating, (..., m, dv), with no more leading dimensions unless ∇_c L is one vector.

    Returns:
        (..., n, m), or (..., m) for one query.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    return -_product("context_gradient", context_gradient, "values", values, transposed=True)


def score_gradient(plan: Tensor, utility: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return ∂L/∂s_j = −(p_j/τ) (u_j − E_p[u]), in O(m) per row (``eot.46``).

    Args:
        plan: the optimal plan, floating, (..., m).
        utility: u = −∂L/∂p, floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (..., m), the three arguments broadcast against each other, in the wider dtype of the two tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p, u = common(floating("plan", plan, "m"), floating("utility", utility, "m"))
    check_rows("utility", u, "plan", p)
    advantage = u - (p * u).sum(-1, keepdim=True)
    return (-p * advantage / per_row("temperature", temperature, advantage)).to(torch.promote_types(plan.dtype, utility.dtype))


def plan_jacobian(plan: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return ∂p_k/∂s_j = p_k (δ_kj − p_j) / τ, with k on the last axis but one and j on the last (``eot.59``).

    Args:
        plan: the optimal plan, floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (..., m, m), in the dtype of ``plan``.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p = floating("plan", plan, "m")
    fluctuation = p.diag_embed() - p.unsqueeze(-1) * p.unsqueeze(-2)
    return (fluctuation / per_row("temperature", temperature, p).unsqueeze(-1)).to(plan.dtype)


def _unmasked_plan(scores: Tensor, temperature: float) -> Tensor | None:
    """Return the plan of rows on the CPU, or None if some row needs the general treatment.

    Softmax makes every entry of a row NaN if the row has NaN or +inf, or is −inf throughout, so the first entry tells.
    """
    s = floating("scores", scores, "m")
    if not on_cpu(s) or transformed(s):
        return None
    tau = number("temperature", temperature, s.dtype)
    if math.frexp(tau)[0] != 0.5:
        # Differences of scores are divided, not scores, as below; division by a power of two loses nothing.
        s = (s - s.amax(-1, keepdim=True).detach()).div_(tau)
    elif tau != 1:
        s = s / tau
    p = s.softmax(-1)
    return p.to(scores.dtype) if known_true(~p[..., :1].isnan()) else None


def _logits(scores: Tensor, temperature: Positive, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return s/τ + mask less the row's peak of s/τ (0 throughout a row that is fully masked), that peak, live rows.

    The peak is taken off before the division: differences of scores are divided, not scores, so neither a tiny τ nor a
    large common offset costs digits. It is held constant, since the plan does not depend on it.
    """
    s = floating("scores", scores, "m")
    tau = per_row("temperature", temperature, s)
    allowed, bias = s != -torch.inf, None
    if mask is not None:
        mask = check_mask(mask, s.shape, s)
        if mask.dtype == torch.bool:
            allowed = allowed & mask
        else:
            bias = mask.to(s.dtype)
            allowed = allowed & (bias != -torch.inf)
    live = allowed.any(-1, keepdim=True)
    peak = torch.where(allowed, s, -torch.inf).amax(-1, keepdim=True)
    peak = torch.where(live, peak, 0.0).detach()
    # What is masked is replaced before every operation that could make inf − inf or 0 · inf of it, here or backwards.
    logits = (torch.where(allowed, s, peak) - peak) / tau
    if bias is not None:
        logits = logits + bias
    logits = torch.where(allowed, logits, -torch.inf)
    return torch.where(live, logits, 0.0), peak / tau, live


def _product(left_name: str, left: Tensor, right_name: str, right: Tensor, *, transposed: bool) -> Tensor:
    """Return left @ right, or left @ rightᵀ, in float32 or wider."""
    x = floating(left_name, left, "m")
    y = floating(right_name, right, "m")
    inner = -1 if transposed else -2
    fits = y.ndim >= 2 and x.shape[-1] == y.shape[inner] and (x.ndim == 1 or x.ndim >= y.ndim)
    if not (fits and broadcastable(x.shape[:-2], y.shape[:-2])):
        sizes = "(..., m, d)" if transposed else "(..., m, d) with m the last size of the former"
        raise ValueError(
            f"{right_name}: expected {sizes} that goes with {left_name} {tuple(left.shape)}, got {tuple(right.shape)}"
        )
    dtype = torch.promote_types(x.dtype, y.dtype)
    product = torch.matmul(x.to(dtype), (y.mT if transposed else y).to(dtype))
    return product.to(torch.promote_types(left.dtype, right.dtype))
