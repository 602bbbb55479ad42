"""Section 4: the optimization problem, its estimate, and what the KL divergence does in it.

Claims     deciphering.4                      P(u) = α/2 ‖z‖², finite for every z
           deciphering.s4.kl                  K(p, u) = Σ_i p_i log(p_i/u_i), the divergence of p from u  (corrected)
           deciphering.s4.both-requirements   K(p, u) ≥ 0, and K(p, u) = 0  ⟺  p = u
           deciphering.s4.minimizer           P has exactly one minimizer, for every z
           deciphering.s4.reliability         α₁ < α₂  ⟹  ‖μ + z − ĥ₂‖ ≤ ‖μ + z − ĥ₁‖
Notation   P(p) = α/2 ‖μ + z − Σ_i p_i t_i‖² + KL(p ‖ u); w[i] > 0 the values of u where p > 0, x[i] those of p; R the
           end of an integral, c any number; r₁, r₂ ≥ 0 squared residuals and k₁, k₂ ≥ 0 divergences of the minimizers
           for α and α + s
References Section 4 of the document up to (5), for the u of Section 3.1, with masses on the templates t_1, …, t_M
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations.documents.deciphering.notation import (
    T,
    a,
    alpha,
    dual,
    i,
    lam,
    mean,
    n,
    partition,
    primal,
    shifted,
    tilt,
    u,
    z,
)
from derivations.vocabulary import *

q = simplex("q", n)
SETUP = ("u has masses on t_1, …, t_M, as in the setup",)
share, weight = interior("x", n), vector("w", n, kind=Positive)
t, eps, end, number = positive("t"), positive("eps"), positive("R"), scalar("c")
step = positive("s")
r1, r2, k1, k2 = (scalar(name, Nonnegative) for name in ("r₁", "r₂", "k₁", "k₂"))


def stationary(at: Entry) -> Entry:
    """The μ + z for which λ maximizes the dual of (4): λ/α + Σ_i p_i(λ) t_i."""
    return lambda entry: at(entry) / alpha + mean(tilt(at))(entry)


def minimizes(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of (4), for the μ + z that goes with λ."""

    def excess(of: Entry) -> sp.Expr:
        return alpha / 2 * total(a, (mean(of)(a) - mean(tilt(lam))(a)) ** 2)

    return UniqueMinimum(
        lambda of: primal(of, stationary(lam)),
        candidate,
        n,
        sp.S.One,
        slack=excess,
        reason="P(q) − P(p) = Σ_i kl(q_i ‖ p_i) + α/2 ‖Σ_i (q_i − p_i) t_i‖² where λ = α(μ + z − Σ_i p_i t_i)",
    )


def information(of: Entry, reference: Entry = u) -> sp.Expr:
    """KL(p ‖ u)."""
    return total(i, kl(of(i), reference(i)))


# ── (4) ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def at_prior(right: sp.Expr) -> Equation:
    """The objective at p = u."""
    return Equation(primal(u, shifted), right, reason="at p = u the residual is z, and KL(u ‖ u) = 0")


@claim(
    "deciphering.4",
    "definition",
    title="The problem: fit the target, stay close to u",
    needs=("deciphering.s4.kl",),
    latex=r"\min_p\tfrac\alpha2\|(\mu+z)-\int ap(a)da\|^2+\mathcal K(p,u)",
    hypotheses=("α > 0",),
)
def problem() -> Steps:
    """The objective adds α/2 times the squared distance of the mean from μ + z and the divergence; it is finite at p = u."""
    yield AtLeast(primal(q, shifted), 0, because=primal(q, shifted), reason="a square and divergences")
    yield at_prior(alpha / 2 * total(a, z[a] ** 2))


problem.twin("α is lost", lambda: at_prior(total(a, z[a] ** 2) / 2))
problem.twin("the norm without its square", lambda: at_prior(alpha / 2 * sp.sqrt(total(a, z[a] ** 2))))


def swapped(of: Entry) -> sp.Expr:
    """(4) with KL(u ‖ p)."""
    return alpha / 2 * total(a, (stationary(lam)(a) - mean(of)(a)) ** 2) + information(u, of)


def written_out(right: sp.Expr) -> Equation:
    """KL(p ‖ u)."""
    return Equation(information(q), right, reason="weighed by p, with 0 log 0 = 0")


def orders_differ() -> Fails:
    """The formulas fix the order."""
    return Fails(
        UniqueMinimum(swapped, tilt(lam), n, sp.S.One),
        reason="with KL(u ‖ p) in the problem another p beats the tilt of u; with KL(p ‖ u) none does",
    )


def p_over_u() -> Equation:
    """K(p, u) = Σ p log(p/u)."""
    return written_out(total(i, xlogx(q[i]) - q[i] * sp.log(u[i])))


