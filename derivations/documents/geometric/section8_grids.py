"""Additions: continuous attention on a grid, where the sums of attention stand for the integrals.

Claims     geometric.s8.softmax-on-a-grid     softmax(f)_j = h N(t_j)/Σ_k h N(t_k), with N the density of N(μ, σ²)
           geometric.s8.sparsemax-on-a-grid   p_h(μ) − p(μ) = (w − a)²(w + 2a)/(6σ²w) − h²/(24σ²), w = (K + ½)h
Notation   as in `section8_continuous`; h the step of a grid, ih with |i| ≤ K its locations with a positive weight
References Martins et al., Sparse and Continuous Attention Mechanisms, NeurIPS 2020
"""

from functools import cache

import sympy as sp

from derivations.documents.geometric.section8_continuous import a, density, half, j, k, mu, points, score, v
from derivations.vocabulary import *


def grid_weight_is(claimed: sp.Expr) -> Equation:
    """softmax(f) at a location of a grid against an expression."""
    scores = [score(mu / v, 1 / (2 * v), points[position]) for position in (j, k)]
    return Equation(sp.exp(scores[0]) / total(k, sp.exp(scores[1])), claimed, reason="A cancels")


@claim(
    "geometric.s8.softmax-on-a-grid",
    "identity",
    title="Addition: softmax on a grid is the Gaussian, normalized there",
    latex=r"\mathrm{softmax}(f)_j=\frac{h\,\mathcal N(t_j)}{\sum_kh\,\mathcal N(t_k)}",
    needs=("geometric.s8.gaussian",),
)
def softmax_on_a_grid() -> Steps:
    """On any locations softmax of the scores is the Gaussian's values over their sum: times h, a Riemann sum of 1."""
    yield grid_weight_is(density(mu, v, points[j]) / total(k, density(mu, v, points[k])))


softmax_on_a_grid.twin("the density is not normalized on the grid", lambda: grid_weight_is(density(mu, v, points[j])))
softmax_on_a_grid.twin(
    "its square root", lambda: grid_weight_is(sp.sqrt(density(mu, v, points[j])) / total(k, sp.sqrt(density(mu, v, points[k]))))
)

K, h = size("K"), positive("h")
_count, _K = sp.symbols("i K", integer=True, positive=True)


@cache
def squares() -> sp.Expr:
    """Σ_{|i| ≤ K} i²."""
    return 2 * sp.summation(_count**2, (_count, 1, _K))


def grid_peak() -> sp.Expr:
    """The density at the peak on the grid: the p for which Σ_{|i| ≤ K} h (p − (ih)²/(2σ²)) = 1."""
    return 1 / (h * (2 * K + 1)) + h**2 * squares().subs(_K, K) / (2 * variance_of(a) * (2 * K + 1))


def variance_of(width: sp.Expr) -> sp.Expr:
    """σ² = 2a³/3."""
    return 2 * width**3 / 3


def peak_error_is(claimed: sp.Expr) -> Equation:
    """The grid's peak less the continuum's, a²/(2σ²), against an expression."""
    return Equation(grid_peak() - a**2 / (2 * variance_of(a)), claimed, reason="sums of squares; 6σ² = 4a³")


@claim(
    "geometric.s8.sparsemax-on-a-grid",
    "identity",
    title="Addition: sparsemax on a grid tends to the parabola, order two",
    latex=r"\hat p^{(h)}(\mu)-\hat p(\mu)=\frac{(w-a)^2(w+2a)}{6\sigma^2w}-\frac{h^2}{24\sigma^2},"
    r"\quad w=(K+\tfrac12)h",
    hypotheses=("weights sparsemax(h f), scores of a grid ih around μ, positive for |i| ≤ K",),
    needs=("geometric.s8.paraboloid-mass",),
)
def sparsemax_on_a_grid() -> Steps:
    """With Ω over h, the peak on a grid of step h misses that of the continuum by O(h²), −h²/24σ² to h²/12σ² + O(h³)."""
    reach = (K + half) * h
    yield peak_error_is((reach - a) ** 2 * (reach + 2 * a) / (4 * a**3 * reach) - h**2 / (16 * a**3))


sparsemax_on_a_grid.twin(
    "the term of the midpoint rule is lost",
    lambda: peak_error_is(((K + half) * h - a) ** 2 * ((K + half) * h + 2 * a) / (4 * a**3 * (K + half) * h)),
)
sparsemax_on_a_grid.twin(
    "w = Kh", lambda: peak_error_is((K * h - a) ** 2 * (K * h + 2 * a) / (4 * a**3 * K * h) - h**2 / (16 * a**3))
)
