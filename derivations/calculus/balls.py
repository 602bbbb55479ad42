"""Certified values: an expression at an exact point, enclosed by ball arithmetic.

A point gives every size an integer, every index an integer in range, every scalar and entry an exact rational.  Two
disjoint balls prove two sides different; overlapping balls prove nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any

import sympy as sp
from flint import arb, ctx, fmpq

from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import Partial, kl, normal, xlogx
from derivations.calculus.variables import Kind, Variable

Value = int | Fraction | Sequence[Any]
Point = Mapping[Variable, Value]

PRECISION = 160                                              # bits: 30 decimal digits with room for cancellation


def enclose(expr: sp.Expr, point: Point) -> arb:
    """A ball that contains the value of `expr` at the exact point.

    Raises KeyError for a variable without a value and ValueError for a function without a rule.
    """
    saved, ctx.prec = ctx.prec, PRECISION
    try:
        return _ball(sp.sympify(expr), _Place(point))
    finally:
        ctx.prec = saved


class _Place(dict[Variable, Value]):
    """A point, and the sums that are known there for some values of the indices they depend on."""

    def __init__(self, point: Point) -> None:
        super().__init__(point)
        self.known: dict[tuple[sp.Sum, tuple[Value, ...]], arb] = {}


@cache
def _indices(expr: sp.Sum) -> tuple[Variable, ...]:
    """The indices that the value of a sum depends on."""
    return tuple(v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.kind is Kind.INDEX)


def _integer(expr: sp.Expr, point: Point) -> int:
    if isinstance(expr, Variable):
        value = point[expr]
        assert isinstance(value, int)
        return value
    return int(expr.xreplace({v: point[v] for v in expr.free_symbols}))


def _entry(expr: sp.Indexed, point: _Place) -> arb:
    value: Any = point[expr.base.label]
    for i in expr.indices:
        position = _integer(i, point)
        if not 1 <= position <= len(value):
            raise IndexError(f"index: {i} = {position} was given for {expr.base}, 1…{len(value)} is accepted")
        value = value[position - 1]
    return _exact(value)


def _exact(value: Any) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _sum(expr: sp.Sum, point: _Place) -> arb:
    key = expr, tuple(point[v] for v in _indices(expr))
    if key not in point.known:
        point.known[key] = _added(expr, point)
    return point.known[key]


def _added(expr: sp.Sum, point: _Place) -> arb:
    bound = [limit[0] for limit in expr.limits]
    ranges = [range(1, _integer(limit[2], point) + 1) for limit in expr.limits]
    shadowed = {v: point[v] for v in bound if v in point}
    value = arb(0)
    for position in product(*ranges):
        point.update(zip(bound, position, strict=True))
        value += _ball(expr.function, point)
    for v in bound:
        del point[v]
    point.update(shadowed)
    return value


def _power(base: arb, exponent: sp.Expr, point: _Place) -> arb:
    if exponent.is_Integer:
        return base ** int(exponent)
    return base ** _ball(exponent, point)


def _xlogx(x: arb) -> arb:
    return arb(0) if x == 0 else x * x.log()


_FUNCTIONS: dict[type[sp.Basic], Callable[[arb], arb]] = {
    sp.exp: lambda x: x.exp(),
    sp.log: lambda x: x.log(),
    sp.Abs: abs,
    xlogx: _xlogx,
    plus: lambda x: (x + abs(x)) / 2,
}


_CONSTANTS: dict[sp.Expr, Callable[[], arb]] = {sp.E: arb.const_e, sp.pi: arb.pi}


def _ball(expr: sp.Expr, point: _Place) -> arb:
    if expr.is_Rational:
        return arb(fmpq(int(expr.p), int(expr.q)))
    if isinstance(expr, Variable):
        return _exact(point[expr])
    if isinstance(expr, sp.Indexed):
        return _entry(expr, point)
    if isinstance(expr, sp.KroneckerDelta):
        return arb(int(_integer(expr.args[0], point) == _integer(expr.args[1], point)))
    if isinstance(expr, sp.Sum):
        return _sum(expr, point)
    if expr.is_Add:
        return sum((_ball(arg, point) for arg in expr.args), arb(0))
    if expr.is_Mul:
        return prod((_ball(arg, point) for arg in expr.args), start=arb(1))
    if expr.is_Pow:
        return _power(_ball(expr.base, point), expr.exp, point)
    if isinstance(expr, Partial | kl):
        return _ball(normal(expr), point)
    if isinstance(expr, bregman):
        return _ball(expr.opened(), point)
    if expr in _CONSTANTS:
        return _CONSTANTS[expr]()
    if type(expr) in _FUNCTIONS:
        return _FUNCTIONS[type(expr)](_ball(expr.args[0], point))
    raise ValueError(f"expression: no ball rule for {type(expr).__name__} in {expr}")


def explicit(expr: sp.Expr, point: Point) -> sp.Expr:
    """The expression at the point with sums written out; a variable without a value stays."""
    if isinstance(expr, sp.Sum):
        bound = [limit[0] for limit in expr.limits]
        ranges = [range(1, int(explicit(limit[2], point)) + 1) for limit in expr.limits]
        places = [dict(zip(bound, position, strict=True)) for position in product(*ranges)]
        return sp.Add(*[explicit(expr.function, {**point, **place}) for place in places])
    if isinstance(expr, Variable):
        return sp.sympify(point.get(expr, expr))
    if isinstance(expr, sp.Indexed):
        value: Any = point[expr.base.label]
        for i in expr.indices:
            value = value[int(explicit(i, point)) - 1]
        return sp.sympify(value)
    return expr.func(*[explicit(arg, point) for arg in expr.args]) if expr.args else expr


def points(
    names: Sequence[Variable], given: Point | None = None, seed: int = 0, rounds: int = 24
) -> Iterator[dict[Variable, Value]]:
    """Exact points in the domains of the variables: every size from 1 up, ties and zeros first, then random.

    Values in `given` are kept.  Points whose indices cannot differ as declared (k ≠ j at m = 1) are left out.
    """
    rng = random.Random(seed)
    for turn in range(rounds):
        point: dict[Variable, Value] = dict(given or {})
        sizes = [v for v in names if v.domain.kind is Kind.SIZE and v not in point]
        for offset, var in enumerate(sizes):
            point[var] = 1 + (turn + offset * (turn // 3)) % 3
        indices = [v for v in names if v.domain.kind is Kind.INDEX and v not in point]
        others = [v for v in names if v not in point and v not in indices]
        faces = {v.domain.marginals[0].label for v in others if v.domain.kind is Kind.SLACK}
        for place, var in enumerate(sorted(others, key=lambda v: v.domain.kind in (Kind.COUPLING, Kind.SLACK))):
            point[var] = _draw(var, point, rng, corner=turn < 6)
            if turn >= 6 and var in faces:                   # zeros, where the multipliers may be positive
                point[var] = _face(_integer(var.domain.shape[0], point), rng)
            if turn < 6 and (place + turn // 3) % 2 == 0 and var.domain.kind in (Kind.REAL, Kind.NONNEGATIVE):
                point[var] = _zeros([_integer(part, point) for part in var.domain.shape])
        yield from _with_indices(indices, point)


def _with_indices(indices: list[Variable], point: dict[Variable, Value]) -> Iterator[dict[Variable, Value]]:
    for position in product(*(range(1, _integer(v.domain.shape[0], point) + 1) for v in indices)):
        full = {**point, **dict(zip(indices, position, strict=True))}
        if all(full[v] != _integer(other, full) for v in indices for other in v.domain.other_than):
            yield full


def _draw(var: Variable, point: dict[Variable, Value], rng: random.Random, corner: bool) -> Value:
    kind, shape = var.domain.kind, [_integer(part, point) for part in var.domain.shape]
    if kind is Kind.COUPLING:
        rows, columns = (point[marginal.label] for marginal in var.domain.marginals)
        return _coupling(rows, columns, Fraction(0 if corner else rng.randint(0, 4), 4))
    if kind is Kind.SLACK:
        plan: Any = point[var.domain.marginals[0].label]
        return [Fraction(0) if entry > 0 else Fraction(rng.randint(0, 8), 4) for entry in plan]
    if kind is Kind.STOCHASTIC:
        return [_masses(shape[1], rng, corner) for _ in range(shape[0])]
    if kind in (Kind.SIMPLEX, Kind.INTERIOR):
        weights = [0 if corner and kind is Kind.SIMPLEX and i else rng.randint(1, 9) for i in range(prod(shape))]
        return _shaped([Fraction(w, sum(weights)) for w in weights], shape)
    if corner and shape:
        return _shaped([_scalar(kind, rng)] * prod(shape), shape)
    if shape:
        return _shaped([_scalar(kind, rng) for _ in range(prod(shape))], shape)
    return _scalar(kind, rng)


def _masses(size: int, rng: random.Random, corner: bool) -> list[Fraction]:
    """A point of the simplex of this size, a corner of it if wanted."""
    if corner:
        place = rng.randrange(size)
        return [Fraction(int(i == place)) for i in range(size)]
    weights = [rng.randint(0, 9) for _ in range(size)]
    return [Fraction(w, sum(weights)) for w in weights] if sum(weights) else [Fraction(1, size)] * size


def _face(size: int, rng: random.Random) -> list[Fraction]:
    """A point of the simplex of this size with some zeros, as a rule."""
    weights = [rng.choice((0, 0, 1, 2, 5)) for _ in range(size)]
    weights[rng.randrange(size)] += 1
    return [Fraction(w, sum(weights)) for w in weights]


def _coupling(rows: Any, columns: Any, mixed: Fraction) -> list[list[Fraction]]:
    """The north-west corner plan, a vertex with many zeros, mixed with the independent plan."""
    left, right = list(rows), list(columns)
    plan = [[mixed * a * b for b in right] for a in left]
    i = j = 0
    while i < len(left) and j < len(right):
        step = min(left[i], right[j])
        plan[i][j] += (1 - mixed) * step
        left[i], right[j] = left[i] - step, right[j] - step
        i, j = (i + 1, j) if left[i] == 0 else (i, j + 1)
    return plan


def _zeros(shape: list[int]) -> Value:
    return _shaped([Fraction(0)] * prod(shape), shape) if shape else Fraction(0)


def _shaped(flat: list[Fraction], shape: list[int]) -> list[Any]:
    if len(shape) == 1:
        return flat
    step = prod(shape[1:])
    return [_shaped(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _scalar(kind: Kind, rng: random.Random) -> Fraction:
    if kind is Kind.POSITIVE:
        return Fraction(rng.randint(1, 12), 4)
    if kind is Kind.NONNEGATIVE:
        return Fraction(rng.randint(0, 12), 4)
    if kind is Kind.REAL:
        return Fraction(rng.randint(-12, 12), 4)
    raise ValueError(f"domain: {kind.name} has no exact sample, take the expectation first")


def digits(ball: arb, count: int = 12) -> str:
    """The ball's midpoint to `count` digits, as text."""
    return str(ball.str(count, radius=False))
