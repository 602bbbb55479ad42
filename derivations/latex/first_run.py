"""The first look at a paper's claims: what was read, proved, refuted with a witness, undecided with what is left."""

from __future__ import annotations

from collections import Counter

import click
from rich.console import Console
from rich.progress import track

from derivations import rendering
from derivations.catalogue import entries, examine
from derivations.claims import CauseKind, Evidence, Judgement, Outcome, Verdict, judge
from derivations.entry import Entry


def first_run(document: str) -> None:
    """Examine every claim of a document by the symbolic layer, and print a line for each and the counts."""
    counts: Counter[str] = Counter()
    own = [entry for id, entry in entries().items() if id.startswith(f"{document}.")]
    for entry in track(own, "equations", console=Console(stderr=True), transient=True):
        evidence = examine(entry).evidence
        found = judge(entry.claim, [evidence])
        counts["not read" if evidence.outcome is Outcome.NOT_APPLICABLE else str(found.verdict)] += 1
        click.echo(line(entry, found, evidence))
    click.echo(f"{len(own)} equations: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))


def line(entry: Entry, found: Judgement, evidence: Evidence) -> str:
    """The verdict on an equation, with what a reader wants to know first."""
    label = f"{rendering.verdict(found.verdict, found.severity):20} {entry.id:28} {entry.statement}"
    if found.verdict is Verdict.OPEN:
        return f"{label}  {evidence.detail if found.cause.kind is CauseKind.SILENCE else rendering.cause(found.cause)}"
    if found.verdict in (Verdict.REFUTED, Verdict.CORRECTED):
        correct = f"; correct: {entry.correction.statement.latex}" if entry.correction else ""
        return f"{label}  {rendering.cause(found.cause)}{correct}"
    return label
