"""Equality of relations: same kind and direction, and sides and hypotheses that agree in normal form."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.points import points
from derivations.calculus.variables import variables_of
from derivations.relations.base import Relation, differ
from derivations.relations.disproof import Fails
from derivations.relations.equation import Differs, Equation
from derivations.relations.expansion import Expansion
from derivations.relations.implication import Follows
from derivations.relations.inequality import AtLeast, StrictUnlessEqual
from derivations.relations.limit import Limit
from derivations.relations.optimum import UniqueMaximum, UniqueMinimum, UniquePlan
from derivations.relations.universal import ForAll

RELATIONS: frozenset[type[Relation]] = frozenset(
    {Equation, Differs, AtLeast, StrictUnlessEqual, Limit, Expansion, Follows, UniqueMinimum, UniqueMaximum, UniquePlan, Fails}
)
"""The kernel's own kinds of statement; nothing else is examined, subclasses neither."""

POINTS, APART = 4, 11  # number of points to try, and stride through the sample


def same(one: Relation, other: Relation) -> bool:
    """Return whether two relations are the same statement; False means that this could not be established."""
    if type(one) is not type(other) or not _all(one.given, other.given, same):
        return False
    if isinstance(one, ForAll) and isinstance(other, ForAll):
        return one.over == other.over and same(one.bound, other.bound)
    if isinstance(one, Fails) and isinstance(other, Fails):
        return same(one.relation, other.relation)
    if isinstance(one, Follows) and isinstance(other, Follows):
        return same(one.conclusion, other.conclusion) and _all(one.premises, other.premises, same)
    if isinstance(one, AtLeast) and isinstance(other, AtLeast):
        return one.strict == other.strict and _one_difference(one, other)
    if isinstance(one, Equation | Differs):
        return _one_difference(one, other) or _one_difference(replace(one, left=one.right, right=one.left), other)
    return len(_parts(one)) == len(_parts(other)) and all(map(agree, _parts(one), _parts(other)))


def agree(one: sp.Expr, other: sp.Expr) -> bool:
    """Whether two expressions are identical as written, or have the same normal form."""
    return sums.alike(one, other) or (not _differ(one, other) and sums.equal(one, other))


def _one_difference(one: Relation, other: Relation) -> bool:
    (a, b), (c, d) = one.sides, other.sides
    return (sums.alike(a, c) and sums.alike(b, d)) or (not _differ(a - b, c - d) and sums.equal(a - b, c - d))


@lru_cache(maxsize=2**12)
def _differ(one: sp.Expr, other: sp.Expr) -> bool:
    """Whether two expressions certainly differ at a sample point, which is quicker to decide than by normal forms."""
    names = variables_of(sp.Tuple(one, other))
    try:
        return any(differ(point, one, other) for point in islice(points(names), 0, POINTS * APART, APART))
    except (KeyError, ValueError):  # raised where there is no exact value, or no sample point
        return False


def _all(left: Sequence[Relation], right: Sequence[Relation], agreeing: Callable[[Relation, Relation], bool]) -> bool:
    """Whether every relation in each list agrees with one in the other list."""
    forth = all(any(agreeing(one, other) for other in right) for one in left)
    return forth and all(any(agreeing(one, other) for one in left) for other in right)


def _parts(relation: Relation) -> list[sp.Expr]:
    """The parts of a statement of any other kind."""
    if isinstance(relation, UniqueMinimum | UniquePlan):
        return [*relation.axes, relation.open_objective, relation.entry]
    if isinstance(relation, Limit):
        return [sp.sympify(part) for part in (relation.expr, relation.variable, relation.to, relation.limit)]
    if isinstance(relation, Expansion):
        return [*map(sp.sympify, (relation.left, relation.right, relation.variable, relation.order)), *relation.sides]
    if isinstance(relation, StrictUnlessEqual):
        return [*relation.sides, sp.sympify(relation.x), sp.sympify(relation.y)]
    return [*relation.sides]
