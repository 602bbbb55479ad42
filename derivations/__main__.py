"""The command line: python -m derivations verify | list | show | regress."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import sys
from pathlib import Path
from typing import Any

import click

from derivations import ledger
from derivations.catalogue import DOCUMENTS, Entry, entries
from derivations.claims import Verdict

LEDGER = Path("ledger.json")
TESTS = Path(__file__).parent.parent / "tests"


@click.group()
def main() -> None:
    """Check, line by line, the documents that explain attention as optimization."""


def known(name: str) -> str:
    """The id or document, if there is one of that name."""
    names = [*entries(), *DOCUMENTS]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "see `python -m derivations list`"
        raise click.UsageError(f"ID: {name} is neither a claim nor a document; {hint}")
    return name


def last_ledger(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of the last run by id; empty before the first run."""
    if not path.exists():
        return {}
    try:
        return {row["id"]: row for row in ledger.read(path)["claims"]}
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@main.command()
@click.argument("ids", nargs=-1, metavar="[ID|DOCUMENT]...")
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="where to write the ledger")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--quick", is_flag=True, help="fewer random instances and model rows")
@click.option("--model", help="a model folder or hub name to capture from, instead of the pretrained encoder")
@click.option("-n", "--workers", type=click.IntRange(0), default=os.cpu_count(), help="processes, 0 for none but this")
def verify(ids: tuple[str, ...], path: Path, device: str, quick: bool, model: str | None, workers: int) -> None:
    """Run every layer that speaks for the claims, and write the ledger."""
    try:
        import pytest

        from derivations.progress import Progress
    except ImportError as error:
        raise click.UsageError(f"verify: {error.name} is missing, an install with the extra [tests] is accepted") from None
    wanted = [known(name) for name in ids] or list(DOCUMENTS)
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"--json: the folder {path.parent} does not exist, a file in an existing folder is accepted")
    if not TESTS.is_dir():
        raise click.UsageError(f"verify: the tests are not at {TESTS}, an editable install of a checkout is accepted")
    arguments = [*map(str, sorted(TESTS.glob("*/test_*claims.py"))), f"--rootdir={TESTS.parent}", "-p", "no:terminal",
                 "-p", "no:cacheprovider", f"--claims={','.join(wanted)}", f"--ledger={path}", f"--device={device}",
                 f"-n{workers}"]
    arguments += ["--quick"] if quick else []
    arguments += [f"--model={model}"] if model else []
    progress, said = Progress(), io.StringIO()
    with contextlib.redirect_stderr(said):
        status = pytest.main(arguments, plugins=[progress])
    if status == pytest.ExitCode.USAGE_ERROR:
        raise click.UsageError(said.getvalue().strip().removeprefix("ERROR: "))
    click.echo(said.getvalue(), err=True, nl=False)
    if status == pytest.ExitCode.INTERRUPTED:
        click.echo("interrupted: no ledger was written", err=True)
        raise SystemExit(130)
    if progress.collector is None or progress.collector.result is None:
        click.echo("verify: no verdict was reached: " + "; ".join(progress.failures or ["no test ran"]), err=True)
        raise SystemExit(1)
    summarize(progress.collector.result, path)
    for line in [*progress.failures, *progress.collector.problems]:
        click.secho(f"FAILED  {line}", fg="red")
    raise SystemExit(0 if status == pytest.ExitCode.OK else 1)


def summarize(result: dict[str, Any], path: Path) -> None:
    """One line for each document, then every claim that is not green."""
    good = ledger.green(result)
    for document in result["summary"]["by_document"]:
        rows = [row for row in result["claims"] if row["document"] == document]
        counts = {v: sum(row["verdict"] == v for row in rows) for v in Verdict}
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        click.echo(f"{document}: {len(rows)} claims: {told}")
    for row in result["claims"]:
        if row["id"] not in good:
            severity = f" ({row['severity']})" if row["severity"] else ""
            click.echo(f"  {row['verdict'] + severity:26} {row['id']:28} {row['title']}")
    skipped = sum(result["environment"]["skipped"].values())
    click.echo(f"{path} written; {skipped} tests skipped; {result['environment']['seconds']:.0f} s")


@main.command(name="list")
@click.argument("document", required=False)
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="the ledger to read verdicts from")
def list_claims(document: str | None, path: Path) -> None:
    """Print every claim's id with its verdict in the last run."""
    if document is not None and document not in DOCUMENTS:
        raise click.UsageError(f"DOCUMENT: {document} is unknown, one of {', '.join(DOCUMENTS)} is accepted")
    rows = last_ledger(path)
    for id, entry in entries().items():
        if document is None or id.startswith(f"{document}."):
            click.echo(f"{id:30} {rows[id]['verdict'] if id in rows else 'not verified':13} {entry.title}")


@main.command()
@click.argument("id")
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="the ledger to read evidence from")
def show(id: str, path: Path) -> None:
    """Print one claim whole: statement, derivation, correction, witness, twins, evidence."""
    entry: Entry | None = entries().get(known(id))
    if entry is None:
        raise click.UsageError(f"ID: {id} is a document, the id of one claim is accepted")
    click.echo(ledger.describe(entry, last_ledger(path).get(id)))


@main.command()
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="the ledger to compare")
@click.option("--accept", is_flag=True, help="make this ledger the baseline")
def regress(path: Path, accept: bool) -> None:
    """Compare a ledger with the committed baseline, or make it the baseline."""
    if not path.exists():
        raise click.UsageError(f"--json: {path} does not exist, a ledger written by `verify` is accepted")
    now, before = ledger.read(path), ledger.load_baseline()
    if accept:
        if os.environ.get("CI"):
            raise click.UsageError("--accept: a baseline is never changed in CI")
        update = {**before, **ledger.snapshot(now)}
        ledger.write({id: update[id] for id in entries() if id in update}, ledger.BASELINE)
        changed = [id for id in update if before.get(id) != update[id]]
        click.echo(f"accepted {len(changed)} changes: {', '.join(changed) or 'none'}")
        return
    worse = ledger.worsened(now, before)
    click.echo("\n".join(worse) or f"nothing got worse in {len(now['claims'])} claims")
    raise SystemExit(1 if worse else 0)


def run() -> None:
    """Run the command line; bad input is one line and exit status 2."""
    try:
        status = main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        status = 2
    except (click.Abort, KeyboardInterrupt):
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    run()
