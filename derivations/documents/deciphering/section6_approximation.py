"""Section 6: the approximations (15)–(18), each with its order and its constant, and where "=" is true.

Claims     deciphering.15     M finite near 0: λ* = w − α³κ₃(z, z, ·)/2 + o(α³)  (corrected)
           deciphering.16     M finite near 0: λ* = αz − α²Σz + o(α²)  (corrected)
           deciphering.thm2   M finite near 0  ⟹  ĥ = ĥ(αz) − α²Σ²z + o(α²)
           deciphering.17     M finite near 0: ĥ = E_u[W exp(α⟨W, z⟩)]/M(αz) − α²Σ²z + o(α²)  (corrected)
           deciphering.18     ĥ = Σ_i t_i u_i exp(α⟨t_i, z⟩)/Σ_j u_j exp(α⟨t_j, z⟩) − α²Σ²z + o(α²)  (corrected)
Notation   ĥ(x) = Σ_i p_i(x) t_i for p = tilt(x), so that ĥ = ĥ(λ*) and (17), (18) are ĥ(αz);
           w = α(I + αΣ)⁻¹z; m, S, C the mean, covariance and third cumulants of any law
References (15)–(18), Theorem 2 and footnote 7 of the document

The size of α alone means nothing: (T, z, α) → (sT, sz, α/s²) leaves every weight as it is (`deciphering.s6.scale`).  The
errors are small when α‖Σ‖ is, and α times the spread of ⟨t_i, z⟩.
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations.documents.deciphering.notation import (
    T,
    a,
    alpha,
    b,
    c,
    covariance,
    d,
    i,
    inner,
    k,
    lam,
    maximizer,
    mean,
    mu,
    n,
    shifted,
    tilt,
    u,
    z,
)
from derivations.documents.deciphering.section6_expansion import NEAR_0, bound, centered, no_expansion, x
from derivations.documents.deciphering.section6_expansion import k as power
from derivations.documents.deciphering.section6_theorem1 import stationary, tilted
from derivations.vocabulary import *

y = vector("y", d)
m, S, C = vector("m", d), vector("S", d, d), vector("C", d, d, d)
ON_THE_RIGHT = "with the z for which this λ maximizes (9)"
SMALL = ("u has bounded moments", "α is small")
TINY = Fraction(1, 100)
TWO_TEMPLATES: dict[Variable, Value] = {
    n: 2,
    d: 1,
    T.label: ((0,), (1,)),
    u.label: (Fraction(1, 4), Fraction(3, 4)),
    lam.label: (TINY,),
    alpha: TINY,
}
"""Templates 0 and 1 on the line with weights 1/4 and 3/4, α = 1/100, and the z near 1 for which λ* = 1/100."""


def scaled(entry: sp.Expr) -> sp.Expr:
    """α z_a."""
    return alpha * z[entry]


def shift(entry: sp.Expr) -> sp.Expr:
    """The z_a for which λ maximizes (9)."""
    return stationary(lam)(entry) - mu(entry)


def approximate(entry: sp.Expr) -> sp.Expr:
    """α z_a for that z, which is λ_a + α (ĥ(λ) − μ)_a."""
    return lam[entry] + alpha * (mean(tilted)(entry) - mu(entry))


def spread(at: Entry, entry: sp.Expr = a) -> sp.Expr:
    """(Σx)_a."""
    return total(c, covariance(entry, c) * at(c))


def double_spread(at: Entry) -> sp.Expr:
    """(Σ²x)_a."""
    return total((b, c), covariance(a, b) * covariance(b, c) * at(c))


def skew(along: Entry) -> sp.Expr:
    """κ₃(x, x, e_a) = Σ_i u_i ⟨t_i − μ, x⟩² (t_i − μ)_a."""
    return total(i, u[i] * centered(i, along) ** 2 * (T[i, a] - mu(a)))


def any_mean(at: Entry) -> Entry:
    """m + Sx + C(x, x)/2: the mean of any law tilted by x, up to O(‖x‖³), by its first three cumulants."""

    def entry_of(entry: sp.Expr) -> sp.Expr:
        bent = total((b, c), C[entry, b, c] * at(b) * at(c)) / 2
        return m[entry] + total(c, S[entry, c] * at(c)) + bent

    return entry_of


any_maximizer = Solves(lam, lambda v: lambda entry: m[entry] + z[entry] - any_mean(v)(entry))


def first_orders_for_any_law() -> Expansion:
    """(I + αS)λ* − αz = −α³C(z, z)/2 + o(α³) for any law whose M is finite near 0."""
    left = lam[a] + alpha * total(c, S[a, c] * lam[c]) - alpha * z[a]
    third = total((b, c), C[a, b, c] * z[b] * z[c])
    return Expansion(
        left,
        -(alpha**3) * third / 2,
        alpha,
        3,
        where=(any_maximizer,),
        quotes=(MOMENT_GENERATING_ANALYTIC,),
        reason="any law: log M is analytic near 0, and its cumulants of order ≥ 4 enter at α⁴",
    )


def first_order_for_any_law() -> Expansion:
    """λ* = αz − α²Sz + o(α²) for any law whose M is finite near 0."""
    return Expansion(
        lam[a],
        alpha * z[a] - alpha**2 * total(c, S[a, c] * z[c]),
        alpha,
        2,
        where=(any_maximizer,),
        reason="any law, by the same expansion",
        quotes=(MOMENT_GENERATING_ANALYTIC,),
    )


# ── (15) and (16) ───────────────────────────────────────────────────────────────────────────────────────────────────


def quadratic_form(sign: int = 1) -> sp.Expr:
    """⟨y, (I ± αΣ)y⟩."""
    return total(a, y[a] * (y[a] + sign * alpha * total(c, covariance(a, c) * y[c])))


def exceeds(right: sp.Expr) -> AtLeast:
    """⟨y, (I + αΣ)y⟩ ≥ right."""
    variance = total(i, u[i] * centered(i, y) ** 2)
    return AtLeast(quadratic_form(), right, because=alpha * variance, reason="⟨y, Σy⟩ is the variance of ⟨W, y⟩")


@claim(
    "deciphering.s6.invertible",
    "inequality",
    title="I + αΣ is invertible",
    hypotheses=("α > 0",),
    latex=r"\langle y,(I_d+\alpha\Sigma)y\rangle\ge\|y\|^2",
)
def invertible() -> Steps:
    """The inverse in (15) exists for every α > 0, also where Σ is singular: all eigenvalues are at least 1."""
    yield exceeds(total(a, y[a] ** 2))


invertible.twin("at least 2", lambda: exceeds(2 * total(a, y[a] ** 2)))
invertible.twin("at least 1 + α", lambda: exceeds((1 + alpha) * total(a, y[a] ** 2)))


def near(entry: sp.Expr) -> sp.Expr:
    """α z_a + α² y_a, which is λ*_a for some bounded y(α): λ* − αz = α(μ − ĥ), and ĥ − μ is O(α) as λ* is."""
    return alpha * z[entry] + alpha**2 * y[entry]


def curvature(at: Entry) -> sp.Expr:
    """−α(ĥ(x) − μ − Σx)_a, which is ((I + αΣ)λ* − αz)_a at x = λ*."""
    return -alpha * (mean(tilt(at))(a) - mu(a) - spread(at))


third_cumulant = skew(z) / 2
"""κ₃(z, z, e_a)/2."""


@cache
def first_form(coefficient: sp.Expr) -> Expansion:
    """(I + αΣ)λ* − αz = coefficient·α³ + o(α³), and so is λ* − w, since (I + αΣ)⁻¹ = I + O(α)."""
    return Expansion(curvature(near), alpha**3 * coefficient, alpha, 3, reason="whatever y is")


@claim(
    "deciphering.15",
    "asymptotic",
    title="The maximizer with the covariance",
    hypotheses=SMALL,
    latex=r"\lambda^*=\alpha(I_d+\alpha\Sigma)^{-1}z",
    needs=("deciphering.14", "deciphering.s6.quadratic-model"),
)
def with_covariance() -> Steps:
    """The maximizer of the dual is equated with α(I + αΣ)⁻¹z, which maximizes the dual with the quadratic for log M."""
    yield Fails(
        Equation(lam[a], alpha * (shift(a) - spread(lam)), at=TWO_TEMPLATES),
        reason="λ = α(I + αΣ)⁻¹z means λ = α(z − Σλ); " + ON_THE_RIGHT + " this asks ĥ − μ = Σλ*",
    )


@with_covariance.corrected(
    r"M<\infty\text{ near }0\implies\lambda^*=\alpha(I_d+\alpha\Sigma)^{-1}z"
    r"-\tfrac{\alpha^3}2\kappa_3(z,z,\cdot)+o(\alpha^3)",
    Severity.SLIP,
    replaces="the equality sign, by an error of order α³",
)
def with_covariance_and_error() -> Steps:
    """Where M is finite near 0 the maximizer is approximately that, up to −α³κ₃(z, z, ·)/2 + o(α³)."""
    yield first_orders_for_any_law()
    yield Equation(lam[a] + alpha * spread(lam) - alpha * shift(a), curvature(lam), reason="(I + αΣ)λ* − αz, exactly")
    yield first_form(-third_cumulant)


with_covariance.twin("no error of order α³", lambda: first_form(sp.S.Zero))
with_covariance.twin("the sign of the third cumulant", lambda: first_form(third_cumulant))
with_covariance.twin("without 1/2", lambda: first_form(-2 * third_cumulant))


def second_form(coefficient: sp.Expr) -> Expansion:
    """λ* = αz + coefficient·α² + o(α²)."""
    return Expansion(lam[a], alpha * z[a] + alpha**2 * coefficient, alpha, 2, where=(maximizer,), reason="λ* = α(z + μ − ĥ)")


@claim(
    "deciphering.16",
    "asymptotic",
    title="The maximizer is αz",
    hypotheses=SMALL,
    needs=("deciphering.15",),
    latex=r"\lambda^*=\alpha z",
)
def reduced() -> Steps:
    """For α close to zero the maximizer is equated with αz."""
    yield Fails(Equation(lam[a], approximate(a), at=TWO_TEMPLATES), reason=ON_THE_RIGHT + ": λ* = αz asks ĥ = μ")


@reduced.corrected(r"M<\infty\text{ near }0\implies\lambda^*=\alpha z-\alpha^2\Sigma z+o(\alpha^2)", Severity.SLIP)
def reduced_with_error() -> Steps:
    """Where M is finite near 0 the maximizer is approximately αz, up to −α²Σz + o(α²)."""
    yield first_order_for_any_law()
    yield Equation(lam[a] - approximate(a), alpha * (mu(a) - mean(tilted)(a)), reason="exactly: λ* − αz = α(μ − ĥ)")
    yield second_form(-spread(z))


reduced.twin("the sign of the error", lambda: second_form(spread(z)))
reduced.twin("no error of order α²", lambda: second_form(sp.S.Zero))


def identity_covariance(factor: sp.Expr) -> Equation:
    """(I + αI)⁻¹αz, from the inverse's entries, against factor·(b − μ) with b = μ + z."""
    inverse = sp.KroneckerDelta(a, c) / (1 + alpha)
    return Equation(total(c, inverse * alpha * z[c]), factor * (shifted(a) - mu(a)), reason="b − μ = z")


