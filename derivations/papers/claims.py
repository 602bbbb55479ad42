"""Make a claim from its LaTeX alone, with twins and, if it is false, a correction.

The statement is read from the formula.  Its wrong twins are one-edit mutants that the kernel refutes.  If the print fails, the
first mutant that can be proved becomes its correction.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import sympy as sp

from derivations.calculus.division import power, quotient
from derivations.calculus.sums import total
from derivations.papers.decimals import DECIMAL, is_rounding
from derivations.papers.repairs import Repair, failing, is_refuted, mutants_of, repair
from derivations.papers.restrictions import excluding
from derivations.reader.meaning.notation import DENIED, QUALIFIED, Notation, meanings
from derivations.reader.meaning.statements import read
from derivations.reader.meaning.values import bound
from derivations.records import rendering
from derivations.records.claims import Kind, Severity
from derivations.register.claiming import Steps, Undecidable, claim
from derivations.register.entry import Entry
from derivations.relations import AtLeast, Fails, Relation, same
from derivations.relations.problem import Problem

TWINS = 3  # generated for each claim
DEFINES = "a definition, with a value for every size and at every point of its domain"
SAME = "by the definitions of the notation both sides are the same expression, which has a value everywhere"


def equation(id: str, latex: str, notation: Notation, *, title: str, line: int, defines: bool = False) -> Entry:
    """Register what a formula states as a claim.

    If the notation makes both sides the same expression, the formula is a definition: of its left side if `defines`, else one
    that follows from other definitions.  Everything else is proved or refuted, whatever `defines` says.

    A formula that cannot be read becomes an open claim, with the reason.  Raises ValueError as `claim` does.
    """
    caller = sys._getframe(1)  # its line is the claim's: there is no function of the author's
    module = str(caller.f_globals["__name__"])
    own = notation.within(module.rpartition(".")[2], id)
    stances = notation.local.get(id, {})
    try:
        relations: Sequence[Relation] = read(latex, own)
        undecided = (
            f"the text does not assert it: “{stances[DENIED]}”"
            if DENIED in stances
            else _excluded(relations, latex, own, line, stances.get(QUALIFIED, ""))
        )
    except Exception as error:  # a formula that breaks the reader must not affect others
        relations, undecided = (), f"could not be read: {_cause(error)}"

    by_definition = bool(relations) and all(relation.trivial() for relation in relations)
    reason = DEFINES if defines else SAME

    def derivation() -> Steps | Undecidable:
        return Undecidable(undecided) if undecided else _steps(relations, reason)

    derivation.__doc__ = " ".join([f"Line {line} of the paper.", *_own_meanings(meanings(stances))])
    derivation.__module__ = module
    kind = Kind.DEFINITION if by_definition else _kind(relations)
    entry = claim(id, kind, title=title, latex=latex)(derivation)
    entry.line, entry.read = caller.f_lineno, bool(relations)
    if relations and not by_definition and not undecided:
        try:
            _add_twins_and_correction(entry, relations, latex, own)
        except Exception as error:
            undecided = f"could not be examined: {_cause(error)}"
    return entry


def _cause(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _excluded(relations: Sequence[Relation], latex: str, notation: Notation, line: int, words: str = "") -> str:
    """Return why a counterexample does not refute a statement: the text excludes it, or qualifies the statement by some words.

    Or the sides differ by what is rounded in the print.  The result is empty if it does refute the statement.
    """
    false = failing(relations) if notation.restrictions or words or DECIMAL.search(latex) else None
    example = false.counterexample() if false is not None else None
    if example is None or false is None:
        return ""
    fails = f"it fails {rendering.witness(example.witness)}"
    if words:
        return f"{fails}, and the text does not say that it always holds: “{words}”"
    if is_rounding(latex, notation, relations, false, example.point):
        return f"{fails}, which is no more than the printed decimals are rounded"
    broken = excluding(example.point, notation, line)
    return f"{fails}; expected a meaning for the condition “{broken[1]}” in line {broken[0]}" if broken else ""


def _own_meanings(local: Mapping[str, Any]) -> list[str]:
    """Return a sentence about the meanings that hold in one equation only: it is judged for these, and not in general."""
    meanings = (f"{symbol}{'' if str(meaning).startswith('=') else ':'} {meaning}" for symbol, meaning in local.items())
    return [f"Here {'; '.join(meanings)}."] if local else []


def _kind(relations: Sequence[Relation]) -> Kind:
    last = relations[-1] if relations else None
    if last and last.problem:
        return Kind.OPTIMALITY
    return Kind.INEQUALITY if last and last.ordered else Kind.IDENTITY


def _steps(relations: Sequence[Relation], reason: str) -> Iterator[Relation]:
    """Yield a chain's links: those true by definition must have a value, the others are proved until one fails."""
    yield from (defined(relation, reason) for relation in relations if relation.trivial())
    for relation in relations:
        if relation.trivial():
            continue
        if not relation.prove() and relation.counterexample():
            yield Fails(relation, reason="the machine found a point where it does not hold")
            return
        else:
            yield relation


