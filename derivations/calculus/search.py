"""Descent over exact points of a domain, to find points where an inequality is tight or fails.

Every trial point belongs to the domain: scalars keep their sign, masses move within a simplex or along a cycle of a plan,
and multipliers stay 0 where they have to.  The result refutes a statement only after `admission` has checked it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from derivations.calculus.balls import Point, Value
from derivations.calculus.variables import Kind, Variable

FACTORS = (Fraction(1, 2), Fraction(2), Fraction(9, 10), Fraction(10, 9), Fraction(99, 100), Fraction(100, 99))
STEPS = (Fraction(1), Fraction(1, 4), Fraction(1, 50))
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
TURNS = (
    (Fraction(0), Fraction(1)),
    (Fraction(3, 5), Fraction(4, 5)),
    (Fraction(99, 101), Fraction(20, 101)),
    (Fraction(9999, 10001), Fraction(200, 10001)),
)  # cosines and sines
MASSES = (Kind.SIMPLEX, Kind.INTERIOR, Kind.STOCHASTIC)
SIGNED = (Kind.REAL, Kind.NONZERO)
LARGEST = 10**6  # of a denominator: what is moved on and on is rounded
SMALL = Fraction(1, 10**3)  # below it, the inverse is rounded
LONGEST = 10**60  # of a denominator that a move along a coordinate may lead to
HUGE = Fraction(10) ** 300  # a number's largest size, and the inverse of its smallest
MOVES = tuple((scaled, sign) for sign in (1, -1) for scaled in (False, True))
Coordinate = tuple[Variable, tuple[int, ...], int]  # a variable, the place of an entry, and one that gives it mass


def descent(
    start: Point, height: Callable[[Point], float], admitted: Callable[[Point], bool], tries: int, seed: int = 0
) -> Iterator[Point]:
    """Yield points with ever smaller `height`, beginning with the start, found in the given number of tries."""
    rng = random.Random(seed)
    movable = [v for v in start if v.domain.kind not in (Kind.SIZE, Kind.INDEX, Kind.RANDOM)]
    tied = [v for v in start if v.domain.marginals]
    best, lowest = dict(start), height(start)
    yield best
    for _ in range(tries if movable else 0):
        point = dict(best)
        for var in rng.sample(movable, rng.randint(1, min(2, len(movable)))):
            point[var] = _moved(var, point, rng)
            _fit(tied, var, point)
        if point != best and (new_height := height(point)) < lowest and admitted(point):
            best, lowest = point, new_height
            yield best


def _fit(tied: Sequence[Variable], changed: Variable, point: dict[Variable, Value]) -> None:
    """Adjust those of the variables with marginals whose domain depends on the variable that was changed."""
    for var in tied:
        if changed in [marginal.label for marginal in var.domain.marginals]:
            first, *rest = (point[marginal.label] for marginal in var.domain.marginals)
            if var.domain.kind is Kind.SLACK:
                point[var] = [x if mass == 0 else Fraction(0) for x, mass in zip(point[var], first, strict=True)]  # type: ignore[arg-type]
            else:
                point[var] = [[a * b for b in rest[0]] for a in first]  # type: ignore[union-attr]


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
        if v.domain.kind in (Kind.REAL, Kind.NONZERO, Kind.NONNEGATIVE, Kind.POSITIVE, Kind.STOCHASTIC) or (
            v.domain.kind in (Kind.SIMPLEX, Kind.INTERIOR) and not _ties(point, v)
        ):
            for place in _places(value):
                yield from ((v, place, way) for way in ((1, -1) if v.domain.kind in MASSES and place[-1:] != (0,) else (1,)))


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
    kind, value = v.domain.kind, _copied(point[v])
    if not place:
        number = _changed(Fraction(value), kind, scaled, step)  # type: ignore[arg-type]
        return None if number is None else {**point, v: number}
    row: Any = value
    for n in place[:-1]:
        row = row[n]
    own, entry = place[-1], Fraction(row[place[-1]])
    if kind in MASSES:
        if scaled or len(row) < 2:
            return None
        other = (own + way) % len(row)
        giving = row[other] if step > 0 else -entry
        amount = _simple(abs(step) * giving) if abs(step) < 1 else giving
        row[own], row[other] = entry + amount, row[other] - amount
        fine = min(row[own], row[other]) >= 0 and (kind is not Kind.INTERIOR or min(row[own], row[other]) > 0)
        return {**point, v: value} if fine and amount and row[own].denominator < LONGEST else None
    number = _changed(entry, kind, scaled, step)
    row[own] = number
    return None if number is None or (kind is Kind.NONZERO and not any(row)) else {**point, v: value}


def _changed(number: Fraction, kind: Kind, scaled: bool, step: Fraction) -> Fraction | None:
    factor = 1 + step if step > 0 else 1 / (1 - step)
    moved = number * factor if scaled else number + step
    if moved == number or (moved < 0 and kind not in SIGNED) or (moved == 0 and kind is Kind.POSITIVE):
        return None
    if abs(moved) > HUGE or 0 < abs(moved) < 1 / HUGE:
        return None
    return moved if moved.denominator < LONGEST else _simple(moved)


def _moved(var: Variable, point: Point, rng: random.Random) -> Value:
    kind, value = var.domain.kind, _copied(point[var])
    rank = len(var.domain.shape)
    if kind in (Kind.SIMPLEX, Kind.INTERIOR, Kind.STOCHASTIC):
        rows = value if rank == 2 else [value]
        _shift(rng.choice(rows), rng, closed=kind is not Kind.INTERIOR)  # type: ignore[arg-type]
        return value
    if kind is Kind.UNIT:
        _turn(rng.choice(value) if rank == 2 else value, rng)  # type: ignore[arg-type]
        return value
    if kind is Kind.COUPLING:
        _cycle(value, rng)
        return value
    if not rank:
        return _scalar(kind, Fraction(value), rng)  # type: ignore[arg-type]
    row, n = _entry(value, rank, rng)
    tied = kind is not Kind.SLACK and len(row) > 1 and rng.random() < 0.2
    slack = kind is Kind.SLACK and point[var.domain.marginals[0].label][n] != 0  # type: ignore[index]
    row[n] = row[n - 1] if tied else row[n] if slack else _scalar(kind, Fraction(row[n]), rng)
    if kind is Kind.NONZERO and not any(row):
        row[n] = Fraction(1)
    return value


def _copied(value: Value) -> Value:
    return [_copied(part) for part in value] if isinstance(value, list) else value


def _entry(value: Any, rank: int, rng: random.Random) -> tuple[list[Any], int]:
    """The row of an entry drawn at random, and the entry's index in it."""
    for _ in range(rank - 1):
        value = rng.choice(value)
    return value, rng.randrange(len(value))


