"""What a ledger has to hold before anything is told of it: read from a file, it may have been written by anyone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from derivations.claims import Severity, Verdict

IDS = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)+")
FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str, "document": str, "number": str, "kind": str, "title": str, "statement": dict, "hypotheses": list,
    "verdict": str, "severity": (str, type(None)), "scope": str, "correction": (dict, type(None)),
    "witness": (dict, type(None)), "evidence": list, "twins": list, "depends_on": list,
}
INNER = {"statement": ("latex", "text"), "correction": ("latex", "text"), "witness": ("inputs", "left", "right", "text"),
         "evidence": ("layer", "outcome", "scope", "seconds", "detail"), "twins": ("name", "refuted_by"),
         "derivation": ("statement", "reason", "holds"), "repair": ("statement", "reason", "holds")}


def faults(found: Mapping[str, Any]) -> Iterator[str]:
    """What keeps a ledger from being told, in words."""
    if not isinstance(found.get("environment"), dict) or not isinstance(found.get("claims"), list):
        yield "`environment` or `claims` is missing"
    elif not isinstance(found.get("documents", {}), dict):
        yield "`documents` is no object"
    elif not found["claims"]:
        yield "there are no claims"
    elif not all(isinstance(row, dict) for row in found["claims"]):
        yield "a claim is no object"
    else:
        ids = [row.get("id") for row in found["claims"]]
        yield from (f"the id {id} comes twice" for id in sorted({str(id) for id in ids if ids.count(id) > 1}))
        for place, row in enumerate(found["claims"], start=1):
            yield from (f"claim {place} ({row.get('id', 'no id')}): {fault}" for fault in _row_faults(row))


def _row_faults(row: Mapping[str, Any]) -> Iterator[str]:
    wrong = [name for name, kind in FIELDS.items() if name not in row or not isinstance(row[name], kind)]
    yield from (f"`{name}` is missing or of the wrong type" for name in wrong)
    if wrong:
        return
    if not IDS.fullmatch(row["id"]) or not IDS.fullmatch(f"{row['document']}.1"):
        yield "the id or the document is not letters and digits with dots, hyphens and underscores between them"
    if row["verdict"] not in list(Verdict):
        yield f"{row['verdict']!r} is no verdict"
    if row["severity"] not in [None, *Severity]:
        yield f"{row['severity']!r} is no severity"
    for name, keys in INNER.items():
        inner = row.get(name) or []
        for item in [inner] if isinstance(inner, dict) else inner:
            if not isinstance(item, dict) or not item.keys() >= set(keys):
                yield f"`{name}` lacks {', '.join(keys)}"