def defined(relation: Relation, reason: str) -> Relation:
    """State that the right side of a definition is a real number on the whole domain of its variables."""
    return AtLeast(relation.sides[-1] ** 2, 0, given=relation.given, reason=reason)


def _add_twins_and_correction(entry: Entry, relations: Sequence[Relation], latex: str, notation: Notation) -> None:
    """Add twins that the kernel refutes and, if one edit makes a false print true, the correction."""
    false = failing(relations)
    about = false or [relation for relation in relations if not relation.trivial()][-1]
    for name, wrong in islice(_wrong(about), TWINS):
        entry.twin(name, _constant(wrong))
    if false is None:
        return
    if (repaired := repair(false, latex, notation)) is not None:
        _correct(entry, repaired)


def _correct(entry: Entry, repaired: Repair) -> None:
    def correction() -> Steps:
        yield repaired.relation

    correction.__doc__ = f"One edit away it is true: {repaired.edit}."
    correction.__module__ = entry.module
    entry.corrected(repaired.latex, Severity.SLIP)(correction)


def _wrong(relation: Relation) -> Iterator[tuple[str, Relation]]:
    """Yield versions of a statement that the kernel refutes: one-edit mutants of both sides, then coarser ones."""
    seen: dict[str, Relation] = {"": relation}
    for name, wrong in chain(((m.name, m.relation) for m in mutants_of(relation, 12)), _coarse(relation)):
        if name not in seen and not any(same(wrong, other) for other in seen.values()) and is_refuted(wrong):
            seen[name] = wrong
            yield name, wrong


def _coarse(relation: Relation) -> Iterator[tuple[str, Relation]]:
    """Shift or reverse a side, for statements with too few mutants, such as those whose right side is 0."""
    if relation.problem:
        for name, exponent in (("squares of the weights", sp.S(2)), ("roots of the weights", sp.S.Half)):
            yield name, _tempered(relation.problem, exponent)
        return
    if relation.ordered:
        left, right = relation.sides
        yield "the other way round", AtLeast(right, left, strict=True, given=relation.given)
    if parts := relation.editable("right"):
        right, rebuilt = parts
        for shift in (1, 2, 7) if relation.ordered else (1, -1, 2):
            yield f"{abs(shift)} {'more' if shift > 0 else 'less'}", rebuilt(right + shift)


def _tempered(problem: Problem, exponent: sp.Expr) -> Relation:
    """Return the problem with another candidate: the given one raised to a power and normalized."""
    entry, rebuilt = problem.editable("right")
    last = bound(problem.axes[-1])
    other = problem.candidate_at((*problem.places[:-1], last))
    return rebuilt(quotient(power(entry, exponent), total(last, power(other, exponent))))


def _constant(relation: Relation) -> Callable[[], Relation]:
    return lambda: relation
