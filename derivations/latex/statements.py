"""From a formula to relations: each link of a chain a = b ≤ c, entry by entry, with what is given.

Clauses after a comma or after "for", "if", "where" say where a statement holds; `x > 0` becomes a hypothesis, `k ≠ j` keeps an
index apart, and what the notation says already is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import Kind, Variable, index, rival
from derivations.latex.elaboration import Reader
from derivations.latex.notation import Definition, Notation, Pattern, index_parts, parts, pattern, plain
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
    spelled,
)
from derivations.latex.values import Value, at, fits, scalar
from derivations.relations import AtLeast, Equation, Relation, UniqueMinimum
from derivations.relations.base import Hypothesis

EQUAL = ("=", ":=", "\\coloneqq", "\\triangleq", "\\equiv")
DEFINING = (":=", "\\coloneqq", "\\triangleq")
AT_MOST = {"\\le": False, "\\leq": False, "\\leqslant": False, "<": True}
AT_LEAST = {"\\ge": False, "\\geq": False, "\\geqslant": False, ">": True}
APART = ("\\ne", "\\neq")
CONDITION = ("for", "if", "where", "when", "whenever", "with", "and", "provided", "given", "all", "every", "each", "any", "as")
LEADING = ("thus", "so", "hence", "then", "i.e.", "therefore", "that is")


@dataclass(frozen=True)
class Problem:
    """minimize `objective` over q in a simplex, or maximize it: where `sign` is −1 the objective is negated."""

    name: str
    size: Variable
    objective: Node
    sign: int


def read(latex: str, notation: Notation) -> tuple[Relation, ...]:
    """The relations that a formula states, in the order of the print.

    Raises LatexError for what cannot be read, for a symbol that the notation does not declare, for shapes that do not fit, and
    for what can be read in two ways, with both readings.
    """
    chains, conditions = clauses(parse(latex))
    reader, given = _under(Reader(notation), conditions)
    found = tuple(relation for chain in chains for relation in _relations(reader, chain))
    if not found:
        raise LatexError(f"expected a statement, got the expression {latex}")
    return tuple(replace(relation, given=given) for relation in found) if given else found


# ── clauses ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def clauses(node: Node) -> tuple[list[Chain], list[Chain]]:
    """The statements of a formula, and the conditions under which they hold."""
    stated: list[Chain] = []
    conditions: list[Chain] = []
    for clause in _flat(node):
        words, part = _words(clause)
        if part is None:
            continue
        if not isinstance(part, Chain):
            if conditions or words & set(CONDITION) or _is_range(part):
                continue                                     # the rest of a range, j = 1, …, m
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
                yield Chain((*node.parts[:place], _product(factors[:word])), node.signs[:place])
                rest = _product(factors[word:])
                yield Chain((rest, *node.parts[place + 1:]), node.signs[place:]) if node.signs[place:] else rest
                return
    yield node


def _factors(node: Node | None) -> list[Node]:
    if isinstance(node, Sum):
        sign, last = node.terms[-1]
        factors = _factors(last)
        word = next((at for at, each in enumerate(factors) if at and _is_word(each)), None)
        if word is None:
            return [node]
        return [Sum((*node.terms[:-1], (sign, _product(factors[:word])))), *factors[word:]]
    return list(node.factors) if isinstance(node, Product) else [node] if node is not None else []


def _product(factors: Sequence[Node]) -> Node:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _is_word(node: Node) -> bool:
    return isinstance(node, Symbol) and (node.name.startswith("\\text{") or node.name in ("\\forall", "\\quad"))


def _words(node: Node) -> tuple[set[str], Node | None]:
    """The words that a clause begins with, and the clause without them."""
    words: set[str] = set()
    first = node.parts[0] if isinstance(node, Chain) else node
    factors = _factors(first)
    while factors and _is_word(factors[0]):
        name = factors.pop(0).name  # type: ignore[attr-defined]
        words |= {name} if name == "\\forall" else set(name.removeprefix("\\text{").rstrip("}").strip(" .,:;").lower().split())
    while factors and _is_word(factors[-1]) and len(factors) > 0:
        factors.pop()
    rest = _product(factors) if factors else None
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
    number = isinstance(other, Number)
    return len(chain.signs) == 1 and symbol and (sign in (*APART, "\\in") or number)


def _under(reader: Reader, conditions: Sequence[Chain]) -> tuple[Reader, tuple[Hypothesis, ...]]:
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
            continue                                         # j = 1, …, m
        elif sign != "\\in":
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
    if sign in EQUAL and (found := problem(reader, right)):
        node, only_value = found
        yield from (_optimal_value(reader, left, node) if only_value else _minimizer(reader, left, node))
    elif sign in EQUAL and (found := problem(reader, left)) and found[1]:
        yield from _optimal_value(reader, right, found[0])
    elif sign in EQUAL:
        yield from _compared(reader, left, right, lambda a, b: Equation(a, b))
    elif sign in AT_MOST or sign in AT_LEAST:
        strict = {**AT_MOST, **AT_LEAST}[sign]
        less, more = (left, right) if sign in AT_MOST else (right, left)
        yield from _compared(reader, more, less, lambda a, b: AtLeast(a, b, strict=strict, because=because(a - b)))
    elif sign == "\\propto":
        yield _proportional(reader, left, right)
    else:
        raise LatexError(f"expected =, an inequality or \\propto, got {sign}")


def _compared(reader: Reader, left: Node, right: Node, relation: object) -> Iterator[Relation]:
    one, other = reader.value(left), reader.value(right)
    if one.shape and other.shape and not fits(one.shape, other.shape):
        raise LatexError(f"expected two sides of one shape, got {one.words} and {other.words}: {spelled(left)}, {spelled(right)}")
    if bool(one.shape) != bool(other.shape):
        zero = (other if one.shape else one).entry()
        if zero != 0 and isinstance(relation, object):
            raise LatexError(f"expected two sides of one shape, got {one.words} and {other.words}: {spelled(left)}, "
                             f"{spelled(right)}")
    places = free_places(reader.notation, one, other)
    yield relation(at(one, places), at(other, places))  # type: ignore[operator]


def free_places(notation: Notation, one: Value, other: Value) -> tuple[Variable, ...]:
    """Free indices for the axes of both sides, under names that the notation has for them where it does."""
    shape = [a if a is not None else b for a, b in zip(one.shape or other.shape, other.shape or one.shape, strict=True)]
    found: list[Variable] = []
    for size in shape:
        if size is None:
            raise LatexError("expected sides with a length, got only ones or identity matrices")
        named = [each for each in notation.indices.values() if each.domain.shape[0] == size and each not in found]
        found.append(named[0] if named else index("ijkabc"[len(found)], size))
    return tuple(found)


def _proportional(reader: Reader, left: Node, right: Node) -> Relation:
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


# ── problems ────────────────────────────────────────────────────────────────────────────────────────────────────────


def problem(reader: Reader, node: Node) -> tuple[Problem, bool] | None:
    """The optimization problem that a side is, and whether it stands for its value; None where it is none."""
    factors = list(node.factors) if isinstance(node, Product) else [node]
    if isinstance(node, Sum) and node.terms[0][0] == "+" and isinstance(node.terms[0][1], Product):
        first = node.terms[0][1]
        factors = [*first.factors[:_head(first.factors)], Sum((("+", _product(first.factors[_head(first.factors):])), *node.terms[1:]))] \
            if _head(first.factors) < len(first.factors) else factors
    names = [spelled(each.base) if isinstance(each, Scripted) else spelled(each) for each in factors[:2]]
    if not names:
        return None
    argument = names[0] == "\\arg" or names[0] in ("\\mathrm{argmin}", "\\mathrm{argmax}", "\\mathrm{arg,min}", "\\mathrm{arg,max}",
                                                   "\\argmin", "\\argmax")
    head = factors[1] if names[0] == "\\arg" and len(factors) > 1 else factors[0]
    word = spelled(head.base) if isinstance(head, Scripted) else spelled(head)
    if not isinstance(head, Scripted) or head.sub is None or not any(word.endswith(each) for each in ("min}", "max}", "min", "max")):
        return None
    rest = factors[2:] if names[0] == "\\arg" else factors[1:]
    over, size = _feasible(reader, head.sub)
    return Problem(over, size, _product(rest), 1 if "min" in word else -1), not argument


def _head(factors: Sequence[Node]) -> int:
    """How many factors name a problem: \\arg\\min_q, or \\min_q."""
    first = spelled(factors[0])
    return 2 if first == "\\arg" else 1 if any(first.startswith(each) for each in (
        "\\min", "\\max", "\\mathrm{argm", "\\argm")) else len(factors)


def _feasible(reader: Reader, sub: Node) -> tuple[str, Variable]:
    """The rival's name and the size of the simplex: q ∈ Δ^{m−1}, or q where the notation says that it is a distribution."""
    name = spelled(sub.parts[0]) if isinstance(sub, Chain) else spelled(sub)
    shown = pattern(name).name
    value = reader.meaning(shown)
    value = getattr(value, "value", value)
    if not isinstance(value, Value) or len(value.shape) != 1:
        raise LatexError(f"min: expected a point of a simplex that the notation declares, got {name}")
    label = getattr(value.entry(sp.Integer(1)), "base", None)
    kind = label.label.domain.kind if label is not None else None
    if kind not in (Kind.SIMPLEX, Kind.INTERIOR):
        raise LatexError(f"min: expected {name} to be declared a simplex, got {kind.words if kind else 'something else'}")
    return shown, value.shape[0]


