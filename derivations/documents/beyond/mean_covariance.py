"""The exact query as the solution of a linear system, and the error of the approximate system that is solved instead.

Claims     beyond.mean-covariance       λ* = α(I + αS)⁻¹z, S = ∫₀¹ Cov(tλ*) dt
           beyond.resolvent-contracts   ‖x‖ ≤ ‖(I + αΣ)x‖: w is at least as near to λ* as (I + αΣ)λ* is to αz
           beyond.resolvent-error       ‖(I + αΣ)λ* − αz‖ ≤ αD³/(12√3) ‖λ*‖²
Notation   λ = λ* and z = λ*/α + ĥ − μ, of which λ* maximizes the dual; h(x) the mean of tilt(x), Cov(x) its covariance, so that
           Cov(0) = Σ; w = α(I + αΣ)⁻¹z, which (15) of `deciphering` puts in the place of λ*; t a number; x any vector;
           in `beyond.resolvent-error` templates t_i = D/2 b_i with b_i = y_i/√(1 + ‖y_i‖²) of a ball of diameter D: its center
           does not matter, as neither Σ nor ĥ − μ depend on it
References (15) of `deciphering`, whose error is −α³κ₃(z, z, ·)/2 + o(α³)

(I + αΣ)λ* − αz is −α ∫₀¹ (1 − t) κ₃(λ*, λ*, ·) dt with the third cumulants of tilt(tλ*), and no law on an interval of length D
has a third central moment above D³/(6√3).  With `beyond.shrinkage` and `beyond.resolvent-contracts`, `beyond.resolvent-error`
gives ‖λ* − w‖ ≤ α³‖z‖² D³/(12√3).  This paragraph is an argument in words; of the last claim only numbers are computed.
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.beyond.exact_attention import own, product
from derivations.documents.deciphering.notation import T, a, alpha, b, covariance, d, i, k, lam, mean, mu, n, tilt, u
from derivations.documents.deciphering.section6_theorem1 import FINITE, tilted
from derivations.vocabulary import *

FUNDAMENTAL = Theorem(
    "fundamental theorem of calculus",
    "What a function gains over an interval is the integral of its continuous derivative.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 6.21",
)
t, x = scalar("t"), vector("x", d)


# ── the mean covariance ─────────────────────────────────────────────────────────────────────────────────────────────


def part(entry: sp.Expr) -> sp.Expr:
    """tλ_a."""
    return t * lam[entry]


def centered(template: sp.Expr, entry: sp.Expr) -> sp.Expr:
    """(t_i − h(tλ))_a."""
    return T[template, entry] - mean(tilt(part))(entry)


def along(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Cov(tλ)_ab."""
    return total(i, tilt(part)(i) * centered(i, row) * centered(i, column))


def slope(right: sp.Expr) -> Equation:
    """d/dt h(tλ)_a."""
    return Equation(
        derivative(mean(tilt(part))(a), t),
        right,
        quotes=(FUNDAMENTAL,),
        reason="integrated over t from 0 to 1, ĥ − μ = Sλ*: so (I + αS)λ* = αz",
    )


@claim(
    "beyond.mean-covariance",
    "identity",
    title="The exact query solves a linear system with a mean covariance",
    hypotheses=FINITE,
    needs=("deciphering.9",),
    latex=r"\lambda^*=\alpha(I+\alpha S)^{-1}z,\quad S=\int_0^1\mathrm{Cov}_{p_{t\lambda^*}}[a]\,dt",
)
def mean_covariance() -> Steps:
    """Exact, for every α: the resolvent of (15) with the covariance of u replaced by its mean on the way from 0 to λ*."""
    yield Equation(alpha * own(a), lam[a] + alpha * (mean(tilted)(a) - mu(a)), reason="αz is λ* + α(ĥ − μ);")
    square = total(i, tilt(part)(i) * total(a, centered(i, a) * x[a]) ** 2)
    yield AtLeast(
        total((a, b), x[a] * along(a, b) * x[b]),
        sp.S.Zero,
        because=square,
        reason="no covariance has a negative direction, nor has their mean S, so I + αS is invertible;",
    )
    yield slope(total(b, along(a, b) * lam[b]))


mean_covariance.twin("the covariance of u", lambda: slope(total(b, covariance(a, b) * lam[b])))
mean_covariance.twin("twice as much", lambda: slope(2 * total(b, along(a, b) * lam[b])))


# ── the covariance of u in its place ────────────────────────────────────────────────────────────────────────────────


def spread(entry: sp.Expr) -> sp.Expr:
    """(Σx)_a."""
    return total(b, covariance(entry, b) * x[b])


