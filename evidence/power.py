"""The power of a vote: the share of one-edit mutants of the statement that its routes refute at the same instances."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from derivations.calculus.balls import Value
from derivations.calculus.variables import Variable
from derivations.judge.mutants import COUNTED, STRICT, Mutant, fate, mutants
from derivations.relations import Equation, Relation
from derivations.relations.base import Side
from evidence.readings import REFUTING_FACTOR, Formula, Reading, compare


class Mutations:
    """Mutants of the side that a vote gets from the derivation, and the routes that refuted each.

    `hints` are points at which the statement's twins fail; the symbolic layer tries to refute surviving mutants there.
    """

    def __init__(self, relation: Relation, hints: Sequence[Mapping[Variable, Value]] = ()) -> None:
        # a vote on an expansion compares the coefficients of the highest order
        self.relation = Equation(*relation.sides, given=relation.given) if relation.expansion else relation
        self.hints = hints
        self.mutations: dict[str, tuple[Mutant, Formula]] | None = None
        self.killed: dict[str, set[str]] = {}

    def face(self, printed: Formula, reading: Reading, routes: frozenset[str]) -> None:
        """Compare a reading that agrees with the print with the mutants that are not refuted yet."""
        if self.mutations is None:
            self.mutations = dict(self._of(printed, "left" if reading.computed == "right" else "right"))
        axes = printed.axes(reading.point)
        for name, (_, formula) in self.mutations.items():
            if self.killed.get(name, frozenset()) != routes:
                against = compare(formula, reading, axes).items()
                dead = {route for route, c in against if not c.incomparable and c.miss > REFUTING_FACTOR}
                self.killed.setdefault(name, set()).update(dead)

    def _of(self, printed: Formula, side: Side) -> Iterator[tuple[str, tuple[Mutant, Formula]]]:
        for mutant in mutants(self.relation, side):
            strict = printed.strict or mutant.name == STRICT
            yield mutant.name, (mutant, printed.edited(side, mutant.edited, strict))

    def verdict(self, routes: frozenset[str]) -> dict[str, Any]:
        """Return the number of mutants, the share that every route refuted, and the names of other nonequivalent ones."""
        mutations = self.mutations or {}
        dead = [name for name in mutations if self.killed.get(name, frozenset()) == routes]
        alive = tuple(
            name
            for name, (mutant, _) in mutations.items()
            if name not in dead and fate(self.relation, mutant, self.hints).fate in COUNTED
        )
        count = len(dead) + len(alive)
        return {"power": len(dead) / count if count else None, "mutants": count, "alive": alive}
