"""Norms of the softmax Jacobian, sharp for all pairs of norms at once.

Claims     beyond.jacobian-form       wᵀJv ≤ osc(v) osc(w)/(4τ)
           beyond.oscillation         ((x + y)/2)ᵃ ≤ (xᵃ + yᵃ)/2
           beyond.jacobian-attained   ‖Jv‖_b = 2^{1/b − 1/a}/(2τ) ‖v‖_a at two tied keys, v = (1, −1)
           beyond.jacobian-spectral   vᵀJv ≤ ‖v‖²/(2τ)
           beyond.jacobian-total      ‖Jv‖₁² ≤ Var_p(v)/τ²
           beyond.jacobian-entry      −J_jk ≤ J_jj ≤ 1/(4τ)
Notation   J = (diag(p) − ppᵀ)/τ, p any point of the simplex; v_j = c + L h_j and w_j = d + M g_j with numbers h_j, g_j of
           [0, 1] (columns of matrices with rows of sum 1), so that osc(v) ≤ L, osc(w) ≤ M; a = 1 + α and b exponents
References eot.59 for J; Grüss (1935); Gao and Pavel (2017) for the norm from 2 to 2; Nair (2025, arXiv 2510.23012) for
           the bound 1/2 of equal norms at τ = 1

For every pair of norms: |v_j − v_k| ≤ |v_j| + |v_k| ≤ 2^{1 − 1/a} ‖v‖_a by `beyond.oscillation`, for w in the dual norm of b
likewise, and the form gives ‖J‖_{a→b} ≤ 2^{1/b − 1/a}/(2τ).  These last steps are an argument in words, which nothing checks.
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.eot.notation import j, k, l, m, other, tau
from derivations.vocabulary import *

columns = size("N")
p, v = simplex("p", m), vector("v", m)
h, g = stochastic("h", m, columns), stochastic("g", m, columns)
L, M, c, d = positive("L"), positive("M"), scalar("c"), scalar("d")
x, y = scalar("x", Nonnegative), scalar("y", Nonnegative)
row = index("h", m)
alpha, b = positive("α"), positive("b")
a = 1 + alpha


def mean(of: Entry) -> sp.Expr:
    """E_p[·]."""
    return total(j, p[j] * of(j))


def one(key: sp.Expr) -> sp.Expr:
    """v_j."""
    return c + L * h[key, 1]


def two(key: sp.Expr) -> sp.Expr:
    """w_j."""
    return d + M * g[key, 1]


def jacobian(row: sp.Expr = j, column: sp.Expr = k) -> sp.Expr:
    """J_jk = p_j (δ_jk − p_k)/τ."""
    return p[row] * (delta(row, column) - p[column]) / tau


TIED: dict[Variable, Value] = {  # where the bound is attained
    m: 2,
    columns: 2,
    p.label: [Fraction(1, 2)] * 2,
    h.label: [[1, 0], [0, 1]],
    g.label: [[1, 0], [0, 1]],
    L: 1,
    M: 1,
    c: 0,
    d: 0,
    tau: 2,
}


def form(bound: sp.Expr, because: sp.Expr | None = None, at: dict[Variable, Value] | None = None) -> AtLeast:
    """A bound of wᵀJv."""
    return AtLeast(
        bound,
        total((j, k), two(j) * jacobian() * one(k)),
        because=because,
        at=at or {},
        reason="4 Cov(h, g) = Var(h + g) − Var(h − g), and a variable of [0, 2] has a variance of 1 at most",
    )


@claim(
    "beyond.jacobian-form",
    "inequality",
    title="The form of the Jacobian, by oscillations",
    needs=("eot.59",),
    hypotheses=("τ > 0", "v and w lie within intervals of lengths L and M"),
    latex=r"w^\top Jv\le\frac{\mathrm{osc}(v)\,\mathrm{osc}(w)}{4\tau}",
)
def form_by_oscillations() -> Steps:
    """The Jacobian pairs two vectors by a quarter of the product of their oscillations over τ, whatever the scores are."""

    def both(key: sp.Expr) -> sp.Expr:
        return h[key, 1] + g[key, 1]

    def apart(key: sp.Expr) -> sp.Expr:
        return h[key, 1] - g[key, 1]

    inner = (mean(both) - 1) ** 2 + mean(lambda key: both(key) * (2 - both(key)))
    across = total((j, k), p[j] * p[k] * (apart(j) - apart(k)) ** 2) / 2
    yield form(L * M / (4 * tau), because=L * M * (inner + across) / (4 * tau))


form_by_oscillations.twin("an eighth", lambda: form(L * M / (8 * tau), at=TIED))
form_by_oscillations.twin("τ is lost", lambda: form(L * M / 4, at=TIED | {tau: Fraction(1, 2)}))


def powers(factor: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """factor · (xᵃ + yᵃ) ≥ ((x + y)/2)ᵃ."""
    return AtLeast(factor * (x**a + y**a), ((x + y) / 2) ** a, because=because, reason="xᵃ is convex: the tangent at the mean")


@claim(
    "beyond.oscillation",
    "inequality",
    title="The power mean behind all the norms",
    hypotheses=("a > 1", "x, y ≥ 0"),
    latex=r"\Big(\frac{x+y}2\Big)^a\le\frac{x^a+y^a}2",
)
def oscillation() -> Steps:
    """With x = |v_j| and y = |v_k| it bounds how far two entries of a vector are apart by its norm of any exponent a."""
    middle = (x + y) / 2
    slack = alpha * a * (bregman(x, middle, a) + bregman(y, middle, a)) / 2
    yield powers(sp.S.Half, because=slack)


oscillation.twin("a quarter", lambda: powers(sp.Rational(1, 4)))
oscillation.twin("a third", lambda: powers(sp.Rational(1, 3)))


def paired(key: sp.Expr) -> sp.Expr:
    """1/2 at the two keys j and k ≠ j, else 0."""
    return (delta(key, j) + delta(key, other)) / 2


def opposite(key: sp.Expr) -> sp.Expr:
    """v: 1 at j, −1 at k, else 0."""
    return delta(key, j) - delta(key, other)


def applied(weights: Entry) -> sp.Expr:
    """(Jv)_h for these weights."""
    return total(l, weights(row) * (delta(row, l) - weights(l)) / tau * opposite(l))


def ratio(right: sp.Expr) -> Equation:
    """‖Jv‖_b/‖v‖_a at two tied keys: both vectors have two entries of one length, 1/(2τ) and 1."""
    image = (2 * (1 / (2 * tau)) ** b) ** (1 / b)
    return Equation(image / 2 ** (1 / a), right, reason="‖(1/2, 1/2)‖_b = 2^{1/b}/2 and ‖(1, −1)‖_a = 2^{1/a}")


@claim(
    "beyond.jacobian-attained",
    "identity",
    title="Two tied keys attain the norm for every pair of norms",
    needs=("beyond.jacobian-form", "beyond.oscillation"),
    hypotheses=("a > 1", "b > 0"),
    latex=r"p=(\tfrac12,\tfrac12),\ v=(1,-1):\quad\frac{\|Jv\|_b}{\|v\|_a}=\frac{2^{1/b-1/a}}{2\tau}",
)
def tied() -> Steps:
    """With two equal scores the vector (1, −1) is stretched by exactly the bound; with more keys it is approached."""
    yield Equation(applied(p), p[row] * (opposite(row) - p[j] + p[other]) / tau, reason="the entries of Jv for any weights,")
    yield Equation(applied(paired), opposite(row) / (2 * tau), reason="and for half of the mass on each of the two keys;")
    yield ratio(2 ** (1 / b - 1 / a) / (2 * tau))


tied.twin("the exponents exchanged", lambda: ratio(2 ** (1 / a - 1 / b) / (2 * tau)))
tied.twin("twice as much", lambda: ratio(2 ** (1 / b - 1 / a) / tau))


def stretch(factor: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """factor · ‖v‖² ≥ vᵀJv."""
    return AtLeast(
        factor * total(j, v[j] ** 2),
        total((j, k), v[j] * jacobian() * v[k]),
        because=because,
        reason="(v_j − v_k)² ≤ 2(v_j² + v_k²) and p(1 − p) ≤ 1/4",
    )


@claim(
    "beyond.jacobian-spectral",
    "inequality",
    title="The largest eigenvalue of the Jacobian",
    hypotheses=("τ > 0",),
    needs=("eot.59",),
    latex=r"v^\top Jv\le\frac{\|v\|^2}{2\tau}",
)
def spectral() -> Steps:
    """No eigenvalue exceeds 1/(2τ): softmax is 1/(2τ)-Lipschitz in the Euclidean norm, twice as smooth as often said."""
    pairs = total((j, k), (1 - delta(j, k)) * p[j] * p[k] * (v[j] + v[k]) ** 2) / 2
    yield stretch(1 / (2 * tau), because=(pairs + 2 * total(j, (p[j] - sp.S.Half) ** 2 * v[j] ** 2)) / tau)


spectral.twin("a quarter", lambda: stretch(1 / (4 * tau)))
spectral.twin("τ is lost", lambda: stretch(sp.S.Half))


def deviation(factor: sp.Expr) -> AtLeast:
    """factor · Var_p(v)/τ² ≥ ‖Jv‖₁², with (Jv)_j = p_j (v_j − E_p[v])/τ."""
    center = total(k, p[k] * v[k])
    variance = total(j, p[j] * sp.Abs(v[j] - center) ** 2)
    l1_norm = total(j, p[j] * sp.Abs(v[j] - center))
    return AtLeast(
        factor * variance / tau**2,
        l1_norm**2 / tau**2,
        reason="Cauchy and Schwarz",
        because=total(j, p[j] * (sp.Abs(v[j] - center) - l1_norm) ** 2) / tau**2 if factor == 1 else None,
    )


@claim(
    "beyond.jacobian-total",
    "inequality",
    title="The total motion of the weights",
    hypotheses=("τ > 0",),
    needs=("eot.59",),
    latex=r"\|Jv\|_1^2=\tfrac1{\tau^2}\Big(\sum_jp_j|v_j-\mathbb E_p[v]|\Big)^2\le\tfrac1{\tau^2}\mathrm{Var}_p(v)",
)
def total_motion() -> Steps:
    """The weights move in total by the standard deviation of what the scores gain, over τ; no oscillation is needed."""
    yield Equation(total(k, jacobian(j, k) * v[k]), p[j] * (v[j] - mean(v)) / tau, reason="eot.59;")
    yield deviation(sp.S.One)


total_motion.twin("half of it", lambda: deviation(sp.S.Half))
total_motion.twin("a tenth of it", lambda: deviation(sp.Rational(1, 10)))


def entry(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """bound ≥ J_jj."""
    return AtLeast(bound, jacobian(j, j), because=because, reason="p(1 − p) ≤ 1/4")


@claim(
    "beyond.jacobian-entry",
    "inequality",
    title="The largest entry of the Jacobian",
    hypotheses=("τ > 0",),
    needs=("eot.59",),
    latex=r"-J_{jk}\le J_{jj}\le\frac1{4\tau}\quad(k\ne j)",
)
def largest_entry() -> Steps:
    """No weight reacts to its own score by more than 1/(4τ), and to another one it reacts less."""
    rest = total(l, (1 - delta(l, j)) * (1 - delta(l, other)) * p[l])
    yield AtLeast(jacobian(j, j), -jacobian(j, other), because=p[j] * rest / tau, reason="p_k ≤ 1 − p_j for k ≠ j,")
    yield entry(1 / (4 * tau), because=(p[j] - sp.S.Half) ** 2 / tau)


largest_entry.twin("a fifth", lambda: entry(1 / (5 * tau)))
largest_entry.twin("τ is lost", lambda: entry(sp.Rational(1, 4)))
