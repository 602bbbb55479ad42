"""Further points at which an undecided statement may fail: at the numbers that occur in it, at larger sizes, and by descent.

A statement that no proof decides can be confirmed by votes, on instances that its author draws.  So more effort is spent to
refute it than on one that is proved, for which the sample only has to expose errors of the kernel.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice, zip_longest

import sympy as sp

from derivations.calculus import far
from derivations.calculus.balls import Point, Value, enclose_all
from derivations.calculus.points import with_indices
from derivations.calculus.search import descent
from derivations.calculus.variables import Kind, Variable
from derivations.claims import Witness
from derivations.relations.base import MOVABLE, Counterexample, Relation
from derivations.relations.equation import Differs, Equation
from derivations.relations.implication import Follows
from derivations.relations.inequality import AtLeast, StrictUnlessEqual

BRIEF = 15_000                                               # nodes evaluated for a statement that is proved
SKEWED = (                                                   # how its entries differ: one dominates, is tiny, and so on
    far.Look(far.Pattern.ONE, 3), far.Look(far.Pattern.RAMP), far.Look(far.Pattern.ONE, -3), far.Look(far.Pattern.HALVING),
    far.Look(far.Pattern.RAMP, signs=far.Signs.ALTERNATING), far.Look(far.Pattern.SPREAD, 2, far.Signs.FIRST), far.Look())
STARTS = 4                                                   # starting points of a search for near-equality
EFFORT = 60_000                                              # approximate number of nodes evaluated from each of them
MOST = 400                                                   # further points of one statement
FINEST = Fraction(1, 10**12)                                 # step of a search for a failure near a point where it is tight
LARGE, LARGEST = (8, 9, 12), 24                              # sizes beyond those of the sample, and near a number
NUMBERS = 8                                                  # numbers of a statement that are tried
SPREAD = (3, 60, 19)                                         # of the sample at each value: a few points apart
EXTREMES = tuple(Fraction(10) ** power for power in (7, -7, 30, -30))  # beyond what e^14 or √1000 hide from a sample


def counterexample(relation: Relation) -> Counterexample | None:
    """An exact point beyond the usual sample where an undecided equation or inequality certifiably fails, or None."""
    if not isinstance(relation, Equation | Differs | AtLeast | StrictUnlessEqual | Follows):
        return None
    most = min(MOST, EFFORT // nodes(relation))
    for point in chain(*(islice(_meant(relation, points), most) for points in (_extreme(relation), _further(relation)))):
        if witness := failure(relation, point):
            return Counterexample(dict(point), witness)
    if isinstance(relation, Equation | Differs):
        return None
    return descended(relation, list(_meant(relation, replace(relation, at={}).points())), FINEST)


def beyond(relation: Relation) -> Counterexample | None:
    """An exact point where a proved statement certifiably fails, among a few of larger sizes and skewed entries, or None."""
    relation, names = replace(relation, at={}), relation.variables()
    if not any(v.domain.kind is Kind.SIZE for v in names):
        return None
    effort, ladder = float(BRIEF), list(far.ladders(names, (), far.BEYOND))
    costs = [far.cost(relation.sides, names, sizes) for sizes in ladder]
    for turn in range(len(SKEWED)):
        for step, (sizes, spent) in enumerate(zip(ladder, costs, strict=True)):
            point = _skewed(names, sizes, turn + step) if spent <= effort else None
            if point is not None:
                effort -= spent
                if admissible(relation, point) and (witness := failure(relation, point)):
                    return Counterexample(dict(point), witness)
    return None


def _skewed(names: Sequence[Variable], sizes: far.Sizes, turn: int) -> Point | None:
    """A point of these sizes at which the variables look different, each another way at every turn."""
    point: dict[Variable, Value] = dict(sizes)
    free = [v for v in names if v.domain.kind not in (Kind.SIZE, Kind.INDEX)]
    for place, var in enumerate(sorted(free, key=lambda v: v.domain.kind in (Kind.COUPLING, Kind.SLACK))):
        point[var] = far.looking(var, SKEWED[(turn + place) % len(SKEWED)], point)
    indices = [v for v in names if v.domain.kind is Kind.INDEX]
    placed = list(with_indices(indices, point, lambda size: sorted({1, min(2, size), size})))
    return random.Random(turn).choice(placed) if placed else None


def admissible(relation: Relation, point: Point) -> bool:
    """Whether hypotheses and premises hold at a point."""
    return all(condition.holds_at(point) for condition in (*relation.given, *relation.premises))


def _meant(relation: Relation, points: Iterator[Point]) -> Iterator[Point]:
    """The points where the premises hold, too."""
    return (point for point in points if all(premise.holds_at(point) for premise in relation.premises))


def nodes(relation: Relation) -> int:
    """The number of nodes of both sides."""
    return sum(1 for side in relation.sides for _ in sp.preorder_traversal(side))


def failure(relation: Relation, point: Point) -> Witness | None:
    """The certified failure at an admissible point."""
    witness = relation.contradicted_at(point)
    if witness:
        relation.admit(point)
    return witness


def descended(relation: Relation, starts: Sequence[Point], finest: Fraction | None = None) -> Counterexample | None:
    """A failure of an inequality that is found by descent towards points where it is tight, or None.

    The descent is a random one, and with a `finest` step one along each coordinate follows, in ever smaller steps.
    """
    left, right = relation.sides
    excess = left - right

    def height(point: Point) -> float:
        gap, scale = enclose_all((excess, left), point)
        return float(gap.mid()) / (1 + abs(float(scale.mid()))) if gap.is_finite() and scale.is_finite() else math.inf

    def admitted(point: Point) -> bool:
        return admissible(relation, point)

    for start in sorted(starts, key=height)[:STARTS]:
        for lower in _descending(start, height, admitted, EFFORT // nodes(relation), finest):
            if witness := failure(relation, lower):
                return Counterexample(dict(lower), witness)
    return None


def _descending(
    start: Point, height: Callable[[Point], float], admitted: Callable[[Point], bool], most: int, finest: Fraction | None
) -> Iterator[Point]:
    lowest = start
    for lowest in descent(start, height, admitted, min(500, most)):
        yield lowest
    if finest:
        yield from islice(_along_coordinates(lowest, height, admitted, finest), most)


def _along_coordinates(
    start: Point, height: Callable[[Point], float], admitted: Callable[[Point], bool], finest: Fraction
) -> Iterator[Point]:
    """Points with ever smaller `height` that differ from the one before in one number."""
    best, lowest, step = dict(start), height(start), Fraction(1, 4)
    while step > finest:
        lower = False
        for point in (_shifted(best, v, place, sign * step) for v, place in _coordinates(best) for sign in (1, -1)):
            if point is not None and (new_height := height(point)) < lowest and admitted(point):
                best, lowest, lower = point, new_height, True
                yield best
        step = step if lower else step / 8


def _coordinates(point: Point) -> Iterator[tuple[Variable, int]]:
    """The free scalars and the entries of free vectors, at place 0 and at their places."""
    for v, value in point.items():
        if v.domain.kind in MOVABLE and len(v.domain.shape) < 2:
            yield from ((v, place) for place in range(len(value) if isinstance(value, Sequence) else 1))


def _shifted(point: Point, v: Variable, place: int, step: Fraction) -> dict[Variable, Value] | None:
    """The point with one number shifted; None where that leaves the domain."""
    value = point[v]
    number = Fraction(value[place] if isinstance(value, Sequence) else value) + step
    if (number < 0 and v.domain.kind is not Kind.REAL) or (number == 0 and v.domain.kind is Kind.POSITIVE):
        return None
    return {**point, v: [*value[:place], number, *value[place + 1:]] if isinstance(value, Sequence) else number}


def _further(relation: Relation) -> Iterator[Point]:
    """Sample points at which one variable has a value near a number of the statement, or a size is larger than usual."""
    numbers = _numbers(relation)
    tries = ([(v, value) for value in _values(v, numbers)] for v in relation.variables())
    for variable, value in filter(None, chain.from_iterable(zip_longest(*tries))):
        yield from islice(replace(relation, at={variable: value}).points(), *SPREAD)


def _extreme(relation: Relation) -> Iterator[Point]:
    """A sample point for each free scalar that is very large or very small."""
    for value in EXTREMES:
        for variable in relation.variables():
            if variable.domain.kind in MOVABLE and not variable.domain.shape:
                for signed in (value, -value) if variable.domain.kind is Kind.REAL else (value,):
                    yield from islice(replace(relation, at={variable: signed}).points(), 1)


def _numbers(relation: Relation) -> list[Fraction]:
    """The sizes of the numbers in the statement and its hypotheses, the least usual ones first."""
    sides = (side for each in (relation, *relation.given, *relation.premises) for side in each.sides)
    numbers = {abs(Fraction(int(number.p), int(number.q))) for side in sides for number in side.atoms(sp.Rational)} - {0}
    return sorted(numbers, key=lambda number: -abs(math.log(number)))[:NUMBERS]


def _values(variable: Variable, numbers: Sequence[Fraction]) -> Iterator[Value]:
    """Values of a size, a free scalar or a free vector that a statement with these numbers may be about."""
    kind, shape = variable.domain.kind, variable.domain.shape
    if kind is Kind.SIZE:
        yield from (size for number in numbers for size in (int(number), int(number) + 1) if 1 <= size <= LARGEST)
        yield from LARGE
    elif kind in MOVABLE and len(shape) < 2:
        for value in _near(numbers, negative=kind is Kind.REAL):
            if not shape:
                yield value
            elif isinstance(shape[0], Variable):
                yield [value]
                yield [value, 1 / value]


def _near(numbers: Sequence[Fraction], negative: bool) -> Iterator[Fraction]:
    """Positive numbers near some numbers, and their negatives."""
    for number in numbers:
        for value in (number + 1, number, number * Fraction(1001, 1000), number * Fraction(999, 1000), 2 * number, 1 / number):
            yield value
            if negative:
                yield -value
