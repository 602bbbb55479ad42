"""Iterated attention: a second pass takes one more order of α off the distance from the exact query.

Claims     beyond.third-order        λ* = αz − α²Σz + α³(Σ²z − κ₃(z, z, ·)/2) + o(α³)
           beyond.second-pass        λ₁ = λ* − α³Σ²z + o(α³) for λ₁ = α(z + μ − h(αz)), where αz = λ* + α²Σz + o(α²)
           beyond.iterates           ‖λ_k − λ*‖ ≤ q^(k+1) α‖z‖/(1 + q), which is O(α^(k+2)), for λ_0 = αz and every k
           beyond.pass-certificate   α²‖h_c − μ‖² = ‖λ* − αz‖² + α²‖h_c − ĥ‖² + 2α(KL(p_c, p*) + KL(p*, p_c))
Notation   as in `exact_attention`: h(x) the mean of tilt(x), which is attention with the query x; λ* the maximizer of the dual
           (9), ĥ = h(λ*); Σ and κ₃ the covariance and the third cumulant of u; p_c = tilt(αz), h_c = h(αz);
           in `beyond.iterates` λ_{k+1} = α(z + μ − h(λ_k)); there y = λ_{k−1}, k ≥ 1, z = λ*/α + ĥ − μ, q = αD²/4
References Banach's iteration for λ = α(z + μ − h(λ)), whose fixed point is λ*

Two passes cost twice as much as one, and their query is exact to one order more.
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations.documents.beyond.cocoercive import ANY, NEAR
from derivations.documents.beyond.exact_attention import jeffreys, own, product, y
from derivations.documents.beyond.output_bounds import QUARTER, next_pass
from derivations.documents.beyond.smoothness import DIAMETER, WITHIN, D
from derivations.documents.deciphering.notation import a, alpha, d, lam, maximizer, mean, mu, tilt, z
from derivations.documents.deciphering.section6_approximation import SMALL, double_spread, scaled, skew, spread
from derivations.documents.deciphering.section6_theorem1 import FINITE, distance, tilted
from derivations.vocabulary import *

g = vector("g", d)


def again(entry: sp.Expr) -> sp.Expr:
    """λ₁ = α(z + μ − h(αz)), the query of the second pass."""
    return alpha * (z[entry] + mu(entry) - mean(tilt(scaled))(entry))


@cache
def third(of_skew: sp.Expr, of_square: sp.Expr = sp.S.One) -> Expansion:
    """λ* = αz − α²Σz + α³(of_square · Σ²z + of_skew · κ₃(z, z)) + o(α³)."""
    coefficient = of_square * double_spread(z) + of_skew * skew(z)
    return Expansion(
        lam[a],
        alpha * z[a] - alpha**2 * spread(z) + alpha**3 * coefficient,
        alpha,
        3,
        where=(maximizer,),
        reason="λ* = α(z + μ − ĥ), expanded once more",
    )


@claim(
    "beyond.third-order",
    "asymptotic",
    title="The exact query to the third order",
    hypotheses=SMALL,
    needs=("deciphering.16",),
    latex=r"\lambda^*=\alpha z-\alpha^2\Sigma z+\alpha^3(\Sigma^2z-\tfrac12\kappa_3(z,z,\cdot))+o(\alpha^3)",
)
def third_order() -> Steps:
    """The first term in which more than the covariance of u matters."""
    yield third(-sp.S.Half)


third_order.twin("the sign of the cumulant", lambda: third(sp.S.Half))
third_order.twin("the square is lost", lambda: third(-sp.S.Half, sp.S.Zero))


@cache
def second_query(factor: sp.Expr) -> Expansion:
    """λ₁ = λ* − factor · α³Σ²z + o(α³)."""
    return Expansion(
        again(a),
        lam[a] - alpha**3 * factor * double_spread(z),
        alpha,
        3,
        where=(maximizer,),
        reason="λ₁ − λ* = −α(h(αz) − h(λ*)), and αz − λ* = α²Σz + o(α²)",
    )


@claim(
    "beyond.second-pass",
    "asymptotic",
    title="The query of a second pass",
    hypotheses=SMALL,
    needs=("beyond.third-order",),
    latex=r"\alpha(z+\mu-h(\alpha z))=\lambda^*-\alpha^3\Sigma^2z+o(\alpha^3)",
)
def second_pass() -> Steps:
    """What one pass gives, taken off αz, is the exact query but for α³Σ²z; αz itself is off by α²Σz."""
    yield second_query(sp.S.One)


second_pass.twin("the sign", lambda: second_query(-sp.S.One))
second_pass.twin("no error at this order", lambda: second_query(sp.S.Zero))


# ── any number of passes ────────────────────────────────────────────────────────────────────────────────────────────

INDUCTION = Theorem(
    "induction",
    "What holds for 0, and for k + 1 where it holds for k, holds for every number k.",
    "Rudin, Principles of Mathematical Analysis (1976), section 1.1",
)
q, passes = alpha * D**2 / 4, size("k")


def within_reach(of: sp.Expr, power: sp.Expr) -> AtLeast:
    """q^power α²‖z‖²/(1 + q)² ≥ of."""
    return AtLeast(q**power * alpha**2 * product(own, own) / (1 + q) ** 2, of)


def next_iterate(power: sp.Expr) -> Follows:
    """From ‖λ_{k−1} − λ*‖² ≤ q^{2k} α²‖z‖²/(1 + q)² to the same for λ_k, with `power` in the place of 2k + 2."""
    before, step = within_reach(product(ANY.query, ANY.query), 2 * passes), next_pass(sp.S.One).conclusion
    return Follows(
        (before, step),
        within_reach(alpha**2 * ANY.squared, power),
        (q**2, sp.S.One),
        given=(before, DIAMETER),
        quotes=(INDUCTION,),
        at=CONVERGING,
        reason="‖λ_k − λ*‖ ≤ q‖λ_{k−1} − λ*‖; what is given of λ_{k−1} is the hypothesis of the induction, which "
        "beyond.query-bound begins",
    )


CONVERGING: dict[Variable, Value] = {**NEAR, alpha: QUARTER, y.label: [Fraction(1249, 10000)], passes: 1}
"""Two templates ±1 at q = 1/4, λ* = 1/10 and the query αz of the first pass."""


@claim(
    "beyond.iterates",
    "inequality",
    title="Exact attention as a stack of ordinary ones",
    hypotheses=(*FINITE, WITHIN),
    needs=("beyond.query-bound", "beyond.contraction"),
    latex=r"\|\lambda_k-\lambda^*\|\le\alpha\|z\|\,\frac{q^{k+1}}{1+q},\quad\lambda_0=\alpha z,"
    r"\ \lambda_{k+1}=\alpha(z+\mu-h(\lambda_k)),\quad q=\tfrac{\alpha D^2}4",
)
def iterates() -> Steps:
    """After k further passes the query is off by O(α^(k+2)), and where q < 1 by as little as one likes."""
    yield next_iterate(2 * passes + 2)


iterates.twin("one order more", lambda: next_iterate(2 * passes + 4))
iterates.twin("two orders more", lambda: next_iterate(2 * passes + 6))


# ── what one pass certifies ─────────────────────────────────────────────────────────────────────────────────────────


def scaled_evidence(entry: sp.Expr) -> sp.Expr:
    """λ*_a + α g_a, which is αz_a where g = ĥ − μ."""
    return lam[entry] + alpha * g[entry]


def origin(entry: sp.Expr) -> sp.Expr:
    """ĥ_a − g_a, which is μ_a."""
    return mean(tilted)(entry) - g[entry]


def shortfall(entry: sp.Expr) -> sp.Expr:
    """αz_a − λ*_a = α g_a."""
    return alpha * g[entry]


def certificate(weight: sp.Expr) -> Equation:
    """α²‖h_c − μ‖² against ‖λ* − αz‖² + α²‖h_c − ĥ‖² + weight · (KL(p_c, p*) + KL(p*, p_c))."""
    one_pass, exact = tilt(scaled_evidence), mean(tilted)
    of_query, of_output = product(shortfall, shortfall), alpha**2 * distance(mean(one_pass), exact)
    return Equation(
        alpha**2 * distance(origin, mean(one_pass)),
        of_query + of_output + weight * jeffreys(one_pass, tilted),
        reason="⟨h_c − ĥ, αz − λ*⟩ = KL(p_c, p*) + KL(p*, p_c) and αz − λ* = α(ĥ − μ)",
    )


@claim(
    "beyond.pass-certificate",
    "identity",
    title="What one pass of attention knows of its own error",
    hypotheses=FINITE,
    needs=("deciphering.s6.one-pass-gap", "beyond.evidence-split"),
    latex=r"\alpha^2\|h_c-\mu\|^2=\|\lambda^*-\alpha z\|^2+\alpha^2\|h_c-\hat h\|^2"
    r"+2\alpha\,(\mathcal K(p_c,p^*)+\mathcal K(p^*,p_c))",
)
def pass_certificate() -> Steps:
    """One pass bounds how far its query and its output are from the exact ones: both by the shift of its own output."""
    yield certificate(2 * alpha)


pass_certificate.twin("α for 2α", lambda: certificate(alpha))
pass_certificate.twin("no divergence", lambda: certificate(sp.S.Zero))
