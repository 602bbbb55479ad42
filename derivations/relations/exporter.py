"""What writes statements in another language, such as that of Rocq."""

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from derivations.relations.base import Relation
    from derivations.relations.equation import Equation
    from derivations.relations.expansion import Expansion
    from derivations.relations.implication import Follows
    from derivations.relations.inequality import AtLeast
    from derivations.relations.optimum import UniqueMinimum
    from derivations.relations.plan import UniquePlan

Result = TypeVar("Result", covariant=True)


class Exporter(Protocol[Result]):
    """Writes statements in another language, with one method for each way to prove one."""

    def equality(self, relation: "Equation") -> Result:
        """Write an equation."""

    def inequality(self, relation: "AtLeast") -> Result:
        """Write an inequality."""

    def implication(self, relation: "Follows") -> Result:
        """Write an inequality that follows from others."""

    def expansion(self, relation: "Expansion") -> Result:
        """Write an expansion."""

    def minimizer(self, relation: "UniqueMinimum") -> Result:
        """Write that a point of a simplex is the only optimum."""

    def plan(self, relation: "UniquePlan") -> Result:
        """Write that a plan is the only optimum."""

    def other(self, relation: "Relation") -> Result:
        """Write a statement of any other kind, or refuse it."""
