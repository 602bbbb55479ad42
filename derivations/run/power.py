"""The command `mutants`: which one-edit mutants of the claims are refuted or proved, and which votes have low power."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from derivations.judge.examination import written
from derivations.judge.mutants import WEAK, Fate, Trial, power, tried
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.selection import named
from derivations.run.options import last_ledger


def trials(entry: Entry) -> tuple[Trial, ...]:
    """Return the results for the mutants of a claim's statement, or of its correction if there is one."""
    derivation = entry.repair or entry.derivation
    if derivation is None or not entry.twins:  # no statement, or one that asserts nothing
        return ()
    relations = written(derivation).relations
    return tried(relations[-1], [make().at for make in entry.twins.values()]) if relations else ()


def weak(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """The votes of the numeric layers whose power is below `WEAK`, each with its claim."""
    return [
        (row["id"], e)
        for row in rows
        for e in row["evidence"]
        if e["layer"] != "symbolic" and e.get("power") is not None and e["power"] < WEAK
    ]


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID|DOCUMENT]...")
@click.option("--json", "path", type=Path, default=Path("ledger.json"), show_default=True, help="the ledger with the votes")
def mutants(ids: tuple[str, ...], path: Path) -> None:
    """Make one-edit mutants of claims, refute or prove each, and list the survivors."""
    try:
        chosen = [entries()[id] for id in named(ids)]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    last = last_ledger(path)
    by_claim = {entry.id: trials(entry) for entry in track(chosen, "mutants", console=Console(stderr=True), transient=True)}
    Console().print(table(by_claim))
    for id, each in by_claim.items():
        for trial in each:
            if trial.fate is Fate.UNDECIDED or (len(by_claim) == 1 and trial.fate is not Fate.REFUTED):
                click.echo(f"{trial.fate}  {id}  {trial.name}: {trial.detail}")
    if last:
        click.echo(votes(last["claims"], set(by_claim)))


def table(by_claim: Mapping[str, Sequence[Trial]]) -> Table:
    """Return a table of fates by document."""
    shown = Table("document", *(str(fate) for fate in Fate), "refuted of those not equivalent")
    for document in [*dict.fromkeys(id.partition(".")[0] for id in by_claim), "all"]:
        own = [trial for id, each in by_claim.items() if document in ("all", id.partition(".")[0]) for trial in each]
        counts, share = Counter(trial.fate for trial in own), power(own)
        shown.add_row(document, *(str(counts[fate]) for fate in Fate), "" if share is None else f"{share:.2%}")
    return shown


def votes(rows: Sequence[Mapping[str, Any]], ids: set[str]) -> str:
    """The power of the numeric votes in a ledger, and which of them are weak."""
    rows = [row for row in rows if row["id"] in ids]
    lines = []
    for layer in ("torch", "primal", "source"):
        shares = [e["power"] for row in rows for e in row["evidence"] if e["layer"] == layer and e.get("power") is not None]
        if shares:
            lines.append(f"{layer}: {len(shares)} votes, median power {median(shares):.0%}, lowest {min(shares):.0%}")
    lines += [
        f"{e['power']:.0%} of {e['mutants']}  {id} ({e['layer']}) does not refute: {'; '.join(e['alive'])}"
        for id, e in weak(rows)
    ]
    return "\n".join(lines)
