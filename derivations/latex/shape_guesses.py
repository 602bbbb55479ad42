"""Guess the sizes of vectors that no text declares from what they are multiplied by: w^⊤x_i, x^⊤Ax, ‖Xw − y‖."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from derivations.latex.derivatives import TRANSPOSED
from derivations.latex.guesses import Guesses
from derivations.latex.names import index_parts, thin
from derivations.latex.tree import Bracket, Node, Product, Scripted, Sum, Symbol, spelled, walk

VECTORS = ("vector", "simplex", "interior")
MATRICES = ("matrix", "stochastic")


def read_shapes(guesses: Guesses, trees: Sequence[Node]) -> None:
    """Record a vector for each undeclared small letter that is transposed, or of which a norm is taken, somewhere.

    All that it is multiplied by has to agree on the size.
    """
    nodes = [node for tree in trees for node in walk(tree)]
    names = {name for node in nodes for name in _vectors(node)}
    pairs = [pair for node in nodes if isinstance(node, Product) for pair in pairwise(node.factors)]
    for name in sorted(names & {*guesses.used} - {*guesses.names}):
        sizes = {size for pair in pairs for size in _sizes(guesses, name, *pair)}
        if len(sizes) == 1 and thin(name)[-1:].islower() and name not in guesses.indexed | guesses.called:
            guesses.record(name, f"vector {sizes.pop()}", "its transpose or norm, and what it is multiplied by")


def _vectors(node: Node) -> Iterator[str]:
    """Yield the names that a node shows to be vectors, or matrices: x of x^⊤, of ‖x‖ and of ‖Ax − b‖."""
    if isinstance(node, Scripted) and _is_transposed(node):
        yield spelled(node.base)
    elif isinstance(node, Bracket) and node.kind == "‖‖":
        terms = [term for _, term in node.inside.terms] if isinstance(node.inside, Sum) else [node.inside]
        yield from (spelled(term.factors[-1] if isinstance(term, Product) else term) for term in terms)


def _sizes(guesses: Guesses, name: str, left: Node, right: Node) -> Iterator[str]:
    """Yield the size of a vector that the other factor of a product with it demands."""
    if _is_transposed(left) and isinstance(left, Scripted) and spelled(left.base) == name:
        yield from _rows(guesses, right)
    elif spelled(right) == name:
        yield from _columns(guesses, left)


def _rows(guesses: Guesses, node: Node) -> list[str]:
    """Return the number of rows of a declared column or matrix; nothing for what is neither."""
    if isinstance(node, Scripted) and node.sup is not None and spelled(node.sup) in ("- 1", "-1"):
        return _rows(guesses, node.base)
    if _is_transposed(node) and isinstance(node, Scripted):
        return _columns(guesses, node.base)
    words = _meaning(guesses, node)
    if isinstance(node, Scripted):                           # x_i, a row of the matrix x
        row = node.sup is None and node.sub is not None and len(index_parts(node.sub)) == 1
        return _meaning(guesses, node.base)[-1:] if row and _is_matrix(_meaning(guesses, node.base)) else []
    return words[-2:-1] if _is_matrix(words) else words[-1:] if {*words} & {*VECTORS} else []


def _columns(guesses: Guesses, node: Node) -> list[str]:
    """Return the number of columns of a declared matrix, or of entries of a transposed column; nothing for what is neither."""
    if _is_transposed(node) and isinstance(node, Scripted):
        return _rows(guesses, node.base)
    words = _meaning(guesses, node)
    return words[-1:] if isinstance(node, Symbol) and _is_matrix(words) else []


def _is_transposed(node: Node) -> bool:
    return isinstance(node, Scripted) and node.sub is None and node.sup is not None and spelled(node.sup) in TRANSPOSED


def _is_matrix(words: Sequence[str]) -> bool:
    return len(words) > 2 and bool({*words} & {*MATRICES})


def _meaning(guesses: Guesses, node: Node) -> list[str]:
    line = guesses.lines.get(guesses.names.get(spelled(node), ""))
    return line.meaning.split() if line is not None and not line.meaning.startswith("=") else []
