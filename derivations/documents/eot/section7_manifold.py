"""Section 7, Remark 7.4: the metric of the statistical manifold and its curvature.

Claims     eot.s7.manifold-curvature   R_jk = ¼(F_jj F_kk − F_jk²), −∇_s L = τFu: F is the metric  (corrected)
Notation   p = softmax(s/τ); X = 2√p, a point of the sphere of radius 2 in R^m, whose unit normal there is X/2; F from its
           definition; II_jk = Σ_i ∂_j∂_kX_i · X_i/2; R_jk = II_jj II_kk − II_jk² the curvature in the plane of s_j and s_k
References item 1 of Remark 7.4 of the document; do Carmo (1992), chapter 6, for the curvature of a hypersurface
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, m, s, tau
from derivations.documents.eot.section5_remarks import descent
from derivations.documents.eot.section7_fisher import fisher, i, p
from derivations.documents.eot.section7_natural import fisher_times_u
from derivations.vocabulary import *

GAUSS = Theorem(
    "Gauss",
    "The curvature of a hypersurface in the plane of two tangent vectors is the determinant of its second "
    "fundamental form on them.",
    "do Carmo, Riemannian Geometry (1992), chapter 6, Theorem 2.5",
)


def embedding(component: sp.Expr) -> sp.Expr:
    """X_i = 2√p_i."""
    return 2 * sp.sqrt(p(component))


def bending(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """II_jk, the part of ∂_j∂_kX along the normal X/2."""
    return total(i, derivative(derivative(embedding(i), s[row]), s[column]) * embedding(i) / 2)


def curvature() -> sp.Expr:
    """R_jk = II_jj II_kk − II_jk²."""
    return bending(j, j) * bending(k, k) - bending(j, k) ** 2


def area() -> sp.Expr:
    """F_jj F_kk − F_jk², the squared area that s_j and s_k span."""
    return fisher(j, j) * fisher(k, k) - fisher(j, k) ** 2


def on_a_sphere() -> Steps:
    """The manifold lies on a sphere, with F as the metric that it has there."""
    yield Equation(total(i, embedding(i) ** 2), 4, about=(s[j], tau), reason="Σ p = 1: the manifold is a part of a sphere,")
    yield Equation(
        total(i, derivative(embedding(i), s[j]) * derivative(embedding(i), s[k])),
        fisher(j, k),
        reason="on which lengths are those of F: F is the metric,",
    )
    yield Equation(bending(j, k), -fisher(j, k) / 2, reason="and it bends as a sphere of radius 2 does", quotes=(GAUSS,))


@claim(
    "eot.s7.manifold-curvature",
    "identity",
    title="F as the curvature of the statistical manifold",
    needs=("eot.78", "eot.79"),
    latex=r"R_{jk}=F_{jk}",
    part_of="eot.rem7.4",
)
def manifold_curvature() -> Steps:
    """Backpropagation is said to use, in the Fisher matrix, the curvature of the manifold of attention distributions."""
    yield from on_a_sphere()
    yield Fails(
        Equation(curvature(), fisher(j, k), at={m: 3, s.label: [0, 0, 0], tau: 1, j: 1, k: 2}),
        reason="R₁₂ = 1/108 and F₁₂ = −1/9; for two keys the manifold is a curve, of curvature 0, and F is not 0",
    )


@manifold_curvature.corrected(r"R_{jk}=\tfrac14(F_{jj}F_{kk}-F_{jk}^2),\quad-\nabla_s\mathcal L=\tau Fu", Severity.SLIP)
def constant_curvature() -> Steps:
    """F is the metric, and the metric dictates the update τFu; the curvature is 1/4 at every point and in every plane."""
    yield from on_a_sphere()
    yield Equation(descent(), tau * fisher_times_u(), reason="the update is made with the metric; the curvature does not vary:")
    yield of_constant(sp.Rational(1, 4))


def of_constant(value: sp.Expr) -> Equation:
    """R_jk against a constant times the squared area."""
    return Equation(curvature(), value * area(), reason="a sphere of radius 2 has the curvature 1/4")


manifold_curvature.twin("the curvature of the unit sphere", lambda: of_constant(sp.S.One))
manifold_curvature.twin("negative curvature", lambda: of_constant(-sp.Rational(1, 4)))
