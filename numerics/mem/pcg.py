"""The solver for shared templates: its algorithm, its constants, and its scalar formulas.

``pcg_numba`` and ``pcg_torch`` implement this description, the one for the CPU, the other for other devices, with the same
functions in the same order. Both call the formulas below, which take numbers in the one and tensors in the other.

Claims      deciphering.9, deciphering.18
Notation    as in ``rows``; G = TTᵀ; w ∈ Rⁿ the iterate, λ = α(b − Tᵀw); s = α(Tb − Gw) the logits; p = softmax(log u + s);
            v = p − w the residual; Π = diag(p) − ppᵀ; y the preconditioned residual; d the last step; u₃₂ the unit roundoff of
            float32
Equation    λ is the solution if v = 0. In the metric of G, v is minus the gradient of −D, and the Hessian of −D is
            αG + α²GΠG. Newton's correction e of w therefore satisfies (I + αΠG)e = v.
PCG         ``run_pcg`` finds w in float32 by preconditioned conjugate gradients with the Hessian at the current p. A step
            d ← ay + bd minimizes the quadratic model in the plane of y and d. With a constant Hessian and y = v this is the
            method of conjugate gradients; as the Hessian changes with p, the search in the plane replaces the recurrence for
            b. A step takes one product with G, that of y; Gd and Gw follow from it. PCG stops where one Newton correction is
            about enough, or at the resolution of float32.
Precond.    y solves y + ΠCy = v, where C = α(diag(D) + ffᵀ) stands for αG.
Refinement  ``refine`` evaluates s, p and v in float64, solves Newton's equation for e by PCG in float32, and adds e to w:
            iterative refinement in mixed precision. As e is small, s − αGe needs no product in float64, unless its error is too
            large for the tolerance; then the logits are recomputed from w.
Damping     Far from the solution, a step is shortened so that no logit changes by more than MAX_LOGIT_STEP relative to another.
Fallback    G may be singular, and p − w may lie in its null space, where neither the gradient nor the quadratic model sees it.
            Such a residual is removed by the step along y that minimizes ‖v‖. After a step of length zero, y = v.
Result      λ, p and their error bounds are worked out from w in float64: see ``shared_templates``.
"""

from typing import Any

from numba.extending import register_jitable

MAX_PCG_STEPS = 64
"""PCG stops after so many steps."""

MAX_REFINEMENTS = 4
"""Rows that are not certified after so many refinements are left to Newton's method in ``newton``."""

REFINEMENT_TARGET = 0.8
"""A refinement stops at this share of the required residual; the rest of it is left for the errors of float32 in the logits."""

MAX_LOGIT_STEP = 2.0
"""The largest change of one logit relative to another in a damped step: it changes a ratio of weights by at most e²."""

DAMP_ABOVE_RESIDUAL = 1.0
"""Steps are damped while ‖v‖ is larger: p and w are then near different vertices of the simplex, and an undamped step may swap
them."""

DAMP_ABOVE_CURVATURE = 16.0
"""Steps are damped throughout where α max_i ‖t_i‖² is larger: it bounds α‖Σ‖, by which the Hessian of −D exceeds I/α."""

MIN_STEP = 0.2
"""A factor of y below this is suspicious: near the solution, with a good preconditioner, it is about 1. It is then compared
with the factor that minimizes the residual, which takes its place if it is more than MAX_STEP times as large: the residual lies
almost in the null space of G."""

MAX_STEP = 4.0
"""Larger factors of y or d are not trusted, and the step is zero."""

MIN_SIN2 = 1e-4
"""If the squared sine of the angle between y and d, in the metric of the Hessian, is smaller, they are taken for parallel, and
the step is along y alone."""

DIVISION_FLOOR = 1e-30
"""Replaces a smaller ‖·‖² in a denominator, so that 0/0 is 0."""

RESIDUAL_RESOLUTION = 2.0**-22
"""4u₃₂: the error of a float32 residual, about, relative to the size of the logits."""

TOLERANCE_SHARE = 0.98
"""The share of the tolerance that ``required_residual`` distributes; the rest covers what it leaves out, the errors of b and
log u and the change of ‖λ‖ by later corrections."""

UNIT_ROUNDOFF = 2.0**-53
"""u of float64."""

UNDERFLOW_NORM = 2.0**-500
"""Upper bound on what a norm loses when squares underflow in float64."""


@register_jitable(error_model="numpy")
def rounding_errors(problem: Any, target_norm: Any, alpha: Any, dual_norm: Any, mass: Any) -> tuple[Any, Any]:
    """ρ and the error of p in the ℓ1 norm by rounding in float64, for ‖w‖₁ ≤ mass: see ``docs/notes/mem_rounding.md``."""
    (n, d), r = problem.templates.shape, problem.radius
    sums = UNIT_ROUNDOFF * (2 * target_norm + 3 * dual_norm / alpha + (n + 4) * r * mass)
    logits = UNIT_ROUNDOFF * (alpha * r * ((d + n + 4) * target_norm + (2 * n + d + 8) * r * mass) + 20 * r * dual_norm)
    return sums, logits + UNIT_ROUNDOFF * (2 * n + 35)  # n + 24 + 9 log n, and a little more


