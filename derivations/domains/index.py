"""Indices in 1…m, different from some others."""

from collections.abc import Iterator, Sequence
from typing import Any

from derivations.domains.base import Domain, Point, Sign, whole_at


class Index(Domain):
    """Integers in 1…m."""

    name = "index"
    words = "in 1…"
    accepted = "an index"
    sign = Sign.POSITIVE
    axes = (1,)
    noun = (1,)
    is_index = True

    @classmethod
    def described(cls, shape: Sequence[str], marginals: Sequence[str], other_than: Sequence[str]) -> str:
        """The range, and the indices that are left out."""
        return f"{cls.words}{'×'.join(shape)}" + (f", other than {', '.join(other_than)}" if other_than else "")

    def lacking(self, value: Any, point: Point) -> str:
        """An index lies in its range and differs from the others."""
        (size,) = self.shape
        if (high := whole_at(size, point)) is None:
            return f"a point that gives {size} an integer value"
        if not 1 <= value <= high:
            return f"an index in 1…{high}"
        for other in self.other_than:
            if (position := whole_at(other, point)) is None:
                return f"a point that gives {other} an integer value"
            if value == position:
                return f"an index other than {other.name} = {position}"
        return ""

    def hypotheses(self, name: str, sizes: Sequence[str], vectors: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Its type says all but which indices it differs from, which are named elsewhere."""
        return iter(())
