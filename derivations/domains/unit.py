"""Vectors of length 1, and matrices whose rows have length 1."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from math import prod
from random import Random
from typing import Any

import sympy as sp

from derivations.domains.base import Domain, Drawing, Point, Sign, Weights, in_rows, rows_of, shaped
from derivations.domains.nonzero import Nonzero

TURNS = (
    (Fraction(0), Fraction(1)),
    (Fraction(3, 5), Fraction(4, 5)),
    (Fraction(99, 101), Fraction(20, 101)),
    (Fraction(9999, 10001), Fraction(200, 10001)),
)  # cosines and sines


class Unit(Domain):
    """Vectors of length 1."""

    name = "unit"
    words = "of length 1"
    accepted = "vectors of length 1"
    sign = Sign.ANY
    axes = (1, 2)
    inside = (Nonzero,)
    adjective = True
    unit_rows = True

    @property
    def unexported(self) -> str:
        """Rocq is told nothing of lengths."""
        return "the length of"

    def bounds(self, entry: sp.Indexed) -> Iterator[sp.Expr]:
        """No number is above 1 or below −1."""
        yield from (1 - entry, 1 + entry)

    def lacking(self, value: Any, point: Point) -> str:
        """The squares of each row sum to 1."""
        rows = rows_of(value, len(self.shape))
        return "" if all(sum(number**2 for number in row) == 1 for row in rows) else self.accepted

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw each row, on an axis at a corner."""
        rows = [_drawn(sizes[-1], how.rng, how.corner) for _ in range(prod(sizes[:-1]))]
        return rows if len(sizes) == 2 else rows[0]

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """The weights of each row but the first, projected to the sphere."""
        return shaped(list(chain.from_iterable(on_sphere(row[1:]) for row in in_rows(weights.numbers, sizes))), sizes)

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Turn a row in the plane of two of its axes, or reverse one; its length stays."""
        row = rng.choice(value) if len(self.shape) == 2 else value
        i, j = rng.randrange(len(row)), rng.randrange(len(row))
        if i == j:
            row[i] = -row[i]
        else:
            cosine, sine = rng.choice(TURNS)
            row[i], row[j] = cosine * row[i] - sine * row[j], sine * row[i] + cosine * row[j]
        return value


def _drawn(size: int, rng: Random, corner: bool) -> list[Fraction]:
    """A rational vector of length 1, on an axis if wanted; projecting the sphere from a pole gives all others."""
    sign = rng.choice((1, -1))
    if corner or size == 1:
        axis = rng.randrange(size)
        return [Fraction(sign * int(i == axis)) for i in range(size)]
    entries = on_sphere([Fraction(rng.randint(-8, 8), 4) for _ in range(size - 1)])
    return rng.sample([*entries[:-1], sign * entries[-1]], size)


def on_sphere(flat: Sequence[Fraction]) -> list[Fraction]:
    """The vector of length 1 that the sphere's projection from a pole takes to this one, which has one entry less."""
    square = sum((x * x for x in flat), Fraction(0))
    return [*(2 * x / (square + 1) for x in flat), (square - 1) / (square + 1)]
