"""A formula as a tree: what binds what, before any symbol has a meaning.

Precedence, from the loosest: relations, sums, products, then signs.  A product keeps its factors in the order of the print,
since only a notation can tell f(x), a function at x, from a(x + 1), a product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree, UnexpectedInput

Item = Token | Tree[Token]


class LatexError(ValueError):
    """A formula that cannot be read; the message says what was expected and what was found."""


# ── the tree ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Node:
    """A part of a formula."""


@dataclass(frozen=True)
class Number(Node):
    """A number as it is printed, 0.5 or 12."""

    text: str


@dataclass(frozen=True)
class Symbol(Node):
    """A letter or command with its style and accent, `\\tilde{p}`, or words of a formula, `\\text{if}`."""

    name: str


@dataclass(frozen=True)
class Scripted(Node):
    """A base with subscript, superscript and primes."""

    base: Node
    sub: Node | None = None
    sup: Node | None = None
    primes: int = 0


@dataclass(frozen=True)
class Bracket(Node):
    """What stands between brackets: `()`, `[]`, `{}`, `<>`, `||` or `‖‖`; a pair of braces that only groups is no bracket."""

    kind: str
    inside: Node


@dataclass(frozen=True)
class Listing(Node):
    """Parts with a separator between them: a comma, a bar as in q(z | x), a double bar as in KL(p ‖ q)."""

    parts: tuple[Node, ...]
    separators: tuple[str, ...]


@dataclass(frozen=True)
class Chain(Node):
    """Parts with relations between them: a = b ≤ c; the first part is None where a line goes on with = c."""

    parts: tuple[Node | None, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Sum(Node):
    """Terms with their signs."""

    terms: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Product(Node):
    """Factors in the order of the print; `/` and `\\cdot` stand between them as symbols."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Fraction(Node):
    """A numerator over a denominator."""

    over: Node
    under: Node


@dataclass(frozen=True)
class Root(Node):
    """A square root."""

    inside: Node


@dataclass(frozen=True)
class Operator(Node):
    """A sign between factors: `/`, `\\cdot`, `\\odot`."""

    sign: str


@dataclass(frozen=True)
class At(Node):
    """What stands before a bar, where the symbols below it have other values: ∇J(p, s)|_{p = q}."""

    inside: Node
    where: Chain


EMPTY = Product(())


def product_node(factors: Sequence[Node]) -> Node:
    """The product of factors, which is the factor itself where there is one."""
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


# ── structure ───────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _structure() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def parse(latex: str) -> Node:
    """The tree of a formula; raises LatexError, which shows the place, for what has no structure."""
    try:
        items = list(_structure().parse(latex).children)
    except UnexpectedInput as error:
        place = error.pos_in_stream if error.pos_in_stream is not None else len(latex)
        raise LatexError(f"expected a formula, got {_near(latex, place)} after {_near(latex[:place], -1)}") from None
    return _lines(items)


def _near(latex: str, place: int, width: int = 24) -> str:
    part = latex[place : place + width] if place >= 0 else latex[-width:]
    return repr(part) if part else "nothing"


def _lines(items: Sequence[Item]) -> Node:
    """Lines and clauses: parts with a comma, a semicolon or a line break between them."""
    parts, separators, start = [], [], 0
    for place, item in enumerate(items):
        if _type(item) in ("COMMA", "BREAK") or (_type(item) == "DOT" and place == len(items) - 1):
            parts.append(_chain(items[start:place]))
            separators.append("," if _type(item) == "COMMA" else ";")
            start = place + 1
    if start < len(items) or not parts:
        parts.append(_chain(items[start:]))
    else:
        separators.pop()
    return parts[0] if len(parts) == 1 else Listing(tuple(parts), tuple(separators))


def _chain(items: Sequence[Item]) -> Node:
    parts: list[Node | None] = []
    signs, start = [], 0
    for place, item in enumerate(items):
        if _type(item) == "RELATION":
            parts.append(_barred(items[start:place]) if place > start else None)
            signs.append(str(item))
            start = place + 1
    last = _barred(items[start:]) if start < len(items) else None
    if not signs:
        return last or EMPTY
    return Chain((*parts, last), tuple(signs))


