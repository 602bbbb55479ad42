"""Section 4.1: scores against a convex regularizer; softmax as the first instance.

Claims     eot.prop4.1                    Ω = −τH  ⟹  argmin J = softmax(s/τ), and no other point
           eot.s4.entropy-makes-softmax   ∂J/∂p_j − ∂J/∂p_k = τ log(p_j/p*_j) − τ log(p_k/p*_k) for Ω = −τH
           eot.s4.unique                  Ω strictly convex, continuous on the closed simplex  ⟹  one minimizer
           eot.s4.other-convex            −H is strictly convex, not H  (corrected)
           eot.s4.tab1-softmax            p*_j > 0 and ∂p*_j/∂s_k = p*_j(δ_jk − p*_k)/τ
Notation   J(p) = −⟨p, s⟩ + Ω(p); x, y points of the simplex and z = (t x + y)/(1 + t) their mixtures, t > 0; Jx the
           value of J at x, wx that of Ω
References section 4.1 and Proposition 4.1 of the document
"""

from collections.abc import Callable

import sympy as sp

from derivations.documents.eot.notation import entropy, expect, j, k, l, m, s, softmax, tau
from derivations.documents.eot.regularizers import half_square, scaled_entropy, variational
from derivations.documents.eot.section3_existence import scalar_convexity
from derivations.vocabulary import *

x, y = simplex("x", m), simplex("y", m)
odds = positive("t")
t, rest = odds / (1 + odds), 1 / (1 + odds)
weights = softmax(s, tau)


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


# ── the problem ─────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.19",
    "definition",
    title="The regularized problem",
    latex=r"p^\star = \arg\min_{p\in\Delta^{m-1}}\{-\langle p,s\rangle+\Omega(p)\}",
    hypotheses=("Ω convex",),
)
def regularized_problem() -> Steps:
    """Scores are traded against a regularizer; with minus the scaled entropy this is the objective of section 3."""
    value = variational(s, half_square)(uniform)
    yield Equation(value, -total(j, s[j]) / m + 1 / (2 * m), reason="an instance: Ω = ½‖p‖² at the uniform vector")


regularized_problem.twin(
    "the scores are a cost", lambda: Equation(variational(s, half_square)(uniform), total(j, s[j]) / m + 1 / (2 * m))
)
regularized_problem.twin(
    "the regularizer is rewarded", lambda: Equation(variational(s, half_square)(uniform), -total(j, s[j]) / m - 1 / (2 * m))
)


@claim(
    "eot.s4.alignment",
    "identity",
    title="Aligned with the scores is least −⟨p, s⟩",
    needs=("eot.19",),
    latex=r"\langle p,-s\rangle = -\langle p,s\rangle",
)
def alignment() -> Steps:
    """The expected negative score is minus the expected score, so minimizing the first maximizes the second."""
    yield Equation(expect(x, lambda key: -s[key]), -expect(x, s), reason="sums are linear")


alignment.twin("same sign", lambda: Equation(expect(x, lambda key: -s[key]), expect(x, s)))
alignment.twin("uniform average", lambda: Equation(expect(x, lambda key: -s[key]), -expect(uniform, s)))


# ── convexity ───────────────────────────────────────────────────────────────────────────────────────────────────────

b = positive("b")
wx, wy, wz = scalar("wx"), scalar("wy"), scalar("wz")
Jx, Jy, Jz = scalar("Jx"), scalar("Jy"), scalar("Jz")


def mixture(key: sp.Expr) -> sp.Expr:
    """(t x_j + y_j)/(1 + t)."""
    return t * x[key] + rest * y[key]


def chord_of_objective() -> sp.Expr:
    """The chord of J between x and y, less J at the mixture, for any values of Ω at the three points."""
    ends = t * (wx - expect(x, s)) + rest * (wy - total(j, y[j] * s[j]))
    return ends - (wz - total(j, mixture(j) * s[j]))


