"""Definitions of a notation that go round in a circle, named for the author who has to break it."""

from __future__ import annotations

from derivations.latex.notation import Definition, Notation
from derivations.latex.tree import Node, Scripted, spelled, walk


def circle(notation: Notation) -> str:
    """A circle of definitions as a text, Q → V → Q."""
    bodies = {name: each.body for name, each in notation.meanings.items() if isinstance(each, Definition)}
    used = {name: [other for other in bodies if other in _names(body)] for name, body in bodies.items()}
    waiting: list[tuple[str, ...]] = [(name,) for name in bodies]
    while waiting:
        path = waiting.pop(0)
        if path[-1] in path[:-1]:
            return " → ".join(path[path.index(path[-1]) :])
        waiting += [(*path, other) for other in used[path[-1]]]
    return "an expression that is nested too deeply"


def _names(body: Node) -> set[str]:
    """What a formula may call a symbol: each part with its scripts, and without some of them."""
    found: set[str] = set()
    for node in walk(body):
        found.add(spelled(node))
        if isinstance(node, Scripted):
            kept = [Scripted(node.base, sub, sup, node.primes) for sub in (node.sub, None) for sup in (node.sup, None)]
            found |= {spelled(each) for each in kept}
    return found
