"""Exact points far from the usual sample: many keys, masses and entries of any magnitude, one of them or all.

Where a statement may fail depends on its sizes, on the magnitudes of its values, and on how unequal they are.  A `Look`
chooses the latter two for one variable; masses are weights of such a look, divided by their sum.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from math import prod
from typing import Any

import sympy as sp

from derivations.calculus.balls import Point, Value
from derivations.calculus.functions import Partial
from derivations.calculus.points import extent, extents, with_indices
from derivations.calculus.variables import Variable
from derivations.domains.base import Sign, Weights

Sizes = Mapping[Any, int]

SMALL = (1, 2, 3)
BEYOND = (8, 9, 12, 16, 33)  # sizes beyond those of the usual sample
LADDER = (*SMALL, 5, *BEYOND, 64, 128, 200, *(10**power for power in (*range(3, 13), 20, 30, 300)))
EXPONENTS = (0, 1, -1, 3, -3, 7, -7, 30, -30, 300, -300)  # of 10
FACTORS = (Fraction(1), Fraction(1), Fraction(3, 7), Fraction(22, 7))
OVERHEAD = 30  # of a point, in nodes evaluated
DRAWN = 3  # of an entry, in nodes evaluated
DERIVED = 5  # nodes of a derivative for each one of its function
POSITIONS = 4  # of the indices, at one look


class Pattern(Enum):
    """How the weights of n entries differ, in terms of a power of 10."""

    LEVEL = "all are it"
    ONE = "the first is it, the others are 1"
    ALONE = "the first is it, the others are 0, or 1 where they have to be positive"
    HALF = "the first half is it, the others are 1"
    SPREAD = "they lie between it and 1, at equal distances of their logarithms"
    HALVING = "each is half of the one before"
    RAMP = "they ascend from it in equal steps"
    NEAR = "they alternate about 1 at a small distance"


class Signs(Enum):
    """The signs of entries that can have both."""

    PLUS = "all +"
    MINUS = "all −"
    FIRST = "the first −, the others +"
    ALTERNATING = "+ and − in turn"


class Axis(Enum):
    """What the weights of a matrix depend on: the entry, its row, its column, or its distance from the diagonal."""

    ENTRY = "entry"
    ROW = "row"
    COLUMN = "column"
    DIAGONAL = "diagonal"


@dataclass(frozen=True)
class Look:
    """How the entries of a variable differ and how large they are."""

    pattern: Pattern = Pattern.LEVEL
    exponent: int = 0
    signs: Signs = Signs.PLUS
    axis: Axis = Axis.ENTRY
    factor: Fraction = Fraction(1)


PATTERNS, SIGNS, AXES = tuple(Pattern), tuple(Signs), tuple(Axis)
PLAIN = (Look(), Look(Pattern.RAMP), Look(Pattern.HALVING), Look(Pattern.RAMP, signs=Signs.ALTERNATING), Look(Pattern.ONE, 7))


@lru_cache(maxsize=2**12)
def weights(pattern: Pattern, exponent: int, count: int) -> tuple[Fraction, ...]:
    """Numbers of a pattern, all > 0 but for `ALONE`."""
    it, one, places = Fraction(10) ** exponent, Fraction(1), range(count)
    if pattern is Pattern.ONE or pattern is Pattern.ALONE:
        return it, *[one if pattern is Pattern.ONE else Fraction(0)] * (count - 1)
    if pattern is Pattern.HALF:
        return tuple(it if 2 * place < count else one for place in places)
    if pattern is Pattern.SPREAD:
        return tuple(Fraction(10) ** (exponent * (count - 1 - place) // max(1, count - 1)) for place in places)
    if pattern is Pattern.HALVING:
        return tuple(it / 2**place for place in places)
    if pattern is Pattern.RAMP:
        return tuple(it * (place + 1) for place in places)
    if pattern is Pattern.NEAR:
        return tuple(1 + (-1) ** place * Fraction(1, 10 ** max(1, abs(exponent))) for place in places)
    return (it,) * count


def _signed(numbers: Sequence[Fraction], signs: Signs) -> list[Fraction]:
    if signs is Signs.ALTERNATING:
        return [-number if place % 2 else number for place, number in enumerate(numbers)]
    if signs is Signs.FIRST:
        return [-numbers[0], *numbers[1:]]
    return [-number for number in numbers] if signs is Signs.MINUS else list(numbers)


def _spread_over(look: Look, shape: Sequence[int], signed: bool) -> list[Fraction]:
    """The weights of all entries, row by row."""
    rows, columns = (shape[0], prod(shape[1:])) if len(shape) > 1 else (1, prod(shape))
    axis = look.axis if len(shape) > 1 else Axis.ENTRY
    count = {Axis.ENTRY: rows * columns, Axis.ROW: rows}.get(axis, columns)
    numbers: Sequence[Fraction] = weights(look.pattern, look.exponent, count)
    numbers = _signed(numbers, look.signs) if signed else numbers
    if axis is Axis.ENTRY:
        return list(numbers)
    if axis is Axis.ROW:
        return [numbers[row] for row in range(rows) for _ in range(columns)]
    return [numbers[(column - row * (axis is Axis.DIAGONAL)) % columns] for row in range(rows) for column in range(columns)]


def looking(var: Variable, look: Look, point: Point) -> Value:
    """A value of the variable in its domain, given the sizes and marginals at the point; raises ValueError for a random one."""
    if var.domain.is_random:
        raise ValueError(f"domain: expected one with exact samples for {var.name}, got {var.domain.name}")
    sizes = extents(var, point)
    mixed = {Signs.PLUS: Fraction(1), Signs.MINUS: Fraction(0)}.get(look.signs, Fraction(1, 10 ** abs(look.exponent)))
    numbers = _spread_over(look, sizes, var.domain.sign is Sign.ANY)
    return var.domain.formed(Weights(numbers, look.factor, mixed), sizes, point)  # type: ignore[no-any-return]


def looks(names: Sequence[Variable], seed: int) -> Iterator[dict[Variable, Look]]:
    """Looks of some variables without an end: in turn one variable that stands out among plain ones, and all at random."""
    rng = random.Random(seed)
    alone = [
        (v, Look(pattern, exponent, signs))
        for v in names
        for pattern, exponent, signs in product((Pattern.LEVEL, Pattern.ONE), EXPONENTS, (Signs.PLUS, Signs.MINUS))
        if exponent and not (signs is Signs.MINUS and v.domain.sign is not Sign.ANY)
    ]
    rng.shuffle(alone)

    def any_look() -> Look:
        return Look(rng.choice(PATTERNS), rng.choice(EXPONENTS), rng.choice(SIGNS), rng.choice(AXES), rng.choice(FACTORS))

    for plain in PLAIN:
        yield dict.fromkeys(names, plain)
    for outstanding in chain(alone, iter(lambda: None, 0)):
        if outstanding:
            yield {**dict.fromkeys(names, rng.choice(PLAIN)), outstanding[0]: outstanding[1]}
        common = any_look() if rng.random() < 0.25 else None
        yield {v: common or (any_look() if rng.random() < 0.7 else rng.choice(PLAIN)) for v in names}


def points_at(names: Sequence[Variable], sizes: Sizes, seed: int = 0, numbers: Sequence[int] = ()) -> Iterator[Point]:
    """Points of these sizes without an end, unless there is nothing to choose; indices are at these numbers, too.

    Raises ValueError for a random variable.
    """
    rng = random.Random(seed)
    free = [v for v in names if not v.domain.is_integer]
    for look in looks(free, seed):
        found = list(placed(names, sizes, look, numbers))
        yield from found if len(found) <= POSITIONS or not free else rng.sample(found, POSITIONS)
        if not (free and found):
            return


def placed(
    names: Sequence[Variable], sizes: Sizes, look: Mapping[Variable, Look] | Look, numbers: Sequence[int] = ()
) -> Iterator[Point]:
    """The points of these sizes and looks, with each index at its first values and its last, and at these numbers."""
    point: dict[Variable, Value] = dict(sizes)
    free = [v for v in names if not v.domain.is_integer]
    for var in sorted(free, key=lambda v: bool(v.domain.marginals)):
        point[var] = looking(var, look if isinstance(look, Look) else look[var], point)
    indices = [v for v in names if v.domain.is_index]
    return with_indices(indices, point, lambda size: sorted({1, min(2, size), size, *(n for n in numbers if n < size)}))


def ladders(names: Sequence[Variable], numbers: Sequence[int], ladder: Sequence[int] = LADDER) -> Iterator[dict[Variable, int]]:
    """Sizes to try: all the same, and each by itself among small ones; these numbers, too."""
    sizes = [v for v in names if v.domain.is_size]
    steps = sorted({*ladder, *numbers})
    if not sizes:
        yield {}
        return
    for step in steps:
        yield dict.fromkeys(sizes, step)
        if len(sizes) > 1 and step > SMALL[-1]:
            yield from ({**dict.fromkeys(sizes, other), large: step} for large in sizes for other in SMALL)


def cost(exprs: Sequence[sp.Expr], names: Sequence[Variable], sizes: Sizes) -> float:
    """The approximate number of nodes that are evaluated at one point, with what it takes to draw its entries."""
    entries = sum(prod(extent(part, sizes) for part in v.domain.shape) for v in names if not v.domain.is_index)
    return OVERHEAD + DRAWN * entries + sum(_cost(expr, sizes) for expr in exprs)


def _cost(expr: sp.Basic, sizes: Sizes) -> float:
    if isinstance(expr, sp.Sum):
        inner, lengths = dict(sizes), dict[sp.Basic, int]()
        for index, low, high in reversed(expr.limits):
            first, last = (int(end.xreplace({v: inner.get(v, 1) for v in end.free_symbols})) for end in (low, high))
            inner[index] = lengths[index] = max(1, last - first + 1)
        repeated = (
            (factor, prod(length for index, length in lengths.items() if index in factor.free_symbols))
            for factor in sp.Mul.make_args(expr.function)
        )
        return sum(times * _cost(factor, inner) for factor, times in repeated)
    return (DERIVED if isinstance(expr, Partial) else 1) * (1 + sum(_cost(part, sizes) for part in expr.args))
