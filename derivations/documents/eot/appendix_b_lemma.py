"""Appendix B, the lemma: does the problem meet the theorem's conditions, and where does its gradient vanish?

Claims     eot.lemB.4              ∇f*(s) = p*(s) = argmax h, and no other point
           eot.sB.conditions-met   s + c1 is a subgradient of f at p*(s) for every c: f has no gradient  (corrected)
           eot.sB.first-order      p = p*(s)  ⟺  ∂_j h(p) = ∂_k h(p) for all j, k, on the open simplex  (corrected)
           eot.136                 ∇(⟨p, s⟩ − τ Σ p log p) = (φ(s) − τ)1 at p*, and not 0  (corrected)
           eot.138                 s = ∇(τ Σ p log p)(p*) + (φ(s) − τ)1  (corrected)
Notation   f, f*, φ, p* as in the first half; h(p) = ⟨p, s⟩ − f(p); w > 0 a vector that need not lie in the simplex
References Lemma B.4 of the document and its proof; Rockafellar (1970), §23 and §25, on subgradients and gradients
"""

import sympy as sp

from derivations.documents.eot.appendix_b_conjugate import (
    attained_at,
    colder,
    divergence,
    elsewhere,
    inner,
    mixture,
    negentropy,
    odds,
    p,
    pairing,
    potential,
    q,
    reversed_scores,
    star,
    uniform,
)
from derivations.documents.eot.notation import j, k, l, m, partition, s, softmax, tau
from derivations.documents.eot.section3_existence import scalar_convexity
from derivations.vocabulary import *

c, step = scalar("c"), scalar("h")
w, inside = vector("w", m, kind=Positive), interior("y", m)
EVEN: dict[Variable, Value] = {m: 2, s.label: [0, 0], tau: 1, j: 1}


def mass_beside(at: Entry) -> sp.Expr:
    """Σ_l (p_l + h δ_lj), the mass of the points that a partial derivative in p_j compares with p."""
    return total(l, at(l) + step * delta(l, j))


def supports(level: sp.Expr) -> AtLeast:
    """f lies above the plane with slope s + level·1 that touches it at p*(s)."""
    plane = negentropy(star) + total(j, (p[j] - star(j)) * (s[j] + level))
    return AtLeast(
        negentropy(p),
        plane,
        because=tau * divergence(p, star),
        reason="Σ (p − p*) = 0, so the level does not matter: every s + c·1 is a subgradient of f at p*(s)",
        quotes=(UNIQUE_SUBGRADIENT,),
    )


@claim(
    "eot.sB.conditions-met",
    "equivalence",
    title="The constrained entropy is said to meet the theorem's conditions",
    latex=r"f\text{ is differentiable on its domain }\Delta^{m-1}",
    needs=("eot.125",),
)
def conditions_met() -> Steps:
    """The appendix announces a proof that f meets the conditions of the theorem, differentiability among them."""
    yield Equation(mass_beside(star), 1 + step, reason="p* + h e_j has mass 1 + h, so f is +∞ there for every h ≠ 0:")
    yield Fails(
        Equation(mass_beside(star), 1, at={**EVEN, step: sp.S.Half}),
        reason="f has no partial derivative at any point, as a derivative needs values beside the point",
    )


@conditions_met.corrected(
    r"\partial f(p^\star(s))\supseteq\{s+c\mathbf 1:c\in\mathbb R\}",
    Severity.FATAL,
    replaces="the gradient of f, by its subgradients",
)
def subgradients() -> Steps:
    """f has no gradient anywhere; at p*(s) each s + c·1 is a subgradient, so only differences of scores are determined."""
    yield supports(c)


conditions_met.twin("a plane through a higher point", lambda: AtLeast(supports(c).left, supports(c).right + tau))
conditions_met.twin(
    "the plane of other scores", lambda: AtLeast(negentropy(p), negentropy(star) - total(j, (p[j] - star(j)) * (s[j] + c)))
)


