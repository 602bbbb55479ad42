"""The canonical form of a statement, and its value at three exact points: what a later run is compared with.

Each side is put into the normal form that proofs compare, so that a rewriting that the kernel sees through leaves no
trace, and is enclosed at three exact points by ball arithmetic, so that one that it does not see through can still be told
from a change.  Of an optimality claim the sides are the objective at an arbitrary rival and the optimal point; of an
expansion the two Taylor polynomials; of a limit the path, at an exact place on it, and the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from itertools import groupby

import sympy as sp
from msgspec.structs import replace

from derivations.calculus import sums
from derivations.calculus.balls import Point, digits, enclose
from derivations.calculus.points import SMALL, points
from derivations.calculus.printing import text
from derivations.calculus.variables import Kind, Variable, index, simplex, stochastic, variables_of
from derivations.normal_form import Canonical, Domain, Form, Premise, Sample, Sign
from derivations.records import Exact, exact, from_exact
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

Place = Mapping[str, Exact]                                  # exact values by the names of the variables
Sides = tuple[Form, sp.Expr, sp.Expr]


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


def values_at(relation: Relation, places: Sequence[Place]) -> list[Sample] | None:
    """Both sides at recorded places; None where the statement has a variable that a place lacks."""
    _, left, right = compared(relation)
    names = variables_of(sp.Tuple(left, right))
    samples = []
    for place in places:
        if any(v.name not in place for v in names):
            return None
        point = {v: from_exact(place[v.name]) for v in names}
        samples.append(Sample(place, _value(left, point), _value(right, point)))
    return samples


@singledispatch
def compared(relation: Relation) -> Sides:
    """How a relation compares two expressions, and the expressions."""
    left, right = relation.sides
    return Form(Sign.EQUAL), left, right


@compared.register
def _(relation: Fails) -> Sides:
    return compared(relation.relation)


@compared.register
def _(relation: AtLeast) -> Sides:
    return Form(Sign.GREATER if relation.strict else Sign.AT_LEAST), *relation.sides


@compared.register
def _(relation: Follows) -> Sides:
    given = tuple(Premise(text(_normal(p.left)), compared(p)[0], text(_normal(p.right))) for p in relation.premises)
    form, left, right = compared(relation.conclusion)
    return replace(form, given=(*form.given, *given)), left, right


@compared.register
def _(relation: StrictUnlessEqual) -> Sides:
    return Form(Sign.GREATER_UNLESS_EQUAL, (text(relation.x), text(relation.y))), *relation.sides


@compared.register
def _(relation: Limit) -> Sides:
    return Form(Sign.LIMIT, (str(relation.variable), str(relation.to))), *relation.sides


@compared.register
def _(relation: Expansion) -> Sides:
    polynomials = [sp.Add(*[coefficient * relation.variable**degree for degree, coefficient in enumerate(side)])
                   for side in zip(*relation.expanded, strict=True)]
    return Form(Sign.EXPANSION, (str(relation.variable), str(relation.order))), *polynomials


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
    return Form(Sign.MINIMIZER), objective, relation.candidate_at(printed)


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
        sample = Sample({v.name: exact(point[v]) for v in names}, _value(left, point), _value(right, point))
        if None not in (sample.left, sample.right):
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


def _value(side: sp.Expr, point: Point) -> str | None:
    """The value to thirty digits, exactly 0 where the ball cannot tell it from 0; None where it is not finite."""
    if not sp.sympify(side).free_symbols and sp.sympify(side).is_infinite:
        return str(side)
    try:
        ball = enclose(side, point)
    except ValueError:
        return None
    if not ball.is_finite():
        return None
    return "0" if ball.contains(0) else digits(ball, DIGITS)


def _domain(var: Variable) -> Domain:
    """What a variable ranges over, with its shape and marginals; of an index also what it differs from."""
    domain = var.domain
    return Domain(domain.kind, tuple(map(str, domain.shape)), tuple(map(str, domain.marginals)),
                  tuple(sorted(map(str, domain.other_than))))
