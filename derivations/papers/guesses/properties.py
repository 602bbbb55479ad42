"""Properties that the text declares in words and no meaning expresses: “Let A be symmetric”, “for nonzero x”."""

import re
from collections.abc import Sequence
from functools import partial

from derivations.papers.guesses.guesses import Guess, Guesses
from derivations.papers.guesses.premises import BEHIND, CASE, is_condition, is_of_sentence, is_restriction, say, symbol_name
from derivations.papers.guesses.sets import DOTS
from derivations.papers.guesses.signs import signed
from derivations.reader.meaning.uses import declared_name
from derivations.reader.syntax.names import parts
from derivations.reader.syntax.tree import Chain, Node, Scripted, Symbol, spelled
from derivations.reader.tex.paper import Formula

WORDS = (
    r"(?P<property>skew-?symmetric|symmetric|anti-?symmetric|orthogonal|orthonormal|unitary|invertible|non-?singular|"
    r"(positive|negative)[ -](semi-?)?definite|diagonal|(upper|lower)[ -]triangular|circulant|idempotent|permutation|"
    r"zero[ -]mean|mean[ -]zero|mean 0|centered|centred|non-?zero|sorted|ordered|distinct|(strictly |non-?)?(in|de)creasing|"
    r"monoton\w+|one-hot|binary|linearly independent|full (row |column )?rank|full-rank|rank[ -](one|\d+)|"
    r"normali[sz]ed(?= (vector|key|quer|feature|embedding))|(strictly )?(positive|negative)|non-?(positive|negative))\b"
)
AFTER = re.compile(
    r"(be |is |are |has |have |having |being |which |that |with |of |all |an? |the |two |also |real |mutually |pairwise )*"
    + WORDS
)
BEFORE = re.compile(
    WORDS + r"( (vector|matri|number|weight|key|quer|value|score|point|real|ind|feature|entr|template|embedding|"
    r"temperature|constant|scalar|parameter|integer|mass|rate|step|coefficient|variable)\w*)*$",
    re.IGNORECASE,
)
OF_SEVERAL = re.compile(rf"[\s,…]*(and )?…[\s,…]*(be |are |both |all |two |mutually |pairwise )*{WORDS}")
CONDITIONS = {"nonzero": "\\ne 0", "positive": "> 0", "nonnegative": "\\ge 0"}
KINDS = {"nonzero": "nonzero", "positive": "positive", "nonnegative": "nonnegative"}
CASE_AT_END = re.compile(r"(?:^|\W)(if|when|whenever|suppose|assume|assuming|provided|in the case)\b[^,.;:]*$", re.IGNORECASE)
VERB = re.compile(
    r"(is|are|has|have|vanish\w*|equals?|consists?|contains?|lies?|do|does)\b[^,.;:]*?"
    r"(?=[,.;:]| then\b| we have\b|$)"
)
UNIFORM = ("is uniform", "is the uniform distribution", "is a uniform distribution")
SYMMETRY = re.compile(r"symmetric(,? (?:and )?positive[ -](semi-?)?definite)?\b")
FOR = re.compile(r"(.*\W)?for( all| any| every| each| some| an?)?( \S+){0,3}", re.IGNORECASE)


OTHER = re.compile(  # “Let t be balanced”, a word of the paper's own
    r"be (?P<property>(\w+ly )?(?!(fixed|learned|trained|observed|given|sampled|shared|indexed)\b)"
    r"\w+(ed|ous|ic|able|ible|less|ent|ant))(?=\W*$|[.,;]| and )"
)


def read_properties(guesses: Guesses, tree: Node, formula: Formula) -> None:
    """Note the properties of what a sentence declares as conditions that are not used."""
    just_before = formula.words.rpartition("…")[2].strip()
    declares = is_restriction(formula) or is_condition(formula, CASE) or FOR.fullmatch(just_before)
    if formula.display or not declares:
        return
    behind = AFTER.match(formula.after) or OF_SEVERAL.match(formula.rest)
    said = behind or BEFORE.search(just_before) or OTHER.match(formula.after)
    symmetry = SYMMETRY.match(said.string, said.start("property")) if said and is_restriction(formula) else None
    if symmetry is not None:
        kind = "symmetric" if symmetry[1] is None else "semidefinite" if symmetry[2] else "definite"
        guesses.later.append((guesses.section, partial(_symmetric, guesses, tree, formula.line, kind, {*guesses.displayed})))
        return
    restricted = KINDS.get(said["property"].lower().replace("non-", "non").removeprefix("strictly ")) if said else None
    if restricted and not is_condition(formula, CASE) and not is_of_sentence(formula):
        reading = partial(_restrict, guesses, tree, formula.line, restricted, {*guesses.displayed})
        guesses.later.append((guesses.section, reading))
        return
    heads = [each.parts[0] if isinstance(each, Chain) else each for each in parts(tree)]
    if restricted and is_of_sentence(formula) and all(isinstance(head, Symbol) and spelled(head) not in DOTS for head in heads):
        say(guesses, formula, [f"{spelled(head)} {CONDITIONS[restricted]}" for head in heads])
        return
    for head in heads if said else ():
        if said and isinstance(head, Symbol | Scripted):
            guesses.restrictions.append((formula.line, rf"{_plain(head)} \text{{ {said['property']} }}"))


