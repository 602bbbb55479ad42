"""The values of parts of a formula: numbers, vectors and matrices, given entry by entry.

The axes of `ones`, `zeros` and of the identity have no fixed length; they adapt to the other operand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Any

import sympy as sp

from derivations.calculus.division import product
from derivations.calculus.functions import xlogx
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, vector
from derivations.calculus.variables import scalar as variable
from derivations.domains import Index, Positive
from derivations.reader.syntax.tree import LatexError, Node, spelled

Size = Any  # a SymPy integer or size; None for any length


class RangeError(LatexError):
    """An index whose range differs from that of the axis it indexes."""


@dataclass(frozen=True)
class Value:
    """Entries over axes of the given sizes; `row` marks a transposed vector."""

    shape: tuple[Size, ...]
    entry: Callable[..., sp.Expr]
    row: bool = False

    @property
    def number(self) -> sp.Expr:
        """The value of a scalar."""
        if self.shape:
            raise LatexError(f"expected a number, got {self.words}")
        return self.entry()

    @property
    def words(self) -> str:
        """The shape in words, for messages."""
        kind = {0: "a number", 1: "a vector", 2: "a matrix"}.get(len(self.shape), "an array")
        return kind + (f" [{'×'.join('any' if size is None else str(size) for size in self.shape)}]" if self.shape else "")


@dataclass(frozen=True)
class Support(Value):
    """A point of a finite set, such as a template t: a row of `whole`, or its number when used as an argument."""

    whole: Value | None = None
    at: Variable | None = None


def support(value: Value, at: Variable) -> Support:
    """The row of a matrix of points that an index names."""
    return Support(value.shape[1:], lambda *indices: value.entry(at, *indices), False, value, at)


def scalar(expr: Any) -> Value:
    """A number."""
    written = sp.sympify(expr)
    return Value((), lambda: written)


ONES = Value((None,), lambda _: sp.S.One)
ZEROS = Value((None,), lambda _: sp.S.Zero)
IDENTITY = Value((None, None), lambda i, j: delta(i, j))

_numbers = count(1)


SYMMETRIC = ("symmetric", "semidefinite", "definite")


def symmetric(name: str, kind: str, rows: Size, columns: Size) -> Value:
    """A symmetric matrix R + Rᵀ of a free R, a positive semidefinite one RᵀR, a positive definite one RᵀR + cI with c > 0."""
    if rows != columns:
        raise LatexError(f"expected a square matrix, got {rows}×{columns}")
    root = vector(f"{name}root", rows, columns)
    if kind == "symmetric":
        return Value((rows, columns), lambda i, j: root[i, j] + root[j, i])
    least = variable(f"{name}least", Positive) if kind == "definite" else sp.S.Zero

    def entry(i: sp.Expr, j: sp.Expr) -> sp.Expr:
        l = bound(rows)  # noqa: E741
        return total(l, root[l, i] * root[l, j]) + least * delta(i, j)

    return Value((rows, columns), entry)


def bound(size: Size, name: str = "l", other_than: tuple[Variable, ...] = ()) -> Variable:
    """Return a fresh index over a size, distinct from all others."""
    if size is None:
        raise LatexError("expected a vector whose length is known, got only ones or an identity matrix")
    return Variable(f"{name}#{next(_numbers)}r", Index((size,), other_than))


def fits(one: Sequence[Size], other: Sequence[Size]) -> bool:
    """Return whether two shapes are compatible."""
    return len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def is_index(value: Value | None) -> bool:
    """Return whether a value is an index."""
    each = value.entry() if value is not None and not value.shape else None
    return isinstance(each, Variable) and each.domain.is_index


def common(one: Value, other: Value, what: str) -> tuple[Size, ...]:
    """The shape of two values that are combined entry by entry; a number takes any shape."""
    if not one.shape or not other.shape:
        return one.shape or other.shape
    if not fits(one.shape, other.shape):
        raise LatexError(f"{what}: expected two values of one shape, got {one.words} and {other.words}")
    return tuple(b if a is None else a for a, b in zip(one.shape, other.shape, strict=True))


def at(value: Value, indices: Sequence[sp.Expr]) -> sp.Expr:
    """An entry; a number is the same everywhere."""
    return value.entry(*indices) if value.shape else value.entry()


def entrywise(function: Callable[..., sp.Expr], *values: Value, what: str) -> Value:
    """A function of each entry."""
    shape = values[0].shape
    for other in values[1:]:
        shape = common(Value(shape, values[0].entry), other, what)
    row = any(value.row for value in values)
    return Value(shape, lambda *indices: function(*(at(value, indices) for value in values)), row)


def plus(one: Value, other: Value, sign: int) -> Value:
    """A sum, or a difference where the sign is −1."""
    if one.shape and other.shape and one.row != other.row:
        raise LatexError("sum: expected two rows or two columns, got one of each; write ⊤ at both or at none")
    return entrywise(lambda a, b: a + sign * b, one, other, what="sum")


def inner(one: Value, other: Value, what: str = "inner product") -> Value:
    """Σ_i a_i b_i, of matrices Σ_ij a_ij b_ij."""
    shape = common(one, other, what)
    if not one.shape or not other.shape:
        return scalar(product(one.number, other.number))
    indices = tuple(bound(size) for size in shape)
    return scalar(total(indices, product_of((one.entry(*indices), other.entry(*indices)))))


def transposed(value: Value) -> Value:
    """The transpose: a row from a column and the other way round."""
    if len(value.shape) == 2:
        return Value(value.shape[::-1], lambda i, j: value.entry(j, i))
    if len(value.shape) == 1:
        return Value(value.shape, value.entry, not value.row)
    return value


def times(one: Value, other: Value, what: str) -> Value:
    """The product of a number, vector or matrix with the next factor."""
    if not one.shape or not other.shape:
        shape = one.shape or other.shape
        return Value(shape, lambda *indices: product_of((at(one, indices), at(other, indices))), one.row or other.row)
    if len(one.shape) == 1 and len(other.shape) == 1:
        if one.row and not other.row:
            return inner(one, other, what)
        if other.row and not one.row:
            return Value((*one.shape, *other.shape), lambda i, j: product(one.entry(i), other.entry(j)))
        raise LatexError(
            f"{what}: two vectors side by side can be an inner product (a^\\top b) or a product of entries "
            "(a \\odot b); expected one of them"
        )
    if len(one.shape) == 1 and not one.row:
        raise LatexError(f"{what}: expected a row before a matrix, got a column; write ⊤")
    if len(other.shape) == 1 and other.row:
        raise LatexError(f"{what}: expected a column after a matrix, got a row")
    if not fits(one.shape[-1:], other.shape[:1]):
        raise LatexError(f"{what}: expected factors whose inner sizes agree, got {one.words} and {other.words}")
    size = other.shape[0] if one.shape[-1] is None else one.shape[-1]
    left, right = len(one.shape) - 1, len(other.shape) - 1

    def entry(*indices: sp.Expr) -> sp.Expr:
        l = bound(size)  # noqa: E741
        return total(l, product(one.entry(*indices[:left], l), other.entry(l, *indices[left : left + right])))

    if size is None:
        return Value((*one.shape[:-1], *other.shape[1:]), lambda *indices: delta(*indices))
    return Value((*one.shape[:-1], *other.shape[1:]), entry, one.row and right != 0)


def product_of(factors: Sequence[sp.Expr]) -> sp.Expr:
    """Return a product of numbers; y log(cy), continuous at y = 0, becomes xlogx(y) + y log c."""
    rest = [part for factor in factors for part in sp.Mul.make_args(sp.sympify(factor))]
    if (opened := next((part for part in rest if isinstance(part, sp.Add) and _vanishing(part, rest)), None)) is not None:
        others = [*rest]
        others.remove(opened)
        return sp.Add(*(product_of((*others, term)) for term in opened.args))  # y (log y − 1)
    for logarithm in [part for part in rest if isinstance(part, sp.log)]:
        inside = list(sp.Mul.make_args(logarithm.args[0]))
        vanishing = next((y for y in inside if y in rest and y.is_nonnegative and not y.is_positive), None)
        if vanishing is not None:
            inside.remove(vanishing)
            rest.remove(logarithm)
            rest.remove(vanishing)
            rest.append(xlogx(vanishing) + vanishing * sp.log(sp.Mul(*inside)))
    return reduce(product, rest, sp.S.One)


def _vanishing(terms: sp.Add, factors: Sequence[sp.Expr]) -> bool:
    """Return whether a sum has the logarithm of a factor that may be 0 outside of it, as y (log y − 1) has."""
    inside = [
        part
        for term in terms.args
        for each in sp.Mul.make_args(term)
        if isinstance(each, sp.log)
        for part in sp.Mul.make_args(each.args[0])
    ]
    return any(part in factors and part.is_nonnegative and not part.is_positive for part in inside)


def check_inverse(name: str, sup: Node | None) -> None:
    """Raise LatexError for f^{-1} before an argument."""
    if sup is not None and spelled(sup).startswith("-"):
        power = spelled(sup)
        raise LatexError(f"{name}^{{{power}}}: expected ({name}(…))^{{{power}}}, as it can be the inverse function")


def check_ranges(value: Value, indices: Sequence[sp.Expr], what: str) -> None:
    """Raise RangeError if the range of an index differs from that of its axis."""
    for size, index in zip(value.shape, indices, strict=False):
        if isinstance(index, Variable) and size is not None and index.domain.shape[0] != size:
            name = index.name.split("#")[0]
            raise RangeError(f"{what}: expected an index over {size}, got {name}, which runs over {index.domain.shape[0]}")


def coincide(one: sp.Expr, other: sp.Expr, what: str) -> sp.Expr:
    """Return 1 if two indices are equal and 0 otherwise; raises LatexError for different ranges."""
    ranges = {each.domain.shape for each in (one, other) if isinstance(each, Variable)}
    if len(ranges) > 1:
        raise LatexError(f"{what}: expected two indices over one range, got two ranges")
    return delta(one, other)
