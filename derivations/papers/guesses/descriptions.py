"""Read the words beside a symbol: the reward r(y), a positive τ, a matrix Q with rows q_i, real values Q(a)."""

import re

from derivations.papers.guesses.guesses import Guesses, narrows
from derivations.reader.meaning.uses import RESERVED, is_index_list
from derivations.reader.syntax.names import parts, thin
from derivations.reader.syntax.tree import EMPTY, Bracket, Chain, Node, Product, Scripted, Symbol, spelled
from derivations.reader.tex.paper import Formula


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
    r"(?=[\s.,;:]|$)"
)
FULL_SUPPORT = ("full support", "positive entries", "strictly positive", "positive probabilit", "positive distribution")
INSIDE = (*FULL_SUPPORT, "interior", "open simplex", "positive weights", "positive masses", "nonzero entries")
STOCHASTIC = re.compile(
    r"(?:an?|another|any|the|be|is|\W)*\b(row-|column-|doubly[ -])?stochastic(?= matri|\W*$|[,.;:]| and | with )"
)
LAWS = re.compile(r"(?<!of the )(?<!of a )(distributions?|probability vectors?)( … and)?$")
LAWS_AFTER = re.compile(
    r"(?:and … )?(?:be |is |are )?(?:an? |any |two |the )?(?:arbitrary |strictly |positive |probability |discrete )*"
    r"(?:distributions?|probability vectors?)\b"
    r"(?: (?:on|over|with support)(?: the)?(?: set| alphabet| states| actions)? …)?"
    r"(?:,? (?:with|of|having|that have|which have) (?:all |strictly )?(?:positive|full|nonzero) \w+)?"
)
IN_SIMPLEX = re.compile(
    r"\W*(be |is |are |lies? )?((in|on) the )?(relative |open )*(interior of the )?"
    r"(open |probability |unit |standard )*simplex\b"
)
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


LINES_BEFORE = re.compile(r"(?:the|as|are|being) (rows|columns) of(?: the| a| an)?(?: \w+)?(?: matrix)?$")


def lines_before(guesses: Guesses, before: Node, tree: Node, formula: Formula, why: str) -> None:
    """Read “$x_1, \\dots, x_M \\in \\mathbb{R}^D$, the columns of $X$”, where `before` is the formula before the words."""
    *_, end = (EMPTY, *parts(before))
    last = end.parts[0] if isinstance(end, Chain) else end
    said = LINES_BEFORE.search(formula.words)
    matrix = tree.parts[0] if isinstance(tree, Chain) and tree.signs == ("\\in",) else tree
    if said and isinstance(last, Scripted) and last.sub is not None and isinstance(matrix, Symbol):
        guesses.matrices[spelled(last.base)] = (said[1], matrix.name, why)


def settle_lines(guesses: Guesses) -> None:
    """Make vectors the rows or columns of a matrix: where the words say so, and where only their case differs.

    The x_i of an N×D matrix are the rows of a matrix X of this shape, or the columns of one of the shape D×N, if D is not N.
    """
    for name, line in list(guesses.lines.items()):
        shape = line.meaning.split()[1:] if line.meaning.startswith("matrix ") else []
        capital = name.replace(thin(name), thin(name).upper())
        kind, matrix, why = guesses.matrices.get(name, ("", capital, "the letter of its rows or columns"))
        whole = guesses.lines.get(matrix)
        other = whole.meaning.split()[1:] if whole is not None and whole.meaning.startswith("matrix ") else []
        if matrix == name or not shape or (not kind and (shape[0] == shape[1] or len(thin(name)) != 1)):
            continue
        if kind != "columns" and other == shape:
            line.meaning, line.why = f"rows of {matrix}", f"{line.why}; {why}"
        elif kind != "rows" and other == shape[::-1]:
            line.meaning, line.why = f"columns of {matrix}", f"{line.why}; {why}"


def settle_bold(guesses: Guesses) -> None:
    """Declare a vector under its bold name if only its entries are printed thin: w_i ≥ 0 of \\mathbf{w}."""
    for name, nodes in list(guesses.used.items()):
        plain = thin(name)
        line = guesses.lines.get(plain)
        entries = all(isinstance(node, Scripted) and node.sub is not None for node in guesses.used.get(plain, ()))
        known = guesses.lines.get(name, line) if line is not None else None
        if plain == name or line is None or known is None or not nodes or not entries:
            continue
        vector = line.meaning.split()[-2:-1] in (["vector"], ["simplex"], ["interior"])
        if vector and (known.meaning == line.meaning or narrows(line.meaning, known.meaning)):
            del guesses.lines[plain], guesses.names[plain]
            guesses.homes[name] = guesses.homes.pop(plain)
            guesses.names[name], guesses.lines[name] = name, line


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
