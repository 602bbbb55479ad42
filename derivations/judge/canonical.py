"""The canonical form of a statement and its values at three exact points, with which later runs are compared.

Each side is stored in the kernel's normal form, so that rewritings which the kernel recognizes as equivalent compare as
equal.  Its values at three exact points, enclosed by ball arithmetic, distinguish other rewritings from real changes.
For an optimality claim the sides are the objective at an arbitrary rival and the optimal point; for an expansion the two
Taylor polynomials; for a limit the expression and the limit.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, digits, enclose
from derivations.calculus.points import SMALL, points
from derivations.calculus.printing import text
from derivations.calculus.variables import Variable, variables_of
from derivations.records.base import Exact, exact, from_exact
from derivations.records.normal_form import Canonical, Declared, Form, Premise, Sample
from derivations.relations import Relation

DIGITS = 30
SAMPLES = 3
POSITIONS = (0, 1, -2)  # among points that differ in indices only: equal, then different

SamplePoint = Mapping[str, Exact]  # exact values by variable name
Sides = tuple[Form, sp.Expr, sp.Expr]


def canonical(relation: Relation) -> Canonical:
    """Return the canonical form of a relation; for a disproof, of the relation that it disproves."""
    relation = relation.core
    form, left, right = compared(relation)
    names = variables_of(sp.Tuple(left, right))
    return Canonical(
        form=form,
        left=text(_normal(left)),
        right=text(_normal(right)),
        variables={v.name: _declared(v) for v in _variables_of_statement(relation, names)},
        values=tuple(_samples(left, right, names)),
    )


def values_at(relation: Relation, recorded: Sequence[SamplePoint]) -> list[Sample] | None:
    """Return both sides at recorded points; None if a point lacks a variable of the statement."""
    _, left, right = compared(relation.core)
    names = variables_of(sp.Tuple(left, right))
    samples = []
    for inputs in recorded:
        if any(v.name not in inputs for v in names):
            return None
        point = {v: from_exact(inputs[v.name]) for v in names}
        samples.append(Sample(inputs, _value(left, point), _value(right, point)))
    return samples


def compared(relation: Relation) -> Sides:
    """Return the form of the comparison that a relation makes, and its two sides."""
    premises = map(compared, relation.premises)
    given = tuple(Premise(text(_normal(left)), form, text(_normal(right))) for form, left, right in premises)
    return Form(relation.sign, tuple(map(text, relation.parameters)), given), *relation.compared


def _variables_of_statement(relation: Relation, shown: Sequence[Variable]) -> list[Variable]:
    """Return the variables of the statement, including those that occur in premises or were simplified away."""
    return list({v.name: v for v in (*relation.variables(), *shown)}.values())


def _normal(side: sp.Expr) -> sp.Expr:
    try:
        return sums.normal(side)
    except ValueError:  # without a normal form, keep the expression as written
        return sp.sympify(side)


def _samples(left: sp.Expr, right: sp.Expr, names: Sequence[Variable]) -> list[Sample]:
    """Return the first exact points at which both sides are finite; points where a side is 0 come last."""
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
    """Yield exact points beyond the corner cases and with sizes above 1, one for each draw of the entries."""
    indices = {v for v in names if v.domain.is_index}
    sizes = [v for v in names if v.domain.is_size]
    drawn = groupby(points(names, seed=1, rounds=SMALL), key=lambda point: [point[v] for v in names if v not in indices])
    turns = [list(group) for _, group in drawn]
    turns = turns[len(turns) // 4 :]  # the first quarter is corners
    wide = [group for group in turns if all(group[0][v] != 1 for v in sizes)] or turns
    for turn, group in enumerate(wide):
        yield group[POSITIONS[turn % SAMPLES] % len(group)]


def _value(side: sp.Expr, point: Point) -> str | None:
    """Return the value to 30 digits, 0 if the ball contains 0, None if it is not finite."""
    if not sp.sympify(side).free_symbols and sp.sympify(side).is_infinite:
        return str(side)
    try:
        ball = enclose(side, point)
    except ValueError:
        return None
    if not ball.is_finite():
        return None
    return "0" if ball.contains(0) else digits(ball, DIGITS)


def _declared(var: Variable) -> Declared:
    """Return the domain of a variable as a record."""
    domain = var.domain
    return Declared(
        domain.name,
        tuple(map(str, domain.shape)),
        tuple(map(str, domain.marginals)),
        tuple(sorted(map(str, domain.other_than))),
    )
