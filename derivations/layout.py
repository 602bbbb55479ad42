"""What a ledger has to hold before anything is told of it: read from a file, it may have been written by anyone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from derivations.claims import Kind, Layer, Outcome, Severity, Verdict

IDS = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)+")
FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str, "document": str, "number": str, "kind": str, "title": str, "statement": dict, "hypotheses": list,
    "verdict": str, "severity": (str, type(None)), "scope": str, "under": (str, type(None)), "correction": (dict, type(None)),
    "witness": (dict, type(None)), "evidence": list, "twins": list, "depends_on": list, "survivors": list, "given": list,
    "stated_hypotheses": list, "stated_twins": list, "stated_correction": (dict, type(None)), "part_of": (str, type(None)),
    "parts": list, "worst_part": (str, type(None)), "derivation": list, "repair": list, "quotes": list, "digest": str,
}
WORDS = ("stated_hypotheses", "stated_twins", "parts", "depends_on", "hypotheses", "survivors", "given")
STEP = ("statement", "reason", "holds", "given", "premises", "quotes")
INNER = {"statement": ("latex", "text"), "correction": ("latex", "text"), "witness": ("inputs", "left", "right", "text"),
         "evidence": ("layer", "outcome", "scope", "seconds", "detail", "correction", "environment", "general", "refuted_twins",
                      "witness", "given", "faults"),
         "stated_correction": ("statement", "severity", "hypothesis", "replaces"), "twins": ("name", "refuted_by"),
         "derivation": STEP, "repair": STEP, "quotes": ("name", "statement", "source", "step")}


def is_id(text: object) -> bool:
    """Whether something is an id: document and number, in letters and digits with dots, hyphens and underscores between."""
    return isinstance(text, str) and "." in text and IDS.fullmatch(text) is not None


def is_worded(text: object) -> bool:
    """Whether something is a text in which there is something to see."""
    return isinstance(text, str) and any(letter.isprintable() and not letter.isspace() for letter in text)


def check_words(id: str, **texts: object) -> None:
    """Raises ValueError for a text that says nothing."""
    for name, text in texts.items():
        if not is_worded(text):
            raise ValueError(f"{name}: expected words for {id}, got {text!r}")


def check_lists(id: str, **lists: object) -> None:
    """Raises ValueError for what is no tuple of texts that say something."""
    for name, words in lists.items():
        if not isinstance(words, tuple) or not all(map(is_worded, words)):
            raise ValueError(f"{name}: expected a tuple of strings for {id}, got {words!r}")


def faults(found: Mapping[str, Any]) -> Iterator[str]:
    """What keeps a ledger from being told, in words."""
    if not isinstance(found.get("environment"), dict) or not isinstance(found.get("claims"), list):
        yield "`environment` or `claims` is missing"
    elif not isinstance(found.get("documents", {}), dict):
        yield "`documents` is no object"
    elif not isinstance(files := found.get("files", {}), dict) or not _are_texts([*files.values()]):
        yield "`files` does not give the hash of each file"
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
    wrong += [name for name in ("sources", "voters") if not _are_texts(row.get(name, []))]
    wrong += ["complete"] if not isinstance(row.get("complete", False), bool) else []
    yield from (f"`{name}` is missing or of the wrong type" for name in wrong)
    if wrong:
        return
    if not is_id(row["id"]):
        yield "the id is not letters and digits with dots, hyphens and underscores between them"
    if row["id"].split(".", 1) != [row["document"], row["number"]]:
        yield f"the document {row['document']!r} and the number {row['number']!r} do not make the id"
    yield from _unknown("verdict", row["verdict"], Verdict)
    yield from _unknown("kind", row["kind"], Kind)
    yield from _unknown("severity", row["severity"], [None, *Severity])
    yield from (f"`{name}` holds what is no text" for name in WORDS if not _are_texts(row[name]))
    lacking = False
    for name, keys in INNER.items():
        inner = row.get(name) or []
        for item in [inner] if isinstance(inner, dict) else inner:
            if not isinstance(item, dict) or not item.keys() >= set(keys):
                lacking = True
                yield f"`{name}` lacks {', '.join(keys)}"
    if not lacking:
        yield from _inner_faults(row)


def _inner_faults(row: Mapping[str, Any]) -> Iterator[str]:
    for e in row["evidence"]:
        yield from _unknown("layer", e["layer"], Layer)
        yield from _unknown("outcome", e["outcome"], Outcome)
        yield from _unknown("correction", e["correction"], [None, *Outcome])
        lists = (e["refuted_twins"], e["given"], e["faults"], e.get("alive", []))
        if not isinstance(e.get("power"), float | int | None) or not isinstance(e.get("mutants", 0), int):
            yield "the power of `evidence` is no number"
        if not isinstance(e["general"], bool) or not all(isinstance(each, list) for each in lists):
            yield "`evidence` is of the wrong type"
        if e["witness"] is not None and (not isinstance(e["witness"], dict) or set(e["witness"]) != set(INNER["witness"])):
            yield f"the witness of `evidence` lacks {', '.join(INNER['witness'])}"
    if set(row["statement"]) != {"latex", "text"} or not all(isinstance(words, str) for words in row["statement"].values()):
        yield "`statement` is of the wrong type"
    if repair := row["stated_correction"]:
        yield from _unknown("severity", repair["severity"], Severity)
        if not isinstance(repair["statement"], dict) or set(repair["statement"]) != {"latex", "text"}:
            yield "`stated_correction` is of the wrong type"
    for name in ("derivation", "repair"):
        for step in row[name]:
            theorems = step["quotes"] if isinstance(step["quotes"], list) else [None]
            if not isinstance(step["holds"], bool) or not all(isinstance(each, dict) for each in theorems):
                yield f"`{name}` is of the wrong type"


def _are_texts(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(each, str) for each in found)


def _unknown(name: str, value: object, known: Iterable[object]) -> Iterator[str]:
    if value not in list(known):
        yield f"{value!r} is no {name}"
