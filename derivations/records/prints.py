"""The result of comparing a print with its derivation: it agrees, differs, was not read, or was not compared."""

from enum import StrEnum

from derivations.records.base import Record


class Standing(StrEnum):
    """Whether a print agrees with its derivation."""

    AGREES = "agrees"
    DIFFERS = "differs"
    APART = "not compared"
    UNREAD = "not read"


class Check(Record, frozen=True):
    """The comparison of a print with a derivation: the result, the print as read, and the reason."""

    standing: Standing
    reading: str
    reason: str
