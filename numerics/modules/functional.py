"""``scaled_dot_product_attention`` with a choice of attention: PyTorch's function, call for call.

Notation    n, m = queries, keys; H = heads of the queries, G = heads of keys and values; E = width
Masks       As in PyTorch's function, and everywhere here: True takes part. A row with nothing left gives zeros. Nothing depends
            on masked keys and values, NaN and infinities included: see ``numerics.masks``.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import dropout, pad

from numerics.arguments import (
    autocast_dtype,
    broadcastable,
    check_mask,
    compute_dtype,
    describe,
    is_dense,
    real,
    without_autocast,
)
from numerics.masks import shielded, spoiled
from numerics.modules.kinds import Attention, attention_of


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | Tensor | None = None,
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
        scale: of the scores, any finite number, negative ones included, or a tensor () without a gradient; 1/√E by default.
            The inverse of one that is not zero, a temperature, must be normal in the dtype to compute in.
        enable_gqa: whether G may be a divisor of H: each head of keys then serves H/G consecutive heads of queries.
        attention: a name of ``KINDS``, or an ``Attention``.

    Returns:
        (..., H, n, dv), in the dtype of ``query``, or that of autocast. Batches may be empty, and so may queries, heads and
        widths; without keys it is zero.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        RuntimeError: if a solver did not converge.
    """
    if is_causal and attn_mask is not None:
        raise ValueError("attn_mask: expected None where is_causal is set, got a mask")
    if enable_gqa:
        key, value = grouped("key", key, query), grouped("value", value, query)
    if is_causal and is_dense(query) and is_dense(key) and min(query.ndim, key.ndim) > 1:
        attn_mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    return attend(attention, query, key, value, attn_mask, scale, dropout_p)[0]


def attend(
    attention: str | Attention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float | Tensor | None = None,
    dropout_p: float = 0.0,
    *,
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the output, (..., n, dv), and the weights after dropout, (..., n, m), if they are needed.

    Arguments and errors as for ``scaled_dot_product_attention``; the heads of keys are those of the queries.
    """
    dtype = autocast_dtype(query) if is_dense(query) else None
    if dtype is None:
        return _attend(attention, query, key, value, mask, scale, dropout_p, need_weights)
    q, k, v = (x.to(compute_dtype(x.dtype)) if is_dense(x) else x for x in (query, key, value))
    output, weights = _attend(attention, q, k, v, mask, scale, dropout_p, need_weights)
    return output.to(dtype), None if weights is None else weights.to(dtype)


@without_autocast
def _attend(
    attention: str | Attention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float | Tensor | None,
    dropout_p: float,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None]:
    chosen, shape = attention_of(attention), _checked(query, key, value)
    if mask is not None:
        mask = check_mask(mask, shape, query, own=2, name="attn_mask")
        mask = mask if mask.ndim > 1 else mask.expand(1, mask.numel())
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else _scale(scale, compute_dtype(query.dtype))
    if not 0 <= real(dropout_p) <= 1:
        raise ValueError(f"dropout_p: expected a probability, got {dropout_p!r}")
    q, k, v = (x.to(compute_dtype(query.dtype)) for x in (query, key, value))
    # A temperature is positive: the sign of the scale goes with the queries, and so does a scale of zero.
    q, temperature = q * ((factor > 0) - (factor < 0)), 1.0 if factor == 0 else 1 / abs(factor)
    q = q if q.shape[:-1] == shape[:-1] else q.expand(*shape[:-1], q.shape[-1])
    if 0 in shape:
        weights = torch.matmul(q, k.mT)  # empty, but still part of the graph
        return torch.matmul(weights, v).to(query.dtype), weights.to(query.dtype) if need_weights else None
    if q.shape[-1] == 0:
        q, k = pad(q, (0, 1)), pad(k, (0, 1))  # scores of zero
    whole = not need_weights and dropout_p == 0
    output = chosen.quick(q, k, v, temperature, mask) if whole else None
    if output is not None:
        return output.to(query.dtype), None
    seen = hidden = None
    if mask is not None:
        (q, k), seen = shielded(mask, q, k)
        (v,), hidden = shielded(mask, None, v)
    if chosen.coupled:
        seen = None if seen is None else seen.any(-2, keepdim=True)
    if whole:
        return spoiled(spoiled(chosen.output(q, k, v, temperature, mask), seen), hidden).to(query.dtype), None
    weights = dropout(chosen.weights(q, k, temperature, mask), real(dropout_p))
    output = spoiled(spoiled(torch.matmul(weights, v), seen), hidden)
    return output.to(query.dtype), spoiled(weights, seen).to(query.dtype) if need_weights else None


def grouped(name: str, x: Tensor, query: Tensor) -> Tensor:
    """Return keys or values (..., G, m, E) with each head repeated for its group of queries, (..., H, m, E).

    Raises:
        ValueError: if G does not divide H.
    """
    fits = is_dense(x) and is_dense(query) and x.ndim > 2 and query.ndim > 2
    if fits and x.shape[-3] == query.shape[-3]:
        return x
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
    lead = query.shape[:-2], key.shape[:-2], value.shape[:-2]
    if key.shape[-1] != query.shape[-1] or not broadcastable(lead[1], lead[0]):
        raise ValueError(
            f"key: expected (..., m, {query.shape[-1]}) for the query {tuple(query.shape)}, got {tuple(key.shape)}"
        )
    if value.shape[-2] != key.shape[-2] or not (broadcastable(lead[2], lead[0]) and broadcastable(lead[2], lead[1])):
        raise ValueError(
            f"value: expected (..., {key.shape[-2]}, dv) for the query {tuple(query.shape)}, got {tuple(value.shape)}"
        )
    batch = lead[0] if lead[0] == lead[1] == lead[2] else torch.broadcast_shapes(*lead)  # type: ignore[no-untyped-call]
    return (*batch, query.shape[-2], key.shape[-2])


def _scale(value: float | Tensor, dtype: torch.dtype) -> float:
    """Return a scale as a number. A temperature 1/|scale| is to be normal in the dtype."""
    if is_dense(value) and isinstance(value, Tensor) and value.ndim == 0 and not value.requires_grad:
        value = value.item()
    x, finfo = real(value), torch.finfo(dtype)
    if not (x == 0 or finfo.tiny <= 1 / abs(x) <= finfo.max):
        raise ValueError(
            "scale: expected a finite number, zero or with an inverse that is normal in the dtype, or a tensor of "
            f"no axes and no gradient, got {value!r}"
        )
    return x
