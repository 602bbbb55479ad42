"""Appendix D, fourth part: the approximate maximizer of the dual, from its quadratic approximation.

Claims     deciphering.46             Σ_t u(t)μ_t = Σ_t u(t) Σ_t' q_t(t')t' = μ̃, for symmetric M  (corrected)
           deciphering.sD.quadratic   λ* = ν + O(α³)
           deciphering.sD.resolvent   ν = (I + (α/γ)Σ̄)⁻¹(αz)  (corrected)
           deciphering.sD.linear      λ* = αz − (α²/γ)Σ̄z + O(α³)  (corrected)
Notation   that of `appendix_d_3_expansion`; Q(λ) the quadratic approximation of the dual objective, ν its maximizer,
           Σ̄ = Σ_t u(t) Σ_t; B, C any matrix and any array
References Appendix D of the document, after the expansion of (39)
"""

import sympy as sp

from derivations.documents.deciphering.appendix_d_3_expansion import (
    FLAT,
    mean_term,
    penalized,
    printed_mean,
    s,
    spread_term,
    variance_along,
)
from derivations.documents.deciphering.notation import a, alpha, c, d, lam, z
from derivations.documents.deciphering.notation_transport import (
    FOOTNOTE,
    NEAR,
    SMALL,
    TWO,
    M,
    N,
    Q,
    S,
    T,
    Y,
    base_covariance,
    base_mean,
    dual_slope,
    gamma,
    i,
    j,
    k,
    linear_dual,
    maximizer,
    mean,
    nu,
    spread,
    swapped,
    symmetric,
    tilted,
    true_mean,
    u,
)
from derivations.vocabulary import *

e, h = index("e", d), index("h", d)
B, C = vector("B", d, d), vector("C", d, d, d)

resolved = Solves(nu, lambda n_: lambda x: z[x] - total(c, spread(x, c) * n_(c)) / gamma)
"""The maximizer ν of Q(λ) as a function of α: ν = α(z − Σ̄ν/γ)."""


@claim(
    "deciphering.sD.quadratic",
    "asymptotic",
    title="The maximizer of the quadratic approximation",
    hypotheses=(SMALL,),
    needs=("deciphering.39", "deciphering.sD.dual-expanded"),
    latex=r"\lambda^*\approx\arg\max_\lambda\langle\tilde\mu+z,\lambda\rangle-\tfrac1{2\alpha}\|\lambda\|^2-"
    r"\left[\left(\sum_tu(t)\mu_t\right)^\top\lambda+\tfrac1{2\gamma}\sum_tu(t)(\lambda^\top\Sigma_t\lambda)\right]",
)
def quadratic_maximizer() -> Steps:
    """Without the third order the maximizer moves by O(α³) only: it agrees with λ* to second order."""
    yield mean_to_second_order()
    yield cubic_effect()
    yield off_by(sp.S.Zero)


def mean_to_second_order() -> Expansion:
    """The mean of the weights at λ = s v, with Y_i = ⟨t_i, v⟩: B = Σ̄/γ and C[v, v] = third moment/γ²."""

    def off(power: int) -> sp.Expr:
        centred = Y[i] - total(k, Q[j, k] * Y[k])
        return total((i, j), u[j] * Q[j, i] * (T[i, a] - base_mean(j, a)) * centred**power) / gamma**power

    tilted = total((i, j), u[j] * Q[j, i] * T[i, a] * sp.exp(s * Y[i] / gamma) / total(k, Q[j, k] * sp.exp(s * Y[k] / gamma)))
    start = total(j, u[j] * base_mean(j, a))
    return Expansion(tilted, start + s * off(1) + s**2 / 2 * off(2), s, 2, reason="cumulants of each q_t, one order further")


