"""Section 6: what a dual point, or one pass of attention, certifies about the exact solution.

Claims     deciphering.s6.dual-distance    ‖λ − λ*‖ ≤ α‖∇D(λ)‖
           deciphering.s6.suboptimality    P(q) − P(p*) = K(q, p*) + α/2 ‖h_q − ĥ‖²
           deciphering.s6.one-pass-gap     P(p_c) − D(αz) = α/2 ‖μ − h_c‖²
           deciphering.s6.one-pass-bound   K(p_c, p*) + α/2 ‖h_c − ĥ‖² ≤ α/2 ‖μ − h_c‖²
           deciphering.s6.scale            P(q; sT, sz, α/s²) = P(q; T, z, α)
Notation   P, D as in Theorem 1; p(x) = tilt(x), h(x) = Σ_i p_i(x) t_i; y a second dual point; p_c = p(αz), h_c its mean
References nothing of this is printed; it makes Theorem 1 and (18) computable with a guarantee
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, d, dual, i, lam, mean, mu, n, primal, shifted, tilt, u, z
from derivations.documents.deciphering.section6_approximation import scaled
from derivations.documents.deciphering.section6_theorem1 import FINITE, distance, divergence, stationary, tilted
from derivations.vocabulary import *

q, y, g = simplex("q", n), vector("y", d), vector("g", d)
s, shift = positive("s"), vector("c", d)


second = tilt(y)
exact = mean(tilted)


# ── the dual point ──────────────────────────────────────────────────────────────────────────────────────────────────


def below(ceiling: sp.Expr) -> AtLeast:
    """ceiling ≥ D(λ)."""
    gap = total(a, (lam[a] - scaled(a)) ** 2) / (2 * alpha) + divergence(u, tilted)
    return AtLeast(
        ceiling,
        dual(lam, shifted),
        because=gap,
        reason="the gap grows like ‖λ − αz‖²/(2α): D has a maximizer",
        quotes=(WEIERSTRASS,),
    )


@claim(
    "deciphering.s6.maximizer",
    "inequality",
    title="Addition: the dual has a maximizer",
    hypotheses=FINITE,
    needs=("deciphering.9",),
    latex=r"\tfrac\alpha2\|z\|^2-D(\lambda)=\tfrac1{2\alpha}\|\lambda-\alpha z\|^2+\mathcal K(u,p(\lambda))",
)
def has_maximizer() -> Steps:
    """An addition: the dual is continuous and bounded by a concave quadratic with peak α‖z‖²/2 at αz, so a maximizer exists."""
    yield below(alpha / 2 * total(a, z[a] ** 2))


has_maximizer.twin("half of the bound", lambda: below(alpha / 4 * total(a, z[a] ** 2)))
has_maximizer.twin("bounded by 0", lambda: below(sp.S.Zero))


def gradient(entry: sp.Expr) -> sp.Expr:
    """∇D(y)_a for the z for which λ maximizes (9)."""
    return stationary(lam)(entry) - y[entry] / alpha - mean(second)(entry)


def far_from_maximizer(right: sp.Expr) -> AtLeast:
    """α²‖∇D(y)‖² ≥ right."""
    both = divergence(tilted, second) + divergence(second, tilted)
    return AtLeast(
        alpha**2 * total(a, gradient(a) ** 2),
        right,
        reason="D is 1/α-strongly concave",
        because=alpha**2 * distance(exact, mean(second)) + 2 * alpha * both,
    )


def apart(entry: sp.Expr) -> sp.Expr:
    """(y − λ*)_a."""
    return y[entry] - lam[entry]


@claim(
    "deciphering.s6.dual-distance",
    "inequality",
    title="Addition: the gradient bounds the distance to the maximizer",
    latex=r"\|\lambda-\lambda^*\|\le\alpha\|\nabla D(\lambda)\|",
    hypotheses=FINITE,
    needs=("deciphering.9",),
)
def dual_distance() -> Steps:
    """An addition: a dual point is within α times its gradient's length of the maximizer, which therefore is unique."""
    yield far_from_maximizer(total(a, apart(a) ** 2))


dual_distance.twin("half of the bound", lambda: far_from_maximizer(4 * total(a, apart(a) ** 2)))
dual_distance.twin("√α for α", lambda: far_from_maximizer(alpha * total(a, apart(a) ** 2)))


# ── the plan ────────────────────────────────────────────────────────────────────────────────────────────────────────


def excess(right: sp.Expr) -> Equation:
    """P(q) − P(p*) against its form."""
    return Equation(primal(q, stationary(lam)) - primal(tilted, stationary(lam)), right, reason="λ* = α(μ + z − ĥ)")


@claim(
    "deciphering.s6.suboptimality",
    "identity",
    title="Addition: what a plan loses",
    hypotheses=FINITE,
    needs=("deciphering.11",),
    latex=r"P(q)-P(p^*)=\mathcal K(q,p^*)+\tfrac\alpha2\|h_q-\hat h\|^2",
)
def suboptimality() -> Steps:
    """An addition: a plan loses its divergence from the minimizer plus α/2 times the squared distance of the means."""
    yield excess(divergence(q, tilted) + alpha / 2 * distance(mean(q), exact))


suboptimality.twin("the other divergence", lambda: excess(divergence(q, u) + alpha / 2 * distance(mean(q), exact)))
suboptimality.twin("only the divergence", lambda: excess(divergence(q, tilted)))

pass_mean = mean(tilt(scaled))


def one_pass(right: sp.Expr) -> Equation:
    """P(p_c) − D(αz) against its form."""
    return Equation(primal(tilt(scaled), shifted) - dual(scaled, shifted), right, reason="μ + z − h_c − λ/α is μ − h_c at αz")


