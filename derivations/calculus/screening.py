"""Sample points at which an expression is not ≥ 0, which spare a search for a proof that it is.

A search without success takes longest.  Such a point ends it early and proves nothing.
"""

from functools import lru_cache
from itertools import islice

import sympy as sp

from derivations.calculus.balls import Point, enclose, enclose_all
from derivations.calculus.points import points
from derivations.calculus.variables import Variable, variables_of

Facts = tuple[tuple[sp.Expr, bool | None], ...]              # an expression ≥ 0 (False), > 0 (True) or ≠ 0 (None)

MOST = 8                                                     # points at which an expression is evaluated
FIRST, STRIDE = 20, 5                                        # of the sample that they are taken from


@lru_cache(maxsize=2**14)
def refuted(expr: sp.Expr, strict: bool, facts: Facts) -> bool:
    """Whether an expression is certainly < 0, or ≤ 0 if `strict`, at a point of the domains where the facts hold."""
    if not all(isinstance(symbol, Variable | sp.Indexed) for symbol in expr.free_symbols):
        return False
    try:
        values = (enclose(expr, point) for point in _sample(tuple(variables_of(sp.Tuple(expr, *_signed(facts)))), facts))
        return any(bool(value <= 0 if strict else value < 0) for value in values if value.is_finite())
    except (ValueError, KeyError):                           # what has no exact samples, or no rule of evaluation
        return False


def _signed(facts: Facts) -> list[sp.Expr]:
    return [fact for fact, _ in facts]


@lru_cache(maxsize=2**8)
def _sample(names: tuple[Variable, ...], facts: Facts) -> tuple[Point, ...]:
    """Some points where the facts hold, after the first, which are ties and zeros; neighbours differ in their indices only."""
    spread = islice(points(names), FIRST, None, STRIDE)
    return tuple(islice((point for point in spread if _hold(facts, point)), MOST))


def _hold(facts: Facts, point: Point) -> bool:
    values = zip(enclose_all(_signed(facts), point), facts, strict=True)
    return all(bool(value != 0 if sense is None else value > 0 if sense else value >= 0) for value, (_, sense) in values)
