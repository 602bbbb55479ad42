"""What masks keep out: NaN and infinities behind them, and keys that a finite number stands for as masked.

A weight of zero keeps a number out of a sum, but not a NaN or an infinity, here or backwards: 0 · NaN is NaN. So what is not
finite is replaced before any product, and the rows that see it are made NaN at the end. Nothing else depends on it.

Shapes      query (..., n, d), keys and values (..., m, d), masks broadcastable to (..., n, m)
"""

from collections.abc import Callable

import torch
from torch import Tensor

from numerics.arguments import known_true, on_cpu

_LEAST = -5e3
"""Half of −1e4, the largest number in use for "masked", since biases may be added to it."""


def allowed_by(mask: Tensor) -> Tensor:
    """Return the pairs that a mask lets take part, boolean."""
    return mask if mask.dtype == torch.bool else mask != -torch.inf


def with_infinities(mask: Tensor) -> Tensor:
    """Return a mask in which what stands for −inf is −inf: numbers lower than the largest of their row by 5000 or more.

    Where weight is a share of a row, e^{−5000} of it is nothing. But a key that takes part in a transport has mass of its own
    to pass on or to receive, however small its weights.
    """
    if mask.dtype == torch.bool:
        return mask
    return mask.masked_fill(mask - mask.detach().amax(-1, keepdim=True) <= _LEAST, -torch.inf)


def of_whole_rows(mask: Tensor) -> Tensor:
    """Return ``with_infinities`` of a mask of all keys, less what a row has in common: that changes no weight, but beside it
    the scores would lose their digits."""
    if mask.dtype == torch.bool:
        return mask
    largest = mask.detach().amax(-1, keepdim=True)
    return with_infinities(mask) - torch.where(largest.isinf(), 0.0, largest)


def shielded(mask: Tensor, query: Tensor | None, *keys: Tensor) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """Return query and keys with zeros in the place of what is not finite, and which rows see such a place.

    Args:
        mask: boolean or floating, at least two axes.
        query: floating, (..., n, d), if the result depends on them.
        keys: floating, (..., m, d) each.

    Returns:
        The tensors, and a boolean (..., n or 1, 1): True where a row sees what was replaced; None if all is known to be finite.
    """
    given = keys if query is None else (query, *keys)
    if _known_finite(given):
        return given, None
    bad = [~x.isfinite().all(-1) for x in given]
    allowed = allowed_by(mask)
    seen = allowed.any(-1) & bad.pop(0) if query is not None else allowed.new_zeros(())
    for columns in bad:
        seen = seen | (allowed & columns.unsqueeze(-2)).any(-1)
    return _replaced(given), seen.unsqueeze(-1)


def causally_shielded(query: Tensor, *keys: Tensor) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """Return what ``shielded`` does for the mask that lets query i see keys j ≤ i, n = m, without that mask."""
    given = (query, *keys)
    if _known_finite(given):
        return given, None
    bad, *columns = (~x.isfinite().all(-1) for x in given)
    for hidden in columns:
        bad = bad | (hidden.cumsum(-1) > 0)
    return _replaced(given), bad.unsqueeze(-1)


def _known_finite(tensors: tuple[Tensor, ...]) -> bool:
    return on_cpu(tensors[0]) and all(known_true(x.detach().sum().isfinite()) for x in tensors)


def _replaced(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(torch.where(x.isfinite(), x, 0.0) for x in tensors)


def spoiled(x: Tensor, seen: Tensor | None) -> Tensor:
    """Return a result with NaN in the rows that see what is not finite, (..., n, dv)."""
    return x if seen is None else torch.where(seen, torch.nan, x)


def row_by_row(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return a function of rows, (..., d) each; a row that is not finite gives NaN, and nothing else, here or backwards."""
    if _known_finite((x,)):
        return function(x)
    finite = x.isfinite()
    return torch.where(finite.all(-1, keepdim=True), function(torch.where(finite, x, 0.0)), torch.nan)


def used_only(x: Tensor, allowed: Tensor) -> Tensor:
    """Return keys or templates (..., m, d), zero where none of the rows that share them may see them, boolean (..., m)."""
    if _known_finite((x,)):
        return x
    shape = torch.broadcast_shapes(allowed.shape, x.shape[:-1])  # type: ignore[no-untyped-call]
    used = allowed.expand(shape).to(x).sum_to_size(x.shape[:-1]) > 0
    return torch.where(used.unsqueeze(-1), x, 0.0)
