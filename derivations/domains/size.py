"""Sizes: the integers ≥ 1."""

from typing import Any

import sympy as sp

from derivations.domains.base import Domain, Point, Sign
from derivations.domains.positive import Positive


class Size(Domain):
    """Integers ≥ 1."""

    name = "size"
    words = "≥ 1"
    accepted = "a size ≥ 1"
    sign = Sign.POSITIVE
    axes = (0,)
    inside = (Positive,)
    noun = (0,)
    is_size = True

    def is_end(self, to: sp.Expr) -> bool:
        """Sizes only become large."""
        return bool(to == sp.oo)

    def lacking(self, value: Any, point: Point) -> str:
        """A size is at least 1."""
        return "" if value >= 1 else self.accepted

    def hypotheses(self, name: str, sizes: Any, vectors: Any) -> Any:
        """A natural number other than 0."""
        yield f"{name}_gt0", f"(0 < {name})%N"
