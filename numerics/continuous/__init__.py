"""Continuous attention: weights that are a density over a continuum of locations, after Martins et al. (2020).

Quadratic scores f(t) = θ₁ᵀt + tᵀΘ₂t with Θ₂ negative definite, that is θ₁ = Σ⁻¹μ and Θ₂ = −½Σ⁻¹, make two densities on ℝ^d:

    continuous softmax     the density p that maximizes ∫ p f + H(p), a Gaussian N(μ, Σ)
    continuous sparsemax   the one that maximizes ∫ p f − ½∫ (p² − p), ½(R² − r²)₊ with r² = (t − μ)ᵀΣ⁻¹(t − μ),
                           R^(d+2) = (d + 2) Γ(d/2 + 1) / (π^{d/2} √|Σ|), and covariance R²Σ/(d + 4)

The values are a function V(t) = Bψ(t), fitted by ridge regression to observations at some locations; ψ are Gaussian bumps,
and the context E_p[V] = B E_p[ψ] is in closed form: for the Gaussian in any dimension, for the parabola on the line.

Claims      geometric.s8.gaussian, geometric.s8.log-partition, geometric.s8.natural, geometric.s8.expected-bump,
            geometric.s8.gradient, geometric.s8.ridge, geometric.s8.sparsemax, geometric.s8.paraboloid-mass,
            geometric.s8.paraboloid-covariance, geometric.s8.softmax-on-a-grid, geometric.s8.sparsemax-on-a-grid
Notation    t = points; μ = mean; Σ = covariance; θ₁ = linear; Θ₂ = quadratic; ψ = basis, with N centers c_j and widths s_j;
            B = coefficients, (D, N); V = values; a = σR, the half-width of the parabola's support on the line
Gradients   ∂E_p[ψ]/∂θ is the covariance of ψ and (t, ttᵀ): under p for the Gaussian; for the parabola under the uniform
            density on its support, times the support's volume. ``softmax_covariances`` and ``sparsemax_covariances`` give it
            in closed form; automatic differentiation of the expectations agrees, to any order.
Grids       For f on a grid of step h, softmax(f)/h tends to N(μ, Σ), and sparsemax(h f)/h to the parabola: the sum of
            squares over cells is ∫p² only after division by h. On the whole line the first is off by a factor of
            1 + O(exp(−2π²σ²/h²)), less than any power of h; the second by at most h²/(12σ²) + O(h³).
Shapes      Locations are the last axis, d ≥ 1, also on the line. Leading axes broadcast.
Dtypes      ``numerics.arguments``
Refusals    A covariance is read through its symmetric part. One that is not positive definite is refused; inside
            ``torch.func.vmap``, where nothing can be read, its results are NaN.
References  Martins et al., Sparse and Continuous Attention Mechanisms, NeurIPS 2020.
"""

from numerics.continuous.basis import (
    Basis,
    attend,
    fit,
    softmax_covariances,
    softmax_expectation,
    sparsemax_covariances,
    sparsemax_expectation,
)
from numerics.continuous.densities import (
    moments,
    natural,
    scores,
    softmax_density,
    softmax_log_density,
    sparsemax_covariance,
    sparsemax_density,
    sparsemax_radius,
)

__all__ = [
    "Basis",
    "attend",
    "fit",
    "moments",
    "natural",
    "scores",
    "softmax_covariances",
    "softmax_density",
    "softmax_expectation",
    "softmax_log_density",
    "sparsemax_covariance",
    "sparsemax_covariances",
    "sparsemax_density",
    "sparsemax_expectation",
    "sparsemax_radius",
]
