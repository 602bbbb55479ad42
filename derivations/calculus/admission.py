"""Admission of points: checks that an exact point lies in the declared domain of a statement.

Every refutation uses a point that passes this check.  The check shares no code with the generator of points (`points`)
and sees only the values of a point.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import sympy as sp

from derivations.calculus.balls import Point, Value
from derivations.calculus.variables import Variable
from derivations.domains.base import whole_at


class NotAdmittedError(ValueError):
    """A point that is not in the declared domain of a statement."""


def admit(point: Point, names: Iterable[Variable]) -> None:
    """Check that a point gives a value in its domain to each of the variables, and to nothing else.

    Raises NotAdmittedError, which names the variable, its value and what is accepted.
    """
    names = list(names)
    for key in point:
        if key not in names:
            listed = ", ".join(v.name for v in names) or "none"
            raise NotAdmittedError(f"at: expected a variable of the statement ({listed}), got {_name(key)}")
    for var in names:
        if var not in point:
            raise NotAdmittedError(f"at: expected a value of {var.name}, got none")
        _check(var, point[var], point)


def completed(assignment: Mapping[Variable, Value], names: Iterable[Variable]) -> dict[Variable, Value]:
    """Return an assignment of values together with the sizes that follow from the lengths of its vectors.

    Raises NotAdmittedError for a key that is no variable of the statement and for values whose shapes contradict each other.
    """
    names, point = list(names), dict(assignment)
    for key, value in assignment.items():
        if key not in names:
            listed = ", ".join(v.name for v in names) or "none"
            raise NotAdmittedError(f"at: expected a variable of the statement ({listed}), got {_name(key)}")
        if not key.domain.is_index:
            for part, length in zip(key.domain.shape, _lengths(key, value), strict=True):
                if isinstance(part, Variable) and point.setdefault(part, length) != length:
                    raise _refuse(key, value, f"{part.name} = {point[part]} entries")
    for key, value in assignment.items():
        known = {v for part in (*key.domain.shape, *key.domain.other_than) for v in part.free_symbols}
        if known | {m.label for m in key.domain.marginals} <= set(point):
            _check(key, value, point)
    return point


def _name(key: Any) -> str:
    return f"{key.name} {key.domain.words}" if isinstance(key, Variable) else repr(key)


def _shown(value: Any) -> str:
    nested = isinstance(value, Sequence) and not isinstance(value, str)
    return "(" + ", ".join(map(_shown, value)) + ")" if nested else repr(value) if isinstance(value, str) else str(value)


def _refuse(var: Variable, value: Any, accepted: str) -> NotAdmittedError:
    return NotAdmittedError(f"at: expected {accepted} for {var.name}, got {_shown(value)}")


def _lengths(var: Variable, value: Any) -> list[int]:
    """The lengths of nested lists, which have to be rectangular and as deep as the shape of the variable."""
    lengths, level = [], [value]
    for _ in var.domain.shape:
        if not all(isinstance(part, Sequence) and not isinstance(part, str) for part in level):
            raise _refuse(var, value, f"{len(var.domain.shape)} axes of entries")
        counts = {len(part) for part in level}
        if len(counts) != 1 or not max(counts):
            raise _refuse(var, value, "rows of one length")
        lengths.append(counts.pop())
        level = [entry for part in level for entry in part]
    if any(isinstance(entry, Sequence) and not isinstance(entry, str) for entry in level):
        raise _refuse(var, value, f"{len(var.domain.shape)} axes of entries")
    return lengths


def _exact(var: Variable, value: Any) -> Any:
    """A value with exact numbers as entries."""

    def exact(part: Any) -> Any:
        if isinstance(part, Sequence) and not isinstance(part, str):
            return [exact(each) for each in part]
        if not isinstance(part, Rational) or isinstance(part, bool):
            raise _refuse(var, value, "exact rational numbers")
        return Fraction(int(part.numerator), int(part.denominator))

    return exact(value)


def _at(expr: sp.Expr, var: Variable, value: Any, point: Point) -> int:
    """The value of a size."""
    if (size := whole_at(expr, point)) is None:
        raise _refuse(var, value, f"a point that gives {expr} an integer value")
    return size


def _whole(var: Variable, value: Any) -> int:
    if not isinstance(value, Rational) or isinstance(value, bool) or value.denominator != 1:
        raise _refuse(var, value, "an integer")
    return int(value.numerator)


def _check(var: Variable, value: Any, point: Point) -> None:
    if var.domain.is_integer:
        exact: Any = _whole(var, value)
    else:
        sizes = [_at(part, var, value, point) for part in var.domain.shape]
        if _lengths(var, value) != sizes:
            raise _refuse(var, value, f"{'×'.join(map(str, sizes))} entries")
        exact = _exact(var, value)
    if accepted := var.domain.lacking(exact, point):
        raise _refuse(var, value, accepted)
