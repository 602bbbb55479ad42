"""Section 9, additions: properties of the weights (25) that whoever uses the layer wants to know.

Claims     deciphering.s9.normalized       Σ_t p*(t) = 1, over all t in 𝒜
           deciphering.s9.bilinear-cost    M(a, b) = C − aᵀb  ⟹  p*(t) = Σ_j u_j softmax(⟨t, αz + t_j⟩/γ)
           deciphering.s9.hot              γ → ∞  ⟹  p*(t) → 1/|𝒜|
           deciphering.s9.one-pass-bound   γ KL(X_αz ‖ X*) + α/2 ‖h_αz − ĥ‖² ≤ α/2 ‖μ̃ − h_αz‖²
Notation   as in `notation_transport`; t = 1/γ; C − ⟨t_i, t_j⟩ the experiment's cost
References Section 9 of the document; none of this is printed there
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, b, lam, z
from derivations.documents.deciphering.notation_transport import (
    M,
    N,
    T,
    Y,
    divergence,
    first_order,
    gamma,
    i,
    k,
    kernel,
    l,
    mean,
    nu,
    plain,
    scores,
    stationary,
    swapped,
    u,
    weights,
)
from derivations.vocabulary import *

C, inverse = scalar("C"), positive("t")


def closed_form(template: sp.Expr) -> sp.Expr:
    """(25), for any costs."""
    return weights(kernel(first_order, M))(template)


@claim(
    "deciphering.s9.normalized",
    "identity",
    title="Addition: the weights of OT-based attention sum to one",
    latex=r"\sum_{t\in\mathcal A}p^*(t)=1",
    needs=("deciphering.25",),
)
def normalized() -> Steps:
    """Addition: the weights (25) are a probability on 𝒜, for any costs, because Z_i sums over where the mass goes."""
    yield mass(lambda of: total(k, plain(scores(first_order), M)(k, of)))


def mass(normalizer: Entry) -> Equation:
    """Σ_i Σ_j u_j exp((α⟨t_i, z⟩ − M_ij)/γ) over a normalizer."""
    share = plain(scores(first_order), M)
    return Equation(total((i, l), u[l] * share(i, l) / normalizer(l)), 1, reason="each u_j is shared out whole")


normalized.twin("normalized over the source", lambda: mass(lambda of: total(k, plain(scores(first_order), swapped(M))(k, of))))
normalized.twin("the evidence is left out of Z", lambda: mass(lambda of: total(k, sp.exp(-M[k, of] / gamma))))


def bilinear(to: sp.Expr, of: sp.Expr) -> sp.Expr:
    """C − ⟨t_i, t_j⟩, the experiment's cost."""
    return C - total(b, T[to, b] * T[of, b])


def averaged(query: Entries) -> Entry:
    """i ↦ Σ_j u_j softmax_i(⟨t_i, query(j)⟩/γ), where query(j) has the entries query(j, a)."""

    def score(to: sp.Expr, of: sp.Expr) -> sp.Expr:
        return sp.exp(total(b, T[to, b] * query(of, b)) / gamma)

    return lambda to: total(l, u[l] * score(to, l) / total(k, score(k, l)))


def as_attention(query: Entries) -> Equation:
    """(25) with the experiment's cost."""
    return Equation(
        weights(kernel(first_order, bilinear))(i),
        averaged(query)(i),
        reason="the exponent is (⟨t_i, αz + t_j⟩ − C)/γ, and C cancels",
    )


@claim(
    "deciphering.s9.bilinear-cost",
    "identity",
    title="Addition: with M = C − aᵀb the queries are αz + t_j",
    latex=r"M_{ij}=C-\langle t_i,t_j\rangle\implies p^*_i=\sum_ju_j\,\mathrm{softmax}([\langle t_k,\alpha z+t_j\rangle/"
    r"\gamma]_k)_i",
    needs=("deciphering.25",),
)
def bilinear_cost() -> Steps:
    """Addition: with the experiment's cost (25) averages ordinary attention over the queries αz + t_j; C plays no part."""
    yield as_attention(lambda of, entry: alpha * z[entry] + T[of, entry])


bilinear_cost.twin("the template is taken off", lambda: as_attention(lambda of, entry: alpha * z[entry] - T[of, entry]))
bilinear_cost.twin("the evidence alone", lambda: as_attention(lambda of, entry: alpha * z[entry]))


def in_inverse(template: sp.Expr) -> sp.Expr:
    """(25) with t for 1/γ and Y_i for ⟨t_i, z⟩."""

    def growth(to: sp.Expr, of: sp.Expr) -> sp.Expr:
        return sp.exp(inverse * (alpha * Y[to] - M[to, of]))

    return total(l, u[l] * growth(template, l) / total(k, growth(k, l)))


def when_hot(limit: sp.Expr) -> Expansion:
    """(25) as γ → ∞."""
    return Expansion(in_inverse(i), limit, inverse, 0, reason="every exponent goes to 0", about=(M[i, l],))


@claim(
    "deciphering.s9.hot",
    "limit",
    title="Addition: for large γ all templates weigh the same",
    needs=("deciphering.25",),
    latex=r"\gamma\to\infty\implies p^*(t)\to1/|\mathcal A|",
    hypotheses=("finite costs",),
)
def hot() -> Steps:
    """Addition: as γ grows, (25) forgets the preference, the evidence and the costs, and becomes uniform on 𝒜."""
    spread = total(l, u[l] * (alpha * Y[i] - M[i, l] - total(k, alpha * Y[k] - M[k, l]) / N))
    yield Expansion(in_inverse(i), 1 / N + inverse * spread / N, inverse, 1, reason="to first order in 1/γ")
    yield when_hot(1 / N)


hot.twin("the preference stays", lambda: when_hot(u[i]))
hot.twin("the mass is lost", lambda: when_hot(1 / (2 * N)))


def bound(times: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """α/2 ‖∇D(ν)‖² ≥ times · (γ KL(X_ν ‖ X*) + α/2 ‖h_ν − ĥ‖²), where λ maximizes D."""
    here, best = kernel(nu, M), kernel(lam, M)
    slope = total(a, (stationary(lam, M)(a) - nu[a] / alpha - mean(here)(a)) ** 2)
    away = gamma * divergence(here, best) + alpha / 2 * total(a, (mean(here)(a) - mean(best)(a)) ** 2)
    return AtLeast(
        alpha / 2 * slope,
        times * away,
        because=because,
        reason="what is left is γ KL(X* ‖ X_ν) + ‖λ − ν‖²/(2α); at ν = αz the slope is μ̃ − h_ν",
    )


@claim(
    "deciphering.s9.one-pass-bound",
    "inequality",
    title="Addition: how far (25) is from the exact solution, at most",
    latex=r"\gamma\,\mathrm{KL}(X(\alpha z)\|X(\lambda^*))+\tfrac\alpha2\|h(\alpha z)-h(\lambda^*)\|^2"
    r"\le\tfrac\alpha2\|\tilde\mu-h(\alpha z)\|^2",
    needs=("deciphering.38", "deciphering.39"),
)
def one_pass_bound() -> Steps:
    """Addition: one pass of (25) bounds its own distance from the solution of (24), for any costs, without solving it."""
    here, best = kernel(nu, M), kernel(lam, M)
    yield bound(sp.S.One, gamma * divergence(best, here) + total(a, (lam[a] - nu[a]) ** 2) / (2 * alpha))


one_pass_bound.twin("a tenth of the slope would do", lambda: bound(sp.Integer(10)))
one_pass_bound.twin("nine tenths of the slope are more than enough", lambda: bound(sp.Rational(19, 10)))
