"""Appendix A: the derivation of (13), line by line.

Claims     deciphering.26              M finite near 0: M(λ) = 1 + ⟨M'(0), λ⟩ + ½⟨λ, M''(0)λ⟩ + o(‖λ‖²)  (corrected)
           deciphering.29              log(1 + t) = t − t²/2 + t³/3 − …, in one letter  (corrected)
           deciphering.sA.result       M finite near 0  ⟹  log M(λ) = ⟨μ, λ⟩ + ½⟨λ, Σλ⟩ + o(‖λ‖²)
           deciphering.sA.covariance   Σ = M''(0) − M'(0)M'(0)ᵀ = E_u[(W − μ)(W − μ)ᵀ]
Notation   on the ray t ↦ tλ: M(tλ) = 1 + y, y = m₁t + m₂t²/2 + ρt², where ρ → 0 as t → 0 stands for what o(t²) hides;
           m₁ = ⟨M'(0), λ⟩, m₂ = ⟨λ, M''(0)λ⟩
References Appendix A of the document, which assumes bounded moments; (13) shows why they are not enough for (26) and for
           the result.  The lines between are consequences of (26), which makes M finite near 0
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, b, covariance, i, inner, lam, mu, partition, u
from derivations.documents.deciphering.section6_expansion import (
    NEAR_0,
    linear,
    log_normal_exceeds,
    moments,
    no_expansion,
    quadratic,
    raw,
    ray,
    t,
)
from derivations.documents.deciphering.section6_theorem1 import at_zero
from derivations.vocabulary import *

m1, m2, rho, x = scalar("m1"), scalar("m2"), scalar("rho"), scalar("x")
y = m1 * t + m2 * t**2 / 2 + rho * t**2
GIVEN = ("(26), so that M is finite near 0",)


@claim(
    "deciphering.26",
    "asymptotic",
    title="Second-order expansion of M",
    hypotheses=("u has bounded moments",),
    latex=r"M(\lambda)=\int\langle a,\lambda\rangle u(a)\,da=1+\langle M'(0),\lambda\rangle"
    r"+\tfrac12\langle\lambda,M''(0)\lambda\rangle+o(\|\lambda\|^2)",
)
def expansion_of_m() -> Steps:
    """The integral of ⟨a, λ⟩ against u is expanded to the second order."""
    yield Fails(
        Equation(partition(lam), total(i, u[i] * inner(i, lam))),
        reason="the integral of ⟨a, λ⟩ is no value of M, which is positive",
    )
    printed = Expansion(total(i, u[i] * inner(i, ray)), 1 + t * linear(lam) + t**2 * raw(lam, 2) / 2, t, 2)
    yield Fails(printed, reason="the exponential is missing: the integral of ⟨a, λ⟩ is ⟨μ, λ⟩, which is 0 at λ = 0")


@expansion_of_m.corrected(
    r"M<\infty\text{ near }0\implies M(\lambda)=\int e^{\langle a,\lambda\rangle}u(a)\,da"
    r"=1+\langle M'(0),\lambda\rangle+\tfrac12\langle\lambda,M''(0)\lambda\rangle"
    r"+o(\|\lambda\|^2)",
    Severity.SLIP,
    replaces="the integrand ⟨a, λ⟩, without an exponential",
)
def expansion_of_m_with_exponential() -> Steps:
    """With the exponential, and where M is finite near 0, M is 1 plus first moment plus half the second, up to o(‖λ‖²)."""
    yield Expansion(
        sp.exp(x * t),
        1 + x * t + x**2 * t**2 / 2,
        t,
        2,
        reason="any u: the mean over x = ⟨W, λ⟩ may be taken term by term where M is finite near 0",
        quotes=(MOMENT_GENERATING_ANALYTIC,),
    )
    yield moments(raw(lam, 2) / 2)


expansion_of_m.twin("without 1/2!", lambda: moments(raw(lam, 2)))
expansion_of_m.twin("the covariance for the second moment", lambda: moments(quadratic(lam) / 2))


gradient = at_zero(derivative(partition(lam), lam[a]))


def toward_zero(entry: sp.Expr, right: sp.Expr, *others: sp.Expr) -> Expansion:
    """A derivative of M at tλ, by one entry of λ or more, is this and o(1) as t → 0."""
    slope = derivative(partition(lam), entry)
    for other in others:
        slope = derivative(slope, other)
    at_ray = normal(slope).replace(lambda e: isinstance(e, sp.Indexed) and e.base == lam, lambda e: t * e)
    return Expansion(at_ray, right, t, 0, reason="Σ_i u_i (t_i)_a e^⟨t_i, tλ⟩; (t_i)_b comes with ∂/∂λ_b")


@claim(
    "deciphering.27",
    "identity",
    title="The gradient of M at 0 is the mean",
    hypotheses=GIVEN,
    latex=r"M'(0)=\int a\,u(a)\,da=\mu",
    needs=("deciphering.26",),
)
def gradient_at_zero() -> Steps:
    """The first derivative at 0 is the mean of u."""
    yield toward_zero(lam[a], mu(a))


gradient_at_zero.twin("the sign", lambda: toward_zero(lam[a], -mu(a)))
gradient_at_zero.twin("twice the mean", lambda: toward_zero(lam[a], 2 * mu(a)))


def second_moment(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Σ_i u_i (t_i)_a (t_i)_b."""
    return total(i, u[i] * T[i, row] * T[i, column])


