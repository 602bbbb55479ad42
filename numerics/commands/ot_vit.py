"""python -m numerics ot-vit."""

import os
import time
from dataclasses import replace
from pathlib import Path

import click
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from numerics.commands import options
from numerics.commands.options import check_device
from numerics.experiments import datasets
from numerics.experiments.intervals import Interval, interval
from numerics.experiments.ot_vit import report, sizes
from numerics.experiments.ot_vit.arms import ARMS
from numerics.experiments.ot_vit.figures import draw
from numerics.experiments.ot_vit.model import Architecture, parameters
from numerics.experiments.ot_vit.study import Study
from numerics.experiments.ot_vit.training import Configuration, Machine, defaults
from numerics.experiments.output import atomic_write

INTERRUPTED = 130

width = click.IntRange(1)


@click.command("ot-vit")
@click.option("--dataset", type=click.Choice(datasets.NAMES), default="digits", show_default=True)
@click.option("--epochs", type=width, help="30 for digits, otherwise the document's 200")
@click.option("--seeds", type=width, default=5, show_default=True, help="how many, from 0")
@click.option("--arm", "arms", multiple=True, type=click.Choice(tuple(ARMS)), default=tuple(ARMS), help="all by default")
@click.option(
    "--data",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="folder with the published files, or to download them to; digits need none",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("ot-vit"),
    show_default=True,
    callback=options.folder,
    help="folder for checkpoints, results and curves; the same command goes on where it was interrupted",
)
@click.option("--patch", type=width, help="side of a patch")
@click.option("--hidden", type=width, help="width of a token")
@click.option("--heads", type=width)
@click.option("--mlp", type=width, help="width of the perceptrons")
@click.option("--batch", type=width)
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="of AdamW")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--precision", type=click.Choice(["float32", "bfloat16"]), default="float32", show_default=True)
@click.option("--threads", type=width, default=1, show_default=True)
@click.option("--sizes", "only_sizes", is_flag=True, help="only show which models have the printed 3.2 M parameters")
def ot_vit(
    dataset: str,
    epochs: int | None,
    seeds: int,
    arms: tuple[str, ...],
    folder: Path,
    out: Path,
    device: str,
    precision: str,
    threads: int,
    only_sizes: bool,
    batch: int | None,
    rate: float | None,
    **widths: int | None,
) -> None:
    """Train Section 9's OT-ViT and ViT, with one arm for every ingredient in which they differ."""
    console = Console()
    if only_sizes:
        _show_sizes(console)
        return
    if device == "cuda":
        _prepare_cuda()
    torch.set_num_threads(threads)
    try:
        loaded = datasets.load(dataset, folder)
        configuration = _configured(defaults(loaded, epochs), batch, rate, widths)
        study = Study(
            loaded, configuration, Machine(device, precision, threads), tuple(dict.fromkeys(arms)), seeds, out / dataset
        )
        study.histories()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        _train(study, console)
    except KeyboardInterrupt:
        console.print(f"interrupted; the same command goes on from the last full epoch, kept in {study.out}")
        click.get_current_context().exit(INTERRUPTED)
    collected = report.results(
        configuration, study.machine.described(), len(loaded.test_labels), study.histories(), study.probes()
    )
    _show(console, dataset, collected)
    _write(study.out, collected)
    console.print(f"{study.out}/results.json, curves.png and curves.svg written")


def _prepare_cuda() -> None:
    """Raise click.UsageError if CUDA is requested but missing; select deterministic kernels."""
    check_device("cuda")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)


def _configured(
    configuration: Configuration, batch: int | None, rate: float | None, widths: dict[str, int | None]
) -> Configuration:
    """Return the default configuration with the given options replaced."""
    recipe = configuration.recipe
    recipe = replace(recipe, batch=batch or recipe.batch, rate=rate or recipe.rate)
    chosen = {name: value for name, value in widths.items() if value is not None}
    return replace(configuration, architecture=replace(configuration.architecture, **chosen), recipe=recipe)


