"""Several functions of one name that differ in their printed arguments: p(z), p(x|z), p(z|x), or p_i beside p_i(t)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from derivations.reader.syntax.names import called, parts, pattern, signature, split
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Bracket, LatexError, Listing, Node, Number, Product, spelled


def matching(
    name: str, call: Bracket, functions: Mapping[str, tuple[str, ...]], indices: Collection[str], labels: Collection[str]
) -> str:
    """Return the signature of the function that a call has the arguments of, among functions with their arguments.

    It is empty if there is none.  The printed letters decide, then what they stand for: p(z'|x) is p(z|x), for an index z and
    a label x.
    """
    if (exact := called(name, call)) in functions:
        return exact
    own = [key for key in functions if key.startswith(f"{name}(") and _takes(functions[key], key, call, indices, labels)]
    return own[0] if len(own) == 1 else ""


def _takes(names: Sequence[str], key: str, call: Bracket, indices: Collection[str], labels: Collection[str]) -> bool:
    """Return whether parentheses can hold the arguments of a function."""
    whole, printed = parse(key), parts(call.inside)
    declared = whole.factors[-1] if isinstance(whole, Product) else whole
    if not isinstance(declared, Bracket) or len(names) != len(printed) or _marks(declared.inside) != _marks(call.inside):
        return False
    return all(
        letter == spelled(part).rstrip("'")
        or (letter in indices and (spelled(part).rstrip("'") in indices or isinstance(part, Number)))
        or not ({letter, spelled(part)} & {*indices, *labels})
        for letter, part in zip(names, printed, strict=True)
    )


def check_order(name: str, names: Sequence[str], call: Bracket) -> None:
    """Raise LatexError for the letters of a conditional in another order: p(x|y) where the notation has p(y|x)."""
    printed = [spelled(part) for part in parts(call.inside)]
    if "|" in _marks(call.inside) and printed != [*names] and sorted(printed) == sorted(names):
        own, other = called(name, call), f"{name}({' | '.join(names)})"
        raise LatexError(f"{own}: can be another function than {other}, or the same at other letters; expected a line for it")


def _marks(node: Node) -> tuple[str, ...]:
    return node.separators if isinstance(node, Listing) else ()


def name_of(symbol: str) -> str:
    """Return the name that a line declares; the symbol itself if it cannot be read."""
    try:
        return pattern(symbol).name
    except LatexError:
        return symbol


def crowded(declarations: Mapping[str, Any]) -> set[str]:
    """Return the names that several lines declare; f_x with a vector x is a name of its own beside f(x)."""
    lines = [(symbol, str(meaning)) for symbols, meaning in declarations.items() for symbol in split(symbols)]
    indices = indices_of(declarations)
    counts = Counter(name_of(symbol) for symbol, meaning in lines if meaning.startswith("=") or not is_label(symbol, indices))
    return {name for name, count in counts.items() if count > 1}


def indices_of(*tables: Mapping[str, Any]) -> set[str]:
    """Return the symbols that tables declare as indices."""
    return {
        symbol
        for table in tables
        for symbols, meaning in table.items()
        for symbol in split(symbols)
        if str(meaning).removeprefix("fixed ").startswith("index ")
    }


def is_label(symbol: str, indices: Collection[str]) -> bool:
    """Return whether the subscript of a symbol is no index."""
    try:
        below = pattern(symbol).indices
    except LatexError:
        return False
    return any(each not in indices for each in below)


def key(symbol: str, names: Set[str]) -> str:
    """Return the name of a line, with its arguments if other lines declare the name, too."""
    name = name_of(symbol)
    return signature(symbol) if name in names and name != symbol and pattern(symbol).arguments else name
