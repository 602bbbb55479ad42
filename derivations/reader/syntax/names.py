"""Names of symbols: the left side of a declaration, the parts of a subscript, and a variable's name in plain text."""

import re
import unicodedata
from dataclasses import dataclass

from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import (
    Bracket,
    Chain,
    LatexError,
    Listing,
    Node,
    Product,
    Scripted,
    Symbol,
    product_node,
    spelled,
)


@dataclass(frozen=True)
class Pattern:
    """The left side of a declaration: a name, with indices as subscripts and arguments in parentheses."""

    name: str
    indices: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    subscripts: tuple[str, ...] = ()  # arguments that are printed as subscripts, LSE_t(z)


def split(symbols: str) -> list[str]:
    """Split a list of symbols at commas outside brackets."""
    depth, parts = 0, [""]
    for letter in symbols:
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def signature(latex: str) -> str:
    """Return a function with its printed arguments, p(x|z) for p(x|z'), by which several functions of one name differ."""
    node = parse(latex)
    assert isinstance(node, Product)
    return called(pattern(latex).name, node.factors[-1])


def called(name: str, bracket: Node) -> str:
    """Return the signature of a call of a function."""
    return f"{name}{spelled(bracket)}".replace("'", "")


ANGLES = ("\\cos", "\\sin")  # \\cos\\angle(x, y) has two arguments


def pattern(latex: str) -> Pattern:
    """Return the name, indices and arguments of a declared symbol; raises LatexError for anything else."""
    node = parse(latex)
    arguments: tuple[str, ...] = ()
    if (
        isinstance(node, Product)
        and len(node.factors) == (3 if spelled(node.factors[0]).startswith(ANGLES) else 2)
        and isinstance(bracket := node.factors[-1], Bracket)
        and bracket.kind == "()"
    ):
        node = product_node(node.factors[:-1])
        arguments = tuple(map(spelled, parts(bracket.inside)))
    if isinstance(node, Scripted) and node.sub is not None and is_indices(node.sub):
        return Pattern(
            spelled(Scripted(node.base, None, node.sup, node.primes) if node.sup or node.primes else node.base),
            tuple(map(spelled, index_parts(node.sub))),
            arguments,
        )
    if isinstance(node, Product) and len(node.factors) == 2 and all(_is_symbol(each) for each in node.factors):
        return Pattern(spelled(node), (), arguments)  # \\cos\\gamma, \\Delta s
    if not _is_symbol(node):
        raise LatexError(f"expected a symbol, perhaps with indices or arguments, got {latex}")
    return Pattern(spelled(node), (), arguments)


def _is_symbol(node: Node) -> bool:
    return isinstance(node.base if isinstance(node, Scripted) else node, Symbol)


def parts(node: Node) -> tuple[Node, ...]:
    """Return the parts that commas, a bar or ≻ separate: P(w \\succ l) is a function of w and l."""
    if isinstance(node, Chain) and set(node.signs) <= {"\\succ", "\\prec"}:
        return tuple(each for each in node.parts if each is not None)
    if isinstance(node, Listing):
        return tuple(part for each in node.parts for part in parts(each))
    return (node,)


def index_parts(node: Node) -> tuple[Node, ...]:
    """The indices of a subscript: ij, or i, j."""
    if isinstance(node, Product):
        return node.factors
    return parts(node)


LETTER = re.compile(r"([a-z]|\\mu|\\nu)('*)")  # of an index


def is_indices(node: Node) -> bool:
    """Return whether a subscript consists of single small letters, as indices do."""
    return all(LETTER.fullmatch(spelled(part)) for part in index_parts(node))


GREEK = {"epsilon": "ε", "varepsilon": "ε", "phi": "φ", "varphi": "φ", "vartheta": "ϑ", "lambda": "λ", "Lambda": "Λ"}


def plain(latex: str) -> str:
    """Return a variable's name in plain text: τ for \\tau, p⋆ for p^{\\star}."""

    def letter(match: re.Match[str]) -> str:
        word = match[1]
        case = "CAPITAL" if word[0].isupper() else "SMALL"
        try:
            return GREEK.get(word) or unicodedata.lookup(f"GREEK {case} LETTER {word.upper()}")
        except KeyError:
            return {"star": "⋆", "ast": "⋆", "prime": "′", "ell": "ℓ", "top": "⊤"}.get(word, "" if word in STYLES else word)

    text = re.sub(r"\\([a-zA-Z]+)", letter, latex).replace("*", "⋆").replace("'", "′")
    return re.sub(r"[{}^_\s\\]", "", text)


def styled(latex: str) -> str:
    """Return a variable's name with the style of its letters, if the plain name is taken: calL for \\mathcal{L}."""
    return "".join(style.removeprefix("math") for style in STYLES if f"\\{style}{{" in latex) + plain(latex)


def thin(latex: str) -> str:
    """Return the name of the entries of a bold vector, z for \\mathbf{z}; any other name unchanged."""
    return re.sub(r"^\\mathbf\{([^{}]*)\}", r"\1", latex)


STYLES = ("mathrm", "mathbf", "mathcal", "mathbb", "mathsf", "mathit", "mathfrak", "mathscr", "text")
