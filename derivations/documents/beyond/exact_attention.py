"""Exact attention: what any query solves, and how the exact solution moves with its evidence.

Claims     beyond.one-pass-optimal   softmax attention is, for every α, the only minimizer of KL(p, u) − α⟨z, E_p⟩
           beyond.any-query          P(q) − P(p_λ) = KL(q, p_λ) + α/2 ‖h_q − h_λ‖² − α⟨∇D(λ), h_q − h_λ⟩
           beyond.evidence-split     α²‖z‖² = ‖λ*‖² + ‖αz − λ*‖² + 2α(KL(p*, u) + KL(u, p*))
           beyond.dual-monotone      ⟨z₁ − z₂, λ₁ − λ₂⟩ = ‖λ₁ − λ₂‖²/α + KL(p₁, p₂) + KL(p₂, p₁)
           beyond.estimate-monotone  ⟨z₁ − z₂, ĥ₁ − ĥ₂⟩ = ‖ĥ₁ − ĥ₂‖² + (KL(p₁, p₂) + KL(p₂, p₁))/α
Notation   P the objective (4) of `deciphering`, D its dual (9); p_λ = tilt(λ), h_λ its mean, so that attention with the query λ
           has the output h_λ; ∇D(λ) = μ + z − h_λ − λ/α; λ* the maximizer of D, ĥ its mean; λ = λ₁ and y = λ₂ the maximizers
           for two evidences z₁ and z₂ = λ/α + h_λ − μ
References Bauschke and Combettes (2017), section 4.1, for what is called firmly nonexpansive: λ*/α and ĥ both are, in z

In words, which nothing checks: attention with the query λ solves (4) exactly where ∇D(λ) is orthogonal to all differences of
templates; z = λ/α + h_λ − μ is enough, and is needed only where these differences span the space.
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, d, dual, lam, mean, mu, n, primal, shifted, tilt, u, z
from derivations.documents.deciphering.section6_theorem1 import FINITE, distance, divergence, stationary
from derivations.vocabulary import *

q, y = simplex("q", n), vector("y", d)


first, second = tilt(lam), tilt(y)
h, h_other, h_plan = mean(first), mean(second), mean(q)


def product(x: Entry, w: Entry) -> sp.Expr:
    """⟨x, w⟩ of vectors with d entries."""
    return total(a, x(a) * w(a))


def minus(x: Entry, w: Entry) -> Entry:
    """a ↦ x_a − w_a."""
    return lambda entry: x(entry) - w(entry)


def jeffreys(x: Entry, w: Entry) -> sp.Expr:
    """KL(x, w) + KL(w, x)."""
    return divergence(x, w) + divergence(w, x)


# ── one pass, and any other query ───────────────────────────────────────────────────────────────────────────────────


def linear(strength: sp.Expr) -> UniqueMinimum:
    """The minimizer of KL(p, u) − α⟨z, E_p⟩ is the tilt by strength · z."""

    def objective(of: Entry) -> sp.Expr:
        return divergence(of, u) - alpha * product(z, mean(of))

    return UniqueMinimum(
        objective,
        tilt(lambda entry: strength * z[entry]),
        n,
        sp.S.One,
        reason="the objective less its value there is KL(q, p_αz)",
    )


@claim(
    "beyond.one-pass-optimal",
    "optimality",
    title="The problem that one pass of attention solves",
    hypotheses=FINITE,
    needs=("deciphering.18",),
    latex=r"p_{\alpha z}=\arg\min_p\mathcal K(p,u)-\alpha\langle z,\mathbb E_p[a]\rangle",
)
def one_pass_optimal() -> Steps:
    """For every α, large or small, attention with the query αz solves exactly the problem whose fit is linear in the mean."""
    yield linear(alpha)


one_pass_optimal.twin("the query z", lambda: linear(sp.S.One))
one_pass_optimal.twin("the query 2αz", lambda: linear(2 * alpha))


def slope(entry: sp.Expr) -> sp.Expr:
    """∇D(λ)_a = μ_a + z_a − h_a − λ_a/α."""
    return shifted(entry) - h(entry) - lam[entry] / alpha


def excess(right: sp.Expr) -> Equation:
    """P(q) − P(p_λ) for any z."""
    return Equation(primal(q, shifted) - primal(first, shifted), right, reason="log(p_λ/u) is ⟨t, λ⟩ less a constant")


def with_slope(weight: sp.Expr) -> sp.Expr:
    """KL(q, p_λ) + α/2 ‖h_q − h_λ‖² − weight · ⟨∇D(λ), h_q − h_λ⟩."""
    return divergence(q, first) + alpha / 2 * distance(h_plan, h) - weight * product(slope, minus(h_plan, h))


@claim(
    "beyond.any-query",
    "identity",
    title="How far attention with any query is from solving the problem",
    hypotheses=FINITE,
    needs=("deciphering.4", "deciphering.9"),
    latex=r"P(q)-P(p_\lambda)=\mathcal K(q,p_\lambda)+\tfrac\alpha2\|h_q-h_\lambda\|^2"
    r"-\alpha\langle\nabla D(\lambda),h_q-h_\lambda\rangle",
)
def any_query() -> Steps:
    """Any weights lose a divergence and a squared distance against attention with the query λ, less what ∇D gains."""
    yield excess(with_slope(alpha))


any_query.twin("the slope without α", lambda: excess(with_slope(sp.S.One)))
any_query.twin("the slope is left out", lambda: excess(with_slope(sp.S.Zero)))


def gap(right: sp.Expr) -> Equation:
    """P(p_λ) − D(λ)."""
    return Equation(primal(first, shifted) - dual(lam, shifted), right, reason="the square of α∇D(λ) = α(μ + z − h_λ) − λ")


@claim(
    "beyond.any-query-gap",
    "identity",
    title="The duality gap of attention with any query",
    hypotheses=FINITE,
    needs=("deciphering.9",),
    latex=r"P(p_\lambda)-D(\lambda)=\tfrac\alpha2\|\nabla D(\lambda)\|^2",
)
def any_query_gap() -> Steps:
    """The value of attention with the query λ and the dual value at λ are as far apart as ∇D(λ) is long."""
    yield gap(alpha / 2 * product(slope, slope))


any_query_gap.twin("1/2 is lost", lambda: gap(alpha * product(slope, slope)))
any_query_gap.twin("1/α for α", lambda: gap(product(slope, slope) / (2 * alpha)))


# ── how the solution moves with the evidence ────────────────────────────────────────────────────────────────────────


def own(entry: sp.Expr) -> sp.Expr:
    """The z_a for which λ maximizes D: λ/α + h_λ − μ."""
    return stationary(lam)(entry) - mu(entry)


def others(entry: sp.Expr) -> sp.Expr:
    """The z_a for which y maximizes D."""
    return stationary(y)(entry) - mu(entry)


def shortfall(entry: sp.Expr) -> sp.Expr:
    """(αz − λ*)_a, which is α(ĥ − μ)_a."""
    return alpha * own(entry) - lam[entry]


def split(right: sp.Expr) -> Equation:
    """α²‖z‖² against its parts."""
    return Equation(alpha**2 * product(own, own), right, reason="αz = λ* + α(ĥ − μ), and ⟨λ*, ĥ − μ⟩ = KL(p*, u) + KL(u, p*)")


def parts(weight: sp.Expr) -> sp.Expr:
    """‖λ*‖² + ‖αz − λ*‖² + weight · (KL(p*, u) + KL(u, p*))."""
    return product(lam, lam) + product(shortfall, shortfall) + weight * jeffreys(first, u)


@claim(
    "beyond.evidence-split",
    "identity",
    title="What becomes of the evidence",
    hypotheses=FINITE,
    needs=("deciphering.9",),
    latex=r"\alpha^2\|z\|^2=\|\lambda^*\|^2+\|\alpha z-\lambda^*\|^2+2\alpha\,(\mathcal K(p^*,u)+\mathcal K(u,p^*))",
)
def evidence_split() -> Steps:
    """The squared length of αz is that of λ*, that of what λ* lacks, and both divergences between the solution and u."""
    yield split(parts(2 * alpha))


evidence_split.twin("α for 2α", lambda: split(parts(alpha)))
evidence_split.twin("no divergence", lambda: split(parts(sp.S.Zero)))


def longer(right: sp.Expr) -> AtLeast:
    """α²‖z‖² ≥ right."""
    return AtLeast(
        alpha**2 * product(own, own), right, because=2 * alpha * jeffreys(first, u), reason="the divergences are not negative"
    )


@claim(
    "beyond.shrinkage",
    "inequality",
    title="The exact query is a shrunken αz",
    hypotheses=FINITE,
    needs=("beyond.evidence-split",),
    latex=r"\|\lambda^*\|^2+\|\alpha z-\lambda^*\|^2\le\alpha^2\|z\|^2",
)
def shrinkage() -> Steps:
    """λ* lies in the ball with the diameter from 0 to αz, so that neither it nor its distance from αz exceeds α‖z‖."""
    yield longer(product(lam, lam) + product(shortfall, shortfall))


shrinkage.twin("λ* counts twice", lambda: longer(2 * product(lam, lam) + product(shortfall, shortfall)))
shrinkage.twin("what λ* lacks counts four times", lambda: longer(product(lam, lam) + 4 * product(shortfall, shortfall)))


def along(direction: Entry, right: sp.Expr, reason: str) -> Equation:
    """⟨z₁ − z₂, direction⟩."""
    return Equation(product(minus(own, others), direction), right, reason=reason)


def of_duals(strength: sp.Expr, weight: sp.Expr = sp.S.One) -> Equation:
    """⟨z₁ − z₂, λ₁ − λ₂⟩ against ‖λ₁ − λ₂‖²/strength and the divergences."""
    return along(
        minus(lam, y),
        distance(lam, y) / strength + weight * jeffreys(first, second),
        "⟨h₁ − h₂, λ₁ − λ₂⟩ = KL(p₁, p₂) + KL(p₂, p₁), as log(p₁/p₂) is ⟨t, λ₁ − λ₂⟩ less a constant",
    )


@claim(
    "beyond.dual-monotone",
    "identity",
    title="The exact query moves less than the evidence",
    hypotheses=FINITE,
    needs=("deciphering.9",),
    latex=r"\langle z_1-z_2,\lambda_1-\lambda_2\rangle=\tfrac1\alpha\|\lambda_1-\lambda_2\|^2"
    r"+\mathcal K(p_1,p_2)+\mathcal K(p_2,p_1)",
)
def dual_monotone() -> Steps:
    """λ*/α is a firmly nonexpansive function of z, for every u and every α."""
    yield of_duals(alpha)


dual_monotone.twin("α is lost", lambda: of_duals(sp.S.One))
dual_monotone.twin(
    "one divergence counts twice",
    lambda: along(minus(lam, y), distance(lam, y) / alpha + 2 * divergence(first, second), "not symmetric"),
)


def of_estimates(weight: sp.Expr) -> Equation:
    """⟨z₁ − z₂, ĥ₁ − ĥ₂⟩ against ‖ĥ₁ − ĥ₂‖² and weight times the divergences."""
    return along(
        minus(h, h_other),
        distance(h, h_other) + weight * jeffreys(first, second),
        "z = λ/α + ĥ − μ, and ⟨h₁ − h₂, λ₁ − λ₂⟩ = KL(p₁, p₂) + KL(p₂, p₁)",
    )


@claim(
    "beyond.estimate-monotone",
    "identity",
    title="The exact estimate moves less than the evidence",
    hypotheses=FINITE,
    needs=("beyond.dual-monotone",),
    latex=r"\langle z_1-z_2,\hat h_1-\hat h_2\rangle=\|\hat h_1-\hat h_2\|^2"
    r"+\tfrac1\alpha(\mathcal K(p_1,p_2)+\mathcal K(p_2,p_1))",
)
def estimate_monotone() -> Steps:
    """ĥ is a firmly nonexpansive function of z, however large α is."""
    yield of_estimates(1 / alpha)


estimate_monotone.twin("α for 1/α", lambda: of_estimates(alpha))
estimate_monotone.twin("no divergence", lambda: of_estimates(sp.S.Zero))
