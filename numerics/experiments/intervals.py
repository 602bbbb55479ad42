"""Means of independent values, such as those of several seeds, with Student's 95 % intervals."""

import math
from dataclasses import dataclass

from scipy.stats import t as student

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and half the width of its 95 % interval, None for a single value."""

    mean: float
    half_width: float | None

    @property
    def verdict(self) -> str:
        """Whether zero is left out, and on which side."""
        if self.half_width is None or abs(self.mean) <= self.half_width:
            return "not told apart"
        return "higher" if self.mean > 0 else "lower"


def interval(values: list[float]) -> Interval:
    """Return the mean of independent values with Student's 95 % interval; raises ValueError if there are no values."""
    count = len(values)
    if not count:
        raise ValueError("values: none given")
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean, None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Interval(mean, float(student.ppf((1 + LEVEL) / 2, count - 1)) * math.sqrt(variance / count))
