"""Numbers, and vectors and matrices of numbers, that are free within their sign."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

from derivations.domains.base import Domain, Drawing, Point, Weights, shaped
from derivations.domains.moves import varied, vary


class Interval(Domain):
    """A domain each number of which may be any number of its sign."""

    adjective = True
    is_independent = True
    has_slope = True

    @property
    def ways(self) -> tuple[int, ...]:
        """A number moves alone."""
        return (1,)

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw each number; at a corner all are the same."""
        count = prod(sizes)
        numbers = [how.number(self.sign)] * count if how.corner else [how.number(self.sign) for _ in range(count)]
        return shaped(numbers, sizes)

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """The weights by a factor, 1 for those that are 0 where a number may not be."""
        return shaped([weights.factor * (number if self.sign.fits(number) else 1) for number in weights.numbers], sizes)

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Vary one number, or make it equal to the one before."""
        if not self.shape:
            return varied(Fraction(value), self.sign, rng)
        vary(value, len(self.shape), self.sign, rng)
        return value
