"""A first notation of a paper, guessed from its formulas: domains, ranges, definitions; what stays open is a question.

Each guess says what it was read from.  Nothing here is believed: a wrong guess makes a statement about other symbols, which the
reader of `notation.py` sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from derivations.latex import operators
from derivations.latex.elaboration import BIG, FUNCTIONS, PARTIAL, TRANSPOSED, UNREAD
from derivations.latex.notation import LETTER, index_parts, parts, pattern
from derivations.latex.paper import Formula, Paper
from derivations.latex.syntax import (
    Bracket,
    Chain,
    Fraction,
    LatexError,
    Listing,
    Node,
    Number,
    Operator,
    Product,
    Scripted,
    Sum,
    Symbol,
    parse,
    spelled,
)

DOTS = ("\\dots", "\\ldots", "\\cdots")
STARS = ("\\star", "*", "\\ast", "\\dagger", "\\circ")
DEFINE = (":=", "\\coloneqq", "\\triangleq")
DEFINING_WORDS = ("let", "define", "denote", "where", "with", "write", "set", "put", "called", "is")
POSITIVE = ("\\tau", "\\beta", "\\varepsilon", "\\epsilon", "\\sigma", "\\gamma", "\\eta", "T", "\\kappa", "\\rho")
DISTRIBUTIONS = ("p", "q", "\\pi", "w", "r", "\\rho", "\\mu", "\\nu")
STANDARD = ("KL", "softmax", "logsumexp", "variance", "covariance", "expectation", "diag", "trace", "ones", "identity", "delta")
RESERVED = {*BIG, *UNREAD, *FUNCTIONS, "\\nabla", "\\max", "\\min", "\\in", "\\forall", "\\times", "\\mathbb{R}", "\\mathbb{N}",
            "\\mathbb{Z}", "\\Delta", "\\mathrm{argmin}", "\\mathrm{argmax}", "\\mathrm{s.t.}", "\\sup", "\\inf", "\\lim", "O", "o",
            "\\mathcal{O}", "\\partial", "\\top", "\\star", "\\intercal"}


@dataclass
class Guess:
    """What a symbol is taken for, and why."""

    meaning: str
    why: str


@dataclass
class Guesses:
    """The notation in the making: guesses by symbol, in the order in which they were read."""

    lines: dict[str, Guess] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)      # name → the symbol under which it is declared
    defining: dict[int, str] = field(default_factory=dict)   # place of a formula → the symbol that it defines
    displayed: set[str] = field(default_factory=set)
    used: dict[str, list[Node]] = field(default_factory=dict)
    indices: dict[str, str] = field(default_factory=dict)    # index → its size, empty where it is not known yet

    def say(self, symbol: str, meaning: str, why: str) -> None:
        """Keep the first guess for a name; a definition replaces a domain."""
        name = pattern(symbol).name
        if name in self.names and not (meaning.startswith("=") and not self.lines[self.names[name]].meaning.startswith("=")):
            return
        if name in self.names:
            del self.lines[self.names[name]]
        self.names[name] = symbol
        self.lines[symbol] = Guess(meaning, why)

    def size(self, node: Node, why: str) -> str | None:
        """The size that a part names; a letter becomes one."""
        text = spelled(node)
        if text.isdigit() and int(text) >= 1:
            return text
        if isinstance(node, Symbol) and node.name not in RESERVED:
            self.say(text, "size", why)
            return text if self.lines.get(text, Guess("", "")).meaning == "size" else None
        return None


def guess(paper: Paper) -> Guesses:
    """Guesses for all symbols of a paper."""
    found = Guesses()
    trees: list[tuple[int, Formula, Node]] = []
    for place, formula in enumerate(paper.formulas):
        try:
            trees.append((place, formula, parse(formula.latex)))
        except LatexError:
            continue
    for _, formula, tree in trees:
        _bounds(found, tree, formula)
    for place, formula, tree in trees:
        _domains(found, tree, formula)
        _definition(found, place, tree, formula)
        _use(found, tree, formula)
    _indices(found)
    for name, nodes in found.used.items():
        _rest(found, name, nodes)
    return found


# ── domains and ranges ──────────────────────────────────────────────────────────────────────────────────────────────


def walk(node: Any) -> Iterator[Node]:
    """A node and all its parts."""
    if isinstance(node, Node):
        yield node
        for each in fields(node):
            yield from walk(getattr(node, each.name))
    elif isinstance(node, tuple):
        for each in node:
            yield from walk(each)


def _bounds(found: Guesses, tree: Node, formula: Formula) -> None:
    """Sums with bounds, ranges such as i = 1, …, m, and indices of sums without bounds."""
    why = f"line {formula.line}: ${short(formula.latex)}$"
    for node in walk(tree):
        if isinstance(node, Scripted) and isinstance(node.base, Symbol) and node.base.name in (*BIG, "\\max", "\\min") and node.sub:
            if isinstance(node.sub, Chain) and node.sub.signs == ("=",) and node.sup is not None:
                size = found.size(node.sup, why)
                if size and node.sub.parts[0] is not None:
                    found.indices[spelled(node.sub.parts[0])] = size
            elif node.base.name in BIG:
                first = node.sub.parts[0] if isinstance(node.sub, Chain) else node.sub
                for part in index_parts(first) if first else ():
                    found.indices.setdefault(spelled(part).rstrip("'"), "")
        if isinstance(node, Chain) and node.signs[:1] == ("\\sim",) and isinstance(node.parts[0], Symbol):
            found.indices.setdefault(node.parts[0].name, "")
        if isinstance(node, Listing):
            _range(found, node, why)


def _range(found: Guesses, node: Listing, why: str) -> None:
    """i = 1, …, m."""
    for first, dots, last in zip(node.parts, node.parts[1:], node.parts[2:], strict=False):
        begins = isinstance(first, Chain) and first.signs == ("=",) and spelled(first.parts[1]) == "1"
        if begins and spelled(dots) in DOTS and (size := found.size(last, why)):
            assert isinstance(first, Chain)
            found.indices[spelled(first.parts[0])] = size


def _domains(found: Guesses, tree: Node, formula: Formula) -> None:
    why = f"line {formula.line}: ${short(formula.latex)}$"
    before: list[Node] = []
    clauses = tree.parts if isinstance(tree, Listing) else (tree,)
    for clause in clauses:
        if not isinstance(clause, Chain):
            before.append(clause)
            continue
        left, sign, right = clause.parts[0], clause.signs[0], clause.parts[1]
        if sign == "\\in" and right is not None:
            meaning = _set(found, right, why)
            for symbol in [*before, left] if meaning else ():
                _declare(found, symbol, meaning or "", why)
        elif sign in (">", "\\ge", "\\geq", "\\geqslant") and isinstance(right, Number) and left is not None and len(clause.signs) == 1:
            _sign(found, [*before, left], sign, right.text, why)
        elif sign == "=" and isinstance(right, Bracket) and isinstance(right.inside, Listing):
            _tuple(found, left, right.inside, why)
        before = []


def _declare(found: Guesses, symbol: Node | None, meaning: str, why: str) -> None:
    if not isinstance(symbol, Symbol | Scripted):
        return
    text = spelled(symbol)
    if meaning.startswith("index "):
        found.indices[text] = meaning.split()[1]
    elif isinstance(symbol, Scripted) and symbol.sub is not None and _is_index_list(symbol.sub) and meaning.startswith("vector "):
        name = spelled(Scripted(symbol.base, None, symbol.sup, symbol.primes) if symbol.sup or symbol.primes else symbol.base)
        sizes = [found.indices.get(spelled(part), "") for part in index_parts(symbol.sub)]
        if len(sizes) == 1 and sizes[0]:
            found.say(name, f"matrix {sizes[0]} {meaning.split()[1]}", why)
    else:
        found.say(text, meaning, why)


def _set(found: Guesses, node: Node, why: str) -> str | None:
    """The declaration that membership in a set amounts to."""
    base, sub, sup = (node.base, node.sub, node.sup) if isinstance(node, Scripted) else (node, None, None)
    if isinstance(base, Symbol) and base.name == "\\mathbb{R}":
        kind = {"": "", "+": "nonnegative", "++": "positive", "> 0": "positive", "\\ge 0": "nonnegative",
                "\\geq 0": "nonnegative"}.get(spelled(sub).strip(), "")
        if sup is None:
            return kind or "real"
        axes = [each for each in (sup.factors if isinstance(sup, Product) else (sup,)) if not isinstance(each, Operator)]
        sizes = [found.size(each, why) for each in axes]
        if not all(sizes) or len(sizes) > 2:
            return None
        return f"{kind} {'vector' if len(sizes) == 1 else 'matrix'} {' '.join(map(str, sizes))}".strip()
    if isinstance(base, Symbol) and base.name in ("\\mathbb{N}", "\\mathbb{Z}"):
        return "size"
    if isinstance(base, Symbol) and base.name == "\\Delta":
        return _simplex(found, sub, sup, why)
    if isinstance(node, Bracket) and node.kind in ("{}", "[]"):
        inside = parts(node.inside)
        if node.kind == "[]" and len(inside) == 1:
            size = found.size(inside[0], why)
            return f"index {size}" if size else None
        if len(inside) >= 3 and spelled(inside[-2]) in DOTS:
            size = found.size(inside[-1], why)
            return f"index {size}" if size else None
    if isinstance(node, Bracket) and node.kind == "()" and spelled(parts(node.inside)[0]) == "0":
        return "positive"
    return None


def _simplex(found: Guesses, sub: Node | None, sup: Node | None, why: str) -> str | None:
    of = sup or sub
    if isinstance(of, Sum) and [sign for sign, _ in of.terms] == ["+", "-"] and spelled(of.terms[1][1]) == "1":
        of = of.terms[0][1]
    size = found.size(of, why) if of is not None else None
    return f"simplex {size}" if size else None


def _sign(found: Guesses, symbols: Sequence[Node], sign: str, number: str, why: str) -> None:
    kind = "positive" if sign == ">" and number == "0" else "nonnegative" if number == "0" else ""
    for symbol in symbols:
        if isinstance(symbol, Symbol) and kind and symbol.name not in found.names:
            found.say(symbol.name, kind, why)
        elif isinstance(symbol, Symbol) and number == "1" and symbol.name.islower() and len(symbol.name) == 1:
            found.say(symbol.name, "size", why)
        elif isinstance(symbol, Scripted) and symbol.sub is not None and kind and _is_index_list(symbol.sub):
            name = spelled(symbol.base)
            known = found.lines.get(name)
            if known is None:
                sizes = [found.indices.get(spelled(part), "") for part in index_parts(symbol.sub)]
                if all(sizes) and len(sizes) <= 2:
                    found.say(name, f"{kind} {'vector' if len(sizes) == 1 else 'matrix'} {' '.join(sizes)}", why)
            elif kind == "positive" and known.meaning.startswith("simplex"):
                known.meaning = known.meaning.replace("simplex", "interior")
            elif known.meaning.startswith(("vector", "matrix")):
                known.meaning = f"{kind} {known.meaning}"


def _tuple(found: Guesses, left: Node | None, inside: Listing, why: str) -> None:
    """s = (s_1, …, s_m)."""
    last = inside.parts[-1]
    dotted = any(spelled(part) in DOTS for part in inside.parts)
    if isinstance(left, Symbol) and dotted and isinstance(last, Scripted) and last.sub is not None:
        size = found.size(last.sub, why)
        if size:
            found.say(left.name, f"vector {size}", why)


# ── definitions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _definition(found: Guesses, place: int, tree: Node, formula: Formula) -> None:
    """X = … where X is new: displayed, or said to be a definition by its sign or the words before it."""
    clauses = tree.parts if isinstance(tree, Listing) and not set(tree.separators) & {"|", "‖"} else (tree,)
    for number, clause in enumerate(clauses):
        if not isinstance(clause, Chain) or clause.parts[0] is None or clause.parts[1] is None:
            continue
        left, sign, right = clause.parts[0], clause.signs[0], clause.parts[1]
        words = formula.words.lower().replace(",", " ").split()
        said = sign in DEFINE or (sign == "=" and (formula.display or any(word in DEFINING_WORDS for word in words[-3:])))
        if not said or (sign not in DEFINE and _is_problem(right)):
            continue
        name = _defined_name(found, left, right, sign)
        if name and not _is_problem(right):
            found.say(spelled(left), f"= {spelled(right)}", f"line {formula.line}")
            if number == 0:
                found.defining[place] = name


def _defined_name(found: Guesses, left: Node, right: Node, sign: str) -> str | None:
    try:
        shown = pattern(spelled(left))
    except LatexError:
        return None
    name = shown.name
    known = found.lines.get(found.names.get(name, ""))
    seen = name in found.displayed or (known is not None and known.meaning.startswith("="))
    standard = operators.DEFAULT.get(name)
    if standard in STANDARD or (standard == "entropy" and "\\log" in spelled(right)) or name in found.indices or name in RESERVED:
        return None
    if (seen and sign not in DEFINE) or (known is not None and known.meaning == "size"):
        return None
    inside = {spelled(node) for node in walk(right)} | {symbol for symbol, _ in uses(right)}
    if name in inside or isinstance(right, Number):
        return None
    if isinstance(left, Scripted) and left.sub is not None and not shown.indices and spelled(left.sub).isdigit():
        return None
    return name


def _is_problem(node: Node) -> bool:
    first = node
    while isinstance(first, Product | Sum):
        first = first.factors[0] if isinstance(first, Product) else first.terms[0][1]
    base = first.base if isinstance(first, Scripted) else first
    return spelled(base) in ("\\arg", "\\min", "\\max", "\\sup", "\\inf", "\\mathrm{argmin}", "\\mathrm{argmax}", "\\argmin",
                             "\\argmax", "\\lim")


# ── what is used ────────────────────────────────────────────────────────────────────────────────────────────────────


def uses(tree: Node) -> Iterator[tuple[str, Node]]:
    """Each symbol of a formula by its name, with the node at which it is used."""
    if isinstance(tree, Scripted) and isinstance(tree.base, Symbol) and tree.base.name not in RESERVED:
        yield _name(tree), tree
        if tree.sub is not None and not _is_index_list(tree.sub) and tree.base.name not in operators.DEFAULT:
            return
        for part in (tree.sub, tree.sup):
            if part is not None and spelled(part) not in (*STARS, *TRANSPOSED):
                yield from uses(part)
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
    elif isinstance(tree, Node) and is_dataclass(tree):
        for each in fields(tree):
            value = getattr(tree, each.name)
            for part in walk_parts(value):
                yield from uses(part)


def walk_parts(value: Any) -> Iterator[Node]:
    """The nodes directly inside of a field."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from walk_parts(each)


