"""Comparison of one reading with one formula: which positions can be compared, and how far each route is off.

A position can be compared where the formula and the route are both finite.  Positions that an index may not take
(k = j where k ≠ j) are left out, known from the point; a position where the formula or a route overflows or is not
defined is neither agreement nor a refutation, and is counted.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from torch import Tensor

from derivations.calculus.sums import alike
from derivations.calculus.variables import Variable, variables_of
from derivations.records.normal_form import Sign
from derivations.relations import Relation
from evidence.bridge import Value, clashes, evaluate

REFUTING_FACTOR = 10.0  # a refutation needs ten times the deviation that agreement allows
INFINITE = (sp.oo, -sp.oo)
MARGIN = REFUTING_FACTOR + 1  # tolerances by which > has to exceed, so that = refutes it

Array = NDArray[Any]


@dataclass(frozen=True)
class Reading:
    """The numbers that a layer computed at one instance.

    Attributes:
        point: the value of every variable by its printed name; indices that are left out become axes.  An instance may
            describe more than one claim: values that neither the statement nor its twins use are ignored.
        routes: the printed left side by each route, with one axis for each free index, by name.
        tolerance: the absolute error that the routes may have there, from `numerics.tolerances`.
        computed: which printed side the routes computed; the other one is the derivation's.
    """

    point: Mapping[str, Value]
    routes: Mapping[str, Tensor]
    tolerance: float
    computed: Literal["left", "right"] = "left"


class Formula:
    """A relation's two sides, ready to be evaluated many times; for a disproof, those of the disproved relation.

    Raises ValueError for two different variables of one name, which no reading could tell apart.
    """

    def __init__(self, relation: Relation, about: str = "statement") -> None:
        relation = relation.core
        self.about, self.relation = about, relation
        self.left, self.right = sp.sympify(relation.sides[0]), sp.sympify(relation.value)
        self.ordered, self.apart = relation.ordered, relation.sign is Sign.DIFFERENT
        self.strict = relation.sign in (Sign.DIFFERENT, Sign.GREATER)
        self.given = [*relation.given, *relation.premises]
        compared = variables_of(sp.Tuple(self.left, self.right))
        occurring = list(dict.fromkeys([*compared, *(v for p in self.given for v in p.variables())]))
        self.variables = [v for v in occurring if v != relation.moving]
        self.names = [v.name for v in compared]
        self.indices = [v for v in self.variables if v.domain.is_index and v.name in self.names]
        distinct(self.variables, about)

    def edited(self, side: Literal["left", "right"], expr: sp.Expr, strict: bool) -> "Formula":
        """The same formula with another expression on one side, of the same variables."""
        other = copy(self)
        other.left, other.right = (expr, self.right) if side == "left" else (self.left, expr)
        other.strict = strict
        return other

    def axes(self, point: Mapping[str, Value]) -> list[Variable]:
        """The indices that a point leaves open."""
        return [v for v in self.indices if v.name not in point]


def distinct(variables: Iterable[Variable], about: str) -> None:
    """Raise ValueError if two different variables share a name."""
    twice = [name for name, count in Counter(v.name for v in set(variables)).items() if count > 1]
    if twice:
        raise ValueError(f"{about}: expected one variable of a name, got two different ones named {', '.join(sorted(twice))}")


@dataclass(frozen=True)
class Miss:
    """One position, counted from 1 along the free indices, with the values of the route and the formula."""

    position: tuple[int, ...]
    computed: float
    derived: float


@dataclass(frozen=True)
class Comparison:
    """How one route compares with a formula at one instance.

    `miss` is in units of the tolerance: up to 1 is agreement, more than `REFUTING_FACTOR` a refutation.  A strict inequality
    is read as one by `MARGIN` tolerances, since numbers that are rounded cannot tell > from ≥ otherwise.
    """

    miss: float
    compared: int
    incomparable: int
    gap: float = math.inf  # the smallest |left − right| relative to the larger one
    largest: float = 0.0  # of the numbers that were compared
    derived: float = 0.0  # the largest of those that are the formula's
    worst: Miss | None = None  # where the route is farthest off


@cache
def _alike(one: sp.Expr, other: sp.Expr) -> bool:
    return alike(one, other)


def standing_for(twin: Formula, printed: Formula, reading: Reading, axes: Sequence[Variable]) -> Reading:
    """Return the reading with which a twin is compared.

    If the twin changed the side that the routes compute, its own value of that side replaces the routes.  Limits and
    optimization problems have no value of that side at a point, and are compared by the other side alone.
    """
    own, printed_one = (twin.right, printed.right) if reading.computed == "right" else (twin.left, printed.left)
    if len(twin.relation.evaluated) == 1 or _alike(own, printed_one):
        return reading
    return replace(reading, routes=dict.fromkeys(reading.routes, evaluate(own, reading.point, axes)))


def compare(formula: Formula, reading: Reading, axes: Sequence[Variable]) -> dict[str, Comparison]:
    """Compare every route of a reading with the side of the formula that the routes did not compute.

    `axes` are those of the printed statement, since a twin may have lost an index.  Raises ValueError for a route of a
    different shape.
    """
    derived = formula.left if reading.computed == "right" else formula.right
    expected, barred = evaluate(derived, reading.point, axes).numpy(), clashes(axes, reading.point).numpy()
    return {name: _compared(formula, reading, name, derived, expected, barred) for name in reading.routes}


def _compared(formula: Formula, reading: Reading, route: str, derived: sp.Expr, expected: Array, barred: Array) -> Comparison:
    """Compare one route; in NumPy, which takes half as long as torch for so few numbers."""
    values = reading.routes[route].detach().double().cpu().numpy()
    if values.shape != expected.shape:
        raise ValueError(f"{route}: expected shape {expected.shape}, got {values.shape}")
    if derived in INFINITE and np.isfinite(values[~barred]).all():  # a number where ∞ is claimed
        return Comparison(math.inf, values[~barred].size, 0, math.inf, _largest(values[~barred]), math.inf)
    both = ~barred & np.isfinite(expected) & np.isfinite(values)
    unclear = int((~barred).sum() - both.sum())
    positions, expected, values = np.argwhere(both) + 1, expected[both], values[both]
    if not expected.size:
        return Comparison(0.0, 0, unclear)
    with np.errstate(all="ignore"):
        deviation = values - expected if reading.computed == "right" else expected - values
        larger = np.maximum(np.abs(expected), np.abs(values))
        gap = float(np.nan_to_num(np.abs(deviation) / larger).min())  # 0/0 where both sides are 0
    deviation = deviation if formula.ordered else -np.abs(deviation) if formula.apart else np.abs(deviation)
    index = int(deviation.argmax())
    miss = float(deviation[index]) / reading.tolerance
    worst = Miss(tuple(positions[index].tolist()), float(values[index]), float(expected[index]))
    return Comparison(
        miss + MARGIN * formula.strict, expected.size, unclear, gap, float(larger.max()), _largest(expected), worst
    )


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
