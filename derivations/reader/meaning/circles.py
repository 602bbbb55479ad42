"""Find circular definitions in a notation, so that an error can name them."""

from derivations.reader.meaning.notation import Definition, Notation
from derivations.reader.syntax.tree import Node, Scripted, spelled, walk


def circle(notation: Notation) -> str:
    """Return a circle of definitions as text, such as Q → V → Q."""
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
    """Return the names by which a formula may refer to a symbol: each part with all, some or none of its scripts."""
    spellings: set[str] = set()
    for node in walk(body):
        spellings.add(spelled(node))
        if isinstance(node, Scripted):
            variants = [Scripted(node.base, sub, sup, node.primes) for sub in (node.sub, None) for sup in (node.sup, None)]
            spellings |= {spelled(each) for each in variants}
    return spellings
