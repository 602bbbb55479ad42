"""The seal of a claim: a theorem that Rocq's kernel accepted, or why there is none.  It has no vote on any verdict."""

from enum import StrEnum

from derivations.records import Record


class About(StrEnum):
    """Which statement of a claim a theorem is about."""

    PRINT = "print"
    CORRECTION = "correction"
    BY_HAND = "by hand"


class SealOutcome(StrEnum):
    """What became of a theorem."""

    ACCEPTED = "accepted"
    INCONCLUSIVE = "inconclusive"
    NOT_EXPORTED = "not exported"
    DISAGREES = "disagrees"


class Seal(Record, frozen=True):
    """What the kernel says of one theorem about a claim, with what it rests on; `where` is the file and the line."""

    theorem: str
    about: About
    outcome: SealOutcome
    where: str = ""
    assumptions: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""
