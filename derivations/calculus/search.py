"""Descent over exact points of a domain, to find points where an inequality is tight or fails.

Every trial point belongs to the domain: scalars keep their sign, masses move within a simplex or along a cycle of a plan,
and multipliers stay 0 where they have to.  The result refutes a statement only after `admission` has checked it.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from derivations.calculus.balls import Point, Value
from derivations.calculus.variables import Variable

MOVES = tuple((scaled, sign) for sign in (1, -1) for scaled in (False, True))
Coordinate = tuple[Variable, tuple[int, ...], int]  # a variable, the place of an entry, and one that gives it mass


def descent(
    start: Point, height: Callable[[Point], float], admitted: Callable[[Point], bool], tries: int, seed: int = 0
) -> Iterator[Point]:
    """Yield points with ever smaller `height`, beginning with the start, found in the given number of tries."""
    rng = random.Random(seed)
    movable = [v for v in start if not (v.domain.is_integer or v.domain.is_random)]
    tied = [v for v in start if v.domain.marginals]
    best, lowest = dict(start), height(start)
    yield best
    for _ in range(tries if movable else 0):
        point = dict(best)
        for var in rng.sample(movable, rng.randint(1, min(2, len(movable)))):
            point[var] = var.domain.moved(_copied(point[var]), point, rng)
            _fit(tied, var, point)
        if point != best and (new_height := height(point)) < lowest and admitted(point):
            best, lowest = point, new_height
            yield best


def _fit(tied: Sequence[Variable], changed: Variable, point: dict[Variable, Value]) -> None:
    """Adjust those of the variables with marginals whose domain depends on the variable that was changed."""
    for var in tied:
        if changed in [marginal.label for marginal in var.domain.marginals]:
            point[var] = var.domain.fitted(point[var], point)


def along_coordinates(
    start: Point, height: Callable[[Point], float], admitted: Callable[[Point], bool], tries: int, finest: Fraction
) -> Iterator[Point]:
    """Yield points with ever smaller `height` that differ from the one before in one number, by ever smaller steps.

    A number is shifted or multiplied, a mass taken from its neighbour; what succeeds is repeated in steps twice as long.
    """
    best, lowest, step = dict(start), height(start), Fraction(1, 4)
    while step > finest:
        lower = False
        for coordinate, (scaled, sign) in ((each, move) for each in coordinates(best) for move in MOVES):
            length = step
            while (point := _shifted(best, coordinate, scaled, sign * length)) is not None:
                tries -= 1
                if tries < 0:
                    return
                if not ((new_height := height(point)) < lowest and admitted(point)):
                    break
                best, lowest, lower, length = point, new_height, True, 2 * length
                yield best
        step = step if lower else step / 8


def coordinates(point: Point) -> Iterator[Coordinate]:
    """The free scalars, the entries of free vectors and matrices, and the masses of simplexes, each with its neighbour."""
    for v, value in point.items():
        ways = () if _ties(point, v) else v.domain.ways
        for place in _places(value) if ways else ():
            yield from ((v, place, way) for way in (ways if place[-1:] != (0,) else ways[:1]))


def _ties(point: Point, v: Variable) -> bool:
    """Whether the domain of another variable depends on this one."""
    return any(v == marginal.label for other in point for marginal in other.domain.marginals)


def _places(value: Any) -> Iterator[tuple[int, ...]]:
    if isinstance(value, Sequence):
        yield from ((n, *rest) for n, part in enumerate(value) for rest in _places(part))
    else:
        yield ()


def _shifted(point: Point, coordinate: Coordinate, scaled: bool, step: Fraction) -> dict[Variable, Value] | None:
    """The point with one number moved; None where that leaves the domain or leads to a number that is too long."""
    v, place, way = coordinate
    if not place:
        row = [point[v]]
        return {**point, v: row[0]} if v.domain.step(row, 0, way, scaled, step) else None
    value: Any = _copied(point[v])
    row = value
    for n in place[:-1]:
        row = row[n]
    return {**point, v: value} if v.domain.step(row, place[-1], way, scaled, step) else None


def _copied(value: Value) -> Value:
    return [_copied(part) for part in value] if isinstance(value, list) else value
