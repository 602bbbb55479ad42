"""Appendix B, the theorem on gradients of conjugates: what is printed, and what is true.

Claims     eot.thmB.3                  f closed, convex: p ∈ ∂f*(s) ⟺ s ∈ ∂f(p) ⟺ f(p) + f*(s) = ⟨p, s⟩  (corrected)
           eot.132                     f of (125): p = ∇f*(s) ⟺ s ∈ ∂f(p) ⟺ f(p) + f*(s) = ⟨p, s⟩  (corrected)
           eot.sB.equality-condition   f of (125): f(p) + f*(s) − ⟨p, s⟩ = τ KL(p ‖ p*(s))  (corrected)
           eot.sB.biconjugate          f of (125): f**(p) = f(p) on the open simplex  (corrected)
           eot.sB.equality-symmetric   f closed, strictly convex: f(p) + f*(s) = ⟨p, s⟩  ⟺  p = ∇f*(s)
Notation   f, f*, φ, p* as in the first half; F_p, F_x the values f(p), f(x) and G_s, G_t the values f*(s), f*(t) of any f;
           a, b, v ≥ 0 and the numbers p, s belong to the examples with m = 1
References Theorem B.3 of the document and its proof; Rockafellar (1970), Theorems 12.2, 23.5 and 26.5
"""

import sympy as sp

from derivations.documents.eot.appendix_b_conjugate import (
    divergence,
    elsewhere,
    negentropy,
    p,
    pairing,
    potential,
    reversed_scores,
    star,
    uniform,
)
from derivations.documents.eot.notation import j, m, s, tau
from derivations.vocabulary import *

a, beyond = scalar("a", Nonnegative), scalar("v", Nonnegative)
b, c = positive("b"), scalar("c")
inside = interior("y", m)
point, rival = vector("p", m), vector("x", m)
F_p, F_x, F_mid, G_s, G_t = (scalar(name) for name in ("F_p", "F_x", "F_mid", "G_s", "G_t"))
edge, slope = positive("p"), scalar("s")


def parabola_on_an_interval() -> Steps:
    """f(p) = p² on [0, 1]: f*(3) = 2 at p = 1, f* has slope 1 there, and ∇f(1) = 2."""
    share, rest = 1 / (1 + a), a / (1 + a)
    yield AtLeast(
        1 + beyond,
        (2 + beyond) * share - share**2,
        because=rest * (beyond + rest),
        reason="f(p) = p² on [0, 1], p = 1/(1 + a): ⟨p, t⟩ − f(p) ≤ t − 1 for t = 2 + v (at p = 0 it is 0)",
    )
    yield Equation(
        derivative(1 + beyond, beyond),
        1,
        about=(beyond,),
        reason="p = 1 gives t − 1 itself, so f*(t) = t − 1 for t ≥ 2, and ∇f*(3) = 1",
    )
    yield Fails(
        Equation(derivative(edge**2, edge), slope, at={edge: 1, slope: 3}),
        reason="1 = ∇f*(3), but ∇f(1) = 2, not 3 (and on the open interval (0, 1) f has no gradient at 1 at all)",
    )


def as_values(scores: Entry, at: sp.IndexedBase, of: sp.Expr) -> sp.Expr:
    """⟨p, s⟩ − f(p), with the value of f given."""
    return total(j, at[j] * scores(j)) - of


def implied(
    premises: tuple[AtLeast, ...],
    conclusion: AtLeast,
    weights: tuple[sp.Expr, ...],
    *,
    reason: str,
    quotes: tuple[Theorem, ...] = (),
) -> Follows:
    """A consequence of hypotheses on the values of f and f*."""
    return Follows(premises, conclusion, weights, given=premises, reason=reason, quotes=quotes)


