"""Section 5: a Gaussian preference distribution, for which the problem has a closed solution.

Claims     deciphering.s5.closed-form       min α/2 ‖b − h‖² + K(q, u) = α/(2(1 + α)) ‖b − μ‖²
           deciphering.s5.mgf               E_u exp⟨W, λ⟩ = exp(⟨μ, λ⟩ + ½‖λ‖²)
           deciphering.s5.dual-point        λ* = α/(1 + α) (b − μ)
           deciphering.s5.minimizer         p* = N((μ + αb)/(1 + α), I)
           deciphering.s5.general-setting   ĥ = μ + αΣz + o(α) for a u with finite support
Notation   u = N(μ, I) on ℝ^d, mu = μ; b = μ + z; q any law with a finite KL(q ‖ u), h its mean, and
           K = KL(q ‖ N(h, I)) ≥ 0; x, y points of ℝ^d (the document's a); lam = λ, nu another dual point
References Section 5 of the document
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations.documents.deciphering.notation import (
    T,
    a,
    alpha,
    c,
    covariance,
    d,
    i,
    lam,
    maximizer,
    mean,
    n,
    primal,
    tilt,
    z,
)
from derivations.documents.deciphering.notation import mu as prior_mean
from derivations.vocabulary import *

mu, b, h, nu = vector("mu", d), vector("b", d), vector("h", d), vector("nu", d)
x, y = vector("x", d), vector("y", d)
K = scalar("K", Nonnegative)
odds = positive("t")
first, second = interior("x", n), simplex("y", n)


def inner(left: Entry, right: Entry) -> sp.Expr:
    """⟨v, w⟩ in ℝ^d."""
    return total(a, left(a) * right(a))


def square(v: Entry) -> sp.Expr:
    """‖v‖²."""
    return total(a, v(a) ** 2)


def away(left: sp.IndexedBase, right: Entry) -> sp.Expr:
    """‖v − w‖²."""
    return square(lambda e: left[e] - right(e))


def log_density(at: sp.IndexedBase, middle: Entry) -> sp.Expr:
    """log N(middle, I) at a point of ℝ^d."""
    return -away(at, middle) / 2 - d * sp.log(2 * sp.pi) / 2


W, MIDDLE, SLOPE = sp.symbols("w m s", real=True)


@cache
def integrated() -> sp.Expr:
    """∫ e^{sw} dN(m, 1)(w), an integral over the real line."""
    integral = sp.integrate(sp.exp(SLOPE * W - (W - MIDDLE) ** 2 / 2) / sp.sqrt(2 * sp.pi), (W, -sp.oo, sp.oo))
    return sp.simplify(integral.rewrite(sp.erf))


def coordinate_mgf(m: sp.Expr, s: sp.Expr) -> sp.Expr:
    """E e^{sw} for w normal with mean m and variance 1."""
    return integrated().subs({MIDDLE: m, SLOPE: s}, simultaneous=True)


def mgf(at: sp.IndexedBase) -> sp.Expr:
    """M(λ), a product over coordinates: those of N(μ, I) are independent."""
    return sp.exp(total(a, sp.log(coordinate_mgf(mu[a], at[a]))))


def log_mgf(at: sp.IndexedBase) -> sp.Expr:
    """⟨μ, λ⟩ + ½‖λ‖²."""
    return inner(mu, at) + square(at) / 2


def maximal(e: sp.Expr) -> sp.Expr:
    """α/(α+1) (b − μ)."""
    return alpha / (alpha + 1) * (b[e] - mu[e])


def estimate(e: sp.Expr) -> sp.Expr:
    """μ/(1+α) + αb/(1+α)."""
    return mu[e] / (1 + alpha) + alpha * b[e] / (1 + alpha)


def shifted_mean(e: sp.Expr) -> sp.Expr:
    """(μ + λ)_a."""
    return mu[e] + lam[e]


# ── the problem, for all laws q ─────────────────────────────────────────────────────────────────────────────────────


def mixed(weights: tuple[sp.Expr, sp.Expr]) -> Entry:
    """i ↦ w x_i + (1 − w) y_i."""
    return lambda e: weights[0] * first[e] + weights[1] * second[e]


def convexity(weights: tuple[sp.Expr, sp.Expr], because: sp.Expr | None = None) -> AtLeast:
    """The chord of (4) between x and y lies above its value at the mixture with odds t : 1."""
    chord = odds / (1 + odds) * primal(first, b) + 1 / (1 + odds) * primal(second, b)
    return AtLeast(
        chord,
        primal(mixed(weights), b),
        because=because,
        reason="the chord's excess is kl(x ‖ w) and kl(y ‖ w) averaged, and ½αt/(1+t)² times the squared shift",
    )


@claim(
    "deciphering.s5.convex",
    "inequality",
    title="The problem is convex",
    hypotheses=("α > 0",),
    latex=r"P(wp+(1-w)q)\le wP(p)+(1-w)P(q)",
    needs=("deciphering.4",),
)
def convex() -> Steps:
    """The objective lies below its chords, strictly between two different distributions: the problem is convex."""
    left, right, base = positive("x"), positive("y"), positive("w")
    middle = (odds * left + right) / (1 + odds)
    yield AtLeast(
        (odds * kl(left, base) + kl(right, base)) / (1 + odds),
        kl(middle, base),
        because=(odds * kl(left, middle) + kl(right, middle)) / (1 + odds),
        reason="any u: for the values of two densities and of u at a point, and the mean is linear",
    )
    weights = odds / (1 + odds), 1 / (1 + odds)
    between = mixed(weights)
    spread = total(a, (mean(first)(a) - mean(second)(a)) ** 2)
    divergences = total(i, weights[0] * kl(first[i], between(i)) + weights[1] * kl(second[i], between(i)))
    yield convexity(weights, divergences + alpha * odds / (2 * (1 + odds) ** 2) * spread)


convex.twin("the square of the weights", lambda: convexity((odds**2 / (1 + odds), 1 / (1 + odds))))
convex.twin("the weights change places, and are doubled", lambda: convexity((2 / (1 + odds), 2 * odds / (1 + odds))))


def value(of: Entry, excess: sp.Expr = K) -> sp.Expr:
    """(4) at a law q with mean `of`: α/2 ‖b − h‖² + ½‖h − μ‖² + K."""
    return alpha / 2 * away(b, of) + away(mu, of) / 2 + excess


def reduction() -> Steps:
    """KL(q ‖ u) = K + ½‖h − μ‖²: the logarithm of N(h, I)/u is affine, so its mean under q is its value at h."""
    yield Equation(
        log_density(x, h) - log_density(x, mu),
        total(a, (x[a] - h[a]) * (h[a] - mu[a])) + away(mu, h) / 2,
        reason="affine in a; under q the first sum has mean 0, so KL(q ‖ u) = K + ½‖h − μ‖²",
    )


def optimum() -> AtLeast:
    """No q has a smaller objective than N(μ/(1+α) + αb/(1+α), I)."""
    return AtLeast(
        value(h),
        value(estimate, sp.S.Zero),
        because=(1 + alpha) / 2 * away(h, estimate) + K,
        reason="the excess is (1+α)/2 ‖h − ĥ‖² + K, which is 0 only for q = N(ĥ, I)",
    )


@claim(
    "deciphering.s5.closed-form",
    "optimality",
    title="With a Gaussian u the problem has a closed solution",
    latex=r"\min_p\tfrac\alpha2\|b-\int ap(a)da\|^2+\mathcal K(p,u)=\tfrac{\alpha}{2(1+\alpha)}\|b-\mu\|^2",
    hypotheses=("u = N(μ, I)", "α > 0"),
    needs=("deciphering.4",),
)
def closed_form() -> Steps:
    """For a spherical Gaussian u the problem has exactly one minimizer, and it and the least value have closed forms."""
    yield from reduction()
    yield optimum()
    yield Equation(value(estimate, sp.S.Zero), alpha / (2 * (1 + alpha)) * away(b, mu), reason="its value")
    yield least(alpha / (2 * (1 + alpha)), (1 + alpha) / 2 * away(h, estimate) + K)


def least(factor: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """No q has an objective below factor · ‖b − μ‖²; tried at the minimizer of one instance."""
    return AtLeast(
        value(h),
        factor * away(b, mu),
        because=because,
        reason="for every q, and reached",
        at={d: 1, alpha: 1, mu.label: [0], b.label: [1], h.label: [Fraction(1, 2)], K: 0},
    )


closed_form.twin("q = u is the best", lambda: least(alpha / 2))
closed_form.twin("the mean b is the best", lambda: least(sp.S.Half))


@claim(
    "deciphering.7",
    "optimality",
    title="The minimizer is a tilted u",
    hypotheses=("u = N(μ, I)", "α > 0"),
    latex=r"p^*(a)=\frac{u(a)\exp\langle a,\lambda^*\rangle}{\int u(a')\exp\langle a',\lambda^*\rangle da'}",
    needs=("deciphering.8", "deciphering.s5.closed-form"),
)
def tilted() -> Steps:
    """The minimizer has the density of u times an exponential of a linear function, normalized."""
    yield from reduction()
    yield optimum()
    yield tilting(maximal, reason="the logarithm of the minimizer's density, at every point x")


def tilting(by: Entry, reason: str = "") -> Equation:
    """The logarithm of the minimizer's density is that of u, plus ⟨a, λ⟩, less log M(λ), with M(λ) as integrated."""
    logs = total(a, sp.log(coordinate_mgf(mu[a], by(a))))
    return Equation(log_density(x, estimate), log_density(x, mu) + inner(x, by) - logs, reason=reason)


