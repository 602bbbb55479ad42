"""Numbers with slopes, by Rocq's conventions: 1/0 = 0, ln x = 0 for x ≤ 0, √x = 0 for x < 0."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from flint import arb

LEVELS = count(1)  # of the kinds of ε: a slope inside of another begins later


@dataclass(frozen=True)
class Dual:
    """A number a + bε of one of several kinds of ε, the deeper of which has the larger level."""

    level: int
    value: Any
    slope: Any


def _split(x: Any, level: int) -> tuple[Any, Any]:
    return (x.value, x.slope) if isinstance(x, Dual) and x.level == level else (x, arb(0))


def _binary(x: Any, y: Any, plain: Callable[[Any, Any], Any], rule: Callable[[Any, Any, Any, Any], Any]) -> Any:
    level = max((z.level for z in (x, y) if isinstance(z, Dual)), default=0)
    if not level:
        return plain(x, y)
    (a, b), (c, d) = _split(x, level), _split(y, level)
    return Dual(level, _binary(a, c, plain, rule), rule(a, b, c, d))


def add(x: Any, y: Any) -> Any:
    """The sum."""
    return _binary(x, y, lambda a, c: a + c, lambda a, b, c, d: add(b, d))


def multiply(x: Any, y: Any) -> Any:
    """The product."""
    return _binary(x, y, lambda a, c: a * c, lambda a, b, c, d: add(multiply(a, d), multiply(b, c)))


def _unary(x: Any, plain: Callable[[arb], arb], slope: Callable[[Any], Any]) -> Any:
    if isinstance(x, Dual):
        return Dual(x.level, _unary(x.value, plain, slope), multiply(slope(x.value), x.slope))
    return plain(x)


def _zero_or(plain: Callable[[arb], arb], wrong: Callable[[arb], bool]) -> Callable[[arb], arb]:
    return lambda x: arb(0) if wrong(x) else plain(x)


def inverse(x: Any) -> Any:
    """1/x."""
    return _unary(x, _zero_or(lambda a: 1 / a, lambda a: bool(a == 0)), lambda a: multiply(arb(-1), power(inverse(a), 2)))


def power(x: Any, n: int) -> Any:
    """x to the n."""
    result: Any = arb(1)
    for _ in range(n):
        result = multiply(result, x)
    return result


def exp(x: Any) -> Any:
    """e to the x."""
    return _unary(x, arb.exp, exp)


def ln(x: Any) -> Any:
    """The logarithm."""
    return _unary(x, _zero_or(arb.log, lambda a: bool(a <= 0)), inverse)


def sqrt(x: Any) -> Any:
    """The root."""
    return _unary(x, _zero_or(arb.sqrt, lambda a: bool(a < 0)), lambda a: inverse(multiply(arb(2), sqrt(a))))


def xlogx(x: Any) -> Any:
    """x ln x."""
    return multiply(x, ln(x))


def kl(y: Any, x: Any) -> Any:
    """y ln y − y ln x − y + x."""
    return add(add(xlogx(y), multiply(arb(-1), multiply(y, ln(x)))), add(multiply(arb(-1), y), x))


FUNCTIONS: dict[str, Callable[..., Any]] = {"expR": exp, "ln": ln, "xlogx": xlogx, "kl": kl, "plus": lambda x: x.max(arb(0))}