def _scalar(kind: Kind, value: Fraction, rng: random.Random) -> Fraction:
    if kind is Kind.POSITIVE:
        return _simple(value * rng.choice(FACTORS)) or value
    if rng.random() < 0.1:
        return Fraction(0) if kind not in SIGNED or rng.random() < 0.5 else -value
    changed = value * rng.choice(FACTORS) if rng.random() < 0.5 else value + rng.choice((1, -1)) * rng.choice(STEPS)
    return _simple(changed if kind in SIGNED else abs(changed))


def _simple(value: Fraction) -> Fraction:
    """A fraction near the value that is short for its magnitude: a small one is one over a short one."""
    return 1 / (1 / value).limit_denominator(LARGEST) if 0 < abs(value) < SMALL else value.limit_denominator(LARGEST)


def _shift(row: list[Fraction], rng: random.Random, closed: bool) -> None:
    """Move a share of one mass to another, all of it only where masses may be 0."""
    giver, taker = rng.randrange(len(row)), rng.randrange(len(row))
    share = rng.choice(SHARES[0 if closed else 1 :])
    amount = _simple(row[giver] * share) if share < 1 else row[giver]
    row[giver] -= amount
    row[taker] += amount


def _turn(row: list[Fraction], rng: random.Random) -> None:
    """Turn a vector in the plane of two of its axes, or reverse one; its length stays."""
    i, j = rng.randrange(len(row)), rng.randrange(len(row))
    if i == j:
        row[i] = -row[i]
        return
    cosine, sine = rng.choice(TURNS)
    row[i], row[j] = cosine * row[i] - sine * row[j], sine * row[i] + cosine * row[j]


def _cycle(plan: Any, rng: random.Random) -> None:
    """Move mass along two rows and two columns, which leaves the marginals as they are."""
    i, k = rng.randrange(len(plan)), rng.randrange(len(plan))
    j, m = rng.randrange(len(plan[0])), rng.randrange(len(plan[0]))
    if i != k and j != m:
        amount = min(plan[i][j], plan[k][m]) * rng.choice(SHARES)
        for row, column, sign in ((i, j, -1), (k, m, -1), (i, m, 1), (k, j, 1)):
            plan[row][column] += sign * amount
