"""Logarithms, exponentials and roots: how far they reach without parentheses, and what they require."""

from collections.abc import Callable

import sympy as sp

from derivations.calculus.defined import Condition, Sense
from derivations.reader.meaning.derivatives import starts_function
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.sums import is_big
from derivations.reader.meaning.values import Value, check_inverse, entrywise
from derivations.reader.syntax.tree import Bracket, LatexError, Node, Operator, Product, Scripted, spelled

FUNCTIONS = {
    "\\exp": sp.exp,
    "\\log": sp.log,
    "\\ln": sp.log,
    "\\mathrm{ln}": sp.log,
    "\\mathrm{log}": sp.log,
    "\\mathrm{exp}": sp.exp,
}


def requiring(reader: Reader, function: Callable[[sp.Expr], sp.Expr], sense: Sense) -> Callable[[sp.Expr], sp.Expr]:
    """Return a function that records what it requires of its argument."""

    def applied(x: sp.Expr) -> sp.Expr:
        reader.required[Condition(x, sense)] = None
        return function(x)

    return applied


def apply(reader: Reader, name: str, sup: Node | None, rest: list[Node]) -> Value:
    """Apply a function; without parentheses it takes one factor, or all that an operator applies to."""
    if not rest:
        raise LatexError(f"{name}: missing argument")
    function, first, before, original = FUNCTIONS[name], rest[0], len(rest), list(rest)
    check_inverse(name, sup)
    if isinstance(first, Scripted) and isinstance(first.base, Bracket) and first.sup is not None and first.base.kind != "‖‖":
        inside, power = spelled(first.base), spelled(first.sup)
        raise LatexError(
            f"{name}{spelled(first)}: expected parentheses, as it can mean ({name}{inside})^{{{power}}} or "
            f"{name}({inside}^{{{power}}})"
        )
    value = reader.next(rest)
    bracketed = isinstance(first, Bracket) or (isinstance(first, Scripted) and isinstance(first.base, Bracket))
    after = next((node for node in rest if not isinstance(node, Operator)), None)
    factor = after is not None and not starts_function(after) and not isinstance(rest[0], Operator)
    called = before - len(rest) > 1  # f(x) (…) is a product with a bracket
    divided = bool(rest) and rest[0] == Operator("/")
    if not bracketed and (divided or (factor and not (called and isinstance(after, Bracket)))):
        consumed, rest_of_it = spelled(Product(tuple(original[: before - len(rest)]))), spelled(Product(tuple(rest)))
        raise LatexError(
            f"{name} {consumed} {rest_of_it}: expected parentheses, as it can mean "
            f"{name}({consumed}) {rest_of_it} or {name}({consumed} {rest_of_it})"
        )
    if Operator("/") in original and is_big(first):
        raise LatexError(f"{name} {spelled(Product(tuple(original)))}: expected parentheses, as only the sum can be divided")
    checked = requiring(reader, function, Sense.POSITIVE) if function is sp.log else function
    return reader.scripts(entrywise(checked, value, what=name), None, sup, name)
