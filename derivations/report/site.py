"""The command `report`: write ledgers as a folder of pages, atomically."""

import os
import shutil
import tempfile
from pathlib import Path

import click

from derivations.ledger.ledger import unknown_ids
from derivations.report.appearance import stylesheet
from derivations.report.merging import Report, load
from derivations.report.pages import pages

STATIC = Path(__file__).with_name("static")
GENERATOR = '<meta name="generator" content="attention-proofs report">'


@click.command()
@click.argument("ledgers", nargs=-1, type=Path, metavar="[LEDGER]...")
@click.option("--output", type=Path, default=Path("report"), show_default=True, help="the folder to write")
def report(ledgers: tuple[Path, ...], output: Path) -> None:
    """Write ledgers as a folder of HTML pages; several become one report."""
    try:
        merged = load(ledgers or (Path("ledger.json"),))
        if unknown := unknown_ids(merged.claims[id].row for id in merged.claims):
            raise ValueError(f"ledger: expected claims of installed documents, got {unknown[0]}; run `verify` again")
        write(merged, output)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    runs = f" of {len(merged.runs)} runs" if len(merged.runs) > 1 else ""
    click.echo(f"{output / 'index.html'} written: {len(merged.claims)} claims{runs}")


def write(merged: Report, output: Path) -> None:
    """Write the pages to a new folder beside `output`, then replace an older report with it.

    Raises ValueError unless `output` is new, an empty folder or an older report.
    """
    target = output.resolve()
    if not target.parent.is_dir():
        raise ValueError(f"--output: expected a folder in an existing one, got {output}")
    if target.exists() and not replaceable(target):
        raise ValueError(f"--output: expected a new folder or an older report, got {output}, which is something else")
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        fill(fresh, merged)
        fresh.chmod(0o755)
        _swap(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def replaceable(folder: Path) -> bool:
    """Return whether a folder may be replaced: it is empty, or a report written by this command."""
    if not folder.is_dir():
        return False
    front = folder / "index.html"
    return not any(folder.iterdir()) or (front.is_file() and GENERATOR in front.read_text(encoding="utf-8", errors="replace"))


def fill(folder: Path, merged: Report) -> None:
    """Write every page, the style and the script into a folder."""
    shutil.copytree(STATIC, folder / "static")
    (folder / "static" / "verdicts.css").write_text(stylesheet(), encoding="utf-8")
    (folder / "claims").mkdir()
    for name, text in pages(merged):
        (folder / name).write_text(text, encoding="utf-8")


def _swap(fresh: Path, target: Path) -> None:
    """Replace `target` by `fresh`; the old folder is deleted only after the new one is in place."""
    if not target.exists():
        os.replace(fresh, target)
        return
    old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    os.replace(target, old)
    try:
        os.replace(fresh, target)
    except BaseException:
        os.replace(old, target)
        raise
    shutil.rmtree(old)
