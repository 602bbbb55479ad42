"""python -m numerics bench."""

import click
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from numerics.bench import cases, measure


@click.command()
@click.option("--queries", type=click.IntRange(1), default=512, show_default=True)
@click.option("--keys", type=click.IntRange(1), default=512, show_default=True)
@click.option("--width", type=click.IntRange(1), default=64, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=50, show_default=True)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
def bench(queries: int, keys: int, width: int, rounds: int, device: str) -> None:
    """Time the closed forms beside their peers, in one run."""
    if device == "cuda" and not torch.cuda.is_available():
        raise click.UsageError("--device: cuda was given but no CUDA device is available, cpu is accepted")
    table = Table("closed form", "peer", "ms", "peer ms", "ratio")
    pairs = measure(queries, keys, width, device, rounds)
    for row in track(pairs, total=len(cases(1, 1, 1, device)), description="timing", transient=True):
        table.add_row(row.name, row.peer, f"{1e3 * row.seconds:.3f}", f"{1e3 * row.peer_seconds:.3f}", f"{row.ratio:.2f}")
    Console().print(table)
