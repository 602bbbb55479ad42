"""Examine the claims of a new paper once and report what was read, proved, refuted or left undecided."""

from collections import Counter

import click
from rich.console import Console
from rich.progress import track

from derivations.judge.verdicts import judge
from derivations.records import rendering
from derivations.records.claims import CauseKind, Evidence, Judgement, Outcome, Verdict
from derivations.register.catalogue import claims_of, entries
from derivations.register.entry import Entry
from derivations.register.examining import examine


def first_run(document: str) -> None:
    """Examine every claim of a document by the symbolic layer, and print a line for each and the counts."""
    counts: Counter[str] = Counter()
    own = [entries()[id] for id in claims_of(document)]
    for entry in track(own, "equations", console=Console(stderr=True), transient=True):
        evidence = examine(entry).evidence
        judgement = judge(entry.claim, [evidence])
        counts["not read" if evidence.outcome is Outcome.NOT_APPLICABLE else str(judgement.verdict)] += 1
        click.echo(line(entry, judgement, evidence))
    click.echo(f"{len(own)} equations: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))


def line(entry: Entry, judgement: Judgement, evidence: Evidence) -> str:
    """Return the verdict on an equation, with its reason or correction."""
    label = f"{rendering.verdict(judgement.verdict, judgement.severity):20} {entry.id:28} {entry.statement}"
    if judgement.verdict is Verdict.OPEN:
        return f"{label}  {evidence.detail if judgement.cause.kind is CauseKind.SILENCE else rendering.cause(judgement.cause)}"
    if judgement.verdict in (Verdict.REFUTED, Verdict.CORRECTED):
        correct = f"; correct: {entry.correction.statement.latex}" if entry.correction else ""
        return f"{label}  {rendering.cause(judgement.cause)}{correct}"
    return label
