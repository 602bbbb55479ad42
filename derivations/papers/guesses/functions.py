"""Guess functions: several of one name, p(z) and p(x|z); functions of indices; own divergences; F' that is no derivative."""

from collections.abc import Sequence, Set
from itertools import combinations, pairwise

from derivations.papers.guesses.guesses import Guesses
from derivations.reader.meaning.uses import declared_name, uses
from derivations.reader.syntax.names import called, parts
from derivations.reader.syntax.tree import Bracket, Listing, Node, Product, Scripted, Sum, Symbol, spelled, walk

WEIGHTS = ("p", "q", "\\pi", "w", "\\rho", "\\mu", "\\nu", "P")  # letters for distributions that are written q(z)
DIVERGENCES = ("D", "\\mathrm{D}", "\\mathbb{D}", "\\mathcal{D}", "\\mathsf{D}")
LOGARITHMS = {"\\log", "\\ln"}


def divergences(trees: Sequence[Node]) -> set[str]:
    """Return the names D under which D(q‖p) is written."""
    pairs = (pair for tree in trees for node in walk(tree) if isinstance(node, Product) for pair in pairwise(node.factors))
    return {
        one.name
        for one, call in pairs
        if isinstance(one, Symbol)
        and one.name in DIVERGENCES
        and isinstance(call, Bracket)
        and isinstance(call.inside, Listing)
        and call.inside.separators == ("‖",)
    }


def several_functions(trees: Sequence[Node]) -> dict[str, list[str]]:
    """Return the names that stand for several functions, as p does in p(z), p(x|z) and p(z|x), with a signature for each.

    At least one has a bar.  Letters that occur in one signature play different roles: p(x) is not p(z) at x.
    """
    found: dict[str, list[tuple[str, ...]]] = {}
    for name, node in ((name, node) for tree in trees for name, node in uses(tree) if isinstance(node, Product)):
        bracket = node.factors[1]
        assert isinstance(bracket, Bracket)
        marks = "".join(bracket.inside.separators) if isinstance(bracket.inside, Listing) else ""
        shape = (called(name, bracket), marks, *(spelled(part).rstrip("'") for part in parts(bracket.inside)))
        if shape not in found.setdefault(name, []):
            found[name].append(shape)
    result: dict[str, list[str]] = {}
    for name, shapes in found.items():
        together = {frozenset(pair) for _, _, *letters in shapes for pair in combinations(letters, 2)}
        groups: list[tuple[str, ...]] = []
        for shape in shapes:
            if not any(_is_same_function(shape, other, together) for other in groups):
                groups.append(shape)
        if len(groups) > 1 and any("|" in marks for _, marks, *_ in shapes):
            result[name] = [own for own, *_ in groups]
    return result


def _is_same_function(one: Sequence[str], other: Sequence[str], together: Set[frozenset[str]]) -> bool:
    (_, marks, *letters), (_, other_marks, *others) = one, other
    pairs = zip(letters, others, strict=False)
    return (
        marks == other_marks
        and len(letters) == len(others)
        and all(a == b or frozenset((a, b)) not in together for a, b in pairs)
    )


def guess_function(guesses: Guesses, name: str, call: Product) -> None:
    """Guess a function of indices: p(y|x) is a distribution for an index y, and positive for an index x behind the bar only."""
    bracket = call.factors[1]
    assert isinstance(bracket, Bracket)
    inside = bracket.inside
    ahead = parts(inside.parts[0]) if isinstance(inside, Listing) and inside.separators == ("|",) else parts(inside)
    joint = len(parts(inside)) > 1 and "|" not in spelled(bracket)
    behind = all(spelled(part) not in guesses.indices for part in ahead)
    likely = name.startswith(WEIGHTS)
    meaning = "positive" if (joint or behind) and likely else "distribution" if likely else "?"
    guesses.record(spelled(call), meaning, "a function of an index" if likely else "real? positive? distribution?")
    for part in parts(inside):
        if spelled(part) not in guesses.indices and spelled(part) not in guesses.names:
            guesses.record(spelled(part), "fixed", f"an argument of {name} that is no index")


def guess_functions(guesses: Guesses, name: str, nodes: Sequence[Node]) -> None:
    """Guess each function of a name that several share; one without an index is a question."""
    for own in guesses.crowded[name]:
        calls = [node for node in nodes if isinstance(node, Product) and guesses.function(name, spelled(node)) == own]
        if own in guesses.names or not calls:
            continue
        bracket = calls[0].factors[1]
        assert isinstance(bracket, Bracket)
        if any(spelled(part) in guesses.indices for part in parts(bracket.inside)):
            guess_function(guesses, name, calls[0])
        else:
            guesses.record(spelled(calls[0]), "?", "one of several functions of this name")


def is_modified(left: Node, right: Node) -> bool:
    """Return whether H(P) = −Σ P_ij (log P_ij − 1) or KL(P ‖ K) = Σ (P log P/K − P + K) is not what the name usually means.

    A term without a logarithm stands beside one with the logarithm of an argument, or no sum does, as in H(λ).
    """
    arguments = {declared_name(node) for node in arguments_of(left)} if isinstance(left, Product) else set()
    terms = [[term for _, term in node.terms] for node in walk(right) if isinstance(node, Sum) and len(node.terms) > 1]
    summed = any(spelled(node) == "\\sum" for node in walk(right))
    for names in ([_symbols(term) for term in each] for each in terms):
        own = any(inside & LOGARITHMS and inside & arguments for inside in names)
        if own and (not summed or not all(inside & LOGARITHMS for inside in names)):
            return True
    return False


def _symbols(term: Node) -> set[str]:
    return {declared_name(node) for node in walk(term) if isinstance(node, Symbol | Scripted)}


def arguments_of(call: Product) -> tuple[Node, ...]:
    """Return the arguments of f(x, y); none of a product without parentheses at its end."""
    bracket = call.factors[-1]
    return tuple(parts(bracket.inside)) if isinstance(bracket, Bracket) else ()


def is_another(guesses: Guesses, name: str, body: Node) -> bool:
    """Return whether F'(x) = … x' … defines another F, that of x', instead of stating what the derivative of F is."""
    primed = {symbol for symbol, node in uses(body) if symbol.endswith("'") and isinstance(node, Symbol | Scripted)}
    return any(each != name and each.rstrip("'") not in guesses.called | {*guesses.indices} for each in primed)
