"""Which exact points were tried: how many, at which sizes, and with which magnitudes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any

from derivations.calculus.balls import Point
from derivations.calculus.variables import Variable


@dataclass
class Tried:
    """The number of points that were tried, the sizes among them, and the least and largest |x| > 0 by variable."""

    count: int = 0
    sizes: dict[Variable, set[int]] = field(default_factory=dict)
    magnitudes: dict[Variable, tuple[Fraction, Fraction]] = field(default_factory=dict)

    def note(self, point: Point) -> None:
        """Add a point."""
        self.count += 1
        for v, value in point.items():
            if v.domain.is_size:
                self.sizes.setdefault(v, set()).add(int(value))  # type: ignore[arg-type]
            elif not v.domain.is_index:
                for number in filter(None, _numbers(value)):
                    self._widen(v, abs(number))

    def _widen(self, v: Variable, number: Fraction) -> None:
        low, high = self.magnitudes.get(v, (number, number))
        self.magnitudes[v] = min(low, number), max(high, number)

    def __str__(self) -> str:
        """In words: 1,234 exact points, m 1…9, 16, |x| about 10^-30…10^30."""
        sizes = (f"{v.name} {_runs(sorted(values))}" for v, values in self.sizes.items())
        ranges = (f"|{v.name}| about {_power(low)}…{_power(high)}" for v, (low, high) in self.magnitudes.items())
        return ", ".join([f"{self.count:,} exact point{'s' * (self.count != 1)}", *sizes, *ranges])


def _numbers(value: Any) -> Iterator[Fraction]:
    if isinstance(value, Sequence):
        for part in value:
            yield from _numbers(part)
    else:
        yield Fraction(value)


def _runs(values: Sequence[int]) -> str:
    """Ascending numbers, with runs of at least three shortened: 1…3, 8."""
    parts: list[str] = []
    for _, run in groupby(enumerate(values), lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        parts += [f"{numbers[0]}…{numbers[-1]}"] if len(numbers) > 2 else map(_short, numbers)
    return ", ".join(parts)


def _short(number: int) -> str:
    power = len(str(number)) - 1
    return f"10^{power}" if power > 3 and number == 10**power else str(number)


def _power(number: Fraction) -> str:
    """The number to three digits, or if it is far from 1 the next power of 10 below it."""
    if Fraction(1, 1000) <= number <= 1000:
        return f"{float(number):.3g}"
    power = int((number.numerator.bit_length() - number.denominator.bit_length()) * math.log10(2))
    while Fraction(10) ** power > number:
        power -= 1
    while Fraction(10) ** (power + 1) <= number:
        power += 1
    return f"10^{power}"
