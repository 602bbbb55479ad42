"""One-sided entropic optimal transport: the closed forms behind scaled-dot-product attention.

A row of attention weights solves  min over the simplex of  −⟨p, s⟩ + τ Σ_j p_j log p_j.  This module holds the closed
forms that belong to that problem, for use in real models: batched, in any floating dtype, differentiable twice.

Claims      eot.1, eot.4, eot.5, eot.18, eot.44, eot.45, eot.46, eot.50, eot.59
Notation    s = scores; τ = temperature (also printed ε); p = plan (also α, p*); u = utility; c = context; v_j = values
Shapes      Rows live on the last axis. ``temperature`` is a number or a tensor that broadcasts over the rows, that is,
            over ``scores.shape[:-1]``. ``query``, ``keys`` and ``values`` have the shapes of
            ``torch.nn.functional.scaled_dot_product_attention``, or are the vectors of a single query.
Dtypes      float16 and bfloat16 are computed in float32 and returned in the dtype of the input; nothing is promoted
            to float64 unless an input is float64.
Masks       As in ``scaled_dot_product_attention``: boolean, True takes part; floating, added to s/τ. A score of −inf is
            masked. A row with nothing left has the plan zero, and all its derivatives are zero.
"""

import torch
from torch import Tensor

Temperature = float | Tensor

_HALF = (torch.float16, torch.bfloat16)


def plan(scores: Tensor, temperature: Temperature = 1.0, mask: Tensor | None = None) -> Tensor:
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
    logits, _, live = _logits(scores, temperature, mask)
    return torch.where(live, logits.softmax(-1), 0.0).to(scores.dtype)


def log_partition(scores: Tensor, temperature: Temperature = 1.0, mask: Tensor | None = None) -> Tensor:
    """Return log Z = log Σ_l exp(s_l/τ) (``eot.50``).

    Arguments and errors as for ``plan``.

    Returns:
        (...), in the dtype of ``scores``; −inf, with derivatives zero, where a row is fully masked.
    """
    logits, peak, live = _logits(scores, temperature, mask)
    total = logits.logsumexp(-1, keepdim=True) + peak
    return torch.where(live, total, -torch.inf).squeeze(-1).to(scores.dtype)


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
    p = _rows("plan", plan)
    terms: Tensor = torch.special.entr(torch.where(p == 0, 1.0, p))
    return terms.sum(-1).to(plan.dtype)


def objective(plan: Tensor, scores: Tensor, temperature: Temperature = 1.0) -> Tensor:
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
    p, s = _rows("plan", plan), _rows("scores", scores)
    _same_rows("scores", s, "plan", p)
    tau = _temperature(temperature, p + s).squeeze(-1)
    s = torch.where((p == 0) & (s == -torch.inf), 0.0, s)
    return (-(p * s).sum(-1) - tau * entropy(p)).to(torch.promote_types(plan.dtype, scores.dtype))


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


def score_gradient(plan: Tensor, utility: Tensor, temperature: Temperature = 1.0) -> Tensor:
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
    p, u = _rows("plan", plan), _rows("utility", utility)
    _same_rows("utility", u, "plan", p)
    advantage = u - (p * u).sum(-1, keepdim=True)
    return (-p * advantage / _temperature(temperature, advantage)).to(torch.promote_types(plan.dtype, utility.dtype))


