"""Turn a formula into relations: each link of a chain a = b ≤ c, entry by entry, with its hypotheses.

Clauses after a comma or after "for", "if", "where" are conditions: `x > 0` becomes a hypothesis, `k ≠ j` makes an index differ
from another, and conditions that the notation implies are skipped.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.defined import Condition, conditions
from derivations.calculus.division import product, quotient
from derivations.calculus.functions import xlogx
from derivations.calculus.screening import Facts
from derivations.calculus.signs import nonnegative
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, index, positive
from derivations.reader.meaning.circles import circle
from derivations.reader.meaning.clauses import APART, clauses
from derivations.reader.meaning.elaboration import Elaborator
from derivations.reader.meaning.gaps import divergence_form
from derivations.reader.meaning.maxima import every, extremes, reached
from derivations.reader.meaning.membership import SETS, check_member, is_interval, within_interval
from derivations.reader.meaning.notation import Definition, Notation
from derivations.reader.meaning.problems import because, divergence, minimizer, optimal_value, problem
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.spaces import check_point, dimensions, sign_of
from derivations.reader.meaning.sums import check_pairs
from derivations.reader.meaning.values import Value, at, bound, fits
from derivations.reader.syntax.names import index_parts, parts, plain
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Bracket, Chain, LatexError, Listing, Node, Product, Scripted, spelled
from derivations.relations import AtLeast, Equation, ForAll, Limit, Relation
from derivations.relations.base import Hypothesis

EQUAL = ("=", ":=", "\\coloneqq", "\\triangleq", "\\equiv")
DEFINING = (":=", "\\coloneqq", "\\triangleq")
AT_MOST = {"\\le": False, "\\leq": False, "\\leqslant": False, "<": True}
AT_LEAST = {"\\ge": False, "\\geq": False, "\\geqslant": False, ">": True}


def read(latex: str, notation: Notation) -> tuple[Relation, ...]:
    """Return the relations that a formula states, in printed order.

    Raises LatexError for a formula that cannot be read, a symbol that the notation does not declare, shapes that do not fit,
    and an ambiguous formula, with both readings.
    """
    tree = parse(latex)
    check_pairs(tree, notation.indices)
    try:
        chains, conditions = clauses(tree, notation)
        reader, hypotheses = under(Elaborator(notation), conditions)
        stated = tuple(relation for chain in chains for relation in _relations(reader, chain))
    except RecursionError:
        raise LatexError(f"circular definition: {circle(notation)}") from None
    if not stated:
        raise LatexError(f"expected a statement, got the expression {latex}")
    relations = tuple(_given(relation, hypotheses, notation.bounds) for relation in stated)
    _check_cancelled(reader, relations)
    return relations


def _check_cancelled(reader: Reader, relations: Sequence[Relation]) -> None:
    """Raise LatexError if a logarithm or root may be undefined and SymPy has cancelled it, as in log x − log x = 0."""
    if not all(relation.plain for relation in relations):
        return
    facts = tuple(fact for relation in relations for fact in relation.facts())
    if missing := cancelled(reader.required, [side for relation in relations for side in relation.sides], facts):
        raise LatexError(f"expected a statement with values everywhere, it is not shown that {missing}")


def cancelled(required: Iterable[Condition], sides: Iterable[sp.Expr], facts: Facts) -> Condition | None:
    """Return what a logarithm or root requires that is gone from the sides and not shown; None if there is no such thing."""
    remaining = {sums.appearance(each.expr) for side in sides for each in conditions(side)}
    for each in required:
        bound_inside = any("#" in symbol.name for symbol in each.expr.free_symbols)
        if not (bound_inside or sums.appearance(each.expr) in remaining or nonnegative(each.expr, facts)):  # 0 log 0 = 0
            return each
    return None


def _given(relation: Relation, hypotheses: Sequence[Hypothesis], bounds: Sequence[Hypothesis]) -> Relation:
    """Attach the hypotheses about a relation's variables; raises LatexError for one with an index foreign to the relation."""
    own = {v for v in relation.variables() if not v.domain.is_size}
    relevant = []
    for each in hypotheses:
        names = {v for v in each.variables() if not v.domain.is_size}
        if strange := [v for v in names - own if v.domain.is_index and names & own]:
            if not isinstance(each, AtLeast):
                raise LatexError(f"{each}: expected indices of the statement, got {strange[0].name}")
            each, names = ForAll(each, tuple(strange)), names - {*strange}
        if names & own or not names:
            relevant.append(each)
    relevant += [each for each in bounds if set(each.variables()) <= set(relation.variables())]
    return replace(relation, given=tuple(relevant)) if relevant else relation


# ── conditions ──────────────────────────────────────────────────────────────────────────────────────────────────────


