"""A claim from its LaTeX alone: what the machine reads, proves, refutes, corrects, and how it could have failed.

The statement is read from the formula, its wrong twins are one-edit mutants that the kernel refutes, and where the print fails
the first mutant that can be proved is its correction.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from derivations.catalogue import Entry, Steps, Undecidable, claim
from derivations.claims import Kind, Severity
from derivations.latex.notation import Notation
from derivations.latex.statements import read
from derivations.latex.syntax import LatexError
from derivations.latex.writing import statement as written
from derivations.mutants import Mutant, mutants
from derivations.relations import AtLeast, Equation, Fails, Relation, UniqueMinimum

TWINS = 3                                                    # made by the machine for a claim
TRIED = 24                                                   # mutants that may be the correction of a false print


def equation(id: str, latex: str, notation: Notation, *, title: str, line: int, defines: bool = False) -> Entry:
    """Register what a formula states as a claim; `defines` marks the definition of its left side.

    A formula that cannot be read is a claim that stays open, with the reason.  Raises ValueError as `claim` does.
    """
    caller = sys._getframe(1)
    try:
        relations: Sequence[Relation] = read(latex, notation)
        unread = ""
    except (LatexError, ValueError) as error:
        relations, unread = (), str(error)

    def derivation() -> Steps | Undecidable:
        """PLACEHOLDER"""
        return Undecidable(f"could not be read: {unread}") if unread else _steps(relations, defines)  # type: ignore[return-value]

    derivation.__doc__ = f"Line {line} of the paper."
    derivation.__module__ = caller.f_globals["__name__"]
    kind = Kind.DEFINITION if defines else _kind(relations)
    entry = claim(id, kind, title=title, latex=latex)(derivation)
    entry.line = caller.f_lineno
    if relations and not defines:
        _add_twins_and_correction(entry, relations)
    return entry


def _kind(relations: Sequence[Relation]) -> Kind:
    last = relations[-1] if relations else None
    if isinstance(last, UniqueMinimum):
        return Kind.OPTIMALITY
    return Kind.INEQUALITY if isinstance(last, AtLeast) else Kind.IDENTITY


def _steps(relations: Sequence[Relation], defines: bool) -> Iterator[Relation]:
    """The links of a chain, each proved; the first one that has a counterexample ends the derivation."""
    for relation in relations:
        if defines:
            yield defined(relation)
        elif not relation.prove() and relation.counterexample():
            yield Fails(relation, reason="the machine found a point where it does not hold")
            return
        else:
            yield relation


def defined(relation: Relation) -> Relation:
    """That the right side of a definition is a real number wherever its variables may be."""
    value = relation.sides[-1]
    return AtLeast(value**2, 0, given=relation.given, reason="it has a value for every size and at every point of its domain")


def failing(relations: Sequence[Relation]) -> Relation | None:
    """The first relation of a chain that is refuted."""
    return next((relation for relation in relations if not relation.prove() and relation.counterexample()), None)


def _add_twins_and_correction(entry: Entry, relations: Sequence[Relation]) -> None:
    """Twins that the kernel refutes, and the correction where one edit makes a false print true."""
    false = failing(relations)
    about = false or relations[-1]
    for mutant in islice(_refuted(about), TWINS):
        entry.twin(mutant.name, _constant(mutant.relation))
    if false is None:
        return
    repair = next((m for m in _mutants(false, TRIED) if not isinstance(m.relation, UniqueMinimum) and m.relation.prove()), None)
    if repair is not None:
        _correct(entry, repair)


def _correct(entry: Entry, repair: Mutant) -> None:
    def correction() -> Steps:
        """PLACEHOLDER"""
        yield repair.relation

    correction.__doc__ = f"One edit away it is true: {repair.name}."
    correction.__module__ = entry.module
    entry.corrected(written(repair.relation), Severity.SLIP)(correction)


def _mutants(relation: Relation, most: int) -> tuple[Mutant, ...]:
    try:
        return mutants(relation, most=most)
    except ValueError:
        return ()


def _refuted(relation: Relation) -> Iterator[Mutant]:
    return (mutant for mutant in _mutants(relation, 12) if _is_refuted(mutant.relation))


def _is_refuted(relation: Relation) -> bool:
    return not relation.ill_posed() and relation.counterexample() is not None


def _constant(relation: Relation) -> Callable[[], Relation]:
    return lambda: relation


__all__ = ["Equation", "equation"]