@register_jitable(error_model="numpy")
def required_residual(problem: Any, target_norm: Any, alpha: Any, dual_norm: Any) -> Any:
    """The ‖v‖ that the tolerance requires; negative if rounding alone exceeds the tolerance."""
    sums, weights_error = rounding_errors(problem, target_norm, alpha, dual_norm, 2.0)
    allowed = TOLERANCE_SHARE * problem.tolerance / alpha * (1 + dual_norm)
    return (allowed - sums - problem.radius * weights_error) / problem.sqrt_gram_norm


@register_jitable(error_model="numpy")
def linear_regime_residual_squared(problem: Any, target_norm: Any, alpha: Any) -> Any:
    """The ‖v‖² at which one Newton correction is about enough.

    Logits with an error of standard deviation σ change p by pσ²/2 beyond the linear term, and σ² is about (αr‖v‖)²α‖Σ‖.
    """
    return problem.tolerance * (1 + alpha * target_norm) / (alpha**3 * problem.radius**5)


@register_jitable(error_model="numpy")
def low_precision_residual_floor(problem: Any, target_norm: Any, alpha: Any) -> Any:
    """The smallest ‖v‖ that float32 can resolve."""
    return RESIDUAL_RESOLUTION * alpha * problem.radius * (problem.radius + target_norm)


@register_jitable(error_model="numpy")
def needs_damping(radius: Any, alpha: Any, residual_norm: Any) -> Any:
    """Whether a step has to be damped. Called in every step, it is not passed the whole problem, which Numba would copy."""
    curvature = alpha * radius * radius
    return (curvature > DAMP_ABOVE_CURVATURE) | (residual_norm > DAMP_ABOVE_RESIDUAL)


@register_jitable(error_model="numpy")
def correction_error(problem: Any, alpha: Any, path_length: Any, steps: int) -> Any:
    """Bound on the error of every entry of −αGe, for an e of so many PCG steps of lengths that add to ``path_length``."""
    return problem.product_error * (problem.gram.shape[0] + 4 + 8 * steps) * alpha * path_length


@register_jitable(error_model="numpy")
def logit_error_as_residual(problem: Any, logit_error: Any) -> Any:
    """The ‖v‖ that contributes as much to the error bound as an error of the logits."""
    return logit_error * problem.radius / problem.sqrt_gram_norm


@register_jitable(error_model="numpy")
def needs_refinement(problem: Any, residual_norm: Any, logit_error: Any, required: Any) -> Any:
    """Whether w is not good enough yet. It never is if it is NaN or ``required`` is negative, where no refinement helps."""
    return (residual_norm + logit_error_as_residual(problem, logit_error) > required) & (required > 0)


@register_jitable(error_model="numpy")
def has_stale_logits(problem: Any, residual_norm: Any, logit_error: Any, required: Any) -> Any:
    """Whether w is not good enough, and the error of the logits so large that they have to be recomputed from w."""
    share = logit_error_as_residual(problem, logit_error)
    return needs_refinement(problem, residual_norm, logit_error, required) & (share > (1 - REFINEMENT_TARGET) * required)


@register_jitable(error_model="numpy")
def gradient_bound(problem: Any, residual_norm: Any, sums: Any, target_error: Any, weights_error: Any) -> Any:
    """Bound on ‖∇D(λ)‖, rounding included, from ‖p − w‖, ρ, and the errors of b and, in the ℓ1 norm, of p."""
    rounding = sums + target_error + UNDERFLOW_NORM
    return problem.sqrt_gram_norm * residual_norm + rounding + problem.radius * weights_error


@register_jitable(error_model="numpy")
def mean_error_with_center(mean_error: Any, span: Any, dual_norm: Any, alpha: Any) -> Any:
    """Bound on the error of μ + z − λ/α, from that of b − λ/α and a bound on the norms of means, as it is put together."""
    return mean_error + 2 * UNIT_ROUNDOFF * (span + mean_error + dual_norm / alpha)


@register_jitable(error_model="numpy")
def duality_gap(alpha: Any, gradient_norm: Any) -> Any:
    """Bound on P(p) − D(λ)."""
    return alpha / 2 * (gradient_norm * gradient_norm)


@register_jitable(error_model="numpy")
def is_certified(error: Any, dual_norm: Any, tolerance: Any) -> Any:
    """Whether the error is within the tolerance; if ‖λ‖ is infinite so is the error, and their ratio is NaN."""
    return error / (1 + dual_norm) <= tolerance