@claim(
    "deciphering.fn7",
    "identity",
    title="Unit covariance gives the motivating example",
    needs=("deciphering.15",),
    latex=r"\Sigma=I_d\implies\lambda^*=\alpha(I_d+\alpha I_d)^{-1}z=\tfrac\alpha{1+\alpha}z=\tfrac\alpha{1+\alpha}(b-\mu)",
)
def unit_covariance() -> Steps:
    """With Σ = I formula (15) is α/(1 + α) times b − μ, which is exact for the spherical Gaussian of section 5."""
    product = total(c, (1 + alpha) * sp.KroneckerDelta(a, c) * sp.KroneckerDelta(c, b) / (1 + alpha))
    yield Equation(product, sp.KroneckerDelta(a, b), reason="δ/(1 + α) is the inverse of (1 + α)δ")
    yield identity_covariance(alpha / (1 + alpha))


unit_covariance.twin("without α in the numerator", lambda: identity_covariance(1 / (1 + alpha)))
unit_covariance.twin("without the inverse", lambda: identity_covariance(alpha * (1 + alpha)))
unit_covariance.twin("(16) for (15)", lambda: identity_covariance(alpha))


# ── (17), (18) and Theorem 2 ────────────────────────────────────────────────────────────────────────────────────────


error = -double_spread(z)
"""−(Σ²z)_a, the coefficient of α² in ĥ − ĥ(αz)."""