hessian = at_zero(derivative(derivative(partition(lam), lam[a]), lam[b]))


@claim(
    "deciphering.28",
    "identity",
    title="The Hessian of M at 0 is the second moment",
    hypotheses=GIVEN,
    latex=r"M''(0)=\int aa^\top u(a)\,da",
    needs=("deciphering.26", "deciphering.27"),
)
def hessian_at_zero() -> Steps:
    """The second derivative at 0 is the matrix of raw second moments."""
    yield toward_zero(lam[a], second_moment(a, b), lam[b])


hessian_at_zero.twin("the covariance", lambda: toward_zero(lam[a], covariance(a, b), lam[b]))
hessian_at_zero.twin("the outer product of the mean", lambda: toward_zero(lam[a], mu(a) * mu(b), lam[b]))


def logarithm(of: sp.Expr, second: sp.Expr = -(t**2) / 2, last: sp.Expr = -(t**4) / 4) -> Expansion:
    """log(1 + of) = t − t²/2 + t³/3 − t⁴/4 + o(t⁴), or with other terms."""
    return Expansion(sp.log(1 + of), t + second + t**3 / 3 + last, t, 4)


positive_x = sp.exp(x) - 1


@claim(
    "deciphering.29",
    "asymptotic",
    title="Series of the logarithm",
    latex=r"\log(1+x)=t-\tfrac{t^2}2+\tfrac{t^3}3-\tfrac{t^4}4+\cdots=t-\tfrac{t^2}2+o(t^2)",
)
def series_of_logarithm() -> Steps:
    """The logarithm of 1 + x is expanded in powers of another letter, t."""
    yield Fails(logarithm(positive_x), reason="the left side has no t")


@series_of_logarithm.corrected(
    r"\log(1+t)=t-\tfrac{t^2}2+\tfrac{t^3}3-\tfrac{t^4}4+\cdots=t-\tfrac{t^2}2+o(t^2)",
    Severity.SLIP,
    replaces="the letter x of the left side",
)
def series_in_one_letter() -> Steps:
    """The logarithm of 1 + t has the coefficients (−1)^(r+1)/r, and the first two terms are right up to o(t²)."""
    yield Expansion(sp.log(1 + t), t - t**2 / 2, t, 2, reason="up to o(t²)")
    yield logarithm(t)


series_of_logarithm.twin("− t⁴/24, as for the exponential", lambda: logarithm(t, last=-(t**4) / 24))
series_of_logarithm.twin("the sign of t⁴", lambda: logarithm(t, last=t**4 / 4))


def log_of_m(second: sp.Expr) -> Expansion:
    """log(1 + y) = m₁t + second·t² + ρt² + o(t²), with the o(t²) uniform in |ρ| ≤ 1."""
    return Expansion(
        sp.log(1 + y),
        m1 * t + second * t**2 + rho * t**2,
        t,
        2,
        reason="coefficients polynomial in ρ; ρ → 0 puts ρt² into o(t²)",
    )


@claim(
    "deciphering.sA.series-inserted",
    "asymptotic",
    title="The series inserted",
    needs=("deciphering.26", "deciphering.29"),
    latex=r"\log M(\lambda)=y-\tfrac12y^2+o(y^2),\quad y=\langle M'(0),\lambda\rangle"
    r"+\tfrac12\langle\lambda,M''(0)\lambda\rangle+o(\|\lambda\|^2)",
    hypotheses=GIVEN,
)
def series_inserted() -> Steps:
    """The expansion of M less 1 takes the place of the variable in the series of the logarithm."""
    yield Expansion(sp.log(1 + x), x - x**2 / 2, x, 2, reason="up to o(x²); x = y, and y → 0 with λ")
    yield inserted(sp.Rational(1, 2))


def inserted(half: sp.Expr) -> Expansion:
    """log(1 + y) = y − half·y² + o(t²)."""
    return Expansion(sp.log(1 + y), y - half * y**2, t, 2, reason="the next term y³/3 is O(t³)")


