"""Evidence and rows that serve as starting points for attacks on ledgers and baselines."""

from typing import Any

from derivations.records.claims import Evidence, Layer, Outcome, Witness
from derivations.register.catalogue import entries
from tests.attacks.entries import HONEST, entry

ID = "eot.59"
TWINS = tuple(entries()[ID].twins)
OWN = tuple(twin.name for twin in entry(HONEST).claim.twins)
FALSE = Witness({"x": 1}, "4", "≠", "2")


def evidence(**changes: Any) -> Evidence:
    """A proof by the symbolic layer."""
    fields: dict[str, Any] = {
        "claim": "eot.0",
        "layer": Layer.SYMBOLIC,
        "outcome": Outcome.HOLDS,
        "scope": "all",
        "general": True,
        "refuted_twins": OWN,
    }
    return Evidence(**(fields | changes))


def torch(**changes: Any) -> Evidence:
    """A vote of the torch layer."""
    return evidence(layer=Layer.TORCH, general=False, **changes)


def row(written: dict[str, Any], index: int = 0) -> dict[str, Any]:
    """A row of a ledger."""
    return written["claims"][index]  # type: ignore[no-any-return]
