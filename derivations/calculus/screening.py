"""Sample points at which an expression is not ≥ 0, which spare a search for a proof that it is.

A search without success takes longest.  Such a point ends it early and proves nothing.
"""

from functools import lru_cache
from itertools import islice

import sympy as sp
from flint import arb

from derivations.calculus.balls import Point, enclose, enclose_all
from derivations.calculus.points import points, with_indices
from derivations.calculus.variables import Variable, variables_of

Fact = tuple[sp.Expr, bool | None, tuple[Variable, ...]]  # ≥ 0 (False), > 0 (True) or ≠ 0 (None), for all values of indices
Facts = tuple[Fact, ...]

MOST, WIDE = 8, 48  # points at which an expression is evaluated
FIRST, STRIDE = 20, 5  # of the sample that the few of them are taken from


@lru_cache(maxsize=2**14)
def refuted(expr: sp.Expr, strict: bool, facts: Facts, wide: bool = False) -> bool:
    """Whether an expression is certainly < 0, or ≤ 0 if `strict`, at a point of the domains where the facts hold.

    The points are a few of the sample, or many that begin with ties and zeros if `wide`, before a search that takes long.
    """
    if not all(isinstance(symbol, Variable | sp.Indexed) for symbol in expr.free_symbols):
        return False
    try:
        values = (enclose(expr, point) for point in _sample(_variables(expr, facts), facts, wide))
        return any(bool(value <= 0 if strict else value < 0) for value in values if value.is_finite())
    except (ValueError, KeyError):  # what has no exact samples, or no rule of evaluation
        return False


def _variables(expr: sp.Expr, facts: Facts) -> tuple[Variable, ...]:
    parts = [(expr, ()), *((fact, over) for fact, _, over in facts)]
    names = {v for part, over in parts for v in variables_of(part) if v not in over}
    return tuple(sorted(names, key=lambda v: (v.name, str(v.domain))))


@lru_cache(maxsize=2**8)
def _sample(names: tuple[Variable, ...], facts: Facts, wide: bool) -> tuple[Point, ...]:
    """Points where the facts hold: many, or some after the first, which are ties and zeros; neighbours differ in their
    indices only."""
    spread = points(names) if wide else islice(points(names), FIRST, None, STRIDE)
    return tuple(islice((point for point in spread if _hold(facts, point)), WIDE if wide else MOST))


def _hold(facts: Facts, point: Point) -> bool:
    plain = [(fact, sense) for fact, sense, over in facts if not over]
    if not all(map(_is_signed, enclose_all([fact for fact, _ in plain], point), (sense for _, sense in plain))):
        return False
    universal = (
        (fact, sense, with_indices(over, {v: value for v, value in point.items() if v not in over}))
        for fact, sense, over in facts
        if over
    )
    return all(_is_signed(enclose(fact, at), sense) for fact, sense, places in universal for at in places)


def _is_signed(value: arb, sense: bool | None) -> bool:
    return bool(value != 0 if sense is None else value > 0 if sense else value >= 0)
