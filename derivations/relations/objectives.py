"""What to descend on in a search for a failure: the gap of an inequality, and the arguments of functions within a statement.

An inequality fails beyond the points where it is tight.  An equation may hold at all points tried because a part of it was
the same at all of them: 0 under a positive part, or too small under an exponential.  Such a part changes with its argument,
so points are searched for where each argument is large and where it is small, where two kinks are passed together, and
where all of them meet.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

import sympy as sp

from derivations.calculus.balls import Point, enclose, enclose_all
from derivations.calculus.powers import plus
from derivations.calculus.variables import Variable
from derivations.relations.base import Relation

Height = Callable[[Point], float]

MOST = 6  # arguments, and kinks, of one statement
KINKS = (plus, sp.Abs, sp.sign)


def heights(relation: Relation) -> tuple[list[Height], list[Height]]:
    """Functions of a point to make small: the gap in proportion to the left side and by itself, and those of arguments.

    The first group is where a failure is most likely.
    """
    kinked, smooth = _arguments(relation.sides)
    own = [relative(relation), _signed(relation.sides[0] - relation.sides[1], 1)] if relation.ordered else []
    sided = [(_signed(argument, 1), _signed(argument, -1)) for argument in kinked]
    both = [_largest(pair) for one, other in combinations(sided, 2) for pair in product(one, other)]
    zeros = [_squares(kinked)] if kinked else []
    alone = [height for pair in (*sided, *((_signed(each, 1), _signed(each, -1)) for each in smooth)) for height in pair]
    return [*own, *zeros], [*alone, *both]


def relative(relation: Relation) -> Height:
    """The gap of an inequality in proportion to its left side."""
    left, right = relation.sides
    excess = left - right

    def height(point: Point) -> float:
        gap, scale = enclose_all((excess, left), point)
        return float((gap.mid() / (1 + abs(scale.mid()))).mid()) if gap.is_finite() and scale.is_finite() else math.inf

    return height


def _signed(expr: sp.Expr, sign: int) -> Height:
    """The value or its negative, on a logarithmic scale beyond 1."""
    bound = {place: 1 + turn for turn, place in enumerate(_bound(expr))}

    def height(point: Point) -> float:
        ball = enclose(expr, {**point, **bound} if bound else point)
        if not ball.is_finite():
            return math.inf
        middle = ball.mid()
        size = float(middle) if abs(middle) <= 1 else float(middle.sgn() * (1 + abs(middle).log()))
        return sign * size

    return height


def _squares(exprs: Sequence[sp.Expr]) -> Height:
    """How far a point is from where all arguments are 0."""
    each = [_signed(expr, 1) for expr in exprs]
    return lambda point: sum(height(point) ** 2 for height in each)


def _largest(pair: Sequence[Height]) -> Height:
    return lambda point: max(height(point) for height in pair)


def _arguments(sides: Sequence[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The different arguments of kinks, and those of other functions and of powers, the longest first."""
    kinked, smooth = dict[sp.Expr, None](), dict[sp.Expr, None]()
    for part in (part for side in sides for part in sp.preorder_traversal(side)):
        if isinstance(part, KINKS):
            kinked[part.args[0]] = None
        elif isinstance(part, sp.Function | sp.Pow) and not isinstance(part, sp.KroneckerDelta):
            smooth |= {} if part.is_Pow and part.exp.is_Integer and part.exp > 0 else dict.fromkeys(part.args)
    return _moving(kinked), [each for each in _moving(smooth) if each not in kinked]


def _moving(exprs: Sequence[sp.Expr] | dict[sp.Expr, None]) -> list[sp.Expr]:
    return sorted((expr for expr in exprs if expr.free_symbols), key=lambda expr: -expr.count_ops())[:MOST]


def _bound(expr: sp.Expr) -> Iterator[Variable]:
    """Indices of sums around an argument, which have a value at no point: the names that the sums made."""
    indices = (v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.is_index and "#" in v.name)
    return iter(sorted(indices, key=str))
