"""Section 4.1: scores against a convex regularizer; softmax as the first instance.

Claims     eot.19, eot.s4.alignment, eot.s4.must-be-convex, eot.s4.local-is-global, eot.s4.unique,
           eot.s4.entropy-makes-softmax, eot.prop4.1, eot.s4.tab1-softmax, eot.s4.central-choice
Notation   J(p) = −⟨p, s⟩ + Ω(p); x, y points of the simplex and z = (t x + y)/(1 + t) their mixtures, t > 0; Jx the
           value of J at x, wx that of Ω
References section 4.1 and Proposition 4.1 of the document
"""

import sympy as sp

from derivations import (
    AtLeast,
    Entry,
    Equation,
    Follows,
    Steps,
    Undecidable,
    UniqueMinimum,
    claim,
    delta,
    derivative,
    positive,
    scalar,
    simplex,
    total,
)
from derivations.eot.notation import expect, j, k, m, s, score, softmax, tau
from derivations.eot.regularizers import half_square, scaled_entropy, variational

x, y = simplex("x", m), simplex("y", m)
odds = positive("t")
t, rest = odds / (1 + odds), 1 / (1 + odds)
weights = softmax(score, tau)


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


def plan(key: sp.Expr) -> sp.Expr:
    """Any point of the simplex."""
    return x[key]


# ── the problem ─────────────────────────────────────────────────────────────────────────────────────────────────────


@claim("eot.19", "definition", title="The regularized problem",
       latex=r"p^\star = \arg\min_{p\in\Delta^{m-1}}\{-\langle p,s\rangle+\Omega(p)\}", hypotheses=("Ω convex",))
def regularized_problem() -> Steps:
    """Scores are traded against a regularizer; with minus the scaled entropy this is the objective of section 3."""
    value = variational(score, half_square)(uniform)
    yield Equation(value, -total(j, s[j]) / m + 1 / (2 * m), reason="an instance: Ω = ½‖p‖² at the uniform vector")


regularized_problem.twin("the scores are a cost", lambda: Equation(
    variational(score, half_square)(uniform), total(j, s[j]) / m + 1 / (2 * m)))
regularized_problem.twin("the regularizer is rewarded", lambda: Equation(
    variational(score, half_square)(uniform), -total(j, s[j]) / m - 1 / (2 * m)))


@claim("eot.s4.alignment", "identity", title="Aligned with the scores is least −⟨p, s⟩", needs=("eot.19",),
       latex=r"\langle p,-s\rangle = -\langle p,s\rangle")
def alignment() -> Steps:
    """The expected negative score is minus the expected score, so minimizing the first maximizes the second."""
    yield Equation(expect(plan, lambda key: -s[key]), -expect(plan, score), reason="sums are linear")


alignment.twin("same sign", lambda: Equation(expect(plan, lambda key: -s[key]), expect(plan, score)))
alignment.twin("uniform average", lambda: Equation(expect(plan, lambda key: -s[key]), -expect(uniform, score)))


# ── convexity ───────────────────────────────────────────────────────────────────────────────────────────────────────

wx, wy, wz = scalar("wx"), scalar("wy"), scalar("wz")
Jx, Jy, Jz = scalar("Jx"), scalar("Jy"), scalar("Jz")


def mixture(key: sp.Expr) -> sp.Expr:
    """(t x_j + y_j)/(1 + t)."""
    return t * x[key] + rest * y[key]


def chord_of_objective() -> sp.Expr:
    """The chord of J between x and y, less J at the mixture, for any values of Ω at the three points."""
    ends = t * (wx - expect(plan, score)) + rest * (wy - total(j, y[j] * s[j]))
    return ends - (wz - total(j, mixture(j) * s[j]))


@claim("eot.s4.must-be-convex", "equivalence", title="The problem is convex exactly when the regularizer is",
       latex=r"tJ(x)+(1-t)J(y)-J(z) = t\Omega(x)+(1-t)\Omega(y)-\Omega(z)", needs=("eot.19",))
def must_be_convex() -> Steps:
    """Between any two points of the simplex the chord clears J by as much as it clears Ω: the score term is linear."""
    yield Equation(chord_of_objective(), t * wx + rest * wy - wz, reason="⟨z, s⟩ = t⟨x, s⟩ + (1 − t)⟨y, s⟩")


must_be_convex.twin("concave", lambda: Equation(chord_of_objective(), wz - t * wx - rest * wy))
must_be_convex.twin("the scores remain", lambda: Equation(
    chord_of_objective(), t * wx + rest * wy - wz - expect(plan, score)))


def below_chord(strict: bool) -> AtLeast:
    """Convexity between x and y: t J(x) + (1 − t) J(y) ≥ J(z), t and 1 − t the other way round."""
    return AtLeast(t * Jy + rest * Jx, Jz, strict=strict)


@claim("eot.s4.local-is-global", "inequality", title="A local minimum of a convex function is global",
       latex=r"J(y)<J(x)\implies J((1-t)x+ty)<J(x)\ \text{for every } t\in(0,1)", needs=("eot.s4.must-be-convex",))
def local_is_global() -> Steps:
    """If any point is better than x, so are points arbitrarily close to x: a local minimizer has no better point."""
    premises = (below_chord(strict=False), AtLeast(Jx, Jy, strict=True))
    yield Follows(premises, AtLeast(Jx, Jz, strict=True), (sp.S.One, t), given=premises,
                  reason="J(x) − J(z) ≥ t (J(x) − J(y)) > 0 for every weight t of y, however small")