def cubic_effect() -> Expansion:
    """Where λ = α(z − Bλ − C[λ, λ]/2) and ν = α(z − Bν), λ − ν = −(α³/2) C[z, z] + o(α³)."""

    def twice(x: Entry, entry: sp.Expr) -> sp.Expr:
        return total((e, h), C[entry, e, h] * x(e) * x(h)) / 2

    bent = Solves(lam, lambda x: lambda entry: z[entry] - total(c, B[entry, c] * x(c)) - twice(x, entry))
    straight = Solves(nu, lambda x: lambda entry: z[entry] - total(c, B[entry, c] * x(c)))
    return Expansion(
        lam[a] - nu[a],
        -(alpha**3) * twice(z, a),
        alpha,
        3,
        where=(bent, straight),
        reason="so λ* − ν = −(α³/(2γ²)) Σ_t u(t) E_t[(t' − μ_t)⟨t' − μ_t, z⟩²] + O(α⁴)",
    )


def off_by(right: sp.Expr) -> Expansion:
    """λ* − ν to second order."""
    return Expansion(
        lam[a] - nu[a],
        right,
        alpha,
        2,
        where=(maximizer, resolved),
        about=(Q[i, j],),
        reason="both solve λ = α(z − Σ̄λ/γ) + O(α³)",
    )


quadratic_maximizer.twin("the error of αz", lambda: off_by(-(alpha**2) / gamma * total(c, spread(a, c) * z[c])))
quadratic_maximizer.twin("an error of size α² z", lambda: off_by(alpha**2 * z[a]))


def mean_spread(at: Entry) -> sp.Expr:
    """(1/γ) (Σ̄λ)_a."""
    return total((j, c), u[j] * base_covariance(j, a, c) * at(c)) / gamma


def average_mean() -> sp.Expr:
    """(Σ_t u(t) μ_t)_a."""
    return total(j, u[j] * base_mean(j, a))


NOT_OF_THE_DUAL = (
    "λ* maximizes (39), so that μ̃ + z = λ*/α + Σ_j u_j Σ_i q_λ*(i|j) t_i; the maximizer ν of the approximation "
    "makes this zero, and λ* = ν + O(α³) by deciphering.sD.quadratic, as in deciphering.15"
)
AWAY: dict[Variable, Value] = {**TWO, d: 1, u.label: [1, 0], T.label: [[0], [1]], gamma: 1, lam.label: [1], a: 1}
"""Two templates, 0 and 1, with Σ̄ = 3/16, and λ* = 1."""
STAR = "λ*, by the maximizer ν of the quadratic approximation"


def own_target() -> sp.Expr:
    """(μ̃ + z)_a, for which λ maximizes (39)."""
    return lam[a] / alpha + mean(tilted(lam))(a)


def own_evidence() -> sp.Expr:
    """z_a for that target: μ̃ is the mean of the μ_t."""
    return own_target() - average_mean()


def slope_of_quadratic(means: sp.Expr, factor: sp.Expr) -> Equation:
    """∂Q/∂λ_a against (μ̃ + z)_a − λ_a/α − means − factor · (1/γ)(Σ̄λ)_a."""
    approximation = penalized(lam) - (mean_term(lam) + spread_term(lam) / (2 * gamma))
    right = z[a] - lam[a] / alpha - means - factor * mean_spread(lam)
    return Equation(derivative(approximation, lam[a]), right, reason="Σ_t is symmetric")


@claim(
    "deciphering.sD.stationarity",
    "identity",
    title="Stationarity of the quadratic approximation",
    needs=("deciphering.sD.quadratic",),
    latex=r"(\tilde\mu+z)-\tfrac1\alpha\lambda^*-\sum_tu(t)\mu_t-\tfrac1\gamma\sum_tu(t)\Sigma_t\lambda^*=0",
)
def stationarity() -> Steps:
    """The gradient of the quadratic approximation is set to zero at λ*, the maximizer of (39) itself."""
    yield Fails(Equation(own_target() - lam[a] / alpha - average_mean() - mean_spread(lam), 0, at=AWAY), reason=NOT_OF_THE_DUAL)


@stationarity.corrected(
    r"(\tilde\mu+z)-\tfrac1\alpha\nu-\sum_tu(t)\mu_t-\tfrac1\gamma\sum_tu(t)\Sigma_t\nu=0,\quad"
    r"\nu\text{ the maximizer of the approximation}",
    Severity.SLIP,
    replaces=STAR,
)
def stationarity_of_approximation() -> Steps:
    """The gradient of the quadratic approximation is the left side, which its own maximizer ν makes zero."""
    yield slope_of_quadratic(average_mean(), sp.S.One)


