"""Priors of attention: the weights of a query before any evidence is taken into account.

A prior u over the M templates is kept as its logarithm, where masks, causality, relative positions and learned weights
simply add up; −inf is a weight of exactly zero. The normalization is left to the last step, which tilts the prior by the
scores.

Claims      deciphering.19, inference.22
Notation    u = prior; b = position bias; i = template; k = query
Shapes      Templates are on the last axis, queries on the one before; heads come third from the right.
Conventions ``numerics.arguments``. A floating mask is added to log u. A row with nothing left has no distribution, and gives
            zeros.
"""

from functools import cache
from typing import Protocol, Self, cast

import torch
from torch import Tensor, nn

from numerics.arguments import broadcastable, check_count, check_dense, check_mask_dtype, common, describe, floating, is_dense


def tilted(log_prior: Tensor, scores: Tensor) -> Tensor:
    """Return u_i e^{s_i} / Σ_j u_j e^{s_j}: the prior u, tilted by the scores s.

    Args:
        log_prior: log u, not necessarily normalized, floating, (..., M). Where it is −inf the result is exactly 0, whatever
            the score; a row of −inf gives zeros.
        scores: s, floating, (..., M); the two broadcast against each other.

    Returns:
        (..., M), in the wider dtype of the two.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    prior, s = common(floating("log_prior", log_prior), floating("scores", scores))
    if not (prior.ndim and s.ndim and broadcastable(prior.shape, s.shape)):
        raise ValueError(f"log_prior: expected a shape that goes with the scores {tuple(s.shape)}, got {tuple(prior.shape)}")
    allowed = prior != -torch.inf
    live = allowed.any(-1, keepdim=True)
    # Replaced before the sum: a score that is masked may be anything, NaN too. The peaks are taken off before the sum as
    # well, so that a large common offset of either costs the other no digits.
    logits = _less_peak(s, allowed) + _less_peak(prior, allowed)
    logits = torch.where(allowed | ~live, logits, -torch.inf)
    return torch.where(live, logits.softmax(-1), 0.0).to(torch.promote_types(log_prior.dtype, scores.dtype))


def _less_peak(x: Tensor, allowed: Tensor) -> Tensor:
    """Return x less the largest of its row that is allowed, held constant, so far as it is finite; finite where not allowed."""
    masked = torch.where(allowed, x, -torch.inf)
    peak = masked.detach().amax(-1, keepdim=True)
    return torch.where(allowed, x, 0.0) - torch.where(peak.isinf(), 0.0, peak)


def log_mask(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the log of a boolean mask, 0 and −inf; a floating mask is a logarithm already.

    Args:
        mask: boolean or floating.
        dtype: floating, of the result.

    Raises:
        ValueError: for another dtype.
    """
    mask = check_mask_dtype("mask", mask)
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, -torch.inf)
    return mask.to(dtype)


def prior_from_mask(mask: Tensor, log_weights: Tensor | None = None) -> Tensor:
    """Return u_i = exp(b_i)/Z where the mask lets i take part, and exactly 0 elsewhere (``deciphering.19``).

    Args:
        mask: boolean (True takes part) or floating (added to b), (..., M).
        log_weights: b, floating, broadcastable to and from (..., M); zero if not given, which makes u uniform on the mask.

    Returns:
        (..., M), summing to one over M, or zero throughout where nothing takes part; in the dtype of ``log_weights``
        (if not given, of a floating mask, or the default one).

    Raises:
        ValueError: for another shape or dtype.
    """
    if log_weights is None:
        dtype = mask.dtype if isinstance(mask, Tensor) and mask.is_floating_point() else torch.get_default_dtype()
        log_prior = log_mask(mask, dtype)
        return tilted(log_prior, torch.zeros_like(log_prior))
    wide = floating("log_weights", log_weights, "M")
    added = log_mask(mask, wide.dtype)
    if not broadcastable(added.shape, wide.shape):
        raise ValueError(f"mask: expected a shape that goes with log_weights {tuple(wide.shape)}, got {tuple(mask.shape)}")
    return tilted(added, wide).to(log_weights.dtype)


def causal_mask(query_len: int, key_len: int, device: torch.device | None = None) -> Tensor:
    """Return the boolean mask (query_len, key_len) that lets query k see the templates i ≤ k, a byte for each pair.

    Raises:
        ValueError: if a length is not an integer ≥ 1.
    """
    check_count("query_len", query_len)
    check_count("key_len", key_len)
    return torch.arange(key_len, device=device) <= torch.arange(query_len, device=device).unsqueeze(-1)


def relative_positions(query_len: int, key_len: int, device: torch.device | None = None) -> Tensor:
    """Return i − k for query k and template i, both counted from the start of their sequences: int64, (query_len, key_len).

    Raises:
        ValueError: if a length is not positive.
    """
    check_count("query_len", query_len)
    check_count("key_len", key_len)
    return torch.arange(key_len, device=device) - torch.arange(query_len, device=device).unsqueeze(-1)


