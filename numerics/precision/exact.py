"""Vectors with all their digits, and with the error that a computation in floating point may have.

Beside its entries, which are balls of some hundred digits, a vector carries a running error analysis: how many u each
entry would be off, to first order, had the same formula been computed in a dtype with u = eps. Every operation is off by u of
its result and passes on the errors of its arguments; a sum of m terms is off by m u of the sum of their magnitudes
(``numerics.tolerances``). What underflows is off by the smallest normal number. Inputs are exact.

References  Wilkinson, "Error analysis revisited" (1986), on running error bounds; Johansson, "Arb" (2017), on balls.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BITS = 320
"""Precision of the balls: 96 digits, of which cancellation may take nearly half."""

flint.ctx.prec = BITS


class Peak:
    """The largest magnitude that a computation meets: whether it stays in the range of a dtype."""

    def __init__(self, least: float) -> None:
        self.least, self.value = least, 0.0


@dataclass(frozen=True, eq=False)
class Exact:
    """A vector of balls with its error.

    Attributes:
        value: the entries.
        error: of each, in units of u.
        peak: shared by all that comes from the same inputs.
    """

    value: list[Any]
    error: Floats
    peak: Peak

    @staticmethod
    def of(numbers: Iterable[float], peak: Peak) -> "Exact":
        """Exact inputs."""
        value = [flint.arb(x) for x in numbers]
        return _noted(Exact(value, np.zeros(len(value)), peak))

    @cached_property
    def size(self) -> Floats:
        """The magnitudes, in float64."""
        return _sizes(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, key: int | slice | Sequence[int]) -> "Exact":
        if isinstance(key, slice):
            return Exact(self.value[key], self.error[key], self.peak)
        index = [key] if isinstance(key, int) else list(key)
        return Exact([self.value[i] for i in index], self.error[index], self.peak)

    def __add__(self, other: "Exact | float") -> "Exact":
        other = self._like(other)
        return self._made(_each(lambda x, y: x + y, self, other), self.error + other.error)

    def __sub__(self, other: "Exact | float") -> "Exact":
        return self + -self._like(other)

    def __neg__(self) -> "Exact":
        return Exact([-x for x in self.value], self.error, self.peak)

    def __mul__(self, other: "Exact | float") -> "Exact":
        other = self._like(other)
        return self._made(_each(lambda x, y: x * y, self, other), times(self.size, other.error) + times(other.size, self.error))

    def __truediv__(self, other: "Exact | float") -> "Exact":
        other = self._like(other)
        value = _each(lambda x, y: x / y, self, other)
        with np.errstate(all="ignore"):
            relative = np.nan_to_num(other.error / other.size)
            error = np.nan_to_num(self.error / other.size, nan=0.0) + _sizes(value) * relative
        return self._made(value, error)

    def __rsub__(self, other: float) -> "Exact":
        return -self + other

    def __rtruediv__(self, other: float) -> "Exact":
        return self._like(other) / self

    def exp(self) -> "Exact":
        """e^x."""
        value = [x.exp() for x in self.value]
        return self._made(value, times(_sizes(value), self.error))

    def log(self) -> "Exact":
        """The natural logarithm."""
        with np.errstate(all="ignore"):
            return self._made([x.log() for x in self.value], np.nan_to_num(self.error / self.size))

    def expm1(self) -> "Exact":
        """e^x − 1."""
        value = [x.expm1() for x in self.value]
        return self._made(value, times(1 + _sizes(value), self.error))

    def square(self) -> "Exact":
        """x²."""
        return self * self

    def power(self, exponent: "Exact") -> "Exact":
        """x^r for x > 0, and 0 for x = 0; with r = 0, 1."""
        r = self._like(exponent)
        value = _each(lambda x, y: x**y if x != 0 else flint.arb(int(y == 0)), self, r)
        with np.errstate(all="ignore"):
            sensitivity = np.nan_to_num(r.size * self.error / self.size, nan=0.0) + np.nan_to_num(
                np.abs(np.log(self.size)) * (r.error + r.size), nan=0.0, posinf=0.0, neginf=0.0
            )
        return self._made(value, times(_sizes(value), sensitivity))

    def clamped(self) -> "Exact":
        """max(x, 0)."""
        return Exact([x if x > 0 else flint.arb(0) for x in self.value], self.error, self.peak)

    def abs(self) -> "Exact":
        """|x|."""
        return Exact([abs(x) for x in self.value], self.error, self.peak)

    def sum(self) -> "Exact":
        """The sum of the entries, a vector of one."""
        total = sum(self.value, flint.arb(0))
        error = self.error.sum() + len(self) * self.size.sum()
        return _noted(Exact([total], np.array([error]), self.peak))

    def max(self) -> "Exact":
        """The largest entry, a vector of one."""
        largest = max(range(len(self)), key=lambda i: self.value[i].mid())
        return self[largest]

    def exactly(self) -> "Exact":
        """The same without its error, as an exact input."""
        return Exact(self.value, np.zeros(len(self)), self.peak)

    def off_by(self, error: Floats) -> "Exact":
        """The same with this error."""
        return Exact(self.value, np.broadcast_to(error, (len(self),)).astype(float), self.peak)

    def _like(self, other: "Exact | float") -> "Exact":
        return other if isinstance(other, Exact) else Exact([flint.arb(other)], np.zeros(1), self.peak)

    def _made(self, value: list[Any], passed_on: Floats) -> "Exact":
        made = _noted(Exact(value, passed_on, self.peak))
        with np.errstate(over="ignore"):
            # A number that is exactly 0 underflows nowhere.
            added = made.size + np.where([x == 0 for x in value], 0.0, self.peak.least)
            return Exact(value, passed_on + added, self.peak)


def dot(left: Exact, right: Exact) -> Exact:
    """The sum of the products, a vector of one."""
    return (left * right).sum()


def joined(parts: Iterable[Exact]) -> Exact:
    """The entries of all, in one vector."""
    vectors = list(parts)
    return Exact([x for part in vectors for x in part.value], np.concatenate([part.error for part in vectors]), vectors[0].peak)


def products(rows: Sequence[Exact], vector: Exact) -> Exact:
    """The product of a matrix, given by its rows, with a vector."""
    return joined(dot(row, vector) for row in rows)


def transposed(rows: Sequence[Exact]) -> list[Exact]:
    """The columns of a matrix, given by its rows."""
    return [joined(row[j] for row in rows) for j in range(len(rows[0]))]


def _noted(made: Exact) -> Exact:
    made.peak.value = max(made.peak.value, float(np.nan_to_num(made.size, nan=0.0, posinf=np.inf).max(initial=0.0)))
    return made


def _each(f: Callable[[Any, Any], Any], x: Exact, y: Exact) -> list[Any]:
    left, right = x.value, y.value
    if len(left) == len(right):
        return [f(a, b) for a, b in zip(left, right, strict=True)]
    if len(right) == 1:
        return [f(a, right[0]) for a in left]
    if len(left) == 1:
        return [f(left[0], b) for b in right]
    raise ValueError(f"other: expected {len(left)} entries or 1, got {len(right)}")


def _sizes(value: Sequence[Any]) -> Floats:
    return np.array([abs(float(x)) for x in value])


def times(x: Floats, y: Floats) -> Floats:
    """The products, where 0 · ∞ = 0."""
    with np.errstate(all="ignore"):
        product: Floats = np.where((x == 0) | (y == 0), 0.0, x * y)
    return product