@claim(
    "eot.s4.must-be-convex",
    "equivalence",
    title="The problem is convex exactly when the regularizer is",
    latex=r"tJ(x)+(1-t)J(y)-J(z) = t\Omega(x)+(1-t)\Omega(y)-\Omega(z)",
    needs=("eot.19",),
)
def must_be_convex() -> Steps:
    """Between any two points of the simplex the chord clears J by as much as it clears Ω: the score term is linear."""
    yield Equation(chord_of_objective(), t * wx + rest * wy - wz, reason="⟨z, s⟩ = t⟨x, s⟩ + (1 − t)⟨y, s⟩")


must_be_convex.twin("concave", lambda: Equation(chord_of_objective(), wz - t * wx - rest * wy))
must_be_convex.twin("the scores remain", lambda: Equation(chord_of_objective(), t * wx + rest * wy - wz - expect(x, s)))


def below_chord(strict: bool) -> AtLeast:
    """Convexity between x and y: t J(x) + (1 − t) J(y) ≥ J(z), t and 1 − t the other way round."""
    return AtLeast(t * Jy + rest * Jx, Jz, strict=strict)


@claim(
    "eot.s4.local-is-global",
    "inequality",
    title="A local minimum of a convex function is global",
    latex=r"J(y)<J(x)\implies J((1-t)x+ty)<J(x)\ \text{for every } t\in(0,1)",
    needs=("eot.s4.must-be-convex",),
)
def local_is_global() -> Steps:
    """If any point is better than x, so are points arbitrarily close to x: a local minimizer has no better point."""
    premises = (below_chord(strict=False), AtLeast(Jx, Jy, strict=True))
    yield Follows(
        premises,
        AtLeast(Jx, Jz, strict=True),
        (sp.S.One, t),
        given=premises,
        reason="J(x) − J(z) ≥ t (J(x) − J(y)) > 0 for every weight t of y, however small",
    )


local_is_global.twin("without convexity", lambda: Follows((AtLeast(Jx, Jy, strict=True),), AtLeast(Jx, Jz, strict=True), (t,)))
local_is_global.twin(
    "the mixture is as good as y",
    lambda: Follows(
        (below_chord(strict=False), AtLeast(Jx, Jy, strict=True)),
        AtLeast(Jy, Jz),
        (sp.S.One, t),
        at={odds: 1, Jx: 1, Jy: 0, Jz: sp.Rational(1, 2)},
    ),
)


first, second = scalar("p", Nonnegative), scalar("q", Nonnegative)


def half_parabola(value: sp.Expr) -> sp.Expr:
    """½ p², the regularizer Ω of the counterexample where p > 0; at p = 0 it jumps to 1."""
    return value**2 / 2


@claim(
    "eot.s4.unique",
    "inequality",
    title="A strictly convex regularizer makes the solution unique",
    latex=r"\Omega\text{ strictly convex}\implies|\arg\min_{\Delta^{m-1}}J|=1",
    needs=("eot.s4.must-be-convex",),
    hypotheses=("Ω strictly convex",),
)
def unique_solution() -> Steps:
    """If the regularizer is strictly convex, the solution is said to be unique: that there is one is taken for granted."""
    middle = t * first + rest * second
    yield StrictUnlessEqual(
        t * half_parabola(first) + rest * half_parabola(second),
        half_parabola(middle),
        first,
        second,
        middle,
        (t, rest),
        sp.Integer(2),
        reason="m = 2, p = p₁, s = 0: Ω = ½p² for p > 0 and Ω = 1 at p = 0,",
    )
    yield AtLeast(
        t + rest * half_parabola(b),
        half_parabola(rest * b),
        strict=True,
        because=t + t * rest * half_parabola(b),
        reason="strictly convex at p = 0 too",
    )
    yield AtLeast(
        half_parabola(b),
        half_parabola(b / 2),
        because=3 * b**2 / 8,
        strict=True,
        reason="no p > 0 is a minimizer, as p/2 is better,",
    )
    yield Fails(AtLeast(half_parabola(b), 1, at={b: 1}), reason="and p = 0, where Ω is 1, is none: there is no solution at all")