def _uses_of_product(tree: Product) -> Iterator[tuple[str, Node]]:
    for place, factor in enumerate(tree.factors):
        after = tree.factors[place + 1] if place + 1 < len(tree.factors) else None
        called = isinstance(after, Bracket) and after.kind == "()" and isinstance(factor, Symbol | Scripted)
        if called and not isinstance(factor, Number) and _name(factor) not in RESERVED and _is_call(after):
            yield _name(factor), Product((factor, after))  # type: ignore[arg-type]
        yield from uses(factor)


def _is_call(bracket: Node | None) -> bool:
    assert isinstance(bracket, Bracket)
    return all(isinstance(part, Symbol | Scripted) for part in parts(bracket.inside))


def _is_differential(tree: Fraction) -> bool:
    first = tree.under.factors[0] if isinstance(tree.under, Product) else tree.under
    return spelled(first) in PARTIAL


def _name(node: Node) -> str:
    """The name under which a symbol would be declared: without its indices and powers."""
    if not isinstance(node, Scripted):
        return spelled(node)
    sub = node.sub if node.sub is not None and not _is_index_list(node.sub) else None
    if sub is not None and spelled(sub) == "+":
        sub = None
    sup = node.sup if node.sup is not None and spelled(node.sup) in STARS else None
    return spelled(Scripted(node.base, sub, sup, node.primes)) if sub or sup or node.primes else spelled(node.base)


