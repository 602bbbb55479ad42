"""Conditions that the text puts on a displayed formula: “If p = q, then …”, “For α = 2, …”."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derivations.papers.guesses.guesses import Guess, Guesses, without_length
from derivations.papers.guesses.norms import lengths
from derivations.papers.guesses.signs import COMPARISONS
from derivations.reader.meaning.sums import binds
from derivations.reader.meaning.uses import declared_name, is_problem, short, uses
from derivations.reader.syntax.names import pattern
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Bracket, Chain, LatexError, Node, Number, Product, Scripted, Symbol, spelled, walk
from derivations.reader.tex.paper import Formula

CONDITION = re.compile(r"(if|when|whenever|assume|assuming|suppose|for|at|with|provided|in the case)\b", re.IGNORECASE)
ASSUMPTION = re.compile(r"(assume|suppose)\b", re.IGNORECASE)
CONSEQUENCE = re.compile(r"[.;]\s+(then|thus|hence|so|it follows|in this case|we have)\b", re.IGNORECASE)
UPDATE = re.compile(r"\b(update|step|iteration|assignment)s?( \w+){0,2}( is| are| reads?| becomes?| sets?)?:?$")
CASE = re.compile(r"(if|when|whenever|suppose|in the case)\b", re.IGNORECASE)
RANGING = re.compile(r"for( all| any| every| each)?\b", re.IGNORECASE)
RESTRICTING = re.compile(
    r"\b(let|with|where|such that|so that|assum\w+|suppos\w+|satisf\w+|given|subject to|throughout|"
    r"normali[sz]ed|fix|consider|take|set|setting|from now on|henceforth|impos\w+|requir\w+|choos\w+)\b",
    re.IGNORECASE,
)
CASES = re.compile(r"\b(if|iff|when|whenever|unless|equality|exactly)\b", re.IGNORECASE)
DEFINING = re.compile(r"\W*(we )?(let|define|put|set|write|denote)\b")
SENTENCE_START = re.compile(r"[.;!?]\s|^")
EACH = r"( that| all| any| every| each| distinct| fixed| some| indices| keys)*"
BEHIND = re.compile(rf",?\s*(for|if|when|whenever|provided|as long as){EACH}")
IN_FRONT = re.compile(rf"(?:^|\W)(?<!only )(for|if|when|whenever|provided){EACH}$", re.IGNORECASE)
DECLARING = ("\\in", ":", "\\sim")
AGAIN = "which declares it again"
FREE = ("real", "positive", "nonnegative", "vector", "matrix", "simplex", "interior")


def read_premises(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Give the displays that follow “If x = …” in its sentence the meaning x = …, and any other condition as it is printed.

    So does “…, for j ≠ k” with the display before it, and what words say of the values in a sentence.
    """
    for at, (_, formula, tree) in enumerate(formulas):
        for condition in () if formula.display else guesses.said.get((formula.line, formula.latex), ()):
            own = parse(condition)
            displays = [each for each, other, _ in formulas[at + 1 : at + 1 + formula.rest.count("…")] if other.display]
            if isinstance(own, Chain):
                _attach(guesses, own, replace(formula, latex=condition), displays)
        if formula.display or not isinstance(tree, Chain) or set(tree.signs) & {*DECLARING}:
            continue
        just_before = formula.words.rpartition("…")[2].strip()
        if at and formulas[at - 1][1].display and BEHIND.fullmatch(just_before):
            _attach(guesses, tree, formula, [formulas[at - 1][0]])
            continue
        if not is_condition(formula) and not is_in_front(formula):
            continue
        end = at + 1 + formula.rest.count("…")
        following = formulas[end][1].words.rpartition("…")[2].strip() if end < len(formulas) else ""
        if is_condition(formula, ASSUMPTION) and CONSEQUENCE.match(following):
            end += 1 + formulas[end][1].rest.count("…")  # “Suppose that x = …. Then …”
        if displays := [position for position, other, _ in formulas[at + 1 : end] if other.display]:
            _attach(guesses, tree, formula, displays)


