"""The differences that a comparison with the baseline reports: which fact of a claim changed, and how serious that is."""

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
    QUOTE = "quoted theorem"
    TWIN = "twin"
    KILLERS = "layers that refute a twin"
    STEPS = "steps"
    PRINT = "print beside its relation"
    UNCOMPARED = "text not compared with the relation"
    REASONS = "reasons"
    TEXT = "text"


@dataclass(frozen=True)
class Difference:
    """One fact about a claim that differs from the baseline, with its text before and after.

    `subject` is the layer, twin, variable, side, text or derivation concerned, `at` the point of a value.  `repair` means that
    the fact concerns the correction.
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
    """All differences, in the order of the claims, with the numbers of compared claims and of baseline claims left out."""

    differences: tuple[Difference, ...]
    compared: int
    absent: int

    @property
    def removed(self) -> set[str]:
        """The requested claims of the baseline that no longer exist."""
        return {each.claim for each in self.differences if each.aspect is Aspect.REMOVED}

    @property
    def unchanged(self) -> int:
        """The number of compared claims without differences."""
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
