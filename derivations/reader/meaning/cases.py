"""Write cases such as “i = j, otherwise” as one formula with Kronecker's delta."""

import sympy as sp

from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value, coincide, plus, scalar, times
from derivations.reader.syntax.tree import Cases, Chain, LatexError, Node, Product, Symbol, product_node, spelled

IF = ("if", "for", "when", "where")
OTHERWISE = ("otherwise", "else")


def cases(reader: Reader, node: Cases) -> Value:
    """Return δ_ij A + (1 − δ_ij) B for “A if i = j, B otherwise”.

    Raises LatexError if the condition is not one equality of indices, or if the rows do not cover all cases.
    """
    if len(node.rows) != 2:
        raise LatexError(f"cases: expected two rows, i = j and otherwise, got {len(node.rows)}")
    (first, where), (second, elsewhere) = node.rows
    chosen = _indicator(reader, where)
    if chosen is None:
        raise LatexError("cases: expected a condition such as i = j in the first row, got otherwise")
    rest = _indicator(reader, elsewhere)
    if rest is not None and sp.expand(rest + chosen) != 1:
        raise LatexError(f"cases: expected otherwise or the contrary in the second row, got {spelled(elsewhere)}")
    parts = [times(scalar(c), reader.value(each), spelled(node)) for c, each in ((chosen, first), (1 - chosen, second))]
    return plus(parts[0], parts[1], 1)


def _indicator(reader: Reader, node: Node) -> sp.Expr | None:
    """Return 1 where a condition (i = j, i ≠ j or a named one) holds and 0 elsewhere; None for “otherwise”."""
    words, stated = _split_condition(node)
    if not set(words) <= {*IF, *OTHERWISE}:
        raise LatexError(f"cases: expected if or otherwise, got {' '.join(words)}")
    if stated is None and set(words) & set(OTHERWISE):
        return None
    if isinstance(stated, Product) and len(stated.factors) == 2 and spelled(stated.factors[0]).startswith("\\mathrm{"):
        return reader.value(stated).number  # masked(i), declared in the table as 1 or 0
    pair = stated.parts if isinstance(stated, Chain) and stated.signs in (("=",), ("\\ne",), ("\\neq",)) else ()
    if not isinstance(stated, Chain) or len(pair) != 2 or pair[0] is None or pair[1] is None:
        raise LatexError(f"cases: expected a condition i = j or i \\ne j of two indices, got {spelled(node)}")
    one, other = (reader.subscript(each) for each in pair if each is not None)
    same = coincide(one, other, f"cases: {spelled(node)}")
    return same if stated.signs == ("=",) else 1 - same


def _split_condition(node: Node) -> tuple[list[str], Node | None]:
    """Return the words that a condition begins with, and the relation after them."""
    first = node.parts[0] if isinstance(node, Chain) else node
    factors = list(first.factors) if isinstance(first, Product) else [first] if first is not None else []
    words: list[str] = []
    while factors and isinstance(factors[0], Symbol) and factors[0].name.startswith("\\text{"):
        text = factors.pop(0)
        assert isinstance(text, Symbol)
        words += [word.strip(".,;:") for word in text.name.removeprefix("\\text{").removesuffix("}").lower().split()]
    rest = product_node(factors) if factors else None
    if isinstance(node, Chain):
        return words, Chain((rest, *node.parts[1:]), node.signs)
    return words, rest