@claim(
    "eot.lemB.4",
    "optimality",
    title="The gradient of the potential is the maximizer",
    needs=("eot.134", "eot.135"),
    latex=r"\nabla f^*(s)=p^\star(s)=\arg\max_p\{\langle p,s\rangle-f(p)\}",
    hypotheses=("τ > 0",),
)
def gradient_is_maximizer() -> Steps:
    """The conjugate is differentiable, and its gradient is the only point that attains it."""
    yield Equation(inner(star), potential(), reason="f*(s) = τ log Z")
    yield Equation(derivative(potential(), s[j]), star(j), reason="chain rule")
    yield attained_at(star)


gradient_is_maximizer.twin("the gradient at −s", lambda: attained_at(reversed_scores))
gradient_is_maximizer.twin("the gradient at 2s", lambda: attained_at(colder))


@claim(
    "eot.133",
    "definition",
    title="The constrained entropy function again",
    needs=("eot.125",),
    latex=r"f(p)=\tau\textstyle\sum_jp_j\log p_j+I_\Delta(p)",
)
def constrained_again() -> Steps:
    """The f of (125): at most 0 on the simplex, and 0 at its corners."""
    yield AtLeast(0, negentropy(p), reason="p log p ≤ 0 for p ≤ 1; 0 only where each p_j is 0 or 1: at a corner")
    yield Equation(negentropy(uniform), -tau * sp.log(m), reason="at the uniform vector")


def slope_of_potential(power: int = 1, sign: int = 1) -> Equation:
    """∂f*/∂s_j against the maximizer."""
    return Equation(derivative(potential(), s[j]), sign * star(j) ** power, reason="∂(τ log Z)/∂s_j = exp(s_j/τ)/Z")


@claim("eot.134", "identity", title="∇f* = p*", needs=("eot.defB.2", "eot.149"), latex=r"\nabla f^*(s)=p^\star(s)")
def gradient_of_conjugate() -> Steps:
    """Each partial derivative of the conjugate is the corresponding optimal weight."""
    yield slope_of_potential()


gradient_of_conjugate.twin("the sign", lambda: slope_of_potential(sign=-1))
gradient_of_conjugate.twin("squared", lambda: slope_of_potential(power=2))


@claim(
    "eot.135",
    "optimality",
    title="The maximizer is well defined",
    needs=("eot.127",),
    latex=r"p^\star(s)=\arg\sup_p\{\langle p,s\rangle-f(p)\}",
)
def maximizer() -> Steps:
    """The supremum is attained at exactly one point, so it is a maximum and p*(s) is well defined."""
    yield attained_at(star)


maximizer.twin("the minimizer of the pairing", lambda: attained_at(reversed_scores))
maximizer.twin("the uniform vector", lambda: attained_at(uniform))


def gap_of_h(strength: sp.Expr) -> Equation:
    """h between two points less its chord, against `strength` times the gaps of φ(x) = x log x."""
    chord = (odds * inner(p) + inner(q)) / (1 + odds)
    gaps = total(j, (odds * xlogx(p[j]) + xlogx(q[j])) / (1 + odds) - xlogx(mixture(j)))
    return Equation(inner(mixture) - chord, strength * gaps, reason="the linear term cancels")


@claim(
    "eot.sB.strictly-concave",
    "inequality",
    title="The inner objective is strictly concave on the simplex",
    latex=r"h(tp+(1-t)x)>th(p)+(1-t)h(x)\ (p\ne x)",
    needs=("eot.s3.strictly-convex",),
)
def strictly_concave() -> Steps:
    """Between any two points of the simplex h lies above its chord, by τ times the gaps of x log x; elsewhere it is −∞."""
    yield from scalar_convexity()
    yield gap_of_h(tau)


strictly_concave.twin("convex", lambda: gap_of_h(-tau))
strictly_concave.twin("τ is lost", lambda: gap_of_h(sp.S.One))


# ── the first-order condition ───────────────────────────────────────────────────────────────────────────────────────


