"""Attention between two extremes: softmax, which does not constrain the keys, and the plan that gives each key its share.

Claims      transport.s1.sinkhorn, transport.s3.standard, transport.s3.sinkhorn-attention, transport.s3.sinkformers,
            transport.listing.sinkhorn_attention, transport.listing.AttentionAsOT, transport.listing.OptimalTransportAttention
Notation    See the package. The queries that take part, n of them, have the mass 1 each; key j is to receive n b_j.
Paths       Half-steps: softmax normalizes the rows of exp(s/τ); each half-step then scales the columns to n b_j, or the rows to
            one, in turn. Its fixed point is the balanced plan. Relaxation: the optimum for a finite ρ, smoothly from ρ = 0,
            softmax, to ρ = ∞, the balanced plan; every point of this path has rows that sum to one.
Causality   A balanced plan under a causal mask, with as many keys as queries and uniform shares, is the identity whatever
            the scores: the first query has one key to choose and uses up its share, and so on. Relax it, or free the keys.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import arguments, one_sided, tolerances
from numerics.arguments import Positive, without_autocast
from numerics.masks import of_whole_rows, shielded, spoiled
from numerics.transport.sinkhorn import scaling, solved


@dataclass(frozen=True)
class CertifiedWeights:
    """Attention weights with their certificate, like ``Transport`` for plans; the errors carry no derivatives.

    Attributes:
        weights: W, (..., n, m).
        row_error: |Σ_j W_ij − 1|, (..., n); 0 for a query that takes no part.
        column_error: |Σ_i W_ij − n b_j exp(−g_j/ρ)|, (..., m).
        converged: whether each of the errors is no more than rounding can explain, boolean, (...).
        steps: how many steps the slowest problem took.
    """

    weights: Tensor
    row_error: Tensor
    column_error: Tensor
    converged: Tensor
    steps: int


def sinkhorn_weights(
    scores: Tensor, temperature: Positive = 1.0, half_steps: float = 0, target: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return attention weights after some half-steps of Sinkhorn's iteration.

    Rows sum to one after an even number of half-steps, and for ``math.inf``; after an odd one, columns sum to n b_j.

    Args:
        scores: s, floating, (..., n, m), −inf where forbidden.
        temperature: τ, positive; a number, or a tensor that broadcasts over (...).
        half_steps: an integer ≥ 0, or ``math.inf`` for the balanced plan.
        target: b, floating, (..., m), nonnegative with the sum one, but for rounding; by default uniform over the keys that
            take part.
        mask: boolean or floating, broadcastable to (..., n, m). See the package's notes.

    Returns:
        (..., n, m), in the wider dtype of scores and target.

    Raises:
        ValueError: for a shape, dtype or number other than these; if ``half_steps`` is infinite and no plan has these
            marginals.
        RuntimeError: if ``half_steps`` is infinite and a problem did not converge.
    """
    if half_steps != math.inf and (isinstance(half_steps, bool) or not isinstance(half_steps, int) or half_steps < 0):
        raise ValueError(f"half_steps: expected an integer ≥ 0 or math.inf, got {half_steps!r}")
    if half_steps == math.inf:
        return relaxed_weights(scores, temperature, math.inf, target, mask)
    kernel, queries, share, dtype = _shares(scores, temperature, target, _infinite(mask, scores))
    if half_steps and target is not None:
        _check_target(target)
    mass = queries.sum(-1, keepdim=True) * share
    log_mass = torch.where(mass > 0, torch.where(mass > 0, mass, 1.0).log(), -torch.inf)
    kernel = _normalized(kernel, -1)
    for step in range(int(half_steps)):
        kernel = _normalized(kernel, -2) + log_mass.unsqueeze(-2) if step % 2 == 0 else _normalized(kernel, -1)
    return kernel.exp().to(dtype)