def _barred(items: Sequence[Item]) -> Node:
    """What bars separate, where they come in no pairs: q(z | x), KL(p ‖ q)."""
    last = items[-1] if items else None
    alone = [item for item in items if _type(item) == "BAR"] == [last]
    if isinstance(last, Tree) and last.data == "scripted" and alone:
        where = _scripted(EMPTY, last.children[1:])
        if isinstance(where, Scripted) and isinstance(where.sub, Chain) and where.sup is None:
            return At(_sum(items[:-1]), where.sub)
    for kind, shown in (("NORM", "‖"), ("BAR", "|")):
        places = [place for place, item in enumerate(items) if _type(item) == kind]
        if len(places) == 1:
            at = places[0]
            return Listing((_sum(items[:at]), _sum(items[at + 1 :])), (shown,))
    return _sum(items)


def _sum(items: Sequence[Item]) -> Node:
    terms: list[tuple[str, Node]] = []
    sign, start, inside = "+", 0, None
    for place, item in enumerate(items):
        if _type(item) in ("BAR", "NORM"):
            inside = None if inside == _type(item) else inside or _type(item)
        plus_or_minus = _type(item) == "OPERATOR" and str(item) in ("+", "-", "−") and inside is None
        if plus_or_minus and (place > start or not terms):
            if place > start:
                terms.append((sign, _product(items[start:place])))
            elif place and sign == "-":
                raise LatexError("expected a term after −, got another sign")
            sign, start = "-" if str(item) in ("-", "−") else "+", place + 1
    if start >= len(items):
        if terms or items:
            raise LatexError("expected a term at the end of a sum, got nothing")
        return EMPTY
    terms.append((sign, _product(items[start:])))
    return terms[0][1] if len(terms) == 1 and terms[0][0] == "+" else Sum(tuple(terms))


def _product(items: Sequence[Item]) -> Node:
    factors = tuple(_factors(list(items)))
    return factors[0] if len(factors) == 1 else Product(factors)


def _factors(items: list[Item]) -> Iterator[Node]:
    at = 0
    while at < len(items):
        kind = _type(items[at])
        if kind in ("BAR", "NORM"):
            end = next((i for i in range(at + 1, len(items)) if _type(items[i]) == kind), None)
            if end is None:
                raise LatexError("expected a second bar, got the end of the formula")
            closing, shown = items[end], "||" if kind == "BAR" else "‖‖"
            bracket = Bracket(shown, _sum(items[at + 1 : end]))
            yield bracket if isinstance(closing, Token) else _scripted(bracket, closing.children[1:])
            at = end + 1
        elif kind == "DIGIT" or (kind == "DOT" and at + 1 < len(items) and _type(items[at + 1]) == "DIGIT"):
            end = at
            while end < len(items) and _type(items[end]) in ("DIGIT", "DOT"):
                end += 1
            text = "".join(map(str, items[at:end]))
            last = items[end] if end < len(items) else None
            if isinstance(last, Tree) and last.data == "scripted" and _type(last.children[0]) == "DIGIT":
                yield _scripted(Number(text + str(last.children[0])), last.children[1:])
                end += 1
            else:
                yield Number(text)
            at = end
        else:
            yield _node(items[at])
            at += 1


def _type(item: object) -> str:
    """The type of a token; that of the bar for a bar with scripts, which closes a pair."""
    if isinstance(item, Tree) and item.data == "scripted" and _type(item.children[0]) in ("BAR", "NORM"):
        return _type(item.children[0])
    return item.type if isinstance(item, Token) else ""


OPERATOR_WORDS = (
    "KL",
    "softmax",
    "Softmax",
    "Var",
    "Cov",
    "diag",
    "tr",
    "LSE",
    "logsumexp",
    "sigmoid",
    "argmin",
    "argmax",
    "E",
    "H",
)
BRACKETS = {"round": "()", "square": "[]", "curly": "{}", "angle": "<>", "bars": "||", "norm": "‖‖"}


def _node(item: Item) -> Node:
    if isinstance(item, Token):
        return _leaf(item)
    parts = item.children
    if item.data == "scripted":
        return _scripted(_node(parts[0]), parts[1:])
    if item.data == "group":
        return Symbol(str(parts[0])) if len(parts) == 1 and _type(parts[0]) == "OPERATOR" else _lines(parts)
    if item.data in BRACKETS:
        return Bracket(BRACKETS[item.data], _lines(parts[1:-1]))
    if item.data == "fraction":
        return Fraction(_node(parts[1]), _node(parts[2]))
    if item.data == "root":
        return Root(_node(parts[1]))
    return Symbol(f"{_style(str(parts[0]))}{{{_joined(_node(parts[1]))}}}")


