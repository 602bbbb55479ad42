"""python -m numerics temperature."""

import csv
import io
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from numerics.commands import options
from numerics.experiments.models_and_texts import ENCODER, subjects
from numerics.experiments.output import atomic_write
from numerics.experiments.temperature import figures
from numerics.experiments.temperature.curves import STATISTICS, Curves, measure, temperatures
from numerics.models.capture import CaptureError
from numerics.models.encoder import PARAGRAPH, ModelUnavailableError


@click.command()
@options.out
@click.option(
    "--model", default=ENCODER, show_default=True, help="a model that comes with the project, a folder, or a name on the hub"
)
@click.option("--text", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="UTF-8, for models that read text")
@click.option("--image", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="for models that read images")
@click.option("--lowest", type=float, default=0.05, show_default=True, help="temperature, in units of the model's own")
@click.option("--highest", type=float, default=20.0, show_default=True)
@click.option("--count", type=int, default=25, show_default=True, help="of temperatures, at equal ratios")
def temperature(
    out: Path, model: str, text: Path | None, image: Path | None, lowest: float, highest: float, count: int
) -> None:
    """Show how concentrated each head of a model is against the temperature, and of the same model with random weights."""
    console, measured = Console(), list[Curves]()
    try:
        epsilons = temperatures(lowest, highest, count)
        written = PARAGRAPH if text is None else text.read_text(encoding="utf-8")
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            for subject in subjects(model, written, image):
                task = bar.add_task(f"{subject.name}, {subject.weights} weights", total=None)
                for total, curves in measure(subject, epsilons):
                    measured.append(curves)
                    bar.update(task, advance=1, total=total)
    except UnicodeDecodeError as error:
        raise click.UsageError(f"--text: expected UTF-8 text, got {text}, which is something else") from error
    except (ModelUnavailableError, CaptureError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    out.mkdir(exist_ok=True)
    with atomic_write(out / "temperature.csv") as path:
        path.write_text(_csv(measured), encoding="utf-8")
    pictures = _draw(measured, out)
    console.print(_table(measured))
    for name in STATISTICS:
        worst = max(curves.disagreement(name) for curves in measured)
        console.print(f"{name.replace('_', ' ')}: derived and measured derivatives agree to {worst:.1e} of the largest")
    console.print(f"temperature.csv and {pictures} pictures (.png, .svg) are in {out}", soft_wrap=True)


def _draw(measured: list[Curves], out: Path) -> int:
    pictures = 0
    for role, of_role in groupby(sorted(measured, key=lambda c: c.role), lambda c: c.role):
        rows = list(of_role)
        trained = [curves for curves in rows if curves.weights == "trained"]
        drawn = {"layers": figures.layers(rows), "heads": figures.heads(trained), "slopes": figures.slopes(rows)}
        for kind, picture in drawn.items():
            picture.draw_without_rendering()  # the layout is found once, not once for each format
            picture.set_layout_engine("none")
            for suffix in (".png", ".svg"):
                with atomic_write(out / f"temperature-{rows[0].model}-{role}-{kind}{suffix}") as path:
                    picture.savefig(path, dpi=150)
            pictures += 1
    return pictures


def _csv(measured: list[Curves]) -> str:
    """One line for each module, head and temperature."""
    derivatives = [f"{which}_slope_of_{name}" for name in STATISTICS for which in ("derived", "measured")]
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(["model", "weights", "role", "layer", "head", "queries", "temperature", *STATISTICS, *derivatives])
    for c in measured:
        for head in range(len(c.values[STATISTICS[0]])):
            for index, epsilon in enumerate(c.temperatures.tolist()):
                values = [float(c.values[name][head, index]) for name in STATISTICS]
                slopes = [float(which[name][head, index]) for name in STATISTICS for which in (c.derived, c.measured)]
                cells = [f"{x:.9g}" for x in (epsilon, *values, *slopes)]
                writer.writerow([c.model, c.weights, c.role, c.layer + 1, head + 1, c.queries, *cells])
    return sheet.getvalue()


def _table(measured: list[Curves]) -> Table:
    """One line for each module at the temperature nearest to 1; trained | random weights."""
    index = int(measured[0].temperatures.log().abs().argmin())
    table = Table(
        "attention",
        "queries",
        *(name.replace("_", " ") for name in STATISTICS),
        title=f"{measured[0].model} at ε = {float(measured[0].temperatures[index]):.3g}: "
        "means over heads and queries, trained | random weights",
    )
    for role, layer in dict.fromkeys((curves.role, curves.layer) for curves in measured):
        pair = [curves for curves in measured if (curves.role, curves.layer) == (role, layer)]
        cells = [" | ".join(f"{float(curves.values[name][:, index].mean()):.3f}" for curves in pair) for name in STATISTICS]
        table.add_row(f"{role} {layer + 1}", str(pair[0].queries), *cells)
    return table
