"""Section 6: gradient ascent on (9), and its traces in models before the transformer.

Claims     deciphering.s6.gradient-ascent   D(λ) ≤ D(ν) + ⟨∇D(ν), λ − ν⟩ − ‖λ − ν‖²/(2α)
Notation   λ, ν dual points, p and q the tilts of u by them; D the objective of (9), for any μ + z
References the text of section 6 after (12) and after Figure 3
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, d, dual, i, lam, mean, shifted, tilt
from derivations.vocabulary import *

nu = vector("nu", d)


def slope(entry: sp.Expr) -> sp.Expr:
    """∂D/∂ν_a = (μ + z)_a − ν_a/α − Σ_i q_i (t_i)_a."""
    return shifted(entry) - nu[entry] / alpha - mean(tilt(nu))(entry)


def below_parabola(curvature: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """D(ν) + ⟨∇D(ν), λ − ν⟩ ≥ D(λ) + curvature ‖λ − ν‖²/2."""
    step, apart = total(a, slope(a) * (lam[a] - nu[a])), total(a, (lam[a] - nu[a]) ** 2)
    return AtLeast(
        dual(nu, shifted) + step,
        dual(lam, shifted) + curvature * apart / 2,
        because=because,
        reason="what is left is KL(q ‖ p): the dual is strongly concave, whatever the templates are",
    )


@claim(
    "deciphering.s6.gradient-ascent",
    "inequality",
    title="Gradient ascent finds the maximizer",
    latex=r"D(\lambda)\le D(\nu)+\langle\nabla D(\nu),\lambda-\nu\rangle-\tfrac1{2\alpha}\|\lambda-\nu\|^2",
    needs=("deciphering.9",),
    hypotheses=("u has finite support",),
)
def gradient_ascent() -> Steps:
    """The standard way to find the maximizer is gradient ascent: the dual is smooth and strongly concave, with one peak."""
    yield Equation(derivative(dual(nu, shifted), nu[a]), slope(a), reason="the gradient, which exists everywhere")
    q, p = tilt(nu), tilt(lam)
    yield below_parabola(1 / alpha, total(i, kl(q(i), p(i))))


gradient_ascent.twin("twice the curvature", lambda: below_parabola(2 / alpha))
gradient_ascent.twin("half more than the curvature", lambda: below_parabola(3 / (2 * alpha)))


@claim(
    "deciphering.s6.components",
    "external fact",
    title="Most of the transformer's components",
    latex=r"\text{Bahdanau, Luong: most of the crucial components of the transformer}",
    needs=("deciphering.s6.bahdanau-luong",),
)
def components() -> Undecidable:
    """The models of Bahdanau et al. and Luong et al. are said to have most of the transformer's crucial components."""
    return Undecidable(
        "which components are crucial is not said; of several scaled heads, self-attention, residual sums and "
        "layer normalization they have none, of attention from one sequence to another they have the scores"
    )