tilted.twin("the tilt's sign", lambda: tilting(lambda e: -maximal(e)))
tilted.twin("tilted by α(b − μ)", lambda: tilting(lambda e: alpha * (b[e] - mu[e])))


# ── the dual ────────────────────────────────────────────────────────────────────────────────────────────────────────


def dual_value(at: Entry, strength: sp.Expr = alpha, sign: int = 1) -> sp.Expr:
    """⟨b, λ⟩ − ‖λ‖²/(2α) − log M(λ), with the integrated M."""
    logs = total(a, sp.log(coordinate_mgf(mu[a], at(a))))
    return inner(b, at) - square(at) / (2 * strength) - sign * logs


def largest(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """The dual's value at λ* is at least the right side."""
    return AtLeast(dual_value(maximal), right, because=because, reason="the excess is (1+α)/(2α) ‖ν − λ*‖²: 0 only at λ*")


@claim(
    "deciphering.8",
    "optimality",
    title="The dual problem that defines λ*",
    hypotheses=("u = N(μ, I)", "α > 0"),
    latex=r"\lambda^*=\operatorname{argmax}_\lambda\langle b,\lambda\rangle-\tfrac1{2\alpha}\|\lambda\|^2"
    r"-\log\int u(a)\exp\langle a,\lambda\rangle da",
    needs=("deciphering.s5.mgf",),
)
def dual_problem() -> Steps:
    """The dual objective has exactly one maximizer, and its greatest value is the least value of the problem."""
    yield Equation(dual_value(maximal), value(estimate, sp.S.Zero), reason="no duality gap")
    yield largest(dual_value(nu), (1 + alpha) / (2 * alpha) * away(nu, maximal))


dual_problem.twin("log M is added", lambda: largest(dual_value(nu, sign=-1)))
dual_problem.twin("‖λ‖²/(2α) is added", lambda: largest(dual_value(nu, strength=-alpha)))


@claim(
    "deciphering.s5.mgf",
    "identity",
    title="The moment generating function of N(μ, I)",
    latex=r"\int u(a)\exp\langle a,\lambda\rangle da=\exp(\langle\mu,\lambda\rangle+\tfrac12\|\lambda\|^2)",
    hypotheses=("u = N(μ, I)",),
)
def generating_function() -> Steps:
    """The integral in the dual is the moment generating function of a spherical Gaussian, and has this closed form."""
    yield Equation(
        log_density(x, mu) + inner(x, lam),
        log_density(x, shifted_mean) + log_mgf(lam),
        reason="the square completed: u e^⟨a,λ⟩ is the density of N(μ + λ, I) times a constant, M(λ)",
    )
    yield Equation(mgf(lam), sp.exp(log_mgf(lam)), reason="and by integration, coordinate by coordinate")


generating_function.twin("‖λ‖² is not halved", lambda: Equation(mgf(lam), sp.exp(log_mgf(lam) + square(lam) / 2)))
generating_function.twin("the mean's sign", lambda: Equation(mgf(lam), sp.exp(log_mgf(lam) - 2 * inner(mu, lam))))


def slope() -> sp.Expr:
    """∂/∂λ_a of the dual objective."""
    return derivative(dual_value(lam), lam[a])


@claim(
    "deciphering.s5.dual-point",
    "equivalence",
    title="λ* in closed form",
    needs=("deciphering.8", "deciphering.s5.mgf"),
    latex=r"\lambda^*=\tfrac\alpha{\alpha+1}(b-\mu)",
    hypotheses=("u = N(μ, I)", "α > 0"),
)
def dual_point() -> Steps:
    """The dual objective's derivative vanishes at α/(α+1) times b − μ, and nowhere else."""
    yield Equation(slope(), (1 + alpha) / alpha * (maximal(a) - lam[a]), reason="so it is 0 iff λ = λ*")


dual_point.twin("α (b − μ)", lambda: Equation(slope(), (1 + alpha) / alpha * (alpha * (b[a] - mu[a]) - lam[a])))
dual_point.twin("1/(α+1) for α/(α+1)", lambda: Equation(slope(), (1 + alpha) / alpha * ((b[a] - mu[a]) / (alpha + 1) - lam[a])))


# ── the minimizer ───────────────────────────────────────────────────────────────────────────────────────────────────


def exponent(at: sp.IndexedBase) -> sp.Expr:
    """−½‖a − μ‖² + ⟨a, λ⟩."""
    return -away(at, mu) / 2 + inner(at, lam)


def same_ratio(to: Entry) -> Equation:
    """The density's ratio at two points, in logarithms, is that of exp(−½‖a − to‖²)."""
    return Equation(
        exponent(x) - exponent(y),
        away(y, to) / 2 - away(x, to) / 2,
        reason="what is left of the completed square does not depend on a",
    )


@claim(
    "deciphering.s5.proportional",
    "equivalence",
    title="Completing the square",
    needs=("deciphering.7",),
    latex=r"p^*(a)\propto\exp(-\tfrac12\|a-\mu\|^2+\langle a,\lambda^*\rangle)\propto\exp(-\tfrac12\|a-(\mu+\lambda^*)\|^2)",
)
def proportional() -> Steps:
    """The tilted density is proportional to the Gaussian one around μ + λ*, for any λ."""
    yield same_ratio(shifted_mean)


proportional.twin("around μ − λ", lambda: same_ratio(lambda e: mu[e] - lam[e]))
proportional.twin("around λ", lambda: same_ratio(lam))


def tilted_log_density() -> sp.Expr:
    """log of (7) with λ*, and M integrated."""
    logs = total(a, sp.log(coordinate_mgf(mu[a], maximal(a))))
    return log_density(x, mu) + inner(x, maximal) - logs


def gaussian_around(middle: Entry) -> Equation:
    """The density of (7) is that of N(middle, I)."""
    return Equation(tilted_log_density(), log_density(x, middle), reason="logarithms of the densities, normalizers included")


@claim(
    "deciphering.s5.minimizer",
    "identity",
    title="The minimizer is Gaussian with the covariance of u",
    latex=r"p^*=\mathcal N(\tfrac1{1+\alpha}\mu+\tfrac\alpha{1+\alpha}b,I_d)",
    hypotheses=("u = N(μ, I)", "α > 0"),
    needs=("deciphering.7", "deciphering.s5.dual-point", "deciphering.s5.proportional"),
)
def minimizer() -> Steps:
    """The minimizer is a spherical Gaussian whose mean is a convex combination of μ and b."""
    yield Equation(shifted_mean(a).xreplace({lam[a]: maximal(a)}), estimate(a), reason="μ + λ*")
    yield gaussian_around(estimate)


minimizer.twin("the weights change places", lambda: gaussian_around(lambda e: (alpha * mu[e] + b[e]) / (1 + alpha)))
minimizer.twin("around λ*", lambda: gaussian_around(maximal))


def slope_of_log_mgf() -> sp.Expr:
    """∂ log M/∂λ_a at λ*: the mean of the tilted law."""
    gradient = normal(derivative(sp.log(mgf(lam)), lam[a]))
    return gradient.replace(lambda e: isinstance(e, sp.Indexed) and e.base == lam, lambda e: maximal(e.indices[0]))


@claim(
    "deciphering.s5.estimate",
    "identity",
    title="The estimate is a weighted mean of μ and b",
    latex=r"\hat h=\tfrac1{1+\alpha}\mu+\tfrac\alpha{1+\alpha}b",
    hypotheses=("u = N(μ, I)", "α > 0"),
    needs=("deciphering.s5.minimizer", "deciphering.5"),
)
def gaussian_estimate() -> Steps:
    """The mean of the minimizer is μ/(1+α) + αb/(1+α)."""
    yield Equation(slope_of_log_mgf(), estimate(a), reason="the mean of a tilted law is the gradient of log M there")


gaussian_estimate.twin("the weights change places", lambda: Equation(slope_of_log_mgf(), (alpha * mu[a] + b[a]) / (1 + alpha)))
gaussian_estimate.twin("λ* itself", lambda: Equation(slope_of_log_mgf(), maximal(a)))


# ── reliability ─────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.s5.reliability",
    "limit",
    title="A smaller α trusts the observation less",
    hypotheses=("u = N(μ, I)",),
    latex=r"\alpha\to0\implies\tfrac1{1+\alpha}\mu+\tfrac\alpha{1+\alpha}b\to\mu",
    needs=("deciphering.s5.estimate",),
)
def less_reliable() -> Steps:
    """As α goes to 0 the estimate depends less and less on b, and goes to μ."""
    yield Equation(derivative(estimate(a), b[a]), alpha / (1 + alpha), reason="how much a change of b counts")
    yield AtLeast(
        derivative(alpha / (1 + alpha), alpha),
        0,
        strict=True,
        because=1 / (1 + alpha) ** 2,
        reason="it falls with α",
        quotes=(MEAN_VALUE,),
    )
    yield Limit(alpha / (1 + alpha), alpha, sp.S.Zero, sp.S.Zero, reason="to 0")
    yield Limit(estimate(a), alpha, sp.S.Zero, mu[a], reason="for every d, μ and b")