@claim(
    "deciphering.s4.kl",
    "definition",
    title="K(p, u) is called the divergence of u from p",
    latex=r"\mathcal K(p,u)\text{ denotes the KL divergence of }u\text{ from }p",
    hypotheses=("0 log 0 = 0",),
)
def divergence() -> Steps:
    """K(p, u) is called the KL divergence of u from p; the divergence of u from p is, as a rule, Σ u log(u/p)."""
    yield orders_differ()
    yield Fails(
        written_out(total(i, u[i] * sp.log(u[i]) - u[i] * sp.log(q[i]))),
        reason="D(P ‖ Q) is read “of P from Q”; these words name KL(u ‖ p), and the formulas need KL(p ‖ u)",
    )


@divergence.corrected(
    r"\mathcal K(p,u)=\textstyle\sum_ip_i\log\frac{p_i}{u_i}\text{, the divergence of }p\text{ from }u", Severity.WORDING
)
def divergence_of_p_from_u() -> Steps:
    """K(p, u) weighs the logarithm of p/u by p: it is the divergence of p from u."""
    yield orders_differ()
    yield p_over_u()


divergence.twin("the logarithms are added", lambda: written_out(total(i, xlogx(q[i]) + q[i] * sp.log(u[i]))))
divergence.twin(
    "weighed by u, against the midpoint", lambda: written_out(total(i, u[i] * sp.log(u[i]) - u[i] * sp.log((q[i] + u[i]) / 2)))
)


@cache
def heavy_tail() -> sp.Expr:
    """∫_1^R p log(p/u) for p = 1/a² on a ≥ 1 and u = N(0, 1), whose support is all of ℝ."""
    s, top = sp.symbols("s R", positive=True)
    parts = (-2 * sp.log(s) / s**2, sp.Rational(1, 2) + sp.log(2 * sp.pi) / (2 * s**2))
    integral = sp.Add(*[sp.integrate(part, (s, 1, top)) for part in parts])
    return sp.expand(integral).subs(top, end)


