"""Read lengths in the text: ‖q‖ = 1, ‖k_i‖² = 1, q ∈ S^{d−1}, “unit vectors”, q ≠ 0, and ‖q‖ > 0."""

import re

from derivations.papers.guesses.guesses import Guess, Guesses, without_length
from derivations.reader.meaning.clauses import APART
from derivations.reader.meaning.uses import is_index_list
from derivations.reader.syntax.tree import Bracket, Chain, Node, Scripted, Sum, Symbol, spelled
from derivations.reader.tex.paper import Formula

UNIT = r"unit[ -]?(norm(ed)?|length)? ?"
NOUN = r"(vector|feature|embedding|key|quer|direction)"
AFTER = re.compile(
    rf"(be |is |are |denote |being |all |both |two |an? |the |of |have |has |with |on |lie |lies )*"
    rf"({UNIT}{NOUN}|unit[ -](norm|length|sphere)|length (one|1)\b|norm (one|1)\b)"
)
OF_SEVERAL = re.compile(
    rf"[\s,…]*(and )?…[\s,…]*(be |are |all |both |two |of |have |with |on the )*"
    rf"({UNIT}{NOUN}\w*s\b|unit[ -](norm|length|sphere))"
)
BEFORE = re.compile(rf"\b{UNIT}{NOUN}\w*( … and| …,)*$")
SPHERES = ("S", "\\mathbb{S}", "\\mathcal{S}")


def is_unit(formula: Formula) -> bool:
    """Return whether the words before or after a vector, or a list of vectors, say that its length is 1."""
    said = AFTER.match(formula.after) or OF_SEVERAL.match(formula.rest) or BEFORE.search(formula.words)
    return said is not None


def lengths(guesses: Guesses, chain: Chain) -> list[tuple[str, Guess, str]]:
    """Return the declared vectors of ‖q‖ = ‖k_i‖ = 1 or q ≠ 0, or the matrices of these rows, with new meanings.

    There are none of anything else.
    """
    *sides, number = chain.parts
    if {*chain.signs} == {"="} and spelled(number) == "1":
        kind, symbols = "unit", [_measured(side) for side in sides]
    elif len(sides) == 1 and chain.signs[0] in (*APART, ">") and spelled(number) == "0":
        bare = sides[0] if chain.signs[0] in APART and isinstance(sides[0], Symbol | Scripted) else None
        kind, symbols = "nonzero", [_measured(sides[0]) or bare]
    else:
        return []
    known = [_of_length(guesses, kind, symbol) if symbol is not None else None for symbol in symbols]
    return [] if None in known else [each for each in known if each is not None]


def read_norms(guesses: Guesses, chain: Chain, why: str) -> bool:
    """Read ‖q‖ = 1 or q ≠ 0 of a vector that no equation has yet; return False for anything else."""
    measured = lengths(guesses, chain)
    if not measured or any(name in guesses.displayed for name, _, _ in measured):
        return False
    for name, known, meaning in measured:
        if guesses.homes.get(name) == guesses.section or known is not guesses.lines.get(name):
            known.meaning = meaning
        else:
            guesses.local.setdefault(("section", guesses.section), {})[name] = Guess(meaning, why)
    return True


def _measured(side: Node | None) -> Node | None:
    """Return the symbol of which a side is the length, or its square."""
    bracket = side.base if isinstance(side, Scripted) and {spelled(side.sub), spelled(side.sup)} <= {"", "2"} else side
    inside = bracket.inside if isinstance(bracket, Bracket) and bracket.kind == "‖‖" else None
    return inside if isinstance(inside, Symbol | Scripted) else None


def _of_length(guesses: Guesses, kind: str, symbol: Node) -> tuple[str, Guess, str] | None:
    """Return the name, the guess and the new meaning of a vector, or of a matrix whose rows are measured."""
    row = isinstance(symbol, Scripted) and symbol.sup is None and symbol.sub is not None and is_index_list(symbol.sub)
    name = spelled(symbol.base if row and isinstance(symbol, Scripted) else symbol)
    known = guesses.local.get(("section", guesses.section), {}).get(name) or guesses.lines.get(name)
    words = known.meaning.split() if known is not None else []
    if row and words[:2] == ["rows", "of"]:
        name, known = words[2], guesses.lines.get(words[2])
        words = known.meaning.split() if known is not None else []
    if (
        known is None
        or words[-3 if row else -2 :][:1] != ["matrix" if row else "vector"]
        or words[0] not in ("matrix", "vector", "nonzero", "unit")
    ):
        return None
    return name, known, known.meaning if words[0] == "unit" else f"{kind} {without_length(known.meaning)}"


def dimension(base: Node, sup: Node | None) -> Node | None:
    """Return the n of a sphere S^{n−1}; None for another set."""
    terms = sup.terms if isinstance(sup, Sum) and spelled(base) in SPHERES else ()
    return terms[0][1] if len(terms) == 2 and (terms[1][0], spelled(terms[1][1])) == ("-", "1") else None
