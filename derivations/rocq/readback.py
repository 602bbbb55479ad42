"""Read an exported statement back, and compare it with the relation at exact points.

Of the exporter only the names of the variables are used here.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, chain, islice, product
from random import Random
from typing import Any

from flint import arb, ctx, fmpq

from derivations.calculus.balls import Point, enclose, enclose_all
from derivations.calculus.points import with_indices
from derivations.calculus.variables import Variable
from derivations.records.normal_form import Sign
from derivations.relations import Expansion, Relation
from derivations.relations.problem import Problem
from derivations.rocq.export import Theorem
from derivations.rocq.reading import Reader, Scope, real

SIGNS = {Sign.EQUAL: "=", Sign.DIFFERENT: "!=", Sign.AT_LEAST: "<=", Sign.GREATER: "<"}
POINTS = 12  # at which a statement is compared with its relation,
AMONG = 600  # drawn from so many: the first have all entries 0
NEAR = (Fraction(1, 7), Fraction(1, 16))  # where the sides of an expansion are compared
BITS = 200
CLOSE = 2.0**-90  # a radius, relative to the value, of what is compared


def parts(statement: str) -> tuple[list[tuple[str, str]], str]:
    """The binders of a theorem, each a name and a type, and its conclusion."""
    text = statement[statement.index("forall") + len("forall") :].strip().removesuffix(".")
    binders = []
    while text.startswith("("):
        depths = accumulate((letter == "(") - (letter == ")") for letter in text)
        end = next(position for position, depth in enumerate(depths) if depth == 0)
        name, type = text[1:end].split(":", 1)
        binders.append((name.strip(), type.strip()))
        text = text[end + 1 :].lstrip()
    return binders, text.removeprefix(",").strip()


def disagreement(theorem: Theorem, relation: Relation) -> str:
    """A difference between the exported statement and the relation; empty if there is none."""
    saved, ctx.prec = ctx.prec, BITS
    try:
        return next(_disagreements(theorem, relation), "")
    finally:
        ctx.prec = saved


def _disagreements(theorem: Theorem, relation: Relation) -> Iterator[str]:
    binders, conclusion = parts(theorem.statement)
    hypotheses = [(name, type) for name, type in binders if name not in theorem.variables and name != "R"]
    compared = 0
    points = list(islice(filter(_has_places, relation.points()), AMONG))
    for point in Random(0).sample(points, min(POINTS, len(points))):
        scope = _scope(theorem, point)
        if false := [
            name for name, text in hypotheses if _hypothesis(text, scope, binders) is False and not name.startswith("premise")
        ]:
            yield f"the hypothesis {false[0]} is false at a point of the domain"
        assumed = _assumed(dict(hypotheses), relation, scope, point)
        for stated, meant in chain(_values(conclusion, relation, scope, point), assumed):
            ours, theirs = arb(stated), arb(meant)
            if not (theirs.is_finite() and ours.is_finite()):
                continue
            compared += 1
            if not ours.overlaps(theirs):
                yield f"the statement says {ours.str(8)} where the relation says {theirs.str(8)}"
            elif ours.rad() > CLOSE * (1 + abs(theirs)).upper():
                yield f"the value {ours.str(8)} is not sharp enough to be compared"
    if not compared:
        yield "no point at which statement and relation could be compared"


def _assumed(texts: dict[str, str], relation: Relation, scope: Scope, point: Point) -> Iterator[tuple[Any, arb]]:
    """Pair the value of each declared hypothesis or premise with the value in the relation."""
    hypotheses = {f"given{n}": hypothesis for n, hypothesis in enumerate(relation.given, start=1)}
    premises = {f"premise{n}": premise for n, premise in enumerate(relation.premises, start=1)}
    for name, hypothesis in (hypotheses | premises).items():
        bound, text = _quantified(texts[name])
        over, stated = hypothesis.ranging, hypothesis.stated
        if len(bound) != len(over):
            raise ValueError(f"{name}: expected a statement for all of {len(over)} indices, got {len(bound)}")
        for at in with_indices(over, {v: value for v, value in point.items() if v not in over}):
            indices = {each: at[v] - 1 for each, v in zip(bound, over, strict=True)}  # type: ignore[operator]
            yield from _compared_sides(text, stated, {**scope, **indices}, at)


def _quantified(text: str) -> tuple[list[str], str]:
    """The names that a hypothesis binds, and its statement about them."""
    if not text.startswith("forall"):
        return [], text
    head, text = text.removeprefix("forall").split(",", 1)
    return head.split(), text


def _has_places(point: Point) -> bool:
    """Whether all indices of a point are places: two that differ are put beside a size of 1, too."""
    indices = ((value, point.get(v.domain.shape[0], value)) for v, value in point.items() if v.domain.is_index)
    return all(value <= size for value, size in indices)  # type: ignore[operator]


def _scope(theorem: Theorem, point: Point) -> Scope:
    return {name: _value(v, point[v]) for name, v in theorem.variables.items() if v in point}


def _value(v: Variable, value: Any) -> Any:
    if v.domain.is_size:
        return value
    if v.domain.is_index:
        return value - 1
    return _numbers(value)


def _numbers(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_numbers(each) for each in value]
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def _hypothesis(text: str, scope: Scope, binders: list[tuple[str, str]]) -> bool | None:
    """Whether a hypothesis holds at a point, for all values of the indices that it speaks of."""
    if text.endswith("%N"):
        size = re.findall(r"\w+", text)[1]
        return bool(scope[size] > 0)
    if "->" in text or text == "nat":
        return None
    bound, text = _quantified(text)
    if "!=" in text and not re.search(r"[(:]", text):
        one, other = (each.strip() for each in text.split("!="))
        return bool(scope[one] != scope[other])
    holds = Reader(text).comparison()
    answers = [holds(position) for position in _places(bound, text, scope, binders)]
    return False if False in answers else None if None in answers else True


def _places(bound: list[str], text: str, scope: Scope, binders: list[tuple[str, str]]) -> Iterator[Scope]:
    """The scope with every value of the indices, whose ranges are those of the indexed vector."""
    if not bound:
        yield scope
        return
    for name, type in binders:
        for match in re.finditer(rf"\b{re.escape(name)}((?: i\d)+)", text):
            if "->" in type and bound[0] in match.group(1).split():
                size = re.findall(r"'I_(\w+)", type)[match.group(1).split().index(bound[0])]
                for position in range(int(size) if size.isdigit() else scope[size]):
                    yield from _places(bound[1:], text, {**scope, bound[0]: position}, binders)
                return
    raise ValueError(f"{bound[0]}: expected an index of an array in {text}")


def _values(conclusion: str, relation: Relation, scope: Scope, point: Point) -> Iterator[tuple[Any, arb]]:
    """Pairs of a value of the statement and that of the relation."""
    if relation.problem:
        yield from _of_minimizer(conclusion, relation.problem, scope, point)
    elif relation.expansion:
        yield from _of_expansion(conclusion, relation.expansion, scope, point)
    else:
        yield from _compared_sides(conclusion, relation.stated, scope, point)


def _compared_sides(text: str, relation: Relation, scope: Scope, point: Point) -> Iterator[tuple[Any, arb]]:
    """Both sides of an equality or an inequality; raises ValueError for another sign than the relation's."""
    reader = Reader(text)
    first, sign, second = reader.expression(), reader.next("=", "<", "<=", "!="), reader.expression()
    expected = SIGNS[relation.sign]
    if sign != expected or reader.at != len(reader.tokens):
        raise ValueError(f"expected one statement with {expected}, got {sign}")
    sides = (second, first) if sign in ("<", "<=") else (first, second)
    yield from ((real(side(scope)), value) for side, value in zip(sides, enclose_all(relation.sides, point), strict=True))


