"""``scaled_dot_product_attention`` with a choice of attention: PyTorch's function, call for call.

Notation    n, m = queries, keys; H = heads of the queries, G = heads of keys and values; E = width
Masks       As in PyTorch's function, and everywhere here: True takes part. A row with nothing left gives zeros.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import dropout

from numerics.arguments import broadcastable, check_mask, compute_dtype, describe, is_dense
from numerics.modules.kinds import Attention, attention_of


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    attention: str | Attention = "softmax",
) -> Tensor:
    """Return the attention of queries to values, as ``torch.nn.functional.scaled_dot_product_attention`` does.

    Args:
        query: floating, (..., H, n, E); any leading axes, none included.
        key: floating, (..., G, m, E).
        value: floating, (..., G, m, dv).
        attn_mask: boolean, True takes part, or floating, added to the logits; broadcastable to (..., H, n, m).
        dropout_p: the probability of dropping a weight, at any time: there is no training flag here.
        is_causal: whether query i sees keys j ≤ i only; then there is no ``attn_mask``.
        scale: of the scores, any finite number, negative ones included; 1/√E by default.
        enable_gqa: whether G may be a divisor of H: each head of keys then serves H/G consecutive heads of queries.
        attention: a name of ``KINDS``, or an ``Attention``.

    Returns:
        (..., H, n, dv), in the dtype of ``query``. Batches may be empty, and so may queries; without keys it is zero.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        RuntimeError: if a solver did not converge.
    """
    if is_causal and attn_mask is not None:
        raise ValueError("attn_mask: expected None where is_causal is set, got a mask")
    if enable_gqa:
        key, value = grouped("key", key, query), grouped("value", value, query)
    if is_causal and isinstance(query, Tensor) and isinstance(key, Tensor) and min(query.ndim, key.ndim) > 1:
        attn_mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    return attend(attention, query, key, value, attn_mask, scale, dropout_p)[0]


def attend(
    attention: str | Attention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout_p: float = 0.0,
    *,
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the output, (..., n, dv), and the weights after dropout, (..., n, m), if they are needed.

    Arguments and errors as for ``scaled_dot_product_attention``; the heads of keys are those of the queries.
    """
    chosen, shape = attention_of(attention), _checked(query, key, value)
    if mask is not None:
        check_mask(mask, shape, own=2, name="attn_mask")
        mask = mask if mask.ndim > 1 else mask.expand(1, mask.numel())
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else _finite("scale", scale)
    if isinstance(dropout_p, bool) or not isinstance(dropout_p, (int, float)) or not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p: expected a probability, got {dropout_p!r}")
    q, k, v = (x.to(compute_dtype(query.dtype)) for x in (query, key, value))
    # A temperature is positive: the sign of the scale goes with the queries, and so does a scale of zero.
    q, temperature = q * ((factor > 0) - (factor < 0)), 1.0 if factor == 0 else 1 / abs(factor)
    if 0 in shape:
        weights = torch.matmul(q, k.mT)  # empty, but still part of the graph
    elif need_weights or dropout_p > 0:
        weights = dropout(chosen.weights(q, k, temperature, mask), dropout_p)
    else:
        return chosen.output(q, k, v, temperature, mask).to(query.dtype), None
    output = torch.matmul(weights, v).to(query.dtype)
    return output, weights.to(query.dtype) if need_weights else None


def grouped(name: str, x: Tensor, query: Tensor) -> Tensor:
    """Return keys or values (..., G, m, E) with each head repeated for its group of queries, (..., H, m, E).

    Raises:
        ValueError: if G does not divide H.
    """
    fits = is_dense(x) and is_dense(query) and x.ndim > 2 and query.ndim > 2
    if not fits or x.shape[-3] == 0 or query.shape[-3] % x.shape[-3]:
        heads = query.shape[-3] if is_dense(query) and query.ndim > 2 else "the queries' heads"
        raise ValueError(f"{name}: expected (..., G, m, E) with G a divisor of {heads}, got {describe(x)}")
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3)


def _checked(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    """Return the shape of the weights, (..., n, m), after checking that the three fit."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not is_dense(x) or not x.is_floating_point() or x.ndim < 2:
            raise ValueError(f"{name}: expected a dense floating tensor (..., length, width), got {describe(x)}")
        if x.dtype != query.dtype:
            raise ValueError(f"{name}: expected the dtype {query.dtype} of the query, got {x.dtype}")
    lead, others = query.shape[:-2], (key.shape[:-2], value.shape[:-2])
    if key.shape[-1] != query.shape[-1] or not broadcastable(others[0], lead) or key.ndim > query.ndim:
        raise ValueError(
            f"key: expected (..., m, {query.shape[-1]}) for the query {tuple(query.shape)}, got {tuple(key.shape)}"
        )
    if value.shape[-2] != key.shape[-2] or not broadcastable(others[1], lead) or value.ndim > query.ndim:
        raise ValueError(
            f"value: expected (..., {key.shape[-2]}, dv) for the query {tuple(query.shape)}, got {tuple(value.shape)}"
        )
    batch = torch.broadcast_shapes(lead, *others)  # type: ignore[no-untyped-call]
    return (*batch, query.shape[-2], key.shape[-2])


def _finite(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value!r}")
    return float(value)
