"""List the symbols that a formula uses, with the names under which they would be declared."""

from collections.abc import Iterator

from derivations.reader.meaning import operators
from derivations.reader.meaning.derivatives import PARTIAL, TRANSPOSED
from derivations.reader.meaning.elaboration import UNREAD
from derivations.reader.meaning.functions import FUNCTIONS
from derivations.reader.meaning.sums import BIG
from derivations.reader.syntax.names import LETTER, index_parts, parts
from derivations.reader.syntax.tree import Bracket, Fraction, Node, Number, Product, Scripted, Sum, Symbol, parts_of, spelled

STARS = ("\\star", "*", "\\ast", "\\dagger", "\\circ")
RESERVED = {
    *BIG,
    *UNREAD,
    *FUNCTIONS,
    "\\nabla",
    "\\max",
    "\\min",
    "\\in",
    "\\forall",
    "\\times",
    "\\mathbb{R}",
    "\\mathbb{N}",
    "\\mathbb{Z}",
    "\\Delta",
    "\\mathrm{argmin}",
    "\\mathrm{argmax}",
    "\\mathrm{s.t.}",
    "\\sup",
    "\\inf",
    "\\lim",
    "\\mathcal{O}",
    "\\mathrm{int}",
    "\\mathrm{ri}",
    "\\mathrm{relint}",
    "e",
    "\\partial",
    "\\top",
    "\\star",
    "\\intercal",
    "+",
    "++",
}


def uses(tree: Node) -> Iterator[tuple[str, Node]]:
    """Each symbol of a formula by its name, with the node at which it is used."""
    if isinstance(tree, Scripted) and isinstance(tree.base, Symbol) and tree.base.name not in RESERVED:
        if declared_name(tree) in operators.DEFAULT or tree.base.name not in operators.DEFAULT:
            yield declared_name(tree), tree  # an operator with a subscript of its own, Var_{a∼π}, is no new symbol
        if tree.sub is not None and not is_index_list(tree.sub) and tree.base.name not in operators.DEFAULT:
            return
        for part in (tree.sub, tree.sup):
            if part is not None and spelled(part) not in (*STARS, *TRANSPOSED):
                yield from uses(part)
        return
    if isinstance(tree, Scripted) and isinstance(tree.base, Bracket) and tree.base.kind == "‖‖":
        yield from uses(tree.base)
        return
    if isinstance(tree, Symbol) and tree.name not in RESERVED and not tree.name.startswith("\\text{"):
        yield tree.name, tree
    elif isinstance(tree, Product):
        yield from _uses_of_product(tree)
    elif isinstance(tree, Fraction) and _is_differential(tree):
        for part in (tree.over, tree.under):
            for name, node in uses(part):
                if name not in PARTIAL:
                    yield name, node
    else:
        for part in parts_of(tree):
            yield from uses(part)


def _uses_of_product(tree: Product) -> Iterator[tuple[str, Node]]:
    for position, factor in enumerate(tree.factors):
        after = tree.factors[position + 1] if position + 1 < len(tree.factors) else None
        called = isinstance(after, Bracket) and after.kind == "()" and isinstance(factor, Symbol | Scripted)
        if called and not isinstance(factor, Number) and declared_name(factor) not in RESERVED and _is_call(after):
            yield declared_name(factor), Product((factor, after))  # type: ignore[arg-type]
        yield from uses(factor)


def _is_call(bracket: Node | None) -> bool:
    assert isinstance(bracket, Bracket)
    return all(isinstance(part, Symbol | Scripted) for part in parts(bracket.inside))


def _is_differential(tree: Fraction) -> bool:
    first = tree.under.factors[0] if isinstance(tree.under, Product) else tree.under
    return spelled(first) in PARTIAL


def is_problem(node: Node) -> bool:
    """Return whether an expression is a problem or its value, arg max …, min … or lim …"""
    first = node
    while isinstance(first, Product | Sum):
        first = first.factors[0] if isinstance(first, Product) else first.terms[0][1]
    base = first.base if isinstance(first, Scripted) else first
    return spelled(base) in (
        "\\arg",
        "\\min",
        "\\max",
        "\\sup",
        "\\inf",
        "\\mathrm{argmin}",
        "\\mathrm{argmax}",
        "\\argmin",
        "\\argmax",
        "\\lim",
    )


def declared_name(node: Node) -> str:
    """The name under which a symbol would be declared: without its indices and powers."""
    if not isinstance(node, Scripted):
        return spelled(node)
    sub = node.sub if node.sub is not None and not is_index_list(node.sub) else None
    if sub is not None and spelled(sub) == "+":
        sub = None
    sup = node.sup if node.sup is not None and spelled(node.sup) in STARS else None
    return spelled(Scripted(node.base, sub, sup, node.primes)) if sub or sup or node.primes else spelled(node.base)


def another_star(name: str) -> str:
    """Return p^\\star for p^* and p^* for p^\\star, which no paper distinguishes by intent; empty for names without a star."""
    one, other = ("\\star", "*") if "\\star" in name else ("*", "\\star")
    return name.replace(one, other) if one in name else ""


def is_index_list(node: Node) -> bool:
    """Return whether a subscript consists of single small letters, as indices do."""
    return all(LETTER.fullmatch(spelled(part)) for part in index_parts(node))


def short(latex: str, most: int = 50) -> str:
    """The beginning of a formula, for comments."""
    return latex if len(latex) <= most else latex[:most].rstrip("\\ ") + " …"
