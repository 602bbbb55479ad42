"""Section 6: how much of what one pass of attention certifies is lost, in terms of κ = αL.

Claims     deciphering.s6.covariance-bound   ‖Σy‖² ≤ L⟨y, Σy⟩
           deciphering.s6.one-pass-mean      ‖h_c − ĥ‖ ≤ κ/(1 + κ) ‖h_c − μ‖
           deciphering.s6.one-pass-dual      ‖αz − λ*‖ ≥ α/(1 + κ) ‖h_c − μ‖
Notation   L ≥ ‖t_i − c‖² for every template and some c; κ = αL; g = ĥ − μ = z − λ*/α, so αz = λ* + αg; e = h_c − ĥ, so
           h_c − μ = g + e; y any direction
References nothing of this is printed; Baillon and Haddad's inequality for log M, whose Hessian is a covariance
"""

from fractions import Fraction
from functools import cache
from types import MappingProxyType

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, b, covariance, d, i, lam, mean, mu, n, partition, tilt, u
from derivations.documents.deciphering.section6_theorem1 import FINITE, stationary, tilted
from derivations.vocabulary import *

y, c, g = vector("y", d), vector("c", d), vector("g", d)
kappa = positive("kappa")
COCOERCIVE = "κ⟨g, e⟩ ≥ ‖e‖², which is Baillon and Haddad's inequality for log M"


# ── the Hessian of log M ────────────────────────────────────────────────────────────────────────────────────────────


def along(template: sp.Expr) -> sp.Expr:
    """⟨t_i − μ, y⟩."""
    return total(b, (T[template, b] - mu(b)) * y[b])


def bent(entry: sp.Expr) -> sp.Expr:
    """(Σy)_a."""
    return total(b, covariance(entry, b) * y[b])


def bounded(right: sp.Expr) -> AtLeast:
    """Σ_i u_i ‖t_i − c‖² ⟨t_i − μ, y⟩² ≥ right."""
    left = total(i, u[i] * total(a, (T[i, a] - c[a]) ** 2) * along(i) ** 2)
    spread = total(i, u[i] * total(a, ((T[i, a] - c[a]) * along(i) - bent(a)) ** 2))
    return AtLeast(left, right, because=spread, reason="Σy is the mean of (t_i − c)⟨t_i − μ, y⟩: the variance is not negative")


@cache
def length() -> sp.Expr:
    """‖Σy‖²."""
    return total(a, bent(a) ** 2)


@claim(
    "deciphering.s6.covariance-bound",
    "inequality",
    title="Addition: what the covariance does to a vector",
    hypotheses=FINITE,
    needs=("deciphering.13",),
    latex=r"\|\Sigma y\|^2\le\textstyle\sum_iu_i\|t_i-c\|^2\langle t_i-\mu,y\rangle^2",
)
def covariance_bound() -> Steps:
    """An addition: ‖Σy‖² ≤ L⟨y, Σy⟩ where all templates are within √L of some point, for every law on the templates."""
    yield bounded(length())


covariance_bound.twin("twice as much", lambda: bounded(2 * length()))
covariance_bound.twin("the variance on top", lambda: bounded(length() + total(i, u[i] * along(i) ** 2)))


# ── one pass ────────────────────────────────────────────────────────────────────────────────────────────────────────


def scaled_evidence(entry: sp.Expr) -> sp.Expr:
    """λ*_a + α g_a, which is α z_a where g = ĥ − μ."""
    return lam[entry] + alpha * g[entry]


def missed(entry: sp.Expr) -> sp.Expr:
    """e_a = (h_c − ĥ)_a: what the mean of the tilt by λ* + αg differs by from that of the tilt by λ*."""
    return mean(tilt(scaled_evidence))(entry) - mean(tilted)(entry)


own = total(a, g[a] ** 2)


@cache
def off() -> sp.Expr:
    """‖e‖²."""
    return total(a, missed(a) ** 2)


@cache
def shift() -> sp.Expr:
    """‖g + e‖²."""
    return total(a, (g[a] + missed(a)) ** 2)


@cache
def residue() -> sp.Expr:
    """‖κg − e‖²."""
    return total(a, (kappa * g[a] - missed(a)) ** 2)


@cache
def cocoercive() -> AtLeast:
    """κ⟨g, e⟩ ≥ ‖e‖²."""
    return AtLeast(kappa * total(a, g[a] * missed(a)), off())


