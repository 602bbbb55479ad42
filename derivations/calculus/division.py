"""Division without premature cancellation: x/x is kept as it is if x may be 0.

SymPy cancels x/x to 1, and 1/(1/x) to x, while an author's module runs, before any check can see it, so that Σ_j q_j/q_j = m
would be proved on the closed simplex.  Here the result of an author's `/`, `*` and `**` keeps a `reciprocal` of each divisor
that SymPy would cancel although it is not shown to be different from 0.  The normal form cancels it later, after
the conditions of definedness have been collected.
"""

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import FrameType
from typing import Any

import sympy as sp

from derivations.calculus.functions import reciprocal
from derivations.calculus.signs import nonzero
from derivations.calculus.variables import Variable

_WITHIN = ("sympy.", "derivations.calculus.", "derivations.relations.")  # code that only computes and makes no statements
_PASSING = ("sympy.core.numbers", "sympy.core.decorators")  # they pass the quotient of a number on


def _divisors(expr: Any) -> Iterator[sp.Expr]:
    """The divisors of a product."""
    for factor in sp.Mul.make_args(expr):
        if isinstance(factor, sp.Pow) and factor.exp.could_extract_minus_sign():
            yield factor.base


def _kept(plain: Any, divisors: list[sp.Expr]) -> Any:
    """A product, with the reciprocals of divisors that it no longer shows and that may be 0."""
    if not divisors or not isinstance(plain, sp.Expr):
        return plain
    shown = set(_divisors(plain))
    cancelled = [d for d in dict.fromkeys(divisors) if d not in shown and d.atoms(Variable) and not nonzero(d)]
    return sp.Mul(plain, *[sp.Mul(d, reciprocal(d)) for d in cancelled])


def _is_ours(depth: int = 2) -> bool:
    frame: FrameType | None = sys._getframe(depth)
    while frame and frame.f_globals.get("__name__") in _PASSING:
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__", "")).startswith(_WITHIN)


Operation = Callable[[Any, Any], Any]


def _guarded(operation: Operation, inverted: Callable[[Any, Any], Iterator[sp.Expr]]) -> Operation:
    @wraps(operation)
    def guarded(self: Any, other: Any) -> Any:
        plain = operation(self, other)
        return plain if _is_ours() else _kept(plain, list(inverted(self, other)))

    return guarded


def _of_product(one: Any, other: Any) -> Iterator[sp.Expr]:
    yield from _divisors(one)
    yield from _divisors(other)


def _of_quotient(numerator: Any, denominator: Any) -> Iterator[sp.Expr]:
    yield from _divisors(numerator)
    for factor in sp.Mul.make_args(denominator):  # 1/(1/x) has a value where 1/x has one that is not 0
        yield factor.base if isinstance(factor, sp.Pow) else factor


def _of_power(base: Any, _: Any) -> Iterator[sp.Expr]:
    yield from _divisors(base)


def install() -> None:
    """Guard the products, quotients and powers of SymPy's expressions, once."""
    if hasattr(sp.Expr.__truediv__, "__wrapped_by_division__"):
        return
    for name, inverted in (
        ("__mul__", _of_product),
        ("__truediv__", _of_quotient),
        ("__pow__", _of_power),
        ("__rmul__", _of_product),
        ("__rtruediv__", lambda one, other: _of_quotient(other, one)),
    ):
        guarded = _guarded(getattr(sp.Expr, name), inverted)
        guarded.__wrapped_by_division__ = True  # type: ignore[attr-defined]
        setattr(sp.Expr, name, guarded)
