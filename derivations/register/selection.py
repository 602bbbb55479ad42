"""Select claims by lists of ids and documents, and find the claims that they rest on."""

from __future__ import annotations

from collections.abc import Iterable

from derivations.records.documents import documents
from derivations.register.catalogue import entries


def selected(pattern: str) -> set[str]:
    """Return the claims in a comma-separated list of ids and documents, with their parts; raises ValueError if unknown."""
    known = entries()
    chosen: set[str] = set()
    for name in filter(None, pattern.split(",")):
        if name in known:
            chosen.add(name)
        elif name in documents():
            chosen |= {id for id in known if id.startswith(f"{name}.")}
        else:
            raise ValueError(f"ID: expected a claim or a document, got {name}")
    return chosen | {id for id, entry in known.items() if entry.part_of in chosen}


def needs_of(ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each of these claims, the claims that it rests on, in the order of the documents."""
    chosen = set(ids)
    return {id: entry.needs for id, entry in entries().items() if id in chosen}


def all_needs(id: str) -> set[str]:
    """Return all claims that a claim rests on, directly or indirectly, without ids of none."""
    todo, needs = [id], set[str]()
    while todo:
        new = [need for need in entries()[todo.pop()].supporting if need in entries() and need not in needs]
        needs.update(new)
        todo += new
    return needs
