"""Points in the domains of variables, drawn to be awkward, and a test of membership: both independent of the kernel's.

Sizes go up to 7; numbers are simple, tied, nearly equal or extreme (1e-9, 1e9, 355/113); points of simplices lie on faces;
couplings are vertices, products or mixtures.
"""

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod
from numbers import Rational
from typing import Any

import sympy as sp

from derivations.calculus.variables import Variable
from derivations.domains import (
    Coupling,
    Domain,
    Index,
    Interior,
    Nonnegative,
    Nonzero,
    Positive,
    Real,
    Simplex,
    Size,
    Slack,
    Stochastic,
    Unit,
)

SIMPLE = [Fraction(p, q) for p, q in ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (3, 2), (5, 4), (7, 3))]
ODD = [
    Fraction(355, 113),
    Fraction(22, 7),
    Fraction(1, 7),
    Fraction(999_999, 1_000_000),
    Fraction(1_000_001, 1_000_000),
    Fraction(7, 1000),
    Fraction(41, 1),
]
EXTREME = [Fraction(1, 10**9), Fraction(10**9), Fraction(10**9 + 1, 10**9), Fraction(1, 10**4), Fraction(10**4)]
CONSTRAINED = (Coupling, Slack)


def names_of(exprs: Iterable[sp.Basic]) -> list[Variable]:
    """The free variables of expressions, including the sizes, indices and vectors of their domains."""
    variables: set[Variable] = set()
    todo = [s for expr in exprs for s in _free(sp.sympify(expr))]
    while todo:
        name = todo.pop()
        if name not in variables:
            variables.add(name)
            for part in (*name.domain.shape, *name.domain.other_than, *name.domain.marginals):
                todo += part.atoms(Variable)
    return sorted(variables, key=lambda v: (v.name, str(v.domain)))


def _free(expr: sp.Basic) -> set[Variable]:
    if isinstance(expr, sp.Sum):
        bound = {limit[0] for limit in expr.limits}
        shapes = {s for v in bound for part in v.domain.shape for s in part.atoms(Variable)}
        return {
            v for arg in (expr.function, *(part for limit in expr.limits for part in limit)) for v in _free(arg)
        } - bound | shapes
    if isinstance(expr, Variable):
        return {expr}
    return {v for arg in expr.args for v in _free(arg)}


def _integer(expr: sp.Expr, point: dict[Variable, Any]) -> int:
    value = sp.sympify(expr).xreplace({v: sp.Integer(point[v]) for v in expr.atoms(Variable)})
    if not value.is_Integer:
        raise ValueError(f"shape: {expr} is {value}")
    return int(value)


def draw(names: Sequence[Variable], rng: random.Random, largest: int = 7) -> dict[Variable, Any] | None:
    """A point for all names, or None if an index has no value at the drawn sizes."""
    point: dict[Variable, Any] = {}
    mood = rng.choice(("simple", "simple", "simple", "odd", "extreme", "tied", "near"))
    for name in names:
        if name.domain.is_size:
            sizes = (8, 9, 12) if largest > 7 and rng.random() < 0.7 else (1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7)
            point[name] = rng.choice(sizes[: 2 * largest - 1 if largest < 7 else 13])
    indices = [v for v in names if v.domain.is_index]
    for name in sorted(indices, key=lambda v: (len(v.domain.other_than), v.name)):
        forbidden = {point.get(other) for other in name.domain.other_than}
        allowed = [i for i in range(1, _integer(name.domain.shape[0], point) + 1) if i not in forbidden]
        if not allowed:
            return None
        point[name] = rng.choice(allowed)
    shared = [_magnitude(mood, rng) for _ in range(2)]
    rest = [v for v in names if v not in point]
    for name in sorted(rest, key=lambda v: CONSTRAINED.index(type(v.domain)) + 1 if type(v.domain) in CONSTRAINED else 0):
        point[name] = _value(name, point, mood, shared, rng)
    return point


def _magnitude(mood: str, rng: random.Random) -> Fraction:
    if mood == "odd":
        return rng.choice(SIMPLE + ODD)
    if mood == "extreme":
        return rng.choice(SIMPLE + EXTREME)
    return rng.choice(SIMPLE)


def _number(kind: type[Domain], mood: str, shared: list[Fraction], rng: random.Random) -> Fraction:
    size = rng.choice(shared) if mood == "tied" else _magnitude(mood, rng)
    if mood == "near":
        size = shared[0] + rng.choice((0, 1, -1, 2)) * Fraction(1, 10**12)
    if kind is Positive:
        return size
    if rng.random() < 0.15:
        return Fraction(0)
    return size * rng.choice((1, -1)) if kind is Real else size


def _value(name: Variable, point: dict[Variable, Any], mood: str, shared: list[Fraction], rng: random.Random) -> Any:
    kind, shape = type(name.domain), [_integer(part, point) for part in name.domain.shape]
    if kind is Coupling:
        rows, columns = (point[base.label] for base in name.domain.marginals)
        return _coupling(rows, columns, rng)
    if kind is Slack:
        plan = point[name.domain.marginals[0].label]
        return [Fraction(0) if entry > 0 else _number(Nonnegative, mood, shared, rng) for entry in plan]
    if kind is Stochastic:
        return [_masses(shape[1], True, mood, rng) for _ in range(shape[0])]
    if kind is Unit:
        rows = [_reflected(shape[-1], mood, rng) for _ in range(prod(shape[:-1]))]
        return rows if len(shape) == 2 else rows[0]
    if kind is Nonzero:
        rows = [_nonzero(shape[-1], mood, shared, rng) for _ in range(prod(shape[:-1]))]
        return rows if len(shape) == 2 else rows[0]
    if kind in (Simplex, Interior):
        return _shaped(_masses(prod(shape), kind is Simplex, mood, rng), shape)
    if not shape:
        return _number(kind, mood, shared, rng)
    if rng.random() < 0.2:
        return _shaped([_number(kind, mood, shared, rng)] * prod(shape), shape)
    return _shaped([_number(kind, mood, shared, rng) for _ in range(prod(shape))], shape)


