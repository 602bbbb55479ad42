"""Claims about which Rocq and our derivations give different answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from derivations.ledger.baseline import Kept
from derivations.records.base import from_json
from derivations.records.claims import Layer, Outcome, Verdict
from derivations.records.seals import About, Seal, SealOutcome


class Difference(StrEnum):
    """How Rocq and our derivation differ about a claim; the first is a fault, the second is news, the third is neither."""

    CONTRADICTED = "accepted by Rocq, refuted by us"
    GAINED = "accepted by Rocq, not proved by us"
    LEFT = "proved by us, left with a goal by Rocq"


class Held(NamedTuple):
    """The derivation's result for the print and for its correction; None where there is none."""

    print: Outcome | None
    correction: Outcome | None


def of_row(row: Mapping[str, Any]) -> Held:
    """The derivation's result in a row of a ledger."""
    vote: Mapping[str, Any] = next((vote for vote in row["evidence"] if vote["layer"] == Layer.SYMBOLIC), {})
    return Held(*(Outcome(outcome) if (outcome := vote.get(key)) else None for key in ("outcome", "correction")))


def of_baseline(accepted: Kept) -> Held:
    """The derivation's result in the baseline."""
    repaired = accepted.verdict in (Verdict.CORRECTED, Verdict.PROVED_UNDER)
    return Held(accepted.layers.get(Layer.SYMBOLIC), Outcome.HOLDS if repaired else None)


def difference(seals: Iterable[Seal], held: Held) -> Difference | None:
    """The difference between Rocq's answers about a claim and our derivation's result; None if they agree.

    A theorem by hand states the claim, its correction, or the negation of a print that is refuted.
    """
    about = {outcome: {seal.about for seal in seals if seal.outcome is outcome} for outcome in SealOutcome}
    accepted, proved = about[SealOutcome.ACCEPTED], Outcome.HOLDS in held
    if (About.PRINT in accepted and held.print is Outcome.REFUTED) or (
        About.CORRECTION in accepted and held.correction is Outcome.REFUTED
    ):
        return Difference.CONTRADICTED
    if accepted and not proved and not (accepted == {About.BY_HAND} and held.print is Outcome.REFUTED):
        return Difference.GAINED
    return Difference.LEFT if about[SealOutcome.INCONCLUSIVE] and not accepted and proved else None


def differences(seals: Mapping[str, Sequence[Seal]], held: Mapping[str, Held]) -> dict[Difference, list[str]]:
    """The claims that both Rocq and our derivations have examined, by how the two differ."""
    by_claim = {id: difference(own, held[id]) for id, own in seals.items() if id in held}
    return {kind: [id for id, own in by_claim.items() if own is kind] for kind in Difference}


def of_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, tuple[Seal, ...]], dict[str, Held]]:
    """The seals in a ledger, and the results of its derivations."""
    sealed = [row for row in rows if row.get("kernel")]
    return (
        {row["id"]: from_json(row["kernel"], tuple[Seal, ...]) for row in sealed},
        {row["id"]: of_row(row) for row in sealed},
    )


def described(differing: Mapping[Difference, Sequence[str]]) -> list[str]:
    """A line for each kind of difference: how many claims, and which."""
    return [f"{len(ids)} {kind}" + (f": {', '.join(ids)}" if ids else "") for kind, ids in differing.items()]


def alarms(differing: Mapping[Difference, Sequence[str]]) -> list[str]:
    """The contradictions: Rocq and a witness cannot both be right."""
    return [f"{id}: a theorem is {Difference.CONTRADICTED}" for id in differing[Difference.CONTRADICTED]]


def reasons(seals: Mapping[str, Sequence[Seal]]) -> list[str]:
    """A line for each reason why a claim has no theorem that was accepted, the most common first."""
    counts: Counter[str] = Counter()
    for own in seals.values():
        if any(seal.outcome is SealOutcome.ACCEPTED for seal in own):
            continue
        counts.update({f"{seal.outcome}: {cause(seal)}" for seal in own})
    return [f"{count} {words}" for words, count in counts.most_common()]


def cause(seal: Seal) -> str:
    """The reason why a theorem was not accepted, without the failing expression."""
    return seal.detail.split(":", 1)[0].split("\n", 1)[0]