EDGE: Point = {
    n: 2,
    d: 1,
    T.label: [[1], [-1]],
    u.label: [Fraction(1, 2)] * 2,
    lam.label: [0],
    alpha: 1,
    g.label: [Fraction(1, 100)],
    kappa: 1,
}
"""Two templates ±1 of equal weight at α = 1, and little evidence: there both bounds are almost equalities."""


def monotone_means() -> Steps:
    """Why Baillon and Haddad's inequality holds for the tilts by λ* and by αz."""
    yield Equation(
        alpha * (stationary(lam)(a) - mu(a)),
        scaled_evidence(a).xreplace({g[a]: mean(tilted)(a) - mu(a)}),
        reason="αz = λ* + α(ĥ − μ), so g is ĥ − μ",
    )
    yield Equation(derivative(sp.log(partition(lam)), lam[a]), mean(tilted)(a), reason="ĥ(λ) is the gradient of log M")
    spread = total(i, tilted(i) * T[i, a] * T[i, b]) - mean(tilted)(a) * mean(tilted)(b)
    yield Equation(
        derivative(mean(tilted)(a), lam[b]),
        spread,
        reason="its Hessian is the covariance of the tilt, ≥ 0 and at most L by deciphering.s6.covariance-bound: so "
        "L⟨αz − λ*, h_c − ĥ⟩ ≥ ‖h_c − ĥ‖², and αz − λ* = αg",
    )


def mean_bound(right: sp.Expr, at: Point = MappingProxyType({})) -> Follows:
    """κ²‖h_c − μ‖² ≥ right where κ⟨g, e⟩ ≥ ‖e‖²."""
    return Follows(
        (cocoercive(),),
        AtLeast(kappa**2 * shift(), right),
        (2 + 2 * kappa,),
        residue(),
        at=at,
        given=(cocoercive(),),
        quotes=(BAILLON_HADDAD,),
        reason="‖κg − e‖² ≥ 0",
    )


@claim(
    "deciphering.s6.one-pass-mean",
    "inequality",
    title="Addition: the mean of one pass is off by at most κ/(1 + κ)",
    hypotheses=(*FINITE, COCOERCIVE),
    needs=("deciphering.s6.covariance-bound",),
    latex=r"(1+\kappa)\|h_c-\hat h\|\le\kappa\|h_c-\mu\|",
)
def one_pass_mean() -> Steps:
    """An addition: one pass bounds the error of its mean by a share of its own distance from μ that is small with κ."""
    yield from monotone_means()
    yield mean_bound((1 + kappa) ** 2 * off())


one_pass_mean.twin("1 + 2κ for 1 + κ", lambda: mean_bound((1 + 2 * kappa) ** 2 * off(), EDGE))
one_pass_mean.twin("κ/(1 + κ) squared", lambda: mean_bound((1 + kappa) ** 4 / kappa**2 * off(), EDGE))


def dual_bound(right: sp.Expr, at: Point = MappingProxyType({})) -> Follows:
    """(1 + κ)²‖g‖² ≥ right where κ⟨g, e⟩ ≥ ‖e‖²."""
    weights = (2 * (kappa + 1) / kappa,)
    return Follows(
        (cocoercive(),),
        AtLeast((1 + kappa) ** 2 * own, right),
        weights,
        (kappa + 2) / kappa * residue(),
        at=at,
        given=(cocoercive(),),
        quotes=(BAILLON_HADDAD,),
        reason="αz − λ* is αg: at least so much of the pass's own distance is error",
    )


@claim(
    "deciphering.s6.one-pass-dual",
    "inequality",
    title="Addition: the dual point of one pass is off by at least 1/(1 + κ)",
    hypotheses=(*FINITE, COCOERCIVE),
    needs=("deciphering.s6.covariance-bound",),
    latex=r"(1+\kappa)\|\alpha z-\lambda^*\|\ge\alpha\|h_c-\mu\|",
)
def one_pass_dual() -> Steps:
    """An addition: αz cannot be nearer to λ* than a share of what one pass measures, which is most of it for small κ."""
    yield from monotone_means()
    yield dual_bound(shift())


one_pass_dual.twin("1 for 1/(1 + κ)", lambda: dual_bound((1 + kappa) ** 2 * shift(), EDGE))
one_pass_dual.twin("1/(1 + κ/2)", lambda: dual_bound((1 + kappa) ** 2 / (1 + kappa / 2) ** 2 * shift(), EDGE))
