"""Section 5, what transport supposedly guarantees: stability in the Wasserstein distance, interpolation, intuition.

Claims     transport.s5.score-stability         W₁(A(s), A(s')) ≤ D tanh(ω/(4ε))
           transport.s5.wasserstein-stability   inputs in a ball of radius R  ⟹  W₁(A(x), A(x')) ≤ (1 + 2R²/ε) δ
           transport.s5.interpolation           no tie at the top: dH/dε = Var(s)/ε³ ≥ 0, from one-hot to uniform
Notation   u_l = p_l φ_l and v_l = p_l (1 − φ_l) split the weights p of a row by a test function 0 ≤ φ ≤ 1; r_l = e^{Δ_l/ε} is
           what a change Δ of the scores multiplies exp(s_l/ε) with, less a constant: 1 ≤ r ≤ σ², σ = 1 + κ = e^{ω/(2ε)} with
           ω = max Δ − min Δ; D the diameter of the values; x₁, x₂ two inputs in one dimension; R the radius of a ball of
           inputs, δ by how much one moves at most, and e_l ≥ 0 by how much less than δ f grows where value l moves
Method     W₁ = sup of E_p'[f] − E_p[f] over the 1-Lipschitz f, and these are constants plus D φ
References the list of guarantees in section 5 of the document; Villani (2009) for the duality
"""

import sympy as sp

from derivations.documents.eot import notation
from derivations.documents.eot.notation import expect, s
from derivations.documents.transport.notation import d, eps, j, l, m
from derivations.documents.transport.section5_temperature import at_infinity, nearly_one_hot
from derivations.vocabulary import *

u, v = vector("u", m, kind=Nonnegative), vector("v", m, kind=Positive)
tilt = vector("r", m, kind=Positive)
kappa, diameter = scalar("κ", Nonnegative), positive("D")
constant, spread = positive("L"), positive("ω")
x1, x2 = scalar("x1"), positive("x2")


# ── stability in the scores ─────────────────────────────────────────────────────────────────────────────────────────


def part(weights: sp.IndexedBase) -> sp.Expr:
    """Σ_l of a part of the weights."""
    return total(l, weights[l])


def tilted(weights: sp.IndexedBase) -> sp.Expr:
    """Σ_l of a part of the weights after the change."""
    return total(l, weights[l] * tilt[l])


def gained() -> sp.Expr:
    """E_p'[φ] − E_p[φ]."""
    return tilted(u) / (tilted(u) + tilted(v)) - part(u) / (part(u) + part(v))


def combined(growth: Variable) -> tuple[tuple[sp.Expr, sp.Expr], sp.Expr]:
    """κ/(2 + κ) − (E_p'[φ] − E_p[φ]) as weights of the two sides of `within`, and a slack."""
    a, b, sigma = part(u), part(v), 1 + growth
    below = sigma**2 * a + b
    weight = 1 / (below * (tilted(u) + tilted(v)))
    return (weight * b, weight * sigma**2 * a), growth / (2 + growth) * (sigma * a - b) ** 2 / (below * (a + b))


def within(growth: Variable) -> tuple[AtLeast, AtLeast]:
    """The consequence of 1 ≤ r ≤ σ²: u is multiplied by σ² at most, v by 1 at least."""
    return AtLeast((1 + growth) ** 2 * part(u), tilted(u)), AtLeast(tilted(v), part(v))


