"""The command `print`: compare the LaTeX of each claim with the proved relation, by document."""

from collections import Counter
from collections.abc import Iterator, Mapping

import click
from rich.console import Console
from rich.progress import track

from derivations.prints import tables
from derivations.prints.claims import correction_of, is_formula, is_numbered, print_of
from derivations.records.prints import Check, Standing
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.selection import named


@click.command(name="print")
@click.argument("ids", nargs=-1, metavar="[ID|DOCUMENT]...")
@click.option("--all", "every", is_flag=True, help="also show those that agree")
def print_(ids: tuple[str, ...], every: bool) -> None:
    """Read the LaTeX of claims, and compare each with the relation that is proved."""
    catalogue = entries()
    try:
        chosen = [catalogue[id] for id in named(ids)]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    checks = {
        each.id: print_of(each, catalogue) for each in track(chosen, "print", console=Console(stderr=True), transient=True)
    }
    for entry in chosen:
        _show(entry, checks[entry.id], every or entry.id in ids)
    repaired = {entry.id: correction_of(entry, catalogue) for entry in chosen}
    for entry in chosen:
        if (own := repaired[entry.id]) and (own.standing is Standing.DIFFERS or entry.id in ids):
            click.echo(f"{own.standing:13} {entry.id} (the correction)  {own.reason}")
    if len(chosen) > 1:
        click.echo("\n".join(table(checks)))
    differing = [each for each in (*checks.values(), *repaired.values()) if each and each.standing is Standing.DIFFERS]
    raise SystemExit(1 if differing else 0)


def _show(entry: Entry, check: Check | None, complete: bool) -> None:
    if check is None or not (complete or check.standing is not Standing.AGREES):
        return
    click.echo(f"{check.standing:13} {entry.id:28} {entry.latex}")
    if complete and check.reading:
        click.echo(f"{'':13} read as {check.reading}")
    click.echo(f"{'':13} {check.reason}")


def table(checks: Mapping[str, Check | None]) -> Iterator[str]:
    """Count agreeing formulas by document with a table of symbols: those with a printed number, and all formulas."""
    catalogue = entries()
    of_documents = {id: id.partition(".")[0] for id in checks}
    with_table = [document for document in dict.fromkeys(of_documents.values()) if tables.table(document)]
    for document, counted_in in [*((each, {each}) for each in with_table), ("all", {*with_table})]:
        own = {id: each for id, each in checks.items() if of_documents[id] in counted_in}
        for name, selection in (
            ("numbered formulas", [each for id, each in own.items() if is_numbered(id)]),
            ("claims that are formulas only", [each for id, each in own.items() if is_formula(catalogue[id].latex)]),
        ):
            counts = Counter(each.standing for each in selection if each)
            counted = ", ".join(f"{counts[each]} {each}" for each in Standing)
            missing = len(selection) - counts.total()
            share = f"{counts[Standing.AGREES] / len(selection):.0%}" if selection else "none"
            yield f"{document}: {len(selection)} {name}: {share} agree: {counted}, {missing} without a derivation"
