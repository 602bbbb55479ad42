"""Losses of which a paper gives the gradient only: for g_j = ∂ℓ/∂p_j, ℓ has the first derivatives of Σ_j g_j p_j.

There g is constant: a formula that differentiates anything else that depends on g, or twice, is left open.
"""

from collections.abc import Iterator, Sequence

from derivations.papers.guesses.guesses import Gradient, Guess, Guesses
from derivations.reader.meaning.derivatives import PARTIAL
from derivations.reader.meaning.uses import declared_name, is_index_list, uses
from derivations.reader.syntax.names import index_parts, pattern
from derivations.reader.syntax.tree import Bracket, Fraction, Node, Operator, Product, Scripted, Sum, Symbol, spelled, walk
from derivations.reader.tex.paper import Formula

SIGNS = (*PARTIAL, "\\nabla")
KNOWN = "constant in the first derivatives of the loss"
UNKNOWN = "only the first derivatives of the loss are known"


def gradient(left: Node, right: Node, why: str) -> Gradient | None:
    """Read g_j = ∂ℓ/∂p_j, g = ∇_p ℓ, or minus these; None for anything else."""
    sign, term = right.terms[0] if isinstance(right, Sum) and len(right.terms) == 1 else ("+", right)
    factors = list(term.factors) if isinstance(term, Product) else []
    if isinstance(term, Fraction) and isinstance(term.over, Product) and isinstance(term.under, Product):
        factors = [*term.over.factors, Operator("/"), *term.under.factors]
    if factors and isinstance(factors[-1], Bracket):
        factors.pop()  # ∇_p ℓ(p)
    match factors:
        case [Symbol("\\partial"), loss, *call, Operator("/"), Symbol("\\partial"), by] if all(
            isinstance(each, Bracket) for each in call
        ):
            pass
        case [Scripted(Symbol("\\nabla"), Symbol() as by, None, 0), loss]:
            pass
        case _:
            return None
    named = isinstance(left, Symbol | Scripted) and isinstance(loss, Symbol) and isinstance(by, Symbol | Scripted)
    return Gradient(left, right, sign, spelled(loss), by, why) if named else None


def settle_losses(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Make g a vector and ℓ = Σ_j g_j p_j where p is defined and ℓ is not; else g_j = ∂ℓ/∂p_j is a definition."""
    for given in guesses.gradients:
        shape = _shape(guesses, given)
        if given.loss in guesses.names or shape is None:
            guesses.record(spelled(given.left), f"= {spelled(given.right)}", given.why)
            continue
        name, by = declared_name(given.left), declared_name(given.by)
        letters, sizes = zip(*shape, strict=True)
        guesses.record(name, f"{'vector' if len(sizes) == 1 else 'matrix'} {' '.join(sizes)}", f"{given.why}, {KNOWN}")
        sums = " ".join(rf"\sum_{{{letter} = 1}}^{{{size}}}" for letter, size in shape)
        below = f"_{{{' '.join(letters)}}}"
        minus = "- " if given.sign == "-" else ""
        body = f"= {minus}{sums} {name}{below} {_indexed(by, below)}"
        guesses.record(given.loss, body, f"{given.why}, in its first derivatives")
        for position, formula, tree in formulas:
            if formula.display and any(_goes_beyond(guesses, operand, given.loss, name) for operand in _operands(tree)):
                guesses.local.setdefault(("formula", position), {})[given.loss] = Guess("?", UNKNOWN)
                guesses.local["formula", position][name] = Guess("?", UNKNOWN)


def _shape(guesses: Guesses, given: Gradient) -> list[tuple[str, str]] | None:
    """Return indices and sizes of what the loss depends on, if it is defined by other symbols."""
    symbol = guesses.names.get(declared_name(given.by), "")
    line = guesses.lines.get(symbol)
    if line is None or not line.meaning.startswith("="):
        return None
    below = given.by.sub if isinstance(given.by, Scripted) else None
    own = tuple(map(spelled, index_parts(below))) if below is not None and is_index_list(below) else ()
    letters = pattern(symbol).indices or own
    sizes = [guesses.range_of(letter) for letter in letters]
    return list(zip(letters, sizes, strict=True)) if letters and len(letters) <= 2 and all(sizes) else None


def _indexed(name: str, below: str) -> str:
    """The entry of a symbol, which may have a superscript: p^{\\star} and _{j} as p_{j}^{\\star}."""
    base, mark, sup = name.partition("^")
    return f"{base}{below}{mark}{sup}"


def _operands(tree: Node) -> Iterator[tuple[Node | None, bool]]:
    """Yield what a formula differentiates, None if that stands elsewhere, and whether it does so once."""
    below = {id(node.under) for node in walk(tree) if isinstance(node, Fraction)}
    for node in walk(tree):
        if isinstance(node, Fraction) and spelled(node.over.base if isinstance(node.over, Scripted) else node.over) in SIGNS:
            yield None, False
        for at, factor in enumerate(node.factors if isinstance(node, Product) and id(node) not in below else ()):
            base, sup = (factor.base, factor.sup) if isinstance(factor, Scripted) else (factor, None)
            slashed = at > 0 and isinstance(node, Product) and node.factors[at - 1] == Operator("/")
            if spelled(base) in SIGNS and not slashed and isinstance(node, Product):
                yield (node.factors[at + 1] if at + 1 < len(node.factors) else None), sup is None


def _goes_beyond(guesses: Guesses, operand: tuple[Node | None, bool], loss: str, name: str) -> bool:
    """Return whether a derivative is another one than a first derivative of the loss, of something that depends on it."""
    differentiated, once = operand
    if differentiated is None:
        return True
    symbols = {symbol for symbol, _ in uses(differentiated)}
    return not (symbols == {loss} and once) and bool(guesses.behind(symbols) & {loss, name})