def slope_of_h(at: Entry) -> sp.Expr:
    """s_j − τ (log p_j + 1), the slope of ⟨p, s⟩ − τ Σ p log p in p_j."""
    return s[j] - tau * (sp.log(at(j)) + 1)


def tangential(of: sp.Expr) -> Equation:
    """At p* the slope of h is the same in every coordinate."""
    return Equation(slope_of_h(star), of, reason="τ log p*_j = s_j − φ")


@claim(
    "eot.sB.first-order",
    "equivalence",
    title="A vanishing gradient as first-order condition",
    needs=("eot.135",),
    latex=r"p=p^\star(s)\iff\nabla_ph(p)=0",
)
def first_order() -> Steps:
    """A vanishing gradient of h in R^m is called necessary and sufficient for the maximizer on the simplex."""
    yield attained_at(star)
    yield Fails(
        Equation(slope_of_h(star), 0, at=EVEN),
        reason="s = (0, 0), τ = 1: the maximizer is (1/2, 1/2), and both slopes there are log 2 − 1",
    )


@first_order.corrected(
    r"p=p^\star(s)\iff\partial_jh(p)-\partial_kh(p)=0\ \text{for all } j,k"
    r"\quad(p\in\mathrm{int}\,\Delta^{m-1})",
    Severity.FATAL,
)
def first_order_along_simplex() -> Steps:
    """On the simplex only slopes along it must vanish: all partial derivatives of h agree, at p* alone."""
    yield attained_at(star)
    difference = slope_of_h(inside) - slope_of_h(inside).xreplace({j: k})
    yield Equation(
        difference,
        tau * sp.log(star(j) / star(k)) - tau * sp.log(inside[j] / inside[k]),
        reason="so they agree iff p_j/p_k = p*_j/p*_k for all j, k, iff p = p*",
    )
    yield tangential(potential() - tau)


first_order.twin("the common value is φ", lambda: tangential(potential()))
first_order.twin("the common value is τ − φ", lambda: tangential(tau - potential()))


@claim(
    "eot.136",
    "identity",
    title="The gradient of h vanishes at the maximizer",
    needs=("eot.135",),
    latex=r"\nabla_ph(p)\big|_{p=p^\star(s)}=0",
)
def vanishing_gradient() -> Steps:
    """The gradient of ⟨p, s⟩ − f(p) in R^m is said to be zero at p*."""
    yield Fails(Equation(slope_of_h(star), 0, at=EVEN), reason="s = (0, 0), τ = 1: 0 − (log ½ + 1) = log 2 − 1")


@vanishing_gradient.corrected(
    r"\nabla_p(\langle p,s\rangle-\tau\textstyle\sum p\log p)\big|_{p^\star}=(\phi(s)-\tau)\mathbf 1", Severity.FATAL
)
def constant_gradient() -> Steps:
    """Every partial derivative is φ(s) − τ at p*: the gradient is a multiple of 1, normal to the simplex."""
    yield tangential(potential() - tau)


vanishing_gradient.twin("τ log m in every coordinate", lambda: tangential(tau * sp.log(m)))
vanishing_gradient.twin("the common value is φ", lambda: tangential(potential()))


def smooth(strength: sp.Expr, sign: int = 1) -> sp.Expr:
    """s_j less the slope of τ Σ w log w."""
    return s[j] - sign * derivative(strength * total(l, w[l] * sp.log(w[l])), w[j])


@claim("eot.137", "identity", title="The gradient of h", needs=("eot.sB.conditions-met",), latex=r"\nabla_ph(p)=s-\nabla f(p)")
def gradient_of_h() -> Steps:
    """The gradient of h is said to be s less that of f, which contains the indicator of the simplex."""
    yield Equation(mass_beside(p), 1 + step, reason="beside p in direction e_j the mass is 1 + h: there f is +∞ and h −∞")
    yield Fails(
        Equation(mass_beside(p), 1, at={m: 2, p.label: [sp.S.Half, sp.S.Half], j: 1, step: sp.S.Half}),
        reason="so neither f nor h has a partial derivative at any point of the simplex",
    )


