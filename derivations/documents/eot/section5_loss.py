"""Section 5, the first line of the proof of Theorem 5.2: the chain rule through the weights, for losses that are not linear.

Claims     eot.48   ∂L/∂s_j = −Σ_k u_k ∂p_k/∂s_j for every differentiable L, linear in the context or not
Notation   p = softmax(s/τ); L any differentiable loss, ⟨g, c⟩ + ½⟨c, Gc⟩ the one that is written out; u = −∂L/∂p; p_k moves
           to p_k(s_j + t), with Δp_k/t = x_k + ρ b_k and a_k = −u_k + ρ a_k, ρ → 0
References the proof of Theorem 5.2 of the document; Acosta and Delgado (1994)
"""

import sympy as sp

from derivations.documents.eot.notation import V, c, j, k, m, s, softmax, tau, u
from derivations.documents.eot.section5_gradient import context, linear_loss, p, through_weights, utility
from derivations.vocabulary import *

CARATHEODORY = Theorem(
    "Carathéodory's criterion",
    "L is differentiable at p exactly if L(x) − L(p) = Σ_k a_k(x)(x_k − p_k) with functions a_k that are continuous at p; the "
    "a_k(p) are its partial derivatives.",
    "Acosta and Delgado, Fréchet vs. Carathéodory, Amer. Math. Monthly 101 (1994)",
)
step, miss = positive("t"), positive("ρ")
off, lag, rate = vector("a", m), vector("b", m), vector("x", m)
G, b = vector("G", V.shape[1], V.shape[1]), index("b", V.shape[1])


def shifted(key: sp.Expr) -> sp.Expr:
    """p_k with s_j + t for s_j."""
    return softmax(lambda other: s[other] + step * delta(other, j), tau)(key)


def curved_loss(plan: Entry) -> sp.Expr:
    """⟨g, c⟩ + ½⟨c, Gc⟩ at c = c(p)."""
    return linear_loss(plan) + total((b, c), context(plan, b) * G[b, c] * context(plan, c)) / 2


def curved_utility(key: sp.Expr) -> sp.Expr:
    """−⟨∇L, v_j⟩ with ∇L = g + ½(G + Gᵀ)c."""
    return utility(key) - total((b, c), (G[b, c] + G[c, b]) / 2 * context(p, b) * V[key, c])


@claim(
    "eot.48",
    "identity",
    title="Chain rule through the weights",
    needs=("eot.45",),
    hypotheses=("L differentiable",),
    latex=r"\frac{\partial\mathcal L}{\partial s_j} = \sum_k\frac{\partial\mathcal L}{\partial p_k}"
    r"\frac{\partial p_k}{\partial s_j} = -\sum_k u_k\frac{\partial p_k}{\partial s_j}",
)
def chain_rule() -> Steps:
    """The loss depends on a score through every weight, each with slope −u_k, whether it is linear in the context or not."""
    yield Limit(
        (shifted(k) - p(k)) / step,
        step,
        sp.S.Zero,
        p(k) * (delta(k, j) - p(j)) / tau,
        reason="with s_j + t for s_j each weight moves at the rate x_k = ∂p_k/∂s_j;",
    )
    yield Limit(
        total(k, (miss * off[k] - u[k]) * (rate[k] + miss * lag[k])),
        miss,
        sp.S.Zero,
        -total(k, u[k] * rate[k]),
        reason="the loss by Σ a_k Δp_k/t, a_k → −u_k and Δp_k/t → x_k: for any differentiable loss, and",
        quotes=(CARATHEODORY,),
    )
    yield Equation(
        derivative(curved_loss(p), s[j]),
        through_weights(curved_utility),
        reason="in one formula for L = ⟨g, c⟩ + ½⟨c, Gc⟩, of which the utilities change with the weights",
    )


chain_rule.twin("the sign", lambda: Equation(derivative(curved_loss(p), s[j]), -through_weights(curved_utility)))
chain_rule.twin(
    "its own weight only", lambda: Equation(derivative(curved_loss(p), s[j]), -curved_utility(j) * derivative(p(j), s[j]))
)
