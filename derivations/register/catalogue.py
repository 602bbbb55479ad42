"""The register of claims: `@claim` and `reprint` add one, `entries` looks it up by id, `examine` runs its derivation.

A derivation is a function that yields relations, one fact a step; the last one is the statement itself (or `Fails`,
when it is false).  Its docstring is the statement in our own words.  See the README for how to add one.
"""

import pkgutil
import sys
import time
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar

from msgspec.structs import asdict
from msgspec.structs import replace as updated

from derivations.calculus.quick import shortcuts
from derivations.judge.examination import Derivation, Proved, Run, run
from derivations.judge.examination import Steps as Steps
from derivations.judge.integrity import changed_names
from derivations.judge.symbolic import Twins, evidence_of
from derivations.prints.claims import as_printed, correction_of, print_of
from derivations.records.claims import Evidence, Kind, Layer, Outcome, Statement, Step
from derivations.records.documents import CHECKS, outside, package
from derivations.records.documents import DOCUMENTS as DOCUMENTS  # those that ship with the project
from derivations.records.prints import Check, Standing
from derivations.register.entry import Entry, checked_function, given, last_relation, sentence
from derivations.register.loading import imported, printed_place, unsupported
from derivations.register.wording import check_lists, check_words, is_id


@dataclass(frozen=True)
class Undecidable:
    """Returned by a derivation whose statement no proof or experiment could settle; `reason` says why."""

    reason: str


_ENTRIES: dict[str, Entry] = {}


def _new(id: object) -> None:
    """Check that `id` is a valid id and not registered yet; raises ValueError otherwise."""
    if not is_id(id):
        raise ValueError(
            f"claim: expected an id like eot.59 or eot.s7.fisher-scaled, in letters and digits with dots, hyphens "
            f"and underscores between them, got {id!r}"
        )
    if id in _ENTRIES:
        raise ValueError(f"claim: expected a new id, got {id}, which is registered already")


def claim(
    id: str,
    kind: str,
    *,
    title: str,
    latex: str,
    hypotheses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    part_of: str | None = None,
) -> Callable[[Callable[[], Steps | Undecidable | None]], Entry]:
    """Register a claim; the decorated derivation yields its steps.

    A function that returns None leaves the claim to the numeric layers; one that returns `Undecidable` says why no layer
    can decide it.  `part_of` is the id of the printed statement that this claim is a part of; that statement shows the
    worst verdict of its parts.  Raises ValueError for an invalid or repeated id, an unknown kind, and empty text.
    """

    def register(function: Callable[[], Steps | Undecidable | None]) -> Entry:
        _new(id)
        check_words(id, title=title, latex=latex)
        check_lists(id, hypotheses=hypotheses, needs=needs)
        checked_function("claim", id, function)
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
            line=function.__code__.co_firstlineno,
            undecidable=first.reason if isinstance(first, Undecidable) else None,
            part_of=part_of,
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
    implying: Mapping[str, str] | None = None,
    correction: Statement | None = None,
    part_of: str | None = None,
) -> Entry:
    """Register a statement that is printed a second time; it shares the derivation, twins and correction of `of`.

    Pass `title`, `statement`, `hypotheses` or `correction` if the second print differs in them.  Each hypothesis of the
    original must be kept, or `implying` must map it to a hypothesis printed here that implies it.  The reprint of a
    disproof may not add hypotheses, since they might exclude the point of failure.  Raises ValueError in the cases of
    `claim`, for a missing or additional hypothesis, and for a `correction` where the original has none.
    """
    _new(id)
    check_words(id, latex=latex, **given(title=title, statement=statement))
    check_words(id, **(asdict(correction) if correction else {}))
    check_lists(id, **given(hypotheses=hypotheses))
    caller = sys._getframe(1)  # its line is the claim's: there is no function of the author's
    if correction and not of.correction:
        raise ValueError(f"correction: expected none for {id}, since {of.id} has none, got one")
    new = set(hypotheses or ()) - {*of.hypotheses, *(implying or {}).values()}
    if new and (last := last_relation(of.derivation)) and last.disproved:
        raise ValueError(
            f"hypotheses: {id} takes over the disproof of {of.id}: expected those printed there, as another one "
            f"may exclude the point where it fails, got {min(new)!r}"
        )
    if hypotheses is not None:
        preserved = {*hypotheses, *(old for old, new in (implying or {}).items() if new in hypotheses)}
        if missing := [each for each in of.hypotheses if each not in preserved]:
            raise ValueError(
                f"hypotheses: {id} takes over the derivation of {of.id}: expected its hypothesis {missing[0]!r}, "
                "or one that is `implying` it, got neither"
            )
    repaired = updated(of.correction, statement=correction) if correction and of.correction else None
    own = given(title=title, statement=statement, hypotheses=hypotheses, correction=repaired)
    _ENTRIES[id] = replace(
        of,
        id=id,
        latex=latex,
        needs=(of.id,),
        grounds=of.supporting,
        twins=dict(of.twins),
        module=caller.f_globals["__name__"],
        line=caller.f_lineno,
        part_of=part_of,
        **own,
    )
    return _ENTRIES[id]


