"""The symbolic layer's evidence for a claim, from comparing its derivation, its correction and its twins."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from derivations.judge.canonical import canonical
from derivations.judge.comparison import objections, related, repetitions
from derivations.judge.examination import BrokenError, Run, guarded, of_the_kernel
from derivations.judge.mutants import COUNTED, Fate, power, tried
from derivations.records import rendering
from derivations.records.claims import Evidence, Layer, Outcome
from derivations.relations import Counterexample, Relation, same

Twins = tuple[tuple[str, Callable[[], Relation]], ...]
Made = Mapping[str, tuple[Relation, Counterexample | None]]
Killed = dict[str, tuple[Relation, Counterexample]]


def evidence_of(printed: Run, repaired: Run | None, twins: Twins, replaces: str | None) -> tuple[Evidence, list[str]]:
    """Return the evidence without a claim id, and the errors that stopped the examination."""
    faults, errors = _faults_of_runs(printed, repaired)
    killed: Killed = {}
    details: dict[str, Any] = {}
    if not errors:
        try:
            made = _examined(twins)
            killed = {name: (twin, failure) for name, (twin, failure) in made.items() if failure}
            steps = [*printed.relations, *(repaired.relations if repaired else ())]
            faults += guarded("the twins", lambda: list(_faults_of_twins(printed, steps, made, killed)))
            if repaired and printed.relations and repaired.relations and printed.outcome is not Outcome.HOLDS:
                ends = printed.relations[-1], repaired.relations[-1]
                faults += guarded("the correction", lambda: list(objections(*ends, printed.point, replaces)))
            details = guarded("the statement", lambda: _details(printed, repaired))
            details |= guarded("the mutants", lambda: _power(repaired or printed, [twin for twin, _ in killed.values()]))
        except BrokenError as error:
            errors = [str(error)]
    undecided = printed.steps[-1].detail if printed.outcome is Outcome.INCONCLUSIVE and not faults else ""
    return Evidence(
        **{
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
        }
    ), errors


def _faults_of_runs(printed: Run, repaired: Run | None) -> tuple[list[str], list[str]]:
    """Return the faults of the derivations, and the errors that stopped their examination."""
    faults, errors = [*printed.faults], [printed.error] if printed.error else []
    if repaired:
        faults += [f"the correction: {fault}" for fault in repaired.faults]
        errors += [f"the correction: {repaired.error}"] if repaired.error else []
        if printed.outcome is Outcome.HOLDS:
            faults.append("correction: a statement that holds must not have one")
        if repaired.outcome is Outcome.INCONCLUSIVE and not repaired.faults:
            faults.append(f"the correction: {repaired.steps[-1].detail}")
    return faults, errors


def _details(printed: Run, repaired: Run | None) -> dict[str, Any]:
    """Return the fields of the evidence that describe the statement: scope, generality and normal forms."""
    if not printed.relations or (repaired and not repaired.relations):
        return {}
    proof, statement = repaired or printed, printed.relations[-1]
    parts = [f"one exact point: {rendering.inputs(printed.witness.inputs)}" if printed.witness else statement.scope()]
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


def _power(proof: Run, twins: Sequence[Relation]) -> dict[str, Any]:
    """Return the number of one-edit mutants of a proved statement, the share refuted, and the names of the others."""
    if proof.outcome is not Outcome.HOLDS or not twins:  # a definition asserts nothing
        return {}
    trials = [t for t in tried(proof.relations[-1], [twin.at for twin in twins]) if t.fate in COUNTED]
    alive = tuple(t.name for t in trials if t.fate is Fate.UNDECIDED)
    return {"power": power(trials), "mutants": len(trials), "alive": alive}


def _examined(twins: Twins) -> Made:
    """Return each twin with its counterexample, if any; raises BrokenError for one that is no statement."""
    examined = {}
    for name, make in twins:
        called = f"the twin {name!r}"
        twin = of_the_kernel(called, guarded(called, make))
        if strange := guarded(called, twin.malformed):
            raise BrokenError(f"{called}: {strange}")
        examined[name] = twin, guarded(called, twin.counterexample)
    return examined


def _faults_of_twins(printed: Run, steps: Sequence[Relation], made: Made, killed: Killed) -> Iterator[str]:
    """Yield a fault for each twin that is not refuted, not a version of the claim, or a repetition.

    If the kernel cannot decide the claim it need not refute the twins, and a twin is at fault only if it is true.
    """
    undecided = printed.outcome is Outcome.INCONCLUSIVE and not printed.faults
    living = {name: twin for name, (twin, failure) in made.items() if failure is None}
    if undecided:
        yield from (f"the twin {name!r} is true" for name, twin in living.items() if twin.trivial() or twin.prove())
        yield from _repeated(printed.relations[-1].core, living)
    else:
        yield from (f"the twin {name!r} is not refuted" for name in living)
    for name, (twin, _) in made.items():
        if (undecided or name in killed) and not related(twin, steps):
            yield (
                f"the twin {name!r} is no version of the claim: expected a side in common, or the same kind of statement "
                f"over the same variables, got {twin}"
            )
    if printed.relations:
        failure = Counterexample(dict(printed.point or {}), printed.witness) if printed.witness else None
        yield from repetitions(printed.relations[-1], killed, failure)


def _repeated(statement: Relation, living: Mapping[str, Relation]) -> Iterator[str]:
    """Yield a fault for each surviving twin that repeats the claim or an earlier surviving twin."""
    names = list(living)
    for position, name in enumerate(names):
        if same(statement, living[name]):
            yield f"the twin {name!r} repeats the claim"
        yield from (
            f"the twin {name!r} repeats the twin {earlier!r}"
            for earlier in names[:position]
            if same(living[earlier], living[name])
        )
