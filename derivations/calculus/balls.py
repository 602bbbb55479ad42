"""Certified values: an expression at an exact point, exactly where it is rational and else enclosed by ball arithmetic.

Every rule here is for an expression as it is written, none asks the normal form: what refutes does not rest on what it is
to refute.  Two disjoint enclosures prove two sides different; overlapping ones prove nothing.  An expression that is not
defined at a point, such as 1/0, log 0 or an entry out of range, is enclosed by a ball that is not finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any, TypeAlias

import sympy as sp
from flint import arb, ctx, fmpq

from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.signs import is_delta
from derivations.calculus.variables import Kind, Variable

Value = int | Fraction | Sequence[Any]
Point = Mapping[Variable, Value]
Number: TypeAlias = Any                                      # fmpq where the value is exact, else arb

PRECISION = 160                                              # bits: 30 decimal digits with room for cancellation
FINE = 1280                                                  # bits, where cancellation has left nothing of these
BLURRED = 2.0**-64                                           # a radius, relative to the midpoint, that asks for more bits

LARGEST_EXACT_POWER = 4096                                   # beyond, powers are enclosed: exact ones would fill the memory


def enclose(expr: sp.Expr, point: Point) -> arb:
    """A ball that contains the value of `expr` at the exact point; one that is not finite where there is no value.

    Raises KeyError for a variable without a value and ValueError for a function without a rule.
    """
    ball = _enclosed(sp.sympify(expr), point, PRECISION)
    if ball.is_finite() and ball.rad() > arb(BLURRED) * abs(ball).lower():
        return _enclosed(sp.sympify(expr), point, FINE)
    return ball


def _enclosed(expr: sp.Expr, point: Point, precision: int) -> arb:
    saved, ctx.prec = ctx.prec, precision
    try:
        return _as_ball(_value(expr, _Place(point)))
    finally:
        ctx.prec = saved


class _Place(dict[Variable, Value]):
    """A point, and the sums that are known there for some values of the indices they depend on."""

    def __init__(self, point: Point) -> None:
        super().__init__(point)
        self.known: dict[tuple[sp.Sum, tuple[Value, ...]], Number] = {}


def _as_ball(value: Number) -> arb:
    return arb(value) if isinstance(value, fmpq) else value


def _undefined() -> arb:
    return arb("nan")


def _exact(value: Any) -> fmpq:
    return fmpq(int(value.numerator), int(value.denominator))


def _value(expr: sp.Expr, point: _Place) -> Number:
    """The value at a point; sums, products, deltas and integer powers of rational numbers stay exact."""
    if expr.is_Rational:
        return fmpq(int(expr.p), int(expr.q))
    if isinstance(expr, Variable):
        return _exact(point[expr])
    if isinstance(expr, sp.Indexed):
        return _entry(expr, point)
    if isinstance(expr, sp.KroneckerDelta):
        return fmpq(int(_rational(expr.args[0], point) == _rational(expr.args[1], point)))
    if isinstance(expr, sp.Sum):
        return _sum(expr, point)
    if isinstance(expr, sp.Add):
        return _added([_value(arg, point) for arg in expr.args])
    if isinstance(expr, sp.Mul):
        return _product(expr, point)
    if isinstance(expr, sp.exp):
        return _exp(_value(expr.args[0], point))
    if isinstance(expr, sp.Pow):
        return _power(_value(expr.base, point), _value(expr.exp, point))
    if isinstance(expr, Partial):
        slope, value = _value(differentiate(*expr.args), point), _value(expr.args[0], point)
        return slope if isinstance(value, fmpq) or value.is_finite() else _undefined()
    if expr is sp.S.Pi:
        return arb.pi()
    if expr is sp.S.Exp1:
        return arb.const_e()
    arguments = [_value(arg, point) for arg in expr.args]
    if type(expr) in _FUNCTIONS:
        return _FUNCTIONS[type(expr)](*arguments)
    raise ValueError(f"expression: expected a function of the calculus, got {type(expr).__name__} in {expr}")


def _rational(expr: sp.Expr, point: _Place) -> fmpq:
    """The exact value of an index; raises ValueError where it is not rational."""
    value = _value(expr, point)
    if isinstance(value, fmpq):
        return value
    raise ValueError(f"index: expected a rational value, got {expr}")


def _integer(expr: sp.Expr, point: _Place) -> int:
    """The exact value of a size or a bound; raises ValueError where it is no integer."""
    value = _rational(expr, point)
    if value.q != 1:
        raise ValueError(f"index: expected an integer, got {expr} = {value}")
    return int(value.p)


def _entry(expr: sp.Indexed, point: _Place) -> Number:
    value: Any = point[expr.base.label]
    for index in expr.indices:
        position = _rational(index, point)
        if position.q != 1 or not 1 <= position <= len(value):
            return _undefined()
        value = value[int(position.p) - 1]
    return _exact(value)


@cache
def _indices(expr: sp.Sum) -> tuple[Variable, ...]:
    """The indices that the value of a sum depends on."""
    return tuple(v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.kind is Kind.INDEX)


def _sum(expr: sp.Sum, point: _Place) -> Number:
    key = expr, tuple(point[v] for v in _indices(expr))
    if key not in point.known:
        point.known[key] = _summed(expr, point)
    return point.known[key]


def _summed(expr: sp.Sum, point: _Place) -> Number:
    bound = [limit[0] for limit in expr.limits]
    shadowed = {v: point[v] for v in bound if v in point}
    value = _added(list(_terms(expr.function, expr.limits, point)))
    for v in bound:
        point.pop(v, None)
    point.update(shadowed)
    return value


def _terms(body: sp.Expr, limits: Sequence[sp.Tuple], point: _Place) -> Iterator[Number]:
    """The terms of a sum; the last limit is the outermost, and the ranges of the others may depend on it."""
    if not limits:
        yield _value(body, point)
        return
    var, low, high = limits[-1]
    for position in range(_integer(low, point), _integer(high, point) + 1):
        point[var] = position
        yield from _terms(body, limits[:-1], point)


def _added(terms: Sequence[Number]) -> Number:
    value: Number = fmpq(0)
    for term in terms:
        value = value + term
    return value


@cache
def _deltas_first(product: sp.Mul) -> tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]:
    """The factors δ and 1 − δ of a product, and the others."""
    deltas = tuple(factor for factor in product.args if is_delta(factor))
    return deltas, tuple(factor for factor in product.args if factor not in deltas)


def _product(product: sp.Mul, point: _Place) -> Number:
    """A product; one that a delta excludes is 0 whatever its other factors are there."""
    deltas, others = _deltas_first(product)
    if any(_value(delta, point) == 0 for delta in deltas):
        return fmpq(0)
    value: Number = fmpq(1)
    for factor in others:
        value = value * _value(factor, point)
    return value


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return _integer_power(base, int(exponent.p))
    if isinstance(base, fmpq) and base == 0:
        return fmpq(0) if exponent > 0 else _undefined()
    if isinstance(base, fmpq) and isinstance(exponent, fmpq) and exponent.q == 2 and base > 0:
        root = _square_root(base)
        if root is not None:
            return _integer_power(root, int(exponent.p))
    return (_as_ball(exponent) * _as_ball(base).log()).exp()


def _integer_power(base: Number, exponent: int) -> Number:
    """Repeated squaring: a ball around 0 has powers too."""
    if isinstance(base, arb) and not base.is_finite():
        return _undefined()
    if exponent < 0:
        whole = _integer_power(base, -exponent)
        return _undefined() if whole == 0 else fmpq(1) / whole
    if isinstance(base, fmpq) and exponent > LARGEST_EXACT_POWER:
        base = arb(base)
    value: Number = fmpq(1)
    for bit in bin(exponent)[2:]:
        value = value * value
        if bit == "1":
            value = value * base
    return value


def _square_root(base: fmpq) -> fmpq | None:
    """The root of a square of a rational number; None of another number."""
    p, q = isqrt(int(base.p)), isqrt(int(base.q))
    return fmpq(p, q) if p * p == base.p and q * q == base.q else None


def _exp(x: Number) -> Number:
    return fmpq(1) if isinstance(x, fmpq) and x == 0 else _as_ball(x).exp()


def _log(x: Number) -> Number:
    if isinstance(x, fmpq):
        return fmpq(0) if x == 1 else arb(x).log() if x > 0 else _undefined()
    return x.log()


def _xlogx(x: Number) -> Number:
    return fmpq(0) if isinstance(x, fmpq) and x == 0 else x * _log(x)


def _abs(x: Number) -> Number:
    return abs(x)


def _plus(x: Number) -> Number:
    return (x + abs(x)) / 2


def _sign(x: Number) -> Number:
    return fmpq(1) if x > 0 else fmpq(-1) if x < 0 else _undefined()


def _kl(y: Number, x: Number) -> Number:
    if x <= 0 or y < 0:
        return _undefined()
    if isinstance(y, fmpq) and (y == 0 or (isinstance(x, fmpq) and y == x)):
        return x - y
    return y * (_log(y) - _log(x)) - y + x


def _pinsker(y: Number, x: Number) -> Number:
    if x <= 0 or y < 0:
        return _undefined()
    return _kl(y, x) - 3 * (y - x) * (y - x) / (2 * (y + 2 * x))


def _bregman(y: Number, x: Number, alpha: Number) -> Number:
    if y < 0 or x < 0 or not alpha > 1:
        return _undefined()
    tangent = _power(x, alpha) + alpha * _power(x, alpha - 1) * (y - x)
    return (_power(y, alpha) - tangent) / (alpha * (alpha - 1))


_FUNCTIONS: dict[type[sp.Basic], Any] = {
    sp.log: _log,
    sp.Abs: _abs,
    sp.sign: _sign,
    xlogx: _xlogx,
    plus: _plus,
    kl: _kl,
    pinsker: _pinsker,
    reciprocal: lambda x: _integer_power(x, -1),
    bregman: _bregman,
}


def explicit(expr: sp.Expr, point: Point) -> sp.Expr:
    """The expression at the point with sums written out; a variable without a value stays.

    Raises ValueError for an entry out of range.
    """
    if isinstance(expr, sp.Sum):
        *inner, (var, low, high) = expr.limits               # the last limit is the outermost
        body = sp.Sum(expr.function, *inner) if inner else expr.function
        positions = range(int(explicit(low, point)), int(explicit(high, point)) + 1)
        return sp.Add(*[explicit(body, {**point, var: position}) for position in positions])
    if isinstance(expr, Variable):
        return sp.sympify(point.get(expr, expr))
    if isinstance(expr, sp.Indexed):
        value: Any = point[expr.base.label]
        for index in expr.indices:
            position = explicit(index, point)
            if not (position.is_Integer and 1 <= position <= len(value)):
                raise ValueError(f"index: expected one in 1…{len(value)} for {expr.base}, got {position}")
            value = value[int(position) - 1]
        return sp.sympify(value)
    return expr.func(*[explicit(arg, point) for arg in expr.args]) if expr.args else expr


def digits(ball: arb, count: int = 12) -> str:
    """The ball's midpoint to `count` digits, as text."""
    return str(ball.str(count, radius=False))
