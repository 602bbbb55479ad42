"""What writes statements in another language, such as that of Rocq."""

from typing import Any, Protocol, TypeVar

Result = TypeVar("Result", covariant=True)


class Exporter(Protocol[Result]):
    """Writes statements in another language, with one method for each way to prove one."""

    def equality(self, relation: Any) -> Result:
        """Write an equation."""

    def inequality(self, relation: Any) -> Result:
        """Write an inequality."""

    def implication(self, relation: Any) -> Result:
        """Write an inequality that follows from others."""

    def expansion(self, relation: Any) -> Result:
        """Write an expansion."""

    def minimizer(self, relation: Any) -> Result:
        """Write that a point of a simplex is the only optimum."""

    def plan(self, relation: Any) -> Result:
        """Write that a plan is the only optimum."""

    def other(self, relation: Any) -> Result:
        """Write a statement of any other kind, or refuse it."""