def _nonzero(size: int, mood: str, shared: list[Fraction], rng: random.Random) -> list[Fraction]:
    """A vector other than 0, with few other entries in some cases."""
    entries = [_number(Real, mood, shared, rng) * rng.choice((0, 1, 1)) for _ in range(size)]
    return entries if any(entries) else [Fraction(int(i == size - 1)) for i in range(size)]


def _masses(size: int, closed: bool, mood: str, rng: random.Random) -> list[Fraction]:
    """A point of the simplex: a vertex, on a face, the centre or anywhere."""
    style = rng.choice(("vertex", "face", "middle", "any", "any") if closed else ("middle", "any", "any"))
    weights = [_magnitude(mood, rng) for _ in range(size)]
    if style == "vertex":
        weights = [Fraction(0)] * size
        weights[rng.randrange(size)] = Fraction(1)
    elif style == "face":
        support = rng.randrange(size)
        weights = [w if i == support or rng.random() < 0.5 else Fraction(0) for i, w in enumerate(weights)]
    elif style == "middle":
        weights = [Fraction(1)] * size
    return [w / sum(weights) for w in weights]


def _reflected(size: int, mood: str, rng: random.Random) -> list[Fraction]:
    """An axis, reflected in a plane drawn at random: a rational vector of length 1."""
    axis, normal = rng.randrange(size), [rng.choice((0, 1, -1)) * _magnitude(mood, rng) for _ in range(size)]
    square = sum(x * x for x in normal)
    return [int(i == axis) - (2 * x * normal[axis] / square if square else Fraction(0)) for i, x in enumerate(normal)]


def _coupling(rows: list[Fraction], columns: list[Fraction], rng: random.Random) -> list[list[Fraction]]:
    """A vertex of the polytope (a north-west corner plan in a random order), the product, or a mixture of two plans."""
    mixed = rng.choice((Fraction(0), Fraction(0), Fraction(1), Fraction(1, 3)))
    vertices = [_vertex(rows, columns, rng) for _ in range(2)]
    other = vertices[1] if rng.random() < 0.5 else [[x * y for y in columns] for x in rows]
    return [
        [(1 - mixed) * x + mixed * y for x, y in zip(*lines, strict=True)] for lines in zip(vertices[0], other, strict=True)
    ]


def _vertex(rows: list[Fraction], columns: list[Fraction], rng: random.Random) -> list[list[Fraction]]:
    left, right = list(rows), list(columns)
    plan = [[Fraction(0)] * len(columns) for _ in rows]
    down, across = rng.sample(range(len(rows)), len(rows)), rng.sample(range(len(columns)), len(columns))
    while down and across:
        i, j = down[0], across[0]
        step = min(left[i], right[j])
        plan[i][j] += step
        left[i], right[j] = left[i] - step, right[j] - step
        (down if left[i] == 0 else across).pop(0)
    return plan


def _shaped(flat: list[Fraction], shape: list[int]) -> list[Any]:
    if len(shape) == 1:
        return flat
    step = prod(shape[1:])
    return [_shaped(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def outside(point: dict[Variable, Any]) -> str | None:
    """Why the point is outside of the domains of its variables, or None if it is inside."""
    for name, value in point.items():
        if (reason := _outside(name, value, point)) is not None:
            return f"{name.name} = {value}: {reason}"
    return None


def _outside(name: Variable, value: Any, point: dict[Variable, Any]) -> str | None:
    kind, domain = type(name.domain), name.domain
    if kind in (Size, Index):
        if not isinstance(value, Rational) or value.denominator != 1 or value < 1:
            return "no integer ≥ 1"
        if kind is Index and value > _integer(domain.shape[0], point):
            return "out of range"
        return "not different" if any(_integer(other, point) == value for other in domain.other_than) else None
    flat = list(_flat(value, [_integer(part, point) for part in domain.shape]))
    if None in flat:
        return "wrong shape"
    if kind is Unit:
        rows = [list(row) for row in value] if len(domain.shape) == 2 else [flat]
        return None if all(sum(entry**2 for entry in row) == 1 for row in rows) else "a length that is not 1"
    if kind is Nonzero:
        rows = [list(row) for row in value] if len(domain.shape) == 2 else [flat]
        return None if all(map(any, rows)) else "a zero vector"
    if kind is not Real and any(entry < 0 or (entry == 0 and kind in (Positive, Interior)) for entry in flat):
        return "wrong sign"
    if kind in (Simplex, Interior) and sum(flat) != 1:
        return "sum not 1"
    if kind is Stochastic and any(sum(row) != 1 for row in value):
        return "a row with sum not 1"
    if kind is Coupling:
        rows, columns = (list(point[base.label]) for base in domain.marginals)
        if [sum(row) for row in value] != rows or [sum(column) for column in zip(*value, strict=True)] != columns:
            return "wrong marginals"
    if kind is Slack and any(x * y for x, y in zip(value, point[domain.marginals[0].label], strict=True)):
        return "not complementary"
    return None


def _flat(value: Any, shape: list[int]) -> Iterable[Any]:
    if not shape:
        yield value if isinstance(value, Rational) else None
    elif not isinstance(value, Sequence) or len(value) != shape[0]:
        yield None
    else:
        for part in value:
            yield from _flat(part, shape[1:])