@cache
def closed_form(coefficient: sp.Expr) -> Expansion:
    """ĥ = ĥ(αz) + coefficient·α² + o(α²)."""
    return Expansion(
        mean(tilted)(a),
        mean(tilt(scaled))(a) + alpha**2 * coefficient,
        alpha,
        2,
        where=(maximizer,),
        reason="the slope of ĥ at 0 is Σ, and λ* − αz = −α²Σz + o(α²)",
    )


def any_law() -> Expansion:
    """ĥ − ĥ(αz) = −α²S²z + o(α²) for any law whose M is finite near 0."""
    square = total((b, c), S[a, b] * S[b, c] * z[c])
    return Expansion(
        any_mean(lam)(a),
        any_mean(scaled)(a) - alpha**2 * square,
        alpha,
        2,
        where=(any_maximizer,),
        reason="any law: log M is analytic near 0, and its cumulants of order ≥ 4 enter at α³",
        quotes=(MOMENT_GENERATING_ANALYTIC,),
    )


@claim(
    "deciphering.thm2",
    "asymptotic",
    title="The closed form approximates the estimate",
    needs=("deciphering.13", "deciphering.16"),
    latex=r"\hat h\approx\int a\frac{u(a)e^{\alpha\langle a,z\rangle}}"
    r"{\int u(a')e^{\alpha\langle a',z\rangle}da'}da",
    hypotheses=("u has bounded moments", "α > 0 is small enough"),
)
def approximation() -> Steps:
    """For a u whose moments are finite the estimate is approximated by the tilt by αz, once α is small enough."""
    yield from no_expansion()
    yield Fails(
        Limit(sp.exp(bound), power, sp.oo, sp.S.Zero, at={x: TINY}),
        reason="log-normal u, z = 1, x = α: these terms bound (17)'s denominator from below, for every α > 0, so (17) "
        "has no value; were it finite they would stay bounded",
    )