def _train(study: Study, console: Console) -> None:
    """Continue unfinished runs, with one line for each and, on a terminal, a progress bar."""
    epochs = study.configuration.recipe.epochs
    total = epochs * len(study.arms) * study.seeds
    resumed = done = sum(len(history.losses) for histories in study.histories().values() for history in histories)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.4f}, accuracy {task.fields[accuracy]:.3f}"),
    )
    started = time.monotonic()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("epochs", total=total, completed=done, loss=float("nan"), accuracy=float("nan"))
        for step in study.train():
            done += 1
            loss, accuracy = step.history.losses[-1], step.history.correct[-1] / len(study.dataset.test_labels)
            bar.update(task, completed=done, loss=loss, accuracy=accuracy, description=f"{step.arm}, seed {step.seed}")
            if len(step.history.losses) == epochs:
                left = (time.monotonic() - started) / (done - resumed) * (total - done)
                console.print(
                    f"{step.arm}, seed {step.seed}: loss {loss:.4f}, accuracy {accuracy:.4f}; "
                    f"{done} of {total} epochs, about {left / 60:.1f} min left"
                )


def _show(console: Console, dataset: str, results: report.Results) -> None:
    architecture = Architecture(**results.configuration["architecture"])
    printed = report.PRINTED.get(dataset, {})
    table = Table("arm", "what it is", "parameters", "test accuracy", *(["printed"] if printed else []))
    for arm in results.runs:
        row = [arm, ARMS[arm].description, f"{parameters(architecture, ARMS[arm].kind):,}", _shown(results.accuracy(arm))]
        if printed:
            row.append("{:.3f} ± {:.2f}".format(*printed[arm]) if arm in printed else "")
        table.add_row(*row)
    console.print(table)
    differences = Table("paired difference", "of", "points, 95 % interval", "")
    for contrast in results.contrasts():
        mean = results.difference(contrast)
        differences.add_row(contrast.description, contrast.formula, _shown(mean, 100.0, "+.2f"), mean.verdict)
    console.print(differences)
    if results.probes:
        console.print(_last_layers(results))
    for note in report.NOTES:
        console.print(note)


def _last_layers(results: report.Results) -> Table:
    """The effect on trained models of exact weights, or of no cost, in the last layer."""
    table = Table("trained", "accuracy with (25)", "M = 0", "exact, (24)", "‖p − u‖₁", "‖p − p₀‖₁", "‖p − p*‖₁")
    for arm, probes in results.probes.items():
        shares = (
            [None if each is None else each / probe.images for probe, each in zip(probes, values, strict=True)]
            for values in zip(*((p.correct, p.correct_without_cost, p.correct_exact) for p in probes), strict=True)
        )
        distances = zip(*((p.to_prior, p.to_without_cost, p.to_exact) for p in probes), strict=True)
        table.add_row(arm, *(_mean(list(values)) for values in (*shares, *distances)))
    return table


def _mean(values: list[float | None]) -> str:
    """Format the mean of values, if none is missing."""
    known = [value for value in values if value is not None]
    return f"{interval(known).mean:.4f}" if len(known) == len(values) else "not solved"


def _shown(mean: Interval, scale: float = 1.0, form: str = ".4f") -> str:
    width = "" if mean.half_width is None else f" ± {scale * mean.half_width:{form.removeprefix('+')}}"
    return f"{scale * mean.mean:{form}}{width}"


def _show_sizes(console: Console) -> None:
    table = Table("dataset", "hidden", "perceptron", "ViT", "OT-ViT", "both 3.2 M")
    for dataset in sizes.IMAGES:
        for each in sizes.fitting(dataset):
            table.add_row(
                dataset,
                f"{each.architecture.hidden}",
                f"{each.architecture.mlp}",
                f"{each.vit:,}",
                f"{each.transport:,}",
                "yes" if each.both else "no",
            )
    console.print(table)
    console.print(
        f"Six layers, patches of 4 × 4, widths that are multiples of {sizes.STEP}. The document prints 3.2 M and no "
        "width. OT-ViT with ViT's keys and values (ot-vit-untied) has as many parameters as ViT."
    )


def _write(out: Path, results: report.Results) -> None:
    with atomic_write(out / "results.json") as path:
        path.write_text(results.text(), encoding="utf-8")
    figure = draw(results)
    for suffix in (".png", ".svg"):
        with atomic_write(out / f"curves{suffix}") as path:
            figure.savefig(path, dpi=150)
