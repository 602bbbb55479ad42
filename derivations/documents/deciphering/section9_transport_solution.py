"""Section 9: the problem with entropic transport, and the weights that solve it.

Claims     deciphering.25                  p*(t) = (25) − (α/γ)² Σ_i u_i q_i(t)⟨t − μ_i, Σ̄z⟩ + O(α³)  (corrected)
           deciphering.s9.rewritten        M(t, t') = −γ log u(t) − γ log u(t')  ⟹  W_γ(p, u; M) = γK(p, u), μ̃ = μ
           deciphering.s9.ot-first-order   ĥ = μ̃ + (α/γ)Σ̄z + o(α)
Notation   P a coupling of p and v, v > 0 a preference without zeros, where p has none either; the rest as in
           `notation_transport`
References Section 9 of the document from "Let μ̃ denote" to "we get the OT-based attention"
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, b, z
from derivations.documents.deciphering.notation_transport import (
    SMALL,
    M,
    N,
    S,
    T,
    as_printed,
    base_mean,
    conditional,
    conjugate,
    divergence,
    dual_slope,
    first_order,
    first_scores,
    from_kernel,
    gamma,
    i,
    j,
    k,
    kernel,
    l,
    least_transport,
    linear_dual,
    mean,
    origin,
    primal,
    rival,
    scores,
    second_term,
    spread,
    symmetric,
    tilted,
    to_second_order,
    transport,
    true_mean,
    true_preference,
    u,
    weights,
)
from derivations.vocabulary import *

p0, v = interior("p", N), interior("v", N)
P0 = coupling("P", p0, v)


def without_evidence(right: sp.Expr) -> AtLeast:
    """The objective of (24) for z = 0."""
    off = total(a, (mean(rival)(a) - true_mean(M)(a)) ** 2)
    return AtLeast(
        alpha / 2 * off + transport(rival, M),
        right,
        because=gamma * divergence(rival, kernel(origin, M)) + alpha / 2 * off,
        reason="for z = 0 both terms are least at p = ũ",
    )


@claim(
    "deciphering.24",
    "definition",
    title="The problem with entropic transport",
    needs=("deciphering.23", "deciphering.prop1"),
    latex=r"\min_p\tfrac\alpha2\left\|(\tilde\mu+z)-\int ap(a)da\right\|^2+\mathcal W_\gamma(p,u;M)",
)
def problem() -> Steps:
    """(4) with W_γ for the divergence and μ̃ for μ: without evidence its solution is ũ, as that of (4) is u."""
    yield least_transport(M)
    yield without_evidence(-conjugate(origin, M))


problem.twin("half of W_γ", lambda: without_evidence(-conjugate(origin, M) / 2))
problem.twin(
    "the least cost over all couplings and no entropy",
    lambda: without_evidence(-gamma * total(j, u[j] * sp.log(total(k, sp.exp(-M[k, j] / gamma))))),
)


@claim(
    "deciphering.s9.rewritten",
    "equivalence",
    title="(4) with W_γ for the divergence is (24)",
    needs=("deciphering.24", "deciphering.4"),
    latex=r"M(t,t')=-\gamma\log u(t)-\gamma\log u(t')\implies\mathcal W_\gamma(p,u;M)=\gamma\mathcal K(p,u),\ \tilde\mu=\mu",
)
def rewritten() -> Steps:
    """(4) is rewritten with W_γ in place of K, as said before, and is among such problems: for one cost W_γ is γK and ũ is u.

    Footnote 11 excludes that cost, and for other costs (24) has other solutions than (4).
    """
    yield Fails(
        Equation(true_preference(symmetric)(i), u[i], at={N: 2, u.label: [1, 0], S.label: [[0, 0], [1, 0]], gamma: 1, i: 1}),
        reason="another problem: for z = 0 (4) has the solution u, and (24) ũ, with weight on what u leaves out",
    )
    yield Fails(
        AtLeast(
            self_cost(k),
            self_cost(j),
            strict=True,
            at={N: 2, v.label: [sp.Rational(1, 3), sp.Rational(2, 3)], gamma: 1, j: 1, k: 2},
        ),
        reason="of the costs of footnote 11 none gives (4) back: this one would need u(t') < u(t), for all t and t'",
    )
    leaving = total(l, sp.exp(-(self_cost(l)) / gamma))
    yield Equation(sp.exp(-self_cost(i) / gamma) / leaving, v[i], reason="q_0(i|j) = u_i for every j, so ũ = u and μ̃ = μ")
    yield Equation(
        priced(lambda first, second: p0[first] * v[second]), gamma * total(i, kl(p0[i], v[i])), reason="attained at p uᵀ"
    )
    yield worth(gamma)


def self_cost(destination: sp.Expr) -> sp.Expr:
    """M(t', t) = −γ log u(t') − γ log u(t) for t = t_j, with v for u."""
    return -gamma * (sp.log(v[destination]) + sp.log(v[j]))


def priced(plan: Entries) -> sp.Expr:
    """⟨M, X⟩ − γ H(X) for this cost."""
    return total((i, j), self_cost(i) * plan(i, j)) + gamma * total((i, j), xlogx(plan(i, j)))


def worth(factor: sp.Expr) -> AtLeast:
    """⟨M, X⟩ − γ H(X) ≥ factor · KL(p ‖ u) for every coupling."""
    return AtLeast(
        priced(P0),
        factor * total(i, kl(p0[i], v[i])),
        because=gamma * total((i, j), kl(P0[i, j], p0[i] * v[j])),
        reason="γ KL(X ‖ p uᵀ) ≥ 0",
    )


rewritten.twin("twice the divergence", lambda: worth(2 * gamma))
rewritten.twin("γ² times the divergence and one more", lambda: AtLeast(worth(gamma).left, worth(gamma).right + gamma))


def closed_form(potentials: Entry, cost: Entries = M) -> Entry:
    """(25) for the scores it is given."""
    return weights(conditional(potentials, cost))


@claim(
    "deciphering.25",
    "asymptotic",
    title="The weights of OT-based attention",
    needs=("deciphering.24", "deciphering.38"),
    latex=r"p^*(t)=\sum_{i=1}^nu_i\frac{e^{(\alpha t^\top z-M(t,t_i))/\gamma}}{Z_i},\ "
    r"Z_i=\sum_{t'}e^{(\alpha(t')^\top z-M(t',t_i))/\gamma}",
    hypotheses=(SMALL,),
)
def closed_form_is_the_solution() -> Steps:
    """For small α and α/γ the solution of (24) is printed as equal to a closed form, which holds for every M."""
    yield dual_slope(M)
    yield linear_dual()
    yield as_printed()


@closed_form_is_the_solution.corrected(
    r"p^*(t)=(25)-\tfrac{\alpha^2}{\gamma^2}\sum_iu_iq_i(t)\langle t-\mu_i,\bar\Sigma z\rangle+\mathcal O(\alpha^3),\ "
    r"q_i(t)\propto e^{-M(t,t_i)/\gamma}",
    Severity.SLIP,
    replaces="the equality sign, by an error of order (α/γ)²",
)
def closed_form_to_first_order() -> Steps:
    """The solution and the closed form agree to first order; only α/γ has to be small, and the next term is of order (α/γ)²."""
    shifted = alpha / gamma / 2 * total(a, (z[a] - mean(rival)(a)) ** 2)
    scaled = total((i, j), M[i, j] / gamma * u[j] * rival(i, j)) + total((i, j), xlogx(u[j] * rival(i, j)))
    yield Equation(
        primal(rival, z, M), gamma * (shifted + scaled), reason="the problem depends on α, γ and M through α/γ and M/γ alone"
    )
    yield linear_dual()
    yield to_second_order(closed_form(first_scores)(i) + alpha**2 * second_term(M)(i), M)


closed_form_is_the_solution.twin("twice the second-order term", lambda: from_kernel(sp.Integer(2)))
closed_form_is_the_solution.twin(
    "normalized over the second argument",
    lambda: to_second_order(
        total(l, u[l] * sp.exp((first_scores(i) - M[i, l]) / gamma) / total(k, sp.exp((first_scores(k) - M[l, k]) / gamma)))
        + alpha**2 * second_term(M)(i),
        M,
    ),
)


@claim(
    "deciphering.s9.ot-attention",
    "definition",
    title="OT-based attention",
    needs=("deciphering.25",),
    latex=r"\hat h=\int ap^*(a)da\text{ with (25)}",
)
def ot_attention() -> Steps:
    """(25) put into (5): an average, weighed by u, of attentions over all of 𝒜 with the bias −M(·, t_l)/γ, one for each t_l."""
    yield Equation(
        total(i, closed_form(scores(first_order))(i)), 1, about=(z[a], T[i, a]), reason="the weights (25) have mass 1"
    )
    yield attended(alpha, gamma)


def attended(strength: sp.Expr, scale: sp.Expr) -> Equation:
    """Σ_i p*_i t_i against Σ_l u_l Σ_i t_i softmax_i((s⟨t_i, z⟩ − M_il)/scale)."""

    def raw(to: sp.Expr, of: sp.Expr) -> sp.Expr:
        return sp.exp((strength * total(b, T[to, b] * z[b]) - M[to, of]) / scale)

    one = total(i, raw(i, l) * T[i, a]) / total(k, raw(k, l))
    return Equation(
        total(i, closed_form(scores(first_order))(i) * T[i, a]), total(l, u[l] * one), reason="the sums change places"
    )


ot_attention.twin("the evidence's sign", lambda: attended(-alpha, gamma))
ot_attention.twin("γ is lost", lambda: attended(alpha, sp.S.One))


@claim(
    "deciphering.s9.ot-first-order",
    "asymptotic",
    title="Addition: OT-based attention moves the mean by (α/γ)Σ̄z",
    needs=("deciphering.s9.ot-attention",),
    latex=r"\hat h=\tilde\mu+\tfrac\alpha\gamma\bar\Sigma z+o(\alpha)",
)
def first_order_of_ot() -> Steps:
    """An addition: the mean is μ̃ without evidence, and moves by the average covariance of the kernel's columns."""
    yield moved_mean(total(b, spread(a, b) * z[b]))


def moved_mean(shift: sp.Expr) -> Expansion:
    """ĥ to first order in α; Q is the kernel of M at γ."""
    start = total(j, u[j] * base_mean(j, a))
    return Expansion(mean(tilted(first_order))(a), start + alpha / gamma * shift, alpha, 1, reason="(25) put into (5)")


first_order_of_ot.twin("the evidence itself", lambda: moved_mean(z[a]))
first_order_of_ot.twin("γ is lost", lambda: moved_mean(gamma * total(b, spread(a, b) * z[b])))
