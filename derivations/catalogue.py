"""How a claim is written down, found by its id, and examined by the symbolic layer.

A derivation is a function that yields relations, one fact a step; the last one is the statement itself (or `Fails`,
when it is false).  Its docstring is the statement in our own words.  See the README for how to add one.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar

from derivations.canonical import canonical
from derivations.claims import Claim, Correction, Evidence, Kind, Layer, Outcome, Severity, Statement, Step, Twin, Witness
from derivations.documents import CHECKS, documents, package
from derivations.documents import DOCUMENTS as DOCUMENTS  # the five that ship with the project
from derivations.relations import Fails, Relation

Steps = Iterator[Relation]
Derivation = Callable[[], Steps]


@dataclass(frozen=True)
class Undecidable:
    """Why a statement has no truth value that a proof or an experiment could settle."""

    reason: str


@dataclass
class Entry:
    """One claim with the functions that prove it, break it and repair it."""

    id: str
    kind: Kind
    title: str
    latex: str
    hypotheses: tuple[str, ...]
    needs: tuple[str, ...]
    derivation: Derivation | None
    statement: str
    undecidable: str | None = None
    module: str = ""
    twins: dict[str, Callable[[], Relation]] = field(default_factory=dict)
    repair: Derivation | None = None
    correction: Correction | None = None

    @property
    def claim(self) -> Claim:
        """The frozen record."""
        return Claim(
            id=self.id,
            kind=self.kind,
            title=self.title,
            statement=Statement(self.latex, self.statement),
            hypotheses=self.hypotheses,
            needs=self.needs,
            twins=tuple(Twin(name) for name in self.twins),
            correction=self.correction,
        )

    def twin(self, name: str, wrong: Callable[[], Relation]) -> None:
        """Register a wrong version of the claim under a name that says what is wrong."""
        if name in self.twins:
            raise ValueError(f"twin: {self.id} already has one named {name!r}, a new name is accepted")
        self.twins[name] = wrong

    def corrected(
        self, latex: str, severity: Severity, under: str | None = None
    ) -> Callable[[Derivation], Derivation]:
        """Register the proof of a true statement near a false one; `under` names the missing hypothesis."""
        def register(function: Derivation) -> Derivation:
            self.repair = function
            self.correction = Correction(Statement(latex, sentence(function)), severity, under)
            return function

        return register

    def printed(self) -> Relation | None:
        """The printed statement as a relation; None when the symbolic layer has nothing to say."""
        if self.derivation is None:
            return None
        last = list(self.derivation())[-1]
        return last.relation if isinstance(last, Fails) else last

    def repaired(self) -> Relation | None:
        """The corrected statement as a relation, if there is one."""
        return list(self.repair())[-1] if self.repair else None


_ENTRIES: dict[str, Entry] = {}


def sentence(function: Callable[..., object]) -> str:
    """The docstring, on one line."""
    text = " ".join((function.__doc__ or "").split())
    if not text:
        raise ValueError(f"docstring: {function.__name__} has none, the statement in one sentence is accepted")
    return text


def claim(
    id: str,
    kind: str,
    *,
    title: str,
    latex: str,
    hypotheses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[Callable[[], Steps | Undecidable | None]], Entry]:
    """Register a claim; the decorated derivation yields its steps.

    A function that returns None leaves the claim to the other layers, one that returns `Undecidable` says why no
    layer can speak.  Raises ValueError for an id used twice or an unknown kind.
    """
    def register(function: Callable[[], Steps | Undecidable | None]) -> Entry:
        if id in _ENTRIES:
            raise ValueError(f"claim: the id {id} is used twice, a new id is accepted")
        first = function()
        entry = Entry(
            id=id,
            kind=Kind(kind),
            title=title,
            latex=latex,
            hypotheses=hypotheses,
            needs=needs,
            derivation=None if first is None or isinstance(first, Undecidable) else function,  # type: ignore[arg-type]
            statement=sentence(function),
            module=function.__module__,
            undecidable=first.reason if isinstance(first, Undecidable) else None,
        )
        _ENTRIES[id] = entry
        return entry

    return register


def reprint(
    id: str,
    of: Entry,
    *,
    latex: str,
    title: str | None = None,
    statement: str | None = None,
    hypotheses: tuple[str, ...] | None = None,
    correction: Statement | None = None,
) -> Entry:
    """Register a statement that is printed again: one derivation, its twins and its correction serve both places.

    `title`, `statement`, `hypotheses` and `correction` are given where the other place has words, numbers or hypotheses
    of its own.  Raises ValueError for an id used twice, and for the words of a correction that there is not.
    """
    if id in _ENTRIES:
        raise ValueError(f"claim: the id {id} is used twice, a new id is accepted")
    here = sys._getframe(1).f_globals["__name__"]
    if correction and not of.correction:
        raise ValueError(f"correction: one was given for {id}, but {of.id} has none")
    repaired = replace(of.correction, statement=correction) if correction and of.correction else None
    own = {"title": title, "statement": statement, "hypotheses": hypotheses, "correction": repaired}
    given = {name: value for name, value in own.items() if value is not None}
    _ENTRIES[id] = replace(of, id=id, latex=latex, needs=(of.id,), twins=dict(of.twins), module=here, **given)  # type: ignore[arg-type]
    return _ENTRIES[id]


class Catalogue(Mapping[str, Entry]):
    """The claims by id, read-only; `asked_for` collects the ids that were looked up."""

    asked_for: ClassVar[set[str]] = set()

    def __getitem__(self, id: str) -> Entry:
        entry = _ENTRIES[id]
        self.asked_for.add(id)
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)

    def __contains__(self, id: object) -> bool:
        return id in _ENTRIES

    def items(self) -> ItemsView[str, Entry]:
        """All pairs, which asks for none in particular."""
        return _ENTRIES.items()

    def values(self) -> ValuesView[Entry]:
        """All entries, which asks for none in particular."""
        return _ENTRIES.values()


def entries() -> Catalogue:
    """All claims of all documents by id, in the order in which they are printed."""
    _load()
    return Catalogue()


@cache
def _load() -> None:
    """Import every module, and put the claims in the order of the modules, whichever imported which."""
    order = []
    for document in documents():
        found, before = package(document), set(_ENTRIES)
        names = [info.name for info in pkgutil.iter_modules(found.__path__) if info.name != CHECKS]
        for name in sorted(names, key=_printed_place):
            order.append(importlib.import_module(f"{found.__name__}.{name}").__name__)
        strangers = [id for id in set(_ENTRIES) - before if not id.startswith(f"{document}.")]
        if strangers and document not in DOCUMENTS:          # whose modules take statements from each other
            raise ValueError(f"claim: the id {min(strangers)} was given in {document}, one like {document}.1 is accepted")
    placed = sorted(_ENTRIES.items(), key=lambda item: order.index(item[1].module))
    _ENTRIES.clear()
    _ENTRIES.update(placed)


def _printed_place(module: str) -> tuple[bool, int, str]:
    """Sections by number, then appendices by letter."""
    number = re.match(r"section(\d+)", module)
    return module.startswith("appendix"), int(number[1]) if number else 0, module


@dataclass(frozen=True)
class Examination:
    """What the symbolic layer found: the evidence with the steps of both derivations, and what is wrong with them."""

    evidence: Evidence
    faults: tuple[str, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The derivation of the print."""
        return self.evidence.derivation

    @property
    def repair_steps(self) -> tuple[Step, ...]:
        """The derivation of the correction."""
        return self.evidence.repair