local_is_global.twin("without convexity", lambda: Follows(
    (AtLeast(Jx, Jy, strict=True),), AtLeast(Jx, Jz, strict=True), (t,)))
local_is_global.twin("the mixture is as good as y", lambda: Follows(
    (below_chord(strict=False), AtLeast(Jx, Jy, strict=True)), AtLeast(Jy, Jz), (sp.S.One, t),
    at={odds: 1, Jx: 1, Jy: 0, Jz: sp.Rational(1, 2)}))


@claim("eot.s4.unique", "inequality", title="A strictly convex regularizer leaves at most one solution",
       latex=r"x\ne y,\ J(y)\le J(x)\implies J((1-t)x+ty)<J(x)", needs=("eot.s4.must-be-convex",),
       hypotheses=("Ω strictly convex",))
def unique_solution() -> Steps:
    """If another point is as good as x, a mixture of both is better: two points cannot both be minimizers."""
    premises = (below_chord(strict=True), AtLeast(Jx, Jy))
    yield Follows(premises, AtLeast(Jx, Jz, strict=True), (sp.S.One, t), given=premises,
                  reason="J(x) − J(z) > t (J(x) − J(y)) ≥ 0")


unique_solution.twin("convex, not strictly", lambda: Follows(
    (below_chord(strict=False), AtLeast(Jx, Jy)), AtLeast(Jx, Jz, strict=True), (sp.S.One, t), at={Jx: 0, Jy: 0, Jz: 0}))
unique_solution.twin("the mixture is worse", lambda: Follows(
    (below_chord(strict=True), AtLeast(Jx, Jy)), AtLeast(Jz, Jx), (sp.S.One, t)))


# ── softmax ─────────────────────────────────────────────────────────────────────────────────────────────────────────

b = positive("b")


@claim("eot.s4.entropy-makes-softmax", "equivalence", title="Softmax's form comes from the entropy", needs=("eot.prop4.1",),
       latex=r"\omega'(p_j)-\omega'(p_k) = s_j-s_k = \tau(\log p_j-\log p_k)")
def entropy_makes_softmax() -> Steps:
    """A regularizer Σ ω(p_j) solved by softmax has slopes ω' that differ by τ log p_j − τ log p_k: ω is τ p log p."""
    yield Equation(derivative(tau * b * sp.log(b), b), tau * sp.log(b) + tau, reason="ω' of the entropy, up to a constant")
    yield Equation(s[j] - s[k], tau * (sp.log(weights(j)) - sp.log(weights(k))),
                   reason="stationarity at softmax: −s_j + ω'(p_j) is the same for all j")


entropy_makes_softmax.twin("τ is lost", lambda: Equation(s[j] - s[k], sp.log(weights(j)) - sp.log(weights(k))))
entropy_makes_softmax.twin("the slope of ½p²", lambda: Equation(s[j] - s[k], weights(j) - weights(k)))


def solved_by(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of −⟨p, s⟩ − τ H(p)."""
    return UniqueMinimum(variational(score, scaled_entropy(tau)), candidate, m, tau,
                         reason="J(q) − J(p*) = τ Σ_j kl(q_j ‖ p*_j)")


@claim("eot.prop4.1", "optimality", title="Softmax from Shannon entropy", needs=("eot.19", "eot.thm3.3"),
       latex=r"\Omega=-\tau H\implies p^\star_j\propto e^{s_j/\tau}", hypotheses=("τ > 0",))
def softmax_from_entropy() -> Steps:
    """With minus the scaled entropy as regularizer the only solution is the softmax of any scores."""
    yield Equation(weights(j) / weights(k), sp.exp((s[j] - s[k]) / tau), reason="proportional: Z cancels")
    yield solved_by(weights)


softmax_from_entropy.twin("the temperature is lost", lambda: solved_by(softmax(score, sp.S.One)))
softmax_from_entropy.twin("the sign of the scores", lambda: solved_by(softmax(lambda key: -s[key], tau)))


@claim("eot.s4.tab1-softmax", "inequality", title="Table 1, softmax: dense and smooth", needs=("eot.prop4.1",),
       latex=r"p^\star_j>0,\quad \partial p^\star_j/\partial s_k = \tfrac1\tau p^\star_j(\delta_{jk}-p^\star_k)")
def dense_and_smooth() -> Steps:
    """All weights are positive and are smooth functions of the scores."""
    yield Equation(derivative(weights(j), s[k]), weights(j) * (delta(j, k) - weights(k)) / tau,
                   reason="a polynomial in the weights, and so is every further derivative")
    yield AtLeast(weights(j), 0, strict=True, reason="an exponential over a sum of exponentials")


dense_and_smooth.twin("at least the uniform weight", lambda: AtLeast(weights(j), 1 / m, strict=True))
dense_and_smooth.twin("at least one half", lambda: AtLeast(weights(j), sp.Rational(1, 2), strict=True))


@claim("eot.s4.central-choice", "equivalence", title="The regularizer is the central design choice", needs=("eot.tab1",),
       latex=r"\Omega = \text{the central design choice}")
def central_choice() -> Undecidable:
    """The regularizer is said to be the design choice that matters most."""
    return Undecidable("no measure compares design choices; what each regularizer induces is stated in eot.tab1")
