"""Section 8, footnote 10: the size of the templates, and whether Theorem 2 applies at α = 1.

Claims     deciphering.fn10                  E‖t_i‖² = d/d′ = H, where d grows with d′ and H is fixed
           deciphering.s8.bounded-moments    E_u‖W‖^(2r) ≤ Σ_i ‖t_i‖^(2r) < ∞
           deciphering.s8.theorem2-applies   λ* − αz = α(μ − h(w)) + o(α) at fixed w, h(w) the mean of (18)
Notation   x_a the entries of an input, independent with mean 0 and variance 1, as after layer normalization; e = d′ the width
           of a head, H the number of heads; w = αz held fixed; v = λ* − w; r ≥ 1 half the order
           of a moment
References footnote 10 and the reparametrization before it
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, c, d, i, k, lam, mean, mu, n, tilt, u
from derivations.documents.deciphering.section7_attention import heads, layer_is_exact, smallest
from derivations.documents.deciphering.section8_heads import e
from derivations.vocabulary import *

entries_of_input = vector("x", d, kind=Random)
split = index("f", e)
per_head = vector("x", heads, e, kind=Random)
fixed, rest = vector("w", d), vector("v", d)
order = size("r")


# ── the norm of the templates ───────────────────────────────────────────────────────────────────────────────────────


def squared_norm(of: sp.Expr) -> Equation:
    """E‖x/√d′‖² for d = H d′ against a value."""
    each = expectation(per_head[index("h", heads), split] ** 2 / e)
    return Equation(total((index("h", heads), split), each), of, reason="d′ cancels when d = H d′")


@claim(
    "deciphering.fn10",
    "identity",
    title="Dividing by √d′ keeps the templates' norms as d′ grows",
    latex=r"\|t_i\|=\|x_i\|/\sqrt{d'}\text{ remains largely unchanged as }d'\text{ increases}",
    needs=("deciphering.s8.reparametrization",),
)
def unchanged_norms() -> Steps:
    """Inputs divided by √d′ are said to keep their norm as the width d′ of a head increases."""
    yield Fails(
        Equation(expectation(total(a, entries_of_input[a] ** 2 / e)), d, at={d: 1, e: 2}),
        reason="E‖t‖² = d/d′: with d fixed it falls as 1/d′, here from 1 at d′ = 1 to ½ at d′ = 2",
    )


@unchanged_norms.corrected(
    r"\mathbb E\|t_i\|^2=d/d'=H",
    Severity.HYPOTHESIS,
    under="the width d of the model grows with d′, the number H = d/d′ of heads being fixed",
    replaces="the width d of the model, which is kept",
)
def norm_is_the_number_of_heads() -> Steps:
    """For inputs with entries of unit size the squared norm is the number of heads, which does not depend on d′."""
    yield squared_norm(heads)


unchanged_norms.twin("the width of the model", lambda: squared_norm(heads * e))
unchanged_norms.twin("one", lambda: squared_norm(sp.S.One))


def power(template: sp.Expr) -> sp.Expr:
    """‖t_i‖^2r."""
    return total(a, T[template, a] ** 2) ** order


def bounds(multiple: sp.Expr) -> AtLeast:
    """Σ_i ‖t_i‖^2r ≥ multiple · E‖W‖^2r."""
    apart = index("h", n, other_than=(i,))
    return AtLeast(
        total(i, power(i)),
        multiple * total(i, u[i] * power(i)),
        reason="u_i ≤ 1, for every order 2r",
        because=total(i, total(apart, u[apart]) * power(i)),
    )


@claim(
    "deciphering.s8.bounded-moments",
    "inequality",
    title="Finitely many templates have bounded moments",
    latex=r"\mathbb E_u[\|W\|^{2r}]\le\textstyle\sum_i\|t_i\|^{2r}",
)
def bounded_moments() -> Steps:
    """A preference on finitely many templates has bounded moments of every order, scaled by √d′ or not."""
    yield bounds(sp.S.One)


bounded_moments.twin("four times the moment", lambda: bounds(sp.Integer(4)))
bounded_moments.twin("the mean of the powers", lambda: bounds(n))


# ── α = 1 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def moving(coordinate: sp.Expr) -> sp.Expr:
    """λ* = w + v."""
    return fixed[coordinate] + rest[coordinate]


with_fixed_product = Solves(rest, lambda v: lambda s: mu(s) - mean(tilt(lambda r: fixed[r] + v(r)))(s))
"""λ = α(μ + z − h(λ)) with αz = w: v = α(μ − h(w + v))."""


def error() -> Expansion:
    """ĥ − ĥ_c at fixed αz is α Cov_w(t) (μ − ĥ_c) + o(α)."""
    weights = tilt(fixed)
    centre = mean(weights)
    pull = total(c, total(k, weights(k) * T[k, c] * (T[k, a] - centre(a))) * (mu(c) - centre(c)))
    return Expansion(
        mean(tilt(moving))(a) - centre(a),
        alpha * pull,
        alpha,
        1,
        where=(with_fixed_product,),
        reason="ĥ = h(w + v), v = α(μ − h(w)) + o(α), ∇h = Cov",
    )


@claim(
    "deciphering.s8.theorem2-applies",
    "asymptotic",
    title="Theorem 2 applies to the reparametrized attention",
    latex=r"\alpha=1,\ t_i=x_i/\sqrt{d'}\implies\hat h\approx(18)",
    needs=("deciphering.fn10", "deciphering.s8.bounded-moments"),
)
def theorem2_applies() -> Steps:
    """Because the templates are scaled, the approximation for small α is said to apply, with α set to 1."""
    yield Fails(
        layer_is_exact(at={**smallest, T.label: [[0], [8]], lam.label: [Fraction(1, 64)]}),
        reason="two templates, 0 and 8, have bounded moments; at α = 1, (18) is 7.14 where (4) has 4.25 and μ = 4",
    )


def shift(factor: sp.Expr) -> Expansion:
    """λ* − αz at fixed αz against factor · α(μ − ĥ_c)."""
    return Expansion(
        rest[c],
        factor * alpha * (mu(c) - mean(tilt(fixed))(c)),
        alpha,
        1,
        where=(with_fixed_product,),
        reason="λ* − αz = α(μ − ĥ), and ĥ → ĥ_c",
    )


@theorem2_applies.corrected(
    r"\lambda^*-\alpha z=\alpha(\mu-\hat h_{(18)})+o(\alpha)\text{ at fixed }\alpha z",
    Severity.HYPOTHESIS,
    under="α times the templates' squared spread is small at given scores, not only bounded",
    replaces="the bounded moments at α = 1, and the sign ≈",
)
def at_fixed_product() -> Steps:
    """With αz held fixed, as when weights are given, αz approximates λ* to first order in α, with this error."""
    yield error()
    yield shift(sp.S.One)


theorem2_applies.twin("the sign", lambda: shift(-sp.S.One))
theorem2_applies.twin("half of it", lambda: shift(sp.Rational(1, 2)))
