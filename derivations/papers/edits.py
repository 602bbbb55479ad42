"""One-edit versions of a printed formula, which undo common slips.

Edits change a sign, a factor such as τ or 1/τ, a power, a term, two indices, a transpose, or the order in KL(p ‖ q).
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, product

from derivations.reader.meaning.derivatives import TRANSPOSED
from derivations.reader.syntax.names import LETTER
from derivations.reader.syntax.tree import (
    Bracket,
    Fraction,
    Listing,
    Node,
    Number,
    Operator,
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

MOST = 50  # edits inside of a side
ONE = Number("1")
TWO = Number("2")


def versions(side: Node, scalars: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """Yield descriptions and versions of a side with one edit; `scalars` are numbers that may have been lost or added."""
    seen = {spelled(side)}
    own = islice(_inside(side, _letters(side), scalars), MOST)
    for name, node in chain(_signs(side), own, _scaled(side, scalars)):
        if spelled(node) not in seen:
            seen.add(spelled(node))
            yield name, node


def _letters(side: Node) -> list[str]:
    """Return the subscript letters of a side, which may have been confused with each other."""
    below = [node.sub for node in walk(side) if isinstance(node, Scripted) and node.sub is not None]
    return sorted({spelled(part) for sub in below for part in walk(sub) if LETTER.fullmatch(spelled(part))})


def _signs(side: Node) -> Iterator[tuple[str, Node]]:
    yield "the other sign", sum_node([(_other(sign), term) for sign, term in _terms(side)])


def _scaled(side: Node, scalars: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """Multiply or divide a side, or one of its terms, by a number."""
    terms = _terms(side)
    for name, below in product(scalars, (False, True)):
        edit, number = f"{'divided' if below else 'multiplied'} by {name}", Symbol(name)
        yield edit, sum_node([(sign, _times(term, number, below)) for sign, term in terms])
        for at, (sign, term) in enumerate(terms if len(terms) > 1 else ()):
            changed = [*terms[:at], (sign, _times(term, number, below)), *terms[at + 1 :]]
            yield f"{spelled(term)} {edit}", sum_node(changed)


def _times(term: Node, number: Node, below: bool) -> Node:
    factors = term.factors if isinstance(term, Product) else (term,)
    if below and number in factors and not any(isinstance(each, Operator) for each in factors):
        rest = [*factors]
        rest.remove(number)
        return product_node(rest or [ONE])
    return product_node((Fraction(ONE, number) if below else number, *factors))


def _terms(side: Node) -> tuple[tuple[str, Node], ...]:
    return side.terms if isinstance(side, Sum) else (("+", side),)


def _other(sign: str) -> str:
    return "+" if sign == "-" else "-"


def _inside(node: Node, letters: Sequence[str], scalars: Sequence[str]) -> Iterator[tuple[str, Node]]:  # noqa: C901
    """Yield edits of a node itself, then of its parts."""
    yield from _own(node)
    if isinstance(node, Symbol) and node.name in scalars:
        yield f"1/{node.name} for {node.name}", Fraction(ONE, node)
    match node:
        case Sum(terms):
            for at, (sign, term) in enumerate(terms):
                for name, part in _inside(term, letters, scalars):
                    yield name, Sum((*terms[:at], (sign, part), *terms[at + 1 :]))
        case Product(factors):
            for at, factor in enumerate(factors):
                for name, part in _inside(factor, letters, scalars):
                    yield name, Product((*factors[:at], part, *factors[at + 1 :]))
        case Fraction(over, under):
            yield from ((name, Fraction(part, under)) for name, part in _inside(over, letters, scalars))
            yield from ((name, Fraction(over, part)) for name, part in _inside(under, letters, scalars))
        case Bracket(kind, inside):
            yield from ((name, Bracket(kind, part)) for name, part in _inside(inside, letters, scalars))
        case Root(inside):
            yield from ((name, Root(part)) for name, part in _inside(inside, letters, scalars))
        case Listing(parts, separators):
            for at, own in enumerate(parts):
                for name, part in _inside(own, letters, scalars):
                    yield name, Listing((*parts[:at], part, *parts[at + 1 :]), separators)
        case Scripted(base, sub, sup, primes):
            edited = ((name, part) for name, part in _inside(base, letters, scalars) if not isinstance(part, Scripted))
            yield from ((name, Scripted(part, sub, sup, primes)) for name, part in edited)  # one script of a kind
            if sup is not None and not isinstance(sup, Symbol | Operator | Number):
                yield from ((name, Scripted(base, sub, part, primes)) for name, part in _inside(sup, letters, scalars))
            if sub is not None and LETTER.fullmatch(spelled(sub)) and spelled(base) not in ("\\sum", "\\prod"):
                for letter in letters:
                    yield f"{letter} for {spelled(sub)}", Scripted(base, Symbol(letter), sup, primes)


def _own(node: Node) -> Iterator[tuple[str, Node]]:  # noqa: C901
    match node:
        case Sum(terms):
            for at, (sign, term) in enumerate(terms):
                yield f"the other sign of {spelled(term)}", Sum((*terms[:at], (_other(sign), term), *terms[at + 1 :]))
            for at, (_, term) in enumerate(terms if len(terms) > 1 else ()):
                yield f"without {spelled(term)}", sum_node([*terms[:at], *terms[at + 1 :]])
            yield f"the other sign of {spelled(node)}", sum_node([(_other(sign), term) for sign, term in terms])
        case Bracket("()", inside) if not isinstance(inside, Sum | Listing):
            yield f"the other sign of {spelled(inside)}", Bracket("()", Sum((("-", inside),)))
        case Product(factors):
            for at, factor in enumerate(factors):
                if isinstance(factor, Number | Symbol | Fraction) and not isinstance(_next(factors, at), Bracket):
                    rest = (*factors[:at], *factors[at + 1 :])
                    if rest and not isinstance(rest[0], Operator) and not isinstance(rest[-1], Operator):
                        yield f"without {spelled(factor)}", product_node(rest)
        case Fraction(over, under) if over == ONE:
            yield f"{spelled(under)} for 1/{spelled(under)}", under
            if isinstance(under, Symbol):
                yield f"1/{under.name}² for 1/{under.name}", Fraction(ONE, Scripted(under, None, TWO))
                yield f"1/√{under.name} for 1/{under.name}", Fraction(ONE, Root(under))
        case Root(inside):
            yield f"{spelled(inside)} for its root", inside
        case Listing(parts, ("‖",)):
            yield f"{spelled(parts[0])} and {spelled(parts[1])} in the other order", Listing((parts[1], parts[0]), ("‖",))
        case Scripted(base, sub, sup, primes) if sup is not None and isinstance(sup, Number):
            bare = Scripted(base, sub, None, primes) if sub is not None or primes else base
            yield f"without the power {sup.text}", bare
            if sup.text != "2":
                yield f"the power 2 for {sup.text}", Scripted(base, sub, TWO, primes)
            if sup.text.isdigit():
                more = str(int(sup.text) + 1)
                yield f"the power {more} for {sup.text}", Scripted(base, sub, Number(more), primes)
        case Scripted(Symbol("e"), None, sup, 0) if sup is not None and not isinstance(sup, Sum):
            yield f"the square of {spelled(node)}", Scripted(Symbol("e"), None, product_node((TWO, sup)))
        case Scripted(base, None, sup, primes) if sup is not None and spelled(sup) in TRANSPOSED:
            yield f"{spelled(base)} for its transpose", base
        case Number(text) if text.isdigit():
            yield f"{int(text) + 1} for {text}", Number(str(int(text) + 1))
            if int(text) > 1:
                yield f"{int(text) - 1} for {text}", Number(str(int(text) - 1))
    if isinstance(node, Symbol | Bracket) or (isinstance(node, Scripted) and node.sup is None):
        base, sub = (node.base, node.sub) if isinstance(node, Scripted) else (node, None)
        if spelled(base) not in ("\\sum", "\\prod", "\\log", "\\exp", "\\partial", "\\nabla"):
            yield f"the square of {spelled(node)}", Scripted(base, sub, TWO, node.primes if isinstance(node, Scripted) else 0)


def _next(factors: Sequence[Node], at: int) -> Node | None:
    return factors[at + 1] if at + 1 < len(factors) else None
