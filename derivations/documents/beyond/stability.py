"""How far attention moves when scores do: one bound for changes of every size, attained for every number of keys.

Claims     beyond.stability            E_p'[f] − E_p[f] ≤ L y/(2x + y), which is L tanh(ω/4τ)
           beyond.stability-attained   equality with n + 1 keys, one of which gains ω, for every n
Notation   p any point of the simplex, the old weights; p'_j = p_j r_j/Σ_l p_l r_l the new ones, r_j ∝ exp(δ_j/τ);
           x, y > 0 such that x² ≤ r_j ≤ (x + y)²: r_j = x² + ((x + y)² − x²) h_j with a number h_j of [0, 1],
           so that (x + y)/x = exp(ω/2τ) and y/(2x + y) = tanh(ω/4τ), where ω is the spread of the changes δ;
           f_j = c + L g_j with a number g_j of [0, 1] (h and g are columns of matrices with rows of sum 1); z = ω/4τ
References transport.s5.score-stability, for the Wasserstein distance; Birkhoff (1957) for the tanh of a quarter; Cohen and
           Fausti (2023, arXiv 2309.02413), who bound total variation sharply by Hilbert's distance, here ω/τ

The largest change over all f with values in [0, 1] is ‖p' − p‖₁/2, so that this is at most tanh(ω/4τ): an argument in words.
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.eot.notation import j, m
from derivations.vocabulary import *

n, columns = size("n"), size("N")
p = simplex("p", m)
h, g = stochastic("h", m, columns), stochastic("g", m, columns)
x, y, L, level = positive("x"), positive("y"), positive("L"), scalar("c")
z = positive("z")
STEEP = 2 * x + y


def inside(key: sp.Expr) -> sp.Expr:
    """h_j."""
    return h[key, 1]


def test(key: sp.Expr) -> sp.Expr:
    """g_j."""
    return g[key, 1]


def mean(of: Entry) -> sp.Expr:
    """E_p[·]."""
    return total(j, p[j] * of(j))


def tilt(key: sp.Expr) -> sp.Expr:
    """r_j."""
    return x**2 + ((x + y) ** 2 - x**2) * inside(key)


def value(key: sp.Expr) -> sp.Expr:
    """f_j."""
    return level + L * test(key)


def change() -> sp.Expr:
    """E_p'[f] − E_p[f]."""
    return mean(lambda key: tilt(key) * value(key)) / mean(tilt) - mean(value)


WORST: dict[Variable, Value] = {  # where the bound is attained
    m: 2,
    columns: 2,
    p.label: [Fraction(1, 3), Fraction(2, 3)],
    h.label: [[1, 0], [0, 1]],
    g.label: [[1, 0], [0, 1]],
    x: 1,
    y: 1,
    L: 2,
    level: 0,
}


def moves(bound: sp.Expr, because: sp.Expr | None = None, at: dict[Variable, Value] | None = None) -> AtLeast:
    """A bound of the change."""
    return AtLeast(
        bound,
        change(),
        because=because,
        at=at or {},
        reason="Cov(h, g) ≤ h̄(1 − h̄), whose share of r̄ is largest at h̄ = x/(2x + y)",
    )


@claim(
    "beyond.stability",
    "inequality",
    title="How far outputs move when scores do",
    needs=("eot.def7.1",),
    hypotheses=(
        "the changes of the scores lie within an interval of length ω",
        "the values f_j lie within an interval of length L",
    ),
    latex=r"x^2\le r_j\le(x+y)^2\implies\mathbb E_{p'}[f]-\mathbb E_p[f]\le L\,\frac y{2x+y}",
)
def stability() -> Steps:
    """An output moves by at most tanh(ω/4τ) of the spread of its values, which is y/(2x + y) where (x + y)/x = exp(ω/2τ)."""
    yield Equation((sp.exp(2 * z) - 1) / (sp.exp(2 * z) + 1), tanh(z), reason="y/(2x + y) with (x + y)/x = exp(2z), z = ω/4τ")
    outside = mean(lambda key: 1 - inside(key))
    lost = outside * mean(lambda key: inside(key) * (1 - test(key))) + mean(inside) * mean(
        lambda key: test(key) * (1 - inside(key))
    )
    square = (STEEP * mean(inside) - x) ** 2
    yield moves(L * y / STEEP, because=L * y * (square + STEEP**2 * lost) / (STEEP * mean(tilt)))


stability.twin("half as far", lambda: moves(L * y / STEEP / 2, at=WORST))
stability.twin("without the values' spread", lambda: moves(y / STEEP, at=WORST))


def first(gained: sp.Expr) -> sp.Expr:
    """The weight of a key with the score τ(log n + gained) beside n keys with the score 0."""
    return n * sp.exp(gained) / (n * sp.exp(gained) + n)


def gains(amount: sp.Expr) -> Equation:
    """The gain of the first key's weight when its score rises from τ(log n − 2z) to τ(log n + 2z)."""
    return Equation(first(2 * z) - first(-2 * z), amount, reason="σ(2z) − σ(−2z) = tanh z, z = ω/4τ")


@claim(
    "beyond.stability-attained",
    "identity",
    title="The bound is attained for every number of keys",
    needs=("beyond.stability",),
    hypotheses=("ω > 0",),
    latex=r"s=\big(\tau\log n-\tfrac\omega2,0,\dots,0\big),\ s'=\big(\tau\log n+\tfrac\omega2,0,\dots,0\big):"
    r"\quad p'_1-p_1=\tanh\frac\omega{4\tau}",
)
def attained() -> Steps:
    """One key that rises by ω beside n equal ones moves exactly as much mass as the bound allows, for every n and ω."""
    yield gains(tanh(z))


attained.twin("twice the argument", lambda: gains(tanh(2 * z)))
attained.twin("the first order", lambda: gains(z))
