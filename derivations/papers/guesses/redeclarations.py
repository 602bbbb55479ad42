"""A letter that the text declares again: p = softmax(s), then “for every p in the simplex”; x > 0, then “let x be real”.

The first meaning would restrict what is said of every p, so the displays that are meant get the domain as a local meaning.
So do displays before a sentence that makes a domain smaller: “let x be real. Then …. Now let x > 0.”
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from derivations.papers.guesses.guesses import Guess, Guesses, narrows
from derivations.papers.guesses.premises import AGAIN
from derivations.papers.guesses.sets import domain_of
from derivations.papers.guesses.signs import COMPARISONS, NUMBER, signed
from derivations.reader.meaning.clauses import flat, without_words
from derivations.reader.meaning.uses import uses
from derivations.reader.syntax.overloads import name_of
from derivations.reader.syntax.tree import Chain, Node, Product, Scripted, Symbol, spelled, walk
from derivations.reader.tex.paper import Formula

QUANTIFIED = re.compile(r"\b(?:any|every|all|each|arbitrary|where)(?: [a-z-]+){0,3}[ …,]*$", re.IGNORECASE)
GENERAL = re.compile(r"\b(?:general|arbitrary)(?: [a-z-]+){0,2}$", re.IGNORECASE)
SIGNS = {">": "positive", ">=": "nonnegative"}
REDEFINED = re.compile(
    r"\b(redefin\w+|from now on|henceforth|now (define|set|let|denote|write))\b[^.]*$"
    r"|\b(generali[sz]e|extend|modify|change)[sd]?\b[^.]*\bto\b[^.]*$"
    r"|\bthe (new|modified|generali[sz]ed|extended) (\w+ ){1,3}(is|reads|becomes)( now| then)?$",
    re.IGNORECASE,
)
DENOTES = re.compile(r"\bdenotes?\b[^.]*$", re.IGNORECASE)
RECALLED = re.compile(r"\b(recall|where|also|again|equivalent\w*|remember)\b[^.]*$", re.IGNORECASE)
EQUAL = ("=", ":=", "\\coloneqq", "\\triangleq")
STANDING_EVERYWHERE = re.compile(r"\b(throughout|always|everywhere)\b[^.]*$", re.IGNORECASE)
STANDING = re.compile(r"\b(?:let|fix|take|consider|given|another|denote by)(?: [a-z-]+){0,3}[ …,]*$", re.IGNORECASE)


def read_redeclarations(
    guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]], history: Sequence[Mapping[str, str]]
) -> None:
    """Give a letter another domain where the text says that it is arbitrary, or declares it again.

    “For every p” holds in its display, or in the displays of its sentence; “let p” in all that follow in its section, up to
    the next statement about p.
    """
    for at, (position, formula, tree) in enumerate(formulas):
        for name, chain in _declared(formula, tree):
            known = guesses.lines.get(guesses.names.get(name, ""))
            if known is None or guesses.defining.get(position) == name:
                continue
            meaning = _domain(guesses, chain, known.meaning, f"line {formula.line}")
            if meaning is None or meaning.startswith("index"):
                continue
            signed_elsewhere = chain.signs != ("\\in",) and guesses.homes.get(name) != formula.section
            again = signed_elsewhere or _is_again(meaning, known.meaning, history[at - 1] if at else {}, name)
            if not known.meaning.startswith("=") and not (again and meaning != known.meaning):
                continue
            end = at + 1 + formula.rest.count("…")
            meaning = _refined(name, meaning, [tree for _, each, tree in formulas[at + 1 : end] if not each.display])
            standing = STANDING.search(formula.words) is not None
            stop = next((other for other in range(end, len(formulas)) if _restates(name, *formulas[other][1:])), len(formulas))
            after = [own for own, each, _ in formulas[at + 1 : stop] if each.display and each.section == formula.section]
            sentence = [own for own, each, _ in formulas[at + 1 : end] if each.display]
            for display in [position] if formula.display else after if standing else sentence:
                local = guesses.local.setdefault(("formula", display), {})
                local.setdefault(name, Guess(meaning, f"line {formula.line}, {AGAIN}"))
        _release(guesses, formulas, at, history)


def _release(
    guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]], at: int, history: Sequence[Mapping[str, str]]
) -> None:
    """Give b the domain that it had before “let b ≥ 0” in the sentence of “for general b”."""
    _, formula, tree = formulas[at]
    name = _in_general(formula, tree)
    domains = [known[name] for known in history[:at] if name in known]
    wider = next((each for each in domains if narrows(domains[-1], each)), None)
    for position, each, _ in formulas[at + 1 : at + 1 + formula.rest.count("…")] if wider else ():
        if each.display:
            local = guesses.local.setdefault(("formula", position), {})
            local.setdefault(name, Guess(wider or "", f"line {formula.line}, which takes it in general"))


def read_redefinitions(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Give a letter that the text redefines its new definition in the displays that follow in the section.

    After “Z denotes”, which may recall the old one, it has none there.
    """
    for at, (position, formula, tree) in enumerate(formulas):
        for chain in flat(tree):
            if not isinstance(chain, Chain) or not isinstance(chain.parts[0], Symbol | Scripted | Product):
                continue
            if chain.signs[0] not in EQUAL or position in guesses.defining or not spelled(chain.parts[0]):
                continue
            symbol, meaning = spelled(chain.parts[0]), f"= {spelled(chain.parts[1])}"
            known = guesses.lines.get(guesses.names.get(name_of(symbol), ""))
            if known is None or known.meaning[0] != "=" or known.meaning == meaning:
                continue
            elsewhere = guesses.homes[name_of(symbol)] != formula.section and STANDING.search(formula.words) is not None
            again = elsewhere or REDEFINED.search(formula.words) is not None
            denotes = DENOTES.search(formula.words) or formula.rest.lstrip(" ,").startswith("denote")
            if not again and (not denotes or RECALLED.search(formula.words)):
                continue
            for display, each, _ in formulas[at if again else at + 1 :]:
                if each.display and each.section == formula.section:
                    local = guesses.local.setdefault(("formula", display), {})
                    local[symbol] = Guess(meaning if again else "?", f"line {formula.line}, which defines it again")


