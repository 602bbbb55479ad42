"""Read equations up to a remainder: f = g + o(α), f = g + O(‖λ‖³), and f ≈ g without a stated order.

O of a power is read as o of the previous power, which is equivalent for analytic functions.  If a vector goes to 0, the
statement is made on each ray t ↦ tλ.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import sympy as sp

from derivations.calculus.printing import text
from derivations.calculus.variables import Variable
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value, bound
from derivations.reader.syntax.tree import (
    Bracket,
    LatexError,
    Node,
    Number,
    Operator,
    Product,
    Scripted,
    Sum,
    Symbol,
    product_node,
    spelled,
    walk,
)
from derivations.records.normal_form import Sign

LITTLE, LARGE = ("o", "\\mathrm{o}"), ("O", "\\mathcal{O}", "\\mathrm{O}")
DOTS = ("\\cdots", "\\dots", "\\ldots")


@dataclass(frozen=True)
class Expanded:
    """left = right + o(small^order) as `small`, a number or a vector on a ray, goes to 0; f ≈ g has neither."""

    left: sp.Expr
    right: sp.Expr
    small: Variable | None
    order: int | None
    sign: ClassVar[Sign] = Sign.EXPANSION

    @property
    def sides(self) -> tuple[sp.Expr, sp.Expr]:
        """The expressions that are equal up to the remainder."""
        return self.left, self.right

    def __str__(self) -> str:
        rest = "a remainder" if self.small is None else f"o({self.small}^{self.order})"
        return f"{text(self.left)} = {text(self.right)} + {rest}"


@dataclass(frozen=True)
class Remainder:
    """o(small^order)."""

    small: Variable
    order: int


def without_remainder(reader: Reader, node: Node) -> tuple[Node, Remainder | None]:
    """Return a side without its remainders, and the largest of these, None if there are none.

    Raises LatexError for a remainder inside a function or power, and for remainders in two quantities.
    """
    calls = [pair for pair in _pairs(node) if _is_remainder(reader, *pair)]
    if not calls:
        return _without_dots(reader, node)
    remainders = [_read(reader, *pair) for pair in calls]
    if len({each.small for each in remainders}) > 1:
        raise LatexError(f"expected remainders in one quantity, got {', '.join(str(each.small) for each in remainders)}")
    rest = _dropped(reader, node)
    if any(_is_remainder(reader, *pair) for pair in _pairs(rest)):
        raise LatexError(f"expected a remainder as a term, got one inside of an expression: {spelled(node)}")
    return rest, min(remainders, key=lambda each: each.order)


def _pairs(node: Node) -> list[tuple[Node, Node]]:
    """Each factor with the one after it."""
    factors = [each.factors for each in walk(node) if isinstance(each, Product)]
    return [pair for each in factors for pair in pairwise(each)]


def _is_remainder(reader: Reader, name: Node, call: Node) -> bool:
    called = isinstance(name, Symbol) and name.name in (*LITTLE, *LARGE) and reader.meaning(name.name) is None
    return called and isinstance(call, Bracket) and call.kind == "()"


def _read(reader: Reader, name: Node, call: Node) -> Remainder:
    """Return the variable of o(α), o(α²), o(‖λ‖²), O(‖λ/γ‖³), and the order, one less for O."""
    assert isinstance(call, Bracket)
    inside, power = call.inside, 1
    if isinstance(inside, Scripted) and isinstance(inside.sup, Number) and inside.sup.text.isdigit() and inside.sub is None:
        power, inside = int(inside.sup.text), inside.base
    norm = isinstance(inside, Bracket) and inside.kind == "‖‖"
    value = reader.value(inside.inside if isinstance(inside, Bracket) else inside)
    if norm != (len(value.shape) == 1):
        raise LatexError(f"{spelled(name)}({spelled(call.inside)}): expected a number or the norm of a vector")
    order = power - (spelled(name) in LARGE)
    if order < 0:
        raise LatexError(f"{spelled(name)}({spelled(call.inside)}): expected what goes to 0")
    return Remainder(_small(value, spelled(call.inside)), order)


def _small(value: Value, what: str) -> Variable:
    """Return the variable, a number or vector, of which a value is a multiple."""
    indices = tuple(map(bound, value.shape))
    factors = list(sp.Mul.make_args(value.entry(*indices)))
    for factor in factors:
        label = factor.base.label if isinstance(factor, sp.Indexed) else factor
        others = set().union(*(each.free_symbols for each in factors if each is not factor))
        if not isinstance(label, Variable) or not label.domain.is_independent:
            continue
        if len(label.domain.shape) == len(indices) and not others & {label, *indices}:
            return label
    raise LatexError(f"o({what}): expected a multiple of a number or vector of the notation")


def _dropped(reader: Reader, node: Node) -> Node:
    """Return a side without remainder terms, including those in bracketed terms."""
    if isinstance(node, Sum):
        terms = [(sign, _dropped(reader, term)) for sign, term in node.terms if not _ends_in_remainder(reader, term)]
        return Sum(tuple(terms)) if terms else Number("0")
    if isinstance(node, Product) and _ends_in_remainder(reader, node):
        return Number("0")
    if isinstance(node, Product) and node.factors:
        last = node.factors[-1]
        if isinstance(last, Bracket) and last.kind in ("()", "[]", "{}") and isinstance(last.inside, Sum):
            return product_node((*node.factors[:-1], Bracket(last.kind, _dropped(reader, last.inside))))
    if isinstance(node, Bracket) and node.kind in ("()", "[]", "{}") and isinstance(node.inside, Sum):
        return Bracket(node.kind, _dropped(reader, node.inside))
    return node


def _ends_in_remainder(reader: Reader, term: Node) -> bool:
    """Return whether a term is a remainder, perhaps times a constant."""
    if not isinstance(term, Product) or len(term.factors) < 2 or not _is_remainder(reader, *term.factors[-2:]):
        return False
    before = term.factors[:-2]
    if any(isinstance(each, Operator) for each in before):
        raise LatexError(f"expected numbers before a remainder, got {spelled(term)}")
    own = _read(reader, *term.factors[-2:]).small
    if before and (reader.product(before).shape or own in reader.product(before).number.free_symbols):
        raise LatexError(f"expected a constant before a remainder, got {spelled(term)}")
    return True


def _without_dots(reader: Reader, node: Node) -> tuple[Node, Remainder | None]:
    """Read t − t²/2 + ⋯, a power series in its only variable, up to the last printed power."""
    if not isinstance(node, Sum) or spelled(node.terms[-1][1]) not in DOTS:
        return node, None
    rest = Sum(node.terms[:-1]) if len(node.terms) > 2 or node.terms[0][0] == "-" else node.terms[0][1]
    series = reader.value(rest).number
    names = [v for v in series.free_symbols if isinstance(v, Variable) and v.domain.is_whole]
    if len(names) != 1 or not series.is_polynomial(names[0]):
        raise LatexError(f"⋯: expected the terms of a power series in one number, got {spelled(rest)}")
    return rest, Remainder(names[0], int(sp.degree(series, names[0])))