def bounded(by: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """Σ x log(x/w), over the templates with x > 0, is at most Σ x²/w − 1, a number."""
    return AtLeast(total(i, share[i] ** 2 / weight[i]) - 1, by, because=because, reason="log t ≤ t − 1, weighed by x")


def finite_for_finite_support() -> Steps:
    """For a u with finite support K(p, u) is finite if and only if p has no mass outside that support."""
    yield Limit(t * sp.log(t / eps), eps, sp.S.Zero, sp.oo, reason="mass t where u has none counts as +∞: only if")
    yield bounded(total(i, xlogx(share[i]) - share[i] * sp.log(weight[i])), total(i, kl(share[i], share[i] ** 2 / weight[i])))


def reversed_divergence() -> AtLeast:
    """Σ w log(w/x) does not have the bound: it is infinite at x_i = 0."""
    right = total(i, weight[i] * sp.log(weight[i]) - weight[i] * sp.log(share[i]))
    nearly_one = Fraction(10**6 - 1, 10**6)
    return AtLeast(
        bounded(sp.S.Zero).left,
        right,
        at={n: 2, share.label: [1 - nearly_one, nearly_one], weight.label: [Fraction(1, 2), Fraction(1, 2)]},
    )


@claim(
    "deciphering.s4.kl-finite",
    "equivalence",
    title="When K(p, u) is finite",
    needs=("deciphering.s4.kl",),
    latex=r"\mathcal K(p,u)<\infty\iff p=0\text{ outside }\operatorname{supp}u",
    hypotheses=SETUP,
)
def finite_divergence() -> Steps:
    """K(p, u) is finite exactly when p vanishes outside the support of u."""
    yield from finite_for_finite_support()


finite_divergence.twin(
    "ten times the divergence is bounded so", lambda: bounded(10 * total(i, xlogx(share[i]) - share[i] * sp.log(weight[i])))
)
finite_divergence.twin("finite where p is positive on the support of u", reversed_divergence)


def tail(limit: sp.Expr) -> Limit:
    """∫_1^R p log(p/u) as R grows."""
    return Limit(heavy_tail(), end, sp.oo, limit, reason="p(a) = 1/a² on a ≥ 1 vanishes nowhere outside the support ℝ of u")


@claim(
    "deciphering.s4.kl-heavy-tail",
    "limit",
    title="Addition: for a Gaussian u the support is not enough",
    latex=r"u=\mathcal N(0,1),\ p(a)=a^{-2}\ (a\ge1)\implies\mathcal K(p,u)=\infty",
    needs=("deciphering.s4.kl",),
)
def heavy_tails() -> Steps:
    """An addition: with the Gaussian u of the next section K(p, u) may be infinite although p has no mass outside supp u."""
    yield tail(sp.oo)


heavy_tails.twin("finite", lambda: tail(number))
heavy_tails.twin("−∞", lambda: tail(-sp.oo))


@claim(
    "deciphering.s4.both-requirements",
    "optimality",
    title="KL keeps p close to u and inside its support",
    latex=r"u=\operatorname{argmin}_p\mathcal K(p,u)",
    needs=("deciphering.s4.kl",),
    hypotheses=SETUP,
)
def both_requirements() -> Steps:
    """The divergence is least at p = u, and only there; a p outside the support of u has an infinite one."""
    yield Limit(t * sp.log(t / eps), eps, sp.S.Zero, sp.oo, reason="mass t outside the support")
    yield closest(u)


def closest(candidate: Entry) -> UniqueMinimum:
    """KL(· ‖ u) is least at the candidate alone."""
    return UniqueMinimum(information, candidate, n, sp.S.One, reason="KL(q ‖ u) is the sum of the kl(q_i ‖ u_i)")


def uniform(template: sp.Expr) -> sp.Expr:
    """1/n."""
    return 1 / n


both_requirements.twin("the uniform distribution is the closest", lambda: closest(uniform))
both_requirements.twin(
    "the square of u, normalized, is the closest", lambda: closest(lambda e: u[e] ** 2 / total(i, u[i] ** 2))
)


@claim(
    "deciphering.s4.minimizer",
    "optimality",
    title="The minimizer exists and is unique",
    needs=("deciphering.4",),
    latex=r"\tilde p=\operatorname{argmin}_pP(p)",
    hypotheses=(*SETUP, "α > 0"),
)
def one_minimizer() -> Steps:
    """The problem has exactly one minimizer, whatever the evidence."""
    yield AtLeast(
        alpha / 2 * total(a, z[a] ** 2) - total(a, (lam[a] - alpha * z[a]) ** 2) / (2 * alpha),
        dual(lam, shifted),
        because=total(i, kl(u[i], tilt(lam)(i))),
        reason="the dual goes to −∞ with ‖λ‖, so it has a maximizer: every μ + z has a λ as in the next line",
        quotes=(WEIERSTRASS,),
    )
    yield minimizes(tilt(lam))


one_minimizer.twin("u", lambda: minimizes(u))
one_minimizer.twin("tilted by 2λ", lambda: minimizes(tilt(lambda e: 2 * lam[e])))


# ── (5) and α ───────────────────────────────────────────────────────────────────────────────────────────────────────


def mean_of_minimizer(right: sp.Expr) -> Equation:
    """The gradient of log M at λ*, which is the minimizer's mean."""
    return Equation(derivative(sp.log(partition(lam)), lam[a]), right, reason="the mean of the tilted distribution")


@claim(
    "deciphering.5",
    "definition",
    title="The estimate is the mean of the minimizer",
    needs=("deciphering.s4.minimizer",),
    latex=r"\hat h=\int a\tilde p(a)da",
)
def estimate() -> Steps:
    """The estimate of h is the mean of the minimizer, which is the gradient of log M at λ*."""
    yield Equation(
        derivative(dual(lam, shifted), lam[a]),
        shifted(a) - lam[a] / alpha - mean(tilt(lam))(a),
        reason="the slope of the dual: at λ* it is 0, so μ + z − ĥ = λ*/α",
    )
    yield mean_of_minimizer(mean(tilt(lam))(a))


estimate.twin("the mean of u", lambda: mean_of_minimizer(mean(u)(a)))
estimate.twin("not normalized", lambda: mean_of_minimizer(total(i, u[i] * sp.exp(total(a, T[i, a] * lam[a])) * T[i, a])))


@claim(
    "deciphering.s4.reliability",
    "inequality",
    title="α is the reliability of μ + z",
    needs=("deciphering.s4.minimizer",),
    latex=r"\tfrac{\alpha_1}2r_1+k_1\le\tfrac{\alpha_1}2r_2+k_2,\ \tfrac{\alpha_2}2r_2+k_2\le\tfrac{\alpha_2}2r_1+k_1"
    r"\implies r_2\le r_1",
)
def reliability() -> Steps:
    """The larger α is, the closer the estimate comes to μ + z, for every u."""
    yield closer(r2)


def closer(right: sp.Expr) -> Follows:
    """The consequence for r₁ if one minimizer is optimal for α, and the other for α + s."""
    larger = alpha + step
    optimal = (AtLeast(alpha / 2 * r2 + k2, alpha / 2 * r1 + k1), AtLeast(larger / 2 * r1 + k1, larger / 2 * r2 + k2))
    return Follows(
        optimal,
        AtLeast(r1, right),
        (2 / step, 2 / step),
        given=optimal,
        reason="added, and divided by s/2",
        at={alpha: 1, step: 1, r1: 1, r2: 0, k1: 0, k2: Fraction(3, 4)},
    )


reliability.twin("a larger α moves the estimate away", lambda: closer(2 * r1 - r2))
reliability.twin("by twice what the divergence pays for", lambda: closer(r2 + 4 * (k2 - k1) / alpha))
