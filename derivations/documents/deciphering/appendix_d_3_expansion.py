"""Appendix D, third part: the cumulant expansion of the dual.

Claims     deciphering.42                   log Σ_t' exp((⟨t', λ⟩ − M(t, t'))/γ) = log M_t(λ/γ) + log Z(t)
           deciphering.43                   log M_t(λ/γ) = ⟨μ_t, λ⟩/γ + ½⟨λ, Σ_t λ⟩/γ² + O(‖λ/γ‖³)
           deciphering.sD.cumulant          log M_t(sv/γ) = κ₁s/γ + κ₂(s/γ)²/2 + κ₃(s/γ)³/6 + o(s³)  (corrected)
           deciphering.sD.dual-third-line   ⟨Σ_t u(t)μ_t, λ⟩ + Σ_t u(t)⟨λ, Σ_t λ⟩/(2γ), both sums over t  (corrected)
Notation   q_t(t') = exp(−M(t, t')/γ)/Z(t), normalized over M's second argument, as printed; where M does not matter, q_t is any
           distribution Q_t·; μ_t, Σ_t its mean and covariance; v a direction, λ = s v
References Appendix D of the document, from "The derivation of (25)"
"""

import sympy as sp

from derivations.documents.deciphering.appendix_d_1_dual import printed_dual
from derivations.documents.deciphering.notation import a, alpha, b, d, lam, z
from derivations.documents.deciphering.notation_transport import (
    M,
    N,
    Q,
    T,
    base_covariance,
    base_mean,
    gamma,
    i,
    j,
    l,
    origin,
    scores,
    u,
)
from derivations.vocabulary import *

LINE: dict[Variable, Value] = {N: 2, d: 1, T.label: [[0], [1]], gamma: 1, j: 1}
FLAT: dict[Variable, Value] = {**LINE, u.label: [1, 0]}
NEAR = [[sp.Rational(3, 4), sp.Rational(1, 4)], [sp.Rational(1, 4), sp.Rational(3, 4)]]
s = positive("s")
v, mass = vector("v", d), vector("Z", N, kind=Positive)


def along(entry: sp.Expr) -> sp.Expr:
    """s v_a."""
    return s * v[entry]


def over_gamma(dual: Entry) -> Entry:
    """λ/γ."""
    return lambda entry: dual(entry) / gamma


def inner_sum_of(of: sp.Expr, cost: Entries) -> sp.Expr:
    """Σ_t' exp((⟨t', λ⟩ − M(t, t'))/γ)."""
    return total(i, sp.exp((scores(lam)(i) - cost(of, i)) / gamma))


def Z(of: sp.Expr, cost: Entries) -> sp.Expr:  # noqa: N802
    """Z(t) = Σ_t' exp(−M(t, t')/γ)."""
    return total(l, sp.exp(-cost(of, l) / gamma))


def q(of: sp.Expr, cost: Entries) -> Entry:
    """t' ↦ q_t(t')."""
    return lambda to: sp.exp(-cost(of, to) / gamma) / Z(of, cost)


def printed_mean(of: sp.Expr, cost: Entries) -> sp.Expr:
    """(μ_t)_a = Σ_t' q_t(t') t'_a."""
    return total(i, q(of, cost)(i) * T[i, a])


def moment_generating(of: sp.Expr, dual: Entry) -> sp.Expr:
    """M_t(λ) = Σ_t' q_t(t') exp⟨t', λ⟩ for any distribution q_t = Q_t·."""
    return total(i, Q[of, i] * sp.exp(scores(dual)(i)))


# ── one template ────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.sD.conditional",
    "definition",
    title="The distribution q_t and its moment generating function",
    latex=r"q_t(t')=e^{-M(t,t')/\gamma}/Z(t),\ Z(t)=\sum_{t'}e^{-M(t,t')/\gamma}",
)
def conditional_distribution() -> Steps:
    """q_t is a distribution on all templates, without zeros, and its moment generating function is 1 at 0."""
    yield AtLeast(q(j, M)(i), 0, strict=True, reason="positive")
    yield Equation(moment_generating(j, origin), 1, about=(Q[j, i],), reason="M_t(0) is the mass")
    yield Equation(total(i, q(j, M)(i)), 1, about=(Z(j, M),), reason="which is 1 for every M")


