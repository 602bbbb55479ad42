"""Functions of the calculus beside sums: x log x, divergences, derivatives kept as written.

A divergence is never negative because a lemma of one variable says so; each lemma is proved here, by calculus, once.
"""

from functools import cache

import sympy as sp

from derivations.calculus.powers import bregman, bregman_is_a_divergence
from derivations.calculus.printing import text
from derivations.calculus.variables import Variable


class xlogx(sp.Function):  # type: ignore[misc]
    """x log x on x ≥ 0, with the continuous value 0 at 0."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """Evaluate at 0, open a positive argument, and split a product: φ(xy) = x φ(y) + y φ(x)."""
        if x.is_zero:
            return sp.S.Zero
        if x.is_positive:
            return x * sp.log(x)
        first, rest = x.as_two_terms() if x.is_Mul else (x, sp.S.One)
        if rest is not sp.S.One and first.is_nonnegative and rest.is_nonnegative:
            return first * cls(rest) + rest * cls(first)  # formal: rule_xlogx_product
        return None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """(x log x)' = log x + 1 for x > 0."""
        return sp.log(self.args[0]) + 1  # formal: rule_xlogx_derivative


class kl(sp.Function):  # type: ignore[misc]
    """y log(y/x) − y + x for y ≥ 0 < x: never negative, and 0 only at y = x (proved in `kl_is_a_divergence`)."""

    nargs = 2

    def opened(self) -> sp.Expr:
        """The defining expression, with 0 log 0 = 0."""
        y, x = self.args
        return xlogx(y) - y * sp.log(x) - y + x  # formal: rule_kl_open

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative and self.args[1].is_positive else None


class reciprocal(sp.Function):  # type: ignore[misc]
    """1/x, kept apart from x so that x · (1/x) does not become 1 where x may be 0 (see `division`)."""

    nargs = 1

    def opened(self) -> sp.Expr:
        """The power that it stands for."""
        return 1 / self.args[0]


class pinsker(sp.Function):  # type: ignore[misc]
    """kl(y ‖ x) − 3(y − x)²/(2(y + 2x)) for y ≥ 0 < x: never negative (proved in `pinsker_is_nonnegative`)."""

    nargs = 2

    def opened(self) -> sp.Expr:
        """The defining expression."""
        y, x = self.args
        return kl(y, x).opened() - 3 * (y - x) ** 2 / (2 * (y + 2 * x))

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative and self.args[1].is_positive else None


@cache
def kl_is_a_divergence() -> bool:  # formal: rule_kl_nonnegative
    """Kl(y, x) = x g(y/x), where g(t) = t log t − t + 1 has g(1) = g'(1) = 0, g'' > 0 on t > 0 and g(0+) = 1."""
    t, x = sp.Symbol("t", positive=True), sp.Symbol("x", positive=True)
    g = t * sp.log(t) - t + 1
    scaling = sp.expand_log(kl(t * x, x).opened() - x * g)
    convex = sp.diff(g, t, 2).is_positive and g.subs(t, 1) == 0 and sp.diff(g, t).subs(t, 1) == 0
    return bool(sp.expand(scaling) == 0 and convex and sp.limit(g, t, 0, "+") == 1)


@cache
def pinsker_is_nonnegative() -> bool:
    """Pinsker(y, x) = x h(y/x) with h(1) = h'(1) = 0 and h''(t) = (t − 1)²(t + 8)/(t(t + 2)³) ≥ 0 on t > 0, h(0+) = 1/4."""
    t, x = sp.Symbol("t", positive=True), sp.Symbol("x", positive=True)
    h = t * sp.log(t) - t + 1 - 3 * (t - 1) ** 2 / (2 * (t + 2))
    scaling = sp.simplify(sp.expand_log(pinsker(t * x, x).opened() - x * h))
    touches = h.subs(t, 1) == 0 and sp.diff(h, t).subs(t, 1) == 0
    curved = sp.simplify(sp.diff(h, t, 2) - (t - 1) ** 2 * (t + 8) / (t * (t + 2) ** 3)) == 0
    return bool(scaling == 0 and touches and curved and sp.limit(h, t, 0, "+") == sp.Rational(1, 4))


def lemmas_hold(expr: sp.Expr) -> bool:
    """Whether the divergences that occur in an expression are proved to be divergences."""
    lemmas = {kl: kl_is_a_divergence, bregman: bregman_is_a_divergence, pinsker: pinsker_is_nonnegative}
    return all(holds() for function, holds in lemmas.items() if expr.has(function))


class Partial(sp.Expr):  # type: ignore[misc]
    """∂expr/∂by, unevaluated until `normal` differentiates it; nothing else varies with `by`."""

    is_commutative = True

    def __new__(cls, expr: sp.Expr, by: sp.Expr) -> "Partial":
        """Keep the derivative by a free real variable; raises ValueError where a constraint ties `by`."""
        label = by.base.label if isinstance(by, sp.Indexed) else by
        if not isinstance(label, Variable):
            raise ValueError(f"derivative: expected a free real variable, got {text(by)}")
        if not label.domain.has_slope:
            raise ValueError(f"derivative: expected a free real variable, got {text(by)} {label.domain.words}")
        return sp.Expr.__new__(cls, sp.sympify(expr), by)  # type: ignore[no-any-return]


def derivative(expr: sp.Expr, by: sp.Expr) -> sp.Expr:
    """∂expr/∂by for a scalar or a vector entry; raises ValueError where a constraint ties `by` to other variables."""
    return Partial(expr, by)


def is_delta(term: sp.Expr) -> bool:
    """Whether a factor is δ or 1 − δ, which is 0 or 1."""
    if isinstance(term, sp.Add) and len(term.args) == 2 and term.args[0] is sp.S.One and isinstance(term.args[1], sp.Mul):
        sign, *rest = term.args[1].args
        return sign is sp.S.NegativeOne and len(rest) == 1 and isinstance(rest[0], sp.KroneckerDelta)
    return isinstance(term, sp.KroneckerDelta)