def _objective(reader: Reader, found: Problem, entries: Value) -> sp.Expr:
    return found.sign * reader.within(**{found.name: entries}).value(found.objective).number


def _minimizer(reader: Reader, left: Node, found: Problem) -> Iterator[Relation]:
    candidate = reader.value(left)
    if candidate.shape != (found.size,):
        raise LatexError(f"argmin: expected a vector [{found.size}] on the other side, got {candidate.words}")

    def objective(q: object) -> sp.Expr:
        return _objective(reader, found, Value((found.size,), q))  # type: ignore[arg-type]

    rival = _rival(found)
    factor, square = strength(objective(lambda i: rival[i]), rival)
    yield UniqueMinimum(objective, lambda i: candidate.entry(i), found.size, factor, alpha=sp.Integer(2) if square else None)


def _rival(found: Problem) -> sp.IndexedBase:
    return rival("q", Kind.SIMPLEX, found.size)


def strength(objective: sp.Expr, q: sp.IndexedBase) -> tuple[sp.Expr, bool]:
    """The factor of Σ q log q in an objective, or of Σ q²/2, and which of the two it is."""
    entropic = quadratic = sp.S.Zero
    for term in sp.Add.make_args(normal(objective)):
        for part in [each for each in sp.Mul.make_args(term) if isinstance(each, sp.Sum)]:
            body, bound = part.function, part.limits[0][0]
            if (rest := _entropy_factor(body, q[bound])) is not None:
                entropic += without(term, part) * rest
            elif q[bound] ** 2 in sp.Mul.make_args(body):
                quadratic += 2 * without(term, part) * without(body, q[bound] ** 2)
    if entropic == 0 and quadratic == 0:
        raise LatexError("min: expected an objective with an entropy or a square of the distribution, got neither")
    return (sp.simplify(entropic), False) if entropic != 0 else (sp.simplify(quadratic), True)


