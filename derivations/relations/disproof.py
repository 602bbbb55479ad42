"""A statement is false: it certifiably fails at an exact point of its domain."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from derivations.calculus.balls import Point, Value
from derivations.calculus.variables import Variable
from derivations.claims import Witness
from derivations.relations.base import PROVED, Counterexample, Relation


@dataclass(frozen=True)
class Fails(Relation):
    """A disproof: `relation` certifiably fails at the point `at`, its own or that of the disproof; without one, somewhere.

    Raises ValueError for `about` or `given`, which belong to the relation.
    """

    relation: Relation

    def __post_init__(self) -> None:
        """Look for the failure where the disproof says."""
        super().__post_init__()
        if self.about or self.given:
            raise ValueError("about, given: expected at the relation that is disproved, got them at its disproof")
        if self.at:
            object.__setattr__(self, "relation", replace(self.relation, at={**self.relation.at, **self.at}))

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The sides of what is disproved."""
        return self.relation.sides

    def variables(self) -> list[Variable]:
        """The variables of what is disproved."""
        return self.relation.variables()

    def points(self) -> Iterator[dict[Variable, Value]]:
        """The points at which a failure is looked for."""
        return self.relation.points()

    def explain(self) -> str:
        """Why there is no disproof; empty if there is one."""
        if isinstance(self.relation, Fails):
            return "the disproof of a disproof was given, a statement is expected"
        return PROVED if self.relation.counterexample() else f"no sample point contradicts {self.relation}"

    def remainder(self) -> str:
        """What is left to show."""
        return self.explain()

    def counterexample(self) -> Counterexample | None:
        """A disproof is shown by its own point and refuted by none."""
        return None

    def contradicted_at(self, point: Point) -> Witness | None:
        """A disproof is not refuted at any one point."""
        return None

    def general(self) -> bool:
        """Whether what is disproved was meant for every size."""
        return self.relation.general()

    def scope(self) -> str:
        """The scope of what is disproved."""
        return self.relation.scope()

    def __str__(self) -> str:
        return f"not always: {self.relation}"
