"""Split a formula into clauses: the relations that it states, and the conditions under which they hold."""

from collections.abc import Iterator

from derivations.reader.meaning.notation import Definition, Notation
from derivations.reader.meaning.values import Value
from derivations.reader.syntax.tree import (
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
    product_node,
    spelled,
)

APART = ("\\ne", "\\neq")
CONDITION = ("for", "if", "where", "when", "whenever", "with", "provided", "given", "all", "every", "each", "any", "as")
RESTRICTING = ("in", "on", "up", "approximately", "approx", "asymptotically", "almost", "large", "small", "some", "unless")
LEADING = ("thus", "so", "hence", "then", "i.e", "therefore", "that", "is", "but", "which", "means", "we", "have", "and")


def clauses(node: Node, notation: Notation) -> tuple[list[Chain], list[Chain]]:
    """Return the statements of a formula, and the conditions under which they hold."""
    stated: list[Chain] = []
    conditions: list[Chain] = []
    waiting: list[Node] = []  # x, of a condition x, y > 0
    latest, ranged = stated, False  # ranged: j = 1, or the dots after it
    found = [*map(without_words, (each for part in flat(node) for each in _with_condition(part, notation)))]
    for (words, part), (_, following) in zip(found, [*found[1:], (set(), None)], strict=True):
        if unknown := sorted(words - {*CONDITION, *LEADING, "\\forall", ""}):
            raise LatexError(f"cannot read “{' '.join(unknown)}” here; it could change the condition")
        if part is None:
            continue
        if not isinstance(part, Chain):
            if conditions or ranged or words & {*CONDITION, "\\forall"} or _is_range(part):
                waiting = [] if ranged else [*waiting, part]
                ranged = _is_dots(part)
                continue  # a symbol, or the rest of a range, j = 1, …, m
            raise LatexError(f"expected a relation such as a = b, got {spelled(part)}")
        if part.parts[0] is None:
            if not stated:
                raise LatexError(f"expected a left side, got {spelled(part)}")
            stated[-1] = Chain((*stated[-1].parts, *part.parts[1:]), (*stated[-1].signs, *part.signs))
        elif part.signs == ("=",) and _is_dots(following):
            ranged, latest = True, conditions
        elif words & {*CONDITION, "\\forall"} or (
            latest is conditions if "and" in words else stated and _is_condition(part, notation)
        ):
            conditions += [Chain((each, *part.parts[1:]), part.signs) for each in (*waiting, part.parts[0])]
            waiting, latest = [], conditions
        else:
            stated.append(part)
            latest = stated
    return stated, conditions


def flat(node: Node) -> Iterator[Node]:
    """Return the clauses between commas, and those that words such as “for all” introduce."""
    if isinstance(node, Listing) and not set(node.separators) & {"|", "‖"}:
        for part in node.parts:
            yield from flat(part)
    else:
        yield from _split_words(node)


def _with_condition(node: Node, notation: Notation) -> Iterator[Node]:
    """Split a chain from a last relation in parentheses, a = b (x > 0), unless a function precedes it, as in P(X > 0)."""
    last = node.parts[-1] if isinstance(node, Chain) else None
    terms = last.terms if isinstance(last, Sum) else (("+", last),)
    sign, term = terms[-1]
    factors = term.factors if isinstance(term, Product) else ()
    inside = factors[-1].inside if len(factors) > 1 and isinstance(factors[-1], Bracket) else None
    condition = inside if isinstance(inside, Chain) and inside.parts[0] is not None else None
    if (
        not isinstance(node, Chain)
        or condition is None
        or not isinstance(factors[-1], Bracket)
        or factors[-1].kind != "()"
        or (isinstance(factors[-2], Symbol | Scripted) and not _is_quantity(factors[-2], notation))
    ):
        yield node
        return
    rest = product_node(factors[:-1])
    side = Sum((*terms[:-1], (sign, rest))) if isinstance(last, Sum) else rest
    yield Chain((*node.parts[:-1], side), node.signs)
    assert condition.parts[0] is not None
    yield Chain((Product((Symbol("\\forall"), condition.parts[0])), *condition.parts[1:]), condition.signs)


def _is_quantity(node: Symbol | Scripted, notation: Notation) -> bool:
    """Return whether a symbol is a number, a vector or a matrix, or a bracket with a power, and no function."""
    base = node.base if isinstance(node, Scripted) else node
    return not isinstance(base, Symbol) or isinstance(notation.meanings.get(base.name), Value)


def _split_words(node: Node) -> Iterator[Node]:
    """Split a chain from the clause that words such as “for all” introduce."""
    if isinstance(node, Chain):
        for position, part in enumerate(node.parts):
            factors = _factors(part)
            word = next((at for at, each in enumerate(factors) if at and _is_word(each)), None)
            if word is not None and position > 0:
                yield Chain((*node.parts[:position], product_node(factors[:word])), node.signs[:position])
                rest = product_node(factors[word:])
                signs = node.signs[position:]
                yield from _split_words(Chain((rest, *node.parts[position + 1 :]), signs) if signs else rest)
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


def _words_of(node: Node) -> set[str]:
    """Return the words of a text in a formula; a remark in parentheses without a condition is ignored."""
    if not isinstance(node, Symbol) or node.name == "\\forall":
        return {spelled(node)}
    text = node.name.removeprefix("\\text{").removesuffix("}").strip()
    words = {word.strip(".,:;()") for word in text.lower().split()}
    if text.startswith("(") and words & {*CONDITION, *RESTRICTING}:
        return {text}
    return set() if text.startswith("(") else words


def without_words(node: Node) -> tuple[set[str], Node | None]:
    """Return the words that a clause begins or ends with, and the clause without them."""
    words: set[str] = set()
    first = node.parts[0] if isinstance(node, Chain) else node
    if isinstance(first, Sum) and len(first.terms) > 1:  # “for a − b > 0”
        sign, term = first.terms[0]
        words, start = without_words(term)
        first = Sum((*(((sign, start),) if start is not None else ()), *first.terms[1:]))
    factors = _factors(first)
    while factors and _is_word(factors[0]):
        words |= _words_of(factors.pop(0))
    while factors and _is_word(factors[-1]):
        words |= _words_of(factors.pop())
    rest = product_node(factors) if factors else None
    if isinstance(node, Chain):
        return words, Chain((rest, *node.parts[1:]), node.signs) if rest is not None or node.parts[0] is None else None
    return words, rest


def _is_range(node: Node) -> bool:
    return spelled(node) in ("\\dots", "\\ldots", "\\cdots") or isinstance(node, Number | Symbol)


def _is_dots(node: Node | None) -> bool:
    return node is not None and spelled(node) in ("\\dots", "\\ldots", "\\cdots")


def _is_condition(chain: Chain, notation: Notation) -> bool:
    """Return whether a clause after a statement is a condition: k ≠ j, τ > 0, j = 1, x ∈ …"""
    first, sign = chain.parts[0], chain.signs[0]
    base = first.base if isinstance(first, Scripted) else first
    symbol = isinstance(base, Symbol) and not isinstance(notation.meanings.get(base.name), Definition)
    other = chain.parts[1]
    negative = isinstance(other, Sum) and len(other.terms) == 1 and isinstance(other.terms[0][1], Number)
    number = isinstance(other, Number) or negative
    return len(chain.signs) == 1 and symbol and (sign in (*APART, "\\in") or number)
