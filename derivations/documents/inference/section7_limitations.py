"""Section 7 of the earlier version, limitations: what bounded moments, a small α and normalized templates give.

Claims     inference.s7.bounded-moments        M finite near 0  ⟹  E|⟨W, λ⟩|^k < ∞ for every k
           inference.s7.small-alpha            ĥ − (20) = −α²Σ²z + o(α²) → 0 for fixed templates and evidence
           inference.s7.growing-templates      P(q; sT, z, α) = P(q; T, z/s, αs²)
           inference.s7.normalized-templates   tr Σ ≤ Σ_i u_i‖t_i‖², which is 1 for unit t_i
Notation   as in deciphering, section 6; x a direction; r ≥ 1 half the order of a moment; tau = τ, with α = τ^(−1/2)
References the paragraph on limitations in section 7 of the document
"""

import sympy as sp

from derivations.documents.deciphering import section6_expansion as expansion
from derivations.documents.deciphering.notation import T, a, alpha, covariance, d, i, inner, mean, mu, n, primal, shifted, u, z
from derivations.documents.deciphering.section6_approximation import closed_form, error
from derivations.documents.deciphering.section6_certificates import objective_with, q
from derivations.vocabulary import *

tau, s, r, x = positive("tau"), positive("s"), size("r"), vector("x", d)
j = index("j", n)


@claim(
    "inference.s7.bounded-moments",
    "asymptotic",
    title="Bounded moments are what (15) and (18) assume",
    latex=r"\mathbb E|\langle W,\lambda\rangle|^k<\infty\ \forall k\implies(15),(18)",
    needs=("inference.15",),
    hypotheses=("u has bounded moments",),
)
def bounded_moments() -> Steps:
    """The approximations are said to assume, implicitly, that the preference distribution has bounded moments."""
    yield from expansion.no_expansion()
    yield expansion.log_normal_exceeds()


@bounded_moments.corrected(
    r"M<\infty\text{ near }0\implies\mathbb E|\langle W,\lambda\rangle|^k<\infty\ \forall k,\ "
    r"\log M(\lambda)=\langle\mu,\lambda\rangle+\tfrac12\langle\lambda,\Sigma\lambda\rangle"
    r"+\tfrac16\kappa_3(\lambda)+O(\|\lambda\|^4)",
    Severity.HYPOTHESIS,
    under=expansion.NEAR_0,
    replaces="bounded moments, which do not make M finite for any λ ≠ 0",
)
def finite_near_zero() -> Steps:
    """What they assume is more: M is finite near 0, from which bounded moments follow, and not the other way round."""
    yield expansion.exponential_beats_powers("y = |⟨w, λ⟩|: y^k ≤ (k/e)^k e^y, and e^y ≤ e^⟨w, λ⟩ + e^(−⟨w, λ⟩)")
    yield expansion.cumulants(expansion.square, expansion.cube)


bounded_moments.twin("no term of third order", lambda: expansion.cumulants(expansion.square, sp.S.Zero))
bounded_moments.twin("raw third moment", lambda: expansion.cumulants(expansion.square, expansion.raw_cube))


def power(template: sp.Expr) -> sp.Expr:
    """⟨t_i, x⟩^2r."""
    return inner(template, x) ** (2 * r)


def bounded_by(ceiling: sp.Expr) -> AtLeast:
    """ceiling ≥ E⟨W, x⟩^2r."""
    others = total(j, u[j] * (1 - delta(i, j)))
    return AtLeast(ceiling, total(i, u[i] * power(i)), because=total(i, others * power(i)), reason="1 − u_i ≥ 0")


@claim(
    "inference.s7.finite-moments",
    "inequality",
    title="A fixed finite support has finite moments",
    latex=r"\mathbb E_u[\langle W,x\rangle^{2r}]\le\textstyle\sum_i\langle t_i,x\rangle^{2r}",
    hypotheses=("u has finite support",),
)
def finite_moments() -> Steps:
    """For a discrete u with finitely many fixed templates all moments are finite, and bounded whatever the weights are."""
    yield bounded_by(total(i, power(i)))


finite_moments.twin("divided by the number of templates", lambda: bounded_by(total(i, power(i)) / (2 * n)))
finite_moments.twin(
    "the r-th power of the second moment", lambda: bounded_by(total(i, u[i] * inner(i, x) ** 2) ** (2 * r) / 4**r)
)


@claim(
    "inference.s7.small-alpha",
    "limit",
    title="A small enough α meets any requirement",
    needs=("inference.thm2",),
    latex=r"\hat h-\hat h_{(20)}=-\alpha^2\Sigma\Sigma z+o(\alpha^2)",
    hypotheses=("T and z are fixed",),
)
def small_alpha() -> Steps:
    """For fixed templates and evidence the error of (20) tends to 0 with α, or equivalently as τ grows."""
    yield Limit(tau ** sp.Rational(-1, 2), tau, sp.oo, sp.S.Zero, reason="α = τ^(−1/2)")
    yield closed_form(error)


small_alpha.twin("the sign of the error", lambda: closed_form(-error))
small_alpha.twin("no error of order α²", lambda: closed_form(sp.S.Zero))


def grown(right: sp.Expr) -> Equation:
    """The objective for templates sT, with the same evidence z and the same α."""
    larger = objective_with(lambda entry: s * mean(q)(entry), lambda entry: s * mu(entry) + z[entry], alpha)
    return Equation(larger, right, reason="‖sμ + z − sh‖² = s²‖μ + z/s − h‖²")


@claim(
    "inference.s7.growing-templates",
    "identity",
    title="Growing templates are a growing α",
    needs=("inference.6",),
    latex=r"P(q;sT,z,\alpha)=P(q;T,z/s,\alpha s^2)",
)
def growing_templates() -> Steps:
    """Templates s times as long act as if α were s² times as large and the evidence 1/s, so a fixed α stops being small."""
    yield grown(primal(q, lambda entry: mu(entry) + z[entry] / s, alpha * s**2))


growing_templates.twin("α s for α s²", lambda: grown(primal(q, lambda entry: mu(entry) + z[entry] / s, alpha * s)))
growing_templates.twin("the evidence stays", lambda: grown(primal(q, shifted, alpha * s**2)))


def spread_below(ceiling: sp.Expr) -> AtLeast:
    """ceiling ≥ tr Σ."""
    return AtLeast(ceiling, total(a, covariance(a, a)), because=total(a, mu(a) ** 2), reason="tr Σ = E‖W‖² − ‖μ‖²")


squares = total(i, u[i] * total(a, T[i, a] ** 2))


@claim(
    "inference.s7.normalized-templates",
    "inequality",
    title="Normalized templates bound the covariance",
    latex=r"\mathrm{tr}\,\Sigma\le\textstyle\sum_iu_i\|t_i\|^2\ (=1\text{ for unit }t_i)",
    needs=("inference.s7.growing-templates",),
)
def normalized_templates() -> Steps:
    """Templates of norm 1, or of regularized norms, keep Σ bounded, so that one small α serves all of them."""
    yield spread_below(squares)


normalized_templates.twin("half of it", lambda: spread_below(squares / 2))
normalized_templates.twin("the norm of the mean", lambda: spread_below(total(a, mu(a) ** 2)))
