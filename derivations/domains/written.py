"""Domains in the words of a notation table: positive, index m, positive vector m, simplex n m, coupling a b.

A line is read once, into a `Written` domain, whose sizes and marginals are the texts of the table; `str` writes the line.
"""

from dataclasses import dataclass, replace

from derivations.domains import DOMAINS, NAMED, Domain, Real

AXES = {"vector": 1, "matrix": 2}
ARRAYS = {count: word for word, count in AXES.items()}


@dataclass(frozen=True)
class Written:
    """A domain in writing: its kind, and the texts of its sizes and of its marginals."""

    kind: type[Domain]
    shape: tuple[str, ...] = ()
    marginals: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The line of a notation table."""
        if self.marginals:
            return " ".join((self.kind.phrase, *self.marginals))
        if not self.kind.adjective or not self.shape:
            return " ".join((self.kind.name, *self.shape))
        words = (ARRAYS[len(self.shape)], *self.shape)
        return " ".join(words if self.kind is Real else (self.kind.name, *words))

    def of_kind(self, kind: type[Domain]) -> "Written":
        """The domain of another kind with the same sizes."""
        return replace(self, kind=kind)

    def is_inside(self, other: "Written") -> bool:
        """Whether it is a smaller domain of the same sizes, as the simplex is of ℝ^m."""
        return self.shape == other.shape and self.kind is not other.kind and other.kind.includes(self.kind)


def written(line: str) -> Written | None:
    """Read a line of a notation table; None if it is not a domain.  Raises ValueError for too few or too many sizes."""
    for kind in DOMAINS:
        if kind.phrase and line.startswith(f"{kind.phrase} "):
            rest = line.removeprefix(f"{kind.phrase} ")
            return Written(kind, marginals=(rest,) if 1 in kind.axes else tuple(rest.split()))
    words = line.split()
    named = NAMED.get(words[0]) if words else None
    if named is not None and named.noun:
        return Written(named, _sizes(words[1:], named.noun))
    if named is not None and named.adjective:
        if words[1:] == []:
            return Written(named) if named.is_independent else None
        words = words[1:]
    if not words or words[0] not in AXES:
        return None
    return Written(named if named is not None and named.adjective else Real, _sizes(words[1:], (AXES[words[0]],)))


def _sizes(words: list[str], accepted: tuple[int, ...]) -> tuple[str, ...]:
    if len(words) not in accepted:
        count = accepted[0]
        raise ValueError(f"expected {count} {'size' if count == 1 else 'sizes'}, got {' '.join(words) or 'none'}")
    return tuple(words)