def _is_index_list(node: Node) -> bool:
    found = index_parts(node)
    return all(LETTER.fullmatch(spelled(part)) or spelled(part).isdigit() for part in found)


def _use(found: Guesses, tree: Node, formula: Formula) -> None:
    for name, node in uses(tree):
        found.used.setdefault(name, []).append(node)
        if formula.display:
            found.displayed.add(name)


def _indices(found: Guesses) -> None:
    """Sizes for indices that have none yet: that of what they index, else the only size there is."""
    sizes = [symbol for symbol, each in found.lines.items() if each.meaning == "size"]
    for name, nodes in found.used.items():
        known = found.lines.get(found.names.get(name, ""))
        shape = known.meaning.split()[1:] if known and not known.meaning.startswith("=") else []
        shape = [each for each in shape if each not in ("vector", "matrix")]
        for node in nodes:
            if isinstance(node, Scripted) and node.sub is not None and _is_index_list(node.sub):
                for place, part in enumerate(index_parts(node.sub)):
                    letter = spelled(part).rstrip("'")
                    if LETTER.fullmatch(letter) and letter not in sizes:
                        size = shape[place] if place < len(shape) else ""
                        found.indices[letter] = found.indices.get(letter) or size
    for letter, size in found.indices.items():
        chosen = size or (sizes[0] if sizes else "")
        if not chosen:
            found.say("m", "size", "no size is named in the paper")
            chosen, sizes = "m", ["m"]
        if letter not in found.names:
            why = "a bound index" if size else f"an index without a range; {chosen} is the first size"
            found.say(letter.rstrip("'"), f"index {chosen}", why)


