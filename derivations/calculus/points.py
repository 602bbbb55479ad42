"""Exact sample points in the declared domains: ties and zeros first, then small numbers, then far, odd and close ones.

A statement may be false only for m ≥ 4, only for large scores, only near 1/7, or only at low temperature; the later rounds
cover these cases.  Sampling proves nothing: a point can only refute, after `admission` has checked it.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import count, islice, product
from math import prod
from typing import Any

import sympy as sp

from derivations.calculus.admission import completed
from derivations.calculus.balls import Point, Sample, Value
from derivations.calculus.variables import Variable
from derivations.domains.base import MASSES, Drawing, Sign, shaped

CORNERS = 6  # rounds of ties and zeros at sizes 1 to 3
SMALL = 24  # rounds, those included, of quarters at sizes 1 to 3
POSITIONS = 8  # of the indices, in a later round: a tie, then random ones


@dataclass(frozen=True)
class Round:
    """How the numbers of a later round are drawn, and at which sizes."""

    sizes: tuple[int, ...]
    magnitude: Callable[[random.Random], Fraction]  # > 0
    tied: bool = False  # all scalars and entries are one number, up to their sign
    sparse: bool = False  # half of the masses of a simplex are 0
    even: bool = False  # the masses of a simplex are nearly equal


def _up_to(low: int, high: int, denominator: int) -> Callable[[random.Random], Fraction]:
    return lambda rng: Fraction(rng.randint(low, high), denominator)


def _close(rng: random.Random) -> Fraction:
    return 1 + Fraction(rng.randint(-3, 3), 10**7)


def _odd(rng: random.Random) -> Fraction:
    return rng.choice((Fraction(1, 7), Fraction(22, 7), Fraction(1, 3), Fraction(355, 113), Fraction(5, 11), Fraction(13, 17)))


def _wide(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(1, 9)) * Fraction(10) ** rng.randint(-6, 4)


LATER = (
    Round((2, 3), lambda rng: Fraction(1), tied=True),
    Round((4, 5), _up_to(1, 12, 4)),
    Round((3, 2), _up_to(1, 15, 100)),  # near 0
    Round((2, 4), _up_to(4, 40, 1)),  # far from 0
    Round((2, 3), _odd),
    Round((3, 4), _close, even=True),
    Round((2, 2), _close, even=True),
    Round((5, 4), _up_to(1, 12, 4), sparse=True),
    Round((3, 3), lambda rng: Fraction(1, 7), tied=True),
    Round((2, 2), _up_to(50, 2000, 1)),
    Round((2, 3), _wide),
    Round((7, 6), _up_to(1, 30, 4)),
    Round((4, 2), _odd, sparse=True),
    Round((3, 2), _up_to(1, 99, 10000)),
    Round((2, 2), _wide, tied=True),
    Round((6, 5), _wide, sparse=True),
    Round((2, 5), _up_to(12, 100, 10)),
)


def points(
    names: Sequence[Variable], fixed: Point | None = None, seed: int = 0, rounds: int = SMALL + len(LATER)
) -> Iterator[dict[Variable, Value]]:
    """Exact points in the domains of the variables: every size from 1 up, ties and zeros first, then random.

    Every point has the values in `fixed` and the sizes that follow from them.  Points whose indices cannot differ as
    declared (k ≠ j at m = 1) are left out.  Raises NotAdmittedError for fixed values that are outside of their domain.
    """
    key = _as_key(fixed or {})
    if key is None:
        yield from _drawn(names, fixed or {}, seed, rounds)
    else:
        yield from _sample(tuple(names), key, seed, rounds)


@dataclass(frozen=True)
class _Values:
    """Fixed values, all of types for exact numbers, as part of a cache key."""

    key: tuple[Any, ...]
    at: Point = field(compare=False)


def _as_key(fixed: Point) -> _Values | None:
    """Fixed values as a key that tells 1 from True; None for a value of another type, whose equality may mean anything."""
    try:
        return _Values(tuple((var, _typed(value)) for var, value in fixed.items()), {v: deepcopy(x) for v, x in fixed.items()})
    except TypeError:
        return None


def _typed(value: Any) -> tuple[Any, ...]:
    if type(value) in (list, tuple):
        return type(value), *map(_typed, value)
    if type(value) in (int, Fraction, sp.Integer, sp.Rational):
        return type(value), value
    raise TypeError(f"value: expected exact numbers, got {type(value).__name__}")


class _Sample:
    """Points that are drawn lazily and stored."""

    def __init__(self, drawn: Iterator[dict[Variable, Value]]) -> None:
        self.drawn = drawn
        self.points = list(map(Sample, islice(drawn, 1)))  # what cannot be drawn is refused with the first point

    def __iter__(self) -> Iterator[dict[Variable, Value]]:
        for n in count():
            if n == len(self.points):
                self.points += map(Sample, islice(self.drawn, 1))
            if n == len(self.points):
                return
            yield self.points[n]


@lru_cache(maxsize=8)  # statements of one claim are about the same variables
def _sample(names: tuple[Variable, ...], fixed: _Values, seed: int, rounds: int) -> _Sample:
    return _Sample(_drawn(names, fixed.at, seed, rounds))


def _drawn(names: Sequence[Variable], fixed: Point, seed: int, rounds: int) -> Iterator[dict[Variable, Value]]:
    rng = random.Random(seed)
    start = completed(fixed, names)
    for turn in range(rounds):
        point = dict(start)
        sizes = [v for v in names if v.domain.is_size and v not in point]
        later = LATER[turn - SMALL] if turn >= SMALL else None
        for offset, var in enumerate(sizes):
            point[var] = later.sizes[offset % 2] if later else 1 + (turn + offset * (turn // 3)) % 3
        indices = [v for v in names if v.domain.is_index and v not in point]
        others = [v for v in names if v not in point and v not in indices]
        others.sort(key=lambda v: bool(v.domain.marginals))
        if later:
            _draw_later(later, others, point, rng)
            yield from _some(rng, list(with_indices(indices, point)))
        else:
            _draw_early(turn, others, point, rng)
            yield from with_indices(indices, point)


def _draw_early(turn: int, others: Sequence[Variable], point: dict[Variable, Value], rng: random.Random) -> None:
    faces = _complemented(others)
    corner = turn < CORNERS
    how = Drawing(rng, lambda sign: _quarters(sign, rng), corner=corner)
    for order, var in enumerate(others):
        sizes = extents(var, point)
        point[var] = drawn(var, sizes, point, how)
        if not corner and var in faces:  # zeros, where the multipliers may be positive
            point[var] = var.domain.face(sizes, rng)
        if corner and (order + turn // 3) % 2 == 0 and var.domain.is_independent and var.domain.sign.fits(Fraction(0)):
            point[var] = shaped([Fraction(0)] * prod(sizes), sizes)


def _draw_later(later: Round, others: Sequence[Variable], point: dict[Variable, Value], rng: random.Random) -> None:
    faces = _complemented(others)
    tie = later.magnitude(rng)

    def number(sign: Sign) -> Fraction:
        value = tie if later.tied else later.magnitude(rng)
        return value if sign is not Sign.ANY or later.tied or rng.random() < 0.5 else -value

    how = Drawing(rng, number, (95, 105) if later.even else MASSES)
    for var in others:
        sizes = extents(var, point)
        face = var.domain.face(sizes, rng) if later.sparse or var in faces else None
        point[var] = drawn(var, sizes, point, how) if face is None else face


def _complemented(names: Sequence[Variable]) -> set[Variable]:
    """The vectors that others among the variables are complementary to."""
    return {vector.label for v in names for vector in v.domain.complements}


def _some(rng: random.Random, candidates: list[dict[Variable, Value]]) -> list[dict[Variable, Value]]:
    """The first, the last and some other points of a group that differ only in their indices."""
    if len(candidates) <= POSITIONS:
        return candidates
    return [candidates[0], candidates[-1], *rng.sample(candidates[1:-1], POSITIONS - 2)]


def extent(expr: sp.Expr, point: Point) -> int:
    """The value of a size at a point."""
    if isinstance(expr, Variable):
        value = point[expr]
        assert isinstance(value, int)
        return value
    return int(expr.xreplace({v: point[v] for v in expr.free_symbols}))


def extents(var: Variable, point: Point) -> list[int]:
    """The sizes of a variable at a point."""
    return [extent(part, point) for part in var.domain.shape]


def with_indices(
    indices: Sequence[Variable], point: Point, positions: Callable[[int], Iterable[int]] = lambda size: range(1, size + 1)
) -> Iterator[dict[Variable, Value]]:
    """The point with all values of some indices, or all `positions`, that the sizes at the point and `other_than` allow."""
    known = {v for v in point if v.domain.is_index}
    for position in product(*(positions(extent(v.domain.shape[0], point)) for v in indices)):
        full = {**point, **dict(zip(indices, position, strict=True))}
        if all(full[v] != extent(other, full) for v in (*indices, *known) for other in v.domain.other_than):
            yield full


def drawn(var: Variable, sizes: Sequence[int], point: Point, how: Drawing) -> Value:
    """A value of a variable; raises ValueError for a random one."""
    if var.domain.is_random:
        raise ValueError(
            f"domain: expected one with exact samples for {var.name}, got {var.domain.name}: take the expectation first"
        )
    return var.domain.draw(sizes, point, how)  # type: ignore[no-any-return]


def _quarters(sign: Sign, rng: random.Random) -> Fraction:
    low = {Sign.POSITIVE: 1, Sign.NONNEGATIVE: 0, Sign.ANY: -12}[sign]
    return Fraction(rng.randint(low, 12), 4)
