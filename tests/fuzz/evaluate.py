"""The independent evaluator: a SymPy tree at a point, by plain recursion.

Nothing here comes from `derivations.calculus.sums`, `balls` or `powers` but the classes by which a node is recognized:
kl, xlogx, plus, bregman, δ and ∂ are written down once more from their definitions, and sums are loops.
"""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp
from mpmath import libmp

from tests.fuzz.arithmetic import (
    BITS,
    ONE,
    ZERO,
    Dual,
    Interval,
    Number,
    UncertainError,
    UndefinedError,
    Value,
    absolute,
    add,
    exponential,
    inverse,
    logarithm,
    multiply,
    negative,
    positive_part,
    power,
    sign,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Point = Mapping[sp.Symbol, Any]
WORK = 60_000  # nodes visited before a point is given up


class UnsupportedError(Exception):
    """A node without a definition in this evaluator."""


@dataclass(frozen=True)
class _Seed:
    """An entry to differentiate by: the label of its vector, its position (empty for a scalar) and the tag of its ε."""

    label: sp.Symbol
    position: tuple[int, ...]
    tag: int


class _Evaluation:
    def __init__(self, point: Point) -> None:
        self.point = dict(point)
        self.seeds: tuple[_Seed, ...] = ()
        self.work = 0

    def value(self, expr: sp.Expr) -> Value:
        self.work += 1
        if self.work > WORK:
            raise UncertainError("too much work")
        if isinstance(expr, sp.Rational):
            return Fraction(int(expr.p), int(expr.q))
        name = type(expr).__name__
        rule = getattr(self, f"_{name}", None)
        if rule is not None:
            return rule(expr)
        if expr.is_Symbol:
            return self._moving(expr, (), Fraction(self.point[expr]))
        if expr in (sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I):
            raise UndefinedError(f"{expr}")
        raise UnsupportedError(name)

    def integer(self, expr: sp.Expr) -> int:
        value = self.value(expr)
        if isinstance(value, Dual):
            raise UncertainError("a moving index")
        if isinstance(value, Interval):
            raise UncertainError("an index that is not rational")
        if value.denominator != 1:
            raise UndefinedError(f"index: {expr} = {value}")
        return int(value)

    def _moving(self, label: sp.Symbol, position: tuple[int, ...], value: Value) -> Value:
        for seed in self.seeds:
            if (seed.label, seed.position) == (label, position):
                value = Dual(seed.tag, value, ONE)
        return value

    def _Indexed(self, expr: sp.Indexed) -> Value:
        entry, position = self.point[expr.base.label], tuple(map(self.integer, expr.indices))
        for i in position:
            if not 1 <= i <= len(entry):
                raise UndefinedError(f"index: {expr} has no entry {i}")
            entry = entry[i - 1]
        return self._moving(expr.base.label, position, Fraction(entry))

    def _Add(self, expr: sp.Expr) -> Value:
        value: Value = ZERO
        for arg in expr.args:
            value = add(value, self.value(arg))
        return value

    def _Mul(self, expr: sp.Expr) -> Value:
        value, undefined = ONE, None
        for arg in expr.args:
            try:
                value = multiply(value, self.value(arg))
            except UndefinedError as error:
                undefined = error
        if undefined is None:
            return value
        if isinstance(value, Fraction) and value == ZERO:
            raise UncertainError("0 times what is not defined")
        raise undefined

    def _Pow(self, expr: sp.Pow) -> Value:
        base, exponent = self.value(expr.base), self.value(expr.exp)
        if not expr.exp.is_number and not isinstance(exponent, Dual) and exponent == ZERO and sign(base) == 0:
            raise UncertainError("0 to a power that happens to be 0")
        by_chance = not expr.exp.is_number and not expr.exp.is_integer and isinstance(exponent, Fraction)
        if by_chance and exponent.denominator == 1 and sign(base) < 0:
            raise UncertainError("a real power of a negative number, whose exponent happens to be an integer")
        return power(base, exponent)

    def _exp(self, expr: sp.Expr) -> Value:
        return exponential(self.value(expr.args[0]))

    def _Exp1(self, expr: sp.Expr) -> Value:
        return exponential(ONE)

    def _Pi(self, expr: sp.Expr) -> Value:
        return Interval((libmp.mpf_pi(BITS.get(), libmp.round_floor), libmp.mpf_pi(BITS.get(), libmp.round_ceiling)))

    def _log(self, expr: sp.Expr) -> Value:
        return logarithm(self.value(expr.args[0]))

    def _Abs(self, expr: sp.Expr) -> Value:
        return absolute(self.value(expr.args[0]))

    def _plus(self, expr: sp.Expr) -> Value:
        return positive_part(self.value(expr.args[0]))

    def _xlogx(self, expr: sp.Expr) -> Value:
        return _x_log_x(self.value(expr.args[0]))

    def _kl(self, expr: sp.Expr) -> Value:
        y, x = map(self.value, expr.args)
        if sign(y) < 0 or sign(x) < 0:
            raise UndefinedError("kl of a number < 0")
        if sign(x) == 0:
            raise UncertainError("kl from 0") if sign(y) == 0 else UndefinedError("kl from 0")
        return add(add(_x_log_x(y), negative(multiply(y, logarithm(x)))), add(x, negative(y)))

    def _pinsker(self, expr: sp.Expr) -> Value:
        y, x = map(self.value, expr.args)
        square = multiply(add(y, negative(x)), add(y, negative(x)))
        below = add(multiply(Fraction(2), y), multiply(Fraction(4), x))
        return add(self._kl(expr), multiply(Fraction(-3), multiply(square, inverse(below))))

    def _sign(self, expr: sp.Expr) -> Value:
        side = sign(self.value(expr.args[0]))
        if side == 0:
            raise UncertainError("the sign of 0 stands for a derivative that is not defined")
        return Fraction(side)

    def _bregman(self, expr: sp.Expr) -> Value:
        y, x, alpha = map(self.value, expr.args)
        if sign(add(alpha, Fraction(-1))) <= 0 or sign(y) < 0 or sign(x) < 0:
            raise UncertainError("bregman outside of its domain")
        below = add(alpha, Fraction(-1))
        linear = multiply(alpha, multiply(power(x, below), add(y, negative(x))))
        gap = add(add(power(y, alpha), negative(power(x, alpha))), negative(linear))
        return multiply(gap, inverse(multiply(alpha, below)))

    def _KroneckerDelta(self, expr: sp.Expr) -> Value:
        return ONE if self.integer(expr.args[0]) == self.integer(expr.args[1]) else ZERO

    def _Sum(self, expr: sp.Sum) -> Value:
        return self._looped(expr.function, list(expr.limits))

    def _looped(self, body: sp.Expr, limits: list[sp.Tuple]) -> Value:
        """Evaluate a sum by loops; the last limit is the outermost, and the bounds of an inner one may depend on it."""
        if not limits:
            return self.value(body)
        *inner, (name, low, high) = limits
        start, end = self.integer(low), self.integer(high)
        if end < start - 1:
            raise UncertainError("a range that ends before it starts")
        outer = self.point.get(name)
        value: Value = ZERO
        try:
            for position in range(start, end + 1):
                self.point[name] = position
                value = add(value, self._looped(body, inner))
        finally:
            self.point.pop(name, None)
            if outer is not None:
                self.point[name] = outer
        return value

    def _Partial(self, expr: sp.Expr) -> Value:
        body, by = expr.args
        position = tuple(map(self.integer, by.indices)) if isinstance(by, sp.Indexed) else ()
        label = by.base.label if isinstance(by, sp.Indexed) else by
        self.value(by)  # an entry out of range is not defined
        outer, tag = self.seeds, len(self.seeds) + 1
        self.seeds = (*outer, _Seed(label, position, tag))
        try:
            value = self.value(body)
        finally:
            self.seeds = outer
        return value.slope if isinstance(value, Dual) and value.tag == tag else ZERO


def _x_log_x(x: Value) -> Value:
    side = sign(x)
    if side < 0:
        raise UndefinedError("x log x of a number < 0")
    if side == 0:
        if isinstance(x, Dual):
            raise UncertainError("derivative of x log x at 0")
        return ZERO
    return multiply(x, logarithm(x))


@contextmanager
def precision(bits: int) -> "Iterator[None]":
    """Compute intervals with that many bits."""
    token = BITS.set(bits)
    try:
        yield
    finally:
        BITS.reset(token)


def evaluate(expr: sp.Expr, point: Point, bits: int = 200) -> Number:
    """The value at the point.

    Raises UndefinedError, UncertainError or UnsupportedError.
    """
    with precision(bits):
        value = _Evaluation(point).value(sp.sympify(expr))
    if isinstance(value, Dual):
        raise AssertionError(f"{expr} left an ε behind")
    return value


def shown(x: Number) -> str:
    """The number in decimal digits."""
    if isinstance(x, Fraction):
        return str(x)
    try:
        low, high = x.bounds()
        return f"{float((low + high) / 2):.17g}"
    except (UncertainError, OverflowError):
        return f"about 2^{x.magnitude}"
