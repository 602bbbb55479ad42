"""What a printed formula states, link by link: both sides of each =, ≤ and →, without a proof of any of them.

`statements.read` makes relations that the kernel can prove; here a formula is only understood, to be held beside relations that
are proved already.  A line that begins with = goes on with the left side of the line before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import Variable
from derivations.latex.clauses import clauses
from derivations.latex.densities import moving_vector, proportional_density
from derivations.latex.derivatives import put_at
from derivations.latex.elaboration import Reader
from derivations.latex.names import index_parts
from derivations.latex.notation import Definition, Notation
from derivations.latex.posed import ENDS, ROWS, Posed, check_dimension, posed
from derivations.latex.remainders import Expanded, Remainder, without_remainder
from derivations.latex.said import Link, Minimizer, Optimum, Said, Shown
from derivations.latex.spaces import REALS, ambient, check_mapping, check_point, counted, dimensions, is_signed, set_of
from derivations.latex.statements import AT_LEAST, AT_MOST, EQUAL, compared, free_places, limits, proportional, under
from derivations.latex.syntax import parse
from derivations.latex.tree import (
    EMPTY,
    Bracket,
    Chain,
    Fraction,
    LatexError,
    Listing,
    Node,
    Product,
    Scripted,
    Sum,
    Symbol,
    product_node,
    spelled,
)
from derivations.latex.values import Value, at, bound, scalar
from derivations.relations import AtLeast, Differs, Equation

IMPLIES = ("\\implies", "\\Rightarrow", "\\Longrightarrow")
EQUIVALENT = ("\\iff", "\\Leftrightarrow", "\\Longleftrightarrow")
APPROXIMATELY = "\\approx"
MEMBER = "\\in"
TO = ("\\to", "\\rightarrow", "\\longrightarrow")


def links(latex: str, notation: Notation, before: str | None = None) -> tuple[Link, ...]:
    """The links of a formula; `before` is the formula that a line beginning with = continues.

    Raises LatexError for what cannot be read, and for what can be read in two ways.
    """
    tree = _with_clauses(parse(latex))
    start = _first_side(parse(before)) if before else None
    if not isinstance(tree, Chain | Listing):
        return (Link(_shown(Reader(notation), tree)),)
    tree, alone = _standing_alone(tree)
    chains, conditions = clauses(_continued(tree, start), notation)
    reader, _ = under(Reader(notation), conditions)
    found = [Link(_shown(reader, each)) for each in alone]
    pending: list[Said] = []
    for place, chain in enumerate(chains):
        pieces, signs = _pieces(chain)
        later = any(set(each.signs) & {*IMPLIES} for each in chains[place + 1 :])
        for piece, sign in zip(pieces, (*signs, ""), strict=True):
            said = [] if piece is None else list(_said(reader, piece))
            if sign in IMPLIES or (later and not signs):
                pending += [each for each, _ in said]
            elif sign in EQUIVALENT or not signs or signs[0] in EQUIVALENT:
                found += [Link(each, (), name) for each, name in said]
            else:
                found += [Link(each, tuple(pending), name) for each, name in said]
    if not found:
        raise LatexError(f"expected a statement, got the expression {latex}")
    return tuple([each for each in found if each.defined != MEMBER] or found)


def _standing_alone(node: Chain | Listing) -> tuple[Chain | Listing, list[Node]]:
    """The relations of a formula, and apart from them problems and terms, as in C = −QKᵀ, −εH(P) or C_j = …, min_p J(p)."""
    if isinstance(node, Chain):
        return node, []
    alone = [each for each in node.parts if isinstance(each, Sum) or _is_problem(each)]
    rest = tuple(each for each in node.parts if each not in alone)
    if not alone or not rest or not all(isinstance(each, Chain) for each in rest):
        return node, []
    return Listing(rest, (",",) * (len(rest) - 1)), alone


def _is_problem(node: Node) -> bool:
    first = node.terms[0][1] if isinstance(node, Sum) else node
    head = first.factors[0] if isinstance(first, Product) else first
    return isinstance(head, Scripted) and spelled(head.base) in ENDS


def _is_new(reader: Reader, node: Node) -> bool:
    """Whether a side is a name that the notation does not declare, with its arguments: what is defined is on the other side."""
    first = node.factors[0] if isinstance(node, Product) and isinstance(node.factors[-1], Bracket) else node
    names = (first, first.base) if isinstance(first, Scripted) else (first,)
    plain = isinstance(names[-1], Symbol) and not _is_problem(node)
    return plain and all(reader.meaning(spelled(each)) is None for each in names)


def _shown(reader: Reader, node: Node) -> Shown:
    """An expression by itself, up to its remainder; of a problem its objective, as a function of what it is minimized over."""
    factors = (
        node.terms[0][1].factors
        if isinstance(node, Sum) and isinstance(node.terms[0][1], Product)
        else (node.factors if isinstance(node, Product) else (node,))
    )
    head = factors[0]
    if isinstance(head, Scripted) and spelled(head.base) in ENDS:
        rest = product_node(factors[1:])
        node = Sum((("+", rest), *node.terms[1:])) if isinstance(node, Sum) else rest
    node, _ = without_remainder(reader, node)
    value = reader.value(node)
    places = free_places(reader.notation, value, value)
    return Shown(at(value, places))


def _first_side(node: Node) -> Node | None:
    """The left side of the last chain of a formula, which a next line continues."""
    chains = [each for each in (node.parts if isinstance(node, Listing) else (node,)) if isinstance(each, Chain)]
    return chains[-1].parts[0] if chains else None


def _continued(node: Node, start: Node | None) -> Node:
    if isinstance(node, Listing) and node.parts:
        return replace(node, parts=(_continued(node.parts[0], start), *node.parts[1:]))
    if isinstance(node, Chain) and node.parts[0] is None:
        if start is None:
            raise LatexError(f"expected a left side, got {spelled(node)}, and no line before it")
        return Chain((start, *node.parts[1:]), node.signs)
    return node


def _with_clauses(node: Node) -> Node:
    """A relation in parentheses at the end of a statement, (h ≠ i), as a clause of its own."""
    if isinstance(node, Listing):
        parts = [_with_clauses(part) for part in node.parts]
        return replace(node, parts=tuple(parts))
    last = node.parts[-1] if isinstance(node, Chain) else None
    inside = last.factors[-1] if isinstance(last, Product) and len(last.factors) > 1 else None
    if (
        isinstance(node, Chain)
        and isinstance(last, Product)
        and isinstance(inside, Bracket)
        and isinstance(inside.inside, Chain)
    ):
        rest = Chain((*node.parts[:-1], product_node(last.factors[:-1])), node.signs)
        return Listing((rest, inside.inside), (",",))
    return node


def _pieces(chain: Chain) -> tuple[list[Chain | None], list[str]]:
    """The chains between ⟹ and ⟺; None for a part that is no relation."""
    parts: list[list[Node | None]] = [[chain.parts[0]]]
    own: list[list[str]] = [[]]
    signs: list[str] = []
    for sign, part in zip(chain.signs, chain.parts[1:], strict=True):
        if sign in (*IMPLIES, *EQUIVALENT):
            signs.append(sign)
            parts.append([part])
            own.append([])
        else:
            parts[-1].append(part)
            own[-1].append(sign)
    for each, its in zip(parts, own, strict=True):
        if not its:
            raise LatexError(f"expected a relation on each side of {signs[0]}, got {spelled(each[0])}")
    return [Chain(tuple(each), tuple(its)) for each, its in zip(parts, own, strict=True)], signs


def _said(reader: Reader, chain: Chain) -> Iterator[tuple[Said, str]]:
    """Each link of a chain, with the name that it defines."""
    if chain.signs[:1] == (":",) and chain.signs[1:] in {(each,) for each in TO}:
        function, domain, target = (each for each in chain.parts if each is not None)
        check_mapping(reader, function, domain, target)
        yield _shown(reader, function), MEMBER  # which says something only where it is all that is said
        return
    for left, sign, right in zip(chain.parts, chain.signs, chain.parts[1:], strict=False):
        if left is None or right is None:
            raise LatexError(f"expected an expression on each side of {sign}, got {spelled(chain)}")
        if sign in EQUAL and (last := counted(right)) is not None:
            size = reader.value(last).number
            yield Equation(total(bound(size), sp.S.One), size), ""  # a set of so many numbers
            continue
        if sign in EQUAL and (conditions := set_of(right)):
            check_dimension(reader, left, ambient(reader, right))
            for each in conditions:
                yield from _said(reader, each)
            continue
        if sign == "\\in" and dimensions(reader, right) is not None:
            yield from _of_space(reader, left, right)
            continue
        name = spelled(left.base) if isinstance(left, Scripted) else spelled(left)
        if _solved(left) and _solved(right) and chain.parts[0] is not None:
            left = chain.parts[0]  # x = A⁻¹y = B⁻¹z says that x = B⁻¹z, too
        if sign == "\\propto" and (moving := moving_vector(reader, chain.parts[0])) is not None:
            yield proportional_density(reader, left, right, moving), ""
            continue
        for said in _link(reader, left, sign, right):
            yield said, name


def _of_space(reader: Reader, left: Node, space: Node) -> Iterator[tuple[Said, str]]:
    """x ∈ ℝ^m, which is held against the table, and of ℝ₊^m that entries are ≥ 0."""
    value = check_point(reader, left, space)
    places = free_places(reader.notation, value, value)
    if is_signed(space):
        yield AtLeast(at(value, places), sp.S.Zero), ""
    else:
        yield Shown(at(value, places)), MEMBER


def _link(reader: Reader, left: Node, sign: str, right: Node) -> Iterator[Said]:
    spaces = [dimensions(reader, each) if REALS in spelled(each) else None for each in (left, right)]
    if sign in EQUAL and None not in spaces:
        yield Equation(*(sp.Mul(*each) for each in spaces if each is not None))  # two spaces are one by their dimensions
    elif sign in EQUAL and (found_limits := [*limits(reader, left, right)]):
        yield from found_limits
    elif sign in EQUAL and _is_problem(right) and _is_new(reader, left):
        yield _shown(reader, right)
    elif sign == APPROXIMATELY:
        yield from _expanded(reader, left, right, None)
    elif sign in EQUAL and (shortened := without_remainder(reader, right))[1] is not None:
        yield from _expanded(reader, left, *shortened)
    elif sign in EQUAL and (one := posed(reader, left, open_=True)) and (other := posed(reader, right, open_=True)):
        if one.only_value != other.only_value or one.sign != other.sign or one.axes != other.axes:
            raise LatexError(f"expected two problems of one kind, got {spelled(left)} and {spelled(right)}")
        yield Equation(one.sign * one.objective, one.sign * other.objective)
    elif sign in EQUAL and (solved := _solved(right)):
        matrix, rest = solved
        yield from compared(reader, Product((matrix, left)), rest, lambda a, b: Equation(a, b))
    elif sign in EQUAL and (solved := _solved(left)):
        matrix, rest = solved
        yield from compared(reader, Product((matrix, right)), rest, lambda a, b: Equation(a, b))
    elif sign in EQUAL and (found := posed(reader, right)):
        yield from _optimum(reader, left, left, found)
    elif sign in EQUAL and (found := posed(reader, left)):
        yield from _optimum(reader, right, right, found)
    elif sign in EQUAL and (found := posed(reader, _negated(right))) and found.only_value:
        yield Optimum(found.objective, -found.sign * reader.value(left).number)
    elif sign in EQUAL and (found := _defined_by_problem(reader, left)):
        yield from _optimum(reader, left, right, found)
    elif sign in EQUAL:
        yield from compared(reader, left, right, lambda a, b: Equation(a, b))
    elif sign in AT_MOST or sign in AT_LEAST:
        strict = {**AT_MOST, **AT_LEAST}[sign]
        less, more = (left, right) if sign in AT_MOST else (right, left)
        yield from compared(reader, more, less, lambda a, b: AtLeast(a, b, strict=strict))
    elif sign in ("\\ne", "\\neq"):
        yield _different(reader, left, right)
    elif sign == "\\propto" and (found := _defined_by_problem(reader, left)):
        yield from _optimum(reader, left, _normalized(left, right), found)
    elif sign == "\\propto":
        yield proportional(reader, left, right)
    elif sign == "\\in":
        yield from _member(reader, left, right)
    else:
        raise LatexError(f"expected =, an inequality or \\propto, got {sign}")


def _different(reader: Reader, left: Node, right: Node) -> Said:
    """x ≠ y of two numbers; of two vectors or matrices that some entry is another one."""
    (said,) = compared(reader, left, right, lambda a, b: Differs(a, b))
    places = [free_places(reader.notation, each, each) for each in map(reader.value, (left, right)) if each.shape]
    if not places:
        return said
    one, other = said.sides
    own = {each: Variable(f"{each.name}#n", each.domain) for each in max(places, key=len)}
    return AtLeast(total(tuple(own.values()), (one - other).xreplace(own) ** 2), sp.S.Zero, strict=True)


def _normalized(left: Node, right: Node) -> Node:
    """b_j/Σ_l b_l, for a_j ∝ b_j where Σ a = 1."""
    sub = left.sub if isinstance(left, Scripted) else None
    if sub is None:
        raise LatexError(f"\\propto: expected an index at the end of the left side, got {spelled(left)}")
    last = index_parts(sub)[-1]
    return Fraction(right, Product((Scripted(Symbol("\\sum"), last), right)))


def _expanded(reader: Reader, left: Node, right: Node, rest: Remainder | None) -> Iterator[Said]:
    """f = g + o(…) entry by entry, or f ≈ g; the remainder of a left side that a chain goes on with is left out, too."""
    small, order = (None, None) if rest is None else (rest.small, rest.order)
    left, own = without_remainder(reader, left)
    if own and rest and (own.small != rest.small or own.order < rest.order):
        raise LatexError(f"expected a remainder that is no smaller than that before it, got {spelled(right)}")
    for each in compared(reader, left, right, lambda a, b: Equation(a, b)):
        one, other = each.sides
        yield Expanded(one, other, small, order)


def _solved(node: Node) -> tuple[Node, Node] | None:
    """x = c A^{-1} y says that A x = c y: the matrix, and what is left without its inverse."""
    factors = node.factors if isinstance(node, Product) else ()
    for place, factor in enumerate(factors[:-1]):
        if isinstance(factor, Scripted) and isinstance(factor.base, Bracket) and spelled(factor.sup) == "- 1":
            named = place > 0 and spelled(factors[place - 1]) == "\\mathrm{diag}"
            matrix = Product((factors[place - 1], factor.base)) if named else factor.base
            return matrix, product_node((*factors[: place - named], *factors[place + 1 :]))
    return None


def _member(reader: Reader, left: Node, right: Node) -> Iterator[Said]:
    """x ∈ Δ and P ∈ U(a, ·): entries ≥ 0, and rows of mass 1."""
    if not spelled(right).startswith(("\\Delta", ROWS)):
        raise LatexError(f"expected membership in a simplex, got {spelled(right)}")
    value = reader.value(left)
    if len(value.shape) != (2 if spelled(right).startswith(ROWS) else 1):
        raise LatexError(f"{spelled(left)}: expected a point of {spelled(right)}, got {value.words}")
    if len(value.shape) == 1:
        check_dimension(reader, right, value.shape[0])
    places = free_places(reader.notation, value, value)
    yield AtLeast(value.entry(*places), sp.S.Zero)
    last = bound(value.shape[-1])
    yield Equation(total(last, value.entry(*places[:-1], last)), sp.S.One)


def _negated(node: Node) -> Node:
    """What follows a minus sign at the beginning of a side; nothing where there is more."""
    return node.terms[0][1] if isinstance(node, Sum) and len(node.terms) == 1 and node.terms[0][0] == "-" else EMPTY


def _defined_by_problem(reader: Reader, node: Node) -> Posed | None:
    """The problem whose solution the notation calls by this name, so that an equation for it says what solves it."""
    if isinstance(node, Product) and len(node.factors) == 2 and isinstance(node.factors[1], Bracket):
        node = node.factors[0]  # p(s), at the argument of its definition
    base = node.base if isinstance(node, Scripted) else node
    for name in (spelled(node), *((spelled(replace(node, sub=None)), spelled(base)) if isinstance(node, Scripted) else ())):
        meaning = reader.notation.meanings.get(name)
        if isinstance(meaning, Definition):
            found = posed(reader, meaning.body)
            return found if found and not found.only_value else None
    return None


def _optimum(reader: Reader, left: Node, other: Node, found: Posed) -> Iterator[Said]:
    """What a side is said to be: the least value of a problem, or its only solution, entry by entry.

    Where all vectors are feasible it is said that none of them does better.
    """
    value = reader.value(other)
    if found.free is not None:
        if found.only_value or value.shape != found.axes:
            raise LatexError(f"argmin: expected a vector [{found.axes[0]}] on the other side, got {value.words}")
        yield AtLeast(found.objective, put_at(scalar(found.objective), found.free, value).number)
    elif found.only_value:
        yield Optimum(found.objective, found.sign * value.number)
    elif value.shape == found.axes:
        places = tuple(bound(size) for size in found.axes)
        yield Minimizer(found.objective, value.entry(*places), places)
    elif len(value.shape) == 2 and value.shape[1:] == found.axes:
        (row,) = free_places(reader.notation, *[Value(value.shape[:1], lambda i: sp.S.Zero)] * 2)
        place = bound(found.axes[0])
        yield Minimizer(found.objective, value.entry(row, place), (place,))
    else:
        left = left.factors[0] if isinstance(left, Product) else left
        sub = left.sub if isinstance(left, Scripted) else None
        names = index_parts(sub)[-len(found.axes) :] if sub is not None else ()
        if value.shape or len(names) != len(found.axes):
            raise LatexError(
                f"argmin: expected a point [{'×'.join(map(str, found.axes))}] on the other side, got {value.words}"
            )
        own = tuple(reader.place(name, size) for name, size in zip(names, found.axes, strict=True))
        yield Minimizer(found.objective, value.number, own)
