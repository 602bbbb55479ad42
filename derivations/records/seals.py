"""The seal of a claim: a theorem that Rocq's kernel accepted, or the reason why there is none.  It never votes."""

from enum import StrEnum

from derivations.records.base import Record


class About(StrEnum):
    """The statement of a claim that a theorem is about."""

    PRINT = "print"
    CORRECTION = "correction"
    BY_HAND = "by hand"


class SealOutcome(StrEnum):
    """The result for a theorem."""

    ACCEPTED = "accepted"
    INCONCLUSIVE = "inconclusive"
    NOT_EXPORTED = "not exported"
    DISAGREES = "disagrees"


class Seal(Record, frozen=True):
    """The kernel's result for a theorem about a claim, with its assumptions; `where` is the file and the line."""

    theorem: str
    about: About
    outcome: SealOutcome
    where: str = ""
    assumptions: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""
