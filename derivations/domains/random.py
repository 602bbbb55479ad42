"""Random vectors: independent entries of mean 0 and variance 1, of which no other moments are known."""

from typing import Any

from derivations.domains.base import Domain, Point, Sign


class Random(Domain):
    """Random numbers, which have no values."""

    name = "random"
    words = "independent entries, mean 0, variance 1"
    accepted = "no value: it is random"
    sign = Sign.ANY
    adjective = True
    is_random = True

    @property
    def unexported(self) -> str:
        """Rocq is told nothing of laws."""
        return "the random variable"

    def lacking(self, value: Any, point: Point) -> str:
        """No value is one of a random variable."""
        return self.accepted
