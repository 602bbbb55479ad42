"""Admission of points: checks that an exact point lies in the declared domain of a statement.

Every refutation uses a point that passes this check.  The check shares no code with the generator of points (`points`)
and sees only the values of a point.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from numbers import Rational
from typing import Any

import sympy as sp

from derivations.calculus.balls import Point, Value
from derivations.calculus.variables import Kind, Variable


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
        if key.domain.kind is not Kind.INDEX:
            for part, length in zip(key.domain.shape, _lengths(key, value), strict=True):
                if isinstance(part, Variable) and point.setdefault(part, length) != length:
                    raise _refuse(key, value, f"{part.name} = {point[part]} entries")
    for key, value in assignment.items():
        known = {v for part in (*key.domain.shape, *key.domain.other_than) for v in part.free_symbols}
        if known | {m.label for m in key.domain.marginals} <= set(point):
            _check(key, value, point)
    return point


def _name(key: Any) -> str:
    return f"{key.name} {key.domain.kind.words}" if isinstance(key, Variable) else repr(key)


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


def _entries(var: Variable, value: Any) -> list[Fraction]:
    """All entries of a value as exact numbers."""
    flat = [value]
    for _ in var.domain.shape:
        flat = list(chain.from_iterable(flat))
    for entry in flat:
        if not isinstance(entry, Rational) or isinstance(entry, bool):
            raise _refuse(var, value, "exact rational numbers")
    return [Fraction(int(entry.numerator), int(entry.denominator)) for entry in flat]


def _at(expr: sp.Expr, var: Variable, value: Any, point: Point) -> int:
    """The value of a size, or of the range of an index."""
    try:
        return int(expr.xreplace({v: sp.Integer(point[v]) for v in expr.free_symbols}))
    except (KeyError, TypeError, ValueError, sp.SympifyError):
        raise _refuse(var, value, f"a point that gives {expr} an integer value") from None


def _whole(var: Variable, value: Any) -> int:
    if not isinstance(value, Rational) or isinstance(value, bool) or value.denominator != 1:
        raise _refuse(var, value, "an integer")
    return int(value.numerator)


def _check(var: Variable, value: Any, point: Point) -> None:
    kind, shape = var.domain.kind, var.domain.shape
    if kind is Kind.SIZE:
        if _whole(var, value) < 1:
            raise _refuse(var, value, "a size ≥ 1")
        return
    if kind is Kind.INDEX:
        _check_index(var, value, point)
        return
    if kind is Kind.RANDOM:
        raise _refuse(var, value, "no value: it is random")
    sizes = [_at(part, var, value, point) for part in shape]
    if _lengths(var, value) != sizes:
        raise _refuse(var, value, f"{'×'.join(map(str, sizes))} entries")
    entries = _entries(var, value)
    if kind is Kind.POSITIVE or kind is Kind.INTERIOR:
        accepted, fine = "positive numbers", all(entry > 0 for entry in entries)
    elif kind is Kind.REAL:
        return
    elif kind is Kind.UNIT:
        accepted, fine = "vectors of length 1", all(sum(entry**2 for entry in row) == 1 for row in _rows(value, shape))
    elif kind is Kind.NONZERO:
        accepted, fine = "vectors other than 0", all(map(any, _rows(value, shape)))
    else:
        accepted, fine = "numbers ≥ 0", all(entry >= 0 for entry in entries)
    if not fine:
        raise _refuse(var, value, accepted)
    _check_sums(var, value, entries, sizes, point)


def _rows(value: Any, shape: Sequence[sp.Expr]) -> list[list[Fraction]]:
    """The rows of a matrix, or a vector as the only one."""
    return [_exact(row) for row in value] if len(shape) == 2 else [_exact(value)]


def _check_index(var: Variable, value: Any, point: Point) -> None:
    position, high = _whole(var, value), _at(var.domain.shape[0], var, value, point)
    if not 1 <= position <= high:
        raise _refuse(var, value, f"an index in 1…{high}")
    for other in var.domain.other_than:
        if position == _at(other, var, value, point):
            raise _refuse(var, value, f"an index other than {other.name} = {position}")


def _check_sums(var: Variable, value: Any, entries: Sequence[Fraction], sizes: Sequence[int], point: Point) -> None:
    kind = var.domain.kind
    if kind in (Kind.SIMPLEX, Kind.INTERIOR) and sum(entries) != 1:
        raise _refuse(var, value, "entries with sum 1")
    if kind is Kind.STOCHASTIC and any(sum(_exact(row)) != 1 for row in value):
        raise _refuse(var, value, "rows with sum 1")
    if kind is Kind.COUPLING:
        rows, columns = (_exact(_marginal(var, value, m.label, point)) for m in var.domain.marginals)
        plan = [_exact(row) for row in value]
        if [sum(row) for row in plan] != rows or [sum(column) for column in zip(*plan, strict=True)] != columns:
            raise _refuse(var, value, f"a plan with the marginals {_shown(rows)} and {_shown(columns)}")
    if kind is Kind.SLACK:
        masses = _exact(_marginal(var, value, var.domain.marginals[0].label, point))
        if any(entry != 0 and mass != 0 for entry, mass in zip(entries, masses, strict=True)):
            raise _refuse(var, value, f"0 wherever {var.domain.marginals[0].label.name} is positive")


def _marginal(var: Variable, value: Any, label: Variable, point: Point) -> Any:
    if label not in point:
        raise _refuse(var, value, f"a point that gives {label.name} a value")
    return point[label]


def _exact(row: Any) -> list[Fraction]:
    return [Fraction(int(entry.numerator), int(entry.denominator)) for entry in row]
