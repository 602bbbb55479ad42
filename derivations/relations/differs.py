"""Two expressions differ everywhere."""

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, enclose_all
from derivations.calculus.printing import text
from derivations.calculus.screening import Fact
from derivations.calculus.signs import nonzero
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import HYPOTHESES, PROVED, Hypothesis
from derivations.relations.sameness import one_difference_either_way
from derivations.relations.witnesses import differ, witness


@dataclass(frozen=True)
class Differs(Hypothesis):
    """left ≠ right everywhere."""

    sign: ClassVar[Sign] = Sign.DIFFERENT
    left: sp.Expr
    right: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """Both sides."""
        return self.left, self.right

    @property
    def fact(self) -> Fact:
        """The difference is not 0."""
        return self.sides[0] - self.sides[1], None, ()

    def remainder(self) -> str:
        """The difference, where it may be 0."""
        difference = sums.normal(self.sides[0] - self.sides[1])
        return PROVED if nonzero(difference, self.facts()) else f"it is not shown that {text(difference)} ≠ 0"

    def contradicted_at(self, point: Point) -> Witness | None:
        """Two values that are exactly equal: their difference is, as a rational number such as 1/3 is no exact ball."""
        one, other, gap = enclose_all((*self.sides, self.sides[0] - self.sides[1]), point)
        exact = one.is_finite() and other.is_finite() and gap.is_exact() and gap == 0
        return witness(point, one, other, "=") if exact else None

    def holds_at(self, point: Point) -> bool:
        """Whether the two values are certainly different."""
        return differ(point, *self.sides) is not None

    def says_the_same(self, other: "Differs") -> bool:
        """Whether the sides have the same difference, up to its sign."""
        return one_difference_either_way(self.sides, other.sides)


HYPOTHESES.append(Differs)
