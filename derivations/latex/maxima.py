"""Maxima and minima over an index, suprema and infima over a domain, as terms of an inequality.

Where one is bounded, max_i x_i ≤ y, the statement is one about every i, or about every point of the domain.  Where one is the
bound, y ≤ max_i x_i, it says the same of every number that is ≥ all x_i: with M for the maximum, x_i = M − u_i for u_i ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy as sp

from derivations.calculus import variables
from derivations.calculus.variables import Kind, Variable, index
from derivations.latex.derivatives import put_at
from derivations.latex.elaboration import Reader
from derivations.latex.membership import check_member
from derivations.latex.sums import bindings, occurs_free
from derivations.latex.tree import Chain, LatexError, Node, Product, Scripted, Sum, Symbol, product_node, spelled
from derivations.latex.values import Value, scalar

Put = Callable[[sp.Expr], sp.Expr]
SPACES = ("\\mathbb{R}", "\\Delta", "\\mathrm{int}")
GREATEST, LEAST = ("\\max", "\\sup"), ("\\min", "\\inf")


@dataclass(frozen=True)
class Extreme:
    """A term of a side: its place, the maximum or minimum, what stands below it and what it is of."""

    place: int
    head: Scripted
    body: Node


def extremes(side: Node, *, greatest: bool) -> list[Extreme]:
    """The terms of a side that are maxima, or minima after a minus sign; where not `greatest` the other way round."""
    found = []
    for place, (sign, term) in enumerate(_terms(side)):
        head = term.factors[0] if isinstance(term, Product) and len(term.factors) > 1 else None
        names = GREATEST if greatest == (sign != "-") else LEAST
        if isinstance(head, Scripted) and spelled(head.base) in names and head.sub is not None and isinstance(term, Product):
            found.append(Extreme(place, head, product_node(term.factors[1:])))
    return found


def every(reader: Reader, side: Node, others: Sequence[Node], *, above: bool) -> tuple[Reader, Node]:
    """A side of an inequality without the maxima that it bounds, and the reader in which their index is any.

    max_i x_i ≤ y says that x_i ≤ y for every i; so do min_i x_i ≥ y (`above`), and their negatives on the other side. Raises
    LatexError where the index has another use in the statement.
    """
    for each in extremes(side, greatest=not above):
        name, sub = spelled(each.head.base), each.head.sub
        assert sub is not None
        letter = spelled(sub.parts[0]) if isinstance(sub, Chain) else spelled(sub)
        elsewhere = [*others, *(term for at, (_, term) in enumerate(_terms(side)) if at != each.place)]
        if any(occurs_free(node, letter) for node in elsewhere):
            raise LatexError(f"{name}: expected a letter that is used nowhere else, got {letter}")
        if _is_point(reader, letter):
            _check_domain(reader, sub)
            side = _with_term(side, each.place, each.body)
            continue
        (over,) = _one(bindings(reader, sub, each.head.sup), name).values()
        own = reader.within(**{letter: scalar(index(letter, over.domain.shape[0]))}).value(each.body)
        term = Symbol(f"{spelled(each.head)}#{each.place}{above}")
        reader, side = reader.within(**{term.name: own}), _with_term(side, each.place, term)
    return reader, side


def reached(reader: Reader, side: Node, *, above: bool) -> tuple[Reader, Node, Put]:
    """A side with a number M for the maximum that bounds the other side, and what puts M − u_i for x_i.

    y ≤ max_i x_i says that y ≤ M for every M ≥ all x_i.  Raises LatexError for maxima of anything but the entries of a vector.
    """
    found = extremes(side, greatest=above)
    if not found:
        return reader, side, lambda expr: expr
    name = spelled(found[0].head.base)
    if len(found) > 1:
        raise LatexError(f"{name}: expected one maximum or minimum that as a bound, got several")
    head, body, sub = found[0].head, found[0].body, found[0].head.sub
    assert sub is not None
    ((letter, over),) = _one(bindings(reader, sub, head.sup), name).items()
    entry = reader.within(**{letter: scalar(over)}).value(body)
    expr = entry.entry() if not entry.shape else None
    if not isinstance(expr, sp.Indexed) or expr.indices != (over,) or expr.base.label.domain.kind is not Kind.REAL:
        raise LatexError(f"{name}: expected the greatest entry of a vector of real numbers as a bound, got {spelled(body)}")
    vector, shown = expr.base, str(expr.base.label.name)
    most = variables.scalar(f"{name[1:]}{shown}")
    apart = variables.vector(f"gap{shown}", *vector.shape, kind=Kind.NONNEGATIVE)
    below = -1 if name in GREATEST else 1
    moved = Value(tuple(vector.shape), lambda i: most + below * apart[i])
    own = Value(tuple(vector.shape), lambda i: vector[i])
    symbol = Symbol(most.name)

    def put(side: sp.Expr) -> sp.Expr:
        return put_at(scalar(side), own, moved).number

    return reader.within(**{most.name: scalar(most)}), _with_term(side, found[0].place, symbol), put


def _terms(side: Node) -> tuple[tuple[str, Node], ...]:
    return side.terms if isinstance(side, Sum) else (("+", side),)


def _with_term(side: Node, place: int, body: Node) -> Node:
    if not isinstance(side, Sum):
        return body
    return Sum(tuple((sign, body if at == place else term) for at, (sign, term) in enumerate(side.terms)))


def _is_point(reader: Reader, letter: str) -> bool:
    """Whether a letter below a supremum is a variable of the notation, and no index."""
    meaning = reader.meaning(letter)
    first = meaning.entry(*(sp.S.One for _ in meaning.shape)) if isinstance(meaning, Value) else None
    label = first.base.label if isinstance(first, sp.Indexed) else first
    return isinstance(label, Variable) and label.domain.kind is not Kind.INDEX


def _check_domain(reader: Reader, sub: Node) -> None:
    """Raises LatexError for a supremum over another set than that of which the notation declares the points."""
    if not isinstance(sub, Chain):
        return
    if sub.signs != ("\\in",) or sub.parts[0] is None or sub.parts[1] is None or not spelled(sub.parts[1]).startswith(SPACES):
        raise LatexError(f"supremum: expected x \\in and a set such as \\Delta or \\mathbb{{R}}^n below, got {spelled(sub)}")
    check_member(reader, sub.parts[0], sub.parts[1])


def _one(found: dict[str, Variable], name: str) -> dict[str, Variable]:
    if len(found) != 1:
        raise LatexError(f"{name}: expected one index below, got {', '.join(found)}")
    return found