def under(reader: Reader, conditions: Sequence[Chain]) -> tuple[Reader, tuple[Hypothesis, ...]]:
    """Return a reader with distinct indices, and the hypotheses that the notation does not imply."""
    hypotheses: list[Hypothesis] = []
    for chain in conditions:
        left, sign, right = chain.parts[0], chain.signs[0], chain.parts[1]
        assert left is not None
        assert right is not None
        names, points = reader.notation.indices, reader.notation.points
        if sign not in {**AT_MOST, **AT_LEAST} and len(chain.signs) > 1:
            raise LatexError(f"expected one condition such as k \\ne j, got {spelled(chain)}")
        if sign in APART and all(spelled(each) in names or spelled(each).rstrip("'") in points for each in (left, right)):
            one, other = reader.subscript(left), reader.subscript(right)
            assert isinstance(one, Variable)
            own = index(plain(spelled(left)), one.domain.shape[0], other_than=(*one.domain.other_than, other))
            reader = reader.within(**{spelled(left): reader.point(spelled(left), own)})
        elif sign in {**AT_MOST, **AT_LEAST}:
            for relation in _relations(reader, chain):
                if isinstance(relation, AtLeast) and not relation.prove():
                    hypotheses.append(relation)
        elif sign in EQUAL:
            if not all(relation.trivial() or relation.prove() for relation in _link(reader, left, sign, right)):
                raise LatexError(f"expected a condition such as x > 0 or k \\ne j, got {spelled(chain)}")
        elif sign == "\\in" and is_interval(right):
            hypotheses += within_interval(reader, left, right)
        elif sign != "\\in" or not spelled(right).startswith(SETS):
            raise LatexError(f"expected a condition such as x > 0 or k \\ne j, got {spelled(chain)}")
        else:
            check_member(reader, left, right)
    return reader, tuple(hypotheses)


# ── relations ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _relations(reader: Reader, chain: Chain) -> Iterator[Relation]:
    """Each link of a chain."""
    for left, sign, right in zip(chain.parts, chain.signs, chain.parts[1:], strict=False):
        if left is None or right is None:
            raise LatexError(f"expected an expression on each side of {sign}, got {spelled(chain)}")
        if sign == "\\in" and len(chain.signs) > 1 and dimensions(reader, right) is not None:
            yield from _of_space(reader, left, right)
        else:
            yield from _link(reader, left, sign, right)


def _of_space(reader: Reader, left: Node, space: Node) -> Iterator[Relation]:
    """Check … ∈ ℝ^m after an equation against the shape; … ∈ ℝ₊^m also states that the entries are ≥ 0."""
    value = check_point(reader, left, space)
    if (sign := sign_of(at(value, free_indices(reader.notation, value, value)), space)) is not None:
        yield sign


def _link(reader: Reader, left: Node, sign: str, right: Node) -> Iterator[Relation]:
    if sign in EQUAL and (found_limits := [*limits(reader, left, right)]):
        yield from found_limits
    elif sign in EQUAL and (posed := problem(reader, right)):
        node, only_value = posed
        yield from (optimal_value(reader, left, node) if only_value else minimizer(reader, left, node))
    elif sign in EQUAL and (posed := problem(reader, left)) and posed[1]:
        yield from optimal_value(reader, right, posed[0])
    elif sign in EQUAL:
        yield from compared(reader, left, right, lambda a, b: Equation(a, b))
    elif sign in AT_MOST or sign in AT_LEAST:
        strict = {**AT_MOST, **AT_LEAST}[sign]
        less, more = (left, right) if sign in AT_MOST else (right, left)
        reader, less = every(reader, less, (more,), above=False)
        reader, more = every(reader, more, (less,), above=True)
        yield from _bounded(reader, less, more, strict)
    elif sign == "\\propto":
        yield proportional(reader, left, right)
    else:
        raise LatexError(f"expected =, an inequality or \\propto, got {sign}")


def _bounded(reader: Reader, less: Node, more: Node, strict: bool) -> Iterator[Relation]:
    """State less ≤ more; a new number replaces a maximum on the larger side or a minimum on the smaller one."""
    if extremes(less, greatest=False) and extremes(more, greatest=True):
        raise LatexError(f"expected a maximum or a minimum on one side as a bound, got both: {spelled(less)}, {spelled(more)}")
    reader, less, below = reached(reader, less, above=False)
    reader, more, beyond = reached(reader, more, above=True)
    weights = _weights(reader)

    def relation(a: sp.Expr, b: sp.Expr) -> AtLeast:
        a, b = beyond(below(a)), beyond(below(b))
        result = AtLeast(a, b, strict=strict, because=because(a - b, weights))
        if result.because is None and (a - b).has(sp.log, xlogx, sp.exp) and not result.counterexample() and not result.prove():
            return replace(result, because=divergence(a - b, weights) or divergence_form(a - b, weights))
        return result

    yield from compared(reader, more, less, relation)


