"""Parse a formula into a tree by precedence, before any symbol has a meaning.

Precedence, from the loosest: relations, sums, products, then signs.  A product keeps its factors in the order of the print,
since only a notation can tell f(x), a function at x, from a(x + 1), a product.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree, UnexpectedInput

from derivations.reader.syntax.tree import (
    EMPTY,
    At,
    Bracket,
    Cases,
    Chain,
    Fraction,
    LatexError,
    Listing,
    Node,
    Number,
    Operator,
    Product,
    Root,
    Scripted,
    Sum,
    Symbol,
    spelled,
)

Item = Token | Tree[Token]


@cache
def _structure() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def parse(latex: str) -> Node:
    """Return the tree of a formula; raises LatexError, with the position, if it cannot be parsed."""
    try:
        items = list(_structure().parse(latex).children)
    except UnexpectedInput as error:
        position = error.pos_in_stream if error.pos_in_stream is not None else len(latex)
        raise LatexError(f"expected a formula, got {_near(latex, position)} after {_near(latex[:position], -1)}") from None
    return _lines(items)


def _near(latex: str, position: int, width: int = 24) -> str:
    part = latex[position : position + width] if position >= 0 else latex[-width:]
    return repr(part) if part else "nothing"


def _lines(items: Sequence[Item]) -> Node:
    """Split at commas, semicolons and line breaks into lines and clauses; alignment marks are ignored."""
    items = [*_without_quads([*_without_breaks([item for item in items if _type(item) != "AMP"])])]
    parts, separators, start = [], [], 0
    for position, item in enumerate(items):
        if _type(item) in ("COMMA", "BREAK") or (_type(item) == "DOT" and position == len(items) - 1):
            parts.append(_chain(items[start:position]))
            separators.append("," if _type(item) == "COMMA" else ";")
            start = position + 1
    if start < len(items) or not parts:
        parts.append(_chain(items[start:]))
    else:
        separators.pop()
    return parts[0] if len(parts) == 1 else Listing(tuple(parts), tuple(separators))


def _without_breaks(items: Sequence[Item]) -> Iterator[Item]:
    """Join a line that begins with a sign to the previous one: + c after a = b, = c after a + b, − b = c after a."""
    breaks = [position for position, item in enumerate(items) if _type(item) == "BREAK"]
    related = False
    for position, item in enumerate(items):
        related = related or _type(item) == "RELATION"
        if _type(item) != "BREAK":
            yield item
            continue
        end = next((each for each in breaks if each > position), len(items))
        kinds = [_type(each) for each in items[position + 1 : end] if _type(each) != "QUAD"]
        if "RELATION" not in kinds or not related:
            goes_on = kinds[:1] == ["OPERATOR"] or (kinds[:1] == ["RELATION"] and not related)
        else:
            goes_on = False
        if not goes_on:
            yield item
            related = False


def _without_quads(items: Sequence[Item]) -> Iterator[Item]:
    """Split at a wide space between two relations, a = b \\quad c = d; elsewhere it is only a space."""
    kinds = [*map(_type, items)]
    ends = [position for position, kind in enumerate(kinds) if kind in ("COMMA", "BREAK")]
    start = 0
    for position, item in enumerate(items):
        if kinds[position] != "QUAD":
            yield item
            start = position + 1 if kinds[position] in ("COMMA", "BREAK") else start
            continue
        end = next((each for each in ends if each > position), len(items))
        left, right = kinds[start:position], kinds[position + 1 : end]
        related = "RELATION" in left and "RELATION" in right
        words = related and (right[0] == "TEXT" or str(items[position + 1]) == "\\forall")  # which separate clauses
        if related and not words and not {left[-1], right[0]} & {"RELATION", "OPERATOR", "QUAD"}:
            yield Token("BREAK", "\\\\")
            start = position + 1


def _chain(items: Sequence[Item]) -> Node:
    parts: list[Node | None] = []
    signs, start = [], 0
    for position, item in enumerate(items):
        if _type(item) == "RELATION":
            parts.append(_barred(items[start:position]) if position > start else None)
            signs.append(str(item))
            start = position + 1
    last = _barred(items[start:]) if start < len(items) else None
    if not signs:
        return last or EMPTY
    sets = (_set(part) if sign == "\\in" else part for sign, part in zip(signs, [*parts[1:], last], strict=True))
    return Chain((parts[0], *sets), tuple(signs))


def _set(node: Node | None) -> Node | None:
    """Return a set with the usual spelling of ℝ and of the simplex, whatever their style."""
    if isinstance(node, Scripted):
        return Scripted(_set(node.base) or EMPTY, node.sub, node.sup, node.primes)
    return Symbol(SAME_SET.get(node.name, node.name)) if isinstance(node, Symbol) else node


def _barred(items: Sequence[Item]) -> Node:
    """Split at an unpaired bar: q(z | x), KL(p ‖ q)."""
    items = _double_bars(items)
    last = items[-1] if items else None
    single = [item for item in items if _type(item) == "BAR"] == [last]
    if isinstance(last, Tree) and last.data == "scripted" and single:
        where = _scripted(EMPTY, last.children[1:])
        if isinstance(where, Scripted) and isinstance(where.sub, Chain) and where.sup is None:
            inside = _sum(items[:-1])
            if isinstance(inside, Sum) and len(inside.terms) > 1:
                point = spelled(where.sub)
                raise LatexError(f"|_{{{point}}}: expected brackets before it, as it can hold for one term or for all")
            return At(inside, where.sub)
    for kind, shown in (("NORM", "‖"), ("BAR", "|")):
        positions = [position for position, item in enumerate(items) if _type(item) == kind]
        if len(positions) == 1:
            at = positions[0]
            return Listing((_sum(items[:at]), _sum(items[at + 1 :])), (shown,))
    return _sum(items)


def _double_bars(items: Sequence[Item]) -> Sequence[Item]:
    """Read || as ‖ if all bars come in such pairs, as in ||x|| and KL(p || q), but not in |a||b|."""
    bars = [position for position, item in enumerate(items) if _type(item) == "BAR"]
    pairs = [*zip(bars[::2], bars[1::2], strict=False)]
    if len(bars) % 2 or not all(first + 1 == second and isinstance(items[first], Token) for first, second in pairs):
        return items
    second = {position: items[position] for _, position in pairs}
    norms = {
        position: Token("NORM", "\\|")
        if isinstance(item, Token)
        else Tree("scripted", [Token("NORM", "\\|"), *item.children[1:]])
        for position, item in second.items()
    }
    return [norms.get(position, item) for position, item in enumerate(items) if position not in {first for first, _ in pairs}]


def _sum(items: Sequence[Item]) -> Node:
    terms: list[tuple[str, Node]] = []
    sign, start, inside = "+", 0, None
    for position, item in enumerate(items):
        if _type(item) in ("BAR", "NORM"):
            inside = None if inside == _type(item) else inside or _type(item)
        plus_or_minus = _type(item) == "OPERATOR" and str(item) in ("+", "-", "−") and inside is None
        if plus_or_minus and (position > start or not terms):
            if position > start:
                terms.append((sign, _product(items[start:position])))
            elif position and sign == "-":
                raise LatexError("expected a term after −, got another sign")
            sign, start = "-" if str(item) in ("-", "−") else "+", position + 1
    if start >= len(items):
        if terms or items:
            raise LatexError("missing term at the end of a sum")
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
    """Return the type of a token; a closing bar with scripts counts as the bar."""
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
STYLED = re.compile(r"\\(math\w+|hat|bar|tilde)\{[^{}]*\}")  # of \operatorname{\mathbb{E}}
BRACKETS = {"round": "()", "square": "[]", "curly": "{}", "angle": "<>", "bars": "||", "norm": "‖‖"}


def _node(item: Item) -> Node:
    if isinstance(item, Token):
        return _leaf(item)
    parts = item.children
    if item.data == "scripted":
        braced = isinstance(parts[0], Tree) and parts[0].data == "braced"  # whose script is a remark
        base = _node(parts[0])
        euler = base == Symbol("\\mathrm{e}") and [script.data for script in parts[1:] if isinstance(script, Tree)] == ["sup"]
        return base if braced else _scripted(Symbol("e") if euler else base, parts[1:])
    if item.data == "braced":
        return _node(parts[1])
    if item.data == "group":
        signs = "".join(map(str, parts)) if all(_type(each) == "OPERATOR" for each in parts) else ""
        return Symbol(signs) if (len(parts) == 1 and signs) or signs == "++" else _lines(parts)
    if item.data in BRACKETS:
        return Bracket(BRACKETS[item.data], _lines(parts[1:-1]))
    if item.data == "fraction":
        return Fraction(_node(parts[1]), _node(parts[2]))
    if item.data == "cases":
        return _cases(parts[1:-1])
    if item.data == "root":
        return Root(_node(parts[1]))
    style, inside = _style(str(parts[0])), _joined(_node(parts[1]))
    return Symbol(inside if style == "\\mathrm" and STYLED.fullmatch(inside) else f"{style}{{{inside}}}")


def _cases(items: Sequence[Item]) -> Cases:
    rows: list[tuple[Node, Node]] = []
    breaks = [at for at, item in enumerate(items) if _type(item) == "BREAK"]
    for start, end in zip([0, *(at + 1 for at in breaks)], [*breaks, len(items)], strict=True):
        row = items[start:end]
        mark = next((at for at, item in enumerate(row) if _type(item) in ("AMP", "TEXT")), None)
        if row and mark is None:
            raise LatexError("cases: expected a value & a condition in each row, got no condition")
        if row:
            rows.append((_lines(row[:mark]), _lines(row[mark:])))
    return Cases(tuple(rows))


def _joined(node: Node) -> str:
    """Return the text under a style command, with the letters of a word joined."""
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
    "\\mathbbm": "\\mathbb",
    "\\mathds": "\\mathbb",
    "\\boldsymbol": "\\mathbf",
    "\\bm": "\\mathbf",
    "\\bf": "\\mathbf",
    "\\rm": "\\mathrm",
    "\\operatorname": "\\mathrm",
    "\\widehat": "\\hat",
    "\\widetilde": "\\tilde",
    "\\overline": "\\bar",
}


SAME_SET = {
    **dict.fromkeys(("\\mathbf{R}", "\\mathrm{R}", "\\mathsf{R}"), "\\mathbb{R}"),
    **dict.fromkeys(("\\triangle", "\\mathbf{\\Delta}", "\\mathbb{\\Delta}"), "\\Delta"),
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