@unique_solution.corrected(
    r"x\ne y,\ J(y)\le J(x)\implies J((1-t)x+ty)<J(x);\ \Omega\text{ continuous}\implies"
    r"\arg\min J\ne\emptyset",
    Severity.HYPOTHESIS,
    under="Ω is continuous on the closed simplex",
    replaces="the existence of a minimizer",
)
def one_solution() -> Steps:
    """A continuous J has a minimizer on the simplex; and if another point were as good, a mixture of both would be better."""
    yield AtLeast(
        1,
        x[j],
        because=total(l, x[l] * (1 - delta(l, j))),
        reason="the simplex is closed and bounded",
        quotes=(CLOSED_PREIMAGE, HEINE_BOREL, WEIERSTRASS),
    )
    premises = (below_chord(strict=True), AtLeast(Jx, Jy))
    yield Follows(
        premises, AtLeast(Jx, Jz, strict=True), (sp.S.One, t), given=premises, reason="J(x) − J(z) > t (J(x) − J(y)) ≥ 0"
    )


unique_solution.twin(
    "convex, not strictly",
    lambda: Follows(
        (below_chord(strict=False), AtLeast(Jx, Jy)), AtLeast(Jx, Jz, strict=True), (sp.S.One, t), at={Jx: 0, Jy: 0, Jz: 0}
    ),
)
unique_solution.twin(
    "the mixture is worse", lambda: Follows((below_chord(strict=True), AtLeast(Jx, Jy)), AtLeast(Jz, Jx), (sp.S.One, t))
)


# ── which function is convex ──────────────────────────────────────────────────────────────────────────────────────────


def chord_gap(of: Callable[[Entry], sp.Expr]) -> sp.Expr:
    """The chord between x and y less the value at the mixture."""
    return t * of(x) + rest * of(y) - of(mixture)


@claim(
    "eot.s4.other-convex",
    "inequality",
    title="Other convex functions than the Shannon entropy",
    latex=r"H\text{ is convex}",
    needs=("eot.4",),
)
def other_convex_functions() -> Steps:
    """“Substituting the Shannon entropy with other convex functions” calls the Shannon entropy convex."""
    yield Fails(
        AtLeast(chord_gap(entropy), 0, at={m: 2, x.label: [1, 0], y.label: [0, 1], odds: 1}),
        reason="between two corners, where H is 0, it is log 2",
    )


@other_convex_functions.corrected(r"-H\text{ is strictly convex}", Severity.WORDING, replaces="H, by −H")
def negative_entropy_is_convex() -> Steps:
    """It is the negative of the entropy that is convex, strictly: its chord clears it by the gaps of x log x."""
    yield from scalar_convexity()
    yield entropy_gap(-1)


def entropy_gap(sign: int, share: sp.Expr = t) -> Equation:
    """The chord of ±H less ±H, against Jensen's gaps."""
    gaps = total(j, share * xlogx(x[j]) + rest * xlogx(y[j]) - xlogx(mixture(j)))
    return Equation(chord_gap(lambda of: sign * entropy(of)), gaps, reason="the gap adds up over coordinates")


other_convex_functions.twin("the gap of H itself", lambda: entropy_gap(1))
other_convex_functions.twin("a weight squared", lambda: entropy_gap(-1, t**2))


# ── softmax ───────────────────────────────────────────────────────────────────────────────────────────────────────────


v = vector("v", m, kind=Positive)


def slope_along() -> sp.Expr:
    """∂J/∂v_j − ∂J/∂v_k with Ω = −τH: how J changes when weight moves from key k to key j."""
    value = variational(s, scaled_entropy(tau))(v)
    return derivative(value, v[j]) - derivative(value, v[k])


def log_excess(temperature: sp.Expr = tau) -> sp.Expr:
    """τ log(v_j/p*_j) − τ log(v_k/p*_k)."""
    return temperature * (sp.log(v[j] / weights(j)) - sp.log(v[k] / weights(k)))


