"""A row of the ledger: the statement of a claim, the evidence for it, and the conclusions from both.

`settle` computes the conclusions (verdict, scope, witness, refuted twins, …) when a ledger is put together, and again when one
is read: a row whose recorded verdict does not follow from its evidence is refused.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from derivations.judge.verdicts import judge, worst
from derivations.records import rendering
from derivations.records.base import from_json, to_json
from derivations.records.claims import (
    FAULT_VERDICTS,
    Cause,
    CauseKind,
    Claim,
    Correction,
    Evidence,
    Judgement,
    Kind,
    Layer,
    Outcome,
    Statement,
    Twin,
    Verdict,
    Witness,
)
from derivations.register import source_lines as printed
from derivations.register.catalogue import parts_of

if TYPE_CHECKING:
    from derivations.register.entry import Entry

Row = dict[str, Any]

FOLLOWS = (
    "verdict",
    "severity",
    "cause",
    "under",
    "worst_part",
    "correction",
    "witness",
    "twins",
    "survivors",
    "given",
    "hypotheses",
    "quotes",
)
NOT_OF_A_ROW = ("claim", "derivation", "repair", "canonical", "canonical_repair", "print", "print_repair")
"""The fields of evidence that a row holds itself, or not at all."""

REPAIRED = (Verdict.CORRECTED, Verdict.PROVED_UNDER)


def stated(entry: "Entry") -> Row:
    """Return the catalogue's fields of a row."""
    claim = entry.claim
    return {
        "id": claim.id,
        "document": claim.document,
        "number": claim.number,
        "kind": str(claim.kind),
        "title": claim.title,
        "statement": to_json(claim.statement),
        "provenance": to_json(printed.provenance(claim.id)),
        "source_lines": list(printed.lines(claim.id)),
        "stated_hypotheses": list(claim.hypotheses),
        "stated_correction": to_json(claim.correction),
        "stated_twins": [twin.name for twin in claim.twins],
        "part_of": claim.part_of,
        "parts": parts_of(claim.id),
        "depends_on": list(claim.needs),
    }


def states(row: Mapping[str, Any], entry: "Entry") -> bool:
    """Return whether a row's statement is the one now in the catalogue."""
    return all(row.get(name) == value for name, value in stated(entry).items())


def row_of(entry: "Entry", evidence: Sequence[Evidence]) -> Row:
    """Return a row with a claim and the evidence for it, without the conclusions."""
    symbolic = [e for e in evidence if e.layer is Layer.SYMBOLIC]
    return stated(entry) | {
        "evidence": [_evidence_as_data(e) for e in evidence],
        "derivation": [to_json(step) for e in symbolic for step in e.derivation],
        "repair": [to_json(step) for e in symbolic for step in e.repair],
        "canonical": next((to_json(e.canonical) for e in symbolic if e.canonical), None),
        "canonical_repair": next((to_json(e.canonical_repair) for e in symbolic if e.canonical_repair), None),
        "print": next((to_json(e.print) for e in symbolic if e.print), None),
        "print_repair": next((to_json(e.print_repair) for e in symbolic if e.print_repair), None),
    }


def _evidence_as_data(e: Evidence) -> Row:
    fields = {name: value for name, value in to_json(e).items() if name not in NOT_OF_A_ROW}
    return fields | {"seconds": round(e.seconds, 3)}


# ── what follows ────────────────────────────────────────────────────────────────────────────────────────────────────


def claim_of(row: Mapping[str, Any]) -> Claim:
    """Return the claim of a row."""
    repair = row["stated_correction"]
    return Claim(
        row["id"],
        Kind(row["kind"]),
        row["title"],
        from_json(row["statement"], Statement),
        tuple(row["stated_hypotheses"]),
        tuple(row["depends_on"]),
        tuple(map(Twin, row["stated_twins"])),
        from_json(repair, Correction) if repair else None,
        row["part_of"],
    )


def evidence_in(row: Mapping[str, Any]) -> list[Evidence]:
    """Return the evidence of a row, without the derivations."""
    return [from_json({**e, "claim": row["id"]}, Evidence) for e in row["evidence"]]


