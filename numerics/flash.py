"""Tiled attention: exact attention computed block by block, with the keys in any order.

What a set of keys contributes to a row of attention is a triple: the peak of its scores, the sum of their exponentials over
that peak, and the same sum weighted with the values. Triples of disjoint sets combine; they form a commutative monoid, whose
identity, (−inf, 0, 0), is what a fully masked tile contributes. So tiles may be taken in any order and any bracketing.

Claims      transport.s4.flash-efficiency, transport.s4.flash-tiles, transport.s4.flash-online, transport.s4.flash-stability
Notation    s = scores, already divided by τ; p = softmax(s); log Z = log Σ_j e^{s_j}, so −τ log Z is the optimal value of the
            one-sided transport problem that the row solves (``one_sided.log_partition``)
Backwards   With o = p v and δ = ⟨∇o, o⟩:  ∇s_j = p_j (⟨∇o, v_j⟩ − δ + ∇log Z), and p_j = exp(s_j − log Z) is one pass over the
            scores of a tile: log Z is all that the forward pass needs to leave behind.
Shapes      query (..., n, d), key (..., m, d), value (..., m, dv), mask broadcastable to (..., n, m).
Conventions ``numerics.arguments``. Triples are returned in the dtype they are computed in.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from numerics import arguments
from numerics.arguments import Positive, without_autocast
from numerics.masks import shielded, spoiled


class Contribution(NamedTuple):
    """The contribution of some keys to each row.

    Attributes:
        peak: max_j s_j, (..., n); −inf without keys. It is held constant: what follows from a triple does not depend on it.
        total: Σ_j exp(s_j − peak), (..., n).
        weighted: Σ_j exp(s_j − peak) v_j, (..., n, dv).
    """

    peak: Tensor
    total: Tensor
    weighted: Tensor


class Attention(NamedTuple):
    """The output (..., n, dv), and log Z (..., n) of every row."""

    output: Tensor
    log_sum_exp: Tensor


class Gradients(NamedTuple):
    """The derivatives of a loss with respect to query, key and value, each with the shape of its variable."""

    query: Tensor
    key: Tensor
    value: Tensor


def identity(like: Contribution) -> Contribution:
    """Return the contribution of no keys, for rows and values like these."""
    return Contribution(torch.full_like(like.peak, -torch.inf), torch.zeros_like(like.total), torch.zeros_like(like.weighted))


@without_autocast
def contribution(scores: Tensor, value: Tensor) -> Contribution:
    """Return the contribution of the keys of a tile.

    Args:
        scores: s, floating, (..., n, t), −inf where masked.
        value: floating, (..., t, dv).

    Raises:
        ValueError: for other shapes or dtypes.
    """
    (s, v), _ = arguments.tensors(scores=(scores, 2), value=(value, 2))
    if v.shape[-2] != s.shape[-1]:
        raise ValueError(f"value: expected (..., {s.shape[-1]}, dv) for these scores, got {tuple(value.shape)}")
    arguments.broadcast(scores=s.shape[:-2], value=v.shape[:-2])
    peak = s.amax(-1).detach()
    terms = (s - torch.where(peak == -torch.inf, 0.0, peak).unsqueeze(-1)).exp()
    return Contribution(peak, terms.sum(-1), torch.matmul(terms, v))


def combine(left: Contribution, right: Contribution) -> Contribution:
    """Return the joint contribution of two disjoint sets of keys: associative, commutative, with ``identity``."""
    peak = torch.maximum(left.peak, right.peak)
    base = torch.where(peak == -torch.inf, 0.0, peak)
    shrink, other = (left.peak - base).exp(), (right.peak - base).exp()
    return Contribution(
        peak,
        left.total * shrink + right.total * other,
        left.weighted * shrink.unsqueeze(-1) + right.weighted * other.unsqueeze(-1),
    )


def finish(all_keys: Contribution) -> Attention:
    """Return output and log Z once all keys have contributed."""
    empty = all_keys.total == 0
    total = torch.where(empty, 1.0, all_keys.total)
    output = torch.where(empty.unsqueeze(-1), 0.0, all_keys.weighted / total.unsqueeze(-1))
    return Attention(output, total.log() + all_keys.peak)


@without_autocast
def tiled_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    temperature: Positive | None = None,
    *,
    tile: int | Sequence[int] = 128,
) -> Attention:
    """Return scaled-dot-product attention, computed tile by tile over the keys, with log Z.

    Differentiable twice, also under ``torch.func``; for first derivatives without the tiles' intermediate results, see
    ``tiled_gradients``.

    Args:
        query: floating, (..., n, d).
        key: floating, (..., m, d).
        value: floating, (..., m, dv).
        mask: boolean or floating, broadcastable to (..., n, m).
        temperature: τ, positive; a number, or a tensor that broadcasts over (...); √d by default.
        tile: how many keys a tile has; or the sizes of all tiles, which sum to m.

    Returns:
        The output in the widest dtype of the three, and log Z in the dtype computed in.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    x = _Problem.of(query, key, value, mask, temperature)
    state: Contribution | None = None
    for start, stop in _tiles(tile, x.key.shape[-2]):
        part = contribution(x.scores(start, stop), x.value[..., start:stop, :])
        state = part if state is None else combine(state, part)
    assert state is not None  # m ≥ 1
    output, log_sum_exp = finish(state)
    if x.seen is not None:
        output, log_sum_exp = spoiled(output, x.seen), spoiled(log_sum_exp, x.seen.squeeze(-1))
    return Attention(output.to(x.dtype), log_sum_exp)