def stable(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """The change of E[f] is at most a bound if 1 ≤ r ≤ σ²."""
    weights, slack = combined(kappa)
    return Follows(
        within(kappa),
        AtLeast(bound, diameter * gained()),
        tuple(diameter * x for x in weights),
        diameter * slack,
        at=at or {},
        given=within(kappa),
        reason="the worst tilt is σ² where φ = 1 and 1 elsewhere; the worst split has v = σ u",
        quotes=(KANTOROVICH_RUBINSTEIN,),
    )


@claim(
    "transport.s5.score-stability",
    "inequality",
    title="Addition: stability in the scores, sharply",
    needs=("transport.lem1",),
    hypotheses=("the values stay", "ε > 0 is fixed"),
    latex=r"W_1(A(s),A(s'))\le D\tanh\frac{\omega}{4\varepsilon},\quad\omega=\max(s'-s)-\min(s'-s)",
)
def score_stability() -> Steps:
    """An addition: if scores change by a spread ω, the weights move by D tanh(ω/4ε) at most, and some move by no less."""
    half = sp.exp(spread / (2 * eps))
    yield Equation(
        (half - 1) / (half + 1),
        (sp.exp(spread / (4 * eps)) - sp.exp(-spread / (4 * eps))) / (sp.exp(spread / (4 * eps)) + sp.exp(-spread / (4 * eps))),
        reason="(σ − 1)/(σ + 1) = tanh(ω/4ε)",
    )
    sigma = 1 + kappa
    yield Equation(
        sigma**2 / (sigma**2 + sigma) - 1 / (1 + sigma), kappa / (2 + kappa), reason="sharp: u = 1, v = σ, r = (σ², 1)"
    )
    yield Limit(diameter / (4 * eps), eps, sp.S.Zero, sp.oo, reason="no constant serves every ε: two tied keys jump as ε → 0")
    yield stable(diameter * kappa / (2 + kappa))


NEARLY_WORST: dict[Variable, Value] = {  # r = (σ², 1) where φ is nearly (1, 0)
    m: 2,
    u.label: [1, 0],
    v.label: [sp.Rational(1, 100), 2],
    tilt.label: [4, 1],
    kappa: 1,
    diameter: 4,
}
score_stability.twin("half as far", lambda: stable(diameter * kappa / (2 + kappa) / 2, NEARLY_WORST))
score_stability.twin("without the diameter", lambda: stable(kappa / (2 + kappa), NEARLY_WORST))


# ── stability in the inputs ─────────────────────────────────────────────────────────────────────────────────────────

radius, displacement = positive("R"), positive("δ")
axis = index("c", d)
old, new = vector("y", d), vector("x", d)  # a difference of keys before, and the query after
move, turn = vector("w", d), vector("q", d)  # by how much the difference of keys, and the query, move
spare = vector("e", m, kind=Nonnegative)
rise = positive("κ")  # where κ = 0 nothing changes
SPREAD = AtLeast(4 * radius * displacement, 2 * eps * sp.log(1 + rise))
TANH = AtLeast(radius * displacement / eps, rise / (2 + rise))


def context() -> sp.Expr:
    """The first output of self-attention on the inputs x₁, x₂ with Q = K = V = X and ε = 1."""
    first, second = sp.exp(x1 * x1), sp.exp(x1 * x2)
    return (first * x1 + second * x2) / (first + second)


def product(a: sp.IndexedBase, b: sp.IndexedBase) -> sp.Expr:
    """⟨a, b⟩."""
    return total(axis, a[axis] * b[axis])


def spread_of_scores() -> Follows:
    """⟨q', k' − l'⟩ − ⟨q, k − l⟩ = ⟨q', w⟩ + ⟨q' − q, k − l⟩ ≤ 4Rδ."""
    norms = ((new, radius), (move, 2 * displacement), (turn, displacement), (old, 2 * radius))
    premises = tuple(AtLeast(length**2, product(of, of)) for of, length in norms)
    change = product(new, move) + product(turn, old)
    ratio = displacement / radius
    slack = total(
        axis, (2 * ratio * new[axis] - move[axis]) ** 2 / (4 * ratio) + (2 * turn[axis] - ratio * old[axis]) ** 2 / (4 * ratio)
    )
    return Follows(
        premises,
        AtLeast(4 * radius * displacement, change),
        (ratio, 1 / (4 * ratio), 1 / ratio, ratio / 4),
        slack,
        given=premises,
        reason="the spread of a row of scores changes by ω ≤ 4Rδ: keys lie 2R apart, and differences move by 2δ",
    )


def logarithm() -> AtLeast:
    """½ log σ ≥ (σ − 1)/(σ + 1), σ = 1 + κ, which is tanh t ≤ t."""
    sigma = 1 + rise
    rest = rise**4 / (2 * (sigma + 2) * (1 + 2 * sigma) * (sigma + 1))
    return AtLeast(
        sp.log(sigma) / 2,
        rise / (2 + rise),
        because=(pinsker(sigma, 1) + pinsker(1, sigma) + rest) / (2 * rise),
        reason="the sum of both divergences of σ and 1 is κ log σ",
    )


def drift() -> sp.Expr:
    """E_p'[f(x')] − E_p[f(x)] for f(x_l) = 2R φ_l less a constant and f(x'_l) = f(x_l) + δ − e_l."""
    mass = tilted(u) + tilted(v)
    return total(l, (u[l] + v[l]) * tilt[l] * (displacement - spare[l])) / mass + 2 * radius * gained()


def bounded(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """The change of E[f] is at most a bound if values move by δ and lie within 2R, 1 ≤ r ≤ σ² and (σ − 1)/(σ + 1) ≤ Rδ/ε."""
    weights, slack = combined(rise)
    still = total(l, (u[l] + v[l]) * tilt[l] * spare[l]) / (tilted(u) + tilted(v))
    return Follows(
        (*within(rise), TANH),
        AtLeast(bound, drift()),
        (*(2 * radius * x for x in weights), 2 * radius),
        2 * radius * slack + still,
        at=at or {},
        given=within(rise),
        reason="δ for the values that move, 2R tanh(ω/4ε) ≤ 2R²δ/ε for the mass that moves among them",
        quotes=(KANTOROVICH_RUBINSTEIN,),
    )


@claim(
    "transport.s5.wasserstein-stability",
    "inequality",
    title="Small changes of the input move the output boundedly",
    latex=r"W_1\big(A(x),A(x')\big)\le L\,\|x-x'\|",
    needs=("transport.thm1", "transport.s5.score-stability"),
)
def wasserstein_stability() -> Steps:
    """A small perturbation of the input is said to move the output by a bounded Wasserstein distance."""
    at_zero = (x2 * x2 / 4 + sp.S.Half).xreplace({x2: 2 * constant})
    yield Expansion(context(), x2 / 2 + (x2**2 / 4 + sp.S.Half) * x1, x1, 1, reason="the output near x₁ = 0")
    yield AtLeast(
        at_zero,
        constant,
        strict=True,
        because=(constant - sp.S.Half) ** 2 + sp.Rational(1, 4),
        reason="its slope ½ + x₂²/4 is more than any L for x₂ = 2L, and W₁ is no less",
    )
    yield Fails(
        AtLeast(constant, derivative(context(), x1), at={constant: 4, x1: 0, x2: 8}),
        reason="scores are products of inputs: no constant serves all inputs",
    )


@wasserstein_stability.corrected(
    r"|x_i|\le R,\ |x_i-x_i'|\le\delta:\quad W_1(A(x),A(x'))"
    r"\le\Big(1+\frac{2R^2}{\varepsilon}\Big)\delta",
    Severity.HYPOTHESIS,
    under="the inputs lie in a ball of radius R and ε > 0 is fixed",
    replaces="one constant for all inputs",
)
def stable_on_a_ball() -> Steps:
    """With scores ⟨x_i, x_j⟩ and inputs for values, what a query sees moves by (1 + 2R²/ε) δ if inputs move by δ at most."""
    yield spread_of_scores()
    yield logarithm()
    yield Follows(
        (logarithm(), SPREAD),
        TANH,
        (sp.S.One, 1 / (4 * eps)),
        given=(SPREAD,),
        reason="ω = 2ε log σ ≤ 4Rδ, so that tanh(ω/4ε) = (σ − 1)/(σ + 1) ≤ Rδ/ε",
    )
    yield bounded((1 + 2 * radius**2 / eps) * displacement)


NEARLY: dict[Variable, Value] = {
    m: 2,
    u.label: [1, 0],
    v.label: [sp.Rational(1, 100), 2],
    tilt.label: [4, 1],
    rise: 1,
    radius: 1,
    eps: 1,
    displacement: sp.Rational(2, 5),
    spare.label: [0, 0],
}
wasserstein_stability.twin("half as far", lambda: bounded((1 + 2 * radius**2 / eps) * displacement / 2, NEARLY))
wasserstein_stability.twin("the weights stay", lambda: bounded(displacement, NEARLY))
wasserstein_stability.twin("the values stay", lambda: bounded(2 * radius**2 / eps * displacement, NEARLY))


# ── interpolation ───────────────────────────────────────────────────────────────────────────────────────────────────

star = notation.softmax(s, eps)


def entropy() -> sp.Expr:
    """H of a row."""
    return -total(j, xlogx(star(j)))


def score_variance() -> sp.Expr:
    """Var_p(s)."""
    return total(l, star(l) * (s[l] - expect(star, s)) ** 2)


def more_even(bound: sp.Expr) -> AtLeast:
    """The entropy's slope in ε is at least a bound."""
    return AtLeast(derivative(entropy(), eps), bound)


@claim(
    "transport.s5.interpolation",
    "limit",
    title="Attention interpolates between uniform and one-hot",
    latex=r"\text{one-hot}\ (\varepsilon\to0)\ \longrightarrow\ \text{uniform}\ (\varepsilon\to\infty)",
    needs=("transport.s5.cold-one-hot", "transport.s5.hot"),
)
def interpolation() -> Steps:
    """The solution is said to lead, with the temperature, from the uniform to a one-hot distribution."""
    yield Fails(
        Limit(total(j, star(j) ** 2), eps, sp.S.Zero, sp.S.One, at={m: 2, s.label: [0, 0]}),
        reason="Σ p² = 1 is one-hot; with equal scores attention is uniform at every ε",
    )


@interpolation.corrected(
    r"\frac{dH}{d\varepsilon}=\frac{\mathrm{Var}(s)}{\varepsilon^3}\ge0,\ \text{from one-hot to uniform}",
    Severity.HYPOTHESIS,
    under="the largest score of a row is not tied",
    replaces="the limit of every row, ties included, by the slope of the entropy",
)
def monotone_path() -> Steps:
    """Without a tie at the top a row goes from one-hot to uniform as ε grows, evenly: its entropy never falls."""
    yield nearly_one_hot()
    yield at_infinity(1 / m)
    yield AtLeast(
        derivative(entropy(), eps),
        0,
        because=score_variance() / eps**3,
        reason="0 only if all scores are equal",
        quotes=(MEAN_VALUE,),
    )


interpolation.twin("the entropy grows twice as fast", lambda: more_even(2 * score_variance() / eps**3))
interpolation.twin("at a rate of at least 1", lambda: more_even(sp.S.One))


@claim(
    "transport.s5.intuition",
    "equivalence",
    title="A geometric intuition",
    needs=("transport.s0.basis",),
    latex=r"\text{OT}\to\text{physical and geometric understanding of attention}",
)
def intuition() -> Undecidable:
    """Transport is said to give an intuitive physical and geometric understanding of attention."""
    return Undecidable("intuition has no measure; what the picture says of sources, targets and costs is judged in section 2")