def _entropy_factor(body: sp.Expr, entry: sp.Expr) -> sp.Expr | None:
    """What multiplies q log q in a summand; None where that is no factor."""
    factors = sp.Mul.make_args(body)
    if xlogx(entry) in factors:
        return without(body, xlogx(entry))
    if sp.log(entry) in factors and entry in factors:
        return without(without(body, sp.log(entry)), entry)
    return None


def without(product: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """A product without one of its factors; raises LatexError where it is none of them."""
    factors = list(sp.Mul.make_args(product))
    if factor not in factors:
        raise LatexError("min: expected an entropy or a square as a factor of a term, got another expression")
    factors.remove(factor)
    return sp.Mul(*factors)


def _optimal_value(reader: Reader, value: Node, found: Problem) -> Iterator[Relation]:
    """min over a simplex: the minimizer that the objective itself gives, then the objective there."""
    rival = _rival(found)
    objective = _objective(reader, found, Value((found.size,), lambda i: rival[i]))
    weights = gibbs(objective, rival)
    if weights is None:
        raise LatexError("min: expected a linear objective with an entropy, got another one")

    def entry(i: sp.Expr) -> sp.Expr:
        return weights(i)

    def written(q: object) -> sp.Expr:
        return _objective(reader, found, Value((found.size,), q))  # type: ignore[arg-type]

    yield UniqueMinimum(written, entry, found.size, strength(objective, rival)[0])
    own = _objective(reader, found, Value((found.size,), entry))
    yield Equation(found.sign * own, reader.value(value).number)


def gibbs(objective: sp.Expr, q: sp.IndexedBase) -> Callable[[sp.Expr], sp.Expr] | None:
    """The minimizer of factor · Σ q log q + Σ c_i q_i + rest, as a function of the index; None for another objective."""
    factor, square = strength(objective, q)
    if square:
        return None
    l = Variable("l#gibbs", index("l", q.shape[0]).domain)  # noqa: E741
    opened = normal(objective)
    cost = sp.S.Zero
    for term in sp.Add.make_args(opened):
        linear = _linear(term, q, l)
        if linear is None:
            return None
        cost += linear

    def weights(i: sp.Expr) -> sp.Expr:
        other = Variable("o#gibbs", l.domain)
        return sp.exp(-cost.xreplace({l: i}) / factor) / total(other, sp.exp(-cost.xreplace({l: other}) / factor))

    return weights


def _linear(term: sp.Expr, q: sp.IndexedBase, l: Variable) -> sp.Expr | None:  # noqa: E741
    """The cost per unit of q_l in a term; 0 where q does not occur or only in its entropy; None if it is not linear."""
    if not term.has(q.label):
        return sp.S.Zero
    sums = [part for part in sp.Mul.make_args(term) if isinstance(part, sp.Sum) and part.has(q.label)]
    if len(sums) != 1 or without(term, sums[0]).has(q.label) or len(sums[0].limits) != 1:
        return None
    body, bound = sums[0].function, sums[0].limits[0][0]
    entropy = _entropy_factor(body, q[bound])
    if entropy is not None:
        return None if entropy.has(q.label) else sp.S.Zero
    if q[bound] not in sp.Mul.make_args(body) or (rest := without(body, q[bound])).has(q.label):
        return None
    return without(term, sums[0]) * rest.xreplace({bound: l})


def because(difference: sp.Expr) -> sp.Expr | None:
    """A form of a difference that is never negative: factor · Σ kl(q_i ‖ weights_i), where that is what it is."""
    with suppress(ValueError):
        opened = normal(difference)
        for q in _distributions(opened):
            weights = gibbs(difference, q)
            if weights is not None:
                i = Variable("i#gap", index("i", q.shape[0]).domain)
                found = strength(difference, q)[0] * total(i, kl(q[i], weights(i)))
                if equal(difference, found):
                    return found
    return spread(difference)


def spread(difference: sp.Expr) -> sp.Expr | None:
    """Σ w_i (x_i − mean)², where a difference is that: a variance, or a sum of squares above its least value."""
    with suppress(ValueError):
        for term in sp.Add.make_args(normal(difference)):
            for part in [each for each in sp.Mul.make_args(term) if isinstance(each, sp.Sum) and len(each.limits) == 1]:
                bound = part.limits[0][0]
                for square in [f for f in sp.Mul.make_args(part.function) if f.is_Pow and f.exp == 2 and f.has(bound)]:
                    weight = without(term, part) * without(part.function, square)
                    i = Variable("i#spread", bound.domain)
                    w, x = weight.xreplace({bound: i}), square.base.xreplace({bound: i})
                    centre = total(i, w * x) / total(i, w)
                    found = total(i, w * (x - centre) ** 2)
                    if equal(difference, found):
                        return found
    return None


def _distributions(expr: sp.Expr) -> list[sp.IndexedBase]:
    """The points of simplices that occur in an expression, by name."""
    bases = {each.base for each in expr.atoms(sp.Indexed)}
    return sorted((q for q in bases if len(q.shape) == 1 and q.label.domain.kind in (Kind.SIMPLEX, Kind.INTERIOR)), key=str)


__all__ = ["Definition", "Pattern", "Problem", "clauses", "read"]
