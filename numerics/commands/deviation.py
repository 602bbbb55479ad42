"""python -m numerics deviation."""

from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from numerics.commands import options
from numerics.experiments.deviation import figures, shards, summary
from numerics.experiments.deviation.ranks import Ranks, init_distributed
from numerics.experiments.deviation.shards import REASONS, anew
from numerics.experiments.deviation.statistics import BOUNDS
from numerics.experiments.models_and_texts import Subject, default_names, subjects
from numerics.models.capture import CaptureError
from numerics.models.encoder import PARAGRAPH, ModelUnavailableError

FOLDER = "deviation-rows"
"""The subfolder of the output that holds the rows."""

_SHOWN = ("deviation", "visible_deviation", "output_error", "total_variation")


_LEAST, _MOST = 2.0**-26, 2.0**26
"""Bounds of α: z/α is added to the mean of the prior, and beyond them one of the two loses half of its digits."""


def _alpha(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not _LEAST <= value <= _MOST:  # NaN is not
        raise click.BadParameter(f"expected a number from {_LEAST:.2g} to {_MOST:.2g}, got {value:g}")
    return value


@click.command()
@options.out
@click.option(
    "--model",
    "names",
    multiple=True,
    help="a model that comes with the project, a folder, or a name on the hub; "
    "may be repeated  [default: every model that comes with the project]",
)
@click.option("--text", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="UTF-8, for models that read text")
@click.option("--image", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="for models that read images")
@click.option(
    "--alpha",
    type=float,
    callback=_alpha,
    default=1.0,
    show_default=True,
    help="α of the problem; the evidence is divided by it, so that attention stays what it is",
)
@click.option("--tokens", type=click.IntRange(2), help="of one input, at most; a longer text becomes several inputs")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
def deviation(
    out: Path, names: tuple[str, ...], text: Path | None, image: Path | None, alpha: float, tokens: int | None, device: str
) -> None:
    """Reproduce Figures 4 to 8: attention against the exact solution of the problem that it is supposed to solve.

    Under torchrun the processes share the work, and one of them writes the table.
    """
    names = names or tuple(default_names())
    if len({Path(name).name for name in names}) < len(names):
        raise click.UsageError(f"--model: expected models with different names, got {', '.join(names)}")
    console = Console()
    out.mkdir(exist_ok=True)
    measured: list[shards.Shard] = []
    try:
        written = PARAGRAPH if text is None else _text(text)
        with init_distributed(device) as ranks:
            for name in names:
                for subject in subjects(name, written, image, tokens):
                    _measure(subject, alpha, out, ranks, measured, console)
            ranks.barrier()
            if ranks.rank == 0:
                _report(measured, out, console)
            ranks.barrier()
    except (ModelUnavailableError, CaptureError, ValueError) as error:
        raise click.UsageError(str(error)) from error


def _measure(subject: Subject, alpha: float, out: Path, ranks: Ranks, measured: list[shards.Shard], console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=ranks.rank > 0) as bar:
        task = bar.add_task(f"{subject.name}, {subject.weights} weights", total=None)
        for step in shards.run(subject, alpha, out / FOLDER, ranks, measured):
            bar.update(task, completed=step.done, total=step.total)


def _report(measured: list[shards.Shard], out: Path, console: Console) -> None:
    layers = summary.collect(measured)
    tables = {"deviation.csv": summary.layer_table(layers), "deviation-heads.csv": summary.head_table(layers)}
    for name, content in tables.items():
        with anew(out / name) as path:
            path.write_text(content, encoding="utf-8")
    pictures = 0
    for (model, role), of_role in groupby(sorted(layers, key=_module), _module):
        rows = list(of_role)
        for kind, draw in (("layers", figures.layers), ("heads", figures.heads), ("maps", figures.maps)):
            figures.save(draw(rows), out / f"deviation-{model}-{role}-{kind}")
            pictures += 1
    for model, of_model in groupby(layers, lambda rows: rows.model):
        console.print(_table(model, list(of_model)))
    left_out = ", ".join(f"{sum(rows.left_out[reason] for rows in layers)} {reason}" for reason in REASONS)
    console.print(f"α = {layers[0].alpha:g}; {sum(len(rows.head) for rows in layers)} rows; left out: {left_out}")
    for name, claims in BOUNDS.items():
        console.print(f"{name.replace('_', ' ')}: proved by {' and '.join(claims)}", soft_wrap=True)
    console.print(f"{' and '.join(tables)}, {pictures} pictures (.png, .svg) and {FOLDER} are in {out}", soft_wrap=True)


def _table(model: str, layers: list[summary.LayerRows]) -> Table:
    """One line for each module; trained | random weights."""
    table = Table(
        "attention",
        *(f"{name.replace('_', ' ')}" for name in _SHOWN),
        title=f"{model}: means over heads and queries, trained | random weights",
    )
    for role, layer in dict.fromkeys((rows.role, rows.layer) for rows in layers):
        of_module = {rows.weights: rows for rows in layers if (rows.role, rows.layer) == (role, layer)}
        means = [[summary.mean(of_module[kind].values[name]) for kind in ("trained", "random")] for name in _SHOWN]
        table.add_row(f"{role} {layer + 1}", *(f"{trained:.3f} | {random:.3f}" for trained, random in means))
    return table


def _module(rows: summary.LayerRows) -> tuple[str, str]:
    return rows.model, rows.role


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"--text: expected UTF-8 text, got {path}, which is something else") from error
