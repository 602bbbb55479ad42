"""The readings of a check at random instances, which are computed once for all claims that share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from evidence.admission import settled
from evidence.draws import Draws
from evidence.readings import Reading
from evidence.registry import Check


class Rounds:
    """Rounds of readings of a check at instances of a strategy.

    They are reproducible: another claim with this check and strategy would get the same, and is compared with those.

    Attributes:
        readings: of each round that was explored to the end.
        discarded: the number of draws that were discarded in it.
    """

    def __init__(self, check: Check, strategy: Any, count: int) -> None:
        self.check, self.strategy, self.count = check, strategy, count
        self.readings: list[list[Reading]] = []
        self.discarded: list[int] = []

    def run(self, turn: int, claim: str, explore: Callable[[Reading], None]) -> bool:
        """Explore the readings of one round; returns False if no instance could be drawn."""
        if turn == len(self.readings):
            return self._draw(turn, claim, explore)
        for reading in self.readings[turn]:
            explore(reading)
        return bool(self.readings[turn])

    def _draw(self, turn: int, claim: str, explore: Callable[[Reading], None]) -> bool:
        draws, readings = Draws(self.strategy, self.count), []

        def each(instance: Any) -> None:
            reading = settled(claim, self.check(instance))
            readings.append(_copied(reading))
            explore(reading)

        drawn = draws.run(each, turn)
        self.readings.append(readings)
        self.discarded.append(draws.discarded)
        return drawn


def _copied(reading: Reading) -> Reading:
    """A copy of a reading, since a check may reuse the memory of its tensors."""
    point, routes = ({name: value.clone() if isinstance(value, Tensor) else value for name, value in values.items()}
                     for values in (reading.point, reading.routes))
    return Reading(point, routes, reading.tolerance, reading.computed)
