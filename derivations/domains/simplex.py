"""Points of the closed simplex: numbers ≥ 0 that sum to 1 over all axes."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from random import Random
from typing import Any, ClassVar

from derivations.domains.base import Domain, Drawing, Point, Sign, Weights, flat, shaped
from derivations.domains.masses import Masses, normalized
from derivations.domains.nonnegative import Nonnegative


class Simplex(Masses):
    """Numbers ≥ 0 with sum 1."""

    name = "simplex"
    words = "≥ 0 with sum 1"
    accepted = "numbers ≥ 0"
    sign = Sign.NONNEGATIVE
    axes = (1, 2, 3)
    inside: ClassVar[tuple[type[Domain], ...]] = (Nonnegative,)
    noun = (1, 2)

    @property
    def unit_mass(self) -> int:
        """The sum over all axes is 1."""
        return len(self.shape)

    def positive_along(self, even: bool) -> int:
        """One of all masses is > 0."""
        return len(self.shape)

    def lacking(self, value: Any, point: Point) -> str:
        """The masses have their sign and the sum 1."""
        return super().lacking(value, point) or ("" if sum(flat(value)) == 1 else "entries with sum 1")

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw weights, all but one of them 0 at a corner where masses may be."""
        corner = how.corner and self.sign.fits(Fraction(0))
        weights = [0 if corner and i else how.rng.randint(*how.masses) for i in range(prod(sizes))]
        return shaped([Fraction(weight, sum(weights)) for weight in weights], sizes)

    def face(self, sizes: Sequence[int], rng: Random) -> Any:
        """Draw a vector with some masses that are 0, as a rule."""
        if len(sizes) > 1:
            return None
        weights = [rng.choice((0, 0, 1, 2, 5)) for _ in range(sizes[0])]
        weights[rng.randrange(sizes[0])] += 1
        return [Fraction(weight, sum(weights)) for weight in weights]

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """The weights divided by their sum, after 1 has replaced those that are 0 where a mass may not be."""
        return shaped(normalized([number if self.sign.fits(number) else Fraction(1) for number in weights.numbers]), sizes)

    def hypotheses(self, name: str, sizes: Sequence[str], vectors: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The sign of each mass, and the sum."""
        yield from super().hypotheses(name, sizes, vectors)
        indices = [f"i{n}" for n in range(1, len(sizes) + 1)]
        sums = "".join(f"\\Sum_({index} < {size}) " for index, size in zip(indices, sizes, strict=True))
        yield f"{name}_mass", f"{sums}{' '.join([name, *indices])} = 1"