less_reliable.twin("the estimate goes to b", lambda: Limit(estimate(a), alpha, sp.S.Zero, b[a]))
less_reliable.twin("to the midpoint", lambda: Limit(estimate(a), alpha, sp.S.Zero, (mu[a] + b[a]) / 2))


def first_order(slope_in_alpha: sp.Expr) -> Expansion:
    """ĥ − μ to first order in α."""
    return Expansion(
        mean(tilt(lam))(a) - prior_mean(a),
        alpha * slope_in_alpha,
        alpha,
        1,
        where=(maximizer,),
        reason="from the stationarity of the dual, λ = α (μ + z − ĥ)",
    )


@claim(
    "deciphering.s5.general-setting",
    "asymptotic",
    title="The same holds for a discrete u",
    latex=r"\hat h=\mu+\alpha\Sigma z+o(\alpha)",
    hypotheses=("u has finite support",),
    needs=("deciphering.s4.minimizer",),
)
def general_setting() -> Steps:
    """For a discrete u, too, the influence of the evidence on the estimate dies out with α: it is αΣz to first order."""
    yield first_order(total(c, covariance(a, c) * z[c]))


general_setting.twin("the evidence itself", lambda: first_order(z[a]))
general_setting.twin(
    "second moments for the covariance",
    lambda: first_order(total(c, total(i, tilt(lambda e: sp.S.Zero)(i) * T[i, a] * T[i, c]) * z[c])),
)
