"""Section 6, Theorem 1: the dual of (4), and how a maximizer of the dual gives the minimizer.

Claims     deciphering.9      D(λ) = ⟨λ, μ + z⟩ − ‖λ‖²/(2α) − log M(λ) ≤ P(p) for all λ and p
           deciphering.thm1   λ* interior to {M < ∞}  ⟹  the minimizer is p̃_i = u_i exp⟨t_i, λ*⟩/M(λ*), and no other
           deciphering.12     λ* interior to {M < ∞}  ⟹  ĥ = E_u[W exp⟨W, λ*⟩]/M(λ*)
Notation   P the objective of (4), D that of (9); p = tilt(λ), the right side of (11); z is the one for which λ maximizes D;
           for any u: h, m the means of any law q and of the tilt p of u by λ, K = KL(q ‖ p) ≥ 0, L = log M(λ), so that
           KL(q ‖ u) = K + ⟨λ, h⟩ − L; b = μ + z, y any point of ℝ^d
References Theorem 1 of the document; Barndorff-Nielsen (1978) on exponential families that are not steep

The law without steepness: π_k = 18/(k(k+1)(k+2)(k+3)) on k = 1, 2, … and u_k = π_k e^(−k)/c, for which M(λ) < ∞ exactly
when λ ≤ 1, and tilt(1) = π has mean 3/2.  With μ + z = 3/2 + 1/α + s, s > 0, the dual's maximizer is λ* = 1.
"""

import sympy as sp

from derivations.documents.deciphering.notation import (
    T,
    a,
    alpha,
    b,
    d,
    dual,
    i,
    k,
    lam,
    mean,
    n,
    partition,
    primal,
    shifted,
    tilt,
    u,
)
from derivations.vocabulary import *

q = simplex("q", n)
tilted = tilt(lam)
FINITE = ("u has finite support", "α > 0")
GENERAL = ("general u", "α > 0")
INTERIOR = (
    "λ* is interior to the set where M is finite, as it is for finite support, for Gaussian u, and for small α if M is "
    "finite near 0"
)
ANY_LAW = "the general u, for which a maximizer of (9) may give no minimizer"


def stationary(at: Entry) -> Entry:
    """The μ + z for which λ maximizes (9): λ/α + Σ_i p_i(λ) t_i, from the gradient of (9)."""
    return lambda entry: at(entry) / alpha + mean(tilt(at))(entry)


def divergence(x: Entry, y: Entry) -> sp.Expr:
    """KL(x ‖ y) = Σ_i kl(x_i ‖ y_i) of weights with equal mass."""
    return total(i, kl(x(i), y(i)))


def distance(x: Entry, y: Entry) -> sp.Expr:
    """‖x − y‖² of vectors with d entries."""
    return total(a, (x(a) - y(a)) ** 2)


def residual(at: Entry) -> sp.Expr:
    """‖μ + z − Σ_i q_i t_i − λ/α‖²."""
    return total(a, (shifted(a) - total(i, q[i] * T[i, a]) - at(a) / alpha) ** 2)


# ── any preference distribution ─────────────────────────────────────────────────────────────────────────────────────

h, m, free, goal = vector("h", d), vector("m", d), vector("y", d), vector("b", d)
gain, log_mgf = scalar("K", Nonnegative), scalar("L")


def information(average: sp.IndexedBase, excess: sp.Expr) -> sp.Expr:
    """KL(q ‖ u) = KL(q ‖ p) + ⟨λ, h⟩ − log M(λ), for q with the mean h: the logarithm of p/u is ⟨a, λ⟩ − log M(λ)."""
    return excess + total(a, lam[a] * average[a]) - log_mgf


def misfit(target: Entry, average: sp.IndexedBase) -> sp.Expr:
    """α/2 ‖target − h‖²."""
    return alpha / 2 * total(a, (target(a) - average[a]) ** 2)


def least_lagrangian() -> AtLeast:
    """The Lagrangian of (4) with y = h as a constraint, against the objective of (9)."""

    def target(entry: sp.Expr) -> sp.Expr:
        return goal[entry]

    lagrangian = misfit(target, free) + information(h, gain) + total(a, lam[a] * (free[a] - h[a]))
    value = total(a, lam[a] * goal[a]) - total(a, lam[a] ** 2) / (2 * alpha) - log_mgf
    return AtLeast(
        lagrangian,
        value,
        because=gain + alpha / 2 * total(a, (goal[a] - free[a] - lam[a] / alpha) ** 2),
        reason="any u with M(λ) < ∞: the objective of (9) is the least Lagrangian, at q = p and y = b − λ/α",
    )


