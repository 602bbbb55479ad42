"""An inequality that holds for every value of an index, or of several."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import sympy as sp

from derivations.calculus.balls import Point
from derivations.calculus.points import with_indices
from derivations.calculus.screening import Fact
from derivations.calculus.variables import Variable
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import HYPOTHESES, Hypothesis, Relation
from derivations.relations.inequality import AtLeast
from derivations.relations.sameness import same


@dataclass(frozen=True)
class ForAll(Hypothesis):
    """`bound` for all values of the indices `over`: that no two templates are farther apart than D, say.

    As a hypothesis it gives signs to expressions with other indices over the same ranges, bound ones included; as a premise of
    `Follows` it has weights that may depend on these indices, and is summed over them.  Raises ValueError for anything but an
    inequality without hypotheses of its own, and for anything but different indices.
    """

    bound: AtLeast = field()
    over: tuple[Variable, ...]

    def __post_init__(self) -> None:
        """Check the inequality and the indices."""
        super().__post_init__()
        if type(self.bound) is not AtLeast or self.bound.given:
            raise ValueError(f"bound: expected an inequality without hypotheses, got {self.bound}")
        if (
            not self.over
            or len({*self.over}) < len(self.over)
            or any(type(v) is not Variable or not v.domain.is_index for v in self.over)
        ):
            raise ValueError(f"over: expected one or several different indices, got {self.over}")

    @property
    def sign(self) -> Sign:
        """The sign of the inequality."""
        return self.bound.sign

    @property
    def parameters(self) -> tuple[sp.Expr, ...]:
        """The indices."""
        return self.over

    @property
    def ranging(self) -> tuple[Variable, ...]:
        """The indices."""
        return self.over

    @property
    def stated(self) -> Relation:
        """The inequality at one value of each index."""
        return self.bound

    def says_the_same(self, other: "ForAll") -> bool:
        """Whether the inequalities are the same, for all values of the same indices."""
        return self.over == other.over and same(self.bound, other.bound)

    def rebuilt(self, change: Callable[[Relation], Relation]) -> Relation:
        """The inequality as changed, for all values of the indices."""
        return replace(self, bound=change(self.bound))  # type: ignore[arg-type]

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The inequality with its indices, as LaTeX."""
        return f"{self.bound.latex(written)}\\text{{ for all }} {', '.join(map(written, self.over))}"

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """Both sides of the inequality, of which the indices are free."""
        return self.bound.sides

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """The sides, and the form of their difference."""
        return self.bound.expressions

    def variables(self) -> list[Variable]:
        """The free variables, without the indices."""
        return [v for v in self.bound.variables() if v not in self.over]

    @property
    def fact(self) -> Fact:
        """The difference, with the indices."""
        expr, strict, _ = self.bound.fact
        return expr, strict, self.over

    def remainder(self) -> str:
        """Return why the inequality with free indices is not proved."""
        return self.bound.remainder()

    def contradicted_at(self, point: Point) -> Witness | None:
        """The failure at the first values of the indices at which the inequality fails."""
        return next(filter(None, map(self.bound.contradicted_at, self._at_indices(point))), None)

    def holds_at(self, point: Point) -> bool:
        """Whether the inequality is certain at a point, whatever the indices are."""
        return all(map(self.bound.holds_at, self._at_indices(point)))

    def _at_indices(self, point: Point) -> Iterator[Point]:
        return with_indices(self.over, {v: value for v, value in point.items() if v not in self.over})

    def __str__(self) -> str:
        return f"{self.bound} for all {', '.join(map(str, self.over))}"


HYPOTHESES.append(ForAll)
