"""The nodes of a parsed formula, before any symbol has a meaning, and their text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any


class LatexError(ValueError):
    """A formula that cannot be read; the message has the form “expected X, got Y”."""


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
    """The content of brackets `()`, `[]`, `{}`, `<>`, `||` or `‖‖`; braces that only group are not brackets."""

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
class Cases(Node):
    """Values with the conditions under which they hold."""

    rows: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True)
class Operator(Node):
    """A sign between factors: `/`, `\\cdot`, `\\odot`."""

    sign: str


@dataclass(frozen=True)
class At(Node):
    """An expression evaluated at the values after a bar: ∇J(p, s)|_{p = q}."""

    inside: Node
    where: Chain


EMPTY = Product(())


def product_node(factors: Sequence[Node]) -> Node:
    """Return the product of factors, or a single factor itself."""
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def sum_node(terms: Sequence[tuple[str, Node]]) -> Node:
    """Return the sum of terms with signs, or a single term itself."""
    return terms[0][1] if len(terms) == 1 and terms[0][0] == "+" else Sum(tuple(terms))


def walk(node: Any) -> Iterator[Node]:
    """A node and all its parts."""
    if isinstance(node, Node):
        yield node
    for each in parts_of(node):
        yield from walk(each)


def parts_of(node: Any) -> Iterator[Node]:
    """The nodes directly inside of a node, or of its rows."""
    inside = (getattr(node, each.name) for each in fields(node)) if isinstance(node, Node) else node
    for each in inside if isinstance(node, Node | tuple) else ():
        if isinstance(each, Node):
            yield each
        elif isinstance(each, tuple):
            yield from parts_of(each)


# ── back to text ────────────────────────────────────────────────────────────────────────────────────────────────────


def spelled(node: Node | None) -> str:
    """Return a part as LaTeX with a canonical spelling, for names and messages."""
    match node:
        case None:
            return ""
        case Number(text):
            return text
        case Symbol(name) | Operator(name):
            return name
        case Scripted(base, sub, sup, primes):
            twice = isinstance(base, Scripted) and ((base.sub and sub) or (base.sup and sup))
            text = (f"{{{spelled(base)}}}" if twice else spelled(base)) + "'" * primes
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
        case Cases(rows):
            return "\\begin{cases} " + " \\\\ ".join(f"{spelled(a)} & {spelled(b)}" for a, b in rows) + " \\end{cases}"
        case Root(inside):
            return f"\\sqrt{{{spelled(inside)}}}"
    raise TypeError(f"node: expected a part of a formula, got {node!r}")
