"""Section 5 for N(μ, Σ): the example with any covariance, a singular one included.

Claims     deciphering.s5.general-covariance   λ* = α(I + αΣ)⁻¹(b − μ) and p* = N(μ + Σλ*, Σ), Σ singular or not
Notation   Σ = AAᵀ with A any d × r matrix, so u is the law of μ + Ag with g standard normal in ℝ^r; q the law of μ + Aη
           with mean m of η, K = KL(η ‖ N(m, I)) ≥ 0; lam = λ, and b the one that λ belongs to
References Section 5 of the document, whose example has Σ = I; `deciphering.15` has the same λ*
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, b, d, lam
from derivations.vocabulary import *

r = size("r")
e, f = index("e", r), index("f", r)
A, m, nu, mu = vector("A", d, r), vector("m", r), vector("nu", d), vector("mu", d)
K = scalar("K", Nonnegative)


def covariance_times(at: Entry) -> Entry:
    """a ↦ (Σλ)_a = Σ_e A_ae ⟨A_e, λ⟩."""
    return lambda x: total(e, A[x, e] * total(b, A[b, e] * at(b)))


def shift(x: sp.Expr) -> sp.Expr:
    """(b − μ)_a for which λ = α(I + αΣ)⁻¹(b − μ): λ/α + Σλ."""
    return lam[x] / alpha + covariance_times(lam)(x)


def square(v: Entry) -> sp.Expr:
    """‖v‖² in ℝ^d."""
    return total(a, v(a) ** 2)


def value(middle: Entry, excess: sp.Expr) -> sp.Expr:
    """(4) at q: α/2 ‖b − μ − Am‖² + ½‖m‖² + K."""
    return alpha / 2 * square(lambda x: shift(x) - total(e, A[x, e] * middle(e))) + total(f, middle(f) ** 2) / 2 + excess


def best(x: sp.Expr) -> sp.Expr:
    """(Aᵀλ)_e: q = N(μ + Σλ, Σ)."""
    return total(b, A[b, x] * lam[b])


def dual_value(at: Entry) -> sp.Expr:
    """⟨b − μ, λ⟩ − ‖λ‖²/(2α) − ½⟨λ, Σλ⟩: the objective of (8), log M being ⟨μ, λ⟩ + ½⟨λ, Σλ⟩."""
    quadratic = total(a, at(a) * covariance_times(at)(a))
    return total(a, at(a) * shift(a)) - square(at) / (2 * alpha) - quadratic / 2


def least(candidate: Entry, because: sp.Expr | None = None) -> AtLeast:
    """No law of μ + Aη has a smaller objective than N(μ + A candidate, Σ)."""
    return AtLeast(
        value(m, K),
        value(candidate, sp.S.Zero),
        because=because,
        reason="the excess is α/2 ‖A(m − Aᵀλ)‖² + ½‖m − Aᵀλ‖² + K, which is 0 only for q = N(μ + Σλ, Σ)",
    )


@claim(
    "deciphering.s5.general-covariance",
    "optimality",
    title="Addition: the example for N(μ, Σ)",
    latex=r"u=\mathcal N(\mu,\Sigma)\implies\lambda^*=\alpha(I+\alpha\Sigma)^{-1}(b-\mu),\quad "
    r"p^*=\mathcal N(\mu+\Sigma\lambda^*,\Sigma)",
    hypotheses=("u = N(μ, Σ), Σ singular or not", "α > 0"),
    needs=("deciphering.s5.minimizer",),
)
def general_covariance() -> Steps:
    """An addition: with any Gaussian u the minimizer is u moved by Σλ*, where λ* solves (I + αΣ)λ = α(b − μ)."""

    def off(x: sp.Expr) -> sp.Expr:
        return m[x] - best(x)

    yield Equation(lam[a] + alpha * covariance_times(lam)(a), alpha * shift(a), reason="(I + αΣ)λ = α(b − μ)")
    yield AtLeast(
        dual_value(lam),
        dual_value(nu),
        because=square(lambda x: lam[x] - nu[x]) / (2 * alpha) + total(f, total(b, A[b, f] * (lam[b] - nu[b])) ** 2) / 2,
        reason="λ is the only maximizer of (8)",
    )
    yield Equation(dual_value(lam), value(best, sp.S.Zero), reason="no duality gap")
    yield least(best, alpha / 2 * square(lambda x: total(e, A[x, e] * off(e))) + total(f, off(f) ** 2) / 2 + K)


general_covariance.twin("u itself", lambda: least(lambda x: sp.S.Zero))
general_covariance.twin("moved the other way", lambda: least(lambda x: -best(x)))
