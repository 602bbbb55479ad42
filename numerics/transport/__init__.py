"""Optimal transport for attention: entropic plans with their certificates, the divergence, attention from one end to the other.

A plan P ≥ 0 carries a source a to a target b at a cost C. All plans here minimize

    ⟨C, P⟩ + ε Σ_ij P_ij log(P_ij/(a_i b_j)) + ρ KL(Pᵀ1 ‖ b)    over P with P 1 = a,

so P_ij = a_i b_j exp((f_i + g_j − C_ij)/ε). At ρ = 0 the columns are free, and a row of P is a_i times a softmax: that is
attention. At ρ = ∞ both marginals are met: that is the limit of Sinkhorn's iteration.

Claims      transport.thm1, transport.s1.sinkhorn, transport.s3.standard, transport.s3.sinkhorn-attention,
            transport.s3.sinkformers, transport.listing.sinkhorn, transport.listing.sinkhorn_divergence,
            transport.listing.sinkhorn_attention, transport.listing.compute_attention_ot_divergence,
            transport.listing.analyze_attention_temperature, transport.listing.AttentionAsOT,
            transport.listing.OptimalTransportAttention
Notation    C = cost; a = source; b = target; ε = temperature; ρ = relaxation; P = plan; f, g = row and column potential;
            s = scores, −C for attention; W = weights, rows P_i/a_i
Modules     ``sinkhorn``: plans and the divergence; ``solver``: Sinkhorn's iteration with Newton's method; ``unbalanced`` with
            ``gaps``: both marginals relaxed, and warm starts; ``quadratic``: another regularizer; ``attention``: what lies
            between softmax and the balanced plan; ``diagnostics``: concentration and imbalance; ``feasibility`` and
            ``parts``: whether there is a plan at all. ε = 0 is in ``numerics.linear_program``
Shapes      cost and scores (..., n, m), source (..., n), target (..., m)
Conventions ``numerics.arguments``. What iterates is solved in float64 and returned in the dtype of the arguments; what
            counts as converged follows from that dtype, row by row and column by column. A problem without a solution is
            refused before the first step. A cost of +inf forbids, as a score of −inf does. A row with nothing left has no
            mass.
"""

from numerics.transport.attention import (
    CertifiedWeights,
    certified_weights,
    relaxed_weights,
    sinkhorn_attention,
    sinkhorn_weights,
)
from numerics.transport.diagnostics import Diagnostics, diagnose
from numerics.transport.quadratic import QuadraticTransport, quadratic_plan
from numerics.transport.sinkhorn import Transport, one_sided_plan, sinkhorn, sinkhorn_divergence
from numerics.transport.unbalanced import Unbalanced, unbalanced

__all__ = [
    "CertifiedWeights",
    "Diagnostics",
    "QuadraticTransport",
    "Transport",
    "Unbalanced",
    "certified_weights",
    "diagnose",
    "one_sided_plan",
    "quadratic_plan",
    "relaxed_weights",
    "sinkhorn",
    "sinkhorn_attention",
    "sinkhorn_divergence",
    "sinkhorn_weights",
    "unbalanced",
]
