"""The command `report`: ledgers in, one folder of pages out, whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import click

from derivations.ledger import strangers
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
        told = load(ledgers or (Path("ledger.json"),))
        if unknown := strangers(told.subjects[id].row for id in told.subjects):
            raise ValueError(f"ledger: {unknown[0]} is no claim of an installed document, run `verify` again")
        write(told, output)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    runs = f" of {len(told.runs)} runs" if len(told.runs) > 1 else ""
    click.echo(f"{output / 'index.html'} written: {len(told.subjects)} claims{runs}")


def write(told: Report, output: Path) -> None:
    """Write the pages to a new folder beside `output`, then put it in the place of an older report.

    Raises ValueError when `output` is something else than an older report or an empty folder.
    """
    target = output.resolve()
    if not target.parent.is_dir():
        raise ValueError(f"--output: the folder {output.parent} does not exist, a folder in an existing one is accepted")
    if target.exists() and not replaceable(target):
        raise ValueError(f"--output: {output} is there and no report, an older report or a new folder is accepted")
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        fill(fresh, told)
        fresh.chmod(0o755)
        _swap(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def replaceable(folder: Path) -> bool:
    """Whether nothing is lost when a folder is replaced: it is empty, or a report that this command wrote."""
    if not folder.is_dir():
        return False
    front = folder / "index.html"
    return not any(folder.iterdir()) or (front.is_file() and GENERATOR in front.read_text(encoding="utf-8", errors="replace"))


def fill(folder: Path, told: Report) -> None:
    """Write every page, the style and the script into a folder."""
    shutil.copytree(STATIC, folder / "static")
    (folder / "static" / "verdicts.css").write_text(stylesheet(), encoding="utf-8")
    (folder / "claims").mkdir()
    for name, text in pages(told):
        (folder / name).write_text(text, encoding="utf-8")


def _swap(fresh: Path, target: Path) -> None:
    """Put `fresh` in the place of `target`; what was there goes only once the new one is in place."""
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
