"""The power of a vote: which one-edit mutants of the statement its routes refute, at the instances that it drew anyway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from derivations.calculus.balls import Value
from derivations.calculus.sums import alike
from derivations.calculus.variables import Variable
from derivations.mutants import COUNTED, STRICT, Mutant, Side, fate, mutants
from derivations.relations import AtLeast, Equation, Expansion, Relation
from evidence.readings import REFUTING_FACTOR, Formula, Reading, compare


class Mutations:
    """Mutants of the side that a vote gets from the derivation, and the routes that refuted each.

    `hints` are values at which the statement's twins fail, for what the symbolic layer has to say of the survivors.
    """

    def __init__(self, relation: Relation, hints: Sequence[Mapping[Variable, Value]] = ()) -> None:
        # of an expansion the coefficients of the highest order are compared
        self.relation = Equation(*relation.sides, given=relation.given) if isinstance(relation, Expansion) else relation
        self.hints = hints
        self.mutations: dict[str, tuple[Mutant, Formula]] | None = None
        self.killed: dict[str, set[str]] = {}

    def face(self, printed: Formula, reading: Reading, routes: frozenset[str]) -> None:
        """Hold a reading that agrees with the print against the mutants that are alive."""
        if self.mutations is None:
            self.mutations = dict(self._of(printed, "left" if reading.computed == "right" else "right"))
        axes = printed.axes(reading.point)
        for name, (_, formula) in self.mutations.items():
            if self.killed.get(name) != routes:
                against = compare(formula, reading, axes).items()
                dead = {route for route, c in against if not c.incomparable and c.miss > REFUTING_FACTOR}
                self.killed.setdefault(name, set()).update(dead)

    def _of(self, printed: Formula, side: Side) -> Iterator[tuple[str, tuple[Mutant, Formula]]]:
        derived = printed.left if side == "left" else printed.right
        for mutant in mutants(self.relation, side):
            if mutant.name == STRICT or not alike(derived, mutant.edited):
                strict = printed.strict or (isinstance(mutant.relation, AtLeast) and mutant.relation.strict)
                yield mutant.name, (mutant, printed.edited(side, mutant.edited, strict))

    def verdict(self, routes: frozenset[str]) -> dict[str, Any]:
        """How many mutants there are, what share of them every route refuted, and which lives though it is not equivalent."""
        mutations = self.mutations or {}
        dead = [name for name in mutations if self.killed.get(name) == routes]
        alive = tuple(name for name, (mutant, _) in mutations.items()
                      if name not in dead and fate(self.relation, mutant, self.hints).fate in COUNTED)
        count = len(dead) + len(alive)
        return {"power": len(dead) / count if count else None, "mutants": count, "alive": alive}
