"""Further points at which an undecided statement may fail: near its numbers, far away, along ways down, at many sizes.

A statement that no proof decides can be confirmed by votes, on instances that its author draws.  So more effort is spent to
refute it than on one that is proved, for which the sample and a few points beyond it only have to expose errors of the kernel.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice, product, zip_longest

import sympy as sp

from derivations.calculus import far
from derivations.calculus.balls import Close, Point, Sample, Value
from derivations.calculus.search import along_coordinates, descent
from derivations.calculus.variables import Variable
from derivations.records.claims import Witness
from derivations.relations.base import POINTWISE, Counterexample, Relation
from derivations.relations.objectives import Height, heights, relative
from derivations.relations.tried import Tried

STARTS = 4  # starting points of a descent
EFFORT = 60_000  # nodes evaluated from each of them, for a mutant
FAR, DOWN = 1_000_000, 500_000  # nodes evaluated far away, and on each way down, if undecided
DEAREST, CHEAP = 100_000, 5_000  # nodes of a point that is tried, and of one to start from
FIRST, FEWEST = 6, 2  # points of small sizes that are starts, and of every other size
CLOSE = 12  # starts where nearly equal values are told apart, twice
RANDOM = 500  # random steps of a descent before those along coordinates
BRIEF = 15_000  # nodes evaluated for a statement that is proved
SKEWED = (  # how its entries differ: one dominates, is tiny, and so on
    far.Look(far.Pattern.ONE, 3),
    far.Look(far.Pattern.RAMP),
    far.Look(far.Pattern.ONE, -3),
    far.Look(far.Pattern.HALVING),
    far.Look(far.Pattern.RAMP, signs=far.Signs.ALTERNATING),
    far.Look(far.Pattern.SPREAD, 2, far.Signs.FIRST),
    far.Look(),
)
MOST = 400  # points near the numbers of a statement
FINEST = Fraction(1, 10**15)  # step of a search for a failure near a point where it is tight
NUMBERS = 8  # numbers of a statement that are tried
SPREAD = (3, 60, 19)  # of the sample at each value: a few points apart


def counterexample(relation: Relation) -> Counterexample | None:
    """An exact point beyond the usual sample where an undecided equation or inequality certifiably fails, or None."""
    return searched(relation)[0]


def searched(relation: Relation) -> tuple[Counterexample | None, Tried]:
    """An exact point where an undecided statement certifiably fails, if one is found, and which points were tried.

    The points of the usual sample count as tried; the search starts from them.
    """
    search = _Search(replace(relation, at={}))
    if relation.sign in POINTWISE:
        for stage in (search.near_numbers, search.far_away, search.closely, search.downwards, search.along_sizes):
            if found := next(filter(None, map(search.failing, stage())), None):
                return found, search.tried
    return None, search.tried


class _Search:
    """A search for a failure of a statement, in stages that yield points to look at."""

    def __init__(self, relation: Relation) -> None:
        self.relation, self.names, self.numbers = relation, relation.variables(), _numbers(relation)
        self.tried, self.starts = Tried(), list[Point]()
        for point in relation.points():
            if self.admitted(point):
                self.tried.note(point)
                self.starts.append(point)

    def admitted(self, point: Point) -> bool:
        """Whether hypotheses and premises hold at a point."""
        return admitted(self.relation, point)

    def failing(self, point: Point) -> Counterexample | None:
        """The certified failure at a point where hypotheses and premises hold."""
        if not self.admitted(point):
            return None
        self.tried.note(point)
        witness = failure(self.relation, point)
        return Counterexample(dict(point), witness) if witness else None

    def cost(self, point: Point) -> float:
        """The approximate number of nodes that are evaluated at a point of these sizes."""
        return far.cost(self.relation.sides, self.names, _sizes(point))

    def near_numbers(self) -> Iterator[Point]:
        """Points near the numbers that occur in the statement."""
        return islice(_further(self.relation, self.numbers), min(MOST, EFFORT // nodes(self.relation)))

    def ladders(self, most: float) -> list[tuple[float, far.Sizes]]:
        """The sizes at which a point costs at most this, with the cost."""
        costs = ((self.cost(sizes), sizes) for sizes in far.ladders(self.names, _counts(self.numbers)))
        return [(cost, sizes) for cost, sizes in costs if cost <= most]

    def far_away(self) -> Iterator[Point]:
        """Points of every size that is cheap enough, with entries of every magnitude; the first of small sizes are starts."""
        ladders = sorted(self.ladders(DEAREST), key=lambda priced: priced[0])
        counts = _counts(self.numbers)
        drawn = [(cost, far.points_at(self.names, sizes, seed, counts)) for seed, (cost, sizes) in enumerate(ladders)]
        for points in (points for cost, points in drawn if cost < CHEAP):
            for point in islice(points, FIRST):
                if self.admitted(point):
                    self.starts.append(Sample(point))
                yield point
        for cost, points in drawn:
            yield from islice(points, max(FEWEST, int(FAR / len(drawn) / cost)))

    def closely(self) -> Iterator[Point]:
        """Some points at which nearly equal values are told apart."""
        return map(Close, [*self.starts[:CLOSE], *islice(self.starts, CLOSE, None, max(1, len(self.starts) // CLOSE))])

    def downwards(self) -> Iterator[Point]:
        """Points on the ways down from the lowest starts, for each function that is worth making small."""
        for group in heights(self.relation):
            for height in group:
                for start in sorted(self.starts, key=height)[:STARTS]:
                    tries = math.ceil(DOWN / len(group) / STARTS / self.cost(start))
                    yield from _descending(start, height, self.admitted, tries)

    def along_sizes(self) -> Iterator[Point]:
        """Points of sizes ever nearer to where a function is lowest among the sizes tried, for some looks of the entries."""
        if not any(v.domain.is_size for v in self.names):
            return
        ladders = self.ladders(CHEAP)
        looks = far.PLAIN if any(not v.domain.is_integer for v in self.names) else far.PLAIN[:1]
        for height, look in product(chain(*heights(self.relation)), looks):
            placed = (point for _, sizes in ladders for point in islice(far.placed(self.names, sizes, look), 1))
            if best := min(filter(self.admitted, placed), key=height, default=None):
                yield from islice(self._nearer(best, height, look), MOST)  # 1/m has no lowest value

    def _nearer(self, best: Point, height: Height, look: far.Look) -> Iterator[Point]:
        sizes, lowest, share = _sizes(best), height(best), Fraction(1, 2)
        while any(share * size > Fraction(1, 2) for size in sizes.values()):
            lower = False
            for v, sign in product(sizes, (1, -1)):
                changed = {**sizes, v: sizes[v] + sign * math.ceil(share * sizes[v])}
                if changed[v] < 1 or self.cost(changed) > CHEAP:
                    continue
                for point in islice(far.placed(self.names, changed, look), 1):
                    yield point
                    if self.admitted(point) and (new_height := height(point)) < lowest:
                        sizes, lowest, lower = changed, new_height, True
            share = share if lower else share / 2


def _sizes(point: Point) -> dict[Variable, int]:
    return {v: int(value) for v, value in point.items() if v.domain.is_size}  # type: ignore[arg-type]


def beyond(relation: Relation) -> Counterexample | None:
    """An exact point where a proved statement certifiably fails, among a few of larger sizes and skewed entries, or None."""
    relation, names = replace(relation, at={}), relation.variables()
    if not any(v.domain.is_size for v in names):
        return None
    named = [size for size in _counts(_numbers(relation)) if size > min(far.BEYOND)]
    effort, ladder = float(BRIEF), list(far.ladders(names, named, far.BEYOND))
    costs = [far.cost(relation.sides, names, sizes) for sizes in ladder]
    for turn in range(len(SKEWED)):
        for step, (sizes, spent) in enumerate(zip(ladder, costs, strict=True)):
            point = _skewed(names, sizes, turn + step) if spent <= effort else None
            if point is not None:
                effort -= spent
                if admitted(relation, point) and (witness := failure(relation, point)):
                    return Counterexample(dict(point), witness)
    return None


def _skewed(names: Sequence[Variable], sizes: far.Sizes, turn: int) -> Point | None:
    """A point of these sizes at which the variables look different, each another way at every turn."""
    looks = {var: SKEWED[(turn + place) % len(SKEWED)] for place, var in enumerate(names)}
    placed = list(far.placed(names, sizes, looks))
    return random.Random(turn).choice(placed) if placed else None


def admitted(relation: Relation, point: Point) -> bool:
    """Whether hypotheses and premises hold at a point."""
    return all(condition.holds_at(point) for condition in (*relation.given, *relation.premises))


def nodes(relation: Relation) -> int:
    """The number of nodes of both sides."""
    return sum(1 for side in relation.sides for _ in sp.preorder_traversal(side))


def failure(relation: Relation, point: Point) -> Witness | None:
    """The certified failure at an admissible point."""
    witness = relation.contradicted_at(point)
    if witness:
        relation.admit(point)
    return witness


def descended(relation: Relation, starts: Sequence[Point]) -> Counterexample | None:
    """A failure of an inequality that is found by a random descent towards points where it is tight, or None."""
    height = relative(relation)
    for start in sorted(starts, key=height)[:STARTS]:
        for lower in descent(start, height, lambda point: admitted(relation, point), min(RANDOM, EFFORT // nodes(relation))):
            if witness := failure(relation, lower):
                return Counterexample(dict(lower), witness)
    return None


def _descending(start: Point, height: Height, fits: Callable[[Point], bool], tries: int) -> Iterator[Point]:
    """Points ever lower, found by a random descent and, from where it ends, by one along coordinates."""
    lowest = start
    for lowest in descent(start, height, fits, min(RANDOM, tries // 2)):
        yield lowest
    yield from along_coordinates(lowest, height, fits, tries - tries // 2, FINEST)


def _further(relation: Relation, numbers: Sequence[Fraction]) -> Iterator[Point]:
    """Sample points at which one variable has a value near a number of the statement."""
    tries = ([(v, value) for value in _values(v, numbers)] for v in relation.variables())
    for variable, value in filter(None, chain.from_iterable(zip_longest(*tries))):
        yield from islice(replace(relation, at={variable: value}).points(), *SPREAD)


def _numbers(relation: Relation) -> list[Fraction]:
    """The sizes of the numbers in the statement and its hypotheses, the least usual ones first."""
    sides = (side for each in (relation, *relation.given, *relation.premises) for side in each.sides)
    numbers = {abs(Fraction(int(number.p), int(number.q))) for side in sides for number in side.atoms(sp.Rational)} - {0}
    return sorted(numbers, key=lambda number: -abs(math.log(number)))[:NUMBERS]


def _counts(numbers: Sequence[Fraction]) -> list[int]:
    """The sizes and indices that a statement with these numbers may be about: the numbers and the next ones."""
    return sorted({int(number) + more for number in numbers for more in (0, 1)} - {0})


def _values(variable: Variable, numbers: Sequence[Fraction]) -> Iterator[Value]:
    """Values of a free scalar or a free vector that a statement with these numbers may be about."""
    shape = variable.domain.shape
    if variable.domain.is_independent and len(shape) < 2:
        for value in _near(numbers, negative=variable.domain.is_whole):
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
