"""Select claims by lists of ids and documents, and find the claims that they rest on."""

import difflib
from collections.abc import Iterable

from derivations.records.documents import documents
from derivations.register.catalogue import claims_of, entries, ordered, parts_of


def known(name: str) -> str:
    """Return the name if it is the id of a claim or the key of a document; raises ValueError otherwise."""
    if name not in documents() and name not in entries():
        close = difflib.get_close_matches(name, [*entries(), *documents()], n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "see `python -m derivations list`"
        raise ValueError(f"ID: expected a claim or a document, got {name}; {hint}")
    return name


def named(names: Iterable[str]) -> list[str]:
    """Return the claims that ids and documents name, all without a name, in printed order; raises ValueError as `known`."""
    checked = list(map(known, names))
    chosen = [id for name in checked for id in (claims_of(name) if name in documents() else [name])]
    return ordered(chosen) if checked else list(entries())


def selected(pattern: str) -> set[str]:
    """Return the claims in a comma-separated list of ids and documents, with their parts; raises ValueError if unknown."""
    chosen: set[str] = set()
    for name in map(known, filter(None, pattern.split(","))):
        chosen.update(claims_of(name) if name in documents() else (name, *parts_of(name)))
    return chosen


def needs_of(ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each of these claims, the claims that it rests on, in the order of the documents."""
    return {id: entries()[id].needs for id in ordered(ids)}


def all_needs(id: str) -> set[str]:
    """Return all claims that a claim rests on, directly or indirectly, without ids of none."""
    todo, needs = [id], set[str]()
    while todo:
        new = [need for need in entries()[todo.pop()].supporting if need in entries() and need not in needs]
        needs.update(new)
        todo += new
    return needs
