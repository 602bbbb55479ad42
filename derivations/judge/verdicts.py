"""The one rule: `judge` turns the evidence for a claim into a verdict with its cause; nothing else in the project does."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from derivations.records.claims import (
    DECISIVE_OUTCOMES,
    Cause,
    CauseKind,
    Claim,
    Evidence,
    Judgement,
    Kind,
    Layer,
    Outcome,
    Severity,
    Survivor,
    Verdict,
)

# Worst first: faults of the print, then undecided statements, then supported ones in increasing order of certainty.
WORST_FIRST_VERDICTS = (
    Verdict.REFUTED,
    Verdict.CORRECTED,
    Verdict.PROVED_UNDER,
    Verdict.OPEN,
    Verdict.MEASURED,
    Verdict.CONFIRMED,
    Verdict.CHECKED,
    Verdict.DEFINITION,
    Verdict.PROVED,
)
MIN_TWINS = 2


def survivors(claim: Claim, evidence: Iterable[Evidence]) -> tuple[Survivor, ...]:
    """Return each twin that a voting layer did not refute."""
    return tuple(
        Survivor(e.layer, twin.name)
        for e in evidence
        if e.outcome in DECISIVE_OUTCOMES
        for twin in claim.twins
        if twin.name not in e.refuted_twins
    )


def contradicts(evidence: Iterable[Evidence]) -> bool:
    """Return whether one layer supports what another refutes, in the printed statement or in its correction."""
    votes = list(evidence)
    printed = {e.outcome for e in votes}
    corrected = {e.correction for e in votes}
    return printed >= DECISIVE_OUTCOMES or corrected >= DECISIVE_OUTCOMES


def judge(claim: Claim, evidence: Sequence[Evidence]) -> Judgement:
    """The verdict on the printed statement, computed from the evidence."""
    alive = survivors(claim, evidence)

    if contradicts(evidence):
        return _open(alive, CauseKind.CONTRADICTION, *(e for e in evidence if e.outcome in DECISIVE_OUTCOMES))
    if broken := next((e for e in evidence if e.outcome is Outcome.ERROR), None):
        return _open(alive, CauseKind.FAILURE, broken)
    votes = [e for e in evidence if e.outcome in DECISIVE_OUTCOMES and set(e.refuted_twins) >= {t.name for t in claim.twins}]
    if votes and claim.asserts and len(claim.twins) < MIN_TWINS:
        return Judgement(Verdict.OPEN, Cause(CauseKind.FEW_TWINS, twins=len(claim.twins)), survivors=alive)
    refuting = [e for e in votes if e.outcome is Outcome.REFUTED]
    if refuting:
        return _fault(claim, refuting, votes, alive)
    return _support(claim, [e for e in votes if e.outcome is Outcome.HOLDS], evidence, alive)


def _open(alive: tuple[Survivor, ...], kind: CauseKind, *deciding: Evidence) -> Judgement:
    return Judgement(Verdict.OPEN, Cause(kind, deciding), survivors=alive)


def _fault(claim: Claim, refuting: Sequence[Evidence], votes: Sequence[Evidence], alive: tuple[Survivor, ...]) -> Judgement:
    witness = next((e.witness for e in refuting if e.witness), None)
    if witness is None:
        kind = CauseKind.DISAGREEMENT if claim.kind is Kind.EMPIRICAL else CauseKind.NO_WITNESS
        return _open(alive, kind, *refuting)
    cause = Cause(CauseKind.WITNESS, witness=witness)
    repaired = any(e.layer is Layer.SYMBOLIC and e.general and e.correction is Outcome.HOLDS and not e.faults for e in votes)
    if claim.correction is None or not repaired:
        return Judgement(Verdict.REFUTED, cause, Severity.FATAL, alive)
    if claim.correction.hypothesis:
        cause = Cause(CauseKind.MISSING_HYPOTHESIS, witness=witness, hypothesis=claim.correction.hypothesis)
        return Judgement(Verdict.PROVED_UNDER, cause, claim.correction.severity, alive)
    return Judgement(Verdict.CORRECTED, cause, claim.correction.severity, alive)


def _support(claim: Claim, holding: Sequence[Evidence], evidence: Sequence[Evidence], alive: tuple[Survivor, ...]) -> Judgement:
    if faulty := next((e for e in evidence if e.faults), None):
        return _open(alive, CauseKind.FAULTS, faulty)
    vacuous = any(e.layer is Layer.SYMBOLIC and e.outcome is Outcome.VACUOUS for e in evidence)
    if vacuous or not holding:
        return _open(alive, CauseKind.SILENCE, *evidence)
    if alive:
        return Judgement(Verdict.OPEN, Cause(CauseKind.SURVIVORS, survivors=alive), survivors=alive)
    heard = (*DECISIVE_OUTCOMES, Outcome.NOT_APPLICABLE)
    unproved = tuple(e for e in evidence if e.layer is Layer.SYMBOLIC and e.outcome not in heard)
    if unproved and len(claim.twins) < MIN_TWINS:
        return _open(alive, CauseKind.UNCONFIRMED, *unproved)
    if claim.kind is Kind.EMPIRICAL:
        return Judgement(Verdict.MEASURED, Cause(CauseKind.MEASUREMENT, tuple(holding)))
    cause = Cause(CauseKind.SUPPORT, tuple(holding))
    if claim.kind is Kind.DEFINITION and not unproved:
        return Judgement(Verdict.DEFINITION, cause)
    if any(e.layer is Layer.SYMBOLIC and e.general for e in holding):
        return Judgement(Verdict.PROVED, cause)
    if claim.kind is Kind.EXTERNAL and any(e.layer is Layer.SOURCE for e in holding):
        return Judgement(Verdict.CHECKED, cause)
    return Judgement(Verdict.CONFIRMED, replace(cause, undecided=unproved))


def worst(own: Judgement, parts: Mapping[str, Judgement]) -> tuple[Judgement, str | None]:
    """Return the worst of the judgements on a printed statement and its parts, and the id of the part that it concerns."""
    severities = [*Severity, None]

    def badness(id: str | None) -> tuple[int, int]:
        each = own if id is None else parts[id]
        return WORST_FIRST_VERDICTS.index(each.verdict), severities.index(each.severity)

    culprit = min([None, *parts], key=badness)
    of_parts = (replace(each, part=id) for id, part in parts.items() for each in part.survivors)
    alive = (*own.survivors, *of_parts)
    if culprit is None:
        return replace(own, survivors=alive), None
    return replace(parts[culprit], cause=replace(parts[culprit].cause, part=culprit), survivors=alive), culprit
