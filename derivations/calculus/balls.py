"""Certified values: an expression at an exact point, exactly where it is rational and else enclosed by ball arithmetic.

Every rule here is for an expression as it is written, none asks the normal form: what refutes does not rest on what it is
to refute.  Two disjoint enclosures prove two sides different; overlapping ones prove nothing.  An expression that is not
defined at a point, such as 1/0, log 0 or an entry out of range, is enclosed by a ball that is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
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
        return _as_ball(_rule(expr)(_Place(point)))
    finally:
        ctx.prec = saved


class _Place(dict[Variable, Any]):
    """A point, its vectors as exact numbers once they are read, and the sums that are known there for some values of the
    indices they depend on."""

    def __init__(self, point: Point) -> None:
        super().__init__(point)
        self.vectors: dict[Variable, Any] = {}
        self.known: dict[tuple[Any, ...], Number] = {}

    def vector(self, label: Variable) -> Any:
        """Nested tuples of exact numbers."""
        value = self.vectors.get(label)
        if value is None:
            value = self.vectors[label] = _all_exact(self[label])
        return value


def _as_ball(value: Number) -> arb:
    return arb(value) if isinstance(value, fmpq) else value


def _undefined() -> arb:
    return arb("nan")


def _exact(value: Any) -> fmpq:
    return fmpq(int(value.numerator), int(value.denominator))


def _all_exact(value: Any) -> Any:
    return tuple(map(_all_exact, value)) if isinstance(value, Sequence) else _exact(value)


# ── what an expression is computed by ───────────────────────────────────────────────────────────────────────────────

Rule: TypeAlias = Callable[[_Place], Number]


@lru_cache(maxsize=2**15)
def _rule(expr: sp.Expr) -> Rule:
    """What computes an expression; sums, products, deltas and integer powers of rational numbers stay exact."""
    if expr.is_Rational:
        number = fmpq(int(expr.p), int(expr.q))
        return lambda point: number
    if isinstance(expr, Variable):
        return _scalar(expr)
    if isinstance(expr, sp.Indexed):
        return _entry(expr)
    if isinstance(expr, sp.KroneckerDelta):
        one, other = map(_rational, expr.args)
        return lambda point: fmpq(int(one(point) == other(point)))
    if isinstance(expr, sp.Sum):
        return _sum(expr)
    if isinstance(expr, sp.Add):
        terms = tuple(map(_rule, expr.args))
        return lambda point: _added(term(point) for term in terms)
    if isinstance(expr, sp.Mul):
        return _product(expr)
    if isinstance(expr, sp.exp):
        argument = _rule(expr.args[0])
        return lambda point: _exp(argument(point))
    if isinstance(expr, sp.Pow):
        base, exponent = _rule(expr.base), _rule(expr.exp)
        return lambda point: _power(base(point), exponent(point))
    if isinstance(expr, Partial):
        return _partial(expr)
    if expr is sp.S.Pi:
        return lambda point: arb.pi()
    if expr is sp.S.Exp1:
        return lambda point: arb.const_e()
    return _function(expr)


def _function(expr: sp.Expr) -> Rule:
    function, arguments = _FUNCTIONS.get(type(expr)), tuple(map(_rule, expr.args))

    def evaluated(point: _Place) -> Number:
        values = [argument(point) for argument in arguments]
        if function is None:
            raise ValueError(f"expression: expected a function of the calculus, got {type(expr).__name__} in {expr}")
        return function(*values)

    return evaluated


def _scalar(variable: Variable) -> Rule:
    def evaluated(point: _Place) -> Number:
        value = point[variable]
        if type(value) is not fmpq:
            value = point[variable] = _exact(value)
        return value

    return evaluated


def _rational(expr: sp.Expr) -> Rule:
    """The exact value of an index; evaluation raises ValueError where it is not rational."""
    rule = _rule(expr)

    def evaluated(point: _Place) -> Number:
        value = rule(point)
        if not isinstance(value, fmpq):
            raise ValueError(f"index: expected a rational value, got {expr}")
        return value

    return evaluated


def _integer(expr: sp.Expr) -> Callable[[_Place], int]:
    """The exact value of a size or a bound; evaluation raises ValueError where it is no integer."""
    rule = _rational(expr)

    def evaluated(point: _Place) -> int:
        value = rule(point)
        if value.q != 1:
            raise ValueError(f"index: expected an integer, got {expr} = {value}")
        return int(value.p)

    return evaluated


def _entry(expr: sp.Indexed) -> Rule:
    label, indices = expr.base.label, tuple(map(_rational, expr.indices))

    def evaluated(point: _Place) -> Number:
        value = point.vector(label)
        for index in indices:
            position = index(point)
            if position.q != 1 or not 1 <= position <= len(value):
                return _undefined()
            value = value[int(position.p) - 1]
        return value

    return evaluated


def _partial(expr: Partial) -> Rule:
    """A derivative, which has a value only where what is differentiated has one."""
    inner, derived = _rule(expr.args[0]), cache(lambda: _rule(differentiate(*expr.args)))

    def evaluated(point: _Place) -> Number:
        slope, value = derived()(point), inner(point)
        return slope if isinstance(value, fmpq) or value.is_finite() else _undefined()

    return evaluated


def _sum(expr: sp.Sum) -> Rule:
    """A sum, which is computed once for all values of the indices it depends on; the last limit is the outermost, and the
    ranges of the others may depend on it."""
    free = tuple(v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.kind is Kind.INDEX)
    body = _rule(expr.function)
    limits = tuple((var, _integer(low), _integer(high)) for var, low, high in reversed(expr.limits))

    def terms(point: _Place, depth: int) -> Iterator[Number]:
        if depth == len(limits):
            yield body(point)
            return
        var, low, high = limits[depth]
        for position in range(low(point), high(point) + 1):
            point[var] = fmpq(position)
            yield from terms(point, depth + 1)

    def evaluated(point: _Place) -> Number:
        key = expr, *(point[v] for v in free)
        value = point.known.get(key)
        if value is None:
            shadowed = {var: point[var] for var, _, _ in limits if var in point}
            value = point.known[key] = _added(terms(point, 0))
            for var, _, _ in limits:
                point.pop(var, None)
            point.update(shadowed)
        return value

    return evaluated


def _product(product: sp.Mul) -> Rule:
    """A product; one that a delta excludes is 0 whatever its other factors are there."""
    deltas = tuple(_rule(factor) for factor in product.args if is_delta(factor))
    others = tuple(_rule(factor) for factor in product.args if not is_delta(factor))

    def evaluated(point: _Place) -> Number:
        if any(delta(point) == 0 for delta in deltas):
            return fmpq(0)
        value: Number = fmpq(1)
        for factor in others:
            value = value * factor(point)
        return value

    return evaluated


# ── what the numbers are made by ────────────────────────────────────────────────────────────────────────────────────


def _added(terms: Iterable[Number]) -> Number:
    value: Number = fmpq(0)
    for term in terms:
        value = value + term
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