@claim(
    "deciphering.42",
    "identity",
    title="The inner sum through the moment generating function",
    needs=("deciphering.sD.conditional",),
    latex=r"\log\sum_{t'}e^{((t')^\top\lambda-M(t,t'))/\gamma}=\log\mathcal M_t(\lambda/\gamma)+\log Z(t)",
)
def inner_sum() -> Steps:
    """The logarithm of the inner sum splits into the cumulant function of q_t at λ/γ and a constant; true for every M."""
    split = total(i, sp.exp(-M[j, i] / gamma) * sp.exp(scores(lam)(i) / gamma))
    yield Equation(inner_sum_of(j, M), split, reason="the exponential of a difference")
    yield Equation(split, total(i, q(j, M)(i) * Z(j, M) * sp.exp(scores(lam)(i) / gamma)), reason="q_t Z(t)")
    yield logarithm(written_out(gamma), sp.S.One)


def written_out(scale: sp.Expr) -> sp.Expr:
    """M_t(λ/scale) with q_t written out."""
    return total(i, q(j, M)(i) * sp.exp(scores(lam)(i) / scale))


def logarithm(generating: sp.Expr, times: sp.Expr) -> Equation:
    """log Σ_t' exp((⟨t', λ⟩ − M(t, t'))/γ)."""
    right = sp.log(generating) + times * sp.log(Z(j, M))
    return Equation(sp.log(inner_sum_of(j, M)), right, reason="Z(t) leaves the sum")


inner_sum.twin("λ, not λ/γ", lambda: logarithm(written_out(sp.S.One), sp.S.One))
inner_sum.twin("Z(t) twice", lambda: logarithm(written_out(gamma), sp.Integer(2)))


def linear(of: sp.Expr, dual: Entry) -> sp.Expr:
    """⟨μ_t, λ⟩."""
    return total(a, base_mean(of, a) * dual(a))


def quadratic(of: sp.Expr, dual: Entry) -> sp.Expr:
    """⟨λ, Σ_t λ⟩."""
    return total((a, b), dual(a) * base_covariance(of, a, b) * dual(b))


def cumulants(right: sp.Expr, order: int) -> Expansion:
    """log M_t(s v/γ) to some order in s, for any distribution q_t on 𝒜."""
    return Expansion(
        sp.log(moment_generating(j, over_gamma(along))),
        right,
        s,
        order,
        reason="for every direction v; 𝒜 is finite, so all is analytic in λ",
    )


