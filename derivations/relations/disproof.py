"""Disproofs: a statement is false because it certifiably fails at an exact point of its domain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import sympy as sp

from derivations.calculus.balls import Point, Value
from derivations.calculus.variables import Variable
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.records.theorems import Theorem
from derivations.relations.base import PROVED, Counterexample, Relation
from derivations.relations.sameness import same


@dataclass(frozen=True)
class Fails(Relation):
    """A disproof: `relation` certifiably fails at the point `at` of either; without a point, somewhere in the domain.

    Raises ValueError for `about` or `given`, which belong to the relation.
    """

    relation: Relation

    def __post_init__(self) -> None:
        """Search for the failure at the point of the disproof."""
        super().__post_init__()
        if self.about or self.given:
            raise ValueError("about, given: expected at the relation that is disproved, got them at its disproof")
        if self.at:
            object.__setattr__(self, "relation", replace(self.relation, at={**self.relation.at, **self.at}))

    @property
    def disproved(self) -> Relation:
        """The disproved relation."""
        return self.relation

    @property
    def stated(self) -> Relation:
        """What the disproved relation says."""
        return self.relation.stated

    @property
    def sign(self) -> Sign:
        """The sign of the disproved relation."""
        return self.relation.sign

    @property
    def relies_on(self) -> tuple[Theorem, ...]:
        """The theorems that the disproof quotes, and those of the disproved relation."""
        return *self.quotes, *self.relation.relies_on

    def says_the_same(self, other: "Fails") -> bool:
        """Whether another disproof is one of the same statement."""
        return same(self.relation, other.relation)

    def rebuilt(self, change: Callable[[Relation], Relation]) -> Relation:
        """The disproof of the relation as changed."""
        return replace(self, relation=change(self.relation))

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The disproved relation as LaTeX."""
        return self.relation.latex(written)

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The sides of the disproved relation."""
        return self.relation.sides

    def variables(self) -> list[Variable]:
        """The variables of the disproved relation."""
        return self.relation.variables()

    def malformed(self) -> str:
        """Return why the disproved relation is malformed; empty if it is not."""
        return self.relation.malformed()

    def points(self) -> Iterator[dict[Variable, Value]]:
        """The points at which a failure is searched for."""
        return self.relation.points()

    def explain(self) -> str:
        """Why there is no disproof; empty if there is one."""
        if self.relation.disproved:
            return "expected a statement to disprove, got a disproof"
        if strange := self.malformed():
            return strange
        return PROVED if self.relation.counterexample() else f"no sample point contradicts {self.relation}"

    def remainder(self) -> str:
        """Return why there is no disproof; empty if the statement fails at the point."""
        return self.explain()

    def counterexample(self) -> Counterexample | None:
        """Return None: a disproof is established by its own point, and no other point can refute it."""
        return None

    def contradicted_at(self, point: Point) -> Witness | None:
        """Return None: no single point refutes a disproof."""
        return None

    def general(self) -> bool:
        """Return whether the disproved statement was meant for every size."""
        return self.relation.general()

    def scope(self) -> str:
        """The scope of the disproved relation."""
        return self.relation.scope()

    def __str__(self) -> str:
        return f"not always: {self.relation}"
