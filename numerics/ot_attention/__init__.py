"""Attention from entropic optimal transport: deciphering, Section 9 and Appendix D.

A prior u sits on some templates; the inferred weights p may sit on all of them, and are kept near u by what it costs to
carry u to p. The weights minimize

    α/2 ‖μ̃ + z − Σ_i p_i t_i‖² + W_γ(p, u; M),    W_γ = min over X ≥ 0, X 1 = p, Xᵀ 1 = u of ⟨M, X⟩ − γ H(X).

Claims      deciphering.23, deciphering.24, deciphering.25, deciphering.35 … deciphering.47, deciphering.prop1
Notation    t_i = templates; u = prior; M_ij = cost of carrying mass from j to i; γ = temperature; α = alpha; z = evidence;
            g = potential; λ = dual; p = weights; ũ = true preference, the p nearest to u, and μ̃ its mean;
            q(i|j) = softmax over i of −M_ij/γ; Σ_j = covariance of q(·|j); Σ̄ = Σ_j u_j Σ_j
Modules     ``transport``: kernel, conjugate and the closed form (25); ``costs``: where M comes from; ``exact``: the solution
            of (24) with its certificate, and how far (25) is from it; ``layer``: an ``nn.Module``
Shapes      templates (..., N, d), evidence (..., d), prior (..., n), cost (..., N, n). The prior may live on all templates
            (n = N) or on some of them only; M may be any matrix, not necessarily square.
Dtypes      ``numerics.arguments``; ``exact`` computes in float64
Masks       A cost of +inf forbids: i never takes from j, exactly. Mass that may go nowhere (a column of +inf) is left out
            of p, which then sums to less than one; where u_j = 0 such a column changes nothing.
"""

from numerics.ot_attention.costs import group_cost, negative_inner_product, squared_distance
from numerics.ot_attention.exact import ApproximationBound, Solution, approximation_bound, solve
from numerics.ot_attention.layer import OTAttention
from numerics.ot_attention.transport import (
    attend,
    attend_by_inner_products,
    conjugate,
    coupling,
    kernel,
    mean_covariance,
    resolvent,
    transported,
    true_preference,
    weights,
)

__all__ = [
    "ApproximationBound",
    "OTAttention",
    "Solution",
    "approximation_bound",
    "attend",
    "attend_by_inner_products",
    "conjugate",
    "coupling",
    "group_cost",
    "kernel",
    "mean_covariance",
    "negative_inner_product",
    "resolvent",
    "solve",
    "squared_distance",
    "transported",
    "true_preference",
    "weights",
]
