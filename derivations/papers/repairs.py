"""Repair a false statement by one edit, of the printed formula if possible, otherwise of the relation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from derivations.calculus.balls import enclose
from derivations.calculus.points import points
from derivations.calculus.signs import nonnegative
from derivations.judge.comparison import objections
from derivations.judge.mutants import Mutant, mutants
from derivations.papers.edits import versions
from derivations.papers.slips import slips
from derivations.reader.meaning.clauses import clauses
from derivations.reader.meaning.notation import Definition, Notation
from derivations.reader.meaning.statements import read
from derivations.reader.meaning.uses import uses
from derivations.reader.meaning.values import Value
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import spelled
from derivations.reader.writing import statement as written
from derivations.records.normal_form import Sign
from derivations.relations import Relation

TRIED = 24  # mutants of the relation
EDITED = 80  # edited versions of the formula
SLIPS = 40  # and further ones
TIGHT = 60  # points at which equality is looked for
TURNED = {
    one: other
    for pair in (("<", ">"), ("\\le", "\\ge"), ("\\leq", "\\geq"), ("\\leqslant", "\\geqslant"))
    for one, other in (pair, pair[::-1])
}


@dataclass(frozen=True)
class Repair:
    """A true statement one edit away from a false one, with its LaTeX."""

    edit: str
    relation: Relation
    latex: str


def repair(false: Relation, latex: str, notation: Notation) -> Repair | None:
    """Return the first repair of the false statement that `latex` makes; None if no single edit makes it true.

    The relation of a formula is edited only if it shows no defined symbol: an edit inside of a definition corrects no formula.
    """
    names = {name for name, _ in uses(parse(latex))}
    shown = any(isinstance(notation.meanings.get(name), Definition) for name in names)
    return next(_edited(false, latex, notation), None) or (None if shown else next(_repaired(false), None))


def _edited(false: Relation, latex: str, notation: Notation) -> Iterator[Repair]:
    """Yield repairs of the printed formula, in the paper's notation."""
    stated, conditions = clauses(parse(latex), notation)
    condition_text = "".join(f",\\quad {spelled(each)}" for each in conditions)
    for left, sign, right in (link for each in stated for link in zip(each.parts, each.signs, each.parts[1:], strict=False)):
        start = f"{spelled(left)} {sign} "
        if left is None or right is None or failing(_readable(start + spelled(right) + condition_text, notation)) is None:
            continue
        turned = [("the other direction", f"{spelled(left)} {TURNED[sign]} {spelled(right)}")] if sign in TURNED else []
        edited = islice(versions(right, _scalars(notation, false)), EDITED)
        further = islice(slips(right, [*notation.sizes]), SLIPS)
        for edit, link in chain(turned, ((edit, start + spelled(version)) for edit, version in chain(edited, further))):
            text = link + condition_text
            *others, last = _readable(text, notation) or (None,)
            if last and not is_refuted(last) and _answers(last, false) and all(each and each.prove() for each in others):
                yield Repair(edit, last, text)
        return


def _is_tight(relation: Relation) -> bool:
    """Return False for x ≥ y with x > y at all points of sizes above 1: any number below y would be such a correction, too."""
    if relation.sign is not Sign.AT_LEAST:
        return True
    left, right = relation.sides
    for point in islice(points(relation.variables()), TIGHT):
        if all(value != 1 for v, value in point.items() if v.domain.is_size):
            gap = enclose(left - right, point)
            if gap.is_finite() and gap.contains(0):
                return True
    return False


def _readable(latex: str, notation: Notation) -> Sequence[Relation]:
    """Return the relations of a formula; none if it cannot be read."""
    try:
        return read(latex, notation)
    except ValueError:
        return ()


def _scalars(notation: Notation, about: Relation) -> list[str]:
    """Return the names of the numbers that occur in a statement."""
    values = {name: each for name, each in notation.meanings.items() if isinstance(each, Value) and not each.shape}
    return [name for name, each in values.items() if each.number in about.variables()]


def _repaired(false: Relation) -> Iterator[Repair]:
    """Yield repairs of the relation."""
    for mutant in mutants_of(false, TRIED):
        if _answers(mutant.relation, false):
            yield Repair(mutant.name, mutant.relation, written(mutant.relation))


def _answers(repaired: Relation, false: Relation) -> bool:
    """Return whether a mutant is true and a real correction; s = V − V + s and x² ≥ −y², for instance, are vacuous."""
    if repaired.problem or not repaired.prove() or not _is_tight(repaired):
        return False
    if repaired.ordered and _by_signs(repaired):
        return False
    return next(objections(false, repaired, None, None), None) is None


def _by_signs(inequality: Relation) -> bool:
    """Return whether one side is ≥ 0 and the other ≤ 0, but not 0: their sizes then do not matter."""
    left, right = inequality.sides
    return right != 0 and left != 0 and nonnegative(left, inequality.facts()) and nonnegative(-right, inequality.facts())


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
    """Return whether there is a counterexample; False for a statement without values at sample points."""
    try:
        return relation.counterexample() is not None
    except ValueError:
        return False
