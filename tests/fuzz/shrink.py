"""Shrink a statement while its contradiction remains: subtrees replace trees, leaves replace subtrees."""

from collections.abc import Callable, Iterator

from tests.fuzz.nodes import Node, leaf

ATTEMPTS = 150
SIMPLE = ("0", "1", "x", "y")


def size(node: Node) -> int:
    """The number of nodes, fixed numbers of no interest counting least."""
    return sum(1 for _ in node.walk()) * 2 + sum(part.op != "leaf" or part.text not in SIMPLE for _, part in node.walk())


def smaller(node: Node) -> Iterator[Node]:
    """Candidates, the smallest first."""
    for path, part in node.walk():
        if part.op == "statement" or part.is_index:
            continue
        if path and part.op not in ("leaf", "entry"):
            yield from (node.put(path, leaf(text)) for text in SIMPLE)
        yield from (node.put(path, arg) for arg in part.args if not arg.is_index and part.op != "entry")
        if path and part.op == "entry":
            yield from (node.put(path, leaf(text)) for text in SIMPLE)


def shrink(node: Node, fails: Callable[[Node], bool], attempts: int = ATTEMPTS) -> Node:
    """The smallest statement that was reached and still fails."""
    while attempts > 0:
        for candidate in smaller(node):
            if size(candidate) >= size(node):
                continue
            attempts -= 1
            if fails(candidate):
                node = candidate
                break
            if attempts <= 0:
                break
        else:
            break
    return node
