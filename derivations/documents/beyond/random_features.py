"""Positive random features: exact covariances, and the average error of linear attention with them.

Claims     beyond.feature-covariance   Cov(f_j, f_k) = κ_j κ_k (e^{⟨q + k_j, q + k_k⟩} − 1), κ_j = e^{⟨q, k_j⟩} = E f_j
           beyond.ratio-bias           E[N/Z] − E[N]/E[Z] = −Cov(N/Z, Z)/E[Z]: exact, for any number of features
           beyond.ratio-bias-bound     |E[N/Z] − E[N]/E[Z]| ≤ L/2 √Var(Z)/E[Z] for values within L
Notation   f_j = exp(⟨ω, q⟩ − ‖q‖²/2) exp(⟨ω, k_j⟩ − ‖k_j‖²/2), ω standard normal; Q = q, K[j, r] = (k_j)_r; a finite law of the
           features: outcome o of N has the probability p_o, the features F[o, j] > 0 and Z_o = Σ_j F_oj, N_o = Σ_j V_j F_oj;
           N_o/Z_o = c + L g_o with a number g_o of [0, 1] (a column of a matrix with rows of sum 1)
References Choromanski et al. (2021), Lemma 2, for the variance; Hartley and Ross (1954) for the bias of a ratio

With r independent features, Var(Z)/E[Z]² = Σ_jl p_j p_l (e^{⟨q + k_j, q + k_l⟩} − 1)/r for the weights p of softmax: a bound of
the bias of linear attention for every r.  The step from finite laws to the normal one is an argument in words.
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering.section5_gaussian import coordinate_mgf
from derivations.documents.eot.notation import K, Q, j, k, m, r
from derivations.vocabulary import *

outcomes, columns = size("N"), size("M")
o, other = index("o", outcomes), index("h", outcomes)
p, F = simplex("p", outcomes), vector("F", outcomes, m, kind=Positive)
V, Z = vector("V", m), vector("Z", outcomes, kind=Positive)
g, L, c = stochastic("g", outcomes, columns), positive("L"), scalar("c")

FINITE_LAW = "the features have finitely many outcomes"


def similarity(key: sp.Expr) -> sp.Expr:
    """⟨q, k_j⟩."""
    return total(r, Q[r] * K[key, r])


def second_moment() -> sp.Expr:
    """E[f_j f_k], by one integral over the real line for each coordinate of ω."""
    slope = 2 * Q[r] + K[j, r] + K[k, r]
    return sp.exp(total(r, sp.log(coordinate_mgf(sp.S.Zero, slope)) - Q[r] ** 2 - (K[j, r] ** 2 + K[k, r] ** 2) / 2))


def covariance(exponent: sp.Expr) -> Equation:
    """Cov(f_j, f_k)."""
    both = sp.exp(similarity(j) + similarity(k))
    return Equation(
        second_moment() - both, both * (sp.exp(exponent) - 1), reason="E e^{⟨ω, s⟩} = e^{‖s‖²/2} at s = 2q + k_j + k_k"
    )


def across(scale: sp.Expr = sp.S.One) -> sp.Expr:
    """scale · ⟨q + k_j, q + k_k⟩."""
    return scale * total(r, (Q[r] + K[j, r]) * (Q[r] + K[k, r]))


@claim(
    "beyond.feature-covariance",
    "identity",
    title="How the errors of positive random features go together",
    needs=("transport.s4.kernel-approximation",),
    latex=r"\mathrm{Cov}(f_j,f_k)=e^{\langle q,k_j\rangle+\langle q,k_k\rangle}\big(e^{\langle q+k_j,\,q+k_k\rangle}-1\big)",
)
def feature_covariance() -> Steps:
    """The errors of two keys go together where q + k_j and q + k_k point in similar directions; j = k is the variance."""
    yield covariance(across())


feature_covariance.twin("twice the exponent", lambda: covariance(across(sp.Integer(2))))
feature_covariance.twin("the keys alone", lambda: covariance(total(r, K[j, r] * K[k, r])))


# ── the quotient ────────────────────────────────────────────────────────────────────────────────────────────────────


def expected(of: Entry) -> sp.Expr:
    """E[·] over the outcomes."""
    return total(o, p[o] * of(o))


def denominator(outcome: sp.Expr) -> sp.Expr:
    """Z_o."""
    return total(j, F[outcome, j])


def numerator(outcome: sp.Expr) -> sp.Expr:
    """N_o."""
    return total(j, V[j] * F[outcome, j])


def quotient(outcome: sp.Expr) -> sp.Expr:
    """N_o/Z_o, linear attention by these features."""
    return numerator(outcome) / denominator(outcome)


def bias(factor: sp.Expr) -> Equation:
    """E[N/Z] − E[N]/E[Z] against factor · Cov(N/Z, Z)/E[Z]."""
    together = expected(numerator) - expected(quotient) * expected(denominator)
    off = expected(quotient) - expected(numerator) / expected(denominator)
    return Equation(off, factor * together / expected(denominator), reason="E[(N/Z) Z] = E[N]")


@claim(
    "beyond.ratio-bias",
    "identity",
    title="The bias of linear attention by random features",
    hypotheses=(FINITE_LAW,),
    latex=r"\mathbb E\Big[\frac NZ\Big]-\frac{\mathbb E[N]}{\mathbb E[Z]}=-\frac{\mathrm{Cov}(N/Z,\,Z)}{\mathbb E[Z]}",
)
def ratio_bias() -> Steps:
    """Its output is biased against the values that come with large normalizers, exactly by their covariance."""
    yield Equation(
        total(o, p[o] * quotient(o) * denominator(o)), expected(numerator), reason="Cov(N/Z, Z) = E[N] − E[N/Z]E[Z];"
    )
    yield bias(-sp.S.One)


ratio_bias.twin("the sign", lambda: bias(sp.S.One))
ratio_bias.twin("half of it", lambda: bias(-sp.S.Half))


def level(outcome: sp.Expr) -> sp.Expr:
    """N_o/Z_o = c + L g_o."""
    return c + L * g[outcome, 1]


def spread() -> sp.Expr:
    """Var(Z)."""
    return expected(lambda at: Z[at] ** 2) - expected(Z) ** 2


def bounded(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> AtLeast:
    """factor · L² Var(Z)/E[Z]² ≥ (E[N/Z] − E[N]/E[Z])²."""

    def centred(outcome: sp.Expr) -> sp.Expr:
        return Z[outcome] - expected(Z)

    def half(outcome: sp.Expr) -> sp.Expr:
        return g[outcome, 1] - sp.S.Half

    pairs = total((o, other), p[o] * p[other] * (half(o) * centred(other) - half(other) * centred(o)) ** 2) / 2
    inside = spread_of(centred) * expected(lambda at: g[at, 1] * (1 - g[at, 1]))
    off = expected(level) - expected(lambda at: level(at) * Z[at]) / expected(Z)
    return AtLeast(
        factor * L**2 * spread() / expected(Z) ** 2,
        off**2,
        at=at or {},
        because=L**2 * (pairs + inside) / expected(Z) ** 2 if factor == sp.Rational(1, 4) else None,
        reason="Cauchy and Schwarz, and a variance of numbers of an interval of length L is at most L²/4",
    )


def spread_of(centred: Entry) -> sp.Expr:
    """Σ_o p_o (Z_o − E[Z])²."""
    return expected(lambda at: centred(at) ** 2)


EVEN: dict[Variable, Value] = {
    outcomes: 2,
    columns: 2,
    p.label: [Fraction(1, 2)] * 2,
    g.label: [[1, 0], [0, 1]],
    Z.label: [1, 3],
    L: 2,
    c: 0,
}
"""Two outcomes, where the bound is attained."""


@claim(
    "beyond.ratio-bias-bound",
    "inequality",
    title="A bound of the bias for any number of features",
    needs=("beyond.ratio-bias",),
    hypotheses=(FINITE_LAW, "all values lie within an interval of length L"),
    latex=r"\Big|\mathbb E\Big[\frac NZ\Big]-\frac{\mathbb E[N]}{\mathbb E[Z]}\Big|"
    r"\le\frac L2\,\frac{\sqrt{\mathrm{Var}(Z)}}{\mathbb E[Z]}",
)
def ratio_bias_bound() -> Steps:
    """On average linear attention is off by half of the values' spread times the relative error of its normalizer, at most."""
    yield bounded(sp.Rational(1, 4))


ratio_bias_bound.twin("half of it", lambda: bounded(sp.Rational(1, 16), EVEN))
ratio_bias_bound.twin("without the half, the other way", lambda: bounded(sp.Rational(1, 5), EVEN))
