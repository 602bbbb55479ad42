"""Masses, numbers ≥ 0 with sum 1: what a point of a simplex and a row of a plan have in common."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import sympy as sp

from derivations.domains.base import Domain, Point, rows_of
from derivations.domains.moves import LONGEST, simple

SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))


class Masses(Domain):
    """A domain whose rows, or whose only vector, are masses."""

    below_one = True

    def bounds(self, entry: sp.Indexed) -> Iterator[sp.Expr]:
        """No mass is above 1."""
        yield 1 - entry  # formal: rule_weight_below_one

    @property
    def ways(self) -> tuple[int, ...]:
        """A mass takes what it needs from a neighbour."""
        return (1, -1)

    def step(self, row: list[Any], own: int, way: int, scaled: bool, length: Fraction) -> bool:
        """Move a share of the neighbour's mass, or of its own to the neighbour."""
        if scaled or len(row) < 2:
            return False
        entry, other = Fraction(row[own]), (own + way) % len(row)
        giving = row[other] if length > 0 else -entry
        amount = simple(abs(length) * giving) if abs(length) < 1 else giving
        row[own], row[other] = entry + amount, row[other] - amount
        return all(map(self.sign.fits, (row[own], row[other]))) and bool(amount) and row[own].denominator < LONGEST

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Move a share of one mass to another, all of it only where masses may be 0."""
        row = rng.choice(rows_of(value, len(self.shape)))
        giver, taker = rng.randrange(len(row)), rng.randrange(len(row))
        share = rng.choice(SHARES[0 if self.sign.fits(Fraction(0)) else 1 :])
        amount = simple(row[giver] * share) if share < 1 else row[giver]
        row[giver] -= amount
        row[taker] += amount
        return value


def normalized(numbers: Sequence[Fraction]) -> list[Fraction]:
    """Weights ≥ 0 divided by their sum; equal masses for weights that are all 0."""
    total = sum(numbers, Fraction(0))
    return [number / total for number in numbers] if total else [Fraction(1, len(numbers))] * len(numbers)