@approximation.corrected(
    r"\hat h=\hat h(\alpha z)-\alpha^2\Sigma^2z+o(\alpha^2)",
    Severity.HYPOTHESIS,
    under=NEAR_0,
    replaces="the hypothesis of bounded moments, under which the right side may have no value",
)
def approximation_near_zero() -> Steps:
    """Where M is finite near 0 the maximizer is interior for small α, and the closed form is off by α²Σ²z to leading order."""
    yield any_law()
    yield closed_form(error)


approximation.twin("the sign of the error", lambda: closed_form(-error))
approximation.twin("no error of order α²", lambda: closed_form(sp.S.Zero))


def equality() -> Equation:
    """ĥ(λ*) = ĥ(αz), with the z for which λ maximizes (9)."""
    return Equation(mean(tilted)(a), mean(tilt(approximate))(a), at=TWO_TEMPLATES)


@claim(
    "deciphering.17",
    "asymptotic",
    title="The estimate, with an integral",
    needs=("deciphering.thm2",),
    hypotheses=("u has bounded moments", "α > 0 is small enough"),
    latex=r"\hat h=\int_{\mathbb R^d}a\frac{u(a)\exp(\alpha\langle a,z\rangle)}"
    r"{\int_{\mathbb R^d}u(a')\exp(\alpha\langle a',z\rangle)da'}da",
)
def with_integral() -> Steps:
    """In a sentence that promises an approximation, the estimate is equated with the mean of u tilted by αz."""
    yield Fails(equality(), reason=ON_THE_RIGHT)


