"""The symbolic layer's evidence for a claim: its derivation, its correction and its twins, held against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from derivations.canonical import canonical
from derivations.claims import Evidence, Layer, Outcome, Witness
from derivations.comparison import objections, related, repetitions
from derivations.examination import BrokenError, Run, guarded, of_the_kernel
from derivations.relations import Relation

Twins = tuple[tuple[str, Callable[[], Relation]], ...]
Killed = dict[str, tuple[Relation, Witness]]


def evidence_of(printed: Run, repaired: Run | None, twins: Twins, replaces: str | None) -> tuple[Evidence, list[str]]:
    """The evidence, for no claim in particular, and what could not be examined."""
    faults, errors = _faults_of_runs(printed, repaired)
    killed: Killed = {}
    details: dict[str, Any] = {}
    if not errors:
        try:
            killed = _refuted(twins, [*printed.relations, *(repaired.relations if repaired else ())])
            faults += _faults_of_twins(printed, dict(twins), killed)
            if repaired and printed.relations and repaired.relations:
                ends = printed.relations[-1], repaired.relations[-1]
                faults += guarded("the correction", lambda: list(objections(*ends, printed.point, replaces)))
            details = guarded("the statement", lambda: _details(printed, repaired))
        except BrokenError as error:
            errors = [str(error)]
    undecided = printed.steps[-1].detail if printed.outcome is Outcome.INCONCLUSIVE and not faults else ""
    return Evidence(**{
        "claim": "",
        "layer": Layer.SYMBOLIC,
        "outcome": printed.outcome,
        "scope": "",
        "detail": "; ".join(faults) or undecided or f"{len(printed.steps)} steps",
        "correction": repaired.outcome if repaired else None,
        "witness": printed.witness,
        "refuted_twins": tuple(killed),
        "derivation": printed.steps,
        "repair": repaired.steps if repaired else (),
        "given": tuple(map(str, (repaired or printed).given)),
        "faults": tuple(faults),
        **details,
    }), errors


def _faults_of_runs(printed: Run, repaired: Run | None) -> tuple[list[str], list[str]]:
    """What is wrong with the derivations, and what of them could not be examined."""
    faults, errors = [*printed.faults], [printed.error] if printed.error else []
    if repaired:
        faults += [f"the correction: {fault}" for fault in repaired.faults]
        errors += [f"the correction: {repaired.error}"] if repaired.error else []
        if printed.outcome is Outcome.HOLDS:
            faults.append("a correction is given for a statement that holds")
        if repaired.outcome is Outcome.INCONCLUSIVE and not repaired.faults:
            faults.append(f"the correction: {repaired.steps[-1].detail}")
    return faults, errors


def _details(printed: Run, repaired: Run | None) -> dict[str, Any]:
    """What is shown of the statement and its proof, in words and in normal form."""
    if not printed.relations or (repaired and not repaired.relations):
        return {}
    proof, statement = repaired or printed, printed.relations[-1]
    parts = [f"one exact point: {printed.witness.inputs}" if printed.witness else statement.scope()]
    if inherited := [str(each) for each in printed.given if each not in statement.given]:
        parts.append(f"given {' and '.join(inherited)}")
    if quoted := dict.fromkeys(theorem.name for step in proof.steps for theorem in step.quotes):
        parts.append(f"quoting {', '.join(quoted)}")
    return {
        "scope": ", ".join(parts),
        "general": proof.relations[-1].general(),
        "canonical": canonical(statement),
        "canonical_repair": canonical(repaired.relations[-1]) if repaired else None,
    }


def _refuted(twins: Twins, steps: Sequence[Relation]) -> Killed:
    """The twins that the kernel refutes, each with what it states and the witness.

    Raises BrokenError for one that is no statement, or no version of the claim.
    """
    killed = {}
    for name, make in twins:
        called = f"the twin {name!r}"
        twin = of_the_kernel(called, guarded(called, make))
        if not guarded(called, lambda: related(twin, steps)):                # noqa: B023  (called at once)
            raise BrokenError(f"{called}: expected a version of the claim, of the same kind over the same variables or with "
                              f"a side in common, got {guarded(called, lambda: str(twin))}")   # noqa: B023
        if witness := guarded(called, twin.refute):
            killed[name] = twin, witness
    return killed


def _faults_of_twins(printed: Run, twins: Mapping[str, object], killed: Killed) -> list[str]:
    """The twins that live where the layer has a vote, and those that repeat what is there already."""
    undecided = printed.outcome is Outcome.INCONCLUSIVE and not printed.faults
    faults = [] if undecided else [f"the twin {name!r} is not refuted" for name in twins if name not in killed]
    if printed.relations:
        faults += guarded("the twins", lambda: list(repetitions(printed.relations[-1], killed, printed.witness)))
    return faults
