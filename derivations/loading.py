"""How the modules of documents are read: in printed order, with file and line of what fails, and nothing rests on air."""

import importlib
import re
import traceback
from collections.abc import Mapping
from typing import Protocol

SELDOM = (50_000, 20, 20)
"""Thresholds of the garbage collector where all claims are loaded: little of what they and packages allocate is garbage."""


class Resting(Protocol):
    """What a claim rests on, and what it is a part of."""

    id: str
    needs: tuple[str, ...]
    part_of: str | None


def imported(name: str) -> str:
    """The name of a module of a document, once it is imported; what it raises is said with file and line."""
    try:
        return importlib.import_module(name).__name__
    except Exception as error:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if name.rpartition(".")[2] in frame.filename]
        where = f"{own[-1].filename}:{own[-1].lineno}" if own else name
        said = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{said} ({where})") from error


def unsupported(entry: Resting, registered: Mapping[str, Resting]) -> str:
    """What is wrong with what a claim rests on: an unknown id, a circle, a printed id that it is no part of."""
    if entry.part_of is not None:
        whole = registered.get(entry.part_of)
        if whole is None or whole.part_of is not None or entry.part_of == entry.id:
            return f"part_of: expected a printed id that is no part itself for {entry.id}, got {entry.part_of}"
        if entry.id.split(".")[0] != whole.id.split(".")[0]:
            return f"part_of: expected a printed id of its own document for {entry.id}, got {entry.part_of}"
    path: list[str] = []

    def visit(id: str, needs: tuple[str, ...]) -> str:
        if id in path:
            return f"needs: expected an order of proofs, got the circle {' → '.join([*path[path.index(id):], id])}"
        path.append(id)
        for needed in needs:
            if needed not in registered:
                return f"needs: {id} names {needed}, which is no claim"
            if id != needed and needed in seen:
                continue
            if wrong := visit(needed, registered[needed].needs):
                return wrong
        seen.add(path.pop())
        return ""

    seen: set[str] = set()
    return visit(entry.id, entry.needs)


def printed_place(module: str) -> tuple[bool, int, str]:
    """Sections by number, then appendices by letter."""
    number = re.match(r"section(\d+)", module)
    return module.startswith("appendix"), int(number[1]) if number else 0, module