def read_narrowings(
    guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]], history: Sequence[Mapping[str, str]]
) -> None:
    """Give displays the domains that their letters have at the end of their sentence, if a later one makes these smaller.

    The later condition may be meant for the display as well: a counterexample that violates it refutes nothing.
    """
    for at, (position, formula, tree) in enumerate(formulas):
        end = min(at + formula.rest.count("…"), len(formulas) - 1)
        names = guesses.behind({name for name, _ in uses(tree)}) if formula.display else set()
        for name in sorted(names & history[end].keys()):
            then, last = history[end][name], history[-1].get(name, "")
            known = guesses.lines.get(guesses.names.get(name, ""))
            if then == last or known is None or known.meaning != last or not narrows(last, then):
                continue
            where = next(later for later in range(end, len(formulas)) if history[later].get(name) == last)
            narrowing = formulas[where][1]
            if narrowing.section != formula.section or STANDING_EVERYWHERE.search(narrowing.words):
                continue
            guesses.restrictions.append((narrowing.line, narrowing.latex))
            local = guesses.local.setdefault(("formula", position), {})
            local.setdefault(name, Guess(then, f"declared before; line {narrowing.line} makes it smaller"))


def _is_again(meaning: str, known: str, before: Mapping[str, str], name: str) -> bool:
    """Return whether a letter with a domain gets another one, which is neither the known one nor a part of it."""
    return before.get(name, "=")[0] not in "=?" and not narrows(meaning, known)