def _rest(found: Guesses, name: str, nodes: Sequence[Node]) -> None:
    """A symbol that nothing declares: by how it is written, else a question."""
    if name in found.names or name in operators.DEFAULT or name in RESERVED or name in PARTIAL[1:] or name == "e":
        return
    if name.startswith("\\mathbb") or (name == "\\pi" and not any(isinstance(node, Scripted | Product) for node in nodes)):
        return
    bare = name.rstrip("'")
    if bare != name and bare in found.names and found.lines[found.names[bare]].meaning.startswith("index"):
        return
    calls = [node for node in nodes if isinstance(node, Product)]
    if calls:
        bracket = calls[0].factors[1]
        assert isinstance(bracket, Bracket)
        if any(spelled(part) in found.indices for part in parts(bracket.inside)):
            joint = len(parts(bracket.inside)) > 1 and "|" not in spelled(bracket)
            found.say(spelled(calls[0]), "positive" if joint else "distribution", "a function of an index")
            for part in parts(bracket.inside):
                if spelled(part) not in found.indices and spelled(part) not in found.names:
                    found.say(spelled(part), "fixed", f"an argument of {name} that is no index")
            return
    indexed = [node for node in nodes if isinstance(node, Scripted) and node.sub is not None and _is_index_list(node.sub)]
    if indexed:
        first = indexed[0]
        assert isinstance(first, Scripted)
        assert first.sub is not None
        letters = [spelled(part).rstrip("'") for part in index_parts(first.sub)]
        shape = [found.lines[letter].meaning.split()[1] if letter in found.lines else "" for letter in letters]
        if all(shape) and len(shape) <= 2:
            kind = "interior" if name in DISTRIBUTIONS and len(shape) == 1 else "vector" if len(shape) == 1 else "matrix"
            found.say(name, f"{kind} {' '.join(shape)}", "its indices")
            return
    if name in POSITIVE:
        found.say(name, "positive", "a letter for positive numbers")
    elif len(name.lstrip("\\")) == 1 or name.startswith("\\"):
        found.say(name, "real", "nothing else is said of it")
    else:
        found.say(name, "?", "nothing is said of it")


def short(latex: str, most: int = 50) -> str:
    """The beginning of a formula, for comments."""
    return latex if len(latex) <= most else latex[:most].rstrip("\\ ") + " …"