class Catalogue(Mapping[str, Entry]):
    """A read-only mapping of ids to claims; `accessed_ids` collects the ids that were looked up."""

    accessed_ids: ClassVar[set[str]] = set()

    def __getitem__(self, id: str) -> Entry:
        entry = _ENTRIES[id]
        self.accessed_ids.add(id)
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)

    def __contains__(self, id: object) -> bool:
        return id in _ENTRIES

    def items(self) -> ItemsView[str, Entry]:
        """Return all pairs, without recording a look-up."""
        return _ENTRIES.items()

    def values(self) -> ValuesView[Entry]:
        """Return all entries, without recording a look-up."""
        return _ENTRIES.values()


def entries() -> Catalogue:
    """Return all claims of all documents by id, in printed order; raises ValueError if a document cannot be loaded."""
    _load()
    return Catalogue()


@cache
@shortcuts()
def _load() -> None:
    """Import every module of every document, sort the claims in module order, and freeze them.

    Documents that ship with the project may extend each other's claims.  They are frozen before the first outside document
    is imported, and each outside document before the next.
    """
    order: list[str] = []
    for group in (DOCUMENTS, *((document,) for document in outside())):
        for document in group:
            order += _read(document)
        for entry in _ENTRIES.values():
            if type(entry) is Entry:
                entry.seal()
    for id, entry in _ENTRIES.items():
        if type(entry) is not Entry or entry.id != id or entry.module not in order:
            raise ValueError(f"claim: expected one registered by `claim` or `reprint` in a module of a document, got {id}")
    placed = sorted(_ENTRIES.items(), key=lambda item: order.index(item[1].module))
    _ENTRIES.clear()
    _ENTRIES.update(placed)


def _read(document: str) -> list[str]:
    """Import the modules of a document and return their names in printed order."""
    before, home = dict(_ENTRIES), package(document)
    names = sorted((info.name for info in pkgutil.iter_modules(home.__path__) if info.name != CHECKS), key=printed_place)
    modules = [imported(f"{home.__name__}.{name}") for name in names]
    if overwritten := [id for id, entry in before.items() if _ENTRIES.get(id) is not entry]:
        raise ValueError(f"claim: expected new ids in {document}, got {overwritten[0]}, which is the id of an earlier claim")
    strangers = [id for id in _ENTRIES.keys() - before.keys() if not id.startswith(f"{document}.")]
    if strangers and document not in DOCUMENTS:
        raise ValueError(f"claim: expected ids like {document}.1 in {document}, got {min(strangers)}")
    return modules