def plan_jacobian(plan: Tensor, temperature: Temperature = 1.0) -> Tensor:
    """Return ∂p_k/∂s_j = p_k (δ_kj − p_j) / τ, with k on the last axis but one and j on the last (``eot.59``).

    Args:
        plan: the optimal plan, floating, (..., m).
        temperature: positive; a number, or a tensor that broadcasts over the rows.

    Returns:
        (..., m, m), in the dtype of ``plan``.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    p = _rows("plan", plan)
    fluctuation = p.diag_embed() - p.unsqueeze(-1) * p.unsqueeze(-2)
    return (fluctuation / _temperature(temperature, p).unsqueeze(-1)).to(plan.dtype)


def _logits(scores: Tensor, temperature: Temperature, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return s/τ + mask less the row's peak of s/τ (0 throughout a row that is fully masked), that peak, live rows.

    The peak is taken off before the division: differences of scores are divided, not scores, so neither a tiny τ nor a
    large common offset costs digits. It is held constant, since the plan does not depend on it.
    """
    s = _rows("scores", scores)
    tau = _temperature(temperature, s)
    allowed, bias = s != -torch.inf, None
    if mask is not None:
        _check_mask(mask, s)
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
    x = _rows(left_name, left)
    y = _rows(right_name, right)
    inner = -1 if transposed else -2
    fits = y.ndim >= 2 and x.shape[-1] == y.shape[inner] and (x.ndim == 1 or x.ndim >= y.ndim)
    if not (fits and _broadcastable(x.shape[:-2], y.shape[:-2])):
        sizes = "(..., m, d)" if transposed else "(..., m, d) with m the last size of the former"
        raise ValueError(
            f"{right_name}: expected {sizes} that goes with {left_name} {tuple(left.shape)}, got {tuple(right.shape)}"
        )
    dtype = torch.promote_types(x.dtype, y.dtype)
    product = torch.matmul(x.to(dtype), (y.mT if transposed else y).to(dtype))
    return product.to(torch.promote_types(left.dtype, right.dtype))


def _rows(name: str, x: Tensor) -> Tensor:
    """Return ``x`` in the dtype to compute in, once it is known to be floating and (..., m) with m ≥ 1."""
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(f"{name}: expected a floating tensor (..., m) with m ≥ 1, got {_describe(x)}")
    return x.float() if x.dtype in _HALF else x


def _temperature(temperature: Temperature, rows: Tensor) -> Tensor:
    """Return τ shaped to divide ``rows``, in their dtype; NaN where a tensor's entry is not positive."""
    if not isinstance(temperature, Tensor):
        finfo = torch.finfo(rows.dtype)
        if not isinstance(temperature, (int, float)) or not finfo.tiny <= temperature <= finfo.max:
            raise ValueError(
                f"temperature: expected a positive number, normal in {rows.dtype}, or a tensor; got {temperature!r}"
            )
        return rows.new_full((1,), temperature)
    if not temperature.is_floating_point() or not _broadcastable(temperature.shape, rows.shape[:-1]):
        raise ValueError(
            f"temperature: expected a number or a floating tensor that broadcasts over the rows "
            f"{tuple(rows.shape[:-1])}, got {_describe(temperature)}"
        )
    tau = temperature.to(rows).unsqueeze(-1)
    return torch.where(tau > 0, tau, torch.nan)


def _check_mask(mask: Tensor, scores: Tensor) -> None:
    fits = isinstance(mask, Tensor) and (mask.dtype == torch.bool or mask.is_floating_point())
    if not (fits and _broadcastable(mask.shape, scores.shape) and mask.shape[-1:] in ((), (1,), scores.shape[-1:])):
        raise ValueError(
            f"mask: expected a boolean or floating tensor that broadcasts to the scores {tuple(scores.shape)}, "
            f"got {_describe(mask)}"
        )


def _same_rows(name: str, x: Tensor, other_name: str, other: Tensor) -> None:
    if x.shape[-1] != other.shape[-1] or not _broadcastable(x.shape, other.shape):
        raise ValueError(f"{name}: expected rows like those of {other_name} {tuple(other.shape)}, got {tuple(x.shape)}")


def _broadcastable(shape: torch.Size, other: torch.Size) -> bool:
    return all(a == b or a == 1 or b == 1 for a, b in zip(reversed(shape), reversed(other), strict=False))


def _describe(x: object) -> str:
    return f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else f"{type(x).__name__} {x!r}"
