"""A layered drawing of a claim's neighbourhood: claims it rests on to the left, claims that rest on it to the right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from derivations.report.merging import Report

WIDTH, HEIGHT = 150, 30  # of a node
APART, BETWEEN = 36, 10  # columns, and nodes in a column
DEPTH = 2
MOST = 12  # nodes in a column that is not next to the claim
LETTERS = 19  # that fit in a node


@dataclass(frozen=True)
class Node:
    """A box; `id` is None for the one that counts what was left out."""

    x: float
    y: float
    label: str
    id: str | None = None


@dataclass(frozen=True)
class Drawing:
    """Boxes, and curves between them as SVG path data."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[str, ...]


def neighbourhood(report: Report, id: str) -> Drawing | None:
    """Return the drawing around one claim; None for a claim without neighbours."""
    back = _levels(id, report.needs)
    forth = _levels(id, lambda other: report.supports.get(other, []))
    if not back and not forth:
        return None
    columns = [*reversed(back), [id], *forth]
    shown = [column if abs(position - len(back)) <= 1 else column[:MOST] for position, column in enumerate(columns)]
    tall = max(len(column) + (len(column) < len(total)) for column, total in zip(shown, columns, strict=True))
    height = tall * (HEIGHT + BETWEEN) - BETWEEN
    nodes: list[Node] = []
    for position, (column, total) in enumerate(zip(shown, columns, strict=True)):
        left_out = len(total) - len(column)
        labels = [(_label(other, id), other) for other in column] + ([(f"and {left_out} more", None)] if left_out else [])
        top = (height - len(labels) * (HEIGHT + BETWEEN) + BETWEEN) / 2
        nodes += [
            Node(position * (WIDTH + APART), top + row * (HEIGHT + BETWEEN), label, other)
            for row, (label, other) in enumerate(labels)
        ]
    return Drawing(len(columns) * (WIDTH + APART) - APART, height, tuple(nodes), _edges(report, shown, nodes))


def _levels(id: str, neighbours: Callable[[str], Sequence[str]]) -> list[list[str]]:
    """Breadth first; within a level, in the order of the level before, so that few curves cross."""
    seen, levels = {id}, [[id]]
    while len(levels) <= DEPTH:
        level = list(dict.fromkeys(other for inner in levels[-1] for other in neighbours(inner) if other not in seen))
        if not level:
            break
        seen |= set(level)
        levels.append(level)
    return levels[1:]


def _edges(report: Report, columns: list[list[str]], nodes: Sequence[Node]) -> tuple[str, ...]:
    at = {node.id: node for node in nodes if node.id}
    paths = []
    for left, right in pairwise(columns):
        for id in right:
            for needed in report.needs(id):
                if needed in left:
                    start, end = at[needed], at[id]
                    x0, y0, x1, y1 = start.x + WIDTH, start.y + HEIGHT / 2, end.x, end.y + HEIGHT / 2
                    paths.append(f"M{x0:g} {y0:g}C{x0 + APART / 2:g} {y0:g} {x1 - APART / 2:g} {y1:g} {x1:g} {y1:g}")
    return tuple(paths)


def _label(other: str, id: str) -> str:
    """Return the number, with the document if it is another one, cut to fit."""
    document, number = other.split(".", 1)
    label = number if id.startswith(f"{document}.") else other
    return label if len(label) <= LETTERS else f"{label[: LETTERS - 1]}…"