def tilt_is_best() -> AtLeast:
    """No law has a smaller objective (4) than the tilt of u by a stationary λ."""

    def target(entry: sp.Expr) -> sp.Expr:
        return lam[entry] / alpha + m[entry]

    return AtLeast(
        misfit(target, h) + information(h, gain),
        misfit(target, m) + information(m, sp.S.Zero),
        because=gain + alpha / 2 * total(a, (h[a] - m[a]) ** 2),
        reason="any u: an interior maximizer is stationary, b = λ/α + m, and then the excess is 0 only at q = p",
        quotes=(FERMAT,),
    )


# ── the dual ────────────────────────────────────────────────────────────────────────────────────────────────────────

optimum = primal(tilted, stationary(lam))


def dual_with(log_sign: int = 1, penalty: sp.Expr = 1 / (2 * alpha)) -> sp.Expr:
    """⟨λ, μ + z⟩ − penalty·‖λ‖² − sign·log M(λ), at the maximizer."""
    pairing = total(a, lam[a] * stationary(lam)(a))
    return pairing - penalty * total(a, lam[a] ** 2) - log_sign * sp.log(partition(lam))


@claim(
    "deciphering.9",
    "optimality",
    title="The dual problem",
    hypotheses=GENERAL,
    latex=r"\max_{\lambda\in\mathbb R^d}\left\{\langle\lambda,\mu+z\rangle-\tfrac1{2\alpha}\|\lambda\|^2"
    r"-\log M(\lambda)\right\}",
)
def dual_problem() -> Steps:
    """The dual's objective is the least Lagrangian, for any u; it bounds the problem, tightly for finitely many templates."""
    yield least_lagrangian()
    gap = divergence(q, tilted) + alpha / 2 * residual(lam)
    yield Equation(primal(q, shifted) - dual(lam, shifted), gap, reason="P(q) − D(λ), for all q and λ")
    yield AtLeast(primal(q, shifted), dual(lam, shifted), reason="weak duality", because=gap)
    yield Equation(
        derivative(dual(lam, shifted), lam[a]),
        shifted(a) - lam[a] / alpha - mean(tilted)(a),
        reason="at a maximizer μ + z = λ/α + Σ p_i t_i",
    )
    yield Equation(optimum, dual_with(), reason="and there P(p) = D(λ)")


dual_problem.twin("log M is added", lambda: Equation(optimum, dual_with(log_sign=-1)))
dual_problem.twin("1/α for 1/(2α)", lambda: Equation(optimum, dual_with(penalty=1 / alpha)))
dual_problem.twin("α for 1/α", lambda: Equation(optimum, dual_with(penalty=alpha / 2 + 1)))


def expected(weight: Entry, sign: int = 1) -> sp.Expr:
    """Σ_k w_k exp(±⟨t_k, λ⟩)."""
    return total(k, weight(k) * sp.exp(sign * total(b, T[k, b] * lam[b])))


@claim(
    "deciphering.10",
    "definition",
    title="The moment generating function of u",
    latex=r"M(\lambda)=\int_{\mathbb R^d}u(a)\exp\langle a,\lambda\rangle\,da",
)
def generating_function() -> Steps:
    """M is the expectation of exp⟨W, λ⟩; it is 1 at 0, and positive for finite support."""
    yield Equation(partition(lambda entry: sp.S.Zero), 1, reason="an instance", about=(n, d))
    yield AtLeast(partition(lam), 0, strict=True, reason="so that its logarithm exists")
    yield generates(expected(u))


def generates(right: sp.Expr) -> Equation:
    """e^⟨μ, λ⟩ times the expectation of exp⟨W − μ, λ⟩."""
    centred = total(k, u[k] * sp.exp(total(b, (T[k, b] - mean(u)(b)) * lam[b])))
    return Equation(
        sp.exp(total(b, mean(u)(b) * lam[b])) * centred,
        right,
        reason="the expectation of exp⟨W, λ⟩ is a sum over the templates, wherever their origin is",
    )


generating_function.twin("the exponent's sign", lambda: generates(expected(u, -1)))
generating_function.twin("the weights are left out", lambda: generates(expected(lambda x: 1 / n)))


# ── recovery ────────────────────────────────────────────────────────────────────────────────────────────────────────


