"""Section 6: the logarithm of the moment generating function, its expansion, and what the expansion needs.

Claims     deciphering.13                   M finite near 0  ⟹  log M(λ) = ⟨μ, λ⟩ + ½⟨λ, Σλ⟩ + O(‖λ‖³)
           deciphering.14                   log M(λ*) = ⟨μ, λ*⟩ + ½⟨λ*, Σλ*⟩ + α³κ₃(z)/6 + o(α³)
           deciphering.s6.bounded-moments   E|⟨W, λ⟩|^k ≤ (k/e)^k (M(λ) + M(−λ))
           deciphering.s6.cumulant          log M(tλ) = κ₁(λ)t + κ₂(λ)t²/2 + κ₃(λ)t³/6 + o(t³)  (corrected)
           deciphering.s6.gaussian-exact    u = N(μ, Σ)  ⟹  log M(λ) = ⟨μ, λ⟩ + ½⟨λ, Σλ⟩
Notation   t > 0 the length along a ray t ↦ tλ; κ_r(x) the r-th cumulant of ⟨W, x⟩, W ∼ u; g standard normal
References (13), (14) of the document; Heyde (1963) on the log-normal law

The log-normal law W = e^g has every moment, E W^k = e^(k²/2), and M(λ) = ∞ for every λ > 0: finite moments do not make
M finite near 0, which is what (13) needs.
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
    lam,
    maximizer,
    mu,
    n,
    partition,
    u,
    z,
)
from derivations.vocabulary import *

t = positive("t")
NEAR_0 = "M is finite in a neighbourhood of 0, as for u with finite support"
HALF = Fraction(1, 2)
TWO_POINTS: dict[Variable, Value] = {n: 2, d: 1, T.label: ((0,), (1,)), u.label: (HALF, HALF), lam.label: (1,)}
"""Templates 0 and 1 on the line, equally likely, and λ = 1."""


def ray(entry: sp.Expr) -> sp.Expr:
    """t λ_a."""
    return t * lam[entry]


def centered(template: sp.Expr, along: Entry) -> sp.Expr:
    """⟨t_i − μ, x⟩."""
    return total(a, (T[template, a] - mu(a)) * along(a))


def linear(at: Entry) -> sp.Expr:
    """⟨μ, x⟩."""
    return total(b, mu(b) * at(b))


def quadratic(at: Entry) -> sp.Expr:
    """⟨x, Σx⟩."""
    return total((b, c), at(b) * covariance(b, c) * at(c))


def third(at: Entry) -> sp.Expr:
    """κ₃(x) = Σ_i u_i ⟨t_i − μ, x⟩³."""
    return total(i, u[i] * centered(i, at) ** 3)


def raw(at: Entry, power: int) -> sp.Expr:
    """E⟨W, x⟩^r."""
    return total(i, u[i] * inner(i, at) ** power)


# ── moments and cumulants ───────────────────────────────────────────────────────────────────────────────────────────


def moments(second: sp.Expr) -> Expansion:
    """M(tλ) to the second order, with this coefficient of t²."""
    return Expansion(partition(ray), 1 + t * linear(lam) + second * t**2, t, 2, reason="E⟨W, λ⟩^r / r!")


@claim(
    "deciphering.s6.mgf",
    "identity",
    title="M is the moment generating function",
    needs=("deciphering.10",),
    latex=r"M(\lambda)=\mathbb E_u[\exp\langle W,\lambda\rangle]",
)
def generates_moments() -> Steps:
    """The integral of u(a) exp⟨a, λ⟩ is the moment generating function of W ∼ u: its coefficients are moments over r!."""
    yield moments(raw(lam, 2) / 2)


generates_moments.twin("central moments", lambda: moments(quadratic(lam) / 2))
generates_moments.twin("without 1/2!", lambda: moments(raw(lam, 2)))


square, cube, raw_cube = quadratic(lam) / 2, third(lam) / 6, raw(lam, 3) / 6


@cache
def cumulants(second: sp.Expr, last: sp.Expr) -> Expansion:
    """log M(tλ) to the third order, with these coefficients of t² and t³."""
    return Expansion(sp.log(partition(ray)), t * linear(lam) + t**2 * second + t**3 * last, t, 3, reason="κ_r / r!")


def log_m(multiple: int) -> sp.Expr:
    """log M(multiple · λ)."""
    return sp.log(partition(lambda entry: multiple * lam[entry]))


@claim(
    "deciphering.s6.cumulant",
    "identity",
    title="log M is called the cumulant",
    needs=("deciphering.s6.mgf",),
    latex=r"\log M(\lambda)\text{ is called the cumulant of }W",
)
def called_cumulant() -> Steps:
    """The value log M(λ) is called the cumulant of W."""
    yield Fails(
        Equation(log_m(4) * log_m(1), log_m(2) ** 2, at=TWO_POINTS),
        reason="a cumulant of order r is homogeneous, κ_r(sλ) = s^r κ_r(λ), which would make these equal for any r",
    )


@called_cumulant.corrected(
    r"\log M(t\lambda)=\textstyle\sum_r\kappa_r(\langle W,\lambda\rangle)t^r/r!",
    Severity.WORDING,
    replaces="the name “cumulant”",
)
def generates_cumulants() -> Steps:
    """The logarithm of M is the cumulant generating function: its Taylor coefficients are the cumulants, over r!."""
    yield cumulants(square, cube)


called_cumulant.twin("raw third moment", lambda: cumulants(square, raw_cube))
called_cumulant.twin("without 1/3!", lambda: cumulants(square, 6 * cube))


# ── the expansion and its hypothesis ────────────────────────────────────────────────────────────────────────────────

k, x, g = positive("k"), positive("x"), scalar("g")
bound = k * sp.log(x) + k - k * sp.log(k) + k**2 / 2
log_normal = sp.exp(sp.Rational(1, 2)) * x + (sp.exp(2) - sp.E) * x**2 / 2 + x**2


def exponential_beats_powers(reason: str) -> AtLeast:
    """y ≥ k log y − k log k + k for y > 0, which is e^y ≥ (ey/k)^k."""
    return AtLeast(x, k * sp.log(x) - k * sp.log(k) + k, because=kl(k, x), reason=reason)


def log_normal_exceeds() -> Fails:
    """The lower bound for log M(λ) at λ = 1/10 is not below what the expansion would leave there."""
    return Fails(
        AtLeast(log_normal, bound, at={x: Fraction(1, 10), k: 20}),
        reason="log-normal u: the quadratic plus λ² would bound log M(λ) near 0, and is below its lower bound",
    )


def no_expansion() -> Steps:
    """All moments of the log-normal law are finite, and M(λ) exceeds any bound for every λ > 0."""
    yield exponential_beats_powers("e^(λW) ≥ (eλW/k)^k for each k > 0")
    yield Equation(k * g - g**2 / 2, k**2 / 2 - (g - k) ** 2 / 2, reason="so E W^k = E e^(kg) = e^(k²/2), finite for every k")
    yield Limit(
        sp.log(k) / k,
        k,
        sp.oo,
        sp.S.Zero,
        reason="log M(λ) ≥ k log λ + k − k log k + k²/2 for each k, and k² wins: M(λ) = ∞ for every λ > 0",
    )


def second_order(second: sp.Expr) -> Expansion:
    """log M(tλ) = t⟨μ, λ⟩ + t²·second + o(t²)."""
    return Expansion(
        sp.log(partition(ray)), t * linear(lam) + t**2 * second, t, 2, reason="on every ray; the next coefficient is κ₃(λ)/6"
    )


@claim(
    "deciphering.13",
    "asymptotic",
    title="Second-order expansion of log M",
    needs=("deciphering.26", "deciphering.29"),
    latex=r"\log M(\lambda)=\langle\mu,\lambda\rangle+\tfrac12\langle\lambda,\Sigma\lambda\rangle+o(\|\lambda\|^2)",
    hypotheses=("u has bounded moments",),
)
def expansion() -> Steps:
    """If all moments of u are finite, log M is a quadratic with the mean and the covariance, up to o(‖λ‖²)."""
    yield from no_expansion()
    yield log_normal_exceeds()


@expansion.corrected(
    r"\log M(\lambda)=\langle\mu,\lambda\rangle+\tfrac12\langle\lambda,\Sigma\lambda\rangle"
    r"+O(\|\lambda\|^3)",
    Severity.HYPOTHESIS,
    under=NEAR_0,
    replaces="the hypothesis of bounded moments, under which the left side may be infinite near 0",
)
def expansion_for_finite_support() -> Steps:
    """Where M is finite near 0 the expansion holds, with the remainder κ₃(λ)/6 + O(‖λ‖⁴)."""
    m1, m2, rho = scalar("m1"), scalar("m2"), scalar("rho")
    yield Expansion(
        sp.log(1 + m1 * t + m2 * t**2 / 2 + rho * t**3),
        m1 * t + (m2 - m1**2) * t**2 / 2,
        t,
        2,
        reason="any u: M(tλ) has moments m₁, m₂ of ⟨W, λ⟩, and ρ is bounded where M is finite near 0",
        quotes=(MOMENT_GENERATING_ANALYTIC,),
    )
    yield cumulants(square, cube)
    yield second_order(square)


expansion.twin("1/2 is lost", lambda: second_order(2 * square))
expansion.twin("the raw second moment", lambda: second_order(raw(lam, 2) / 2))


@claim(
    "deciphering.s6.bounded-moments",
    "inequality",
    title="The expansion assumes finite moments",
    latex=r"M<\infty\text{ near }0\implies\mathbb E|\langle W,\lambda\rangle|^k"
    r"\le(k/e)^k(M(\lambda)+M(-\lambda))<\infty",
)
def bounded_moments() -> Steps:
    """The expansion implicitly assumes that all moments are finite: M finite near 0 implies it, though not conversely."""
    yield exponential_beats_powers("y = |⟨w, λ⟩|: y^k ≤ (k/e)^k e^y, and e^y ≤ e^⟨w, λ⟩ + e^(−⟨w, λ⟩)")


bounded_moments.twin("(k/e)^k for its square root", lambda: AtLeast(x, k * sp.log(x) - k * sp.log(k) + 2 * k))
bounded_moments.twin("the exponent is doubled", lambda: AtLeast(x, 2 * k * sp.log(x) - k * sp.log(k) + k))


# ── (14) ────────────────────────────────────────────────────────────────────────────────────────────────────────────

v = vector("v", d)


def near(entry: sp.Expr) -> sp.Expr:
    """α z_a + α² v_a, which is λ*_a for some bounded v(α): λ* − αz = α(μ − ĥ), and ĥ − μ is O(α) as λ* is."""
    return alpha * z[entry] + alpha**2 * v[entry]


skewness, raw_skewness = third(z) / 6, raw(z, 3) / 6


@cache
def remainder(coefficient: sp.Expr) -> Expansion:
    """log M(λ*) − ⟨μ, λ*⟩ − ½⟨λ*, Σλ*⟩ = coefficient·α³ + o(α³)."""
    left = sp.log(partition(near)) - linear(near) - quadratic(near) / 2
    return Expansion(left, alpha**3 * coefficient, alpha, 3, reason="whatever v is")


@claim(
    "deciphering.14",
    "asymptotic",
    title="log M at the maximizer, for small α",
    needs=("deciphering.13", "deciphering.12"),
    latex=r"\log M(\lambda^*)\approx\langle\mu,\lambda^*\rangle+\tfrac12\langle\lambda^*,\Sigma\lambda^*\rangle",
    hypotheses=("the expansion of log M, so that M is finite near 0", "α is small"),
)
def at_the_maximizer() -> Steps:
    """For small α the quadratic approximates log M(λ*); its error is α³κ₃(z)/6 to leading order."""
    yield Expansion(
        sp.log(partition(lam)),
        linear(lam) + quadratic(lam) / 2,
        alpha,
        2,
        where=(maximizer,),
        reason="no error up to order 2, with λ* itself",
    )
    yield remainder(skewness)


at_the_maximizer.twin("the raw third moment", lambda: remainder(raw_skewness))
at_the_maximizer.twin("without 1/3!", lambda: remainder(6 * skewness))


def model_slope(factor: sp.Expr, sign: int = 1) -> Equation:
    """α ∂/∂λ_a of (9) with the quadratic for log M, against ±αz − (I + α·factor·Σ)λ."""
    model = total(a, lam[a] * (mu(a) + z[a])) - total(a, lam[a] ** 2) / (2 * alpha) - linear(lam) - quadratic(lam) / 2
    spread = total(c, covariance(a, c) * lam[c])
    return Equation(
        alpha * derivative(model, lam[a]),
        sign * alpha * z[a] - lam[a] - alpha * factor * spread,
        reason="0 only where (I + αΣ)λ = αz; I + αΣ is invertible, and the model is concave",
    )


@claim(
    "deciphering.s6.quadratic-model",
    "equivalence",
    title="(14) in (9) leads to (15)",
    latex=r"\nabla_\lambda\{\langle\lambda,\mu+z\rangle-\tfrac1{2\alpha}\|\lambda\|^2-\langle\mu,\lambda\rangle"
    r"-\tfrac12\langle\lambda,\Sigma\lambda\rangle\}=0\iff\lambda=\alpha(I_d+\alpha\Sigma)^{-1}z",
    needs=("deciphering.14", "deciphering.s6.invertible"),
    hypotheses=("α > 0",),
)
def quadratic_model() -> Steps:
    """With the quadratic in place of log M the dual's derivative vanishes at α(I + αΣ)⁻¹z, and nowhere else."""
    yield model_slope(sp.S.One)