def touches() -> Follows:
    """If p attains f*(s), then f* lies above the plane with slope p through its value at s."""
    return implied(
        (AtLeast(G_t, as_values(elsewhere, point, F_p)), AtLeast(as_values(s, point, F_p), G_s)),
        AtLeast(G_t, G_s + total(j, point[j] * (elsewhere[j] - s[j]))),
        (sp.S.One, sp.S.One),
        reason="f*(t) ≥ ⟨p, t⟩ − f(p) for every t: p is a subgradient of f* at s",
    )


@claim(
    "eot.thmB.3",
    "equivalence",
    title="Gradient of the convex conjugate",
    needs=("eot.defB.2",),
    latex=r"f\text{ strictly convex, differentiable on its domain}\implies f^*\text{ differentiable},\ "
    r"(\nabla f)^{-1}=\nabla f^*",
)
def conjugate_gradient() -> Steps:
    """Differentiability of f on its domain and strict convexity are said to make ∇f* the inverse of ∇f."""
    yield Limit(
        derivative(b * sp.log(b) - b, b),
        b,
        sp.S.Zero,
        -sp.oo,
        reason="f(p) = exp(p): f*(s) = s log s − s for s > 0, f*(0) = 0, and no derivative at 0",
    )
    yield from parabola_on_an_interval()


@conjugate_gradient.corrected(
    r"f \text{ closed, proper, convex}:\ p\in\partial f^*(s)\iff s\in\partial f(p)\iff f(p)+f^*(s)="
    r"\langle p,s\rangle;\ f\text{ strictly convex}\implies\text{at most one such } p",
    Severity.HYPOTHESIS,
    replaces="the inverse gradients, by subgradients",
)
def conjugate_subgradient() -> Steps:
    """For closed convex f, p is a subgradient of f* at s exactly when p attains f*(s), and strict convexity leaves one p."""
    yield implied(
        (AtLeast(F_x, as_values(s, rival, G_s)), AtLeast(as_values(s, point, F_p), G_s)),
        AtLeast(F_x, F_p + total(j, (rival[j] - point[j]) * s[j])),
        (sp.S.One, sp.S.One),
        reason="f(x) ≥ ⟨x, s⟩ − f*(s): if p attains f*(s), then s is a subgradient of f at p",
    )
    yield implied(
        (AtLeast(F_x, F_p + total(j, (rival[j] - point[j]) * s[j])),),
        AtLeast(as_values(s, point, F_p), as_values(s, rival, F_x)),
        (sp.S.One,),
        reason="conversely, at a subgradient s of f at p no x gives more than p: p attains f*(s)",
    )
    yield implied(
        (AtLeast(G_t, G_s + total(j, point[j] * (elsewhere[j] - s[j]))),),
        AtLeast(as_values(s, point, G_s), as_values(elsewhere, point, G_t)),
        (sp.S.One,),
        reason="and if p is a subgradient of f* at s, f**(p) = ⟨p, s⟩ − f*(s): with f** = f, p attains f*(s)",
        quotes=(FENCHEL_MOREAU,),
    )
    halfway = total(j, (point[j] + rival[j]) / 2 * s[j])
    yield implied(
        (
            AtLeast((F_p + F_x) / 2, F_mid, strict=True),
            AtLeast(as_values(s, point, F_p), G_s),
            AtLeast(as_values(s, rival, F_x), G_s),
        ),
        AtLeast(halfway - F_mid, G_s, strict=True),
        (sp.S.One, sp.S.Half, sp.S.Half),
        reason="if p and x ≠ p attained it, their middle would exceed it: the gradient, where it exists, is that p",
        quotes=(UNIQUE_SUBGRADIENT,),
    )
    yield touches()


def touching(sign: int, offset: sp.Expr) -> Follows:
    """The plane with a wrong sign or offset."""
    conclusion = AtLeast(G_t, G_s + sign * total(j, point[j] * (elsewhere[j] - s[j])) + offset)
    zero: dict[Variable, Value] = {m: 1, point.label: [0], s.label: [0], elsewhere.label: [0], F_p: 0, G_s: 0, G_t: 0}
    return Follows(touches().premises, conclusion, (sp.S.One, sp.S.One), at=zero if offset else {})


