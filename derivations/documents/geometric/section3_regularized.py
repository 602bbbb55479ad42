"""“Regularizing the Optimization Problem”: when the solution leaves the corners, and where it points.

Claims     geometric.4                  argmax ⟨p, x⟩ + H(p) over the simplex = softmax(x), and no other point
           geometric.s3.avoid-corners   Ω = −τH, τ > 0, |S| ≥ 2  ⟹  p*_t < 1 for every t
           geometric.s3.unique-inside   exactly one solution with −Ω = H, and 0 < p*_t < 1 for |S| ≥ 2
           geometric.s3.direction       cos ∠(p* − 1/|S|, x − x̄) ≥ 1/(|S| − 1)  (corrected)
Notation   omega = Ω(p) any number; θ + p − μ the data whose sparsemax is p (any data are of this form); s_j = ⟨q, k_j⟩ and √d
           the products and the temperature of scaled dot-product attention; y any data ≥ 0, top their largest entry; Zw, with
           Z > 0 and w in the simplex, any but 0; others = |S| − 1 ≥ 1 the number of the locations but one, which has the
           value x_t, and x_i their values; A, B how far the largest and the smallest weight are from 1/|S|, C and D the
           same of the data and their mean; N = ⟨p* − 1/|S|, x − mean x⟩; |S|AB/(1 + g) and |S|CD/(1 + h) the squared
           lengths of both, with g, h ≥ 0
References (3), (4) and the prose around them; Martins and Astudillo (2016) for ½‖p‖²
"""

import sympy as sp

from derivations.documents.eot.notation import d as width
from derivations.documents.eot.notation import j, k, m, s, softmax, tau
from derivations.documents.eot.regularizers import (
    half_square,
    mu,
    quadratic_scores,
    scaled_entropy,
    sparsemax,
    theta,
    unspent,
    variational,
)
from derivations.documents.geometric.notation import best, corner, cosine, inner, magnitude, mean, nonzero, p, soft, x
from derivations.vocabulary import *

omega, shift = scalar("omega"), scalar("t")
star = soft(x)


# ── away from the corners ───────────────────────────────────────────────────────────────────────────────────────────

slope = positive("y")
others = size("others")
own_value, their_values, i = scalar("x_t"), vector("x", others), index("i", others)


