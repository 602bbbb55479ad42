"""Ledgers to make reports of: one with every verdict, one examined for real, one with every claim there is."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from derivations import ledger
from derivations.catalogue import Entry, entries, examine
from derivations.claims import Evidence, Layer, Outcome, Severity, Verdict, Witness

ENVIRONMENT = {"commit": "0123456789abcdef", "date": "2025-01-02T03:04:05+00:00", "python": "3.11.7", "seed": 0, "seconds": 1.5,
               "packages": {"sympy": "1.14.0"}, "devices": ["cpu"], "skipped": {"no GPU here": 3}}
EXAMINED = ("eot.46", "eot.54", "eot.58", "eot.59", "eot.def7.2", "eot.s7.fisher-scaled", "deciphering.s4.mem")
ACCUSED = {"corrected": "slip", "proved-under": "hypothesis", "refuted": "fatal"}
WITNESS = {"inputs": "m = 2, s = (0, 1/2), tau = 1", "left": "0.25", "right": "-oo",
           "text": "the limit: at m = 2, s = (0, 1/2), tau = 1: 0.25 ≠ -oo"}


def row(id: str = "eot.1", **changes: Any) -> dict[str, Any]:
    """A row of a ledger, with what the tests want to be different."""
    verdict = changes.get("verdict", "proved")
    accused = verdict in ACCUSED
    told = {
        "id": id, "document": id.split(".")[0], "number": id.split(".", 1)[1], "kind": "identity", "title": f"Title of {id}",
        "statement": {"latex": r"\frac{a}{b}=c", "text": f"The words of {id}."}, "hypotheses": ["τ > 0"], "verdict": verdict,
        "severity": ACCUSED.get(verdict), "scope": "not enough; without it: 0 ≠ 1" if verdict == "proved-under" else "a scope",
        "correction": {"latex": r"a = bc", "text": "What is true."} if accused and verdict != "refuted" else None,
        "witness": WITNESS if accused else None,
        "evidence": [{"layer": "symbolic", "outcome": "refuted" if accused else "holds", "scope": "all m ≥ 1", "seconds": 0.25,
                      "detail": "2 steps", "correction": "holds" if accused else None, "environment": "cpu"}],
        "twins": [{"name": "the sign", "refuted_by": ["symbolic"]}, {"name": "τ is lost", "refuted_by": ["symbolic"]}],
        "survivors": [], "depends_on": [],
        "derivation": [{"statement": "a = b*c", "reason": f"the reason of {id}", "holds": True, "detail": ""}],
        "repair": [{"statement": "a = c*b", "reason": "repaired", "holds": True, "detail": ""}] if accused else [],
    }
    return told | changes


def of(*rows: dict[str, Any], **environment: Any) -> dict[str, Any]:
    """A ledger of rows."""
    return {"schema": ledger.SCHEMA, "environment": ENVIRONMENT | environment, "claims": list(rows), "summary": {}}


def every_verdict() -> dict[str, Any]:
    """One claim for each verdict, those at fault in an order that the errata must change, and a second document."""
    verdicts = [verdict for verdict in Verdict if verdict != Verdict.REFUTED]
    rows = [row(f"eot.{place}", verdict=str(verdict), depends_on=[f"eot.{place - 1}"] if place > 1 else [])
            for place, verdict in enumerate(verdicts, start=1)]
    rows += [row("eot.s7.worded", verdict="corrected", severity=str(Severity.WORDING), depends_on=["eot.1", "eot.2"]),
             row("eot.thm9.1", verdict="refuted", kind="optimality"),
             row("geometric.fig3", verdict="measured", kind="empirical")]
    return of(*rows)


@cache
def examined() -> str:
    """What the symbolic layer finds about a few claims, as the text of a ledger."""
    return json.dumps(ledger.build([examine(entries()[id]).evidence for id in EXAMINED], EXAMINED, ENVIRONMENT))


def everything() -> dict[str, Any]:
    """Every claim there is, by evidence made up: each that has a correction is refuted, the others hold."""
    return json.loads(json.dumps(ledger.build([_made_up(entry) for entry in entries().values()], entries(), ENVIRONMENT)))


def _made_up(entry: Entry) -> Evidence:
    wrong = entry.correction is not None
    return Evidence(entry.id, Layer.SYMBOLIC, Outcome.REFUTED if wrong else Outcome.HOLDS, "made up", general=True,
                    correction=Outcome.HOLDS if wrong else None, witness=Witness(**WITNESS) if wrong else None,
                    refuted_twins=tuple(entry.twins))


def saved(folder: Path, told: dict[str, Any], name: str = "ledger.json") -> Path:
    """A ledger as a file."""
    path = folder / name
    path.write_text(json.dumps(told), encoding="utf-8")
    return path