quadratic_model.twin("Σ is halved", lambda: model_slope(sp.Rational(1, 2)))
quadratic_model.twin("the sign of z", lambda: model_slope(sp.S.One, -1))


# ── Gaussian u ──────────────────────────────────────────────────────────────────────────────────────────────────────

A, m = vector("A", d, d), vector("m", d)


def slope(column: sp.Expr) -> sp.Expr:
    """(Aᵀλ)_c, the coefficient of g_c in ⟨W, λ⟩ for W = m + A g."""
    return total(b, A[b, column] * lam[b])


def gaussian(second: sp.Expr) -> Equation:
    """log M(λ) of N(m, AAᵀ), one factor for each independent g_c, against a quadratic."""
    factors = total(c, sp.log(sp.exp(slope(c) ** 2 / 2)))
    return Equation(total(b, m[b] * lam[b]) + factors, total(b, m[b] * lam[b]) + second, reason="Σ = AAᵀ")


@claim(
    "deciphering.s6.gaussian-exact",
    "identity",
    title="(14) is exact for Gaussian u",
    needs=("deciphering.14",),
    latex=r"u=\mathcal N(\mu,\Sigma)\implies\log M(\lambda)=\langle\mu,\lambda\rangle"
    r"+\tfrac12\langle\lambda,\Sigma\lambda\rangle",
)
def gaussian_is_exact() -> Steps:
    """For a Gaussian u the approximation is an equality, at every λ and hence for any α > 0."""
    yield Equation(k * g - g**2 / 2, k**2 / 2 - (g - k) ** 2 / 2, reason="E e^(kg) = e^(k²/2): the integral is shifted by k")
    yield gaussian(total((a, b, c), lam[a] * A[a, c] * A[b, c] * lam[b]) / 2)


gaussian_is_exact.twin("1/2 is lost", lambda: gaussian(total((a, b, c), lam[a] * A[a, c] * A[b, c] * lam[b])))
gaussian_is_exact.twin("AᵀA for AAᵀ", lambda: gaussian(total((a, b, c), lam[a] * A[c, a] * A[c, b] * lam[b]) / 2))
