"""Multipliers of a point of a simplex: numbers ≥ 0 that are 0 wherever it is positive."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import sympy as sp

from derivations.domains.base import Domain, Drawing, Point, Sign, Weights, check_marginals, exact
from derivations.domains.moves import place, varied
from derivations.domains.simplex import Simplex


class Slack(Domain):
    """Vectors of numbers ≥ 0 that are complementary to a point of a simplex."""

    name = "slack"
    words = "≥ 0, and 0 wherever the plan is positive"
    accepted = "numbers ≥ 0"
    sign = Sign.NONNEGATIVE
    axes = (1,)
    phrase = "complement of"

    def _check_marginals(self) -> None:
        check_marginals(self, (Simplex,))

    @property
    def complements(self) -> tuple[sp.IndexedBase, ...]:
        """The point of the simplex."""
        return self.marginals

    def _masses(self, point: Point) -> Any:
        return point[self.marginals[0].label]

    def lacking(self, value: Any, point: Point) -> str:
        """The numbers have their sign, and are 0 beside masses that are not."""
        if reason := super().lacking(value, point):
            return reason
        label = self.marginals[0].label
        if label not in point:
            return f"a point that gives {label.name} a value"
        apart = all(number == 0 or mass == 0 for number, mass in zip(value, exact(point[label]), strict=True))
        return "" if apart else f"0 wherever {label.name} is positive"

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw numbers beside masses that are 0."""
        return [Fraction(0) if mass > 0 else Fraction(how.rng.randint(0, 8), 4) for mass in self._masses(point)]

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """The weights beside masses that are 0, by a factor."""
        numbers = zip(self._masses(point), weights.numbers, strict=True)
        return [Fraction(0) if mass > 0 else weights.factor * number for mass, number in numbers]

    def fitted(self, value: Any, point: Point) -> Any:
        """The numbers beside masses that are still 0."""
        return [number if mass == 0 else Fraction(0) for number, mass in zip(value, self._masses(point), strict=True)]

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Vary one number beside a mass that is 0."""
        row, n = place(value, 1, rng)
        if self._masses(point)[n] == 0:
            row[n] = varied(Fraction(row[n]), self.sign, rng)
        return value

    def hypotheses(self, name: str, sizes: Sequence[str], vectors: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The sign of each number, and the products that are 0."""
        yield from super().hypotheses(name, sizes, vectors)
        yield f"{name}_slack", f"forall i1, {name} i1 * {vectors[0]} i1 = 0"
