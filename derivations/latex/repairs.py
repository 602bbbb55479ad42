"""A true statement in the place of a false one: the printed formula with one edit, else the statement in its entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from derivations.comparison import objections
from derivations.latex.clauses import clauses
from derivations.latex.edits import versions
from derivations.latex.notation import Notation
from derivations.latex.statements import read
from derivations.latex.syntax import parse
from derivations.latex.tree import spelled
from derivations.latex.values import Value
from derivations.latex.writing import statement as written
from derivations.mutants import Mutant, mutants
from derivations.relations import Relation, UniqueMinimum

TRIED = 24  # mutants of the statement that may be true
EDITED = 80  # versions of the formula


@dataclass(frozen=True)
class Repair:
    """A true statement one edit away from a false one, and how it is written."""

    edit: str
    relation: Relation
    latex: str


def repair(false: Relation, latex: str, notation: Notation) -> Repair | None:
    """The first repair of a statement that is false, which `latex` makes; None where no single edit makes it true."""
    return next(_edited(false, latex, notation), None) or next(_repaired(false), None)


def _edited(false: Relation, latex: str, notation: Notation) -> Iterator[Repair]:
    """Repairs of the formula as it is printed, in the words of the paper."""
    stated, conditions = clauses(parse(latex), notation)
    given = "".join(f",\\quad {spelled(each)}" for each in conditions)
    for left, sign, right in (link for each in stated for link in zip(each.parts, each.signs, each.parts[1:], strict=False)):
        start = f"{spelled(left)} {sign} "
        if left is None or right is None or failing(_readable(start + spelled(right) + given, notation)) is None:
            continue
        for edit, version in islice(versions(right, _scalars(notation, false)), EDITED):
            text = start + spelled(version) + given
            *others, last = _readable(text, notation) or (None,)
            if last and not is_refuted(last) and _answers(last, false) and all(each and each.prove() for each in others):
                yield Repair(edit, last, text)
        return


def _readable(latex: str, notation: Notation) -> Sequence[Relation]:
    """What a formula states; nothing where it cannot be read."""
    try:
        return read(latex, notation)
    except ValueError:
        return ()


def _scalars(notation: Notation, about: Relation) -> list[str]:
    """The names of the numbers of which a statement speaks."""
    values = {name: each for name, each in notation.meanings.items() if isinstance(each, Value) and not each.shape}
    return [name for name, each in values.items() if each.number in about.variables()]


def _repaired(false: Relation) -> Iterator[Repair]:
    """Repairs of the statement in its entries."""
    for mutant in mutants_of(false, TRIED):
        if _answers(mutant.relation, false):
            yield Repair(mutant.name, mutant.relation, written(mutant.relation))


def _answers(repaired: Relation, false: Relation) -> bool:
    """Whether a mutant is true and says something in the place of the print; s = V − V + s is true of anything."""
    if isinstance(repaired, UniqueMinimum) or not repaired.prove():
        return False
    return next(objections(false, repaired, None, None), None) is None


def failing(relations: Sequence[Relation]) -> Relation | None:
    """The first relation of a chain that is refuted."""
    return next((relation for relation in relations if not relation.prove() and relation.counterexample()), None)


def mutants_of(relation: Relation, most: int) -> tuple[Mutant, ...]:
    """One-edit mutants of a statement; none of a kind that has no mutants."""
    try:
        return mutants(relation, most=most)
    except ValueError:
        return ()


def is_refuted(relation: Relation) -> bool:
    """Whether a counterexample is found; not for a statement that has no values at sample points."""
    try:
        return relation.counterexample() is not None
    except ValueError:
        return False