def _joined(node: Node) -> str:
    """What stands under a style: the letters of a word without spaces between them."""
    return "".join(map(spelled, node.factors)) if isinstance(node, Product) else spelled(node)


def _leaf(token: Token) -> Node:
    if token.type == "DIGIT":
        return Number(str(token))
    if token.type == "OPERATOR":
        sign = str(token)
        return (
            Symbol(sign)
            if sign in ("\\star", "\\top", "\\ast", "\\dagger", "\\prime")
            else Operator("/" if sign.endswith("/") else sign)
        )
    if token.type == "TEXT":
        words = str(token)[str(token).index("{") + 1 : -1].strip()
        return Symbol(f"\\{'mathrm' if words in OPERATOR_WORDS else 'text'}{{{words}}}")
    if token.type in ("DOT", "PRIME"):
        raise LatexError(f"expected a formula, got {str(token)!r} by itself")
    return Symbol(str(token))


SAME_STYLE = {
    "\\operatorname*": "\\operatorname",
    "\\boldsymbol": "\\mathbf",
    "\\bm": "\\mathbf",
    "\\bf": "\\mathbf",
    "\\rm": "\\mathrm",
    "\\operatorname": "\\mathrm",
    "\\widehat": "\\hat",
    "\\widetilde": "\\tilde",
    "\\overline": "\\bar",
}


def _style(command: str) -> str:
    return SAME_STYLE.get(SAME_STYLE.get(command, command), SAME_STYLE.get(command, command))


def _scripted(base: Node, scripts: Sequence[Item]) -> Node:
    sub = sup = None
    primes = 0
    for script in scripts:
        assert isinstance(script, Tree)
        if script.data == "prime":
            primes += len(script.children)
        elif script.data == "sub":
            if sub is not None:
                raise LatexError(f"expected one subscript of {spelled(base)}, got two")
            sub = _node(script.children[0])
        else:
            if sup is not None:
                raise LatexError(f"expected one superscript of {spelled(base)}, got two")
            sup = _node(script.children[0])
    if sup == Symbol("\\prime"):
        sup, primes = None, primes + 1
    if isinstance(sup, Product) and len(sup.factors) == 2 and spelled(sup.factors[1]) == "\\top" and _is_mark(sup.factors[0]):
        return Scripted(Scripted(base, sub, sup.factors[0], primes), None, sup.factors[1])  # p^{\star\top}
    return Scripted(base, sub, sup, primes)


def _is_mark(node: Node) -> bool:
    return node in (Symbol("\\star"), Symbol("\\ast"), Symbol("\\dagger"), Operator("*"))


# ── back to text ────────────────────────────────────────────────────────────────────────────────────────────────────


def spelled(node: Node | None) -> str:
    """A part as LaTeX, for names and messages: one spelling for what means the same."""
    match node:
        case None:
            return ""
        case Number(text):
            return text
        case Symbol(name) | Operator(name):
            return name
        case Scripted(base, sub, sup, primes):
            text = spelled(base) + "'" * primes
            text += f"_{{{spelled(sub)}}}" if sub else ""
            return text + (f"^{{{spelled(sup)}}}" if sup else "")
        case Bracket(kind, inside):
            opening, closing = {
                "()": "()",
                "[]": "[]",
                "{}": ("\\{", "\\}"),
                "<>": ("\\langle ", "\\rangle"),
                "||": "||",
                "‖‖": ("\\|", "\\|"),
            }[kind]
            return f"{opening}{spelled(inside)}{closing}"
        case Listing(parts, separators):
            marks = [{"‖": "\\|", ";": "\\\\"}.get(each, each) for each in separators]
            return "".join(spelled(part) + mark for part, mark in zip(parts, [*marks, ""], strict=True))
        case Chain(parts, signs):
            return "".join(f"{spelled(part)} {sign} " for part, sign in zip(parts, [*signs, ""], strict=True)).strip()
        case Sum(terms):
            text = "".join(f" {sign} {spelled(term)}" for sign, term in terms).strip()
            return text.removeprefix("+ ")
        case Product(factors):
            return " ".join(map(spelled, factors))
        case Fraction(over, under):
            return f"\\frac{{{spelled(over)}}}{{{spelled(under)}}}"
        case At(inside, where):
            return f"{spelled(inside)}|_{{{spelled(where)}}}"
        case Root(inside):
            return f"\\sqrt{{{spelled(inside)}}}"
    raise TypeError(f"node: expected a part of a formula, got {node!r}")
