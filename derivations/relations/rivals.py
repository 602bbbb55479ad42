"""Exact feasible points near a candidate, any of which may be better than it."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from flint import arb


def feasible_near(entries: Sequence[arb]) -> Iterator[list[Fraction]]:
    """Exact points of the simplex: corners, the middle, then the candidate moved between each pair of coordinates."""
    for corner in range(len(entries)):
        yield [Fraction(int(i == corner)) for i in range(len(entries))]
    yield [Fraction(1, len(entries))] * len(entries)
    if not all(entry.is_finite() for entry in entries):
        return
    pairs = list(permutations(range(len(entries)), 2))
    neighbours = [pair for pair in pairs if (pair[0] - pair[1]) % len(entries) in (1, len(entries) - 1)]
    coarse, fine = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)), (Fraction(1, 10**4), Fraction(1, 10**8))
    tries = (
        (8, coarse, pairs),
        (64, coarse, pairs),
        (10**6, coarse, pairs),  # simple numbers first
        (10**15, fine, neighbours),
    )  # for candidates that are only just wrong
    for resolution, shares, exchanged in tries:
        start = _rounded(entries, resolution)
        if sum(start) == 1:  # this coordinate has a mass to move
            yield from (_moved(start, share, *pair) for share in shares for pair in exchanged)


def _rounded(entries: Sequence[arb], resolution: int) -> list[Fraction]:
    """The point of the simplex with this denominator near the entries."""
    counts = [max(0, round(float(entry.mid()) * resolution)) for entry in entries]  # works for exp(−10⁹), too
    return [Fraction(count, max(1, sum(counts))) for count in counts]


def _moved(start: Sequence[Fraction], share: Fraction, giver: int, taker: int) -> list[Fraction]:
    point = list(start)
    point[giver] -= share * start[giver]
    point[taker] += share * start[giver]
    return point


def plans_near(entries: Sequence[Sequence[arb]]) -> Iterator[list[list[Fraction]]]:
    """Exact plans with unit rows: the k-th exact point of the simplex near each row."""
    yield from map(list, zip(*(feasible_near(row) for row in entries), strict=False))
