"""Two expressions are equal."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import PROVED, Relation, Side, remaining
from derivations.relations.exporter import Exporter, Result
from derivations.relations.sameness import one_difference_either_way
from derivations.relations.witnesses import differ


@dataclass(frozen=True)
class Equation(Relation):
    """left = right."""

    sign: ClassVar[Sign] = Sign.EQUAL
    left: sp.Expr
    right: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """Both sides."""
        return self.left, self.right

    def remainder(self) -> str:
        """The normal form of left − right, where it is not 0."""
        return PROVED if sums.equal(*self.sides) else remaining(sums.normal(self.sides[0] - self.sides[1]))

    def contradicted_at(self, point: Point) -> Witness | None:
        """Two certified values that are different."""
        return differ(point, *self.sides)

    def says_the_same(self, other: "Equation") -> bool:
        """Whether the sides have the same difference, up to its sign."""
        return one_difference_either_way(self.sides, other.sides)

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """One of the sides."""
        return self._with_sides(side)

    def exported(self, to: Exporter[Result]) -> Result:
        """An equality."""
        return to.equality(self)
