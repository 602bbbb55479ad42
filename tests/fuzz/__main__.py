"""The long run: python -m tests.fuzz --minutes 30 --seed 0 --workers 2; exit status 1 if there is a contradiction."""

import time
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from tests.fuzz.campaign import Tally, campaign

VERDICTS = ("proved", "refuted", "computed", "undecided", "refused", "timeout")


@click.command()
@click.option("--minutes", default=30.0, show_default=True, help="How long to go on.")
@click.option("--seed", default=0, show_default=True, help="The statements are those of the seed, in order.")
@click.option("--first", default=0, show_default=True, help="The number of the first statement.")
@click.option("--workers", default=2, show_default=True, help="Processes.")
@click.option("--limit", default=20.0, show_default=True, help="Seconds for one statement.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Also write contradictions and slow ones here.")
def main(minutes: float, seed: int, first: int, workers: int, limit: float, output: Path | None) -> None:
    """Compare the kernel's answers on random statements with an independent evaluation."""
    console, tally, start = Console(soft_wrap=True), Tally(), time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("fuzzing", total=60 * minutes)
        try:
            for part in campaign(seed, workers, limit, start + 60 * minutes, first):
                tally.add(part)
                for contradiction in part.contradictions:
                    console.print(str(contradiction), markup=False, highlight=False)
                progress.update(
                    bar,
                    completed=min(60 * minutes, time.monotonic() - start),
                    description=(
                        f"{tally.count} statements, {tally.share('proved'):.0%} proved, {tally.share('refuted'):.0%} refuted, "
                        f"{len(tally.contradictions)} contradictions"
                    ),
                )
        except KeyboardInterrupt:
            console.print("interrupted")
    report(console, tally, (time.monotonic() - start) / 60)
    if output is not None:
        output.write_text("\n".join([*map(str, tally.contradictions), *(f"slow: {text}" for text in tally.slow)]) + "\n")
    raise SystemExit(1 if tally.contradictions else 0)


def report(console: Console, tally: Tally, minutes: float) -> None:
    """Statements by kind and verdict, slow ones and contradictions."""
    table = Table("kind", *VERDICTS, title=f"{tally.count} statements, {tally.count / max(minutes, 1e-9):.0f} a minute")
    for kind in sorted({kind for kind, _ in tally.verdicts}):
        table.add_row(kind, *(str(tally.verdicts[kind, verdict]) for verdict in VERDICTS))
    table.add_row("all", *(f"{tally.share(verdict):.1%}" for verdict in VERDICTS), style="bold")
    console.print(table)
    for text in tally.slow:
        console.print(f"slow: {text}", markup=False, highlight=False)
    for contradiction in tally.contradictions:
        console.print(str(contradiction), markup=False, highlight=False)
    console.print(f"{len(tally.contradictions)} contradictions")


if __name__ == "__main__":
    main()