def limits(reader: Reader, left: Node, right: Node) -> Iterator[Relation]:
    """Read lim_{x → a} f = b, from both sides if x is real; yield nothing if the left side is not a limit."""
    factors = left.factors if isinstance(left, Product) else (left,)
    head = factors[0]
    if not (isinstance(head, Scripted) and spelled(head.base) == "\\lim" and isinstance(head.sub, Chain)):
        return
    moving, to = head.sub.parts[0], head.sub.parts[-1]
    if head.sub.signs not in (("\\to",), ("\\rightarrow",)) or moving is None or to is None or len(factors) < 2:
        raise LatexError(f"\\lim: expected x \\to a below and an expression after it, got {spelled(left)}")
    above, below = (isinstance(to, Scripted) and spelled(to.sup) == sign for sign in ("+", "-"))
    to = to.base if isinstance(to, Scripted) and (above or below) else to
    end = sp.oo if spelled(to) in ("\\infty", "+ \\infty") else reader.value(to).number
    path, x, value = reader.product(factors[1:]).number, reader.value(moving).number, reader.value(right).number
    if end != 0 and above:
        raise LatexError(f"\\lim: expected a limit from both sides or at 0, got {spelled(head)}")
    if end == 0 and below:
        raise LatexError(f"\\lim: expected a limit from both sides or from above at 0, got {spelled(head)}")
    if isinstance(x, Variable) and (below or (above and x.domain.is_whole)):
        side = positive(x.name)  # the kernel's limit of a real variable is from both sides
        path, x, end = path.xreplace({x: side if above else end - side}), side, sp.S.Zero
    yield Limit(path, x, end, value)


def _weights(reader: Reader) -> list[Value]:
    """Return the vectors that the notation defines entry by entry."""
    names = [name for name, each in reader.notation.meanings.items() if isinstance(each, Definition)]
    vectors = []
    for name in names:
        with suppress(LatexError):
            value = reader.value(parse(name))
            if len(value.shape) == 1 and None not in value.shape:
                vectors.append(value)
    return vectors


def compared(reader: Reader, left: Node, right: Node, relation: Callable[[sp.Expr, sp.Expr], Relation]) -> Iterator[Relation]:
    """Relate two numbers, or vectors and matrices entry by entry; 0 can be a vector too."""
    one, other = reader.value(left), reader.value(right)
    shapes = f"expected two sides of one shape, got {one.words} and {other.words}: {spelled(left)}, {spelled(right)}"
    if one.shape and other.shape and not fits(one.shape, other.shape):
        raise LatexError(shapes)
    if bool(one.shape) != bool(other.shape) and (other if one.shape else one).entry() != 0:
        raise LatexError(shapes)
    indices = free_indices(reader.notation, one, other)
    yield relation(at(one, indices), at(other, indices))


def free_indices(notation: Notation, one: Value, other: Value) -> tuple[Variable, ...]:
    """Return free indices for the axes of both sides, with names from the notation that neither side uses."""
    shape = [a if a is not None else b for a, b in zip(one.shape or other.shape, other.shape or one.shape, strict=True)]
    if None in shape:
        raise LatexError("expected sides with a length, got only ones or identity matrices")
    dummies = [bound(size) for size in shape]
    both = sp.Tuple(at(one, dummies), at(other, dummies))
    used = {symbol.name for symbol in both.free_symbols if isinstance(symbol, Variable)} | set(map(plain, notation.meanings))
    indices: list[Variable] = []
    for size in shape:
        declared = [each for each in notation.indices.values() if each.domain.shape[0] == size]
        others = [index(letter, size) for letter in "ijklabcghxyz"]
        indices.append(next(each for each in (*declared, *others) if each.name not in used))
        used.add(indices[-1].name)
    return tuple(indices)


def proportional(reader: Reader, left: Node, right: Node) -> Relation:
    """Read a_j ∝ b_j as a_j = b_j Σ a/Σ b over the left side's last index, or over all entries of vectors, if Σ b ≠ 0."""
    one, other = reader.value(left), reader.value(right)
    indices = free_indices(reader.notation, one, other)
    a, b = at(one, indices), at(other, indices)
    over = indices[-1] if indices else _last_index(reader, left)
    dummy = Variable(f"{over.name}#p", over.domain)
    one_mass, other_mass = (total(dummy, each.xreplace({over: dummy})) for each in (a, b))
    return Equation(a, quotient(product(b, one_mass), other_mass))


def _last_index(reader: Reader, node: Node) -> Variable:
    sub = node.sub if isinstance(node, Scripted) else None
    if sub is None and isinstance(node, Product) and isinstance(node.factors[-1], Bracket):
        sub = node.factors[-1].inside
    names = [spelled(part) for part in index_parts(sub)] if sub is not None else []
    known = [reader.subscript(parts(sub)[-1] if isinstance(sub, Listing) else index_parts(sub)[-1])] if names and sub else []
    if not known or not isinstance(known[0], Variable):
        raise LatexError(f"\\propto: expected an index at the end of the left side, got {spelled(node)}")
    return known[0]