conjugate_gradient.twin("the plane slopes the other way", lambda: touching(-1, sp.S.Zero))
conjugate_gradient.twin("the plane one unit higher", lambda: touching(1, sp.S.One))


def fenchel_young_gap() -> sp.Expr:
    """f(p) + f*(s) − ⟨p, s⟩ on the simplex."""
    return negentropy(p) + potential() - pairing(p, s)


def gap_is_divergence(other: Entry, strength: sp.Expr = tau) -> Equation:
    """The gap of Fenchel and Young is τ KL(p ‖ ∇f*(s)): it vanishes only at p = ∇f*(s)."""
    return Equation(fenchel_young_gap(), strength * divergence(p, other), reason="log p*_j = s_j/τ − log Z")


@claim(
    "eot.132", "equivalence", title="Inverse gradient maps", needs=("eot.thmB.3",), latex=r"p=\nabla f^*(s)\iff s=\nabla f(p)"
)
def inverse_gradients() -> Steps:
    """For any strictly convex f, differentiable on its domain, p = ∇f*(s) and s = ∇f(p) are said to be equivalent."""
    yield from parabola_on_an_interval()


@inverse_gradients.corrected(
    r"p=\nabla f^*(s)\iff s\in\partial f(p)\iff f(p)+f^*(s)=\langle p,s\rangle",
    Severity.HYPOTHESIS,
    replaces="the gradient of f, by its subgradients",
)
def inverse_subgradients() -> Steps:
    """For the f of (125), p = ∇f*(s) exactly when the gap f(p) + f*(s) − ⟨p, s⟩ is 0, that is, when s is a subgradient."""
    yield Equation(derivative(potential(), s[j]), star(j), reason="∇f*(s) = p*")
    yield gap_is_divergence(star)


inverse_gradients.twin("without the factor τ", lambda: gap_is_divergence(star, sp.S.One))
inverse_gradients.twin("at the uniform vector", lambda: gap_is_divergence(uniform))


@claim(
    "eot.sB.equality-condition",
    "equivalence",
    title="Equality in Fenchel and Young for differentiable f",
    latex=r"f(p)+f^*(s)=\langle p,s\rangle\iff s=\nabla f(p)",
    needs=("eot.132",),
)
def equality_condition() -> Steps:
    """The proof says that equality characterizes s = ∇f(p); at the edge of a domain it holds for more than one s."""
    yield from parabola_on_an_interval()


@equality_condition.corrected(
    r"f(p)+f^*(s)=\langle p,s\rangle\iff s\in\partial f(p)",
    Severity.HYPOTHESIS,
    replaces="the gradient of f, by its subgradients",
)
def equality_and_subgradients() -> Steps:
    """On the simplex the gap is τ KL(p ‖ p*(s)), and p*(s) belongs to all the scores s + c: equality holds for each c."""
    yield Equation(potential(lambda key: s[key] + c), potential() + c, reason="f*(s + c) = f*(s) + c", about=(c,))
    yield gap_is_divergence(star)


equality_condition.twin("without the factor τ", lambda: gap_is_divergence(star, sp.S.One))
equality_condition.twin("the scores' sign", lambda: gap_is_divergence(reversed_scores))


@claim("eot.sB.biconjugate", "identity", title="The biconjugate is the function", latex=r"f^{**}=f", needs=("eot.defB.2",))
def biconjugate() -> Steps:
    """The proof takes f** = f for every strictly convex and differentiable f; a domain that is not closed breaks it."""
    yield Limit(
        b * slope - b**2,
        b,
        sp.S.Zero,
        sp.S.Zero,
        reason="f(p) = p² on (0, 1), +∞ elsewhere: f*(s) ≥ lim (ps − p²) = 0 for every s, as p falls to 0,",
    )
    yield AtLeast(0, -(b**2), because=b**2, reason="and f*(0) = 0: f**(0) = 0, while f(0) = +∞ exceeds every number")
    yield Fails(AtLeast(-G_s, 1, given=(AtLeast(G_s, 0),), at={G_s: 0}), reason="no s makes 0·s − f*(s) as large as 1")


