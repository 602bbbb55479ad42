"""Products, quotients and powers without premature cancellation: x/x is kept as it is if x may be 0.

SymPy cancels x/x to 1, and 1/(1/x) to x, before any check can see it, so that Σ_j q_j/q_j = m would be proved on the closed
simplex.  Here a result keeps a `reciprocal` of each divisor that SymPy would cancel although it is not shown to be different
from 0.  The normal form cancels it later, after the conditions of definedness have been collected.  The `*`, `/` and `**` of a
document's modules are these functions (see `derivations.authored`); other code that states something calls them by name.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import imul, ipow, itruediv
from typing import Any

import sympy as sp

from derivations.calculus.functions import reciprocal
from derivations.calculus.signs import nonzero
from derivations.calculus.variables import Variable

__all__ = ["KEYS", "imul", "ipow", "itruediv", "power", "product", "quotient"]

Operation = Callable[[Any, Any], Any]


def product(one: Any, other: Any, by: Operation = operator.mul) -> Any:
    """Return one * other, with the reciprocals of cancelled divisors that may be 0.

    The operands may be of any types that can be multiplied; `by` is the operator to apply, such as that of `*=`.
    """
    plain = by(one, other)
    return _kept(plain, lambda: chain(_divisors(one), _divisors(other)))


def quotient(numerator: Any, denominator: Any, by: Operation = operator.truediv) -> Any:
    """Return numerator / denominator, as `product` does."""
    plain = by(numerator, denominator)
    return _kept(plain, lambda: _of_denominator(denominator))  # which names each divisor of the numerator that it cancels


def power(base: Any, exponent: Any, by: Operation = operator.pow) -> Any:
    """Return base ** exponent, as `product` does."""
    plain = by(base, exponent)
    return _kept(plain, lambda: _divisors(base))


def _divisors(expr: Any) -> Iterator[sp.Expr]:
    """The divisors of a product."""
    for factor in sp.Mul.make_args(expr):
        if isinstance(factor, sp.Pow) and factor.exp.could_extract_minus_sign():
            yield factor.base


def _of_denominator(denominator: Any) -> Iterator[sp.Expr]:
    """What is divided by, and what must not be 0 in it: 1/(1/x) has a value where 1/x has one that is not 0."""
    for factor in sp.Mul.make_args(denominator):
        yield factor.base if isinstance(factor, sp.Pow) else factor


def _kept(plain: Any, divisors: Callable[[], Iterable[sp.Expr]]) -> Any:
    """A product, with the reciprocals of divisors that it no longer shows and that may be 0."""
    if not isinstance(plain, sp.Expr):
        return plain
    shown = set(_divisors(plain))
    cancelled = [d for d in dict.fromkeys(divisors()) if d not in shown and d.atoms(Variable) and not nonzero(d)]
    return sp.Mul(plain, *[sp.Mul(d, reciprocal(d)) for d in cancelled])


class _Keys:
    """Gives back what it is indexed with: `KEYS[1:2]` is a slice."""

    def __getitem__(self, key: Any) -> Any:
        return key


KEYS = _Keys()
