"""The differences that a comparison with the baseline reports: which fact of a claim changed, and how serious that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Change(StrEnum):
    """The class of a difference, from the least to the worst."""

    TEXT = "text only"
    REWRITE = "equivalent rewrite"
    SCOPE = "scope or strength lost"
    VALUE = "value changed"
    VERDICT = "verdict changed"
    MEMBERSHIP = "claim removed/added"


FAILING = frozenset({Change.SCOPE, Change.VALUE, Change.VERDICT, Change.MEMBERSHIP})


class Aspect(StrEnum):
    """The fact that differs."""

    ADDED = "added"
    REMOVED = "removed"
    VERDICT = "verdict"
    STATEMENT = "derived statement"
    RELATION = "relation"
    SIDE = "side"
    SIDE_VALUE = "value of a side"
    VARIABLE = "variable"
    DOMAIN = "domain"
    SIZES = "sizes"
    LAYER = "layer"
    ERROR = "error"
    POWER = "power"
    HYPOTHESIS = "hypothesis"
    DISPROVED_HYPOTHESIS = "hypothesis of what is disproved"
    TWIN = "twin"
    KILLERS = "layers that refute a twin"
    STEPS = "steps"
    REASONS = "reasons"
    TEXT = "text"


@dataclass(frozen=True)
class Difference:
    """One fact about a claim that differs from the baseline, with its text before and after.

    `subject` is what the aspect is of: a layer, a twin, a variable, a side, a text, a derivation; `at` the point of a
    value.  `repair` means that the fact is one of the correction.
    """

    claim: str
    change: Change
    aspect: Aspect
    before: str
    after: str
    subject: str = ""
    at: str = ""
    repair: bool = False


@dataclass(frozen=True)
class Comparison:
    """All differences, in the order of the claims, with how many claims were compared and how many of the baseline's not."""

    differences: tuple[Difference, ...]
    compared: int
    absent: int

    @property
    def removed(self) -> set[str]:
        """The claims of the baseline that were asked for and are no longer there."""
        return {each.claim for each in self.differences if each.aspect is Aspect.REMOVED}

    @property
    def unchanged(self) -> int:
        """How many of the compared claims are as they were."""
        return self.compared - len(self.classes.keys() - self.removed)

    @property
    def classes(self) -> dict[str, Change]:
        """The worst class of each claim that differs."""
        worst: dict[str, Change] = {}
        for each in self.differences:
            worst[each.claim] = max(worst.get(each.claim, each.change), each.change, key=list(Change).index)
        return worst

    @property
    def failed(self) -> bool:
        """Whether some difference makes `regress` fail until the new baseline is accepted."""
        return any(each.change in FAILING for each in self.differences)