def stretched(right: sp.Expr) -> AtLeast:
    """‖(I + αΣ)x‖² ≥ right."""
    length = total(a, (x[a] + alpha * spread(a)) ** 2)
    variance = total(i, u[i] * total(a, (T[i, a] - mu(a)) * x[a]) ** 2)
    return AtLeast(
        length,
        right,
        because=2 * alpha * variance + alpha**2 * total(a, spread(a) ** 2),
        reason="⟨x, Σx⟩ is the variance of ⟨t, x⟩",
    )


@claim(
    "beyond.resolvent-contracts",
    "inequality",
    title="The resolvent lengthens no error",
    hypotheses=FINITE,
    needs=("deciphering.s6.invertible",),
    latex=r"\|x\|\le\|(I+\alpha\Sigma)x\|",
)
def resolvent_contracts() -> Steps:
    """What (I + αΣ)λ* lacks to αz bounds what λ* lacks to α(I + αΣ)⁻¹z."""
    yield stretched(product(x, x))


resolvent_contracts.twin(
    "with α⟨x, Σx⟩ four times",
    lambda: stretched(product(x, x) + 4 * alpha * product(x, spread) + 2 * alpha**2 * product(spread, spread)),
)
resolvent_contracts.twin("twice", lambda: stretched(2 * product(x, x)))


y, D = vector("y", n, d), positive("D")


def template(which: sp.Expr, entry: sp.Expr) -> sp.Expr:
    """(t_i)_a = D/2 y_ia/√(1 + ‖y_i‖²)."""
    return D / 2 * y[which, entry] / sp.sqrt(1 + total(b, y[which, b] ** 2))


def weight(which: sp.Expr) -> sp.Expr:
    """exp⟨t_i, λ⟩."""
    return sp.exp(total(a, template(which, a) * lam[a]))


def center(law: Entry) -> Entry:
    """a ↦ Σ_i law_i (t_i)_a."""
    return lambda entry: total(i, law(i) * template(i, entry))


def exact(which: sp.Expr) -> sp.Expr:
    """p*_i."""
    return u[which] * weight(which) / total(k, u[k] * weight(k))


def bent(entry: sp.Expr) -> sp.Expr:
    """(ĥ − μ − Σλ*)_a, Σλ* = Σ_i u_i (t_i − μ)⟨t_i, λ*⟩."""
    linear = total(i, u[i] * (template(i, entry) - center(u)(entry)) * total(b, template(i, b) * lam[b]))
    return center(exact)(entry) - center(u)(entry) - linear


def curvature(factor: sp.Expr) -> AtLeast:
    """factor · D⁶‖λ*‖⁴ ≥ ‖ĥ − μ − Σλ*‖²."""
    return AtLeast(
        factor * D**6 * total(a, lam[a] ** 2) ** 2,
        product(bent, bent),
        at=SKEWED,
        reason="|κ₃| ≤ D³/(6√3) along every direction, and so ‖κ₃(λ, λ, ·)‖ ≤ D³/(6√3) ‖λ‖²",
    )


SKEWED: dict[Variable, Value] = {
    n: 2,
    d: 1,
    u.label: [Fraction(789, 1000), Fraction(211, 1000)],
    y.label: [[-1000], [1000]],
    lam.label: [Fraction(1, 20)],
    D: 2,
}
"""The two templates, at the ends of the interval, whose law has the largest third central moment, and a short query."""


@claim(
    "beyond.resolvent-error",
    "inequality",
    title="How far off the resolvent is, for every α",
    hypotheses=(*FINITE, "the templates lie in a ball of diameter D"),
    needs=("beyond.resolvent-contracts", "beyond.shrinkage", "deciphering.15"),
    latex=r"\|(I+\alpha\Sigma)\lambda^*-\alpha z\|=\alpha\|\hat h-\mu-\Sigma\lambda^*\|"
    r"\le\frac{\alpha D^3}{12\sqrt3}\,\|\lambda^*\|^2",
)
def resolvent_error() -> Steps:
    """The constant is the largest third central moment, halved; a skewed law on two templates attains it as z → 0."""
    residual = lam[a] + alpha * total(b, covariance(a, b) * lam[b]) - alpha * own(a)
    yield Equation(
        residual, -alpha * (mean(tilted)(a) - mu(a) - total(b, covariance(a, b) * lam[b])), reason="αz is λ* + α(ĥ − μ);"
    )
    yield curvature(sp.Rational(1, 432))


resolvent_error.twin("half of it", lambda: curvature(sp.Rational(1, 1728)))
resolvent_error.twin("three quarters of it", lambda: curvature(sp.Rational(9, 16 * 432)))