def relative_position_bucket(
    relative_position: Tensor, num_buckets: int = 32, bidirectional: bool = True, max_distance: int = 128
) -> Tensor:
    """Return T5's bucket of a relative position i − k (template minus query).

    Of the n buckets of one side, the first n/2 hold one distance each; distance r ≥ n/2 goes to bucket
    n/2 + ⌊(n/2) log(r/(n/2)) / log(max_distance/(n/2))⌋, but no further than n − 1. With both sides, each has half of the
    buckets and the templates after the query take the upper half; with one side, all of those share bucket 0. The floor is
    taken exactly, by comparing integers.

    Args:
        relative_position: integers, of any shape.
        num_buckets: at least 4 for both sides, at least 2 for one.
        bidirectional: both sides, as in T5's encoder; one as in its decoder.
        max_distance: more than half of the buckets of one side.

    Returns:
        int64, in the shape of ``relative_position``.

    Raises:
        ValueError: for other numbers, or a floating tensor.
    """
    check_dense("relative_position", relative_position)
    if relative_position.is_floating_point() or relative_position.is_complex() or relative_position.dtype == torch.bool:
        raise ValueError(f"relative_position: expected integers, got {relative_position.dtype}")
    side = num_buckets // 2 if bidirectional else num_buckets
    if side < 2:
        raise ValueError(f"num_buckets: expected at least {4 if bidirectional else 2}, got {num_buckets!r}")
    if max_distance <= side // 2:
        raise ValueError(f"max_distance: expected more than {side // 2}, got {max_distance!r}")
    edges = torch.tensor(_first_distances(side, max_distance), device=relative_position.device)
    distance = relative_position.abs() if bidirectional else -relative_position
    bucket = torch.bucketize(distance.long(), edges, right=True)
    return bucket + side * (relative_position > 0) if bidirectional else bucket


def relative_position_bias(
    query_len: int, key_len: int, table: Tensor, bidirectional: bool = True, max_distance: int = 128
) -> Tensor:
    """Return b for every head, query and template: the unnormalized log prior of T5 (``deciphering.19``).

    Args:
        query_len: Q.
        key_len: M.
        table: one number per bucket and head, floating, (num_buckets, H).
        bidirectional: see ``relative_position_bucket``.
        max_distance: see ``relative_position_bucket``.

    Returns:
        (H, Q, M), in the dtype of ``table``.

    Raises:
        ValueError: for a table of another shape or dtype, or as for ``relative_position_bucket``.
    """
    if not is_dense(table) or not table.is_floating_point() or table.ndim != 2:
        raise ValueError(f"table: expected a dense floating tensor (num_buckets, heads), got {describe(table)}")
    positions = relative_positions(query_len, key_len, table.device)
    return table[relative_position_bucket(positions, table.shape[0], bidirectional, max_distance)].movedim(-1, 0)


class T5Attention(Protocol):
    """The attributes of T5's attention module in transformers that are used."""

    q: nn.Linear
    k: nn.Linear
    v: nn.Linear
    o: nn.Linear
    n_heads: int
    is_decoder: bool
    is_causal: bool
    has_relative_attention_bias: bool
    relative_attention_bias: nn.Embedding
    relative_attention_max_distance: int


class RelativePositions(nn.Module):
    """A log prior that depends on where a template is, seen from the query; layers share it by holding the same module.

    Args:
        heads: H.
        num_buckets: of ``relative_position_bucket``.
        bidirectional: of ``relative_position_bucket``.
        max_distance: of ``relative_position_bucket``.
    """

    def __init__(self, heads: int, num_buckets: int = 32, bidirectional: bool = True, max_distance: int = 128) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(num_buckets, heads))
        self.bidirectional = bidirectional
        self.max_distance = max_distance

    @classmethod
    def from_t5(cls, attention: T5Attention) -> Self:
        """Share the table of the T5 layer that has one: the first self-attention layer of its stack.

        Raises:
            ValueError: if the layer has no table.
        """
        if not getattr(attention, "has_relative_attention_bias", False):
            raise ValueError("attention: expected the T5 layer that holds the position table, got one without")
        table = attention.relative_attention_bias.weight
        positions = cls(table.shape[1], table.shape[0], not attention.is_decoder, attention.relative_attention_max_distance)
        positions.table = cast(nn.Parameter, table)
        return positions

    def forward(self, query_len: int, key_len: int) -> Tensor:
        """Return b, (H, Q, M); see ``relative_position_bias``."""
        return relative_position_bias(query_len, key_len, self.table, self.bidirectional, self.max_distance)


@cache
def _first_distances(side: int, max_distance: int) -> tuple[int, ...]:
    """Return the smallest distance of each bucket but bucket 0, for ``side`` buckets."""
    exact = side // 2
    logarithmic = side - exact
    edges = list(range(1, exact + 1))
    for k in range(1, logarithmic):
        # The smallest r with r/exact ≥ (max_distance/exact)^(k/logarithmic), raised to that power to compare integers.
        bound, r = exact ** (logarithmic - k) * max_distance**k, edges[-1]
        while r**logarithmic < bound:
            r += 1
        edges.append(r)
    return tuple(edges)
