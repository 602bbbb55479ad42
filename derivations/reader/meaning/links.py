"""Read what a printed formula states, link by link: both sides of each =, ≤ and →, without proving them.

`statements.read` makes relations that the kernel can prove; here a formula is only read, to be compared with relations proved
elsewhere.  A line that begins with = continues the left side of the previous line.
"""

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import Variable
from derivations.reader.meaning.assertions import Assertion, Link, Minimizer, Optimum, Shown
from derivations.reader.meaning.clauses import clauses
from derivations.reader.meaning.densities import moving_vector, proportional_density
from derivations.reader.meaning.derivatives import put_at
from derivations.reader.meaning.elaboration import Elaborator
from derivations.reader.meaning.notation import Definition, Notation
from derivations.reader.meaning.posed import ENDS, ROWS, PosedProblem, check_dimension, posed
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.remainders import Expanded, Remainder, without_remainder
from derivations.reader.meaning.spaces import REALS, ambient, check_mapping, check_point, counted, dimensions, set_of, sign_of
from derivations.reader.meaning.statements import AT_LEAST, AT_MOST, EQUAL, compared, free_indices, limits, proportional, under
from derivations.reader.meaning.values import Value, at, bound, scalar
from derivations.reader.syntax.names import index_parts
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import (
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
    tree = parse(latex)
    start = _first_side(parse(before)) if before else None
    if not isinstance(tree, Chain | Listing):
        alone = Elaborator(notation)
        return (Link(_shown(alone, tree), required=tuple(alone.required)),)
    tree, separate = _standing_alone(tree)
    chains, conditions = clauses(_continued(tree, start), notation)
    reader, _ = under(Elaborator(notation), conditions)
    collected = [Link(_shown(reader, each)) for each in separate]
    pending: list[Assertion] = []
    for position, chain in enumerate(chains):
        pieces, signs = _pieces(chain)
        later = any(set(each.signs) & {*IMPLIES} for each in chains[position + 1 :])
        for piece, sign in zip(pieces, (*signs, ""), strict=True):
            assertions = [] if piece is None else list(_assertions(reader, piece))
            if sign in IMPLIES or (later and not signs):
                pending += [each for each, _ in assertions]
            elif sign in EQUIVALENT or not signs or signs[0] in EQUIVALENT:
                collected += [Link(each, (), name) for each, name in assertions]
            else:
                collected += [Link(each, tuple(pending), name) for each, name in assertions]
    if not collected:
        raise LatexError(f"expected a statement, got the expression {latex}")
    kept = [each for each in collected if each.defined != MEMBER] or collected
    return tuple(replace(each, required=tuple(reader.required)) for each in kept)


def _standing_alone(node: Chain | Listing) -> tuple[Chain | Listing, list[Node]]:
    """Separate relations from problems and terms that stand alone, as in C = −QKᵀ, −εH(P) or C_j = …, min_p J(p)."""
    if isinstance(node, Chain):
        return node, []
    separate = [each for each in node.parts if isinstance(each, Sum) or _is_problem(each)]
    rest = tuple(each for each in node.parts if each not in separate)
    if not separate or not rest or not all(isinstance(each, Chain) for each in rest):
        return node, []
    return Listing(rest, (",",) * (len(rest) - 1)), separate


def _is_problem(node: Node) -> bool:
    first = node.terms[0][1] if isinstance(node, Sum) else node
    head = first.factors[0] if isinstance(first, Product) else first
    return isinstance(head, Scripted) and spelled(head.base) in ENDS


def _is_new(reader: Reader, node: Node) -> bool:
    """Return whether a side is an undeclared name, perhaps with arguments, which the other side then defines."""
    first = node.factors[0] if isinstance(node, Product) and isinstance(node.factors[-1], Bracket) else node
    names = (first, first.base) if isinstance(first, Scripted) else (first,)
    plain = isinstance(names[-1], Symbol) and not _is_problem(node)
    return plain and all(reader.meaning(spelled(each)) is None for each in names)


def _shown(reader: Reader, node: Node) -> Shown:
    """Read a lone expression up to its remainder; for a problem, its objective as a function of the variable."""
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
    indices = free_indices(reader.notation, value, value)
    return Shown(at(value, indices))


def _first_side(node: Node) -> Node | None:
    """Return the left side of a formula's last chain, which the next line continues."""
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


def _pieces(chain: Chain) -> tuple[list[Chain | None], list[str]]:
    """Return the chains between ⟹ and ⟺, and these signs."""
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


def _assertions(reader: Reader, chain: Chain) -> Iterator[tuple[Assertion, str]]:
    """Yield each link of a chain with the name that it defines."""
    if chain.signs[:1] == (":",) and chain.signs[1:] in {(each,) for each in TO}:
        function, domain, target = (each for each in chain.parts if each is not None)
        check_mapping(reader, function, domain, target)
        yield _shown(reader, function), MEMBER  # dropped if the formula asserts anything else
        return
    for left, sign, right in zip(chain.parts, chain.signs, chain.parts[1:], strict=False):
        if left is None or right is None:
            raise LatexError(f"expected an expression on each side of {sign}, got {spelled(chain)}")
        if sign in EQUAL and (last := counted(right)) is not None:
            size = reader.value(last).number
            yield Equation(total(bound(size), sp.S.One), size), ""  # {1, …, n} has n elements
            continue
        if sign in EQUAL and (conditions := set_of(right)):
            check_dimension(reader, left, ambient(reader, right))
            for each in conditions:
                yield from _assertions(reader, each)
            continue
        if sign == "\\in" and dimensions(reader, right) is not None:
            yield from _of_space(reader, left, right)
            continue
        name = spelled(left.base) if isinstance(left, Scripted) else spelled(left)
        if _solved(left) and _solved(right) and chain.parts[0] is not None:
            left = chain.parts[0]  # x = A⁻¹y = B⁻¹z states x = B⁻¹z too
        if sign == "\\propto" and (moving := moving_vector(reader, chain.parts[0])) is not None:
            yield proportional_density(reader, left, right, moving), ""
            continue
        for assertion in _link(reader, left, sign, right):
            yield assertion, name


def _of_space(reader: Reader, left: Node, space: Node) -> Iterator[tuple[Assertion, str]]:
    """Check x ∈ ℝ^m against the table; x ∈ ℝ₊^m also states that the entries are ≥ 0."""
    entry = check_point(reader, left, space)
    value = at(entry, free_indices(reader.notation, entry, entry))
    sign = sign_of(value, space)
    yield (Shown(value), MEMBER) if sign is None else (sign, "")


def _link(reader: Reader, left: Node, sign: str, right: Node) -> Iterator[Assertion]:  # noqa: C901
    spaces = [dimensions(reader, each) if REALS in spelled(each) else None for each in (left, right)]
    if sign in EQUAL and None not in spaces:
        yield Equation(*(sp.Mul(*each) for each in spaces if each is not None))  # spaces are compared by dimension
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
    elif sign in EQUAL and (problem := posed(reader, right)):
        yield from _optimum(reader, left, left, problem)
    elif sign in EQUAL and (problem := posed(reader, left)):
        yield from _optimum(reader, right, right, problem)
    elif sign in EQUAL and (problem := posed(reader, _negated(right))) and problem.only_value:
        yield Optimum(problem.objective, -problem.sign * reader.value(left).number)
    elif sign in EQUAL and (problem := _defined_by_problem(reader, left)):
        yield from _optimum(reader, left, right, problem)
    elif sign in EQUAL:
        yield from compared(reader, left, right, lambda a, b: Equation(a, b))
    elif sign in AT_MOST or sign in AT_LEAST:
        strict = {**AT_MOST, **AT_LEAST}[sign]
        less, more = (left, right) if sign in AT_MOST else (right, left)
        yield from compared(reader, more, less, lambda a, b: AtLeast(a, b, strict=strict))
    elif sign in ("\\ne", "\\neq"):
        yield _different(reader, left, right)
    elif sign == "\\propto" and (problem := _defined_by_problem(reader, left)):
        yield from _optimum(reader, left, _normalized(left, right), problem)
    elif sign == "\\propto":
        yield proportional(reader, left, right)
    elif sign == "\\in":
        yield from _member(reader, left, right)
    else:
        raise LatexError(f"expected =, an inequality or \\propto, got {sign}")


def _different(reader: Reader, left: Node, right: Node) -> Assertion:
    """State x ≠ y: for vectors and matrices, that some entry differs."""
    (relation,) = compared(reader, left, right, lambda a, b: Differs(a, b))
    indices = [free_indices(reader.notation, each, each) for each in map(reader.value, (left, right)) if each.shape]
    if not indices:
        return relation
    one, other = relation.sides
    own = {each: Variable(f"{each.name}#n", each.domain) for each in max(indices, key=len)}
    return AtLeast(total(tuple(own.values()), (one - other).xreplace(own) ** 2), sp.S.Zero, strict=True)


def _normalized(left: Node, right: Node) -> Node:
    """Return b_j/Σ_l b_l for a_j ∝ b_j with Σ a = 1."""
    sub = left.sub if isinstance(left, Scripted) else None
    if sub is None:
        raise LatexError(f"\\propto: expected an index at the end of the left side, got {spelled(left)}")
    last = index_parts(sub)[-1]
    return Fraction(right, Product((Scripted(Symbol("\\sum"), last), right)))


def _expanded(reader: Reader, left: Node, right: Node, rest: Remainder | None) -> Iterator[Assertion]:
    """State f = g + o(…) entry by entry, or f ≈ g; a remainder on the left, from earlier in the chain, is dropped."""
    small, order = (None, None) if rest is None else (rest.small, rest.order)
    left, own = without_remainder(reader, left)
    if own and rest and (own.small != rest.small or own.order < rest.order):
        raise LatexError(f"expected a remainder that is no smaller than that before it, got {spelled(right)}")
    for each in compared(reader, left, right, lambda a, b: Equation(a, b)):
        one, other = each.sides
        yield Expanded(one, other, small, order)


def _solved(node: Node) -> tuple[Node, Node] | None:
    """Return the matrix A and c y for a side c A^{-1} y, so that x = c A^{-1} y is read as A x = c y."""
    factors = node.factors if isinstance(node, Product) else ()
    for position, factor in enumerate(factors[:-1]):
        if isinstance(factor, Scripted) and isinstance(factor.base, Bracket) and spelled(factor.sup) == "- 1":
            named = position > 0 and spelled(factors[position - 1]) == "\\mathrm{diag}"
            matrix = Product((factors[position - 1], factor.base)) if named else factor.base
            return matrix, product_node((*factors[: position - named], *factors[position + 1 :]))
    return None


def _member(reader: Reader, left: Node, right: Node) -> Iterator[Assertion]:
    """x ∈ Δ and P ∈ U(a, ·): entries ≥ 0, and rows of mass 1."""
    if not spelled(right).startswith(("\\Delta", ROWS)):
        raise LatexError(f"expected membership in a simplex, got {spelled(right)}")
    value = reader.value(left)
    if len(value.shape) != (2 if spelled(right).startswith(ROWS) else 1):
        raise LatexError(f"{spelled(left)}: expected a point of {spelled(right)}, got {value.words}")
    if len(value.shape) == 1:
        check_dimension(reader, right, value.shape[0])
    indices = free_indices(reader.notation, value, value)
    yield AtLeast(value.entry(*indices), sp.S.Zero)
    last = bound(value.shape[-1])
    yield Equation(total(last, value.entry(*indices[:-1], last)), sp.S.One)


def _negated(node: Node) -> Node:
    """Return x for a side −x; an empty node for any other side."""
    return node.terms[0][1] if isinstance(node, Sum) and len(node.terms) == 1 and node.terms[0][0] == "-" else EMPTY


def _defined_by_problem(reader: Reader, node: Node) -> PosedProblem | None:
    """Return the problem whose solution has this name in the notation, so that an equation for it states a solution."""
    if isinstance(node, Product) and len(node.factors) == 2 and isinstance(node.factors[1], Bracket):
        node = node.factors[0]  # p(s), at the argument of its definition
    base = node.base if isinstance(node, Scripted) else node
    for name in (spelled(node), *((spelled(replace(node, sub=None)), spelled(base)) if isinstance(node, Scripted) else ())):
        meaning = reader.notation.meanings.get(name)
        if isinstance(meaning, Definition):
            problem = posed(reader, meaning.body)
            return problem if problem and not problem.only_value else None
    return None


def _optimum(reader: Reader, left: Node, other: Node, problem: PosedProblem) -> Iterator[Assertion]:
    """State that a side is the optimal value of a problem, or its unique solution entry by entry.

    If all vectors are feasible, state instead that none of them does better.
    """
    value = reader.value(other)
    if problem.free is not None:
        if problem.only_value or value.shape != problem.axes:
            raise LatexError(f"argmin: expected a vector [{problem.axes[0]}] on the other side, got {value.words}")
        yield AtLeast(problem.objective, put_at(scalar(problem.objective), problem.free, value).number)
    elif problem.only_value:
        yield Optimum(problem.objective, problem.sign * value.number)
    elif value.shape == problem.axes:
        indices = tuple(bound(size) for size in problem.axes)
        yield Minimizer(problem.objective, value.entry(*indices), indices)
    elif len(value.shape) == 2 and value.shape[1:] == problem.axes:
        (row,) = free_indices(reader.notation, *[Value(value.shape[:1], lambda i: sp.S.Zero)] * 2)
        column = bound(problem.axes[0])
        yield Minimizer(problem.objective, value.entry(row, column), (column,))
    else:
        left = left.factors[0] if isinstance(left, Product) else left
        sub = left.sub if isinstance(left, Scripted) else None
        names = index_parts(sub)[-len(problem.axes) :] if sub is not None else ()
        if value.shape or len(names) != len(problem.axes):
            raise LatexError(
                f"argmin: expected a point [{'×'.join(map(str, problem.axes))}] on the other side, got {value.words}"
            )
        own = tuple(reader.subscript(name, size) for name, size in zip(names, problem.axes, strict=True))
        yield Minimizer(problem.objective, value.number, own)
