"""The baseline: a committed summary of each claim's verdict and evidence, against which later runs are compared.

There is one file per document with one line per claim.

A normal form is stored as its hash.  If the hash differs, the recorded values at exact points show whether the statement
still means the same.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from derivations.files import write_whole
from derivations.ledger.ledger import problems_of
from derivations.ledger.runs import environments
from derivations.records.base import Record, decoded, encoded, from_json
from derivations.records.claims import (
    DECISIVE_OUTCOMES,
    FAULT_VERDICTS,
    SUPPORTING_VERDICTS,
    Kind,
    Layer,
    Outcome,
    Severity,
    Statement,
    Verdict,
)
from derivations.records.documents import baselines
from derivations.records.normal_form import Canonical, Form
from derivations.records.prints import Standing

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


class Texts(Record, frozen=True):
    """The words of a claim."""

    title: str
    kind: Kind
    latex: str
    text: str
    hypotheses: tuple[str, ...]
    rests_on: tuple[str, ...]
    correction: Statement | None
    under: str | None
    left_open: str


class Kept(Record, frozen=True, omit_defaults=True):
    """A claim's entry in the baseline: canonical forms as hashes, and of the comparisons of the prints the results."""

    verdict: Verdict
    severity: Severity | None
    layers: Mapping[Layer, Outcome]
    errors: Mapping[Layer, float]
    powers: Mapping[Layer, float]
    twins: Mapping[str, tuple[Layer, ...]]
    general: bool
    given: tuple[str, ...]
    disproved_given: tuple[str, ...]
    text: Texts
    derivation: tuple[tuple[str, str], ...]
    repair: tuple[tuple[str, str], ...]
    quotes: tuple[str, ...]
    canonical: Canonical | None = None
    canonical_repair: Canonical | None = None
    print: Standing | None = None
    print_repair: Standing | None = None


def snapshot(ledger: Mapping[str, Any]) -> dict[str, Kept]:
    """Return the baseline entries of a ledger."""
    return {row["id"]: _remembered(row) for row in ledger["claims"]}


def _remembered(row: Mapping[str, Any]) -> Kept:
    by_layer: dict[str, list[Mapping[str, Any]]] = {}
    for e in sorted(row["evidence"], key=lambda e: str(e["layer"])):
        by_layer.setdefault(str(e["layer"]), []).append(e)
    errors, powers = (
        {layer: [e[name] for e in votes if e.get(name) is not None] for layer, votes in by_layer.items()}
        for name in ("error", "power")
    )
    refuted = any(e["outcome"] == Outcome.REFUTED for e in by_layer.get(Layer.SYMBOLIC, ()))
    silent = [e["detail"] for e in row["evidence"] if e["outcome"] == Outcome.NOT_APPLICABLE]
    return from_json(
        {
            "verdict": row["verdict"],
            "severity": row["severity"],
            "layers": {layer: _outcome([e["outcome"] for e in votes]) for layer, votes in by_layer.items()},
            "errors": {layer: float(f"{max(known):.2g}") for layer, known in errors.items() if known},
            "powers": {layer: round(min(known), 4) for layer, known in powers.items() if known and layer != Layer.SYMBOLIC},
            "twins": {twin["name"]: twin["refuted_by"] for twin in row["twins"]},
            "general": any(e.get("general") for e in row["evidence"]),
            "given": row["given"],
            "disproved_given": [each for step in row["derivation"][-1:] for each in step["given"] if refuted],
            "text": {
                "title": row["title"],
                "kind": row["kind"],
                **row["statement"],
                "hypotheses": row["stated_hypotheses"],
                "rests_on": row["depends_on"],
                "correction": row["correction"],
                "under": row["under"],
                "left_open": "; ".join(silent),
            },
            **{name: [[step["statement"], step["reason"]] for step in row[name]] for name in ("derivation", "repair")},
            "quotes": sorted({theorem["name"] for theorem in row["quotes"]}),
            **{name: row[name] and hashed(from_json(row[name], Canonical)) for name in ("canonical", "canonical_repair")},
            **{name: own["standing"] if (own := row.get(name)) else None for name in ("print", "print_repair")},
        },
        Kept,
    )


def _outcome(votes: Sequence[str]) -> str:
    """Return the combined outcome of several votes of one layer: the first that does not hold, else `holds`."""
    return next((vote for vote in votes if vote != Outcome.HOLDS), votes[0])


def hashed(statement: Canonical) -> Canonical:
    """Return the statement with each expression in normal form replaced by its hash."""
    return replace(statement, form=_hashed_form(statement.form), left=_hash(statement.left), right=_hash(statement.right))


def _hashed_form(form: Form) -> Form:
    premises = tuple(
        replace(each, left=_hash(each.left), form=_hashed_form(each.form), right=_hash(each.right)) for each in form.given
    )
    return replace(form, given=premises)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ── what got worse ──────────────────────────────────────────────────────────────────────────────────────────────────