def shares(temperature: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The softmax weight of one location, and that of all others together, of which there is at least one."""
    mine, theirs = sp.exp(own_value / temperature), total(i, sp.exp(their_values[i] / temperature))
    return mine / (mine + theirs), theirs / (mine + theirs)


def inside(temperature: sp.Expr, bound: sp.Expr = sp.S.One, because: sp.Expr | None = None) -> AtLeast:
    """No weight reaches the bound, where |S| ≥ 2."""
    return AtLeast(bound, shares(temperature)[0], strict=True, because=because, reason="another location has a positive weight")


@claim(
    "geometric.s3.avoid-corners",
    "inequality",
    title="A regularizer can keep basis vectors from being the solution",
    latex=r"\exists\,\Omega:\ e_t\notin\arg\max_{p\in\Delta^{|S|}}\langle p,x\rangle-\Omega(p)\ \forall t,x",
    needs=("geometric.3", "eot.prop4.2"),
    hypotheses=("|S| ≥ 2: with one location the only weights are e₁",),
)
def avoid_corners() -> Steps:
    """By including a regularizer one can avoid basis vectors as solutions: by entropy of any strength, as (4) does.

    Not every regularizer avoids them; it takes one whose slope is −∞ where a weight is 0.
    """
    yield UniqueMinimum(
        variational(quadratic_scores, half_square),
        sparsemax(quadratic_scores, theta),
        m,
        sp.S.One,
        sp.Integer(2),
        unspent,
        reason="Ω = ½‖p‖², strictly convex: the solution is sparsemax, …",
    )
    yield Fails(
        AtLeast(1, plus(quadratic_scores(j) - theta), strict=True, at={m: 2, p.label: [1, 0], mu.label: [0, 0], j: 1}),
        reason="… which for x = (1, 0) is e₁; Ω = 0 and any linear Ω leave basis vectors too",
    )
    cooled = softmax(x, tau)
    yield UniqueMinimum(variational(x, scaled_entropy(tau)), cooled, m, tau, reason="Ω = −τH has one solution")
    yield Limit(derivative(tau * slope * sp.log(slope), slope), slope, sp.S.Zero, -sp.oo, reason="the slope of Ω at a weight 0")
    yield inside(tau, because=shares(tau)[1])


avoid_corners.twin("at most one half", lambda: inside(tau, sp.S.Half))
avoid_corners.twin("at most the uniform weight", lambda: inside(tau, 1 / (1 + others)))


# ── (3) and (4) ─────────────────────────────────────────────────────────────────────────────────────────────────────


def regularized(right: sp.Expr) -> Equation:
    """⟨p, x⟩ − Ω(p) against an expression in lengths and the angle."""
    return Equation(inner(p, x) - omega, right, given=(nonzero(x),), reason="(2), and Ω(p) is the same on both sides")


@claim(
    "geometric.3",
    "identity",
    title="The regularized problem in lengths and the angle",
    needs=("geometric.2",),
    hypotheses=("x ≠ 0, or any γ",),
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle p,x\rangle-\Omega(p)"
    r"=\arg\max_{p\in\Delta^{|S|}}\|p\|\|x\|\cos\gamma-\Omega(p)",
)
def regularized_cosine() -> Steps:
    """For any regularizer the two problems are one: the objectives agree at each p."""
    yield regularized(magnitude(p) * magnitude(x) * cosine(p, x) - omega)


regularized_cosine.twin("the regularizer is rewarded", lambda: regularized(magnitude(p) * magnitude(x) * cosine(p, x) + omega))
regularized_cosine.twin("the norm of p is lost", lambda: regularized(magnitude(x) * cosine(p, x) - omega))


def solves(candidate: Entry, of: Entry = x) -> UniqueMinimum:
    """The candidate is the only maximizer of ⟨p, x⟩ + H(p)."""
    return UniqueMinimum(
        variational(of, scaled_entropy(sp.S.One)),
        candidate,
        m,
        sp.S.One,
        reason="the value at softmax(x) less that at q is Σ_j kl(q_j ‖ softmax(x)_j)",
    )


@claim(
    "geometric.4",
    "optimality",
    title="With Shannon entropy the solution is softmax",
    needs=("geometric.3", "eot.prop4.1"),
    hypotheses=("−Ω = H, with the natural logarithm",),
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle p,x\rangle-\Omega(p)=\mathrm{softmax}(x)",
)
def entropy_gives_softmax() -> Steps:
    """Rewarding Shannon entropy, with the weight 1, the only maximizer is the softmax of the data."""
    yield Equation(total(j, star(j)), 1, about=(x[j],), reason="it is feasible")
    yield solves(star)


entropy_gives_softmax.twin("half the temperature", lambda: solves(softmax(x, sp.S.Half)))
entropy_gives_softmax.twin("the sign of the data", lambda: solves(soft(lambda location: -x[location])))
entropy_gives_softmax.twin("the uniform vector", lambda: solves(lambda location: 1 / m))
entropy_gives_softmax.twin("the entropy in bits", lambda: solves(softmax(x, 1 / sp.log(2))))


def scaled(location: sp.Expr) -> sp.Expr:
    """s_j/√d."""
    return s[location] / sp.sqrt(width)


@claim(
    "geometric.s3.close-to-practice",
    "optimality",
    title="Softmax attention is (4) with a transformation of the data",
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle p,s/\sqrt d\rangle-\Omega(p)=\mathrm{softmax}(s/\sqrt d)",
    needs=("geometric.4", "eot.thm3.3"),
)
def close_to_practice() -> Steps:
    """What is used in practice is the same problem for a transformation of the data, such as scaled products with a query."""
    yield solves(softmax(s, sp.sqrt(width)), scaled)


close_to_practice.twin("the scale is lost", lambda: solves(soft(s), scaled))
close_to_practice.twin("dissimilarity", lambda: solves(soft(lambda location: -scaled(location)), scaled))


@claim(
    "geometric.s3.unique-inside",
    "inequality",
    title="One solution, and not a basis vector",
    needs=("geometric.4",),
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle p,x\rangle+H(p)=\{p^\star\},\quad0<p^\star_t",
    hypotheses=("|S| ≥ 2: it is said of the figure's 2d case",),
)
def unique_inside() -> Steps:
    """With negative Shannon entropy there is exactly one solution, all of whose weights are positive and less than 1.

    The last needs a second location: for |S| = 1 the only solution is e₁, and |S| = others + 1 says so in the formula.
    """
    yield solves(star)
    yield AtLeast(star(j), 0, strict=True, reason="no location is left out")
    yield inside(sp.S.One, because=shares(sp.S.One)[1])


unique_inside.twin("at most one half", lambda: inside(sp.S.One, sp.S.Half))
unique_inside.twin("at most the uniform weight", lambda: inside(sp.S.One, 1 / (1 + others)))


# ── the direction ───────────────────────────────────────────────────────────────────────────────────────────────────

scale, Z = positive("t"), positive("Z")
share, nonnegative = simplex("w", m), vector("y", m, kind=Nonnegative)
x1, x2 = scalar("x₁"), scalar("x₂")
first, second = (sp.exp(value) / (sp.exp(x1) + sp.exp(x2)) for value in (x1, x2))
peak = scalar("top", Nonnegative)


@claim(
    "geometric.s3.direction",
    "inequality",
    title="The solution points in approximately the direction of the data",
    latex=r"\cos\angle(\mathrm{softmax}(x),x)\ge\cos\angle(e_t,x)\ \text{for } e_t \text{ optimal in (2)}",
    needs=("geometric.4", "geometric.s2.not-the-direction"),
)
def direction() -> Steps:
    """With the entropy the solution is said to point in about the direction of the data: at least, closer to it than before."""
    yield Equation(
        soft(lambda location: x[location] + shift)(j),
        star(j),
        about=(shift,),
        reason="a constant added to the data turns them towards (1, …, 1) or away from it; the solution stays",
    )
    yield Fails(AtLeast(cosine(star, x), 0, at={m: 2, x.label: [-1, -1]}), reason="x = (−1, −1): the angle is 180°")
    yield Fails(
        AtLeast(cosine(star, x), sp.Rational(27, 100), at={m: 100, x.label: [1] + 99 * [0]}),
        reason="nor do data ≥ 0 help: x = e₁ with |S| = 100 has 74.7° with softmax(x), and 0° with e₁ …",
    )
    yield Equation(
        total(j, (1 + (sp.E - 1) * corner(j)) ** 2),
        sp.E**2 + m - 1,
        about=(best,),
        reason="… for exp(e₁) has this squared length, and so with e₁ the cosine e/√(e² + |S| − 1), …",
    )
    yield Limit(sp.E / sp.sqrt(sp.E**2 + m - 1), m, sp.oo, sp.S.Zero, reason="… a right angle for many locations")
    yield Fails(
        AtLeast(cosine(star, x), cosine(corner, x), at={m: 2, x.label: [1, 0], best: 1}),
        reason="x = (1, 0) ≥ 0: e₁ has the angle 0°, softmax(x) arctan(1/e) = 20°",
    )


def for_nonnegative_data() -> AtLeast:
    """|S|⟨p*, y⟩² ≥ ‖p*‖²‖y‖² for y ≥ 0: Chebyshev's sum inequality for the squares of p* and y, which have one order."""
    own = soft(nonnegative)
    pair = kl(own(j) ** 2, own(k) ** 2) + kl(own(k) ** 2, own(j) ** 2)
    apart = total((j, k), own(j) * nonnegative[j] * own(k) * nonnegative[k] * (1 - sp.KroneckerDelta(j, k)))
    return AtLeast(
        m * total(j, own(j) * nonnegative[j]) ** 2,
        total(j, own(j) ** 2) * total(j, nonnegative[j] ** 2),
        because=m * apart + total((j, k), (nonnegative[j] + nonnegative[k]) * pair) / 4,
        reason="data ≥ 0: the cosine is at least 1/√|S|, so p* and x are at most 45° apart in the plane …",
    )


def centred(of: Entry) -> sp.Expr:
    """⟨p* − 1/|S|, x − mean x⟩."""
    return total(j, (of(j) - 1 / m) * (x[j] - mean(x)))


top_weight, low_weight, top_data, low_data = (scalar(name, Nonnegative) for name in "ABCD")
product, spare_weights, spare_data = (scalar(name, Nonnegative) for name in ("N", "g", "h"))
high, low, own = scalar("high"), scalar("low"), vector("v", m)
APART = (AtLeast((m - 1) * product, m * top_weight * top_data), AtLeast((m - 1) * product, m * low_weight * low_data))
lengths = m**2 * top_weight * low_weight * top_data * low_data / ((1 + spare_weights) * (1 + spare_data))
EXTREME: dict[Variable, Value] = {
    m: 3,
    top_weight: 2,
    low_weight: 1,
    top_data: 1,
    low_data: 2,
    product: 3,
    spare_weights: 0,
    spare_data: 0,
}
"""(2, −1, −1) and (1, 1, −2), which have one order, and the cosine 1/2."""


def one_order() -> Steps:
    """The fact behind `APART`, at the locations of the largest and of the smallest weight, and behind `lengths`."""
    away = (1 - delta(j, best)) * (1 - delta(k, best))
    yield AtLeast(
        (m - 1) * centred(star),
        m * (star(best) - 1 / m) * (x[best] - mean(x)),
        because=total((j, k), away * kl(star(j), star(k))),
        reason="at any location: what is left are products of the others' differences, kl(p_j ‖ p_k) + kl(p_k ‖ p_j)",
    )
    above, below = AtLeast(high, own[j]), AtLeast(own[j], low)
    yield Follows(
        (above,),
        AtLeast((high - own[j]) * (own[j] - low), 0),
        (own[j] - low,),
        given=(above, below),
        reason="for any numbers v between `low` and `high` …",
    )
    middle = total(j, own[j]) / m
    yield Equation(
        total(j, (high - own[j]) * (own[j] - low)),
        m * (high - middle) * (middle - low) - total(j, (own[j] - middle) ** 2),
        reason="… these add up: the squared length of what is centred is at most |S| times both distances",
    )


def attained() -> Steps:
    """The data (t² + t, t², …, t², 0): the weights tend to e₁, and the cosine to 1/(|S| − 1); |S| = others + 1."""
    rest = others - 1
    yield Limit((rest + sp.exp(-(scale**2))) / sp.exp(scale), scale, sp.oo, sp.S.Zero, reason="p* → e₁: the odds of the others")
    middle = (scale**2 + scale + rest * scale**2) / (others + 1)
    length = (scale**2 + scale - middle) ** 2 + rest * (scale**2 - middle) ** 2 + middle**2
    yield Equation(
        (others + 1) * length, others * scale**4 + 2 * scale**3 + others * scale**2, reason="their squared length, and …"
    )
    yield Equation((others + 1) * (scale**2 + scale - middle), scale**2 + others * scale, reason="… their product with e₁")
    yield Limit(
        (scale + others) ** 2 / (others * (others * scale**2 + 2 * scale + others)),
        scale,
        sp.oo,
        1 / others**2,
        reason="no better bound: the squared cosine of e₁ and these data, both centred",
    )


def sharp(factor: sp.Expr) -> Follows:
    """factor² ⟨p* − 1/|S|, x − mean x⟩² ≥ ‖p* − 1/|S|‖² ‖x − mean x‖²."""
    spare = spare_weights + spare_data + spare_weights * spare_data
    return Follows(
        APART,
        AtLeast(factor**2 * product**2, lengths),
        (m * low_weight * low_data, (m - 1) * product),
        lengths * spare,
        given=APART,
        at=EXTREME,
        reason="the product of both bounds for N: cos ≥ 1/(|S| − 1), so the angle is 0° for |S| = 2, 60° for 3",
    )


@direction.corrected(
    r"p^\star_s/p^\star_t=e^{x_s-x_t},\quad\cos\angle(p^\star-\tfrac1{|S|}\mathbf1,x-\bar x\mathbf1)"
    r"\ge\frac1{|S|-1},\quad\mathrm{softmax}(tx)-\tfrac1{|S|}\mathbf1=\tfrac t{|S|}(x-\bar x\mathbf1)+o(t);"
    r"\quad x\ge0:\ \cos\angle(p^\star,x),\cos\angle(e_t,x)\ge|S|^{-1/2}",
    Severity.FATAL,
    replaces="the angle, by that of the centred vectors",
)
def centred_direction() -> Steps:
    """It is the centred vectors that are aligned, with a cosine of at least 1/(|S| − 1): 0° for |S| = 2 or small data.

    The bound is sharp, and tends to 90°.  For data ≥ 0 the vectors themselves have a cosine of at least 1/√|S|, and no
    better bound; but so has e_t.
    """
    yield Equation(star(j) / star(k), sp.exp(x[j] - x[k]), reason="the weights have the order of the data")
    yield Equation(
        (first - sp.S.Half) * (x2 - x1),
        (second - sp.S.Half) * (x1 - x2),
        reason="|S| = 2: p* − (½, ½) is parallel to x − mean x",
    )
    yield Expansion(
        soft(lambda location: scale * x[location])(j) - 1 / m,
        scale * (x[j] - mean(x)) / m,
        scale,
        1,
        reason="small data: parallel in the limit, so the angle tends to 0",
    )
    yield for_nonnegative_data()
    yield Limit(
        sp.exp(scale) / sp.sqrt(sp.exp(2 * scale) + m - 1),
        scale,
        sp.S.Zero,
        1 / sp.sqrt(m),
        reason="and no better bound: the cosine for x = t e₁ as t → 0, where the weights become uniform",
    )
    largest = AtLeast(peak, nonnegative[j])
    yield Follows(
        (largest,),
        AtLeast(peak**2, nonnegative[j] ** 2),
        (peak + nonnegative[j],),
        given=(largest,),
        reason="added up, |S|(max x)² ≥ ‖x‖²: for data ≥ 0 the cosine of the e_t that solves (2) is ≥ 1/√|S| too",
    )
    yield UniqueMinimum(
        lambda q: Z * total(j, q(j) ** 2) / 2 - Z * total(j, q(j) * share[j]),
        share,
        m,
        Z,
        sp.Integer(2),
        reason="Ω = ½(Σx)‖p‖² gives x/Σx for x ≥ 0: exactly the direction, with the cosine 1",
    )
    yield AtLeast(
        centred(star),
        0,
        because=total(j, kl(star(j), 1 / m) + kl(1 / m, star(j))),
        reason="N is KL(p* ‖ 1/|S|) + KL(1/|S| ‖ p*): the angle is never obtuse, and how far from a right one:",
    )
    yield from one_order()
    yield from attained()
    yield sharp(m - 1)


direction.twin("parallel, whatever |S| is", lambda: sharp(sp.S.One))
direction.twin("twice the cosine", lambda: sharp((m - 1) / 2))
