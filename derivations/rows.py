"""A row of the ledger: what a claim states, the evidence for it, and what follows from both.

What follows (verdict, scope, witness, which twins died, …) is computed by `settle` when a ledger is put together, and again
when one is read: a row in which somebody typed another verdict than its evidence gives is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from typing import Any

from derivations.catalogue import Entry, entries
from derivations.claims import (
    ACCUSING,
    Claim,
    Correction,
    Evidence,
    Judgement,
    Kind,
    Layer,
    Outcome,
    Severity,
    Statement,
    Twin,
    Verdict,
    Witness,
    judge,
    worst,
)

Row = dict[str, Any]

FOLLOWS = ("verdict", "severity", "scope", "under", "worst_part", "correction", "witness", "twins", "survivors", "given",
           "hypotheses", "quotes")
REPAIRED = (Verdict.CORRECTED, Verdict.PROVED_UNDER)


def stated(entry: Entry) -> Row:
    """What the catalogue says of a claim."""
    claim = entry.claim
    return {
        "id": claim.id,
        "document": claim.document,
        "number": claim.number,
        "kind": str(claim.kind),
        "title": claim.title,
        "statement": asdict(claim.statement),
        "stated_hypotheses": list(claim.hypotheses),
        "stated_correction": _plain(asdict(claim.correction)) if claim.correction else None,
        "stated_twins": [twin.name for twin in claim.twins],
        "part_of": claim.part_of,
        "parts": [id for id, other in entries().items() if other.part_of == claim.id],
        "depends_on": list(claim.needs),
    }


def states(row: Mapping[str, Any], entry: Entry) -> bool:
    """Whether a row is about the claim as it is in the catalogue now."""
    return all(row.get(name) == value for name, value in stated(entry).items())


def row_of(entry: Entry, evidence: Sequence[Evidence]) -> Row:
    """A claim and the evidence for it; what follows is not in it yet."""
    symbolic = [e for e in evidence if e.layer is Layer.SYMBOLIC]
    return stated(entry) | {
        "evidence": [_evidence_as_data(e) for e in evidence],
        "derivation": [_plain(asdict(step)) for e in symbolic for step in e.derivation],
        "repair": [_plain(asdict(step)) for e in symbolic for step in e.repair],
        "canonical": next((_plain(asdict(e.canonical)) for e in symbolic if e.canonical), None),
        "canonical_repair": next((_plain(asdict(e.canonical_repair)) for e in symbolic if e.canonical_repair), None),
    }


def _evidence_as_data(e: Evidence) -> Row:
    return {
        "layer": str(e.layer),
        "outcome": str(e.outcome),
        "scope": e.scope,
        "seconds": round(e.seconds, 3),
        "detail": e.detail,
        "correction": str(e.correction) if e.correction else None,
        "environment": e.environment,
        "general": e.general,
        "error": e.error if e.error is not None and math.isfinite(e.error) else None,
        "refuted_twins": list(e.refuted_twins),
        "witness": asdict(e.witness) if e.witness else None,
        "given": list(e.given),
        "faults": list(e.faults),
        "power": e.power,
        "mutants": e.mutants,
        "alive": list(e.alive),
    }


def _plain(data: Row) -> Row:
    """The same data as JSON gives it back."""
    return json.loads(json.dumps(data))  # type: ignore[no-any-return]


# ── what follows ────────────────────────────────────────────────────────────────────────────────────────────────────


def claim_of(row: Mapping[str, Any]) -> Claim:
    """What a row states, as a claim."""
    repair = row["stated_correction"]
    correction = repair and Correction(Statement(**repair["statement"]), Severity(repair["severity"]), repair["hypothesis"],
                                       repair["replaces"])
    return Claim(row["id"], Kind(row["kind"]), row["title"], Statement(**row["statement"]), tuple(row["stated_hypotheses"]),
                 tuple(row["depends_on"]), tuple(map(Twin, row["stated_twins"])), correction, row["part_of"])


def evidence_in(row: Mapping[str, Any]) -> list[Evidence]:
    """The evidence of a row, as far as a verdict depends on it."""
    return [
        Evidence(row["id"], Layer(e["layer"]), Outcome(e["outcome"]), e["scope"], detail=e["detail"], general=e["general"],
                 correction=Outcome(e["correction"]) if e["correction"] else None,
                 witness=Witness(**e["witness"]) if e["witness"] else None, refuted_twins=tuple(e["refuted_twins"]),
                 given=tuple(e["given"]), faults=tuple(e["faults"]))
        for e in row["evidence"]
    ]


def settle(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows with all that follows from what they state and from their evidence.

    A printed id whose parts are claims of their own has the worst verdict of them all; a part that is not among the rows is
    open.
    """
    own = {row["id"]: judge(claim_of(row), evidence_in(row)) for row in rows}
    by_id = {row["id"]: row for row in rows}
    settled = []
    for row in rows:
        parts = {id: own.get(id) or Judgement(Verdict.OPEN, "not verified in this run") for id in row["parts"]}
        judgement, part = worst(own[row["id"]], parts)
        settled.append({**row, **_following(row, judgement, by_id.get(part, row) if part else row), "worst_part": part})
    return [sealed(row) for row in settled]


