"""Vectors other than 0, and matrices without a row of zeros."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import prod
from random import Random
from typing import Any

from derivations.domains.base import Domain, Drawing, Point, Sign, Weights, in_rows, rows_of, shaped
from derivations.domains.moves import vary
from derivations.domains.real import Real


class Nonzero(Domain):
    """Vectors other than 0."""

    name = "nonzero"
    words = "other than 0"
    accepted = "vectors other than 0"
    sign = Sign.ANY
    axes = (1, 2)
    inside = (Real,)
    adjective = True
    has_slope = True

    @property
    def unexported(self) -> str:
        """Rocq is told nothing of lengths."""
        return "the length of"

    def positive_along(self, even: bool) -> int:
        """A row has an even power that is > 0."""
        return int(even)

    def lacking(self, value: Any, point: Point) -> str:
        """Each row needs a number other than 0."""
        return "" if all(map(any, rows_of(value, len(self.shape)))) else self.accepted

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw each row; with only one other entry, as a corner."""
        rows = [_drawn(sizes[-1], how) for _ in range(prod(sizes[:-1]))]
        return rows if len(sizes) == 2 else rows[0]

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """The weights; the first of a row of zeros is 1."""
        rows = ([*row] if any(row) else [Fraction(1), *row[1:]] for row in in_rows(weights.numbers, sizes))
        return shaped(list(chain.from_iterable(rows)), sizes)

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Vary one number; it becomes 1 if nothing is left of the row."""
        row, n = vary(value, len(self.shape), self.sign, rng)
        if not any(row):
            row[n] = Fraction(1)
        return value

    @property
    def ways(self) -> tuple[int, ...]:
        """A number moves alone."""
        return (1,)

    def step(self, row: list[Any], own: int, way: int, scaled: bool, length: Fraction) -> bool:
        """Move one number while something is left of the row."""
        return super().step(row, own, way, scaled, length) and any(row)


def _drawn(size: int, how: Drawing) -> list[Fraction]:
    entries = [Fraction(0) if how.corner else how.number(Sign.ANY) for _ in range(size)]
    if not any(entries):
        entries[how.rng.randrange(size)] = how.number(Sign.POSITIVE)
    return entries
