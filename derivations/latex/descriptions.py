"""What the words beside a symbol say of it: the reward r(y), a positive τ, a matrix Q with rows q_i, real values Q(a)."""

from __future__ import annotations

import re

from derivations.latex.guesses import Guesses
from derivations.latex.names import parts, thin
from derivations.latex.paper import Formula
from derivations.latex.tree import Bracket, Node, Product, Scripted, Symbol, spelled
from derivations.latex.uses import RESERVED, is_index_list


def is_value(found: Guesses, node: Node | None) -> bool:
    """Whether a part is Q(a), or r(x, y), the value of a function at an index."""
    call = node.factors[1] if isinstance(node, Product) and len(node.factors) == 2 else None
    return isinstance(call, Bracket) and any(spelled(part) in found.indices for part in parts(call.inside))


def value_of(found: Guesses, node: Node, meaning: str, why: str) -> None:
    """Q(a) ∈ ℝ, with labels where an argument is no index."""
    assert isinstance(node, Product)
    found.say(spelled(node), meaning, why)
    call = node.factors[1]
    for part in parts(call.inside) if isinstance(call, Bracket) else ():
        if isinstance(part, Symbol) and spelled(part) not in found.indices and spelled(part) not in found.names:
            found.say(spelled(part), "fixed", f"an argument of {spelled(node.factors[0])} that is no index")


DESCRIBED = {
    "a real": "real",
    "any real": "real",
    "be real": "real",
    "is real": "real",
    "a scalar": "real",
    "a positive": "positive",
    "be positive": "positive",
    "is positive": "positive",
    "an integer": "size",
}
LAWS = re.compile(r"(distributions?|probability vectors?)( … and)?$")
REWARDS = ("reward", "score", "logit", "utility", "energy", "cost", "loss", "action value", "return")


def described(found: Guesses, symbol: Node, formula: Formula, why: str) -> None:
    """c a real number, τ is positive, r(y) be the reward: what the words after a symbol say."""
    words = formula.after.removeprefix("be ").removeprefix("is ").strip()
    if is_value(found, symbol) and any(word in words[:30] for word in REWARDS):
        value_of(found, symbol, "real", f"{why} {words[:20]}")
    if LAWS.search(formula.words):
        found.distributions.add(spelled(symbol))
    if not isinstance(symbol, Symbol):
        return
    meaning = next((each for start, each in DESCRIBED.items() if f"{words} ".startswith(f"{start} ")), None)
    if meaning and symbol.name not in RESERVED:
        found.say(symbol.name, meaning, f"{why} {words[:20]}")


def lines_of(found: Guesses, tree: Node, formula: Formula, why: str) -> None:
    """Rows q_i and columns x_i, of a matrix that has the same letter as a capital."""
    if not (isinstance(tree, Scripted) and tree.sub is not None and is_index_list(tree.sub)):
        return
    name = spelled(tree.base)
    matrix = name.replace(thin(name), thin(name).upper())
    known = found.lines.get(matrix)
    kind = next((each for each in ("rows", "columns") if each in formula.words[-40:]), None)
    if kind and known is not None and known.meaning.split()[-3:-2] == ["matrix"] and name not in found.displayed:
        found.say(name, f"{kind} of {matrix}", f"{why}, after “{kind}”")