def _domain(guesses: Guesses, chain: Chain, known: str, why: str) -> str | None:
    """Return the domain that a clause x ∈ X or x > 0 states of x, which has a meaning; None if it states none.

    A sign leaves a number its bounds, unless it is wider than the known one.
    """
    other = chain.parts[1]
    if chain.signs == ("\\in",) and other is not None:
        return domain_of(guesses, other, why)
    sign, (first, *rest) = COMPARISONS[chain.signs[0]], known.split()
    kind, number = SIGNS.get(sign, ""), NUMBER.fullmatch(known) is not None
    wider = kind == "nonnegative" and first in ("positive", "interior")
    if first == "=" or (number and (not kind or not rest or wider)):
        return kind or f"real {sign} 0"
    if wider:
        first = {"positive": kind, "interior": "simplex"}[first]
    return (signed(" ".join([first, *rest]), kind) or None) if kind else None


def _restates(name: str, formula: Formula, tree: Node) -> bool:
    """Return whether a formula of the text declares a letter, compares it, or is the letter in general."""
    return not formula.display and (_in_general(formula, tree) == name or any(own == name for own, _ in _clauses(tree)))


def _in_general(formula: Formula, tree: Node) -> str:
    """Return b after “for general”, and else nothing."""
    return tree.name if isinstance(tree, Symbol) and not formula.display and GENERAL.search(formula.words) else ""


def _refined(name: str, meaning: str, statements: Sequence[Node]) -> str:
    """Return a domain with the signs and the mass that the rest of the sentence states; a question if it says anything else."""
    sign, mass = "", False
    for clause in (clause for tree in statements for clause in flat(tree)):
        if not isinstance(clause, Chain):
            continue
        left, last = clause.parts[0], spelled(clause.parts[-1])
        summed = left.factors[-1] if isinstance(left, Product) else None
        if len(clause.signs) == 1 and COMPARISONS.get(clause.signs[0]) in SIGNS and last == "0" and _is_entry(left, name):
            sign = SIGNS[COMPARISONS[clause.signs[0]]]
        elif {*clause.signs} == {"="} and last == "1" and _is_entry(summed, name):
            mass = True
        elif Symbol(name) in walk(clause):
            return "?"
    if mass and meaning.startswith("vector"):
        return {"positive": "interior", "nonnegative": "simplex"}[sign] + meaning.removeprefix("vector") if sign else "?"
    if mass:
        return meaning if meaning.startswith(("simplex", "interior", "stochastic")) else "?"
    return (
        f"{sign} {meaning}"
        if sign and meaning.startswith(("vector", "matrix"))
        else meaning.replace("simplex", "interior")
        if sign == "positive"
        else meaning
    )


def _is_entry(node: Node | None, name: str) -> bool:
    return isinstance(node, Scripted) and node.sub is not None and spelled(node.base) == name


def _declared(formula: Formula, tree: Node) -> Iterator[tuple[str, Chain]]:
    """The letters of p, q ∈ Δ with the clause that declares them, after words such as “for every”."""
    standing = STANDING.search(formula.words) is not None
    if formula.display or standing or QUANTIFIED.search(formula.words):
        yield from (
            (name, chain) for name, chain in _clauses(tree) if chain.signs == ("\\in",) or (standing and not formula.display)
        )


def _clauses(tree: Node) -> Iterator[tuple[str, Chain]]:
    """The letters of p, q ∈ Δ and of x > 0 with the clause that is about them."""
    waiting: list[str] = []
    for part in flat(tree):
        _, clause = without_words(part)
        if isinstance(clause, Symbol):
            waiting.append(clause.name)
        elif isinstance(clause, Chain) and isinstance(clause.parts[0], Symbol) and _declares(clause):
            yield from ((name, clause) for name in (*waiting, clause.parts[0].name))
            waiting = []
        else:
            waiting = []


def _declares(clause: Chain) -> bool:
    signed = clause.signs[0] in COMPARISONS and spelled(clause.parts[1]) == "0"
    return len(clause.signs) == 1 and (signed or clause.signs == ("\\in",))