series_inserted.twin("1/2 is lost", lambda: inserted(sp.S.One))
series_inserted.twin("the sign of the square", lambda: inserted(-sp.Rational(1, 2)))


@claim(
    "deciphering.sA.little-o",
    "asymptotic",
    title="o of the square is o(‖λ‖²)",
    needs=("deciphering.sA.series-inserted",),
    latex=r"o(y^2)=o(\|\lambda\|^2)",
    hypotheses=GIVEN,
)
def little_o() -> Steps:
    """What is small beside y² is small beside ‖λ‖², since y² = ⟨M'(0), λ⟩² t² + o(t²)."""
    yield Expansion(y**2, m1**2 * t**2, t, 2, reason="y²/t² is bounded as t → 0, also where m₁ = 0", about=(rho,))


little_o.twin("the second moment", lambda: Expansion(y**2, m2 * t**2, t, 2))
little_o.twin("twice the square", lambda: Expansion(y**2, 2 * m1**2 * t**2, t, 2))


@claim(
    "deciphering.sA.collected",
    "asymptotic",
    title="Terms of the second order collected",
    needs=("deciphering.sA.little-o",),
    hypotheses=GIVEN,
    latex=r"=\langle M'(0),\lambda\rangle+\tfrac12\left(\langle\lambda,M''(0)\lambda\rangle"
    r"-\langle M'(0),\lambda\rangle^2\right)+o(\|\lambda\|^2)",
)
def collected() -> Steps:
    """Two terms are of the second order: half the second moment, less half the square of the first."""
    yield log_of_m((m2 - m1**2) / 2)


collected.twin("the square is added", lambda: log_of_m((m2 + m1**2) / 2))
collected.twin("the square without 1/2", lambda: log_of_m(m2 / 2 - m1**2))


def along_the_ray(second: sp.Expr) -> Expansion:
    """log M(tλ) = t⟨μ, λ⟩ + t²·second + o(t²)."""
    return Expansion(sp.log(partition(ray)), t * linear(lam) + t**2 * second, t, 2)


@claim(
    "deciphering.sA.result",
    "asymptotic",
    title="Mean and covariance",
    needs=("deciphering.sA.collected", "deciphering.27"),
    latex=r"\log M(\lambda)=\cdots=\langle\mu,\lambda\rangle+\tfrac12\lambda^\top\Sigma\lambda+o(\|\lambda\|^2)",
    hypotheses=("u has bounded moments",),
)
def result() -> Steps:
    """The derivation concludes that log M has this expansion for every u with bounded moments."""
    yield from no_expansion()
    yield log_normal_exceeds()


@result.corrected(
    r"\log M(\lambda)=\langle\mu,\lambda\rangle+\tfrac12\lambda^\top\Sigma\lambda+o(\|\lambda\|^2)",
    Severity.HYPOTHESIS,
    under=NEAR_0,
    replaces="the hypothesis of bounded moments, under which the left side may be infinite near 0",
)
def result_near_zero() -> Steps:
    """Where M is finite near 0 the second-order term is half the variance of ⟨W, λ⟩."""
    yield Equation(raw(lam, 2) - linear(lam) ** 2, quadratic(lam), reason="E⟨W, λ⟩² − ⟨μ, λ⟩² = ⟨λ, Σλ⟩")
    yield along_the_ray(quadratic(lam) / 2)


result.twin("1/2 is lost", lambda: along_the_ray(quadratic(lam)))
result.twin("the sign of the variance", lambda: along_the_ray(-quadratic(lam) / 2))


@claim(
    "deciphering.sA.covariance",
    "identity",
    title="The covariance from the derivatives of M",
    hypotheses=GIVEN,
    latex=r"\Sigma=M''(0)-M'(0)M'(0)^\top=\int(a-\mu)(a-\mu)^\top u(a)\,da",
    needs=("deciphering.27", "deciphering.28"),
)
def covariance_of_u() -> Steps:
    """Second derivative less the square of the first, at 0, is the matrix of central second moments."""
    yield Equation(difference(), covariance(a, b), reason="Σ u (t − μ)(t − μ)ᵀ = Σ u t tᵀ − μμᵀ")


def difference() -> sp.Expr:
    """M''(0)_ab − M'(0)_a M'(0)_b."""
    return hessian - gradient * at_zero(derivative(partition(lam), lam[b]))


covariance_of_u.twin("the raw second moment", lambda: Equation(difference(), second_moment(a, b)))
covariance_of_u.twin("the square is added", lambda: Equation(difference(), second_moment(a, b) + mu(a) * mu(b)))
covariance_of_u.twin("only the variances", lambda: Equation(difference(), covariance(a, b) * sp.KroneckerDelta(a, b)))
