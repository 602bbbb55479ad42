"""Numbers of the independent evaluator: exact fractions, certified intervals, and dual numbers for derivatives.

A value is a Fraction as long as it is rational; otherwise mpmath's interval arithmetic encloses it.  `UndefinedError`
means that there certainly is no real value; `UncertainError` that this arithmetic, or a convention, leaves it open.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from mpmath import libmp
from mpmath.libmp import libmpi

BITS = ContextVar("BITS", default=200)  # 60 decimal digits
LARGEST = 40  # bits: exp of more than 2^40 would never come back
WIDEST = 1 << 14  # bits of a fraction before it becomes an interval


class UndefinedError(Exception):
    """The expression has no real value at the point."""


class UncertainError(Exception):
    """The value, or its existence, is unknown at this precision or depends on a convention."""


@dataclass(frozen=True)
class Interval:
    """All numbers between two of mpmath's raw floating-point numbers."""

    ends: tuple[tuple[int, int, int, int], tuple[int, int, int, int]]

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Both ends, exactly; raises UncertainError for one that is infinite or astronomic."""
        if any(end != libmp.fzero and abs(_bits(end)) > WIDEST for end in self.ends):
            raise UncertainError("an astronomic end")
        low, high = (Fraction(*libmp.to_rational(end)) for end in self.ends)
        return low, high

    @property
    def magnitude(self) -> int:
        """A bound of |x| in bits: |x| < 2^magnitude."""
        return max(map(_bits, self.ends))


def _bits(end: tuple[int, int, int, int]) -> int:
    if end in (libmp.finf, libmp.fninf, libmp.fnan):
        raise UncertainError("an infinite end")
    return -(10**9) if end == libmp.fzero else end[2] + end[3]


@dataclass(frozen=True)
class Dual:
    """value + slope·ε with ε² = 0, one ε for each tag; a tag belongs to one derivative, inner ones are larger."""

    tag: int
    value: "Value"
    slope: "Value"


Number = Fraction | Interval
Value = Fraction | Interval | Dual
ZERO, ONE = Fraction(0), Fraction(1)


def interval(x: Number) -> Interval:
    """The number as an interval."""
    if isinstance(x, Interval):
        return x
    p, q, bits = x.numerator, x.denominator, BITS.get()
    low, high = (libmp.from_rational(p, q, bits, way) for way in (libmp.round_floor, libmp.round_ceiling))
    return Interval((low, high))


def sign(x: Value) -> int:
    """−1, 0 or 1 of the value without its ε parts; raises UncertainError where an interval contains 0."""
    while isinstance(x, Dual):
        x = x.value
    if isinstance(x, Fraction):
        return (x > 0) - (x < 0)
    low, high = (libmp.mpf_sign(end) for end in x.ends)
    if low > 0 or high < 0:
        return low
    raise UncertainError("the sign of an interval around 0")


def _split(x: Value, tag: int) -> tuple[Value, Value]:
    return (x.value, x.slope) if isinstance(x, Dual) and x.tag == tag else (x, ZERO)


def _tag(*values: Value) -> int:
    return max((v.tag for v in values if isinstance(v, Dual)), default=0)


def _compact(x: Fraction) -> Number:
    return interval(x) if x.denominator.bit_length() + abs(x.numerator).bit_length() > WIDEST else x


def add(x: Value, y: Value) -> Value:
    """x + y."""
    if tag := _tag(x, y):
        (x0, x1), (y0, y1) = _split(x, tag), _split(y, tag)
        return Dual(tag, add(x0, y0), add(x1, y1))
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return _compact(x + y)
    return Interval(libmpi.mpi_add(interval(x).ends, interval(y).ends, BITS.get()))


def multiply(x: Value, y: Value) -> Value:
    """x·y."""
    if tag := _tag(x, y):
        (x0, x1), (y0, y1) = _split(x, tag), _split(y, tag)
        return Dual(tag, multiply(x0, y0), add(multiply(x0, y1), multiply(x1, y0)))
    if x == ZERO or y == ZERO:
        return ZERO
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return _compact(x * y)
    return Interval(libmpi.mpi_mul(interval(x).ends, interval(y).ends, BITS.get()))


def negative(x: Value) -> Value:
    """−x."""
    return multiply(Fraction(-1), x)


def inverse(x: Value) -> Value:
    """1/x."""
    if isinstance(x, Dual):
        value = inverse(x.value)
        return Dual(x.tag, value, negative(multiply(x.slope, multiply(value, value))))
    if sign(x) == 0:
        raise UndefinedError("division by 0")
    if isinstance(x, Fraction):
        return 1 / x
    return Interval(libmpi.mpi_div(libmpi.mpi_one, x.ends, BITS.get()))


def exponential(x: Value) -> Value:
    """e^x."""
    if isinstance(x, Dual):
        value = exponential(x.value)
        return Dual(x.tag, value, multiply(value, x.slope))
    if x == ZERO:
        return ONE
    if interval(x).magnitude > LARGEST:
        raise UncertainError("exp of a huge number")
    return Interval(libmpi.mpi_exp(interval(x).ends, BITS.get()))


def logarithm(x: Value) -> Value:
    """log x."""
    if sign(x) <= 0:
        raise UndefinedError("log of a number ≤ 0")
    if isinstance(x, Dual):
        return Dual(x.tag, logarithm(x.value), multiply(x.slope, inverse(x.value)))
    return ZERO if x == ONE else Interval(libmpi.mpi_log(interval(x).ends, BITS.get()))


def _kink(x: Value) -> None:
    """Refuse to differentiate at a kink."""
    if isinstance(x, Dual) and sign(x) == 0:
        flat = not isinstance(x.slope, Dual) and x.slope == ZERO
        raise UncertainError("a flat kink") if flat or isinstance(x.value, Dual) else UndefinedError("derivative at a kink")


def absolute(x: Value) -> Value:
    """|x|."""
    try:
        _kink(x)
        return negative(x) if sign(x) < 0 else x
    except UncertainError:
        if not isinstance(x, Interval):
            raise
    return Interval(libmpi.mpi_abs(x.ends, BITS.get()))


def positive_part(x: Value) -> Value:
    """max(x, 0)."""
    try:
        _kink(x)
        return ZERO if sign(x) <= 0 else x
    except UncertainError:
        if not isinstance(x, Interval):
            raise
    return Interval((libmp.fzero, x.ends[1]))


def _root(x: int, degree: int) -> int | None:
    """The exact root of an integer, or None."""
    if degree > 64 or x.bit_length() > 2000:
        return None
    guess = isqrt(x) if degree == 2 else round(x ** (1 / degree)) if x < 10**15 else 0
    return guess if guess**degree == x else None


def power(x: Value, r: Value) -> Value:
    """x^r, real: any x for an integer r, x ≥ 0 for r > 0, x > 0 else."""
    if isinstance(r, Fraction) and r.denominator == 1:
        return _integer_power(x, int(r))
    if isinstance(r, Dual):
        if sign(x) <= 0:
            raise UncertainError("a moving exponent over a number ≤ 0")
        return exponential(multiply(r, logarithm(x)))
    side = sign(x)
    if side < 0:
        if isinstance(r, Interval) and (r.bounds()[0]).__ceil__() <= r.bounds()[1]:
            raise UncertainError("an exponent that may be an integer")
        raise UndefinedError("real power of a number < 0")
    if side == 0:
        if sign(r) < 0:
            raise UndefinedError("negative power of 0")
        if isinstance(x, Dual):
            raise UncertainError("derivative of a real power at 0")
        return ZERO
    if isinstance(x, Fraction) and isinstance(r, Fraction):
        p, q = _root(x.numerator, r.denominator), _root(x.denominator, r.denominator)
        if p is not None and q is not None and abs(r.numerator) < 64:
            return Fraction(p, q) ** r.numerator
    return exponential(multiply(r, logarithm(x)))


def _integer_power(x: Value, n: int) -> Value:
    if n < 0:
        return inverse(_integer_power(x, -n))
    if n == 0:
        return ONE
    if isinstance(x, Dual):
        return Dual(x.tag, _integer_power(x.value, n), multiply(Fraction(n), multiply(_integer_power(x.value, n - 1), x.slope)))
    if isinstance(x, Fraction) and n * (x.denominator.bit_length() + abs(x.numerator).bit_length()) < WIDEST:
        return x**n
    if n.bit_length() > LARGEST:
        raise UncertainError("a huge power")
    return Interval(libmpi.mpi_pow_int(interval(x).ends, n, BITS.get()))


def differ(x: Number, y: Number) -> bool:
    """Whether the two numbers certainly differ."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x != y
    try:
        return sign(add(x, negative(y))) != 0
    except UncertainError:
        return False


def agree(x: Number, y: Number, digits: int = 40) -> bool:
    """Whether the two numbers certainly agree to that many digits, absolute below 1 and relative above."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x == y
    difference = add(x, negative(y))
    assert not isinstance(difference, Dual)
    try:
        return interval(difference).magnitude < max(0, interval(x).magnitude) - 10 * digits // 3
    except UncertainError:
        return False


def contains(middle: tuple[int, int], radius: tuple[int, int], x: Number) -> bool:
    """Whether the ball, given by mantissas and exponents of 2, meets the enclosure of x."""
    bits = 4 * BITS.get()
    center, width = (libmp.from_man_exp(*part) for part in (middle, radius))
    low, high = libmp.mpf_sub(center, width, bits, libmp.round_floor), libmp.mpf_add(center, width, bits, libmp.round_ceiling)
    below, above = interval(x).ends
    return bool(libmp.mpf_le(low, above) and libmp.mpf_le(below, high))
