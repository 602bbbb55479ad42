"""More one-edit versions of a formula: a lost factor of 2, one wrong letter in a list of subscripts, d for √d."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from derivations.reader.syntax.names import LETTER, index_parts
from derivations.reader.syntax.tree import (
    Bracket,
    Fraction,
    Listing,
    Node,
    Number,
    Product,
    Root,
    Scripted,
    Sum,
    Symbol,
    product_node,
    spelled,
    sum_node,
    walk,
)

FACTORS = {"2": Number("2"), "1/2": Fraction(Number("1"), Number("2"))}

Put = Callable[[Node], Node]


def slips(side: Node, sizes: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """Yield descriptions and versions of a side; `sizes` are those of which a root may have been lost or added."""
    terms = side.terms if isinstance(side, Sum) else (("+", side),)
    for name, number in FACTORS.items():
        yield f"multiplied by {name}", sum_node([(sign, _times(number, term)) for sign, term in terms])
    yield from _letters(side)
    yield from _roots(side, sizes)
    for at, (sign, term) in enumerate(terms if len(terms) > 1 else ()):
        for name, number in FACTORS.items():
            changed = [*terms[:at], (sign, _times(number, term)), *terms[at + 1 :]]
            yield f"{spelled(term)} multiplied by {name}", sum_node(changed)


def _times(number: Node, term: Node) -> Node:
    return product_node((number, *(term.factors if isinstance(term, Product) else (term,))))


def _letters(side: Node) -> Iterator[tuple[str, Node]]:
    """Put another letter of the side's subscripts for one in A_ij."""
    subs = [node.sub for node in walk(side) if isinstance(node, Scripted) and node.sub is not None]
    letters = sorted({spelled(part) for sub in subs for part in index_parts(sub) if LETTER.fullmatch(spelled(part))})
    for node, put in _within(side, lambda new: new):
        sub = node.sub if isinstance(node, Scripted) else None
        inside = index_parts(sub) if isinstance(sub, Product | Listing) else ()
        if not all(LETTER.fullmatch(spelled(part)) for part in inside) or not isinstance(node, Scripted):
            continue
        for at, old in enumerate(inside):
            for letter in (each for each in letters if each != spelled(old)):
                new = (*inside[:at], Symbol(letter), *inside[at + 1 :])
                below = Listing(new, sub.separators) if isinstance(sub, Listing) else Product(new)
                yield f"{letter} for {spelled(old)} in {spelled(node)}", put(replace(node, sub=below))


def _roots(side: Node, sizes: Sequence[str]) -> Iterator[tuple[str, Node]]:
    for node, put in _within(side, lambda new: new):
        if isinstance(node, Symbol) and node.name in sizes:
            yield f"the root of {node.name}", put(Root(node))
        elif isinstance(node, Root) and spelled(node.inside) in sizes:
            yield f"{spelled(node.inside)} without its root", put(node.inside)


def _within(node: Node, put: Put) -> Iterator[tuple[Node, Put]]:
    """Yield every part of a side that is no script, with a function that puts another part in its place."""
    yield node, put
    for part, own in _parts(node):
        yield from _within(part, lambda new, own=own: put(own(new)))  # type: ignore[misc]


def _parts(node: Node) -> Iterator[tuple[Node, Put]]:
    match node:
        case Sum(terms):
            for at, (sign, term) in enumerate(terms):
                yield term, lambda new, at=at, sign=sign: Sum((*terms[:at], (sign, new), *terms[at + 1 :]))  # type: ignore[misc]
        case Product(factors):
            for at, factor in enumerate(factors):
                yield factor, lambda new, at=at: Product((*factors[:at], new, *factors[at + 1 :]))  # type: ignore[misc]
        case Listing(parts, separators):
            for at, part in enumerate(parts):
                yield part, lambda new, at=at: Listing((*parts[:at], new, *parts[at + 1 :]), separators)  # type: ignore[misc]
        case Fraction(over, under):
            yield over, lambda new: Fraction(new, under)
            yield under, lambda new: Fraction(over, new)
        case Bracket() | Root():
            yield node.inside, lambda new: replace(node, inside=new)
        case Scripted():
            yield node.base, lambda new: replace(node, base=new)