stationarity.twin("a factor one half", lambda: slope_of_quadratic(average_mean(), sp.S.Half))
stationarity.twin("the means are left out", lambda: slope_of_quadratic(sp.S.Zero, sp.S.One))


@claim(
    "deciphering.46",
    "identity",
    title="The mean of the means is μ̃",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.35", "deciphering.44"),
    latex=r"\sum_tu(t)\mu_t=\sum_{i=1}^Nu(t)\sum_{t'}q_t(t')t'=\sum_{t,t'}u(t)\frac{e^{-M(t,t')/\gamma}}"
    r"{\sum_{t''}e^{-M(t,t'')/\gamma}}t'=\tilde\mu",
)
def mean_of_means() -> Steps:
    """Averaged over u the means μ_t give μ̃; in the second expression the sum runs over an i that its terms do not have."""
    yield Fails(
        Equation(averaged_mean(symmetric), N * u[j] * printed_mean(j, symmetric), at={**FLAT, S.label: [[0, 0], [1, 0]], a: 1}),
        reason="Σ_{i=1}^N u(t)μ_t, for a fixed t, is N u(t)μ_t",
    )


def averaged_mean(cost: Entries) -> sp.Expr:
    """Σ_t u(t) μ_t, with q_t normalized over M's second argument, as in (42)."""
    return total(j, u[j] * printed_mean(j, cost))


def averaged(right: sp.Expr) -> Equation:
    """Σ_t u(t) μ_t for symmetric M."""
    return Equation(averaged_mean(symmetric), right, reason="M(t, t') = M(t', t)")


@mean_of_means.corrected(r"\sum_{t\in\mathcal A}u(t)\mu_t=\sum_{t\in\mathcal A}u(t)\sum_{t'}q_t(t')t'=\tilde\mu", Severity.SLIP)
def mean_of_means_over_templates() -> Steps:
    """With the sum over t it is true for symmetric M; for others it would take q_t from M(t', t)."""
    yield Fails(
        Equation(
            averaged_mean(M),
            true_mean(M)(a),
            at={N: 2, d: 1, u.label: [1, 0], M.label: [[0, 0], [1, 0]], T.label: [[1], [0]], gamma: 1, a: 1},
        ),
        reason="the symmetry of footnote 11 is needed",
    )
    yield Equation(averaged_mean(swapped(M)), true_mean(M)(a), reason="for every M, with q_t from M(t', t)")
    yield averaged(true_mean(symmetric)(a))


mean_of_means.twin("the mean of u", lambda: averaged(total(i, u[i] * T[i, a])))
mean_of_means.twin("the plain mean of the μ_t", lambda: averaged(total(j, printed_mean(j, symmetric)) / N))


@claim(
    "deciphering.sD.without-means",
    "identity",
    title="The means cancel",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.sD.stationarity", "deciphering.46"),
    latex=r"z-\left(\tfrac1\alpha I_d+\tfrac1\gamma\sum_tu(t)\Sigma_t\right)\lambda^*=0",
)
def without_means() -> Steps:
    """By (46) the two means in the stationarity condition cancel, for symmetric M; what is left is said of λ*."""
    yield averaged(true_mean(symmetric)(a))
    yield Fails(Equation(own_evidence(), lam[a] / alpha + mean_spread(lam), at={**AWAY, alpha: 1}), reason=NOT_OF_THE_DUAL)


@without_means.corrected(r"z-\left(\tfrac1\alpha I_d+\tfrac1\gamma\sum_tu(t)\Sigma_t\right)\nu=0", Severity.SLIP, replaces=STAR)
def without_means_of_approximation() -> Steps:
    """The means do cancel, in the gradient of the quadratic approximation."""
    yield averaged(true_mean(symmetric)(a))
    yield cancelled(lam[a] / alpha, sp.S.One)


def cancelled(penalty: sp.Expr, sign: sp.Expr) -> Equation:
    """(μ̃ + z)_a − λ_a/α − Σ_t u(t) μ_t − (1/γ)(Σ̄λ)_a, with μ̃ of (35) and the printed μ_t; Σ̄ from any q_t."""
    left = true_mean(symmetric)(a) + z[a] - lam[a] / alpha - averaged_mean(symmetric) - mean_spread(lam)
    return Equation(left, z[a] - (penalty + sign * mean_spread(lam)), reason="(46): μ̃ = Σ_t u(t) μ_t")