def two_terms(half: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """⟨μ_t, λ/γ⟩ + half · ⟨λ, Σ_t λ⟩/scale."""
    return linear(j, over_gamma(along)) + half * quadratic(j, along) / scale


def to_third_order(factor: sp.Expr) -> Expansion:
    """The same with a multiple of the third central moment."""
    third = total(i, Q[j, i] * total(a, (T[i, a] - base_mean(j, a)) * v[a]) ** 3)
    return cumulants(two_terms(sp.S.Half, gamma**2) + s**3 * factor / gamma**3 * third, 3)


def at_multiple(times: int) -> sp.Expr:
    """log M_t at a multiple of λ/γ."""
    return sp.log(moment_generating(j, over_gamma(lambda entry: times * lam[entry])))


@claim(
    "deciphering.sD.cumulant",
    "identity",
    title="log M_t is called the cumulant of q_t",
    needs=("deciphering.sD.conditional",),
    latex=r"\log\mathcal M_t(\lambda/\gamma)\text{ is called the cumulant of }q_t",
)
def called_cumulant() -> Steps:
    """The logarithm of the moment generating function of q_t is called its cumulant."""
    yield Fails(
        Equation(at_multiple(4) * at_multiple(1), at_multiple(2) ** 2, at={**LINE, Q.label: NEAR, lam.label: [1]}),
        reason="a cumulant of order r is homogeneous of degree r in λ, and these two would be equal for any r",
    )


@called_cumulant.corrected(
    r"\log\mathcal M_t(s\lambda/\gamma)=\textstyle\sum_r\kappa_r(\langle t',\lambda\rangle)"
    r"(s/\gamma)^r/r!",
    Severity.WORDING,
    replaces="the name “cumulant”",
)
def generates_cumulants() -> Steps:
    """It is the function that generates the cumulants: mean, variance, third central moment and so on, over r!."""
    yield cumulants(two_terms(sp.S.Half, gamma**2), 2)
    yield to_third_order(sp.Rational(1, 6))


called_cumulant.twin("half the third central moment", lambda: to_third_order(sp.S.Half))
called_cumulant.twin("the third moment's sign", lambda: to_third_order(-sp.Rational(1, 6)))


@claim(
    "deciphering.43",
    "asymptotic",
    title="The cumulant expansion of q_t",
    needs=("deciphering.42",),
    latex=r"\log\mathcal M_t(\lambda/\gamma)=\mu_t^\top(\lambda/\gamma)+\tfrac12(\lambda/\gamma)^\top\Sigma_t"
    r"(\lambda/\gamma)+\mathcal O(\|\lambda/\gamma\|^3)",
)
def cumulant_expansion() -> Steps:
    """Mean and half the variance, and a third order whose constant is a sixth of the third central moment."""
    yield to_third_order(sp.Rational(1, 6))
    yield cumulants(two_terms(sp.S.Half, gamma**2), 2)


cumulant_expansion.twin("the factor one half is lost", lambda: cumulants(two_terms(sp.S.One, gamma**2), 2))
cumulant_expansion.twin("γ for γ²", lambda: cumulants(two_terms(sp.S.Half, gamma), 2))


@claim(
    "deciphering.44",
    "identity",
    title="The mean of q_t",
    needs=("deciphering.sD.conditional",),
    latex=r"\mu_t=\sum_{t'}q_t(t')t'",
)
def mean_of_conditional() -> Steps:
    """μ_t, the mean of q_t, is the slope of its cumulant function."""
    yield cumulants(linear(j, over_gamma(along)), 1)


mean_of_conditional.twin("the plain mean", lambda: cumulants(s / gamma * total((i, a), T[i, a] * v[a]) / N, 1))
mean_of_conditional.twin("γ is lost", lambda: cumulants(linear(j, along), 1))


@claim(
    "deciphering.45",
    "identity",
    title="The covariance of q_t",
    needs=("deciphering.44",),
    latex=r"\Sigma_t=\sum_{t'}q_t(t')(t'-\mu_t)(t'-\mu_t)^\top",
)
def covariance_of_conditional() -> Steps:
    """Σ_t, the covariance of q_t, is positive semidefinite: the second moment less the square of the mean."""
    yield variance_along()
    yield second_moments(base_mean(j, a) * base_mean(j, b))


def variance_along() -> AtLeast:
    """⟨v, Σ_t v⟩ ≥ 0."""
    centred = total(a, (T[i, a] - base_mean(j, a)) * v[a])
    return AtLeast(quadratic(j, v), 0, because=total(i, Q[j, i] * centred**2), reason="a variance")


def second_moments(less: sp.Expr) -> Equation:
    """(Σ_t)_ab as a second moment less something."""
    return Equation(base_covariance(j, a, b), total(i, Q[j, i] * T[i, a] * T[i, b]) - less, reason="Σ q_t = 1")


covariance_of_conditional.twin("not centred", lambda: second_moments(sp.S.Zero))
covariance_of_conditional.twin("centred twice", lambda: second_moments(2 * base_mean(j, a) * base_mean(j, b)))


# ── the dual objective ──────────────────────────────────────────────────────────────────────────────────────────────


def mean_term(dual: Entry) -> sp.Expr:
    """⟨Σ_t u(t) μ_t, λ⟩."""
    return total(j, u[j] * linear(j, dual))


def spread_term(dual: Entry) -> sp.Expr:
    """Σ_t u(t) ⟨λ, Σ_t λ⟩."""
    return total(j, u[j] * quadratic(j, dual))


def penalized(dual: Entry) -> sp.Expr:
    """⟨μ̃ + z, λ⟩ − ‖λ‖²/(2α)."""
    return total(a, z[a] * dual(a)) - total(a, dual(a) ** 2) / (2 * alpha)


def expanded_dual(half: sp.Expr) -> Expansion:
    """The dual objective along λ = s v, to second order; Z(t) any positive numbers."""
    constant = total(j, u[j] * sp.log(mass[j]))
    whole = total(j, u[j] * sp.log(moment_generating(j, over_gamma(along)))) + constant
    bracket = mean_term(over_gamma(along)) + half * spread_term(over_gamma(along)) + constant
    return Expansion(penalized(along) - gamma * whole, penalized(along) - gamma * bracket, s, 2, reason="(43) for each t")


@claim(
    "deciphering.sD.dual-expanded",
    "asymptotic",
    title="The dual objective to second order",
    needs=("deciphering.39", "deciphering.42", "deciphering.43"),
    latex=r"\langle\tilde\mu+z,\lambda\rangle-\tfrac1{2\alpha}\|\lambda\|^2-\gamma\left[\left(\sum_tu(t)\mu_t\right)^\top"
    r"(\lambda/\gamma)+\tfrac12\sum_tu(t)(\lambda/\gamma)^\top\Sigma_t(\lambda/\gamma)"
    r"+\mathcal O(\|\lambda/\gamma\|^3)+\sum_tu(t)\log Z(t)\right]",
)
def dual_expanded() -> Steps:
    """(42) and (43) put into the dual objective; the last term does not depend on λ, so the next line may drop it."""
    logs = total(j, u[j] * (sp.log(written_out(gamma)) + sp.log(Z(j, M))))
    yield Equation(printed_dual(lam, z, M), penalized(lam) - gamma * logs, reason="(42) in (39)")
    yield expanded_dual(sp.S.Half)


dual_expanded.twin("the factor one half is lost", lambda: expanded_dual(sp.S.One))
dual_expanded.twin("the variance is rewarded", lambda: expanded_dual(-sp.S.Half))


@claim(
    "deciphering.sD.dual-third-line",
    "identity",
    title="The bracket multiplied out",
    needs=("deciphering.sD.dual-expanded",),
    latex=r"\left[\left(\sum_iu(t)\mu_t\right)^\top\lambda+\tfrac1{2\gamma}\sum_tu(t)(\lambda^\top\Sigma_t\lambda)"
    r"+\gamma\mathcal O(\|\lambda/\gamma\|^3)\right]",
)
def third_line() -> Steps:
    """γ times the bracket; the first sum is printed over an index i that its terms do not have."""
    one_template = N * u[j] * linear(j, lam)
    yield Fails(
        Equation(bracket(), one_template + spread_term(lam) / (2 * gamma), at={**FLAT, Q.label: NEAR, lam.label: [1]}),
        reason="Σ_i u(t)μ_t, for a fixed t, is N u(t)μ_t",
    )


def bracket() -> sp.Expr:
    """γ[⟨Σ_t u(t) μ_t, λ/γ⟩ + ½ Σ_t u(t) ⟨λ/γ, Σ_t λ/γ⟩]."""
    return gamma * (mean_term(over_gamma(lam)) + spread_term(over_gamma(lam)) / 2)


@third_line.corrected(
    r"\left(\sum_{t\in\mathcal A}u(t)\mu_t\right)^\top\lambda+\tfrac1{2\gamma}\sum_tu(t)(\lambda^\top\Sigma_t"
    r"\lambda)",
    Severity.SLIP,
)
def third_line_over_templates() -> Steps:
    """The sum runs over the templates t."""
    yield multiplied_out(mean_term(lam), gamma)


def multiplied_out(means: sp.Expr, below: sp.Expr) -> Equation:
    """The bracket's first term and its second one over 2·below."""
    return Equation(bracket(), means + spread_term(lam) / (2 * below), reason="γ/γ = 1, γ/γ² = 1/γ")


third_line.twin("γ is lost", lambda: multiplied_out(mean_term(lam), sp.S.One))
third_line.twin("the plain mean of the μ_t", lambda: multiplied_out(total(j, linear(j, lam)) / N, gamma))