@biconjugate.corrected(
    r"f=\tau\textstyle\sum p\log p+I_\Delta:\quad f^{**}(p)=f(p)\ "
    r"\text{for } p\in\mathrm{int}\,\Delta^{m-1}",
    Severity.HYPOTHESIS,
    replaces="every strictly convex f, by the f of (125)",
)
def biconjugate_of_negentropy() -> Steps:
    """For the f of (125) the supremum over s of ⟨p, s⟩ − f*(s) is f(p) inside the simplex, attained at s = τ log p."""
    yield AtLeast(negentropy(p), pairing(p, s) - potential(), because=tau * divergence(p, star), reason="no s exceeds f(p)")
    yield reached(tau, sp.S.One)


def reached(strength: sp.Expr, share: sp.Expr) -> Equation:
    """⟨p, s⟩ − f*(s) at s = τ log p, p > 0."""
    logs: Entry = lambda key: tau * sp.log(inside[key])  # noqa: E731
    left = total(j, inside[j] * logs(j)) - potential(logs)
    return Equation(left, share * strength * total(j, inside[j] * sp.log(inside[j])), reason="f*(τ log p) = τ log Σ p = 0")


biconjugate.twin("τ is lost", lambda: reached(sp.S.One, sp.S.One))
biconjugate.twin("half of it", lambda: reached(tau, sp.S.Half))


def gap_at_gradient(strength: sp.Expr) -> Equation:
    """The gap of Fenchel and Young against the divergence from ∇f*, differentiated from f*."""
    return Equation(
        fenchel_young_gap(),
        strength * divergence(p, lambda key: derivative(potential(), s[key])),
        reason="so for the f of (125) it is 0 exactly at p = ∇f*(s)",
    )


@claim(
    "eot.sB.equality-symmetric",
    "equivalence",
    title="Equality in Fenchel and Young, from the side of the conjugate",
    latex=r"f(p)+f^*(s)=\langle p,s\rangle\iff p=\nabla f^*(s)",
    needs=("eot.sB.biconjugate", "eot.thmB.3"),
)
def equality_symmetric() -> Steps:
    """By f** = f, equality is said to characterize p = ∇f*(s) too; where f is not closed, that p may lie outside its domain."""
    yield AtLeast(
        0,
        -beyond * b - b**2,
        because=beyond * b + b**2,
        strict=True,
        reason="f(p) = p² on (0, 1): ⟨p, s⟩ − f(p) < 0 for s = −v ≤ 0, so equality with f*(s) = 0 holds nowhere",
    )
    yield Limit(-beyond * b - b**2, b, sp.S.Zero, sp.S.Zero, reason="f*(s) = 0 for all s ≤ 0, so ∇f*(s) = 0 for s < 0")
    yield Fails(
        Limit(-beyond * b, b, sp.S.Zero, sp.oo, at={beyond: 1}),
        reason="at p = ∇f*(−1) = 0 equality needs f(0) = lim ⟨p, s⟩ − f*(s) = 0, but f(0) = +∞",
    )


@equality_symmetric.corrected(
    r"f(p)+f^*(s)=\langle p,s\rangle\iff p=\nabla f^*(s)",
    Severity.HYPOTHESIS,
    under="f is closed, which gives f** = f",
    replaces="every strictly convex f",
)
def equality_and_gradient() -> Steps:
    """For closed f equality holds exactly where p is a subgradient of f* at s; strict convexity leaves one, the gradient."""
    yield from conjugate_subgradient()
    yield gap_at_gradient(tau)


equality_symmetric.twin("τ is lost", lambda: gap_at_gradient(sp.S.One))
equality_symmetric.twin("twice the divergence", lambda: gap_at_gradient(2 * tau))