def examine(entry: Entry) -> Examination:
    """Run a claim's derivation, its twins and its correction; what a reprint shares with its original is run once."""
    if entry.derivation is None:
        reason = entry.undecidable or "left to the other layers"
        evidence = Evidence(entry.id, Layer.SYMBOLIC, Outcome.NOT_APPLICABLE, reason, detail=reason)
        return Examination(evidence, ())
    found = _examined(entry.derivation, entry.repair, tuple(entry.twins.items()))
    return replace(found, evidence=replace(found.evidence, claim=entry.id))


@cache
def _examined(
    derivation: Derivation, repair: Derivation | None, twins: tuple[tuple[str, Callable[[], Relation]], ...]
) -> Examination:
    start = time.perf_counter()
    faults: list[str] = []
    outcome, relations, steps, witness = _run(derivation, faults)
    proof = relations
    fixed: Outcome | None = None
    repair_steps: tuple[Step, ...] = ()
    if repair:
        fixed, proof, repair_steps, _ = _run(repair, faults)
        if outcome is Outcome.HOLDS:
            faults.append("a correction is given for a statement that holds")
    killed = tuple(name for name, twin in twins if twin().refute() is not None)
    faults += [f"the twin {name!r} is not refuted" for name, _ in twins if name not in killed]
    evidence = Evidence(
        claim="",
        layer=Layer.SYMBOLIC,
        outcome=outcome,
        scope=f"one exact point: {witness.inputs}" if witness else relations[-1].scope() if relations else "",
        seconds=time.perf_counter() - start,
        detail="; ".join(faults) or f"{len(steps)} steps",
        general=bool(proof) and proof[-1].general(),
        correction=fixed,
        witness=witness,
        refuted_twins=killed,
        derivation=steps,
        repair=repair_steps,
        canonical=canonical(relations[-1]) if relations else None,
        canonical_repair=canonical(proof[-1]) if repair and proof else None,
    )
    return Examination(evidence, tuple(faults))


def _run(
    derivation: Derivation, faults: list[str]
) -> tuple[Outcome, list[Relation], tuple[Step, ...], Witness | None]:
    """Check every step; the outcome is about the last one, and INCONCLUSIVE when an earlier one does not hold."""
    relations = list(derivation())
    steps: list[Step] = []
    witness = None
    for relation in relations:
        found = relation.refute()
        witness = relation.relation.refute() if isinstance(relation, Fails) else found
        proved = witness is not None if isinstance(relation, Fails) else relation.prove()
        if found and proved:
            faults.append(f"the kernel contradicts itself on {relation}: proved, but {found.text}")
        detail = found.text if found else "" if proved else "not decided"
        steps.append(Step(str(relation), relation.reason, proved and not found, detail))
        if not steps[-1].holds:
            faults.append(f"step {len(steps)} does not hold: {relation}: {detail}")
    if not steps:
        return Outcome.VACUOUS, relations, (), None
    if any(not step.holds for step in steps[:-1]):
        return Outcome.INCONCLUSIVE, relations, tuple(steps), None
    if witness:
        return Outcome.REFUTED, relations, tuple(steps), witness
    if steps[-1].holds and next(relations[-1].points(), None) is None:
        return Outcome.VACUOUS, relations, tuple(steps), None
    return (Outcome.HOLDS if steps[-1].holds else Outcome.INCONCLUSIVE), relations, tuple(steps), None
