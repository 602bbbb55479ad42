"""How far a mean can move with its weights: the constants D/2 and D²/4 behind the bounds of attention's output.

Claims     beyond.jeffreys        KL(p, w) + KL(w, p) ≥ ‖p − w‖₁²
           beyond.mean-distance   ‖h_p − h_w‖ ≤ D/2 ‖p − w‖₁
           beyond.mean-smooth     ‖h_p − h_w‖² ≤ D²/4 (KL(p, w) + KL(w, p))
           beyond.hoeffding       KL(p, p') ≤ ω²/8 for p' ∝ p e^{ωg}, 0 ≤ g ≤ 1
           beyond.carried         W₁(p, w) ≤ D/2 ‖p − w‖₁, by a plan that is written down
Notation   p and w points of the open simplex, δ = p − w, δ⁺ and δ⁻ its positive and its negative part; t_i templates,
           h_p = Σ_i p_i t_i; D ≥ ‖t_i − t_j‖ for all i and j;
           g a column of a matrix with rows of sum 1, so that 0 ≤ g ≤ 1; ω ≥ 0;
           p = (x r + y v)/(x + y) and w = (x r + y v')/(x + y) any two points of the simplex with a common part r, so that
           ‖p − w‖₁ = 2y/(x + y) where v and v' have no key in common; D − e_ij, e_ij ≥ 0, the distances of different keys
References Jeffreys (1946); Pinsker (1964); Hoeffding (1963), Lemma 1; Villani (2009) for W₁

For weights that are tilts of one law by λ and y, KL(p, w) + KL(w, p) = ⟨λ − y, h_p − h_w⟩: `cocoercive` has these steps for
them, and says that log M has D²/4 for a Lipschitz constant of its gradient, without a theorem of convex analysis.
Scores that change by a spread ω have ‖p − w‖₁/2 ≤ tanh(ω/4τ) (`beyond.stability`), so that by `beyond.mean-distance` no output
moves by more than tanh(ω/4τ) times the diameter of the values, and by `beyond.carried` W₁ not by more than that of the keys:
these two are arguments in words, which nothing checks.
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations.documents.deciphering.notation import T, a, d, i, j, mean, n
from derivations.documents.deciphering.section6_theorem1 import distance, divergence
from derivations.vocabulary import *

p, w, D = interior("p", n), interior("w", n), positive("D")
WITHIN = "‖t_i − t_j‖ ≤ D for all i and j"


def length(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """‖t_i − t_j‖²."""
    return total(a, (T[first, a] - T[second, a]) ** 2)


DIAMETER = ForAll(AtLeast(D**2, length(i, j)), (i, j))
"""The hypothesis, in symbols."""


def change(template: sp.Expr) -> sp.Expr:
    """δ_i = p_i − w_i."""
    return p[template] - w[template]


def l1_distance() -> sp.Expr:
    """‖p − w‖₁."""
    return total(i, sp.Abs(change(i)))


@cache
def both_ways() -> sp.Expr:
    """KL(p, w) + KL(w, p)."""
    return divergence(p, w) + divergence(w, p)


@cache
def squared() -> sp.Expr:
    """‖h_p − h_w‖²."""
    return distance(mean(p), mean(w))


# ── both divergences ────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def apart(factor: sp.Expr) -> AtLeast:
    """KL(p, w) + KL(w, p) ≥ factor · ‖p − w‖₁²."""

    def sum_of(template: sp.Expr) -> sp.Expr:
        return p[template] + w[template]

    steep = change(j) ** 4 / (2 * sum_of(j) * (p[j] + 2 * w[j]) * (2 * p[j] + w[j]))
    spread = 2 * total(j, sum_of(j) * (sp.Abs(change(j)) / sum_of(j) - l1_distance() / 2) ** 2)
    slack = total(j, pinsker(p[j], w[j])) + total(j, pinsker(w[j], p[j])) + total(j, steep) + spread
    return AtLeast(
        both_ways(),
        factor * l1_distance() ** 2,
        because=slack if factor == 1 else None,
        reason="the divergences of an entry sum to at least 2δ²/(p + w), and Σ (p + w) = 2",
    )


@claim(
    "beyond.jeffreys",
    "inequality",
    title="Both divergences together",
    needs=("beyond.pinsker",),
    latex=r"\mathcal K(p,w)+\mathcal K(w,p)\ge\|p-w\|_1^2",
)
def jeffreys() -> Steps:
    """The divergences between two weightings are together at least the square of the sum of all changes."""
    yield apart(sp.S.One)


jeffreys.twin("twice as much", lambda: apart(sp.Integer(2)))
jeffreys.twin("5/4 of it", lambda: apart(sp.Rational(5, 4)))


# ── means ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def more(template: sp.Expr) -> sp.Expr:
    """2δ⁺_i = |δ_i| + δ_i."""
    return sp.Abs(change(template)) + change(template)


def less(template: sp.Expr) -> sp.Expr:
    """2δ⁻_i = |δ_i| − δ_i."""
    return sp.Abs(change(template)) - change(template)


def pair(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """c_ij = |δ_i| |δ_j| − δ_i δ_j = 2δ⁺_i δ⁻_j + 2δ⁻_i δ⁺_j."""
    return sp.Abs(change(first)) * sp.Abs(change(second)) - change(first) * change(second)


@cache
def by_pairs() -> AtLeast:
    """Σ_ij c_ij ‖t_i − t_j‖²/4 ≥ ‖h_p − h_w‖²."""
    same = (more(i) * more(j) + less(i) * less(j)) / 2
    return AtLeast(
        total((i, j), pair(i, j) * length(i, j)) / 4,
        squared(),
        because=total((i, j), same * length(i, j)) / 4,
        reason="as Σ δ = 0, ‖Σ δ_i t_i‖² is −Σ δ_i δ_j ‖t_i − t_j‖²/2;",
    )


@cache
def within() -> Follows:
    """D² Σ c_ij ≥ Σ c_ij ‖t_i − t_j‖²."""
    return Follows(
        (DIAMETER,),
        AtLeast(D**2 * total((i, j), pair(i, j)), total((i, j), pair(i, j) * length(i, j))),
        (more(i) * less(j),),
        given=(DIAMETER,),
        reason="no distance is longer than D;",
    )


@cache
def near(factor: sp.Expr) -> Follows:
    """factor · D² ‖p − w‖₁² ≥ ‖h_p − h_w‖²."""
    return Follows(
        (by_pairs(), within().conclusion),
        AtLeast(factor * D**2 * l1_distance() ** 2, squared()),
        (sp.S.One, sp.Rational(1, 4)),
        given=(DIAMETER,),
        reason="Σ c_ij = ‖p − w‖₁²",
    )


QUARTER, REST = Fraction(1, 4), Fraction(3, 4)
EDGE: dict[Variable, Value] = {n: 2, d: 1, T.label: [[0], [1]], p.label: [QUARTER, REST], w.label: [REST, QUARTER], D: 1}
"""Two templates, where the distance is attained."""


def shorter(factor: sp.Expr) -> AtLeast:
    """The same as a bare inequality, where the factor is too small for a proof."""
    return AtLeast(factor * D**2 * l1_distance() ** 2, squared(), given=(DIAMETER,), at=EDGE)


@claim(
    "beyond.mean-distance",
    "inequality",
    title="How far a mean moves with its weights",
    hypotheses=(WITHIN,),
    latex=r"\|h_p-h_w\|\le\tfrac D2\|p-w\|_1,\quad D=\max_{i,j}\|t_i-t_j\|",
)
def mean_distance() -> Steps:
    """Two averages of the same values are as far apart as the mass that differs times the diameter of the values, at most."""
    yield by_pairs()
    yield within()
    yield near(sp.Rational(1, 4))


mean_distance.twin("a quarter of the diameter", lambda: shorter(sp.Rational(1, 16)))
mean_distance.twin("an eighth for a quarter", lambda: shorter(sp.Rational(1, 8)))


@claim(
    "beyond.mean-smooth",
    "inequality",
    title="The mean is smooth in the divergences, with the constant D²/4",
    hypotheses=(WITHIN,),
    needs=("beyond.jeffreys", "beyond.mean-distance"),
    latex=r"\|h_p-h_w\|^2\le\tfrac{D^2}4\big(\mathcal K(p,w)+\mathcal K(w,p)\big)",
)
def mean_smooth() -> Steps:
    """For tilts of one law, whose divergences sum to ⟨λ − y, h_p − h_w⟩, this is cocoercivity with the square of D/2."""
    yield Follows(
        (apart(sp.S.One), near(sp.Rational(1, 4)).conclusion),
        smooth(sp.Rational(1, 4)),
        (D**2 / 4, sp.S.One),
        given=(DIAMETER,),
        reason="beyond.jeffreys and beyond.mean-distance",
    )


def smooth(factor: sp.Expr) -> AtLeast:
    """factor · D² (KL(p, w) + KL(w, p)) ≥ ‖h_p − h_w‖²."""
    return AtLeast(factor * D**2 * both_ways(), squared())


def rougher(factor: sp.Expr) -> AtLeast:
    """The same as a bare inequality."""
    return AtLeast(factor * D**2 * both_ways(), squared(), given=(DIAMETER,), at=EDGE)


mean_smooth.twin("an eighth", lambda: rougher(sp.Rational(1, 8)))
mean_smooth.twin("a fifth", lambda: rougher(sp.Rational(1, 5)))


# ── one divergence ──────────────────────────────────────────────────────────────────────────────────────────────────

columns, omega = size("N"), scalar("ω", Nonnegative)
G = stochastic("g", n, columns)


def level(template: sp.Expr) -> sp.Expr:
    """g_i."""
    return G[template, 1]


def chord(template: sp.Expr) -> sp.Expr:
    """1 − g + g e^ω."""
    return 1 - level(template) + level(template) * sp.exp(omega)


def below_chord(template: sp.Expr) -> sp.Expr:
    """1 − g + g e^ω − e^{ωg}, as divergences."""
    up, down = sp.exp(omega * (1 - level(template))), sp.exp(-omega * level(template))
    parts = (1 - level(template)) * kl(sp.S.One, down) + level(template) * kl(sp.S.One, up)
    return sp.exp(omega * level(template)) * parts


@cache
def to_two_values() -> AtLeast:
    """log Σ p (1 − g + g e^ω) ≥ log Σ p e^{ωg}."""
    whole, inner = total(i, p[i] * chord(i)), total(i, p[i] * sp.exp(omega * level(i)))
    return AtLeast(
        sp.log(whole),
        sp.log(inner),
        because=kl(sp.S.One, inner / whole) + total(i, p[i] * below_chord(i)) / whole,
        reason="exp lies below its chord from 0 to ω: the worst g has the values 0 and 1 only;",
    )


@cache
def of_two_values() -> AtLeast:
    """ω²/8 ≥ log(1 − ḡ + ḡ e^ω) − ωḡ."""
    rest, center = total(i, p[i] * (1 - level(i))), total(i, p[i] * level(i))
    return AtLeast(
        omega**2 / 8,
        sp.log(rest + center * sp.exp(omega)) - omega * center,
        taylor=Taylor(omega, sp.S.Zero, 2),
        reason="both sides and their slopes are 0 at ω = 0, and a variance of numbers of [0, 1] is at most 1/4;",
    )


def own_tilt(template: sp.Expr) -> sp.Expr:
    """p'_i = p_i e^{ωg_i}/Σ_k p_k e^{ωg_k}."""
    return p[template] * sp.exp(omega * level(template)) / total(j, p[j] * sp.exp(omega * level(j)))