without_means.twin("α for 1/α", lambda: cancelled(alpha * lam[a], sp.S.One))
without_means.twin("the sign of Σ̄", lambda: cancelled(lam[a] / alpha, -sp.S.One))


@claim(
    "deciphering.sD.resolvent",
    "identity",
    title="The maximizer of the quadratic approximation, solved",
    needs=("deciphering.sD.without-means", "deciphering.sD.quadratic"),
    latex=r"\lambda^*=\left(\tfrac1\alpha I_d+\tfrac1\gamma\sum_tu(t)\Sigma_t\right)^{-1}z"
    r"=\left(I_d+\tfrac\alpha\gamma\sum_tu(t)\Sigma_t\right)^{-1}(\alpha z)",
)
def resolvent() -> Steps:
    """The matrix is invertible; its inverse is said to take αz to λ*."""
    yield variance_along()
    yield Fails(
        Equation(alpha * own_evidence(), lam[a] + alpha * mean_spread(lam), at={**AWAY, alpha: 1}), reason=NOT_OF_THE_DUAL
    )


@resolvent.corrected(
    r"\nu=\left(\tfrac1\alpha I_d+\tfrac1\gamma\sum_tu(t)\Sigma_t\right)^{-1}z"
    r"=\left(I_d+\tfrac\alpha\gamma\sum_tu(t)\Sigma_t\right)^{-1}(\alpha z)",
    Severity.SLIP,
    replaces=STAR,
)
def resolvent_of_approximation() -> Steps:
    """The inverse takes αz to the maximizer ν of the quadratic approximation; λ* is off by O(α³)."""
    yield variance_along()
    yield inverted(nu[a] + alpha * mean_spread(nu))


def inverted(right: sp.Expr) -> Equation:
    """α z_a, where z = ν/α + Σ̄ν/γ."""
    return Equation(
        alpha * (nu[a] / alpha + mean_spread(nu)),
        right,
        reason="multiplied by α; ⟨v, (I + (α/γ)Σ̄)v⟩ ≥ ‖v‖², so ν is the only solution for all α, γ > 0",
    )


resolvent.twin("α is lost", lambda: inverted(nu[a] + mean_spread(nu)))
resolvent.twin("γ is lost", lambda: inverted(nu[a] + alpha * gamma * mean_spread(nu)))


@claim(
    "deciphering.sD.linear",
    "asymptotic",
    title="λ* = αz",
    needs=("deciphering.39", "deciphering.sD.resolvent"),
    hypotheses=(SMALL,),
    latex=r"\tfrac\alpha\gamma\text{ small}\implies\lambda^*=\alpha z",
)
def linear_maximizer() -> Steps:
    """For small α/γ the maximizer is said to be αz."""
    yield dual_slope(M)
    yield Fails(
        Expansion(lam[a], alpha * z[a], alpha, 2, where=(maximizer,), at={**NEAR, a: 1}, about=(Q[i, j],)),
        reason="only to first order: the second one is there for however small an α",
    )


@linear_maximizer.corrected(
    r"\lambda^*=\alpha z-\tfrac{\alpha^2}\gamma\bar\Sigma z+\mathcal O(\alpha^3),\quad"
    r"\bar\Sigma=\sum_tu(t)\Sigma_t",
    Severity.SLIP,
)
def linear_maximizer_with_error() -> Steps:
    """αz is the first term; the second one is −(α²/γ)Σ̄z."""
    yield linear_dual()


def other_second_term(right: sp.Expr) -> Expansion:
    """λ* with another second-order term."""
    return Expansion(lam[a], alpha * z[a] + alpha**2 * right, alpha, 2, where=(maximizer,))


linear_maximizer.twin("half of the second-order term", lambda: other_second_term(-total(c, spread(a, c) * z[c]) / (2 * gamma)))
linear_maximizer.twin("γ is lost", lambda: other_second_term(-total(c, spread(a, c) * z[c])))
