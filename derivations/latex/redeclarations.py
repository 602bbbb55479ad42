"""A letter that a formula defines and the text declares again: p = softmax(s), then “for every p in the simplex”.

The definition would restrict what is said of every p, so the displays that are meant get the domain as a local meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derivations.latex.clauses import flat, without_words
from derivations.latex.domains import domain_of
from derivations.latex.guesses import Guess, Guesses
from derivations.latex.paper import Formula
from derivations.latex.signs import COMPARISONS
from derivations.latex.tree import Chain, Node, Product, Scripted, Symbol, spelled, walk

QUANTIFIED = re.compile(r"\b(?:any|every|all|each|arbitrary|where)(?: [a-z-]+){0,3}[ …,]*$", re.IGNORECASE)
SIGNS = {">": "positive", ">=": "nonnegative"}
STANDING = re.compile(r"\b(?:let|fix|take|consider|given|another|denote by)(?: [a-z-]+){0,3}[ …,]*$", re.IGNORECASE)


def read_redeclarations(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Give a defined letter its domain where the text says that it is arbitrary.

    “For every p” holds in its display, or in the displays of its sentence; “let p” in all that follow in its section.
    """
    for at, (position, formula, tree) in enumerate(formulas):
        for name, chain in _declared(formula, tree):
            known = guesses.lines.get(guesses.names.get(name, ""))
            if known is None or not known.meaning.startswith("=") or guesses.defining.get(position) == name:
                continue
            meaning = domain_of(guesses, chain.parts[1], f"line {formula.line}") if chain.parts[1] is not None else None
            if meaning is None or meaning.startswith("index"):
                continue
            end = at + 1 + formula.rest.count("…")
            meaning = _refined(name, meaning, [tree for _, each, tree in formulas[at + 1 : end] if not each.display])
            standing = STANDING.search(formula.words) is not None
            after = [own for own, each, _ in formulas[at + 1 :] if each.display and each.section == formula.section]
            sentence = [own for own, each, _ in formulas[at + 1 : end] if each.display]
            for display in [position] if formula.display else after if standing else sentence:
                local = guesses.local.setdefault(("formula", display), {})
                local.setdefault(name, Guess(meaning, f"line {formula.line}, which declares it again"))


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
    return f"{sign} {meaning}" if sign and meaning.startswith(("vector", "matrix")) else meaning.replace(
        "simplex", "interior") if sign == "positive" else meaning


def _is_entry(node: Node | None, name: str) -> bool:
    return isinstance(node, Scripted) and node.sub is not None and spelled(node.base) == name


def _declared(formula: Formula, tree: Node) -> Iterator[tuple[str, Chain]]:
    """The letters of p, q ∈ Δ with the clause that declares them, after words such as “for every”."""
    waiting: list[str] = []
    said = formula.display or QUANTIFIED.search(formula.words) or STANDING.search(formula.words)
    for part in flat(tree) if said else ():
        _, clause = without_words(part)
        if isinstance(clause, Symbol):
            waiting.append(clause.name)
        elif isinstance(clause, Chain) and clause.signs == ("\\in",) and isinstance(clause.parts[0], Symbol):
            yield from ((name, clause) for name in (*waiting, clause.parts[0].name))
            waiting = []
        else:
            waiting = []
