"""Positive parts and powers, which occur in sparse solutions.

The divergence of x^α/(α(α−1)), α > 1, is to Tsallis entropies what `kl` is to Shannon's: it proves which point minimizes.
"""

from functools import cache

import sympy as sp


class plus(sp.Function):  # type: ignore[misc]  # noqa: N801
    """max(x, 0), the positive part."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """Evaluate where the sign is known."""
        return x if x.is_nonnegative else sp.S.Zero if x.is_nonpositive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_real else None


class bregman(sp.Function):  # type: ignore[misc]  # noqa: N801
    """(y^α − x^α − α x^(α−1) (y − x))/(α(α−1)) for y, x ≥ 0 and α > 1: the divergence of x^α/(α(α−1)).

    Never negative, and 0 only at y = x (proved in `bregman_is_a_divergence`); ½(y − x)² for α = 2.
    """

    nargs = 3

    def opened(self) -> sp.Expr:
        """The defining expression."""
        y, x, alpha = self.args
        return (y**alpha - x**alpha - alpha * x ** (alpha - 1) * (y - x)) / (alpha * (alpha - 1))

    def _eval_is_nonnegative(self) -> bool | None:
        y, x, alpha = self.args
        return True if y.is_nonnegative and x.is_nonnegative and (alpha - 1).is_positive else None


@cache
def bregman_is_a_divergence() -> bool:  # formal: rule_bregman_nonnegative
    """With g(t) = t^α − 1 − α(t − 1): x^α g(y/x) for x > 0, and y^α for x = 0, both times 1/(α(α−1)).

    g(1) = g'(1) = 0, g'' > 0 on t > 0 and g(0) = α − 1 > 0, so g ≥ 0 with equality only at t = 1.
    """
    t, x, a = sp.symbols("t x a", positive=True)
    alpha, factor = 1 + a, a * (1 + a)
    g = t**alpha - 1 - alpha * (t - 1)
    scaling = sp.expand(sp.expand_power_base(factor * bregman(t * x, x, alpha).opened() - x**alpha * g))
    curved = sp.powsimp(sp.expand(sp.diff(g, t, 2) * t**2) / t**alpha)
    touches = g.subs(t, 1) == 0 and sp.diff(g, t).subs(t, 1) == 0
    at_zero = sp.expand(g.subs(t, 0) - a) == 0 and sp.expand(factor * bregman(t, sp.S.Zero, alpha).opened() - t**alpha) == 0
    return bool(scaling == 0 and curved.is_positive and touches and at_zero)
