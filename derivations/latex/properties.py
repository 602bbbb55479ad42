"""Properties that the text declares in words and no meaning expresses: “Let A be symmetric”, “for nonzero x”."""

from __future__ import annotations

import re

from derivations.latex.guesses import Guesses
from derivations.latex.names import parts
from derivations.latex.paper import Formula
from derivations.latex.premises import CASE, is_condition, is_restriction
from derivations.latex.tree import Chain, Node, Scripted, Symbol, spelled
from derivations.latex.uses import declared_name

WORDS = (
    r"(?P<property>skew-?symmetric|symmetric|anti-?symmetric|orthogonal|orthonormal|unitary|invertible|non-?singular|"
    r"(positive|negative)[ -](semi-?)?definite|diagonal|(upper|lower)[ -]triangular|circulant|idempotent|permutation|"
    r"zero[ -]mean|mean[ -]zero|mean 0|centered|centred|non-?zero|sorted|ordered|distinct|(strictly |non-?)?(in|de)creasing|"
    r"monoton\w+|one-hot|binary|linearly independent|full (row |column )?rank|full-rank|rank[ -](one|\d+)|"
    r"normali[sz]ed(?= (vector|key|quer|feature|embedding)))\b")
AFTER = re.compile(
    r"(be |is |are |has |have |having |being |which |that |with |of |all |an? |the |two |also |real |mutually |pairwise )*"
    + WORDS)
BEFORE = re.compile(
    WORDS + r"( (vector|matri|number|weight|key|quer|value|score|point|real|ind|feature|entr|template|embedding)\w*)*$",
    re.IGNORECASE)
FOR = re.compile(r"(.*\W)?for( all| any| every| each| some| an?)?( \S+){0,2}", re.IGNORECASE)


def read_properties(guesses: Guesses, tree: Node, formula: Formula) -> None:
    """Note the properties of what a sentence declares as conditions that are not used."""
    just_before = formula.words.rpartition("…")[2].strip()
    declares = is_restriction(formula) or is_condition(formula, CASE) or FOR.fullmatch(just_before)
    if formula.display or not declares:
        return
    said = AFTER.match(formula.after) or BEFORE.search(just_before)
    heads = [each.parts[0] if isinstance(each, Chain) else each for each in parts(tree)]
    for head in heads if said else ():
        if said and isinstance(head, Symbol | Scripted):
            guesses.restrictions.append((formula.line, rf"{_plain(head)} \text{{ {said['property']} }}"))


def _plain(head: Symbol | Scripted) -> str:
    return spelled(head) if isinstance(head, Symbol) else declared_name(head)
