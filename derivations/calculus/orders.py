"""The order of indices: sums up to an index, and sums over pairs i < j.

[i ≤ j] is 1 or 0, so that Σ_{l ≤ t} f_l is a sum over the whole range, Σ_l [l ≤ t] f_l, and [i < j] = 1 − [j ≤ i].
"""

from collections.abc import Sequence

import sympy as sp

from derivations.calculus.naming import bound_in
from derivations.calculus.variables import Variable


class upto(sp.Function):  # type: ignore[misc]  # noqa: N801
    """[i ≤ j], which is 1 where i ≤ j and else 0."""

    nargs = 2

    @classmethod
    def eval(cls, i: sp.Expr, j: sp.Expr) -> sp.Expr | None:
        """Evaluate where the order is known."""
        return sp.S.One if (j - i).is_nonnegative else sp.S.Zero if (j - i).is_negative else None

    def _eval_is_nonnegative(self) -> bool:
        return True

    def _eval_is_integer(self) -> bool:
        return True

    def _eval_power(self, exponent: sp.Expr) -> sp.Expr | None:
        return self if exponent.is_positive else None


def reversed_order(order: upto) -> sp.Expr:
    """[i ≤ j] = 1 + δ_ij − [j ≤ i]."""
    i, j = order.args
    return 1 + sp.KroneckerDelta(i, j) - upto(j, i)


def within_one_range(order: sp.Expr) -> bool:
    """Whether an expression is [i ≤ j] of two indices over one range, of which the order can be reversed."""
    ranges = [v.domain.shape if isinstance(v, Variable) and v.domain.is_index else () for v in order.args]
    return isinstance(order, upto) and ranges[0] == ranges[1] != ()


def is_turned(order: sp.Expr) -> bool:
    """Whether the indices of [i ≤ j] are not in the order in which the normal form writes them."""
    return within_one_range(order) and list(order.args) != sorted(order.args, key=sp.default_sort_key)


def counted(factors: Sequence[sp.Expr], bound: Sequence[Variable]) -> tuple[sp.Expr, Variable] | None:
    """Σ_i [i ≤ j] = j and Σ_i [j ≤ i] = m + 1 − j where nothing else depends on i: the product without it, and i."""
    for order in filter(within_one_range, factors):
        for i, j in (order.args, order.args[::-1]):
            if i in bound and sum(i in factor.free_symbols for factor in factors) == 1:
                count = j if order.args[0] == i else i.domain.shape[0] + 1 - j
                return sp.Mul(count, *[factor for factor in factors if factor is not order]), i
    return None


def halved(factors: Sequence[sp.Expr], bound: Sequence[Variable]) -> sp.Expr | None:
    """Σ_ij [i ≤ j] f = ½ Σ_ij (1 + δ_ij) f for an f that is symmetric in i and j, both over one range."""
    for order in filter(within_one_range, factors):
        i, j = order.args
        rest = sp.Mul(*[factor for factor in factors if factor is not order])
        if {i, j} <= set(bound) and bound_in(rest).isdisjoint({i, j}) and rest.xreplace({i: j, j: i}) == rest:
            return sp.expand_mul((1 + sp.KroneckerDelta(i, j)) * rest / 2, deep=False)
    return None
