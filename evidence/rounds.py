"""The readings of a check at random instances, which are computed once for all claims that share them.

Instances are drawn once for all checks that share a strategy, since drawing them may take longer than a check.
"""

from copy import deepcopy
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption
from hypothesis.strategies import SearchStrategy
from torch import Tensor

from evidence.admission import settled
from evidence.draws import Draws, as_in_a_test, drawn
from evidence.readings import Reading
from evidence.registry import Check


class Rounds:
    """Rounds of readings of a check at instances of a strategy.

    They are reproducible: another claim with this check and strategy would get the same, and is compared with those.

    Attributes:
        readings: of each round that was drawn.
        discarded: the number of draws that were discarded in it.
    """

    def __init__(self, check: Check[Any], strategy: SearchStrategy[Any], count: int) -> None:
        self.check, self.strategy, self.count = check, strategy, count
        self.readings: list[list[Reading]] = []
        self.discarded: list[int] = []

    def of(self, turn: int, claim: str) -> list[Reading]:
        """Return the readings of one round, none if no instance could be drawn."""
        if turn == len(self.readings):
            readings, discarded = self._drawn(turn, claim)
            self.readings.append(readings)
            self.discarded.append(discarded)
        return self.readings[turn]

    def _drawn(self, turn: int, claim: str) -> tuple[list[Reading], int]:
        instances, discarded = drawn(self.strategy, self.count, turn)
        readings: list[Reading] = []

        def read(instance: Any) -> None:
            readings.append(_copied(settled(claim, self.check(instance))))

        try:
            with as_in_a_test(self.check):
                for instance in instances:
                    read(deepcopy(instance))  # else a check could change it for all others
        except UnsatisfiedAssumption:  # a check that refuses an instance needs others in its place
            draws = Draws(self.strategy, self.count)
            readings.clear()
            draws.run(read, turn)
            discarded = draws.discarded
        return readings, discarded


def _copied(reading: Reading) -> Reading:
    """A copy of a reading, since a check may reuse the memory of its tensors."""
    # nobody has checked yet that a route is a tensor
    point = {name: value.clone() if isinstance(value, Tensor) else value for name, value in reading.point.items()}
    routes = {name: route.clone() if isinstance(route, Tensor) else route for name, route in reading.routes.items()}
    return Reading(point, routes, reading.tolerance, reading.computed)
