"""python -m numerics errors."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from numerics.commands.options import writable
from numerics.experiments.output import atomic_write
from numerics.precision.cells import REFUSED, SILENT, Cell
from numerics.precision.study import DTYPES, FUNCTIONS, Group, as_record, from_record, groups, measured, sources

INTERRUPTED = 130


@click.command()
@click.option("--only", multiple=True, help="measure the functions whose names contain this; all if not given")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--json",
    "record",
    type=click.Path(path_type=Path),
    callback=writable,
    help="file for all cells; an interrupted run resumes from it",
)
def errors(only: tuple[str, ...], seed: int, record: Path | None) -> None:
    """Measure every closed form against fifty digits, in units of what conditioning allows."""
    chosen = [f for f in FUNCTIONS if not only or any(part in f.name for part in only)]
    if not chosen:
        raise click.UsageError(f"--only: expected a part of a function's name, got {', '.join(only)}")
    console, threads = Console(), torch.get_num_threads()
    torch.set_num_threads(1)
    recorded = _recorded(record, seed)
    measured: list[Cell] = []
    try:
        for group, cells in _measured(groups(chosen, seed), recorded, console):
            recorded[group.name] = cells
            measured += cells
            _write(record, seed, recorded)
    except KeyboardInterrupt:
        console.print("interrupted; " + ("nothing was written" if record is None else f"{record} holds what was measured"))
        click.get_current_context().exit(INTERRUPTED)
    finally:
        torch.set_num_threads(threads)
    _show(console, measured)
    if any(cell.state == SILENT for cell in measured):
        click.get_current_context().exit(1)


def _measured(chosen: Sequence[Group], recorded: dict[str, list[Cell]], console: Console) -> Iterator[tuple[Group, list[Cell]]]:
    """Measure group after group, with a progress bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("cells", total=sum(len(group.settings) for group in chosen))
        for group in chosen:
            bar.update(task, description=group.name)
            if group.name in recorded:
                cells = recorded[group.name]
                bar.advance(task, len(cells))
            else:
                cells = []
                for cell in measured(group):
                    cells.append(cell)
                    bar.advance(task)
            yield group, cells


def _recorded(record: Path | None, seed: int) -> dict[str, list[Cell]]:
    """The cells of an earlier run, if it measured these sources with this seed."""
    if record is None or not record.exists():
        return {}
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
        if known["sources"] != sources() or known["seed"] != seed:
            return {}
        return {name: [from_record(cell) for cell in cells] for name, cells in known["groups"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise click.UsageError(f"--json: expected a file of this command, or none, got {record}") from None


def _write(record: Path | None, seed: int, recorded: dict[str, list[Cell]]) -> None:
    if record is None:
        return
    groups_ = {name: [as_record(cell) for cell in cells] for name, cells in recorded.items()}
    content: dict[str, Any] = {"sources": sources(), "seed": seed, "groups": groups_}
    with atomic_write(record) as path:
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _show(console: Console, measured: Sequence[Cell]) -> None:
    table = Table(
        "function", *DTYPES, "cells", "refused or limit", "silent", title="largest error, in units of what conditioning allows"
    )
    for name in dict.fromkeys(cell.function for cell in measured):
        rows = [cell for cell in measured if cell.function == name]
        worst = (
            max((c.error for c in rows if c.setting.dtype == dtype and not math.isnan(c.error)), default=math.nan)
            for dtype in DTYPES
        )
        silent = sum(cell.state == SILENT for cell in rows)
        loud = sum(cell.state not in (SILENT, "right") for cell in rows)
        table.add_row(
            name, *("" if math.isnan(x) else f"{x:.2g}" for x in worst), str(len(rows)), str(loud or ""), str(silent or "")
        )
    console.print(table)
    for cell in measured:
        if cell.state == SILENT:
            console.print(f"silent: {cell.function} at {cell.setting}: {cell.detail}, {cell.error:.3g} units", markup=False)
    refused = sum(cell.state == REFUSED for cell in measured)
    console.print(
        f"{len(measured)} cells: {sum(cell.state == 'right' for cell in measured)} right, {refused} refused, "
        f"{sum(c.state == 'limit' for c in measured)} at a limit, {sum(c.state == SILENT for c in measured)} silent"
    )
