"""A maximum over an index where it is bounded above: a statement about every index."""

from __future__ import annotations

from collections.abc import Sequence

from derivations.calculus.variables import Variable, index
from derivations.latex.elaboration import Reader
from derivations.latex.sums import bindings
from derivations.latex.tree import LatexError, Node, Product, Scripted, Sum, product_node, spelled, walk
from derivations.latex.values import scalar


def every(reader: Reader, side: Node, others: Sequence[Node], *, above: bool) -> tuple[Reader, Node]:
    """A side of an inequality without its maximum over an index, and the reader in which the index is any.

    max_i x_i ≤ y says that x_i ≤ y for every i; so do min_i x_i ≥ y (`above`), and their negatives on the other side. Raises
    LatexError where the index has another use in the statement.
    """
    terms = side.terms if isinstance(side, Sum) else (("+", side),)
    found: list[tuple[str, Node]] = []
    for place, (sign, term) in enumerate(terms):
        head = term.factors[0] if isinstance(term, Product) and len(term.factors) > 1 else None
        name = "\\min" if above == (sign != "-") else "\\max"
        if isinstance(head, Scripted) and spelled(head.base) == name and head.sub is not None and isinstance(term, Product):
            ((letter, over),) = _one(bindings(reader, head.sub, head.sup), name)
            elsewhere = (*others, *(each for at, (_, each) in enumerate(terms) if at != place))
            if any(spelled(part) == letter for node in elsewhere for part in walk(node)):
                raise LatexError(f"{name}: expected a letter that is used nowhere else, got {letter}")
            reader = reader.within(**{letter: scalar(index(letter, over.domain.shape[0]))})
            term = product_node(term.factors[1:])
        found.append((sign, term))
    return reader, Sum(tuple(found)) if isinstance(side, Sum) else found[0][1]


def _one(found: dict[str, Variable], name: str) -> list[tuple[str, Variable]]:
    if len(found) != 1:
        raise LatexError(f"{name}: expected one index below, got {', '.join(found)}")
    return list(found.items())