@claim(
    "eot.s4.entropy-makes-softmax",
    "equivalence",
    title="Softmax's form comes from the entropy",
    needs=("eot.prop4.1",),
    latex=r"\frac{\partial J}{\partial p_j}-\frac{\partial J}{\partial p_k}=\tau\log\frac{p_j}{p^\star_j}"
    r"-\tau\log\frac{p_k}{p^\star_k},\quad p^\star=\mathrm{softmax}(s/\tau)",
)
def entropy_makes_softmax() -> Steps:
    """With Ω = −τH no shift of weight between two keys pays exactly where p_j : p_k is as in softmax, for all pairs."""
    yield Equation(derivative(tau * xlogx(b), b), tau * (sp.log(b) + 1), reason="the entropy's slope is a logarithm,")
    yield Equation(slope_along(), tau * sp.log(v[j]) - tau * sp.log(v[k]) - (s[j] - s[k]), reason="whose inverse is exp:")
    yield Equation(slope_along(), log_excess(), reason="s_j − s_k = τ log(p*_j/p*_k); it is 0 for all j, k iff v ∝ p*")


entropy_makes_softmax.twin("τ is lost", lambda: Equation(slope_along(), log_excess(sp.S.One)))
entropy_makes_softmax.twin("the sign", lambda: Equation(slope_along(), -log_excess()))


def solved_by(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of −⟨p, s⟩ − τ H(p)."""
    return UniqueMinimum(variational(s, scaled_entropy(tau)), candidate, m, tau, reason="J(q) − J(p*) = τ Σ_j kl(q_j ‖ p*_j)")


@claim(
    "eot.prop4.1",
    "optimality",
    title="Softmax from Shannon entropy",
    needs=("eot.19", "eot.thm3.3"),
    latex=r"\Omega=-\tau H\implies p^\star_j\propto e^{s_j/\tau}",
    hypotheses=("τ > 0",),
)
def softmax_from_entropy() -> Steps:
    """With minus the scaled entropy as regularizer the only solution is the softmax of any scores."""
    yield Equation(weights(j) / weights(k), sp.exp((s[j] - s[k]) / tau), reason="proportional: Z cancels")
    yield solved_by(weights)


softmax_from_entropy.twin("the temperature is lost", lambda: solved_by(softmax(s, sp.S.One)))
softmax_from_entropy.twin("the sign of the scores", lambda: solved_by(softmax(lambda key: -s[key], tau)))


@claim(
    "eot.s4.tab1-softmax",
    "identity",
    title="Table 1, softmax: dense and smooth",
    needs=("eot.prop4.1",),
    latex=r"p^\star_j>0,\quad \partial p^\star_j/\partial s_k = \tfrac1\tau p^\star_j(\delta_{jk}-p^\star_k)",
    part_of="eot.tab1",
)
def dense_and_smooth() -> Steps:
    """The solution of greatest entropy less cost gives every key a positive weight, with slopes that are made of weights."""
    yield solved_by(weights)
    yield AtLeast(weights(j), 0, strict=True, reason="dense: an exponential over a sum of exponentials")
    yield jacobian(tau, k)


def jacobian(temperature: sp.Expr, other: sp.Expr) -> Equation:
    """∂p_j/∂s_k = p_j (δ_jk − p_k)/τ, with τ or an index to tamper with."""
    return Equation(
        derivative(weights(j), s[k]),
        weights(j) * (delta(j, k) - weights(other)) / temperature,
        reason="a polynomial in the weights, and so by the product rule is every further derivative: smooth",
    )


dense_and_smooth.twin("τ is lost", lambda: jacobian(sp.S.One, k))
dense_and_smooth.twin("an index is swapped", lambda: jacobian(tau, j))


@claim(
    "eot.s4.central-choice",
    "equivalence",
    title="The regularizer is the central design choice",
    needs=("eot.tab1",),
    latex=r"\Omega = \text{the central design choice}",
)
def central_choice() -> Undecidable:
    """The regularizer is said to be the design choice that matters most."""
    return Undecidable("no measure compares design choices; what each regularizer induces is stated in eot.tab1")