@without_autocast
def tiled_gradients(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention: Attention,
    output_gradient: Tensor,
    mask: Tensor | None = None,
    temperature: Positive | None = None,
    *,
    log_sum_exp_gradient: Tensor | None = None,
    tile: int | Sequence[int] = 128,
) -> Gradients:
    """Return the derivatives of a loss, tile by tile, from the results of the forward pass.

    No n × m matrix is kept, only one tile of it at a time.

    Args:
        query: floating, (..., n, d).
        key: floating, (..., m, d).
        value: floating, (..., m, dv).
        attention: what ``tiled_attention`` returned for these, whatever its tiles.
        output_gradient: ∇o, floating, (..., n, dv), the shape of the output.
        mask: as for ``tiled_attention``.
        temperature: as for ``tiled_attention``.
        log_sum_exp_gradient: ∇log Z, floating, (..., n), if the loss depends on log Z, too.
        tile: as for ``tiled_attention``; not necessarily the same.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    x = _Problem.of(query, key, value, mask, temperature)
    if output_gradient.shape != attention.output.shape:
        shape = tuple(attention.output.shape)
        raise ValueError(f"output_gradient: expected the shape of the output {shape}, got {tuple(output_gradient.shape)}")
    upward = arguments.floating("output_gradient", output_gradient).to(x.query)
    excess = (upward * attention.output.to(x.query)).sum(-1)
    if log_sum_exp_gradient is not None:
        excess = excess - log_sum_exp_gradient.to(x.query)
    log_z = attention.log_sum_exp.to(x.query)
    log_z = torch.where(log_z == -torch.inf, 0.0, log_z).unsqueeze(-1)
    downward, keys, values = torch.zeros_like(x.query), [], []
    for start, stop in _tiles(tile, x.key.shape[-2]):
        p = (x.scores(start, stop) - log_z).exp()
        slope = p * (torch.matmul(upward, x.value[..., start:stop, :].mT) - excess.unsqueeze(-1)) / x.temperature
        downward = downward + torch.matmul(slope, x.key[..., start:stop, :])
        keys.append(torch.matmul(slope.mT, x.query))
        values.append(torch.matmul(p.mT, upward))
    gradients = ((query, downward), (key, torch.cat(keys, -2)), (value, torch.cat(values, -2)))
    return Gradients(*(gradient.sum_to_size(argument.shape).to(argument.dtype) for argument, gradient in gradients))


class _Problem(NamedTuple):
    """Tensors in the dtype to compute in, finite where there is a mask, τ shaped to divide scores, and the dtype to return.

    ``seen``: which rows see what is not finite, (..., n, 1), or None.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    temperature: Tensor
    dtype: torch.dtype
    seen: Tensor | None

    @classmethod
    def of(cls, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, temperature: Positive | None) -> "_Problem":
        (q, k, v), dtype = arguments.tensors(query=(query, 2), key=(key, 2), value=(value, 2))
        n, m = q.shape[-2], k.shape[-2]
        if k.shape[-1] != q.shape[-1]:
            raise ValueError(f"key: expected (..., m, {q.shape[-1]}) like queries {tuple(query.shape)}, got {tuple(key.shape)}")
        if v.shape[-2] != m:
            raise ValueError(f"value: expected (..., {m}, dv) for these keys, got {tuple(value.shape)}")
        batch = arguments.broadcast(query=q.shape[:-2], key=k.shape[:-2], value=v.shape[:-2])
        tau = arguments.positive("temperature", math.sqrt(q.shape[-1]) if temperature is None else temperature, batch, q)
        seen = None
        if mask is not None:
            mask = arguments.check_mask(mask, (*batch, n, m), q, own=2)
            batch = arguments.broadcast(batch=batch, mask=mask.shape[:-2])
            mask = mask.expand(*batch, n, m)
            (q, k, v), seen = shielded(mask, q, k, v)
        q = q.expand(*batch, n, q.shape[-1])
        return cls(q, k, v, mask, tau[..., None, None], dtype, seen)

    def scores(self, start: int, stop: int) -> Tensor:
        """Return the scores of a tile, (..., n, stop − start), −inf where masked."""
        s = torch.matmul(self.query, self.key[..., start:stop, :].mT) / self.temperature
        if self.mask is None:
            return s
        part = self.mask[..., start:stop]
        if part.dtype == torch.bool:
            return torch.where(part, s, -torch.inf)
        bias = part.to(s)
        return torch.where(bias == -torch.inf, -torch.inf, s + bias)


def _tiles(tile: int | Sequence[int], m: int) -> Iterator[tuple[int, int]]:
    if isinstance(tile, int) and not isinstance(tile, bool) and tile >= 1:
        return iter((start, min(start + tile, m)) for start in range(0, m, tile))
    sizes = [] if isinstance(tile, int) else list(tile)
    if sum(sizes) != m or any(size < 1 for size in sizes):
        raise ValueError(f"tile: expected an integer ≥ 1, or such integers with the sum {m}, got {tile!r}")
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return iter(zip([0, *ends[:-1]], ends, strict=True))