# ── examination ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Examination:
    """The result of the symbolic layer for one claim: its evidence, with the steps and faults of the derivations."""

    evidence: Evidence

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of the derivation, the correction or the twins."""
        return self.evidence.faults

    @property
    def steps(self) -> tuple[Step, ...]:
        """The derivation of the print."""
        return self.evidence.derivation

    @property
    def repair_steps(self) -> tuple[Step, ...]:
        """The derivation of the correction."""
        return self.evidence.repair


@shortcuts()
def examine(entry: Entry) -> Examination:
    """Run a claim's derivation, twins and correction, once for a claim and its reprints.

    An exception in the author's code becomes evidence with the outcome `error`, which names the claim and the step.
    """
    if entry.derivation is None:
        reason = entry.undecidable or "left to the other layers"
        return Examination(Evidence(entry.id, Layer.SYMBOLIC, Outcome.NOT_APPLICABLE, reason, detail=reason, where=entry.where))
    if wrong := unsupported(entry, _ENTRIES):
        return Examination(_error(entry, [wrong]))
    replaces = entry.correction.replaces if entry.correction else None
    evidence, errors = _examined(entry.derivation, entry.repair, tuple(entry.twins.items()), entry.supporting, replaces)
    errors = (*errors, *(f"the kernel was changed in this process: {name}" for name in changed_names()))
    if errors:
        return Examination(
            updated(_error(entry, errors), derivation=evidence.derivation, repair=evidence.repair, seconds=evidence.seconds)
        )
    return Examination(_beside_print(entry, updated(evidence, claim=entry.id, where=entry.where)))


def _beside_print(entry: Entry, evidence: Evidence) -> Evidence:
    """Add the comparison of the LaTeX with the proved relation to the evidence; a difference is a fault."""
    own, repaired = _prints(entry.id) if _ENTRIES.get(entry.id) is entry else (None, None)
    named = (("print", own), ("correction", repaired))
    differing = [
        f"the {name} differs from its relation: {each.reason}"
        for name, each in named
        if each and each.standing is Standing.DIFFERS
    ]
    faults = (*evidence.faults, *differing)
    witness = evidence.witness
    if witness and entry.derivation:
        steps = _run(entry.derivation, entry.supporting).relations
        witness = as_printed(entry, witness, steps[-1], _ENTRIES) if steps else witness
    return updated(
        evidence,
        print=own,
        print_repair=repaired,
        faults=faults,
        witness=witness,
        **({"detail": "; ".join(faults)} if differing else {}),
    )


@cache
def _prints(id: str) -> tuple[Check | None, Check | None]:
    return print_of(_ENTRIES[id], _ENTRIES), correction_of(_ENTRIES[id], _ENTRIES)


def _error(entry: Entry, errors: Iterable[str]) -> Evidence:
    faults = tuple(f"{entry.id}: {error}" for error in errors)
    return Evidence(entry.id, Layer.SYMBOLIC, Outcome.ERROR, "", detail="; ".join(faults), faults=faults, where=entry.where)


@cache
def _examined(
    derivation: Derivation, repair: Derivation | None, twins: Twins, needs: tuple[str, ...], replaces: str | None
) -> tuple[Evidence, tuple[str, ...]]:
    """Return the evidence without a claim id, since a reprint shares it, and the errors that stopped the examination."""
    start = time.perf_counter()
    repaired = _run(repair, needs) if repair else None
    evidence, errors = evidence_of(_run(derivation, needs), repaired, twins, replaces)
    return updated(evidence, seconds=time.perf_counter() - start), tuple(errors)


@cache
def _run(derivation: Derivation, needs: tuple[str, ...]) -> Run:
    return run(derivation, partial(_supporting, needs))


def _supporting(needs: tuple[str, ...]) -> Iterator[Proved]:
    """Yield every step that the claims in `needs` have proved, those of their corrections included."""
    for entry in (_ENTRIES[id] for id in needs if id in _ENTRIES and not unsupported(_ENTRIES[id], _ENTRIES)):
        for derivation in filter(None, (entry.derivation, entry.repair)):
            for proved in _run(derivation, entry.supporting).proved:
                yield replace(proved, where=f"{entry.id}, {proved.where}")
