"""Points of the open simplex: numbers > 0 that sum to 1 over all axes."""

from collections.abc import Sequence
from random import Random
from typing import Any

from derivations.domains.base import Sign
from derivations.domains.positive import Positive
from derivations.domains.simplex import Simplex


class Interior(Simplex):
    """Numbers > 0 with sum 1."""

    name = "interior"
    words = "> 0 with sum 1"
    accepted = "positive numbers"
    sign = Sign.POSITIVE
    inside = (Simplex, Positive)

    def face(self, sizes: Sequence[int], rng: Random) -> Any:
        """No mass is 0."""
        return None
