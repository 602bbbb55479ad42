"""Guess the sizes of vectors that no text declares from what they are multiplied by: w^⊤x_i, x^⊤Ax, ‖Xw − y‖."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from derivations.papers.guesses.guesses import Guesses
from derivations.reader.meaning.derivatives import TRANSPOSED
from derivations.reader.syntax.names import index_parts, thin
from derivations.reader.syntax.tree import Bracket, Node, Product, Scripted, Sum, Symbol, spelled, walk

VECTORS = ("vector", "simplex", "interior")
INVERSE = ("- 1", "-1")
MATRICES = ("matrix", "stochastic")


def read_shapes(guesses: Guesses, trees: Sequence[Node]) -> None:
    """Guess that an undeclared small letter is a vector if it is transposed or has a norm.

    Everything that it is multiplied by has to agree on the size.
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
    if (inside := _transposed(node)) is not None:
        yield spelled(inside)
    elif isinstance(node, Bracket) and node.kind == "‖‖":
        terms = [term for _, term in node.inside.terms] if isinstance(node.inside, Sum) else [node.inside]
        yield from (spelled(term.factors[-1] if isinstance(term, Product) else term) for term in terms)


def _sizes(guesses: Guesses, name: str, left: Node, right: Node) -> Iterator[str]:
    """Yield the size of a vector that the other factor of a product with it demands."""
    if (inside := _transposed(left)) is not None and spelled(inside) == name:
        yield from _rows(guesses, right)
    elif spelled(right) == name:
        yield from _columns(guesses, left)


def _rows(guesses: Guesses, node: Node) -> list[str]:
    """Return the number of rows of a declared column or matrix; nothing for what is neither."""
    if (inside := _transposed(node)) is not None:
        return _columns(guesses, inside)
    if isinstance(node, Scripted) and node.sup is not None:
        return _rows(guesses, node.base) if spelled(node.sup) in INVERSE else []
    if isinstance(node, Scripted):  # x_i, a row of the matrix x
        words, indices = _meaning(guesses, node.base), index_parts(node.sub) if node.sub is not None else []
        return words[-1:] if _is_matrix(words) and len(indices) == 1 else []
    words = _meaning(guesses, node)
    return words[-2:-1] if _is_matrix(words) else words[-1:] if {*words} & {*VECTORS} else []


def _columns(guesses: Guesses, node: Node) -> list[str]:
    """Return the number of columns of a declared matrix, or of entries of a transposed column; nothing for what is neither."""
    if (inside := _transposed(node)) is not None:
        return _rows(guesses, inside)
    words = _meaning(guesses, node)
    return words[-1:] if isinstance(node, Symbol) and _is_matrix(words) else []


def _transposed(node: Node) -> Node | None:
    """Return what is transposed, x of x^⊤ and x_i of x_i^⊤; None if nothing is."""
    if not isinstance(node, Scripted) or node.sup is None or spelled(node.sup) not in TRANSPOSED:
        return None
    return node.base if node.sub is None else replace(node, sup=None)


def _is_matrix(words: Sequence[str]) -> bool:
    return bool({*words} & {*MATRICES})


def _meaning(guesses: Guesses, node: Node) -> list[str]:
    line = guesses.lines.get(guesses.names.get(spelled(node), ""))
    return line.meaning.split() if line is not None and not line.meaning.startswith("=") else []
