"""Conditions that a paper's text sets and its notation does not express: a point that violates one refutes nothing."""

from collections.abc import Iterator, Mapping
from itertools import product

import sympy as sp

from derivations.calculus.balls import Point
from derivations.calculus.variables import variables_of
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.meaning.values import Value, bound
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Symbol, walk
from derivations.relations import Relation

REACH = 3  # lines behind an equation in which its conditions may follow


def excluding(point: Point, notation: Notation, line: int) -> tuple[int, str] | None:
    """Return a condition on the equation of a line that fails at a point, or cannot be read and is about its values.

    It stands before the equation, or a few lines behind it.
    """
    for where, latex in notation.restrictions:
        if where > line + REACH:
            continue
        try:
            relations = read(latex, notation)
        except ValueError:
            if _is_about(latex, notation, point):
                return where, latex
            continue
        if any(relation.contradicted_at(each) for relation in relations for each in _extended(relation, point)):
            return where, latex
    return None


def _is_about(latex: str, notation: Notation, point: Point) -> bool:
    """Return whether a condition names a variable of a point other than its sizes and indices."""
    try:
        names = {node.name for node in walk(parse(latex)) if isinstance(node, Symbol)}
    except ValueError:
        return False
    values = [meaning for name in names if isinstance(meaning := notation.meanings.get(name), Value)]
    entries = [value.entry(*map(bound, value.shape)) for value in values if None not in value.shape]
    variables = {each for entry in entries for each in variables_of(entry)}
    return any(each in point and not each.domain.is_integer for each in variables)


def _extended(relation: Relation, point: Point) -> Iterator[Point]:
    """Yield a point with each value of the indices that a condition has besides; nothing if it has other variables."""
    missing = [each for each in relation.variables() if each not in point]
    if any(not each.domain.is_index for each in missing):
        return
    sizes: Mapping[sp.Expr, object] = {each: value for each, value in point.items() if each.domain.is_size}
    lengths = [sp.sympify(sp.sympify(each.domain.shape[0]).xreplace(sizes)) for each in missing]
    if all(length.is_Integer for length in lengths):
        for values in product(*(range(1, int(length) + 1) for length in lengths)):
            yield {**point, **{each: sp.Integer(value) for each, value in zip(missing, values, strict=True)}}