def worsened(ledger: Mapping[str, Any], baseline: Mapping[str, Kept]) -> list[str]:
    """Return one line of text for each loss against the baseline; layers that did not run are not compared."""
    complaints = []
    for id, now in snapshot(ledger).items():
        before = baseline.get(id)
        if before is None:
            continue
        for layer, outcome in now.layers.items():
            was = before.layers.get(layer)
            if was in DECISIVE_OUTCOMES and outcome != was:
                complaints.append(f"{id}: {layer} said {was}, now {outcome}")
        if set(now.layers) >= set(before.layers) and _weaker(before.verdict, now.verdict):
            complaints.append(f"{id}: the verdict was {before.verdict}, now {now.verdict}")
        complaints += [f"{id}: the twin {name!r} is gone" for name in before.twins if name not in now.twins]
    return complaints


def _weaker(was: Verdict, is_now: Verdict) -> bool:
    supported, at_fault = was in SUPPORTING_VERDICTS, was in FAULT_VERDICTS
    changed_sides = (supported and is_now in FAULT_VERDICTS) or (at_fault and is_now in SUPPORTING_VERDICTS)
    return changed_sides or STRENGTH[is_now] < STRENGTH[was]


def problems(ledger: Mapping[str, Any], baseline: Mapping[str, Kept], complete: bool = True) -> list[str]:
    """Return one line of text for everything that makes a run fail.

    A run fails if a twin survives, layers contradict each other, a derivation does not hold, or something got worse than the
    baseline.  A `complete` run (one of all layers) also fails if a statement is neither decided nor confirmed.
    """
    own = [f"{row['id']}: {problem}" for row in ledger["claims"] for problem in problems_of(row, complete)]
    return own + worsened(ledger, baseline)


# ── what is accepted ────────────────────────────────────────────────────────────────────────────────────────────────


def rejection(ledger: Mapping[str, Any], baseline: Mapping[str, Kept]) -> str:
    """Return why a ledger cannot become the baseline, or an empty text: its run was partial, or it has problems.

    Losses against the old baseline are no obstacle, since accepting them is the purpose of a new baseline.
    """
    for environment in environments(ledger):
        if environment.get("quick") or not environment.get("complete"):
            what = "a quick run" if environment.get("quick") else "a run that did not include every layer"
            return f"expected a ledger from a complete `verify`, got one with rows from {what}"
    now = snapshot(ledger)
    wrong = {row["id"]: why for row in ledger["claims"] if (why := _problem(row, now[row["id"]], baseline.get(row["id"])))}
    more = f" (and problems of {', '.join([*wrong][1:])})" if len(wrong) > 1 else ""
    return next((f"expected rows without problems, got {id}: {why}{more}" for id, why in wrong.items()), "")


def _problem(row: Mapping[str, Any], now: Kept, before: Kept | None) -> str:
    """Return a problem of a row that its baseline entry does not already record; empty if there is none."""
    if own := problems_of(row):
        same = before is not None and (before.verdict, before.layers, before.twins) == (now.verdict, now.layers, now.twins)
        return "" if same and _is_bad(now) else own[0]
    return "" if row.get("complete") else "a test of it failed or did not run"


def _is_bad(entry: Kept) -> bool:
    silent = [outcome for outcome in entry.layers.values() if outcome not in (*DECISIVE_OUTCOMES, Outcome.NOT_APPLICABLE)]
    voting = {layer for layer, outcome in entry.layers.items() if outcome in DECISIVE_OUTCOMES}
    return entry.verdict is Verdict.OPEN or bool(silent) or any(voting - set(layers) for layers in entry.twins.values())


# ── the files ───────────────────────────────────────────────────────────────────────────────────────────────────────


def load() -> dict[str, Kept]:
    """The committed baselines of all documents; empty when there is none yet.

    Raises ValueError, naming file, claim and key, for a baseline that no ledger could have produced.
    """
    remembered: dict[str, Kept] = {}
    paths = baselines()
    for path in dict.fromkeys(paths.values()):
        if path.exists():
            rows = _read(path)
            if strangers := [id for id in rows if paths.get(_document(id)) != path]:
                raise ValueError(f"baseline: {path}: expected claims of its own documents, got {strangers[0]}")
            remembered |= rows
    return remembered


def _read(path: Path) -> dict[str, Kept]:
    try:
        text = path.read_bytes()
        rows = from_json(decoded(text), dict[str, Any])
        json.loads(text, object_pairs_hook=_refuse_repeated)
        return {id: _row(id, row) for id, row in rows.items()}
    except (OSError, ValueError) as error:
        raise ValueError(f"baseline: {path}: {error}") from None


def _refuse_repeated(pairs: Sequence[tuple[str, object]]) -> None:
    """Raise ValueError if a key occurs twice in an object, of which a reader would take the last."""
    names = [name for name, _ in pairs]
    if len({*names}) < len(names):
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)}: duplicate")


def _row(id: str, row: Any) -> Kept:
    try:
        return from_json(row, Kept)
    except ValueError as error:
        raise ValueError(f"{id}: {error}") from None


def _document(id: str) -> str:
    return id.split(".", 1)[0]


def write(entries: Mapping[str, Kept]) -> None:
    """Write each claim's entry to the baseline of its document; each file is replaced atomically."""
    paths = baselines()
    for path in dict.fromkeys(paths.values()):
        own = {id: row for id, row in entries.items() if paths.get(_document(id)) == path}
        if own or path.exists():
            write_whole(path, as_text(own))


def as_text(entries: Mapping[str, Kept]) -> str:
    """Return the text of a baseline file: one JSON object with one line per claim."""
    lines = [f"{encoded(id).decode()}:{encoded(row).decode()}" for id, row in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
