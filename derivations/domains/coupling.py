"""Transport plans: matrices of numbers ≥ 0 with given row sums and column sums."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import sympy as sp

from derivations.domains.base import Domain, Drawing, Point, Sign, Weights, check_marginals, exact
from derivations.domains.interior import Interior
from derivations.domains.masses import SHARES
from derivations.domains.simplex import Simplex


class Coupling(Domain):
    """Matrices of numbers ≥ 0 with the given marginals."""

    name = "coupling"
    words = "≥ 0 with the given marginals"
    accepted = "numbers ≥ 0"
    sign = Sign.NONNEGATIVE
    axes = (2,)
    phrase = "coupling"
    below_one = True

    def _check_marginals(self) -> None:
        check_marginals(self, (Simplex, Interior))

    @property
    def line_sums(self) -> tuple[tuple[int, sp.IndexedBase | None], ...]:
        """The sums of the rows and of the columns."""
        rows, columns = self.marginals
        return (1, rows), (0, columns)

    def positive_along(self, even: bool) -> int:
        """One of all masses is > 0."""
        return 2

    def bounds(self, entry: sp.Indexed) -> Iterator[sp.Expr]:
        """No mass is above 1, or above the marginals of its row and its column."""
        yield 1 - entry  # formal: rule_weight_below_one
        yield from (marginal[index] - entry for marginal, index in zip(self.marginals, entry.indices, strict=True))

    def lacking(self, value: Any, point: Point) -> str:
        """The masses have their sign, and rows and columns their sums."""
        if reason := super().lacking(value, point):
            return reason
        if missing := [vector.label for vector in self.marginals if vector.label not in point]:
            return f"a point that gives {missing[0].name} a value"
        rows, columns = (exact(point[vector.label]) for vector in self.marginals)
        if [sum(row) for row in value] == rows and [sum(column) for column in zip(*value, strict=True)] == columns:
            return ""
        return f"a plan with the marginals {_shown(rows)} and {_shown(columns)}"

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw a mixture of a vertex and the independent plan; the vertex at a corner."""
        rows, columns = (point[vector.label] for vector in self.marginals)
        return plan_between(rows, columns, Fraction(0 if how.corner else how.rng.randint(0, 4), 4))

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """A vertex mixed with the independent plan."""
        rows, columns = (point[vector.label] for vector in self.marginals)
        return plan_between(rows, columns, weights.mixed)

    def fitted(self, value: Any, point: Point) -> Any:
        """The independent plan of the new marginals."""
        rows, columns = (point[vector.label] for vector in self.marginals)
        return [[a * b for b in columns] for a in rows]

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Move mass along two rows and two columns, which leaves the marginals as they are."""
        i, k = rng.randrange(len(value)), rng.randrange(len(value))
        j, m = rng.randrange(len(value[0])), rng.randrange(len(value[0]))
        if i != k and j != m:
            amount = min(value[i][j], value[k][m]) * rng.choice(SHARES)
            for row, column, sign in ((i, j, -1), (k, m, -1), (i, m, 1), (k, j, 1)):
                value[row][column] += sign * amount
        return value

    def hypotheses(self, name: str, sizes: Sequence[str], vectors: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The sign of each mass, and the sums of rows and columns."""
        yield from super().hypotheses(name, sizes, vectors)
        yield f"{name}_rows", f"forall i1, \\Sum_(i2 < {sizes[1]}) {name} i1 i2 = {vectors[0]} i1"
        yield f"{name}_columns", f"forall i2, \\Sum_(i1 < {sizes[0]}) {name} i1 i2 = {vectors[1]} i2"


def plan_between(rows: Any, columns: Any, mixed: Fraction) -> list[list[Fraction]]:
    """The north-west corner plan of two marginals, a vertex with many zeros, mixed with the independent plan."""
    left, right = list(rows), list(columns)
    plan = [[mixed * a * b for b in right] for a in left]
    i = j = 0
    while i < len(left) and j < len(right):
        step = min(left[i], right[j])
        plan[i][j] += (1 - mixed) * step
        left[i], right[j] = left[i] - step, right[j] - step
        i, j = (i + 1, j) if left[i] == 0 else (i, j + 1)
    return plan


def _shown(numbers: Sequence[Fraction]) -> str:
    return f"({', '.join(map(str, numbers))})"
