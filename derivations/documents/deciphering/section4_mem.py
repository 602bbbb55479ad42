"""Section 4, a maximum entropy on the mean perspective: the problem with a constraint in place of the penalty.

Claims     deciphering.s4.mem             some ‖r(p)‖² < 1/(2α)  ⟹  p̃ = tilt(κr(p̃)), κ ≥ 0, κ(‖r(p̃)‖² − 1/(2α)) = 0
           deciphering.s4.mem-minimizes   argmin of (4) = argmin {K(p, u) : ‖r(p)‖ ≤ ‖λ*‖/α}  (corrected)
           deciphering.s4.perspectives    P(p̃) ≤ P(q) and ‖r(q)‖ ≤ ‖r(p̃)‖  ⟹  K(p̃, u) ≤ K(q, u)
Notation   r(p) = μ + z − Σ_i p_i t_i; p* = tilt(λ); kappa = κ > 0 the multiplier of the constraint; b = μ + z, v any
           direction of ℝ^d, s > 0; p̃ and q any two laws on the templates, p̃ with
           mass on all of them
References Section 4 of the document after (5)
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering.appendix_b_perspectives import constant, eta, likelihood, log_prior, p, q, sigma
from derivations.documents.deciphering.notation import T, a, alpha, d, i, lam, mean, n, primal, shifted, tilt, u, z
from derivations.documents.deciphering.section4_problem import closer, information, r2
from derivations.vocabulary import *

kappa, reach = positive("kappa"), positive("s")
b, v = vector("b", d), vector("v", d)
Place = dict[Variable, Value]
HALF = Fraction(1, 2)


def fits(strength: sp.Expr, candidate: Entry) -> Entry:
    """The μ + z that lies λ/strength away from the mean of tilt(λ)."""
    return lambda e: lam[e] / strength + mean(candidate)(e)


def residual(of: Entry, target: Entry) -> sp.Expr:
    """‖μ + z − Σ_i p_i t_i‖²."""
    return total(a, (target(a) - mean(of)(a)) ** 2)


# ── the constraint ──────────────────────────────────────────────────────────────────────────────────────────────────


def nothing_fits() -> Fails:
    """With n = 1 the only p is u, and its residual is z."""
    return Fails(
        AtLeast(1 / (2 * alpha), residual(q, shifted), at={n: 1, d: 1, alpha: 1, T.label: [[0]], u.label: [1], z.label: [1]}),
        reason="n = 1: p = u is the only p with a finite divergence, and it does not satisfy the constraint",
    )


def room(right: sp.Expr) -> AtLeast:
    """1/(2α) is at least the right side."""
    return AtLeast(1 / (2 * alpha), right, because=1 / (2 * alpha) - right if right == 0 else None)


@claim(
    "deciphering.6",
    "definition",
    title="The mean is not far from μ + z",
    needs=("deciphering.2",),
    hypotheses=("α > 0",),
    latex=r"\left\|(\mu+z)-\int ap(a)da\right\|^2\le\frac1{2\alpha}",
)
def constraint() -> Steps:
    """The mean of p lies in a ball around μ + z with the squared radius 1/(2α); for z = 0 that of u does."""
    apart = total(a, (total(i, (u[i] - q[i]) * T[i, a]) + z[a]) ** 2)
    yield Equation(residual(q, shifted), apart, reason="so it is ‖z‖² at p = u")
    yield room(sp.S.Zero)


def between(upper: sp.Expr, right: sp.Expr) -> Equation:
    """The squared residual of the law with mass `upper` at b + sv and the rest at b − sv."""
    middle = upper * (b[a] + reach * v[a]) + (1 - upper) * (b[a] - reach * v[a])
    return Equation(
        total(a, (b[a] - middle) ** 2),
        right,
        about=(reach, alpha, v[a]),
        reason="half its mass at b + sv and half at b − sv: another law for every s > 0, with the mean b",
    )


@claim(
    "deciphering.s4.infinitely-many",
    "identity",
    title="Infinitely many distributions satisfy the constraint",
    latex=r"\#\{p:\|(\mu+z)-\int ap(a)da\|^2\le\tfrac1{2\alpha}\}=\infty",
    needs=("deciphering.6",),
    hypotheses=("p is any distribution on ℝ^d", "α > 0"),
)
def infinitely_many() -> Steps:
    """Among the distributions on ℝ^d infinitely many satisfy the constraint; among those supported by u one or none may."""
    yield nothing_fits()
    yield between(sp.S.Half, sp.S.Zero)


infinitely_many.twin("the spread counts as a residual", lambda: between(sp.S.Half, reach**2 * total(a, v[a] ** 2)))
infinitely_many.twin("the residual is all that is allowed", lambda: between(sp.S.Half, 1 / (2 * alpha)))


# ── the constrained problem ─────────────────────────────────────────────────────────────────────────────────────────


def saddle(strength: sp.Expr, candidate: Entry) -> UniqueMinimum:
    """KL(p ‖ u) + κ/2 (‖r(p)‖² − ‖λ‖²/κ²) is least at the candidate alone, for the μ + z that lies λ/κ off tilt(λ)."""
    tilted = tilt(lam)
    target, square = fits(strength, tilted), total(a, lam[a] ** 2) / strength**2

    def lagrangian(of: Entry) -> sp.Expr:
        return information(of) + strength / 2 * (residual(of, target) - square)

    def excess(of: Entry) -> sp.Expr:
        return strength / 2 * total(a, (mean(of)(a) - mean(tilted)(a)) ** 2)

    return UniqueMinimum(
        lagrangian,
        candidate,
        n,
        sp.S.One,
        slack=excess,
        reason="so no q in the ball has a smaller divergence: there the second term is ≤ 0, and 0 at p*",
        quotes=(INTERMEDIATE_VALUE,),
    )


def on_the_sphere(strength: sp.Expr) -> Equation:
    """p* lies on the boundary of the ball."""
    tilted = tilt(lam)
    return Equation(
        residual(tilted, fits(strength, tilted)),
        total(a, lam[a] ** 2) / strength**2,
        reason="μ + z − Σ_i p*_i t_i = λ/κ: the squared radius is ‖λ‖²/κ²",
    )


@claim(
    "deciphering.s4.mem",
    "optimality",
    title="The constrained problem has a solution",
    needs=("deciphering.6",),
    latex=r"\tilde p=\operatorname{argmin}_p\mathcal K(p,u)\ \text{s.t.}\ \|(\mu+z)-\int ap(a)da\|^2\le\tfrac1{2\alpha}",
    hypotheses=("α > 0",),
)
def constrained() -> Steps:
    """The distribution closest to u among those that satisfy the constraint is said to be picked, whatever z."""
    yield nothing_fits()


@constrained.corrected(
    r"\exists p\ll u:\|r(p)\|^2<\tfrac1{2\alpha}\implies\tilde p=\mathrm{tilt}(\lambda),\ "
    r"\lambda=\kappa r(\tilde p),\ \kappa\ge0,\ \kappa(\|r(\tilde p)\|^2-\tfrac1{2\alpha})=0",
    Severity.HYPOTHESIS,
    under="some distribution on the support of u satisfies the constraint strictly, and that support is finite",
    replaces="all distributions that satisfy the constraint, of which there may be none",
)
def feasible() -> Steps:
    """If u itself satisfies the constraint it is picked; else a tilt of u on the boundary, and only that.

    The residual of the tilt falls continuously, from ‖z‖ to the distance from the hull, as κ grows: so some κ fits.
    """
    yield UniqueMinimum(information, u, n, sp.S.One, reason="κ = 0: nothing is closer to u than u")
    yield closer(r2)
    yield on_the_sphere(kappa)
    yield saddle(kappa, tilt(lam))


constrained.twin("u although it violates the constraint", lambda: saddle(kappa, u))
constrained.twin("the tilt's sign", lambda: saddle(kappa, tilt(lambda e: -lam[e])))


@claim(
    "deciphering.s4.mem-minimizes",
    "equivalence",
    title="The constrained solution also minimizes the penalized problem",
    latex=r"\operatorname{argmin}\{\mathcal K(p,u):\|r(p)\|^2\le\tfrac1{2\alpha}\}"
    r"=\operatorname{argmin}\tfrac\alpha2\|r(p)\|^2+\mathcal K(p,u)",
    needs=("deciphering.s4.mem", "deciphering.s4.minimizer"),
    hypotheses=("α > 0",),
    part_of="deciphering.s4.perspectives",
)
def same_minimizer() -> Steps:
    """The problem with the squared radius 1/(2α) is said to have the solution of (4); for small α it returns u."""
    small = AtLeast(1 / (2 * alpha), total(a, z[a] ** 2))
    yield AtLeast(
        1 / (2 * alpha),
        residual(u, shifted),
        given=(small,),
        reason="u satisfies the constraint whenever α ≤ 1/(2‖z‖²): for small α, as assumed later on, and any z",
    )
    yield UniqueMinimum(information, u, n, sp.S.One, reason="then it is the solution, and the evidence has no effect")
    yield Fails(
        UniqueMinimum(
            lambda of: primal(of, shifted),
            u,
            n,
            sp.S.One,
            at={n: 2, d: 1, alpha: 1, T.label: [[1], [-1]], u.label: [HALF, HALF], z.label: [HALF]},
        ),
        reason="z = 1/2 and α = 1, so ‖z‖² < 1/(2α): but u does not minimize (4)",
    )


@same_minimizer.corrected(
    r"\rho(\alpha)=\|\lambda^*\|/\alpha=\|r(\tilde p)\|:\ \operatorname{argmin}\{\mathcal K(p,u):"
    r"\|r(p)\|\le\rho(\alpha)\}=\operatorname{argmin}\tfrac\alpha2\|r(p)\|^2+\mathcal K(p,u)",
    Severity.FATAL,
    replaces="the squared radius 1/(2α) of the constraint",
)
def own_radius() -> Steps:
    """The penalized minimizer solves the constrained problem of radius ‖λ*‖/α, which is (2α)^(−1/2) only if ‖λ*‖² = α/2."""
    yield on_the_sphere(alpha)
    yield saddle(alpha, tilt(lam))


same_minimizer.twin("u", lambda: saddle(alpha, u))
same_minimizer.twin("tilted by λ/2", lambda: saddle(alpha, tilt(lambda e: lam[e] / 2)))


def by_likelihood() -> Equation:
    """The penalized log likelihood is a constant less η times the objective (4)."""
    return Equation(
        likelihood(q) - eta * information(q),
        constant - eta * primal(q, shifted, 1 / (eta * sigma**2)),
        reason="maximum likelihood",
    )


QUARTER = Fraction(1, 4)
BALL: Place = {
    n: 2,
    d: 1,
    T.label: [[1], [-1]],
    u.label: [HALF, HALF],
    z.label: [1],
    alpha: Fraction(3, 2),
    p.label: [3 * QUARTER, QUARTER],
    q.label: [7 * QUARTER / 2, QUARTER / 2],
}
"""Two templates, ±1, and two laws of which the second is farther from u and nearer to μ + z = 1."""


def least_in_its_ball(left: sp.Expr, right: sp.Expr) -> Follows:
    """left ≥ right, where p̃ has no larger objective (4) than q, and q lies in the ball around μ + z through p̃'s mean."""
    optimal = AtLeast(primal(q, shifted), primal(p, shifted))
    inside = AtLeast(residual(p, shifted), residual(q, shifted))
    return Follows(
        (optimal, inside),
        AtLeast(left, right),
        (sp.S.One, alpha / 2),
        given=(optimal, inside),
        at=BALL,
        reason="maximum entropy on the mean: the minimizer of (4) is closest to u in the ball of its own radius; "
        "that this radius is not (2α)^(−1/2) is what deciphering.s4.mem-minimizes says",
    )


def maximum_entropy() -> Follows:
    """K(q, u) ≥ K(p̃, u)."""
    return least_in_its_ball(information(q), information(p))


@claim(
    "deciphering.s4.perspectives",
    "equivalence",
    title="Three perspectives lead to the problem",
    latex=r"P(\tilde p)\le P(q),\ \|r(q)\|\le\|r(\tilde p)\|\implies\mathcal K(\tilde p,u)\le\mathcal K(q,u)",
    needs=("deciphering.sB.alpha-likelihood", "deciphering.sB.map"),
    hypotheses=("α⁻¹ = ησ²",),
)
def perspectives() -> Steps:
    """Likelihood and posterior lead to the problem; so does maximum entropy on the mean, for the ball that fits α."""
    yield by_likelihood()
    alike = primal(q, shifted, 1 / (eta * sigma**2))
    yield Equation(likelihood(q) + log_prior(q), constant - eta * alike, reason="maximum a posteriori")
    yield maximum_entropy()


perspectives.twin("the other way round", lambda: least_in_its_ball(information(p), information(q)))
perspectives.twin(
    "by α times what the squared residual falls",
    lambda: least_in_its_ball(information(q), information(p) + alpha * (residual(p, shifted) - residual(q, shifted))),
)