def relaxed_weights(
    scores: Tensor,
    temperature: Positive = 1.0,
    relaxation: Positive = math.inf,
    target: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return W, rows that sum to one, minimizing −⟨s, W⟩/n + τ KL(W/n ‖ 1/n ⊗ b) + ρ KL(Wᵀ1/n ‖ b).

    Queries pay for keys that get more than their share: ρ → 0 is softmax, tilted by b; ρ = ∞ is the balanced plan.

    Args:
        scores: s, floating, (..., n, m), −inf where forbidden.
        temperature: τ, positive; a number, or a tensor that broadcasts over (...).
        relaxation: ρ, as the temperature, or ``math.inf``.
        target: b, as for ``sinkhorn_weights``.
        mask: as for ``sinkhorn_weights``.

    Returns:
        (..., n, m), in the wider dtype of scores and target.

    Raises:
        ValueError: for a shape, dtype or number other than these; if no plan has these marginals.
        RuntimeError: if a problem did not converge.
    """
    return certified_weights(scores, temperature, relaxation, target, mask).weights


@without_autocast
def certified_weights(
    scores: Tensor,
    temperature: Positive = 1.0,
    relaxation: Positive = math.inf,
    target: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    max_steps: int = 200,
    strict: bool = True,
) -> CertifiedWeights:
    """Return ``relaxed_weights`` (with ρ = ∞, the balanced plan) and how far their marginals are off.

    Args:
        scores, temperature, relaxation, target, mask: as for ``relaxed_weights``.
        max_steps: as for ``sinkhorn``.
        strict: as for ``sinkhorn``.

    Returns:
        The weights and their errors, in the wider dtype of scores and target. They are solved in float64.

    Raises:
        ValueError: as for ``relaxed_weights``.
        RuntimeError: if ``strict``, and a problem did not converge.
    """
    mask = _infinite(mask, scores)
    _, queries, share, dtype = _shares(scores, temperature, target, mask)
    if target is not None:
        _check_target(target)
    share = (share > 0).double() if target is None else share.double()
    count = queries.sum(-1, keepdim=True, dtype=torch.float64)
    source = queries / count.clamp(min=1)
    # With no query at all there is nothing to carry: an empty target makes that a problem with a solution.
    share = torch.where(count > 0, share / share.detach().sum(-1, keepdim=True), 0.0)
    solution, _ = solved(
        -scores, source, share, temperature, relaxation, mask, max_steps=max_steps, strict=strict, stored=dtype
    )
    return CertifiedWeights(
        weights=(solution.plan * count.unsqueeze(-1)).to(dtype),
        row_error=(solution.row_error * count).to(dtype),
        column_error=(solution.column_error * count).to(dtype),
        converged=solution.converged,
        steps=solution.steps,
    )


@without_autocast
def sinkhorn_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    half_steps: float = 0,
    temperature: Positive | None = None,
    target: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the attention of these weights, W value; with no half-steps, ``scaled_dot_product_attention``.

    Args:
        query: floating, (..., n, d).
        key: floating, (..., m, d).
        value: floating, (..., m, dv).
        half_steps: an integer ≥ 0, or ``math.inf`` for the balanced plan.
        temperature: τ, positive; √d by default.
        target: b, as for ``sinkhorn_weights``.
        mask: as for ``sinkhorn_weights``.

    Returns:
        (..., n, dv), in the widest dtype of the three.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        RuntimeError: as for ``sinkhorn_weights``.
    """
    (q, k, v), dtype = arguments.tensors(query=(query, 2), key=(key, 2), value=(value, 2))
    arguments.floating("key", k, "m", "d", last=q.shape[-1])
    if v.shape[-2] != k.shape[-2]:
        raise ValueError(f"value: expected (..., {k.shape[-2]}, dv) for these keys, got {tuple(value.shape)}")
    tau = math.sqrt(q.shape[-1]) if temperature is None else temperature
    seen = hidden = None
    batch = arguments.broadcast(query=q.shape[:-2], key=k.shape[:-2], value=v.shape[:-2])
    q = q.expand(*batch, -1, -1)
    if mask is not None:
        mask = arguments.check_mask(mask, (*batch, q.shape[-2], k.shape[-2]), q, own=2)
        (q, k), seen = shielded(mask, q, k)
        (v,), hidden = shielded(mask, None, v)
        seen = None if seen is None else seen.any(-2, keepdim=True)
    weights = sinkhorn_weights(one_sided.scores_from(q, k), tau, half_steps, target, mask)
    return spoiled(spoiled(one_sided.context(weights, v), seen), hidden).to(dtype)


def _shares(
    scores: Tensor, temperature: Positive, target: Tensor | None, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, torch.dtype]:
    """Return s/τ less a constant for each row, the queries that take part (0 or 1), b, and the dtype."""
    x, _, _, _, dtype = scaling(-scores, None, target, temperature, math.inf, mask)
    allowed = (x.log_kernel != -torch.inf) & (x.source > 0).unsqueeze(-1)
    kernel = torch.where(allowed, x.log_kernel, -torch.inf)
    keys = allowed.any(-2).to(kernel)
    share = keys / keys.sum(-1, keepdim=True).clamp(min=1) if target is None else x.target
    return kernel, allowed.any(-1).to(kernel), share, dtype


def _infinite(mask: Tensor | None, scores: Tensor) -> Tensor | None:
    """Return the mask, in which what stands for −inf is −inf, once scores and mask are known to fit."""
    (s,), _ = arguments.tensors(scores=(scores, 2))
    return None if mask is None else of_whole_rows(arguments.check_mask(mask, s.shape, s, own=2))


def _check_target(target: Tensor) -> None:
    """Refuse shares that are not nonnegative with the sum one."""
    arguments.check_entries("target", target, target.isfinite() & (target >= 0), "nonnegative shares")
    total = target.detach().sum(-1, dtype=torch.float64)
    slack = tolerances.rounding(target.dtype, target.shape[-1])
    arguments.check_entries("target", total, (total - 1).abs() <= slack, "shares with the sum one")


def _normalized(logits: Tensor, dim: int) -> Tensor:
    """Return logits less log Σ exp along a dimension, −inf where all of them are.

    The peak is taken off first: potentials that were added up instead would lose what is small beside them.
    """
    live = (logits != -torch.inf).any(dim, keepdim=True)
    rest = torch.where(live, logits - logits.detach().amax(dim, keepdim=True), 0.0)
    return torch.where(live, rest - rest.logsumexp(dim, keepdim=True), -torch.inf)
