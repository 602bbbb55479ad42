"""Diagnostics of plans: how concentrated the rows are and, separately, how evenly the targets are used.

Claims      transport.listing.compute_attention_ot_divergence, transport.listing.analyze_attention_temperature,
            transport.listing.OTAttentionExperiment
Notation    a = source, the masses of the rows; W = weights, rows that sum to one; b = target; c = aᵀW, the load of the keys
Identity    Σ_i a_i KL(W_i ‖ b) = Σ_i a_i KL(W_i ‖ c) + KL(c ‖ b), for Σ_i a_i = 1:
            concentration       = information           + imbalance.
            Rows may be one-hot (concentration is highest) with no imbalance, a permutation; and concentrated with no
            information, all queries on one key, where imbalance is all there is. A balanced plan has no imbalance at any ε.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import arguments, one_sided
from numerics.arguments import without_autocast


@dataclass(frozen=True)
class Diagnostics:
    """Statistics of a plan, row by row and in total; all in nats.

    Attributes:
        entropy: −Σ_j W_ij log W_ij of every row, (..., n).
        effective_keys: its exponential, between 1 and m, (..., n); 0 for a row without mass.
        peak: max_j W_ij, (..., n).
        load: c_j = Σ_i a_i W_ij, the share of the mass that arrives at j, (..., m).
        concentration: Σ_i a_i KL(W_i ‖ b), (...).
        information: Σ_i a_i KL(W_i ‖ c), the mutual information of query and key, (...).
        imbalance: KL(c ‖ b), (...).
    """

    entropy: Tensor
    effective_keys: Tensor
    peak: Tensor
    load: Tensor
    concentration: Tensor
    information: Tensor
    imbalance: Tensor


@without_autocast
def diagnose(plan: Tensor, target: Tensor | None = None) -> Diagnostics:
    """Measure a plan, or attention weights: rows may sum to anything, and count by their sum.

    Args:
        plan: P, floating, (..., n, m), nonnegative, not zero throughout: the masses a are its row sums over their total.
        target: b, floating, (..., m), nonnegative, rescaled to the sum one; uniform by default.

    Returns:
        All in the wider dtype of the two. Concentration and imbalance are +inf where mass arrives that b does not have.

    Raises:
        ValueError: for a shape or dtype other than these.
    """
    (P,), dtype = arguments.tensors(plan=(plan, 2))
    m = P.shape[-1]
    b = P.new_ones(m) if target is None else target
    (P, b), _ = arguments.tensors(plan=(P, 2), target=(b, 1))
    if b.shape[-1] != m:
        raise ValueError(f"target: expected (..., {m}) for a plan {tuple(plan.shape)}, got {tuple(b.shape)}")
    arguments.broadcast(plan=P.shape[:-2], target=b.shape[:-1])
    dtype = dtype if target is None else torch.promote_types(dtype, target.dtype)
    b = b / b.sum(-1, keepdim=True)
    mass = P.sum(-1)
    source = mass / mass.sum(-1, keepdim=True)
    weights = P / torch.where(mass == 0, 1.0, mass).unsqueeze(-1)
    load = torch.matmul(source.unsqueeze(-2), weights).squeeze(-2)
    entropy = one_sided.entropy(weights)
    statistics = (
        entropy,
        torch.where(mass == 0, 0.0, entropy.exp()),
        weights.amax(-1),
        load,
        (source * _divergence(weights, b.unsqueeze(-2))).sum(-1),
        (source * _divergence(weights, load.unsqueeze(-2))).sum(-1),
        _divergence(load, b),
    )
    return Diagnostics(*(x.to(dtype) for x in statistics))


def _divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return KL(p ‖ q) along the last axis, with 0 log 0 = 0 and +inf if q is 0 where p is not."""
    positive = p > 0
    ratio = torch.where(positive, p, 1.0) / torch.where(positive, q, 1.0)
    return (p * ratio.log()).sum(-1)
