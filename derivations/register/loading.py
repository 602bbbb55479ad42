"""Import of the modules of documents in printed order, and a check that a claim rests on existing claims without circles."""

import importlib
import re
import sys
import traceback
from collections.abc import Mapping
from typing import Protocol

SELDOM = (50_000, 20, 20)
"""Garbage collector thresholds: loading all claims allocates much and discards little, so collecting often wastes time."""


class LoadingError(ValueError):
    """A document cannot be loaded; the message says why, and where."""


class Resting(Protocol):
    """The claims that a claim rests on and is a part of."""

    id: str
    needs: tuple[str, ...]
    part_of: str | None


def check_interpreter() -> None:
    """Raise ValueError under `python -O`, which leaves out the assertions of votes and of the kernel."""
    if sys.flags.optimize:
        raise ValueError("python: -O and PYTHONOPTIMIZE are not allowed, since checks are assertions")


def imported(name: str) -> str:
    """Import a module of a document and return its name; raises ValueError with file and line if the import fails."""
    try:
        return importlib.import_module(name).__name__
    except Exception as error:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if name.rpartition(".")[2] in frame.filename]
        where = f"{own[-1].filename}:{own[-1].lineno}" if own else name
        message = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise LoadingError(f"{message} ({where})") from error


def unsupported(entry: Resting, registered: Mapping[str, Resting]) -> str:
    """Return what is wrong with `needs` and `part_of` of a claim: an unknown id, a circle, or a part of a part; else empty.

    It concerns this claim only: one that needs it can be examined, but has nothing from it.
    """
    if entry.part_of is not None:
        parent = registered.get(entry.part_of)
        if parent is None or parent.part_of is not None or entry.part_of == entry.id:
            return f"part_of: expected the id of a claim that is not itself a part, for {entry.id}, got {entry.part_of}"
        if entry.id.split(".")[0] != parent.id.split(".")[0]:
            return f"part_of: expected an id of the same document for {entry.id}, got {entry.part_of}"
    if unknown := [id for id in entry.needs if id not in registered]:
        return f"needs: expected ids of claims for {entry.id}, got {unknown[0]}"
    circle = _way_back(entry, registered)
    return f"needs: circular: {' → '.join(circle)}" if circle else ""


def _way_back(entry: Resting, registered: Mapping[str, Resting]) -> tuple[str, ...]:
    """Return the shortest way from a claim through claims that are needed to itself; empty if there is none."""
    ways: dict[str, tuple[str, ...]] = {needed: (entry.id, needed) for needed in entry.needs}
    reached = list(ways)
    for id in reached:  # which grows on the way
        further = [needed for needed in registered[id].needs if needed not in ways] if id in registered else []
        ways |= {needed: (*ways[id], needed) for needed in further}
        reached += dict.fromkeys(further)
    return ways.get(entry.id, ())


def printed_place(module: str) -> tuple[bool, int, str]:
    """Return the sort key of a module in printed order: sections by number, then appendices by letter."""
    number = re.match(r"section(\d+)", module)
    return module.startswith("appendix"), int(number[1]) if number else 0, module