@with_integral.corrected(
    r"M<\infty\text{ near }0\implies\hat h=\int a\frac{u(a)e^{\alpha\langle a,z\rangle}}{M(\alpha z)}da"
    r"-\alpha^2\Sigma^2z+o(\alpha^2)",
    Severity.SLIP,
)
def with_integral_and_error() -> Steps:
    """It is an approximation: where M is finite near 0, it differs from the estimate by α²Σ²z to leading order."""
    yield any_law()
    yield closed_form(error)


with_integral.twin("the sign of the error", lambda: closed_form(-error))
with_integral.twin("no error of order α²", lambda: closed_form(sp.S.Zero))


def discrete(right: sp.Expr) -> Equation:
    """The mean of u tilted by αz, for u with weights u_i at t_i, against a sum over the templates."""
    return Equation(mean(tilt(scaled))(a), right, reason="an integral against u is a sum")


def averaged(weight: Entry, strength: sp.Expr) -> sp.Expr:
    """Σ_i t_i w_i e^(s⟨t_i, z⟩) / Σ_k w_k e^(s⟨t_k, z⟩)."""

    def factor(template: sp.Expr) -> sp.Expr:
        return weight(template) * sp.exp(strength * inner(template, z))

    return total(i, T[i, a] * factor(i)) / total(k, factor(k))


@claim(
    "deciphering.s6.discrete",
    "identity",
    title="For discrete u the integral form becomes a sum",
    latex=r"\int a\frac{u(a)\exp(\alpha\langle a,z\rangle)}{\int u(a')\exp(\alpha\langle a',z\rangle)da'}da"
    r"=\sum_it_i\frac{u_i\exp(\alpha\langle t_i,z\rangle)}{\sum_ju_j\exp(\alpha\langle t_j,z\rangle)}",
    hypotheses=("u is discrete with the support t_1, …, t_n",),
    needs=("deciphering.10",),
)
def becomes_a_sum() -> Steps:
    """For a discrete u with finite support the mean of u tilted by αz is generalized dot-product attention."""
    yield discrete(averaged(u, alpha))


becomes_a_sum.twin("2α for α", lambda: discrete(averaged(u, 2 * alpha)))
becomes_a_sum.twin("u is left out", lambda: discrete(averaged(lambda template: sp.S.One, alpha)))


@cache
def finite_form(coefficient: sp.Expr, strength: sp.Expr = alpha) -> Expansion:
    """ĥ = Σ_i t_i u_i e^(s⟨t_i, z⟩)/Σ_k u_k e^(s⟨t_k, z⟩) + coefficient·α² + o(α²)."""
    return Expansion(mean(tilted)(a), averaged(u, strength) + alpha**2 * coefficient, alpha, 2, where=(maximizer,))


@claim(
    "deciphering.18",
    "asymptotic",
    title="The estimate as attention",
    needs=("deciphering.17", "deciphering.s6.discrete"),
    hypotheses=("u is discrete with the support t_1, …, t_n", "α > 0 is small enough"),
    latex=r"\hat h=\sum_{i=1}^nt_i\frac{u_i\exp(\alpha\langle t_i,z\rangle)}"
    r"{\sum_{j=1}^nu_j\exp(\alpha\langle t_j,z\rangle)}",
)
def as_attention() -> Steps:
    """For finitely many templates the approximated estimate is equated with generalized dot-product attention."""
    yield Fails(equality(), reason=ON_THE_RIGHT)


@as_attention.corrected(
    r"\hat h=\sum_it_i\frac{u_ie^{\alpha\langle t_i,z\rangle}}{\sum_ju_je^{\alpha\langle t_j,z\rangle}}"
    r"-\alpha^2\Sigma^2z+o(\alpha^2)",
    Severity.SLIP,
)
def as_attention_with_error() -> Steps:
    """It is an approximation: generalized attention differs from the estimate by α²Σ²z to leading order."""
    yield finite_form(error)


as_attention.twin("2α for α", lambda: finite_form(error, 2 * alpha))
as_attention.twin("the sign of the error", lambda: finite_form(-error))
