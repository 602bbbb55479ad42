"""Decide whether a printed expression equals a proved one: with variables matched, at exact points and in normal form."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice, permutations, product

import sympy as sp
from flint import arb

from derivations.calculus import sums
from derivations.calculus.balls import Point, Value, enclose
from derivations.calculus.points import CORNERS, SMALL, points
from derivations.calculus.variables import Variable, Vector, variables_of
from derivations.relations.base import Hypothesis

NAMINGS = 24  # matchings of the free variables that are tried
LATER = 12  # further rounds of points if there are hypotheses
SAMPLES = 5  # exact points at which values are compared
Naming = Mapping[sp.Basic, sp.Basic]


def namings(printed: Sequence[sp.Expr], proved: Sequence[sp.Expr], known: frozenset[str]) -> Iterator[Naming]:
    """Yield matchings of a print's variables with a relation's: first by name, the rest by shape.

    Free variables are quantified, so their names do not matter; but a name from the table belongs to that symbol alone.
    """
    own, other = ([v for v in variables_of(sp.Tuple(*each)) if "#" not in v.name] for each in (printed, proved))
    fixed: dict[Variable, Variable] = {}
    used: set[Variable] = set()
    for v in own:
        twins = [w for w in other if w.name == v.name and _of_one_sort(v, w)]
        twin = v if v in twins else next(iter(twins), None)
        if twin is not None:
            fixed[v] = twin
            used.add(twin)
    left = [v for v in own if v not in fixed and not v.domain.is_size]
    spare = [w for w in other if w not in used and (w.domain.is_index or w.name not in known)]
    groups = []
    for shape, index in dict.fromkeys((v.domain.shape, v.domain.is_index) for v in left):
        mine, theirs = (
            [each for each in names if each.domain.shape == shape and each.domain.is_index == index and not each.domain.is_size]
            for names in (left, spare)
        )
        fitting = [dict(zip(mine, match, strict=True)) for match in permutations(theirs, len(mine))]
        groups.append(fitting or [{}])
    for chosen in islice(product(*groups), NAMINGS):
        naming = dict(fixed)
        for part in chosen:
            naming |= part
        yield {v: w for v, w in naming.items() if v != w}


def _of_one_sort(one: Variable, other: Variable) -> bool:
    """Return whether two variables have the same shape, and both are indices or neither is."""
    both = {one.domain.is_index, other.domain.is_index}
    return one.domain.shape == other.domain.shape and len(both) == 1


def named(expr: sp.Expr, naming: Naming) -> sp.Expr:
    """Return an expression with its variables replaced."""
    if not naming:
        return expr
    replacements: dict[sp.Basic, sp.Basic] = dict(naming)
    for entry in expr.atoms(sp.IndexedBase):
        if entry.label in naming:
            label = naming[entry.label]
            replacements[entry] = Vector(label, shape=entry.shape)
    return sp.sympify(expr.xreplace(replacements))


@cache
def sample_points(names: tuple[Variable, ...], hypotheses: tuple[Hypothesis, ...] = ()) -> tuple[dict[Variable, Value], ...]:
    """Return exact points in general position where the hypotheses hold, with sizes above 1 if possible."""
    if any(v.domain.is_random for v in names):
        return ()  # random vectors have no values, only moments
    indices = [v for v in names if v.domain.is_index]
    sizes = [v for v in names if v.domain.is_size]
    groups: list[list[dict[Variable, Value]]] = []
    last: list[Value] | None = None
    for point in points(names, seed=7, rounds=SMALL + (LATER if hypotheses else 2)):
        rest = [point[v] for v in names if v not in indices]
        if rest != last:
            groups.append([])
        last = rest
        if all(point[v] != 1 for v in sizes) and all(_holds(each, point) for each in hypotheses):
            groups[-1].append(point)
    general = [group for group in groups[CORNERS:] if group]  # skip corner cases
    chosen: list[dict[Variable, Value]] = []
    for group in [*general[-1:], *general[:-1]]:  # the largest sizes first
        apart = [point for point in group if _different(point, indices)]
        chosen += [(apart or group)[0]]
        chosen += [group[-1]] if len(group) > 1 and len(chosen) % 2 else []
        if len(chosen) >= SAMPLES:
            break
    return tuple(chosen[:SAMPLES])


def _different(point: Point, indices: Sequence[Variable]) -> bool:
    """Return whether indices over one range all differ."""
    return all(point[v] != point[w] for v, w in combinations(indices, 2) if v.domain.shape == w.domain.shape)


def _holds(hypothesis: Hypothesis, point: Point) -> bool:
    try:
        return hypothesis.holds_at(point)
    except KeyError:  # it has other variables
        return True


class Values:
    """The values of expressions at exact points, each computed once."""

    def __init__(self, names: Sequence[Variable], hypotheses: Sequence[Hypothesis] = ()) -> None:
        self.points = sample_points(tuple(names), tuple(hypotheses))
        self._known: dict[tuple[sp.Expr, int], arb | None] = {}

    def at(self, expr: sp.Expr, number: int) -> arb | None:
        """Return the value at a point; None if undefined."""
        key = (expr, number)
        if key not in self._known:
            try:
                ball = enclose(expr, self.points[number])
                self._known[key] = ball if ball.is_finite() else None
            except (ValueError, KeyError):
                self._known[key] = None
        return self._known[key]

    def same(self, one: sp.Expr, other: sp.Expr) -> bool:
        """Return whether two expressions are defined and equal at the same points, of which there is at least one."""
        agreeing = False
        for number in range(len(self.points)):
            a, b = self.at(one, number), self.at(other, number)
            if (a is None) != (b is None):
                return False
            if a is None or b is None:
                continue
            if not a.overlaps(b):
                return False
            agreeing = True
        return agreeing

    def apart(self, one: sp.Expr, other: sp.Expr) -> int | None:
        """Return the number of the first point where two expressions certainly differ."""
        for number in range(len(self.points)):
            a, b = self.at(one, number), self.at(other, number)
            if a is not None and b is not None and not a.overlaps(b):
                return number
        return None

    def positive(self, expr: sp.Expr) -> bool:
        """Return whether an expression is certainly > 0 wherever it is defined."""
        balls = self._all(expr)
        return bool(balls) and all(ball > 0 for ball in balls)

    def _all(self, expr: sp.Expr) -> list[arb]:
        return [ball for number in range(len(self.points)) if (ball := self.at(expr, number)) is not None]

    def constant(self, expr: sp.Expr) -> bool:
        """Return whether an expression has the same value at all points."""
        balls = self._all(expr)
        return all(one.overlaps(other) for one, other in combinations(balls, 2))

    def vanishes(self, expr: sp.Expr) -> bool:
        """Return whether an expression may be 0 at every point."""
        return self.apart(expr, sp.S.Zero) is None


def in_normal_form(one: sp.Expr, other: sp.Expr) -> bool:
    """Return whether two expressions have the same normal form."""
    try:
        return bool(sums.alike(one, other) or sums.equal(one, other))
    except ValueError:
        return False
