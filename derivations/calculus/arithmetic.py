"""Arithmetic with exact rational numbers and, for other values, balls; an undefined value is a ball that is not finite."""

from collections.abc import Iterable
from math import isqrt
from typing import Any, TypeAlias

import sympy as sp
from flint import arb, fmpq

from derivations.calculus.functions import kl, pinsker, reciprocal, xlogx
from derivations.calculus.orders import upto
from derivations.calculus.powers import bregman, plus

Number: TypeAlias = Any  # fmpq where the value is exact, else arb

LARGEST_EXACT_POWER = 4096  # larger powers are enclosed: exact ones would fill the memory


def undefined() -> arb:
    """Return the ball that represents an undefined value."""
    return arb("nan")


def as_ball(value: Number) -> arb:
    """A number as a ball."""
    return arb(value) if isinstance(value, fmpq) else value


def added(terms: Iterable[Number]) -> Number:
    """The sum of numbers; 0 without any."""
    value: Number = fmpq(0)
    for term in terms:
        value = value + term
    return value


def power(base: Number, exponent: Number) -> Number:
    """A power: exact for integer exponents and roots of squares; 0 to a positive power is 0."""
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return integer_power(base, int(exponent.p))
    if isinstance(base, fmpq) and base == 0:
        return fmpq(0) if exponent > 0 else undefined()
    if isinstance(base, fmpq) and isinstance(exponent, fmpq) and exponent.q == 2 and base > 0:
        root = _square_root(base)
        if root is not None:
            return integer_power(root, int(exponent.p))
    return (as_ball(exponent) * as_ball(base).log()).exp()


def integer_power(base: Number, exponent: int) -> Number:
    """Repeated squaring: a ball around 0 has powers too."""
    if isinstance(base, arb) and not base.is_finite():
        return undefined()
    if exponent < 0:
        positive_power = base if exponent == -1 else integer_power(base, -exponent)
        return undefined() if positive_power == 0 else 1 / positive_power
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


def exp(x: Number) -> Number:
    """e^x, exact at 0."""
    return fmpq(1) if isinstance(x, fmpq) and x == 0 else as_ball(x).exp()


def _log(x: Number) -> Number:
    if isinstance(x, fmpq):
        return fmpq(0) if x == 1 else arb(x).log() if x > 0 else undefined()
    return x.log()


def _xlogx(x: Number) -> Number:
    return fmpq(0) if isinstance(x, fmpq) and x == 0 else x * _log(x)


def _abs(x: Number) -> Number:
    return abs(x)


def _plus(x: Number) -> Number:
    return (x + abs(x)) / 2


def _sign(x: Number) -> Number:
    return fmpq(1) if x > 0 else fmpq(-1) if x < 0 else undefined()


def _kl(y: Number, x: Number) -> Number:
    if x <= 0 or y < 0:
        return undefined()
    if isinstance(y, fmpq) and (y == 0 or (isinstance(x, fmpq) and y == x)):
        return x - y
    return y * (_log(y) - _log(x)) - y + x


def _pinsker(y: Number, x: Number) -> Number:
    if x <= 0 or y < 0:
        return undefined()
    return _kl(y, x) - 3 * (y - x) * (y - x) / (2 * (y + 2 * x))


def _bregman(y: Number, x: Number, alpha: Number) -> Number:
    if y < 0 or x < 0 or not alpha > 1:
        return undefined()
    tangent = power(x, alpha) + alpha * power(x, alpha - 1) * (y - x)
    return (power(y, alpha) - tangent) / (alpha * (alpha - 1))


def _upto(i: Number, j: Number) -> Number:
    return fmpq(int(i <= j)) if isinstance(i, fmpq) and isinstance(j, fmpq) else undefined()


FUNCTIONS: dict[type[sp.Basic], Any] = {
    sp.log: _log,
    sp.Abs: _abs,
    sp.sign: _sign,
    xlogx: _xlogx,
    plus: _plus,
    kl: _kl,
    pinsker: _pinsker,
    reciprocal: lambda x: integer_power(x, -1),
    bregman: _bregman,
    upto: _upto,
}
