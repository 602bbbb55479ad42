"""Maxima and minima over an index, suprema and infima over a domain, as terms of an inequality.

If one is bounded, max_i x_i ≤ y, the statement holds for every i, or for every point of the domain.  If it is the bound,
y ≤ max_i x_i, the statement holds for every number M ≥ all x_i in place of the maximum: x_i = M − u_i with u_i ≥ 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy as sp

from derivations.calculus import variables
from derivations.calculus.variables import Variable, index
from derivations.domains import Nonnegative
from derivations.reader.meaning.derivatives import put_at
from derivations.reader.meaning.membership import check_member
from derivations.reader.meaning.ranges import printed_ranges
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.sums import bindings, occurs_free
from derivations.reader.meaning.values import Value, scalar
from derivations.reader.syntax.tree import Chain, LatexError, Node, Product, Scripted, Sum, Symbol, product_node, spelled

Put = Callable[[sp.Expr], sp.Expr]
SPACES = ("\\mathbb{R}", "\\Delta", "\\mathrm{int}")
GREATEST, LEAST = ("\\max", "\\sup"), ("\\min", "\\inf")


@dataclass(frozen=True)
class Extreme:
    """A maximum or minimum among the terms of a side: its position, the operator with subscript, and the body."""

    position: int
    head: Scripted
    body: Node


def extremes(side: Node, *, greatest: bool) -> list[Extreme]:
    """Return the terms of a side that are maxima, or minima after a minus sign; if not `greatest`, the reverse."""
    terms = []
    for position, (sign, term) in enumerate(_terms(side)):
        head = term.factors[0] if isinstance(term, Product) else None
        names = GREATEST if greatest == (sign != "-") else LEAST
        if isinstance(head, Scripted) and spelled(head.base) in names and head.sub is not None and isinstance(term, Product):
            terms.append(Extreme(position, head, product_node(term.factors[1:])))
    return terms


def every(reader: Reader, side: Node, others: Sequence[Node], *, above: bool) -> tuple[Reader, Node]:
    """Replace the bounded maxima of a side by their bodies; return the reader in which their indices are arbitrary.

    max_i x_i ≤ y states x_i ≤ y for every i; likewise min_i x_i ≥ y (`above`), and their negatives on the other side.  Raises
    LatexError if the index is used elsewhere in the statement.
    """
    for each in extremes(side, greatest=not above):
        name, sub = spelled(each.head.base), each.head.sub
        assert sub is not None
        letter = _letter(sub, each.head.sup)
        elsewhere = [*others, *(term for at, (_, term) in enumerate(_terms(side)) if at != each.position)]
        if any(occurs_free(node, letter) for node in elsewhere):
            raise LatexError(f"{name}: expected a letter that is used nowhere else, got {letter}")
        if _is_point(reader, letter):
            _check_domain(reader, sub)
            side = _with_term(side, each.position, each.body)
            continue
        (over,) = _one(bindings(reader, sub, each.head.sup), name).values()
        own = reader.within(**{letter: scalar(index(letter, over.domain.shape[0], over.domain.other_than))}).value(each.body)
        term = Symbol(f"{spelled(each.head)}#{each.position}{above}")
        reader, side = reader.within(**{term.name: own}), _with_term(side, each.position, term)
    return reader, side


def reached(reader: Reader, side: Node, *, above: bool) -> tuple[Reader, Node, Put]:
    """Replace the maximum that bounds the other side by a number M; also return the substitution of M − u_i for x_i.

    y ≤ max_i x_i states y ≤ M for every M ≥ all x_i.  Raises LatexError unless the maximum is over a vector's entries.
    """
    bounding = extremes(side, greatest=above)
    if not bounding:
        return reader, side, lambda expr: expr
    name = spelled(bounding[0].head.base)
    if len(bounding) > 1:
        raise LatexError(f"{name}: expected one maximum or minimum as a bound, got several")
    head, body, sub = bounding[0].head, bounding[0].body, bounding[0].head.sub
    assert sub is not None
    ((letter, over),) = _one(bindings(reader, sub, head.sup), name).items()
    if over.domain.other_than:  # the entry that is left out may exceed the bound
        raise LatexError(f"{name}: expected a bound over all indices, got {spelled(sub)}")
    entry = reader.within(**{letter: scalar(over)}).value(body)
    expr = entry.entry() if not entry.shape else None
    if not isinstance(expr, sp.Indexed) or expr.indices != (over,) or not expr.base.label.domain.is_whole:
        raise LatexError(f"{name}: expected the greatest entry of a vector of real numbers as a bound, got {spelled(body)}")
    vector, shown = expr.base, str(expr.base.label.name)
    most = variables.scalar(f"{name[1:]}{shown}")
    apart = variables.vector(f"gap{shown}", *vector.shape, kind=Nonnegative)
    below = -1 if name in GREATEST else 1
    shifted = Value(tuple(vector.shape), lambda i: most + below * apart[i])
    own = Value(tuple(vector.shape), lambda i: vector[i])
    symbol = Symbol(most.name)

    def put(side: sp.Expr) -> sp.Expr:
        return put_at(scalar(side), own, shifted).number

    return reader.within(**{most.name: scalar(most)}), _with_term(side, bounding[0].position, symbol), put


def _terms(side: Node) -> tuple[tuple[str, Node], ...]:
    return side.terms if isinstance(side, Sum) else (("+", side),)


def _with_term(side: Node, position: int, body: Node) -> Node:
    if not isinstance(side, Sum):
        return body
    return Sum(tuple((sign, body if at == position else term) for at, (sign, term) in enumerate(side.terms)))


def _letter(sub: Node, sup: Node | None) -> str:
    """The letter that a maximum or supremum binds."""
    if (ranges := printed_ranges(sub, sup)) is not None:
        return ranges.letters[0]
    return spelled(sub.parts[0]) if isinstance(sub, Chain) else spelled(sub)


def _is_point(reader: Reader, letter: str) -> bool:
    """Return whether a letter below a supremum is a variable other than an index."""
    meaning = reader.meaning(letter)
    first = meaning.entry(*(sp.S.One for _ in meaning.shape)) if isinstance(meaning, Value) else None
    label = first.base.label if isinstance(first, sp.Indexed) else first
    return isinstance(label, Variable) and not label.domain.is_index


def _check_domain(reader: Reader, sub: Node) -> None:
    """Raise LatexError if a supremum is over another set than the declared domain of its variable."""
    if not isinstance(sub, Chain):
        return
    if sub.signs != ("\\in",) or sub.parts[0] is None or sub.parts[1] is None or not spelled(sub.parts[1]).startswith(SPACES):
        raise LatexError(f"supremum: expected x \\in and a set such as \\Delta or \\mathbb{{R}}^n below, got {spelled(sub)}")
    check_member(reader, sub.parts[0], sub.parts[1])


def _one(indices: dict[str, Variable], name: str) -> dict[str, Variable]:
    if len(indices) != 1:
        raise LatexError(f"{name}: expected one index below, got {', '.join(indices)}")
    return indices