@claim(
    "deciphering.s6.one-pass-gap",
    "identity",
    title="Addition: the duality gap of one pass of attention",
    hypotheses=FINITE,
    latex=r"P(p_c)-D(\alpha z)=\tfrac\alpha2\|\mu-h_c\|^2",
    needs=("deciphering.9", "deciphering.18"),
)
def one_pass_gap() -> Steps:
    """An addition: with p_c = tilt(αz), primal less dual value is α/2 times the squared distance of h_c from μ."""
    yield one_pass(alpha / 2 * distance(mu, pass_mean))


one_pass_gap.twin("the distance from μ + z", lambda: one_pass(alpha / 2 * distance(shifted, pass_mean)))
one_pass_gap.twin("1/2 is lost", lambda: one_pass(alpha * distance(mu, pass_mean)))


def scaled_evidence(entry: sp.Expr) -> sp.Expr:
    """λ*_a + α g_a, which is α z_a where g = ĥ − μ."""
    return lam[entry] + alpha * g[entry]


def origin(entry: sp.Expr) -> sp.Expr:
    """ĥ_a − g_a, which is μ_a."""
    return exact(entry) - g[entry]


def certified(right: sp.Expr) -> AtLeast:
    """α/2 ‖μ − h_c‖² ≥ right."""
    attention = tilt(scaled_evidence)
    slack = divergence(tilted, attention) + alpha / 2 * total(a, g[a] ** 2)
    return AtLeast(alpha / 2 * distance(origin, mean(attention)), right, because=slack, reason="with αz = λ* + α(ĥ − μ)")


def loss() -> sp.Expr:
    """KL(p_c ‖ p*) + α/2 ‖h_c − ĥ‖²."""
    return divergence(tilt(scaled_evidence), tilted) + alpha / 2 * distance(mean(tilt(scaled_evidence)), exact)


@claim(
    "deciphering.s6.one-pass-bound",
    "inequality",
    title="Addition: what one pass of attention can be off by",
    hypotheses=FINITE,
    latex=r"\mathcal K(p_c,p^*)+\tfrac\alpha2\|h_c-\hat h\|^2\le\tfrac\alpha2\|\mu-h_c\|^2",
    needs=("deciphering.s6.one-pass-gap", "deciphering.s6.suboptimality"),
)
def one_pass_bound() -> Steps:
    """An addition: one pass bounds its own error; h_c is no farther from the exact estimate than from μ, its plan is near."""
    yield Equation(
        alpha * (stationary(lam)(a) - mu(a)),
        scaled_evidence(a).xreplace({g[a]: exact(a) - mu(a)}),
        reason="αz = λ* + α(ĥ − μ), so g is ĥ − μ",
    )
    yield certified(loss())


one_pass_bound.twin("the distance of ĥ from μ counts twice", lambda: certified(loss() + alpha * total(a, g[a] ** 2)))
one_pass_bound.twin(
    "the divergence of the minimizer counts twice", lambda: certified(loss() + 2 * divergence(tilted, tilt(scaled_evidence)))
)


# ── what does not change ────────────────────────────────────────────────────────────────────────────────────────────


def objective_with(average: Entry, aim: Entry, strength: sp.Expr) -> sp.Expr:
    """α/2 ‖target − average‖² + KL(q ‖ u)."""
    return strength / 2 * distance(aim, average) + divergence(q, u)


def translated(by: Entry, weights: Entry) -> Entry:
    """a ↦ Σ_i w_i (t_i + c)_a."""
    return lambda entry: total(i, weights(i) * (T[i, entry] + by(entry)))


def after_shift(right: sp.Expr) -> Equation:
    """The objective (4) with all templates moved by c and the same z."""
    center = translated(shift, u)
    moved_objective = objective_with(translated(shift, q), lambda entry: center(entry) + z[entry], alpha)
    return Equation(moved_objective, right, reason="μ moves with the templates")


@claim(
    "deciphering.s6.shift",
    "identity",
    title="Addition: moving all templates changes no weight",
    hypotheses=FINITE,
    latex=r"P(q;T+\mathbf1c^\top,z)=P(q;T,z)",
    needs=("deciphering.thm1",),
)
def shift_invariance() -> Steps:
    """An addition: a common shift of the templates leaves the objective, the minimizer and λ* as they are."""
    yield after_shift(primal(q, shifted))


shift_invariance.twin("the target stays", lambda: after_shift(primal(q, lambda entry: shifted(entry) - shift[entry])))
shift_invariance.twin("the divergence only", lambda: after_shift(divergence(q, u)))


def after_scaling(right: sp.Expr) -> Equation:
    """The objective (4) for templates sT and evidence sz, with α/s²."""
    scaled_objective = objective_with(lambda entry: s * mean(q)(entry), lambda entry: s * shifted(entry), alpha / s**2)
    return Equation(scaled_objective, right, reason="s² cancels")


@claim(
    "deciphering.s6.scale",
    "identity",
    title="Addition: small α alone means nothing",
    hypotheses=FINITE,
    latex=r"P(q;sT,sz,\alpha/s^2)=P(q;T,z,\alpha)",
    needs=("deciphering.thm1",),
)
def scale_invariance() -> Steps:
    """An addition: templates and evidence times s with α/s² give the same weights; α times squared lengths must be small."""
    yield after_scaling(primal(q, shifted))


scale_invariance.twin("α/s² for α", lambda: after_scaling(primal(q, shifted, alpha / s**2)))
scale_invariance.twin("s times the objective", lambda: after_scaling(s * primal(q, shifted)))
