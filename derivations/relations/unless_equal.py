"""An inequality that is strict unless two points agree."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, enclose_all
from derivations.calculus.functions import kl
from derivations.calculus.powers import bregman
from derivations.calculus.printing import text
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.variables import Variable, variables_of
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import PROVED, Relation, Side
from derivations.relations.witnesses import witness


@dataclass(frozen=True)
class StrictUnlessEqual(Relation):
    """left ≥ right, with equality only where the two points `x` and `y` agree.

    The proof writes left − right as Σ weight · kl(point ‖ z), weights > 0: it vanishes only if every point equals z.
    With an `alpha` the divergence is that of x^α/(α(α−1)).
    """

    sign: ClassVar[Sign] = Sign.GREATER_UNLESS_EQUAL
    left: sp.Expr
    right: sp.Expr
    x: sp.Expr
    y: sp.Expr
    z: sp.Expr
    weights: tuple[sp.Expr, ...]
    alpha: sp.Expr | None = None

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """Both sides."""
        return self.left, self.right

    @property
    def parameters(self) -> tuple[sp.Expr, ...]:
        """The two points."""
        return self.x, self.y

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """One of the sides."""
        return self._with_sides(side)

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """left > right unless x = y."""
        return f"{written(self.left)} > {written(self.right)}\\text{{ unless }} {written(self.x)} = {written(self.y)}"

    def variables(self) -> list[Variable]:
        """The free variables of the sides and of the points."""
        return sorted({*super().variables(), *variables_of(sp.Tuple(self.x, self.y, self.z))}, key=lambda v: v.name)

    def _empty(self) -> str:
        one_point = sums.alike(self.x, self.y) or sums.equal(self.x, self.y)
        return f"x, y: expected two points, got {text(self.x)} twice" if one_point else super()._empty()

    @property
    def _gap(self) -> sp.Expr:
        ends = (self.x, self.y)
        return sp.Add(*[w * divergence(end, self.z, self.alpha) for w, end in zip(self.weights, ends, strict=False)])

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """Both sides, the points and the form of the difference."""
        return *self.sides, self.x, self.y, self.z, self._gap

    def remainder(self) -> str:
        """Which half of the proof failed: the signs of the weights, or the identity."""
        facts = self.facts()
        if len(self.weights) != 2:
            return f"weights: expected two, got {len(self.weights)}"
        if strangers := set(variables_of(self._gap)) - set(self.variables()):
            return f"weights: expected variables of the statement, got {', '.join(sorted(v.name for v in strangers))}"
        if not all(strictly_positive(weight, facts) for weight in self.weights) or not nonnegative(self._gap, facts):
            return f"weights: expected positive ones of divergences, got {', '.join(map(text, self.weights))}"
        if not sums.equal(self.sides[0] - self.sides[1], self._gap):
            return f"left − right is not the weighted sum of divergences {text(self._gap)}"
        return PROVED

    def contradicted_at(self, point: Point) -> Witness | None:
        """Values in the wrong order, or equal ones at points that differ."""
        left, right, x, y = enclose_all((*self.sides, self.x, self.y), point)
        if left.is_finite() and right.is_finite() and (left < right or (left <= right and not x.overlaps(y))):
            return witness(point, left, right, "≤")
        return None

    def __str__(self) -> str:
        return f"{text(self.left)} > {text(self.right)} unless {text(self.x)} = {text(self.y)}"


def divergence(y: sp.Expr, x: sp.Expr, alpha: sp.Expr | None = None) -> sp.Expr:
    """kl(y ‖ x), or with an α > 1 the divergence of x^α/(α(α−1)).

    Raises ValueError for an α that is not known to exceed 1.
    """
    if alpha is None:
        return kl(y, x)
    if not strictly_positive(sp.sympify(alpha) - 1):
        raise ValueError(f"alpha: expected an exponent > 1, got {alpha}")
    return bregman(y, x, alpha)
