"""Plans with unit rows and free columns: matrices of numbers ≥ 0 whose rows sum to 1."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from random import Random
from typing import Any

import sympy as sp

from derivations.domains.base import Drawing, Point, Sign, Weights, in_rows, shaped
from derivations.domains.masses import Masses, normalized
from derivations.domains.nonnegative import Nonnegative
from derivations.domains.nonzero import Nonzero


class Stochastic(Masses):
    """Matrices of numbers ≥ 0 with rows of sum 1."""

    name = "stochastic"
    words = "≥ 0 with rows of sum 1"
    accepted = "numbers ≥ 0"
    sign = Sign.NONNEGATIVE
    axes = (2,)
    inside = (Nonnegative, Nonzero)
    noun = (2,)

    @property
    def unit_mass(self) -> int:
        """Each row sums to 1."""
        return 1

    @property
    def line_sums(self) -> tuple[tuple[int, sp.IndexedBase | None], ...]:
        """The rows have known sums, the columns have not."""
        return ((1, None),)

    def positive_along(self, even: bool) -> int:
        """One mass of each row is > 0."""
        return 1

    def lacking(self, value: Any, point: Point) -> str:
        """The masses have their sign, and each row the sum 1."""
        return super().lacking(value, point) or ("" if all(sum(row) == 1 for row in value) else "rows with sum 1")

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw each row, a vertex at a corner."""
        return [_drawn(sizes[1], how.rng, how.corner) for _ in range(sizes[0])]

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """The weights of each row divided by their sum."""
        return shaped(list(chain.from_iterable(map(normalized, in_rows(weights.numbers, sizes)))), sizes)

    def hypotheses(self, name: str, sizes: Sequence[str], vectors: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The sign of each mass, and the sums of the rows."""
        yield from super().hypotheses(name, sizes, vectors)
        yield f"{name}_rows", f"forall i1, \\Sum_(i2 < {sizes[1]}) {name} i1 i2 = 1"


def _drawn(size: int, rng: Random, corner: bool) -> list[Fraction]:
    if corner:
        vertex = rng.randrange(size)
        return [Fraction(int(i == vertex)) for i in range(size)]
    return normalized([Fraction(rng.randint(0, 9)) for _ in range(size)])
