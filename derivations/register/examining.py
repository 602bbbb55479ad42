"""Examination of a claim: run its derivation, its correction and its twins, and compare its print with what they prove."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

from msgspec.structs import replace as updated

from derivations.calculus.quick import shortcuts
from derivations.judge.examination import Derivation, Proved, Run, run
from derivations.judge.integrity import changed_names
from derivations.judge.symbolic import Twins, evidence_of
from derivations.records.claims import Evidence, Layer, Outcome, Step
from derivations.records.prints import Check, Standing
from derivations.register import catalogue
from derivations.register.catalogue import LOADED
from derivations.register.entry import Entry
from derivations.register.loading import unsupported


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
    if wrong := unsupported(entry, LOADED):
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
    own, repaired = _prints(entry.id) if catalogue.ENTRIES.get(entry.id) is entry else (None, None)
    named = (("print", own), ("correction", repaired))
    differing = [
        f"the {name} differs from its relation: {each.reason}"
        for name, each in named
        if each and each.standing is Standing.DIFFERS
    ]
    faults = (*evidence.faults, *differing)
    witness = evidence.witness
    if witness and entry.derivation:
        from derivations.prints.claims import as_printed

        steps = _run(entry.derivation, entry.supporting).relations
        witness = as_printed(entry, witness, steps[-1], catalogue.ENTRIES) if steps else witness
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
    from derivations.prints.claims import correction_of, print_of  # here, since proofs come first and need no reader

    registered = catalogue.ENTRIES
    return print_of(registered[id], registered), correction_of(registered[id], registered)


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
    for entry in (LOADED[id] for id in needs if id in LOADED and not unsupported(LOADED[id], LOADED)):
        for derivation in filter(None, (entry.derivation, entry.repair)):
            for proved in _run(derivation, entry.supporting).proved:
                yield replace(proved, where=f"{entry.id}, {proved.where}")
