"""Equality of relations: same kind and direction, and sides and hypotheses that agree in normal form."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import enclose_all
from derivations.calculus.points import points
from derivations.calculus.variables import variables_of

POINTS, APART = 4, 11  # number of points to try, and stride through the sample


class Statement(Protocol):
    """What is asked of a statement in order to compare it with another one."""

    @property
    def given(self) -> "Sequence[Statement]":
        """Its hypotheses."""

    def says_the_same(self, other: Any) -> bool:
        """Whether another statement of the same kind, with the same hypotheses, is the same one."""


def same(one: Statement, other: Statement) -> bool:
    """Return whether two relations are the same statement; False means that this could not be established."""
    return type(one) is type(other) and all_the_same(one.given, other.given) and one.says_the_same(other)


def all_the_same(left: Sequence[Statement], right: Sequence[Statement]) -> bool:
    """Return whether every relation in each list is the same as one in the other list."""
    forth = all(any(same(one, other) for other in right) for one in left)
    return forth and all(any(same(one, other) for one in left) for other in right)


def agree(one: sp.Expr, other: sp.Expr) -> bool:
    """Whether two expressions are identical as written, or have the same normal form."""
    return sums.alike(one, other) or (not _differ(one, other) and sums.equal(one, other))


def one_difference(one: Sequence[sp.Expr], other: Sequence[sp.Expr]) -> bool:
    """Whether two pairs of sides are identical as written, or have the same difference."""
    (a, b), (c, d) = one, other
    return (sums.alike(a, c) and sums.alike(b, d)) or (not _differ(a - b, c - d) and sums.equal(a - b, c - d))


def one_difference_either_way(one: Sequence[sp.Expr], other: Sequence[sp.Expr]) -> bool:
    """Whether two pairs of sides have the same difference, up to its sign."""
    return one_difference(one, other) or one_difference(one[::-1], other)


@lru_cache(maxsize=2**12)
def _differ(one: sp.Expr, other: sp.Expr) -> bool:
    """Whether two expressions certainly differ at a sample point, which is quicker to decide than by normal forms."""
    names = variables_of(sp.Tuple(one, other))
    try:
        values = (enclose_all((one, other), point) for point in islice(points(names), 0, POINTS * APART, APART))
        return any(a.is_finite() and b.is_finite() and not a.overlaps(b) for a, b in values)
    except (KeyError, ValueError):  # raised where there is no exact value, or no sample point
        return False