def minimizes(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of (4) with the z for which λ satisfies the stationarity of (9)."""

    def excess(weights: Entry) -> sp.Expr:
        return alpha / 2 * distance(mean(weights), mean(tilted))

    return UniqueMinimum(
        lambda p: primal(p, stationary(lam)),
        candidate,
        n,
        sp.S.One,
        slack=excess,
        at={d: 1},
        reason="P(q) − P(p) = Σ_i kl(q_i ‖ p_i) + α/2 ‖Σ_i (q_i − p_i) t_i‖² where λ = α(μ + z − Σ_i p_i t_i)",
    )


def reversed_point(entry: sp.Expr) -> sp.Expr:
    """−λ_a."""
    return -lam[entry]


def scaled_point(entry: sp.Expr) -> sp.Expr:
    """α λ_a."""
    return alpha * lam[entry]


K, s, r = size("K"), positive("s"), positive("r")
log_c = scalar("log_c")
pi = 18 / (K * (K + 1) * (K + 2) * (K + 3))
mass_so_far = 1 - 6 / ((K + 1) * (K + 2) * (K + 3))
mean_so_far = sp.Rational(3, 2) - 9 / ((K + 2) * (K + 3))
share = s / (K - sp.Rational(3, 2))
center = sp.Rational(3, 2)
aim = center + 1 / alpha + s
recovered = alpha / 2 * (aim - center) ** 2 + center + log_c
rival_bound = alpha / 2 * (aim - center - s) ** 2 + (1 - share) * (center + log_c) + share * (K + log_c - sp.log(pi))
lead = -alpha * s**2 / 2 - share * sp.log(pi)


def before(partial: sp.Expr) -> sp.Expr:
    """A partial sum up to K − 1."""
    return partial.xreplace({K: K - 1})


def law_without_steepness() -> Steps:
    """The rivals (1 − ε)π + ε δ_K with ε(K − 3/2) = s against π = tilt(λ*), by steps that end with a better one."""
    yield Equation(mass_so_far - before(mass_so_far), pi, reason="π_k telescopes")
    yield Limit(mass_so_far, K, sp.oo, sp.S.One, reason="to mass 1")
    yield Equation(mean_so_far - before(mean_so_far), K * pi, reason="k π_k telescopes")
    yield Limit(mean_so_far, K, sp.oo, center, reason="to mean 3/2: D'(1⁻) = μ + z − 1/α − 3/2 = s > 0 and M(λ) = ∞ for λ > 1")
    x, y, w = positive("x"), scalar("y", Nonnegative), positive("w")
    mixed = (x + r * y) / (1 + r)
    yield AtLeast(
        (kl(x, w) + r * kl(y, w)) / (1 + r),
        kl(mixed, w),
        reason="kl is convex in its first argument",
        because=(kl(x, mixed) + r * kl(y, mixed)) / (1 + r),
    )
    yield Equation(
        rival_bound - recovered,
        lead,
        given=(AtLeast(K, 2),),
        reason="so this bounds P((1 − ε)π + ε δ_K) − P(π); log(π_k/u_k) = k + log c",
    )
    yield AtLeast((K + 3) ** 4, 1 / pi, reason="−log π_K ≤ 4 log(K + 3)")
    yield Limit(4 * sp.log(K + 3) / (K - center), K, sp.oo, sp.S.Zero, reason="so it tends to −α s²/2, whatever α and s are")
    yield Equation(
        recovered - (aim - 1 / (2 * alpha) + log_c),
        alpha * s**2 / 2,
        reason="P(π) − D(1), log M(1) = −log c: the rivals reach D(1) in the limit, so nothing attains the minimum",
    )
    yield tilt_is_beaten()


def tilt_is_beaten() -> Fails:
    """The bound P((1 − ε)π + ε δ_K) − P(π) ≤ lead, with ε = s/(K − 3/2), is negative."""
    return Fails(
        AtLeast(lead, sp.S.Zero, at={K: 3, alpha: 8, s: 1}),
        reason="the law without steepness: π/3 + 2δ_3/3 is better than π, the tilt by the maximizer",
    )


@claim(
    "deciphering.thm1",
    "optimality",
    title="The dual problem, and recovery of the minimizer",
    needs=("deciphering.9",),
    latex=r"\lambda^*\in\arg\max(9)\implies\tilde p(a)=\frac{u(a)e^{\langle a,\lambda^*\rangle}}"
    r"{\int u(a')e^{\langle a',\lambda^*\rangle}da'}\ \text{minimizes (4)}",
    hypotheses=GENERAL,
)
def recovery() -> Steps:
    """Given a maximizer of the dual, the tilt of u by it minimizes the problem, for any preference distribution."""
    yield from law_without_steepness()


@recovery.corrected(
    r"\tilde p_i=u_ie^{\langle t_i,\lambda^*\rangle}/\textstyle\sum_ju_je^{\langle t_j,\lambda^*\rangle}",
    Severity.HYPOTHESIS,
    under=INTERIOR,
    replaces=ANY_LAW,
)
def recovery_from_interior() -> Steps:
    """At a maximizer where M is differentiable the dual's gradient is 0, and then the tilt of u is the only minimizer."""
    yield tilt_is_best()
    yield minimizes(tilted)


recovery.twin("the tilt's sign", lambda: minimizes(tilt(reversed_point)))
recovery.twin("α enters the tilt", lambda: minimizes(tilt(scaled_point)))


@claim(
    "deciphering.11",
    "optimality",
    title="The minimizer is a tilt of u",
    hypotheses=GENERAL,
    needs=("deciphering.thm1",),
    latex=r"\tilde p(a)=\frac{u(a)\exp\langle a,\lambda^*\rangle}"
    r"{\int_{\mathbb R^d}u(a')\exp\langle a',\lambda^*\rangle da'}",
)
def recovered_minimizer() -> Steps:
    """The minimizer reweighs u by exp⟨a, λ*⟩, with a maximizer λ* of the dual, whatever u is."""
    yield tilt_is_beaten()


recovered_minimizer.corrected(
    r"\tilde p(a)=u(a)\exp\langle a,\lambda^*\rangle/M(\lambda^*)", Severity.HYPOTHESIS, under=INTERIOR, replaces=ANY_LAW
)(recovery_from_interior)


recovered_minimizer.twin("the tilt's sign", lambda: minimizes(tilt(reversed_point)))
recovered_minimizer.twin("u is left out", lambda: minimizes(lambda x: tilted(x) / u[x] / total(i, tilted(i) / u[i])))


def reweighted(weight: Entry, sign: int = 1) -> sp.Expr:
    """Σ_i t_i w_i e^(±⟨t_i, λ⟩) / Σ_k w_k e^(±⟨t_k, λ⟩)."""

    def factor(template: sp.Expr) -> sp.Expr:
        return weight(template) * sp.exp(sign * total(b, T[template, b] * lam[b]))

    return total(i, T[i, a] * factor(i)) / total(k, factor(k))


@claim(
    "deciphering.12",
    "identity",
    title="The estimate by the maximizer",
    hypotheses=GENERAL,
    needs=("deciphering.11",),
    latex=r"\hat h=\int a\,\tilde p(a)\,da=\int a\,\frac{u(a)e^{\langle a,\lambda^*\rangle}}"
    r"{\int u(a')e^{\langle a',\lambda^*\rangle}da'}\,da",
)
def estimate() -> Steps:
    """The estimate is the mean of the tilted distribution, whatever u is."""
    yield tilt_is_beaten()


@estimate.corrected(
    r"\hat h=\int a\,\tilde p(a)\,da=\int a\,\frac{u(a)e^{\langle a,\lambda^*\rangle}}{M(\lambda^*)}\,da",
    Severity.HYPOTHESIS,
    under=INTERIOR,
    replaces=ANY_LAW,
)
def estimate_from_interior() -> Steps:
    """Where the maximizer gives the minimizer, the estimate is the mean of the tilted distribution."""
    yield tilt_is_best()
    yield Equation(mean(tilted)(a), reweighted(u), reason="(11) in (5)")


estimate.twin("the exponent's sign", lambda: Equation(mean(tilted)(a), reweighted(u, -1)))
estimate.twin("u is left out", lambda: Equation(mean(tilted)(a), reweighted(lambda x: sp.S.One)))


@claim(
    "deciphering.s6.closed-form",
    "external fact",
    title="No closed form of the maximizer",
    latex=r"\lambda^*\text{ has no closed form in }\alpha,u,z",
)
def no_closed_form() -> Undecidable:
    """In general the maximizer is said to have no closed form in terms of α, u and z."""
    return Undecidable(
        "the class of closed forms is not named; for two templates 0 and 1 the equation is λ/α + e^λ/(1 + e^λ) = μ + z, whose "
        "solution is given a name by generalizations of Lambert's W, so the answer depends on the functions one admits"
    )


def at_zero(expr: sp.Expr) -> sp.Expr:
    """An expression in λ, evaluated at λ = 0 after it has been differentiated."""
    return normal(expr).replace(lambda e: isinstance(e, sp.Indexed) and e.base == lam, lambda e: sp.S.Zero)