NOT_VERIFIED = Judgement(Verdict.OPEN, Cause(CauseKind.NOT_VERIFIED))


def settle(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the rows with all conclusions from their statements and evidence.

    A printed id whose parts are separate claims has their worst verdict; a part that is not among the rows counts as open.
    """
    own = {row["id"]: judge(claim_of(row), evidence_in(row)) for row in rows}
    by_id = {row["id"]: row for row in rows}
    settled = []
    for row in rows:
        parts = {id: own.get(id) or NOT_VERIFIED for id in row["parts"]}
        judgement, part = worst(own[row["id"]], parts)
        settled.append({**row, **_following(row, judgement, by_id.get(part, row) if part else row), "worst_part": part})
    return [sealed(row) for row in settled]


def _shown(witness: Witness) -> Row:
    """Return a witness with its text."""
    record: Row = to_json(witness)
    return record | {"text": rendering.witness(witness)}


def _following(row: Mapping[str, Any], judgement: Judgement, from_row: Mapping[str, Any]) -> Row:
    repair = from_row["stated_correction"] if judgement.verdict in REPAIRED else None
    witness = next((e.witness for e in evidence_in(from_row) if e.witness), None)
    hypotheses = list(dict.fromkeys(each for e in row["evidence"] for each in e["given"]))
    return {
        "verdict": str(judgement.verdict),
        "severity": str(judgement.severity) if judgement.severity else None,
        "cause": str(judgement.cause.kind),
        "scope": rendering.cause(judgement.cause),
        "under": repair["hypothesis"] if repair else None,
        "correction": repair["statement"] if repair else None,
        "witness": _shown(witness) if witness and judgement.verdict in FAULT_VERDICTS else None,
        "twins": [
            {"name": name, "refuted_by": sorted({e["layer"] for e in row["evidence"] if name in e["refuted_twins"]})}
            for name in row["stated_twins"]
        ],
        "survivors": to_json(judgement.survivors),
        "given": hypotheses,
        "hypotheses": [*row["stated_hypotheses"], *hypotheses],
        "quotes": [
            {**theorem, "step": step["statement"]}
            for name in ("derivation", "repair")
            for step in row[name]
            for theorem in step["quotes"]
        ],
    }


# ── rows that somebody else wrote ───────────────────────────────────────────────────────────────────────────────────


def sealed(row: Mapping[str, Any]) -> Row:
    """Return the row with a digest of its content, which reveals changes by hand."""
    rest = {name: value for name, value in row.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False)
    return rest | {"digest": hashlib.sha256(text.encode()).hexdigest()[:16]}


def verified(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the rows with everything that follows from their evidence; stored text is not trusted but rendered again.

    Raises ValueError for a row that differs from what its evidence implies, or that was edited after it was written.
    """
    settled = settle(rows)
    wrong = [f"{row['id']}: {fault}" for row, expected in zip(rows, settled, strict=True) if (fault := _fault(row, expected))]
    if wrong:
        raise ValueError(wrong[0] + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""))
    return settled


def _fault(row: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    for name in FOLLOWS:
        if _fact(row, name) != _fact(expected, name):
            return f"{name}: expected {_fact(expected, name)!r}, which follows from the evidence, got {_fact(row, name)!r}"
    if unsupported := _unsupported_proof(row):
        return unsupported
    return "" if row["digest"] == sealed(row)["digest"] else "digest: expected that of the row, got a different one"


def _fact(row: Mapping[str, Any], name: str) -> Any:
    """Return a field of a row without its rendered text."""
    value = row[name]
    return {key: each for key, each in value.items() if key != "text"} if name == "witness" and value else value


def _unsupported_proof(row: Mapping[str, Any]) -> str:
    """Return which proof the derivation of a row lacks, if the row claims to be proved or repaired."""
    for e in row["evidence"]:
        for outcome, steps in ((e["outcome"], row["derivation"]), (e["correction"], row["repair"])):
            if e["layer"] == Layer.SYMBOLIC and outcome == Outcome.HOLDS and not (steps and all(s["holds"] for s in steps)):
                return "derivation: expected steps that all hold, as the symbolic layer does, got another"
    return ""
