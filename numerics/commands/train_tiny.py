"""python -m numerics train-tiny."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from numerics.commands import options
from numerics.models import tiny


@click.command("train-tiny")
@options.out
@click.option("--model", "names", multiple=True, type=click.Choice(tiny.NAMES), default=tiny.NAMES, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--steps", type=click.IntRange(1), default=tiny.Recipe.steps, show_default=True)
def train_tiny(out: Path, names: tuple[str, ...], seed: int, steps: int) -> None:
    """Train a small T5 and a small GPT on the text that ships with the project."""
    console = Console()
    out.mkdir(exist_ok=True)
    for name in names:
        recipe = tiny.Recipe(name, seed=seed, steps=steps)
        model = tiny.untrained(recipe)
        losses = {"untrained": tiny.held_out_loss(recipe, model)}
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("loss {task.fields[loss]:.3f}"),
        )
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(name, total=steps, loss=losses["untrained"])
            for done in tiny.train(recipe, model):
                bar.update(task, completed=done.step, loss=done.loss)
        losses["trained"] = tiny.held_out_loss(recipe, model)
        tiny.save(recipe, model, losses, out / name)
        console.print(
            f"{name}: held-out loss {losses['untrained']:.3f} untrained, {losses['trained']:.3f} trained, "
            f"nats a byte; {out / name} written"
        )
