"""python -m numerics geometric."""

import json
import time
from pathlib import Path
from typing import cast

import click
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from numerics.commands.options import writable
from numerics.experiments.geometric.figure import draw
from numerics.experiments.geometric.model import ARMS, Where
from numerics.experiments.geometric.study import Results, Run, Study, study_of
from numerics.experiments.intervals import Interval
from numerics.experiments.output import atomic_write

INTERRUPTED = 130
PICTURES = (".png", ".svg", ".pdf")


def picture(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Return a writable file that can hold a picture; raises click.UsageError otherwise."""
    if path is not None and path.suffix not in PICTURES:
        raise click.UsageError(f"{option.opts[0]}: expected a name that ends in {', '.join(PICTURES)}, got {path.name}")
    return writable(context, option, path)


@click.command()
@click.option("--dataset", type=click.Choice(["digits"]), default="digits", show_default=True)
@click.option(
    "--locations",
    "where",
    type=click.Choice(["pixels", "rows"]),
    default="pixels",
    show_default=True,
    help="what is attended to; only rows lie on a line, where the truncated parabola is known",
)
@click.option("--epochs", type=click.IntRange(1), default=20, show_default=True)
@click.option("--seeds", type=click.IntRange(1), default=5, show_default=True, help="how many, from 0")
@click.option("--json", "record", type=click.Path(path_type=Path), callback=writable, help="file for the results")
@click.option("--figure", type=click.Path(path_type=Path), callback=picture, help="file for the learned weights, as a picture")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
def geometric(
    dataset: str, where: str, epochs: int, seeds: int, record: Path | None, figure: Path | None, threads: int
) -> None:
    """Train a prediction model through its attention layer, compared with weights that are not learned."""
    console = Console()
    torch.set_num_threads(threads)
    study = study_of(dataset, cast(Where, where), epochs, seeds)
    try:
        results = Results(study, _train(study, console))
    except KeyboardInterrupt:
        console.print("interrupted; nothing was written")
        click.get_current_context().exit(INTERRUPTED)
    _show(console, results)
    if record:
        with atomic_write(record) as path:
            path.write_text(json.dumps(results.record(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        console.print(f"{record} written")
    if figure:
        with atomic_write(figure) as path:
            draw(results).savefig(path, dpi=150)
        console.print(f"{figure} written")


def _train(study: Study, console: Console) -> tuple[Run, ...]:
    """Train everything, with a progress bar."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
    )
    runs = []
    started = time.monotonic()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("epochs", total=study.epochs * study.seeds * len(study.arms), loss=float("nan"))
        for arm, seed, step in study.runs():
            if isinstance(step, Run):
                runs.append(step)
            else:
                bar.update(task, advance=1, loss=step, description=f"{arm}, seed {seed}")
    console.print(f"{len(runs)} models trained in {time.monotonic() - started:.0f} s")
    return tuple(runs)


def _show(console: Console, results: Results) -> None:
    study = results.study
    table = Table("arm", "weights", "last loss", "test accuracy")
    for arm in study.arms:
        losses = [run.losses[-1] for run in results.runs if run.arm == arm]
        table.add_row(arm, ARMS[arm].description, f"{sum(losses) / len(losses):.4f}", _shown(results.accuracy(arm)))
    console.print(table)
    differences = Table("paired difference", "of", "points, 95 % interval", "")
    for question, pair in results.questions().items():
        mean = results.difference(*pair)
        differences.add_row(question, " − ".join(pair), _shown(mean, 100.0, "+.2f"), mean.verdict)
    console.print(differences)
    trained, tested = len(study.dataset.train_labels), len(study.dataset.test_labels)
    console.print(
        f"scikit-learn's {study.dataset.name}, {trained} training images and {tested} test images by other people; "
        "intervals are over seeds, each for itself, on these test images."
    )


def _shown(mean: Interval, scale: float = 1.0, form: str = ".4f") -> str:
    width = "" if mean.half_width is None else f" ± {scale * mean.half_width:{form.removeprefix('+')}}"
    return f"{scale * mean.mean:{form}}{width}"
