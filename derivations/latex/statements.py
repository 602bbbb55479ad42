"""From a formula to relations: each link of a chain a = b ≤ c, entry by entry, with what is given.

Clauses after a comma or after "for", "if", "where" say where a statement holds; `x > 0` becomes a hypothesis, `k ≠ j` keeps an
index apart, and what the notation says already is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, index
from derivations.latex.elaboration import Reader
from derivations.latex.notation import Definition, Notation, index_parts, parts, plain
from derivations.latex.problems import because, minimizer, optimal_value, problem
from derivations.latex.syntax import (
    Bracket,
    Chain,
    LatexError,
    Listing,
    Node,
    Number,
    Product,
    Scripted,
    Sum,
    Symbol,
    parse,
    product_node,
    spelled,
)
from derivations.latex.values import Value, at, bound, fits, scalar
from derivations.relations import AtLeast, Equation, Limit, Relation
from derivations.relations.base import Hypothesis

EQUAL = ("=", ":=", "\\coloneqq", "\\triangleq", "\\equiv")
DEFINING = (":=", "\\coloneqq", "\\triangleq")
AT_MOST = {"\\le": False, "\\leq": False, "\\leqslant": False, "<": True}
AT_LEAST = {"\\ge": False, "\\geq": False, "\\geqslant": False, ">": True}
APART = ("\\ne", "\\neq")
CONDITION = ("for", "if", "where", "when", "whenever", "with", "and", "provided", "given", "all", "every", "each", "any", "as")
LEADING = ("thus", "so", "hence", "then", "i.e", "therefore", "that", "is", "but", "which", "means", "we", "have", "or")


def read(latex: str, notation: Notation) -> tuple[Relation, ...]:
    """The relations that a formula states, in the order of the print.

    Raises LatexError for what cannot be read, for a symbol that the notation does not declare, for shapes that do not fit, and
    for what can be read in two ways, with both readings.
    """
    chains, conditions = clauses(parse(latex))
    reader, given = under(Reader(notation), conditions)
    found = tuple(relation for chain in chains for relation in _relations(reader, chain))
    if not found:
        raise LatexError(f"expected a statement, got the expression {latex}")
    return tuple(_given(relation, (*given, *notation.bounds)) for relation in found)


def _given(relation: Relation, hypotheses: Sequence[Hypothesis]) -> Relation:
    """A relation with those hypotheses that speak of its variables."""
    own = set(relation.variables())
    given = tuple(each for each in hypotheses if set(each.variables()) <= own)
    return replace(relation, given=given) if given else relation


# ── clauses ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def clauses(node: Node) -> tuple[list[Chain], list[Chain]]:
    """The statements of a formula, and the conditions under which they hold."""
    stated: list[Chain] = []
    conditions: list[Chain] = []
    for clause in _flat(node):
        words, part = _words(clause)
        if unknown := sorted(words - {*CONDITION, *LEADING, "\\forall", ""}):
            raise LatexError(f"expected words such as “for all” or “where”, got “{' '.join(unknown)}”, which may say more")
        if part is None:
            continue
        if not isinstance(part, Chain):
            if conditions or words & set(CONDITION) or _is_range(part):
                continue  # the rest of a range, j = 1, …, m
            raise LatexError(f"expected a relation such as a = b, got {spelled(part)}")
        if part.parts[0] is None:
            if not stated:
                raise LatexError(f"expected a left side, got {spelled(part)}")
            stated[-1] = Chain((*stated[-1].parts, *part.parts[1:]), (*stated[-1].signs, *part.signs))
        elif words & set(CONDITION) or "\\forall" in words or (stated and _is_condition(part)):
            conditions.append(part)
        else:
            stated.append(part)
    return stated, conditions


def _flat(node: Node) -> Iterator[Node]:
    if isinstance(node, Listing) and not set(node.separators) & {"|", "‖"}:
        for part in node.parts:
            yield from _flat(part)
    else:
        yield from _split_words(node)


def _split_words(node: Node) -> Iterator[Node]:
    """A chain and the clause that words such as “for all” set apart from it."""
    if isinstance(node, Chain):
        for place, part in enumerate(node.parts):
            factors = _factors(part)
            word = next((at for at, each in enumerate(factors) if at and _is_word(each)), None)
            if word is not None and place > 0:
                yield Chain((*node.parts[:place], product_node(factors[:word])), node.signs[:place])
                rest = product_node(factors[word:])
                yield Chain((rest, *node.parts[place + 1 :]), node.signs[place:]) if node.signs[place:] else rest
                return
    yield node


def _factors(node: Node | None) -> list[Node]:
    if isinstance(node, Sum):
        sign, last = node.terms[-1]
        factors = _factors(last)
        word = next((at for at, each in enumerate(factors) if at and _is_word(each)), None)
        if word is None:
            return [node]
        return [Sum((*node.terms[:-1], (sign, product_node(factors[:word])))), *factors[word:]]
    return list(node.factors) if isinstance(node, Product) else [node] if node is not None else []


def _is_word(node: Node) -> bool:
    return isinstance(node, Symbol) and (node.name.startswith("\\text{") or node.name in ("\\forall", "\\quad"))


def _said(node: Node) -> set[str]:
    """The words of a text in a formula; a remark in parentheses says nothing of the statement."""
    if not isinstance(node, Symbol) or node.name == "\\forall":
        return {spelled(node)}
    text = node.name.removeprefix("\\text{").removesuffix("}").strip()
    return set() if text.startswith("(") else {word.strip(".,:;") for word in text.lower().split()}


def _words(node: Node) -> tuple[set[str], Node | None]:
    """The words that a clause begins with, and the clause without them."""
    words: set[str] = set()
    first = node.parts[0] if isinstance(node, Chain) else node
    factors = _factors(first)
    while factors and _is_word(factors[0]):
        words |= _said(factors.pop(0))
    while factors and _is_word(factors[-1]):
        words |= _said(factors.pop())
    rest = product_node(factors) if factors else None
    if isinstance(node, Chain):
        return words, Chain((rest, *node.parts[1:]), node.signs) if rest is not None or node.parts[0] is None else None
    return words, rest


def _is_range(node: Node) -> bool:
    return spelled(node) in ("\\dots", "\\ldots", "\\cdots") or isinstance(node, Number | Symbol)


def _is_condition(chain: Chain) -> bool:
    """Whether a clause after a statement says where that holds: k ≠ j, τ > 0, j = 1, x ∈ …"""
    first, sign = chain.parts[0], chain.signs[0]
    symbol = isinstance(first, Symbol | Scripted)
    other = chain.parts[1]
    negative = isinstance(other, Sum) and len(other.terms) == 1 and isinstance(other.terms[0][1], Number)
    number = isinstance(other, Number) or negative
    return len(chain.signs) == 1 and symbol and (sign in (*APART, "\\in") or number)


SETS = ("\\mathbb{R}", "\\mathbb{N}", "\\Delta", "\\mathcal{", "\\{1", "[", "\\mathrm{int}")


def _interval(node: Node) -> bool:
    """Whether a set is (a, b) or [a, b]."""
    return isinstance(node, Bracket) and node.kind in ("()", "[]") and len(parts(node.inside)) == 2


def _within(reader: Reader, left: Node, interval: Node) -> list[Hypothesis]:
    """x ∈ (a, b) as two inequalities; an end at infinity says nothing."""
    assert isinstance(interval, Bracket)
    low, high = parts(interval.inside)
    strict, x = interval.kind == "()", reader.value(left).number
    found: list[Hypothesis] = []
    if "\\infty" not in spelled(low):
        found.append(AtLeast(x, reader.value(low).number, strict=strict))
    if "\\infty" not in spelled(high):
        found.append(AtLeast(reader.value(high).number, x, strict=strict))
    return [each for each in found if not each.prove()]


def under(reader: Reader, conditions: Sequence[Chain]) -> tuple[Reader, tuple[Hypothesis, ...]]:
    """The reader with indices kept apart, and the hypotheses that the notation does not say already."""
    given: list[Hypothesis] = []
    for chain in conditions:
        left, sign, right = chain.parts[0], chain.signs[0], chain.parts[1]
        assert left is not None
        assert right is not None
        names = reader.notation.indices
        if sign in APART and spelled(left) in names and spelled(right) in names:
            own = index(plain(spelled(left)), names[spelled(left)].domain.shape[0], other_than=(names[spelled(right)],))
            reader = reader.within(**{spelled(left): scalar(own)})
        elif sign in {**AT_MOST, **AT_LEAST}:
            for relation in _relations(reader, chain):
                if isinstance(relation, AtLeast) and not relation.prove():
                    given.append(relation)
        elif sign == "=" and (spelled(left) in names or spelled(left).rstrip("'") in names):
            continue  # j = 1, …, m
        elif sign == "\\in" and _interval(right):
            given += _within(reader, left, right)
        elif sign != "\\in" or not spelled(right).startswith(SETS):
            raise LatexError(f"expected a condition such as x > 0 or k \\ne j, got {spelled(chain)}")
    return reader, tuple(given)


# ── relations ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _relations(reader: Reader, chain: Chain) -> Iterator[Relation]:
    """Each link of a chain."""
    for left, sign, right in zip(chain.parts, chain.signs, chain.parts[1:], strict=False):
        if left is None or right is None:
            raise LatexError(f"expected an expression on each side of {sign}, got {spelled(chain)}")
        yield from _link(reader, left, sign, right)


def _link(reader: Reader, left: Node, sign: str, right: Node) -> Iterator[Relation]:
    if sign in EQUAL and (limit := limit_of(reader, left, right)):
        yield limit
    elif sign in EQUAL and (found := problem(reader, right)):
        node, only_value = found
        yield from (optimal_value(reader, left, node) if only_value else minimizer(reader, left, node))
    elif sign in EQUAL and (found := problem(reader, left)) and found[1]:
        yield from optimal_value(reader, right, found[0])
    elif sign in EQUAL:
        yield from compared(reader, left, right, lambda a, b: Equation(a, b))
    elif sign in AT_MOST or sign in AT_LEAST:
        strict = {**AT_MOST, **AT_LEAST}[sign]
        less, more = (left, right) if sign in AT_MOST else (right, left)
        weights = _weights(reader)
        yield from compared(reader, more, less, lambda a, b: AtLeast(a, b, strict=strict, because=because(a - b, weights)))
    elif sign == "\\propto":
        yield proportional(reader, left, right)
    else:
        raise LatexError(f"expected =, an inequality or \\propto, got {sign}")


def limit_of(reader: Reader, left: Node, right: Node) -> Relation | None:
    """lim_{x → a} f = b; None where the left side is no limit."""
    factors = left.factors if isinstance(left, Product) else (left,)
    head = factors[0]
    if not (isinstance(head, Scripted) and spelled(head.base) == "\\lim" and isinstance(head.sub, Chain)):
        return None
    moving, to = head.sub.parts[0], head.sub.parts[-1]
    if head.sub.signs not in (("\\to",), ("\\rightarrow",)) or moving is None or to is None or len(factors) < 2:
        raise LatexError(f"\\lim: expected x \\to a below and an expression after it, got {spelled(left)}")
    if isinstance(to, Scripted) and spelled(to.sup) == "+":
        to = to.base
    end = sp.oo if spelled(to) in ("\\infty", "+ \\infty") else reader.value(to).number
    return Limit(reader.product(factors[1:]).number, reader.value(moving).number, end, reader.value(right).number)


def _weights(reader: Reader) -> list[Value]:
    """The vectors that the notation defines by a formula for each entry."""
    names = [name for name, each in reader.notation.meanings.items() if isinstance(each, Definition)]
    found = []
    for name in names:
        with suppress(LatexError):
            value = reader.value(parse(name))
            if len(value.shape) == 1:
                found.append(value)
    return found


def compared(reader: Reader, left: Node, right: Node, relation: Callable[[sp.Expr, sp.Expr], Relation]) -> Iterator[Relation]:
    """A relation of two numbers, or of vectors and matrices entry by entry; 0 is a vector, too."""
    one, other = reader.value(left), reader.value(right)
    shapes = f"expected two sides of one shape, got {one.words} and {other.words}: {spelled(left)}, {spelled(right)}"
    if one.shape and other.shape and not fits(one.shape, other.shape):
        raise LatexError(shapes)
    if bool(one.shape) != bool(other.shape) and (other if one.shape else one).entry() != 0:
        raise LatexError(shapes)
    places = free_places(reader.notation, one, other)
    yield relation(at(one, places), at(other, places))


def free_places(notation: Notation, one: Value, other: Value) -> tuple[Variable, ...]:
    """Free indices for the axes of both sides, under names of the notation that neither side uses for an index of its own."""
    shape = [a if a is not None else b for a, b in zip(one.shape or other.shape, other.shape or one.shape, strict=True)]
    if None in shape:
        raise LatexError("expected sides with a length, got only ones or identity matrices")
    dummies = [bound(size) for size in shape]
    both = sp.Tuple(at(one, dummies), at(other, dummies))
    taken = {symbol.name for symbol in both.free_symbols if isinstance(symbol, Variable)} | set(map(plain, notation.meanings))
    found: list[Variable] = []
    for size in shape:
        declared = [each for each in notation.indices.values() if each.domain.shape[0] == size]
        others = [index(letter, size) for letter in "ijklabcghxyz"]
        found.append(next(each for each in (*declared, *others) if each.name not in taken))
        taken.add(found[-1].name)
    return tuple(found)


def proportional(reader: Reader, left: Node, right: Node) -> Relation:
    """a_j ∝ b_j: a_j Σ b = b_j Σ a over the last index of the left side, or over all entries of vectors."""
    one, other = reader.value(left), reader.value(right)
    places = free_places(reader.notation, one, other)
    a, b = at(one, places), at(other, places)
    over = places[-1] if places else _last_index(reader, left)
    dummy = Variable(f"{over.name}#p", over.domain)
    return Equation(a * total(dummy, b.xreplace({over: dummy})), b * total(dummy, a.xreplace({over: dummy})))


def _last_index(reader: Reader, node: Node) -> Variable:
    sub = node.sub if isinstance(node, Scripted) else None
    if sub is None and isinstance(node, Product) and isinstance(node.factors[-1], Bracket):
        sub = node.factors[-1].inside
    names = [spelled(part) for part in index_parts(sub)] if sub is not None else []
    known = [reader.place(parts(sub)[-1] if isinstance(sub, Listing) else index_parts(sub)[-1])] if names and sub else []
    if not known or not isinstance(known[0], Variable):
        raise LatexError(f"\\propto: expected an index at the end of the left side, got {spelled(node)}")
    return known[0]