def relative_entropy() -> sp.Expr:
    """KL(p, p')."""
    return total(i, relative(p[i], own_tilt(i)))


@claim(
    "beyond.hoeffding",
    "inequality",
    title="What a change of scores costs",
    needs=("beyond.stability",),
    hypotheses=("the changes lie within an interval of length ω",),
    latex=r"p'_i\propto p_ie^{\omega g_i},\ 0\le g\le1\implies\mathcal K(p,p')\le\frac{\omega^2}8",
)
def hoeffding() -> Steps:
    """Scores that change by a spread ω move the weights by a divergence of ω²/8 at most, for any number of keys."""
    yield to_two_values()
    yield of_two_values()
    yield Follows(
        (to_two_values(), of_two_values()),
        AtLeast(omega**2 / 8, relative_entropy()),
        (sp.S.One, sp.S.One),
        reason="KL(p, p') = log Σ p e^{ωg} − ωḡ",
    )


HALVES: dict[Variable, Value] = {n: 2, columns: 2, p.label: [Fraction(1, 2)] * 2, G.label: [[1, 0], [0, 1]], omega: QUARTER}
hoeffding.twin("half of it", lambda: AtLeast(omega**2 / 16, relative_entropy(), at=HALVES))
hoeffding.twin("the fourth power", lambda: AtLeast(omega**4 / 8, relative_entropy(), at=HALVES))


