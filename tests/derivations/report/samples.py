"""Ledgers for reports: one with every verdict, one from a real examination, one with all claims."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from derivations.ledger import ledger
from derivations.ledger.rows import settle
from derivations.records.base import from_json
from derivations.records.claims import Evidence, Layer, Outcome, Severity, Step, Verdict, Witness
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.examining import examine

ENVIRONMENT = {
    "commit": "0123456789abcdef",
    "date": "2025-01-02T03:04:05+00:00",
    "python": "3.11.7",
    "seed": 0,
    "seconds": 1.5,
    "packages": {"sympy": "1.14.0"},
    "devices": ["cpu"],
    "skipped": {"no GPU here": 3},
}
EXAMINED = ("eot.46", "eot.54", "eot.58", "eot.59", "eot.def7.2", "eot.s7.fisher-scaled", "deciphering.s4.mem")
ACCUSED = {"corrected": "slip", "proved-under": "hypothesis", "refuted": "fatal"}
SPOKEN = dict.fromkeys(ACCUSED, ("symbolic", "refuted", "identity")) | {
    "open": ("symbolic", "n/a", "identity"),
    "confirmed": ("torch", "holds", "identity"),
    "definition": ("symbolic", "holds", "definition"),
    "measured": ("torch", "holds", "empirical"),
    "checked": ("source", "holds", "external fact"),
}
WITNESS: dict[str, Any] = {
    "inputs": {"m": 2, "s": [0, "1/2"], "tau": 1},
    "left": "0.25",
    "sign": "≠",
    "right": "-oo",
    "about": "the limit",
}


def row(id: str = "eot.1", **changes: Any) -> dict[str, Any]:
    """A row of a ledger that follows from its evidence, except for the verdict and the fields that a test sets."""
    verdict = changes.pop("verdict", "proved")
    twins = changes.pop("twins", [{"name": "the sign", "refuted_by": ["symbolic"]}, {"name": "τ is lost", "refuted_by": [""]}])
    scope, hypotheses = changes.pop("scope", "all m ≥ 1"), changes.pop("hypotheses", ["τ > 0"])
    severity, witness = changes.pop("severity", ACCUSED.get(verdict)), changes.pop("witness", WITNESS)
    repair = changes.pop("correction", {"latex": r"a = bc", "text": "What is true."})
    layer, outcome, kind = SPOKEN.get(verdict, ("symbolic", "holds", "identity"))
    accused, repaired = verdict in ACCUSED, verdict in ("corrected", "proved-under")
    evidence = {
        "layer": layer,
        "outcome": outcome,
        "scope": scope,
        "seconds": 0.25,
        "detail": "2 steps",
        "correction": "holds" if repaired else None,
        "environment": "cpu",
        "general": layer == "symbolic",
        "refuted_twins": [twin["name"] for twin in twins if twin["refuted_by"]],
        "error": None,
        "witness": witness if accused else None,
        "given": [],
        "faults": [],
    }
    row_data = {
        "id": id,
        "document": id.split(".")[0],
        "number": id.split(".", 1)[1],
        "kind": kind,
        "title": f"Title of {id}",
        "statement": {"latex": r"\frac{a}{b}=c", "text": f"The words of {id}."},
        "provenance": "printed",
        "source_lines": ["17–19"],
        "stated_hypotheses": hypotheses,
        "stated_twins": [twin["name"] for twin in twins],
        "part_of": None,
        "parts": [],
        "depends_on": [],
        "stated_correction": {
            "statement": repair,
            "severity": severity,
            "hypothesis": "not enough" if verdict == "proved-under" else None,
            "replaces": None,
        }
        if repaired
        else None,
        "evidence": [evidence],
        "canonical": None,
        "canonical_repair": None,
        "derivation": [step("a = b*c", f"the reason of {id}")],
        "repair": [step("a = c*b", "repaired")] if accused else [],
    }
    return settle([row_data | changes])[0]


def step(statement: str, reason: str, **changes: Any) -> dict[str, Any]:
    """A step that holds."""
    return {
        "statement": statement,
        "reason": reason,
        "holds": True,
        "detail": "",
        "given": [],
        "premises": [],
        "quotes": [],
        **changes,
    }


def of(*rows: dict[str, Any], **environment: Any) -> dict[str, Any]:
    """A ledger of rows."""
    return ledger.assemble(rows, ENVIRONMENT | environment)


def every_verdict() -> dict[str, Any]:
    """One claim for each verdict, in an order that the errata must change, and a second document."""
    verdicts = [verdict for verdict in Verdict if verdict != Verdict.REFUTED]
    rows = [
        row(f"eot.{number}", verdict=str(verdict), depends_on=[f"eot.{number - 1}"] if number > 1 else [])
        for number, verdict in enumerate(verdicts, start=1)
    ]
    rows += [
        row("eot.s7.fisher-scaled", verdict="corrected", severity=str(Severity.WORDING), depends_on=["eot.1", "eot.2"]),
        row("eot.thm6.3", verdict="refuted", kind="optimality"),
        row("geometric.7", verdict="measured", kind="empirical"),
    ]
    return of(*rows)


@cache
def examined() -> str:
    """The symbolic layer's evidence on a few claims, as the text of a ledger."""
    return json.dumps(ledger.build([examine(entries()[id]).evidence for id in EXAMINED], EXAMINED, ENVIRONMENT))


def everything() -> dict[str, Any]:
    """All claims with artificial evidence: each claim with a correction is refuted, the others hold."""
    return json.loads(json.dumps(ledger.build([_made_up(entry) for entry in entries().values()], entries(), ENVIRONMENT)))


def _made_up(entry: Entry) -> Evidence:
    wrong, steps = entry.correction is not None, (Step("a = b", "made up", True),)
    return Evidence(
        entry.id,
        Layer.SYMBOLIC,
        Outcome.REFUTED if wrong else Outcome.HOLDS,
        "made up",
        general=True,
        correction=Outcome.HOLDS if wrong else None,
        witness=from_json(WITNESS, Witness) if wrong else None,
        refuted_twins=tuple(entry.twins),
        derivation=steps,
        repair=steps if wrong else (),
    )


def saved(folder: Path, ledger: dict[str, Any], name: str = "ledger.json") -> Path:
    """A ledger as a file."""
    path = folder / name
    path.write_text(json.dumps(ledger), encoding="utf-8")
    return path