@gradient_of_h.corrected(
    r"\nabla_p(\langle p,s\rangle-\tau\textstyle\sum p\log p)=s-\nabla(\tau\sum p\log p)",
    Severity.HYPOTHESIS,
    under="f is read as τ Σ p log p on all p > 0, without the indicator",
    replaces="the indicator in f and h",
)
def gradient_without_indicator() -> Steps:
    """For the formula τ Σ p log p on p > 0, where there is a gradient, the slope of h is s_j less that of f."""
    h = total(l, w[l] * s[l]) - tau * total(l, w[l] * sp.log(w[l]))
    yield Equation(derivative(h, w[j]), slope_of_h(w), reason="δ-sums collapse; (w log w)' = log w + 1")
    yield Equation(derivative(h, w[j]), smooth(tau), reason="gradients are linear")


def slope_of_sum() -> sp.Expr:
    """∂h/∂w_j."""
    return derivative(total(l, w[l] * s[l]) - tau * total(l, w[l] * sp.log(w[l])), w[j])


gradient_of_h.twin("the sign of ∇f", lambda: Equation(slope_of_sum(), smooth(tau, -1)))
gradient_of_h.twin("τ is lost", lambda: Equation(slope_of_sum(), smooth(sp.S.One)))


def gradient_at_maximizer() -> sp.Expr:
    """∂(τ Σ p log p)/∂p_j at p*."""
    return tau * (sp.log(star(j)) + 1)


@claim(
    "eot.138",
    "equivalence",
    title="The scores are the gradient of f at the maximizer",
    needs=("eot.136", "eot.137"),
    latex=r"s=\nabla f(p^\star(s))",
)
def scores_are_gradient() -> Steps:
    """Setting the gradient to zero is said to give s as the gradient of f at p*."""
    yield Fails(
        Equation(gradient_at_maximizer(), s[j], at=EVEN),
        reason="s = (0, 0), τ = 1: the slope of p log p at p* = ½ is 1 − log 2",
    )


@scores_are_gradient.corrected(r"s=\nabla(\tau\textstyle\sum p\log p)(p^\star)+(\phi(s)-\tau)\mathbf 1", Severity.FATAL)
def scores_up_to_constant() -> Steps:
    """s is the gradient of τ Σ p log p at p* plus the multiple φ(s) − τ of 1; the missing term is the multiplier."""
    yield recovered(potential() - tau)


def recovered(multiplier: sp.Expr) -> Equation:
    """The gradient at p* is s less a multiplier."""
    return Equation(gradient_at_maximizer(), s[j] - multiplier, reason="τ log p*_j = s_j − φ(s)")


scores_are_gradient.twin("the multiplier is φ", lambda: recovered(potential()))
scores_are_gradient.twin("the multiplier's sign", lambda: recovered(tau - potential()))


@claim(
    "eot.139",
    "identity",
    title="The maximizer is the gradient of the conjugate",
    needs=("eot.134",),
    latex=r"p^\star(s)=\nabla f^*(s)",
)
def conclusion() -> Steps:
    """The conclusion of the proof is true, though not by (138): at p* the plane with slope p* supports f*, which is smooth."""
    yield AtLeast(
        potential(elsewhere),
        potential() + pairing(star, elsewhere) - pairing(star, s),
        because=tau * divergence(star, softmax(elsewhere, tau)),
        reason="p* is a subgradient of f* at s",
    )
    yield Equation(star(j), derivative(tau * sp.log(partition(s, tau)), s[j]), reason="and f* has a gradient")


conclusion.twin("τ too many", lambda: Equation(star(j), derivative(sp.log(partition(s, tau)), s[j]) * tau**2))
conclusion.twin("the gradient of V", lambda: Equation(star(j), -derivative(tau * sp.log(partition(s, tau)), s[j])))
