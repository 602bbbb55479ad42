"""Read the words beside a symbol: the reward r(y), a positive τ, a matrix Q with rows q_i, real values Q(a)."""

from __future__ import annotations

import re

from derivations.latex.guesses import Guesses
from derivations.latex.names import parts, thin
from derivations.latex.paper import Formula
from derivations.latex.tree import Bracket, Chain, Node, Product, Scripted, Symbol, spelled
from derivations.latex.uses import RESERVED, is_index_list


def is_value(guesses: Guesses, node: Node | None) -> bool:
    """Return whether a part is the value of a function at an index, such as Q(a) or r(x, y)."""
    call = node.factors[1] if isinstance(node, Product) and len(node.factors) == 2 else None
    return isinstance(call, Bracket) and any(spelled(part) in guesses.indices for part in parts(call.inside))


def value_of(guesses: Guesses, node: Node, meaning: str, why: str) -> None:
    """Record Q(a) ∈ ℝ, and a label for each argument that is not an index."""
    assert isinstance(node, Product)
    guesses.record(spelled(node), meaning, why)
    call = node.factors[1]
    for part in parts(call.inside) if isinstance(call, Bracket) else ():
        if isinstance(part, Symbol) and spelled(part) not in guesses.indices and spelled(part) not in guesses.names:
            guesses.record(spelled(part), "fixed", f"an argument of {spelled(node.factors[0])} that is no index")


DESCRIBED = re.compile(
    r"(?:an? |any )?(?:(?P<size>(?:positive )?integer)|(?P<positive>positive(?! (?:semi-?)?definite))|(?P<real>real|scalar))"
    r"(?=[\s.,;:]|$)")
FULL_SUPPORT = ("full support", "positive entries", "strictly positive", "positive probabilit", "positive distribution")
INSIDE = (*FULL_SUPPORT, "interior", "open simplex", "positive weights", "positive masses", "nonzero entries")
STOCHASTIC = re.compile(
    r"(?:an?|another|any|the|be|is|\W)*\b(row-|column-|doubly[ -])?stochastic(?= matri|\W*$|[,.;:]| and | with )")
LAWS = re.compile(r"(?<!of the )(?<!of a )(distributions?|probability vectors?)( … and)?$")
LAWS_AFTER = re.compile(
    r"(?:and … )?(?:be |is |are )?(?:an? |any |two |the )?(?:arbitrary |strictly |positive |probability |discrete )*"
    r"(?:distributions?|probability vectors?)\b"
    r"(?: (?:on|over|with support)(?: the)?(?: set| alphabet| states| actions)? …)?"
    r"(?:,? (?:with|of|having|that have|which have) (?:all |strictly )?(?:positive|full|nonzero) \w+)?")
IN_SIMPLEX = re.compile(
    r"\W*(be |is |are |lies? )?((in|on) the )?(relative |open )*(interior of the )?"
    r"(open |probability |unit |standard )*simplex\b")
REWARDS = ("reward", "score", "logit", "utility", "energy", "cost", "loss", "action value", "return")


def described(guesses: Guesses, symbol: Node, formula: Formula, why: str) -> None:
    """Read the words after a symbol: “c a real number”, “τ is positive”, “r(y) be the reward”."""
    words = formula.after.removeprefix("be ").removeprefix("is ").strip()
    _law(guesses, symbol, formula)
    if is_value(guesses, symbol) and any(word in words[:30] for word in REWARDS):
        value_of(guesses, symbol, "real", f"{why} {words[:20]}")
    if match := STOCHASTIC.match(words):
        name = symbol.parts[0] if isinstance(symbol, Chain) and symbol.signs[0] == "\\in" else symbol
        guesses.stochastic[spelled(name)] = match[1] or "row-"
    said = DESCRIBED.match(words)
    if said and said.lastgroup and isinstance(symbol, Symbol) and symbol.name not in RESERVED:
        guesses.record(symbol.name, said.lastgroup, f"{why} {words[:20]}")


def _law(guesses: Guesses, symbol: Node, formula: Formula) -> None:
    """Note names that the words call distributions or points of the simplex, and whether all entries are positive."""
    after = LAWS_AFTER.match(formula.rest) or IN_SIMPLEX.match(formula.rest)
    heads = [each.parts[0] if isinstance(each, Chain) and each.signs == ("\\in",) else each for each in parts(symbol)]
    names = {spelled(head) for head in heads if head is not None}
    if after:
        guesses.laws |= names
    if after or LAWS.search(formula.words):
        guesses.distributions |= names
        if any(words in f"{formula.words[-30:]} {after[0] if after else ''}" for words in INSIDE):
            guesses.interior |= names


def lines_of(guesses: Guesses, tree: Node, formula: Formula, why: str) -> None:
    """Record rows q_i or columns x_i of the matrix named by the same letter as a capital."""
    if not (isinstance(tree, Scripted) and tree.sub is not None and is_index_list(tree.sub)):
        return
    name = spelled(tree.base)
    matrix = name.replace(thin(name), thin(name).upper())
    known = guesses.lines.get(matrix)
    kind = next((each for each in ("rows", "columns") if each in formula.words[-40:]), None)
    if kind and known is not None and known.meaning.split()[-3:-2] == ["matrix"] and name not in guesses.displayed:
        guesses.record(name, f"{kind} of {matrix}", f"{why}, after “{kind}”")
