"""Section 6, Figure 3: does a smaller α always make (18) a better approximation?

Claims     deciphering.s6.smaller-alpha-better   h(αz) − h(λ*) = α²Σ²z + o(α²), for small α
Notation   x, y > 0 dual points on the line (d = 1); strength(x) the α whose problem x solves; h(λ) = Σ_i p_i(λ) t_i
References Figure 3 of the document and the text about it; `deciphering.18` for the order of the error
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, b, c, covariance, i, lam, maximizer, mean, mu, n, tilt, u, z
from derivations.vocabulary import *

w = vector("w", n)
x, y = positive("x"), positive("y")
centre = total(i, u[i] * w[i])


def estimate(at: sp.Expr) -> sp.Expr:
    """h(λ) for templates on the line."""
    return total(i, u[i] * w[i] * sp.exp(at * w[i])) / total(i, u[i] * sp.exp(at * w[i]))


shift = y / alpha + estimate(y) - centre
"""The evidence for which y maximizes (9) with this α: stationarity reads y = α (μ + z − h(y))."""

larger = x / (centre + shift - estimate(x))
"""The strength for which x maximizes (9) with the same evidence."""


def error(strength: sp.Expr, exact: sp.Expr) -> sp.Expr:
    """(h(αz) − ĥ)², where ĥ = h(λ*)."""
    return (estimate(strength * shift) - estimate(exact)) ** 2


closed_form_error = mean(tilt(lambda e: alpha * z[e]))(a) - mean(tilt(lam))(a)
leading = total((b, c), covariance(a, b) * covariance(b, c) * z[c])


@claim(
    "deciphering.s6.smaller-alpha-better",
    "asymptotic",
    title="A smaller α approximates better, read for every problem and every pair of α",
    latex=r"\alpha_2\le\alpha_1 \implies \|\hat h_{(18)}-\hat h\|(\alpha_2)\le\|\hat h_{(18)}-\hat h\|(\alpha_1)",
    needs=("deciphering.18",),
)
def monotone() -> Steps:
    """As α decreases the closed form approximates better: seen in a figure, and read here for every problem and pair of α."""
    yield Fails(
        Follows(
            (AtLeast(larger, alpha),),
            AtLeast(error(larger, x), error(alpha, y)),
            (sp.S.Zero,),
            at={
                n: 2,
                w.label: (Fraction(-1), Fraction(1)),
                u.label: (Fraction(1, 2), Fraction(1, 2)),
                alpha: Fraction(3, 10),
                y: Fraction(7, 10),
                x: Fraction(2),
            },
        ),
        reason="two templates, z ≈ 2.94: both estimates end at the nearer template as α grows, so the error is "
        "largest in between, 0.10 at α = 0.3 and 0.03 at α ≈ 1.01",
    )


@monotone.corrected(
    r"\hat h(\alpha z)-\hat h = \alpha^2\Sigma^2 z + o(\alpha^2)",
    Severity.HYPOTHESIS,
    under="α is small enough",
    replaces="the comparison of any two α",
)
def eventually() -> Steps:
    """The error is α²Σ²z to leading order, so it shrinks with α once α is small; where Σ²z = 0 there is no error at all."""
    yield Equation(
        total(a, z[a] * total((b, c), covariance(a, b) * covariance(b, c) * z[c])),
        total(a, total(b, covariance(a, b) * z[b]) ** 2),
        reason="⟨z, Σ²z⟩ = ‖Σz‖²: Σ²z = 0 only if Σz = 0",
    )
    yield Equation(
        total((a, b), z[a] * covariance(a, b) * z[b]),
        total(i, u[i] * total(a, (T[i, a] - mu(a)) * z[a]) ** 2),
        reason="and then ⟨t_i, z⟩ is the same for all i: exact, as deciphering.s6.exact says",
    )
    yield Expansion(closed_form_error, alpha**2 * leading, alpha, 2, where=(maximizer,), reason="λ* = αz − α²Σz + o(α²)")


monotone.twin(
    "one Σ is lost",
    lambda: Expansion(closed_form_error, alpha**2 * total(b, covariance(a, b) * z[b]), alpha, 2, where=(maximizer,)),
)
monotone.twin("the sign", lambda: Expansion(closed_form_error, -(alpha**2) * leading, alpha, 2, where=(maximizer,)))


@claim(
    "deciphering.fig3",
    "empirical",
    title="Figure 3: the closed form beside the exact estimate",
    latex=r"\hat h_{(18)} \approx \hat h \text{ for small } \alpha",
    needs=("deciphering.s6.smaller-alpha-better",),
)
def figure() -> None:
    """The closed form is close to the exact estimate when α is small, as a picture in the plane shows for several α."""


@claim(
    "deciphering.s6.still-deviates",
    "empirical",
    title="At α = 0.5 and 1 the estimate still deviates from μ",
    latex=r"\|\hat h-\mu\|\gg0\text{ for }\alpha=\tfrac12,1",
    needs=("deciphering.fig3",),
)
def still_deviates() -> None:
    """Where the closed form is good, at α = 0.5 and 1, the estimate is said to deviate from μ significantly nevertheless."""