def drop_powers(guesses: Guesses) -> None:
    """Drop the definition σ² = … where σ has other uses, too: it is an equation for σ."""
    for symbol in [each for each, line in guesses.lines.items() if line.meaning.startswith("=") and "^" in each]:
        node = parse(symbol)
        if not isinstance(node, Scripted) or not isinstance(node.sup, Number):
            continue
        name = declared_name(node)
        if name in guesses.names or any(not isinstance(use, Scripted) or use.sup != node.sup for use in guesses.used[name]):
            del guesses.lines[symbol]
            own = next(each for each, where in guesses.names.items() if where == symbol)
            del guesses.names[own]
            guesses.defining = {at: each for at, each in guesses.defining.items() if each != own}


def read_updates(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Leave displays open that give a variable a value, u = …: they assert nothing of every u.

    The words call them updates, or the variable is free and the other side has none of it, as in “It vanishes at u = …”.
    """
    for position, formula, tree in formulas:
        if not formula.display or not isinstance(tree, Chain) or tree.signs[0] != "=":
            continue
        known = guesses.lines.get(name := symbol_name(tree.parts[0]))
        if known is None or known.meaning.startswith("="):
            continue
        local = guesses.local.setdefault(("formula", position), {})
        if UPDATE.search(formula.words):
            local[name] = Guess("?", "assigned by an update")
        elif name not in local and _is_determined(guesses, name, known.meaning, tree.parts[1]):
            local[name] = Guess("?", "a free variable, to which this equation gives a value")


def _is_determined(guesses: Guesses, name: str, meaning: str, other: Node | None) -> bool:
    """Return whether an equation gives a free variable, or an entry of one, a value: the other side does not depend on it."""
    if other is None or is_problem(other) or without_length(meaning).split()[0] not in FREE:
        return False
    others = {symbol for symbol, _ in uses(other)}
    return bool(others) and name not in guesses.behind(others)


def unread(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> Iterator[Formula]:
    """Yield the statements of the text that no meaning and no condition of an equation comes from."""
    tables = [guesses.lines, *guesses.local.values()]
    sources = {(symbol_name(parse(symbol)), line.why, line.meaning) for table in tables for symbol, line in table.items()}
    conditions = {each for premises in guesses.premises.values() for each in premises}
    for _, formula, tree in formulas:
        if formula.display or not isinstance(tree, Chain) or set(tree.signs) - {"=", *COMPARISONS}:
            continue
        domain = f"line {formula.line}: ${short(formula.latex)}$"
        declared = any(
            why.startswith(domain) or (name == symbol_name(tree.parts[0]) and _is_of(formula, tree, why, meaning))
            for name, why, meaning in sources
        )
        if not declared and formula.latex not in guesses.read | conditions:
            yield formula


def _is_of(formula: Formula, tree: Chain, why: str, meaning: str) -> bool:
    """Return whether the meaning of a symbol comes from a statement about it, and not from another one in its line."""
    line, _, rest = why.partition(",")
    if line != f"line {formula.line}":
        return False
    if tree.signs[0] != "=":
        return rest.strip() == AGAIN
    return not meaning.startswith("=") or meaning.startswith(f"= {spelled(tree.parts[1])}")


def is_restriction(formula: Formula) -> bool:
    """Return whether a sentence sets conditions, as “Let …, with …” does and “with equality if …” does not."""
    sentence = SENTENCE_START.split(formula.words)[-1]
    return bool(RESTRICTING.search(sentence)) and not CASES.search(sentence)


def is_condition(formula: Formula, words: re.Pattern[str] = CONDITION) -> bool:
    """Return whether the sentence of a formula begins with a word such as “If”, before it or before formulas joined to it."""
    sentence = SENTENCE_START.split(formula.words)[-1].strip(" …,")
    just_before = formula.words.rpartition("…")[2].strip()
    return bool(words.match(sentence)) or (bool(words.match(just_before)) and just_before[0].isupper())


def is_of_sentence(formula: Formula) -> bool:
    """Return whether a sentence says something for some values, as “For positive t we have …” does, and defines nothing."""
    return is_condition(formula, RANGING) and not DEFINING.match(formula.rest)


def say(guesses: Guesses, formula: Formula, conditions: Sequence[str]) -> None:
    """Note conditions that words state of the symbols of a formula, in its sentence."""
    guesses.said.setdefault((formula.line, formula.latex), []).extend(conditions)
    guesses.restrictions += [(formula.line, condition) for condition in conditions]


def is_in_front(formula: Formula) -> bool:
    """Return whether the words just before a formula are “for all” or “if”."""
    return IN_FRONT.search(formula.words.rpartition("…")[2].strip()) is not None


def _attach(guesses: Guesses, tree: Chain, formula: Formula, displays: Sequence[int]) -> None:
    left, right = tree.parts[0], tree.parts[-1]
    if left is None or right is None or _is_mass(left):
        return
    if formula.latex in guesses.assumed:
        for display in displays:
            _assume_marginal(guesses, display, formula)
        return
    name = symbol_name(left)
    known = guesses.lines.get(guesses.names.get(name, ""))
    meaning = known.meaning if known is not None else ""
    defined = len(tree.parts) == 2 and guesses.names.get(name) == spelled(left) and meaning == f"= {spelled(right)}"
    if defined or _implied(meaning, tree.signs, spelled(right)):
        return  # it was read as a declaration
    size = meaning == "size" and spelled(right).isdigit()
    free = name and name not in guesses.indices and not meaning.startswith(("=", "size", "index"))
    if tree.signs == ("=",) and (size or free):
        axes = meaning.split()[-1:] if isinstance(right, Number) and meaning.split()[-2:-1] == ["vector"] else []
        ones = f" \\mathbf{{1}}_{{{axes[0]}}}" if axes and isinstance(left, Symbol) else ""  # g = 0 of a vector
        symbol, own = (name, f"size = {spelled(right)}") if size else (spelled(left), f"= {spelled(right)}{ones}")
        for display in displays:
            local = guesses.local.setdefault(("formula", display), {})
            local[symbol] = Guess(own, f"line {formula.line}, which restricts this equation")
    elif units := lengths(guesses, tree):
        for display in displays:
            local = guesses.local.setdefault(("formula", display), {})
            local.update({name: Guess(own, f"line {formula.line}, which restricts this equation") for name, _, own in units})
    else:
        for display in displays:
            guesses.premises.setdefault(display, []).append(formula.latex)


def _assume_marginal(guesses: Guesses, display: int, formula: Formula) -> None:
    """Make a matrix a coupling in a display once both of its marginals are assumed there; one alone is a condition."""
    matrix, _, _ = guesses.assumed[formula.latex]
    premises = guesses.premises.setdefault(display, [])
    before = {
        side: (latex, law)
        for latex, (of, side, law) in guesses.assumed.items()
        if of == matrix and latex in (*premises, formula.latex)
    }
    known = guesses.lines.get(matrix)
    if len(before) < 2 or known is None or not known.meaning.startswith("nonnegative matrix"):
        premises.append(formula.latex)
        return
    guesses.premises[display] = [each for each in premises if each not in {latex for latex, _ in before.values()}]
    why = f"line {formula.line}, which restricts this equation"
    laws = " ".join(before[side][1] for side in ("rows", "columns"))
    guesses.local.setdefault(("formula", display), {})[matrix] = Guess(f"coupling {laws}", why)


def _is_mass(left: Node) -> bool:
    """Return whether a side is a sum, Σ_k p_k = 1, which `masses` reads."""
    return isinstance(left, Product) and any(binds(left.factors[0], spelled(part)) for part in walk(left))


def _implied(meaning: str, signs: Sequence[str], number: str) -> bool:
    """Return whether a domain implies a comparison with a number."""
    sign = COMPARISONS.get(signs[0], "") if len(signs) == 1 else ""
    above = {">": ("positive", "interior"), ">=": ("positive", "interior", "nonnegative", "simplex", "stochastic")}
    signed = number == "0" and meaning.startswith(above.get(sign, ()))
    return bool(sign) and (signed or f"{sign} {number}" in meaning)


def symbol_name(node: Node | None) -> str:
    """Return the name of a symbol, an entry or a value f(x); empty for anything else."""
    called = isinstance(node, Product) and len(node.factors) == 2 and isinstance(node.factors[1], Bracket)
    if not called and not isinstance(node, Symbol | Scripted):
        return ""
    try:
        return pattern(spelled(node)).name
    except LatexError:
        return ""
