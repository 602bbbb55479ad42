"""The canonical form of a statement, and its value at three exact points: what a later run is compared with.

Each side is put into the normal form that proofs compare, so that a rewriting that the kernel sees through leaves no
trace, and is enclosed at three exact points by ball arithmetic, so that one that it does not see through can still be told
from a change.  Of an optimality claim the sides are the objective at an arbitrary rival and the optimal point; of an
expansion the two Taylor polynomials; of a limit the path, at an exact place on it, and the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import groupby

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, Value, digits, enclose
from derivations.calculus.points import SMALL, points
from derivations.calculus.printing import text
from derivations.calculus.variables import Kind, Variable, index, simplex, stochastic, variables_of
from derivations.claims import Canonical, Sample
from derivations.relations import (
    AtLeast,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    StrictUnlessEqual,
    UniqueMinimum,
    UniquePlan,
)

DIGITS = 30
SAMPLES = 3
POSITIONS = (0, 1, -2)                                       # among the places of the indices: equal ones, and different ones

NO_VALUE = "not finite"
OTHER_THAN = ", other than "

Sides = tuple[str, sp.Expr, sp.Expr]


def canonical(relation: Relation) -> Canonical:
    """The canonical form of a relation; of a disproof, of what it disproves."""
    form, left, right = compared(relation)
    names = variables_of(sp.Tuple(left, right))
    return Canonical(
        form=form,
        left=text(_normal(left)),
        right=text(_normal(right)),
        variables={v.name: _domain(v) for v in _spoken_of(relation, names)},
        values=tuple(_samples(left, right, names)),
    )


def values_at(relation: Relation, places: Sequence[str]) -> list[Sample] | None:
    """Both sides at recorded places; None where the statement has a variable that a place lacks."""
    _, left, right = compared(relation)
    names = variables_of(sp.Tuple(left, right))
    found = []
    for place in places:
        known = read_place(place)
        if any(v.name not in known for v in names):
            return None
        point = {v: known[v.name] for v in names}
        found.append(Sample(place, _value(left, point), _value(right, point)))
    return found


@singledispatch
def compared(relation: Relation) -> Sides:
    """How a relation compares two expressions, in words, and the expressions."""
    left, right = relation.sides
    return "=", left, right


@compared.register
def _(relation: Fails) -> Sides:
    return compared(relation.relation)


@compared.register
def _(relation: AtLeast) -> Sides:
    return ">" if relation.strict else "≥", *relation.sides


@compared.register
def _(relation: Follows) -> Sides:
    given = " and ".join(f"{text(_normal(p.left))} {compared(p)[0]} {text(_normal(p.right))}" for p in relation.premises)
    form, left, right = compared(relation.conclusion)
    return f"{form}, given {given}", left, right


@compared.register
def _(relation: StrictUnlessEqual) -> Sides:
    return f"> unless {text(relation.x)} = {text(relation.y)}", *relation.sides


@compared.register
def _(relation: Limit) -> Sides:
    return f"→ as {relation.variable} → {relation.to}", *relation.sides


@compared.register
def _(relation: Expansion) -> Sides:
    polynomials = [sp.Add(*[coefficient * relation.variable**degree for degree, coefficient in enumerate(side)])
                   for side in zip(*relation.expanded, strict=True)]
    return f"= up to o({relation.variable}^{relation.order})", *polynomials


@compared.register
def _(relation: UniqueMinimum) -> Sides:
    return _minimized(relation, simplex("q", relation.over), "j")


@compared.register
def _(relation: UniquePlan) -> Sides:
    return _minimized(relation, stochastic("R", relation.rows, relation.columns), "ij")


def _minimized(relation: UniqueMinimum | UniquePlan, rival: sp.IndexedBase, names: str) -> Sides:
    """The objective at a rival and the candidate, under the names that are used in print."""
    objective = relation.open_objective.xreplace({relation.base: rival, relation.base.label: rival.label})
    printed = [index(name, axis) for name, axis in zip(names, relation.axes, strict=True)]
    return "has the only minimizer", objective, relation.candidate_at(printed)


def _spoken_of(relation: Relation, shown: Sequence[Variable]) -> list[Variable]:
    """The variables of the sides, and those of the premises and of what the sides no longer show."""
    inner = relation.relation if isinstance(relation, Fails) else relation
    return list({v.name: v for v in (*inner.variables(), *shown)}.values())


def _normal(side: sp.Expr) -> sp.Expr:
    try:
        return sums.normal(side)
    except ValueError:                                       # what has no normal form stands for itself
        return sp.sympify(side)


def _samples(left: sp.Expr, right: sp.Expr, names: Sequence[Variable]) -> list[Sample]:
    """The first exact points in general position at which both sides are finite, points where a side is 0 last."""
    telling: list[Sample] = []
    trivial: list[Sample] = []
    for point in _general(names):
        sample = Sample(write_place(point, names), _value(left, point), _value(right, point))
        if NO_VALUE not in (sample.left, sample.right):
            (trivial if "0" in (sample.left, sample.right) else telling).append(sample)
        if len(telling) == SAMPLES or len(trivial) == 2 * SAMPLES:
            break
    return (telling + trivial)[:SAMPLES]


def _general(names: Sequence[Variable]) -> Iterator[Point]:
    """Exact points past the corners, with no size 1, one for each drawing of the entries."""
    indices = {v for v in names if v.domain.kind is Kind.INDEX}
    sizes = [v for v in names if v.domain.kind is Kind.SIZE]
    drawn = groupby(points(names, seed=1, rounds=SMALL), key=lambda point: [point[v] for v in names if v not in indices])
    turns = [list(group) for _, group in drawn]
    turns = turns[len(turns) // 4 :]                         # the first quarter is corners
    wide = [group for group in turns if all(group[0][v] != 1 for v in sizes)] or turns
    for turn, group in enumerate(wide):
        yield group[POSITIONS[turn % SAMPLES] % len(group)]


def _value(side: sp.Expr, point: Point) -> str:
    """The value to thirty digits, exactly 0 where the ball cannot tell it from 0."""
    if not sp.sympify(side).free_symbols and sp.sympify(side).is_infinite:
        return str(side)
    try:
        ball = enclose(side, point)
    except ValueError:
        return NO_VALUE
    if not ball.is_finite():
        return NO_VALUE
    return "0" if ball.contains(0) else digits(ball, DIGITS)


def _domain(var: Variable) -> str:
    """What a variable ranges over, with its shape and marginals: `real [m×d]`; of an index also what it differs from."""
    domain = var.domain
    shape = "×".join(map(str, domain.shape))
    if domain.kind is Kind.INDEX:
        others = ", ".join(sorted(map(str, domain.other_than)))
        return f"{domain.kind.value}{shape}" + (f"{OTHER_THAN}{others}" if others else "")
    marginals = f"; {', '.join(map(str, domain.marginals))}" if domain.marginals else ""
    return f"{domain.kind.value} [{shape}{marginals}]" if shape else domain.kind.value


# ── places as text ──────────────────────────────────────────────────────────────────────────────────────────────────


def write_place(point: Point, names: Sequence[Variable]) -> str:
    """A point as text: `m = 2, s = (1/4, -3)`."""
    return ", ".join(f"{v.name} = {_written(point[v])}" for v in names)


def _written(value: Value) -> str:
    return "(" + ", ".join(map(_written, value)) + ")" if isinstance(value, Sequence) else str(value)


def read_place(place: str) -> dict[str, Value]:
    """The values that a text of `write_place` names; raises ValueError for another text."""
    return {name: _read(value) for name, value in (part.split(" = ", 1) for part in _parts(place))}


def _read(value: str) -> Value:
    if value.startswith("("):
        return [_read(part) for part in _parts(value[1:-1])]
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else exact


def _parts(listed: str) -> list[str]:
    """The parts between the commas that are in no parenthesis."""
    parts, depth = [""], 0
    for symbol in listed:
        depth += (symbol == "(") - (symbol == ")")
        if symbol == "," and not depth:
            parts.append("")
        else:
            parts[-1] += symbol
    return [part.strip() for part in parts if part.strip()]
