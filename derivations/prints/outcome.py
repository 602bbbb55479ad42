"""How a print stands to what is proved, as a record: it agrees, differs, could not be read, or nothing compares the two."""

from __future__ import annotations

from enum import StrEnum

from derivations.records import Record


class Standing(StrEnum):
    """How a print stands to what is proved."""

    AGREES = "agrees"
    DIFFERS = "differs"
    APART = "not compared"
    UNREAD = "not read"


class Check(Record, frozen=True):
    """The comparison of a print with a derivation: how it stands, the print as it was read, and why."""

    standing: Standing
    reading: str
    reason: str