def _of_expansion(conclusion: str, relation: Expansion, scope: Scope, point: Point) -> Iterator[tuple[Any, arb]]:
    """The order, and both functions near 0."""
    reader = Reader(conclusion.removeprefix("agrees"))
    yield int(reader.next()), arb(relation.order)
    for side in (relation.left, relation.right):
        reader.next("(")
        function = reader.function()(scope)
        for near in NEAR:
            yield real(function(_numbers(near))), enclose(side, {**point, relation.variable: near})


def _of_minimizer(conclusion: str, relation: Problem, scope: Scope, point: Point) -> Iterator[tuple[Any, arb]]:
    """The entries of the candidate, and the objective at three rivals; a plan has one of them in each row, in turn."""
    reader = Reader(conclusion.removeprefix("only_minimizer" if len(relation.axes) == 1 else "only_plan"))
    reader.next("(")
    objective = reader.function()(scope)
    reader.next("(")
    candidate = reader.function()(scope)
    sizes = [point[axis] for axis in relation.axes]
    for indices in product(*(range(size) for size in sizes if isinstance(size, int))):
        entry = candidate
        for position in indices:
            entry = entry(position)
        at = dict(zip(relation.places, (position + 1 for position in indices), strict=True))
        yield entry, enclose(relation.entry, {**point, **at})
    for each in _rivals(*(size for size in sizes if isinstance(size, int))):
        yield objective(_numbers(each)), enclose(relation.open_objective, {**point, relation.base.label: each})


def _rivals(*sizes: int) -> list[Any]:
    *rows, size = sizes
    points = [
        [Fraction(1, size)] * size,
        [Fraction(2 * k + 1, size * size) for k in range(size)],
        [Fraction(int(k == size - 1)) for k in range(size)],
    ]
    return [[points[(n + row) % len(points)] for row in range(rows[0])] for n in range(len(points))] if rows else points