def _following(row: Mapping[str, Any], judgement: Judgement, from_row: Mapping[str, Any]) -> Row:
    repair = from_row["stated_correction"] if judgement.verdict in REPAIRED else None
    witness = next((e["witness"] for e in from_row["evidence"] if e["witness"]), None)
    given = list(dict.fromkeys(each for e in row["evidence"] for each in e["given"]))
    return {
        "verdict": str(judgement.verdict),
        "severity": str(judgement.severity) if judgement.severity else None,
        "scope": judgement.reason,
        "under": repair["hypothesis"] if repair and judgement.verdict == Verdict.PROVED_UNDER else None,
        "correction": repair["statement"] if repair else None,
        "witness": witness if judgement.verdict in ACCUSING else None,
        "twins": [{"name": name, "refuted_by": sorted({e["layer"] for e in row["evidence"] if name in e["refuted_twins"]})}
                  for name in row["stated_twins"]],
        "survivors": list(judgement.survivors),
        "given": given,
        "hypotheses": [*row["stated_hypotheses"], *given],
        "quotes": [{**theorem, "step": step["statement"]} for name in ("derivation", "repair") for step in row[name]
                   for theorem in step["quotes"]],
    }


# ── rows that somebody else wrote ───────────────────────────────────────────────────────────────────────────────────


def sealed(row: Mapping[str, Any]) -> Row:
    """The row with a digest of all that it holds, so that a change by hand shows."""
    rest = {name: value for name, value in row.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False)
    return rest | {"digest": hashlib.sha256(text.encode()).hexdigest()[:16]}


def contradictions(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The claims whose row says what does not follow from its evidence, or that was changed after it was written."""
    expected = {row["id"]: row for row in settle(deepcopy(list(rows)))}
    for row in rows:
        follows = expected[row["id"]]
        wrong = [name for name in FOLLOWS if row.get(name) != follows[name]]
        if wrong:
            name = wrong[0]
            yield f"{row['id']}: `{name}` is {row.get(name)!r}, but from the evidence follows {follows[name]!r}"
        elif symbolic := _unsupported_proof(row):
            yield f"{row['id']}: {symbolic}"
        elif row.get("digest") != sealed(row)["digest"]:
            yield f"{row['id']}: the row was changed after it was written"


def _unsupported_proof(row: Mapping[str, Any]) -> str:
    """What is missing in the derivation of a row that is said to hold, or to be repaired."""
    for e in row["evidence"]:
        for outcome, steps in ((e["outcome"], row["derivation"]), (e["correction"], row["repair"])):
            if e["layer"] == Layer.SYMBOLIC and outcome == Outcome.HOLDS and not (steps and all(s["holds"] for s in steps)):
                return "the symbolic layer is said to hold, but not every step of a derivation does"
    return ""