# ── by a plan ───────────────────────────────────────────────────────────────────────────────────────────────────────

r, v, v2 = simplex("r", n), simplex("v", n), simplex("v'", n)
x, y = positive("x"), positive("y")
k = index("k", n)
spare = vector("e", n, n, kind=Nonnegative)


def plan(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """X_ij = (x r_i δ_ij + y v_i v'_j)/(x + y): what both have in common stays, the rest goes anywhere."""
    return (x * r[first] * delta(first, second) + y * v[first] * v2[second]) / (x + y)


def mixed(other: Entry) -> Entry:
    """i ↦ (x r_i + y other_i)/(x + y)."""
    return lambda key: (x * r[key] + y * other(key)) / (x + y)


FAR: dict[Variable, Value] = {n: 2, r.label: [0, 1], v.label: [1, 0], v2.label: [0, 1], spare.label: [[0, 0], [0, 0]], D: 2}
"""Two keys, all of whose mass that differs goes from one to the other."""


def carried(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> AtLeast:
    """bound ≥ the cost of the plan."""
    cost = total((i, j), plan(i, j) * (1 - delta(i, j)) * (D - spare[i, j]))
    idle = total((i, j), v[i] * v2[j] * (1 - delta(i, j)) * spare[i, j]) + D * total(i, v[i] * v2[i])
    return AtLeast(
        bound,
        cost,
        because=y / (x + y) * idle if bound == y * D / (x + y) else None,
        at=at or {},
        reason="what stays costs nothing, and nothing goes farther than D",
    )


@claim(
    "beyond.carried",
    "inequality",
    title="Attention weights as masses on the keys",
    needs=("beyond.stability",),
    hypotheses=("no two keys are farther apart than D",),
    latex=r"W_1(p,w)\le\sum_{ij}X_{ij}\,d(k_i,k_j)\le\tfrac D2\|p-w\|_1,\quad X=\frac{x\,\mathrm{diag}(r)+y\,vv'^\top}{x+y}",
)
def carried_mass() -> Steps:
    """Weights that differ by the mass θ are θD apart at most, as masses on the keys, whatever the metric is."""
    yield Equation(total(j, plan(i, j)), mixed(v)(i), reason="the plan has the one marginal,")
    yield Equation(total(i, plan(i, j)), mixed(v2)(j), reason="and the other;")
    yield carried(y * D / (x + y))


carried_mass.twin("half of it", lambda: carried(y * D / (x + y) / 2, FAR))
carried_mass.twin("without the diameter", lambda: carried(y / (x + y), FAR))
