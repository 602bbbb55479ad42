"""The regularizers of section 4, the problem they make, and its solutions given by their Karush–Kuhn–Tucker points.

Notation  Ω(p) the regularizer; a = α − 1 > 0; p a point of the simplex, mu = μ its multipliers: μ ≥ 0 and μ_j p_j = 0;
          theta = θ the printed threshold τ; lam = λ.  Every s ∈ ℝ^m is θ1 + p − μ for one θ and one pair (p, μ), and
          θ1 + p^a/a − μ for another (eot.s4.threshold, eot.prop4.3): a statement about all (θ, p, μ) is
          one about all scores.
"""

from collections.abc import Callable, Iterator

import sympy as sp

from derivations.documents.eot.notation import j, l, m
from derivations.vocabulary import *

Regularizer = Callable[[Entry], sp.Expr]

a, theta = positive("a"), scalar("theta")
b, t, w = positive("b"), positive("t"), scalar("w", Nonnegative)
alpha = 1 + a
p = simplex("p", m)
mu = complementary("mu", p)


def scaled_entropy(strength: sp.Expr) -> Regularizer:
    """−τ H, that is τ Σ_j p_j log p_j."""
    return lambda plan: strength * total(j, xlogx(plan(j)))


def half_square(plan: Entry) -> sp.Expr:
    """½ Σ_j p_j²."""
    return total(j, plan(j) ** 2) / 2


def tsallis(exponent: sp.Expr = alpha) -> Regularizer:
    """Σ_j (p_j^α − p_j)/(α(α−1)), the negative Tsallis entropy."""
    return lambda plan: total(j, plan(j) ** exponent - plan(j)) / (exponent * (exponent - 1))


def variational(scores: Entry, regularizer: Regularizer) -> Callable[[Entry], sp.Expr]:
    """p ↦ −⟨p, s⟩ + Ω(p)."""
    return lambda plan: -total(j, plan(j) * scores(j)) + regularizer(plan)


def unspent(plan: Entry) -> sp.Expr:
    """Σ_j μ_j q_j, what the multipliers add to the objective at a rival q."""
    return total(j, mu[j] * plan(j))


def quadratic_scores(key: sp.Expr) -> sp.Expr:
    """s_j = θ + p_j − μ_j, any scores."""
    return theta + p[key] - mu[key]


def tsallis_scores(key: sp.Expr) -> sp.Expr:
    """s_j = θ + p_j^(α−1)/(α−1) − μ_j, any scores."""
    return theta + p[key] ** a / a - mu[key]


def sparsemax(scores: Entry, threshold: sp.Expr) -> Entry:
    """j ↦ (s_j − θ)₊."""
    return lambda key: plus(scores(key) - threshold)


def entmax(scores: Entry, threshold: sp.Expr) -> Entry:
    """j ↦ ((α − 1)(s_j − θ)₊)^(1/(α−1))."""
    return lambda key: (a * plus(scores(key) - threshold)) ** (1 / a)


def falling_terms() -> Iterator[Relation]:
    """(x − θ)₊ as θ rises: it falls until it is 0, without jumps, and stays there."""

    def term(value: sp.Expr) -> sp.Expr:
        return plus(value, evaluate=False)  # as written, for the reader

    yield AtLeast(term(w + t) - term(w), 0, because=t, strict=True, reason="θ higher by t: the term falls by t …")
    yield AtLeast(term(b) - term(-w), 0, because=b, strict=True, reason="… or from b > 0 to 0 …")
    yield Equation(
        term(-w),
        0,
        reason="… and is 0 from there on: the sum is continuous, and falls strictly to 0",
        quotes=(INTERMEDIATE_VALUE,),
    )


def every_score(power: sp.Expr = sp.S.One) -> Iterator[Relation]:
    """With that θ any scores are θ1 + p^power/power − μ, with p^power/power = (s − θ)₊ and μ = (θ − s)₊."""

    def part(value: sp.Expr) -> sp.Expr:
        return plus(value, evaluate=False)  # as written, for the reader

    weight: Entry = lambda value: (power * part(value)) ** (1 / power)  # noqa: E731
    yield Equation(weight(b) ** power / power - part(-b), b, reason="s_j = θ + b: p_j^a/a = b and μ_j = 0, so that …")
    yield Equation(weight(-w) ** power / power - part(w), -w, reason="… and s_j = θ − w: p_j = 0 and μ_j = w, so that in both")
    yield Equation(
        weight(b) * part(-b) + weight(-w) * part(w),
        0,
        about=(b, w),
        reason="cases s_j = θ + p_j^a/a − μ_j with p_j μ_j = 0: any scores are of this form",
    )


def others(key: sp.Expr) -> sp.Expr:
    """Σ_{l≠j} p_l, which is 1 − p_j."""
    return total(l, p[l] * (1 - sp.KroneckerDelta(l, key)))