def _symmetric(guesses: Guesses, tree: Node, line: int, kind: str, before: set[str]) -> None:
    """Make declared square matrices symmetric; the property of one that equations have before is a condition not used."""
    for head in (each.parts[0] if isinstance(each, Chain) else each for each in parts(tree)):
        known = guesses.lines.get(spelled(head))
        words = known.meaning.split() if known is not None else []
        if known is not None and words[:1] == ["matrix"] and words[1:2] == words[2:] and spelled(head) not in before:
            known.meaning = f"{kind} {known.meaning}"
        elif isinstance(head, Symbol | Scripted) and words[:1] != [kind]:
            guesses.restrictions.append((line, rf"{_plain(head)} \text{{ {kind} }}"))


def _restrict(guesses: Guesses, tree: Node, line: int, kind: str, before: set[str]) -> None:
    """Make what is declared nonzero, or give it a sign; of anything else, and of what equations have before, it is a condition.

    It may be numbers, vectors, or the rows k_1, …, k_n of a matrix.
    """
    heads = [each.parts[0] if isinstance(each, Chain) else each for each in parts(tree)]
    several = any(spelled(head) in DOTS for head in heads)
    for head in heads:
        name = spelled(head.base) if several and isinstance(head, Scripted) else spelled(head)
        known = guesses.lines.get(guesses.names.get(name, ""))
        was = known.meaning if known is not None else "?"
        meaning = _other_than_0(was, several) if kind == "nonzero" else signed(was, kind)
        if known is not None and meaning and (name not in before or meaning == known.meaning):
            known.meaning = meaning
        elif isinstance(head, Symbol | Scripted) and spelled(head) not in DOTS:
            guesses.restrictions.append((line, rf"{_plain(head)} \text{{ {kind} }}"))


def _other_than_0(meaning: str, several: bool) -> str:
    """Return a domain without 0; empty for one that no meaning expresses."""
    first = meaning.split()[0]
    if meaning == "real" or first in ("nonzero", "unit"):
        return "real != 0" if meaning == "real" else meaning
    return f"nonzero {meaning}" if first == ("matrix" if several else "vector") else ""


def read_words(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Read “If q is uniform, …” and “…, if q is uniform”; a condition in other words makes its displays unreadable."""
    for at, (_, formula, tree) in enumerate(formulas):
        if not formula.display and isinstance(tree, Symbol | Scripted):
            _read_case(guesses, formulas, at, tree)


def _read_case(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]], at: int, symbol: Symbol | Scripted) -> None:
    formula = formulas[at][1]
    just_before, said = formula.words.rpartition("…")[2].strip(), VERB.match(formula.after)
    if at and formulas[at - 1][1].display and BEHIND.fullmatch(just_before):
        others, displays = [], [formulas[at - 1][0]]
    elif CASE_AT_END.search(just_before):
        rest = formulas[at + 1 : at + 1 + formula.rest.count("…")]
        others = [tree for _, other, tree in rest if not other.display]
        displays = [own for own, other, _ in rest if other.display]
    else:
        return
    name = symbol_name(symbol)
    again = any(isinstance(each, Chain) and symbol_name(each.parts[0]) == name for each in others)  # “that is, q_i = 1/n”
    if said is None or again or AFTER.match(formula.after):
        return
    known = guesses.lines.get(guesses.names.get(name, ""))
    words = known.meaning.split() if known is not None else []
    for display in displays:
        if said[0].strip() in UNIFORM and words[:1] in (["simplex"], ["interior"]) and len(words) == 2:
            why = f"line {formula.line}, which restricts this equation"
            uniform = Guess(f"= \\frac{{1}}{{{words[1]}}} \\mathbf{{1}}_{{{words[1]}}}", why)
            guesses.local.setdefault(("formula", display), {})[name] = uniform
        else:
            guesses.premises.setdefault(display, []).append(rf"{spelled(symbol)} \text{{{said[0].strip()}}}")


def _plain(head: Symbol | Scripted) -> str:
    return spelled(head) if isinstance(head, Symbol) else declared_name(head)
