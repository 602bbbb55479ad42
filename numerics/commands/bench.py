"""python -m numerics bench."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from numerics.benchmarks import packages, sinkhorn
from numerics.benchmarks.closed_forms import Comparison, cases, measure
from numerics.benchmarks.mem import (
    GROWTH_IN_N,
    Growth,
    Timing,
    exponent,
    growth,
    layer_problems,
    normal_problems,
    peak,
    race,
    thread_gain,
)
from numerics.commands.options import check_device, writable
from numerics.models.encoder import ModelUnavailableError

SECTIONS = ("closed-forms", "packages", "mem", "growth", "sinkhorn")
NO_SLOWER = 1.1
"""The ratio up to which two medians count as the same."""
BASE = (64, 64, 512)
"""The size (n, d, rows) from which each is made larger in turn."""


@click.command()
@click.option("--only", type=click.Choice(SECTIONS), multiple=True, help="what to time; everything if not given")
@click.option("--queries", type=click.IntRange(1), default=512, show_default=True)
@click.option("--keys", type=click.IntRange(1), default=512, show_default=True)
@click.option("--width", type=click.IntRange(1), default=64, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=50, show_default=True, help="of the closed forms and of Sinkhorn")
@click.option("--solver-rounds", type=click.IntRange(1), default=3, show_default=True, help="of the solvers")
@click.option(
    "--singles",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="problems a round for peers that take one at a time; 0 leaves them out",
)
@click.option("--layer", type=click.IntRange(0), default=3, show_default=True, help="of the encoder, whose problems are solved")
@click.option("--tokens", type=click.IntRange(1, 512), default=128, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@click.option("--doublings", type=click.IntRange(0), default=2, show_default=True, help="of each size in the growth")
@click.option("--points", type=click.IntRange(1), default=128, show_default=True, help="on each side of a transport problem")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="of torch on the CPU")
@click.option("--json", "path", type=click.Path(path_type=Path), callback=writable, help="also write all numbers to this file")
def bench(
    only: tuple[str, ...],
    queries: int,
    keys: int,
    width: int,
    rounds: int,
    solver_rounds: int,
    singles: int,
    layer: int,
    tokens: int,
    alpha: float,
    doublings: int,
    points: int,
    device: str,
    threads: int,
    path: Path | None,
) -> None:
    """Time closed forms and solvers against their peers, in one run."""
    check_device(device)
    console, initial_threads = Console(), torch.get_num_threads()
    sections: dict[str, Callable[[], Any]] = {
        "closed-forms": lambda: _compared(console, measure(queries, keys, width, device, rounds), len(cases(1, 1, 1, device))),
        "packages": lambda: _compared(
            console, packages.measure(queries, keys, points, rounds), len(packages.pairs(1, packages.HEADS, 2))
        ),
        "mem": lambda: _solvers(console, layer, tokens, alpha, solver_rounds, singles, device),
        "growth": lambda: _growth(console, doublings, solver_rounds, device),
        "sinkhorn": lambda: _sinkhorn(console, points, rounds),
    }
    torch.set_num_threads(threads)
    try:
        measured = {name: section() for name, section in sections.items() if name in (only or SECTIONS)}
    finally:
        torch.set_num_threads(initial_threads)
    if path:
        path.write_text(json.dumps({"device": device, "threads": threads} | measured, indent=1) + "\n")


def _compared(console: Console, pairs: Iterable[Comparison], total: int) -> list[dict[str, Any]]:
    table = Table("closed form", "peer", "ms", "peer ms", "ratio")
    measured = list(track(pairs, total=total, description="timing", transient=True, console=console))
    for row in measured:
        table.add_row(row.name, row.peer, f"{1e3 * row.seconds:.3f}", f"{1e3 * row.peer_seconds:.3f}", f"{row.ratio:.2f}")
    console.print(table)
    for row in measured:
        if row.ratio > NO_SLOWER:
            console.print(f"{row.name}, {row.ratio:.1f}: {packages.REASONS.get(row.name, 'nothing says why it is slower')}")
    return [asdict(row) | {"ratio": row.ratio, "why": packages.REASONS.get(row.name)} for row in measured]


def _solvers(console: Console, layer: int, tokens: int, alpha: float, rounds: int, singles: int, device: str) -> dict[str, Any]:
    try:
        templates, evidence = (x.to(device) for x in layer_problems(layer, tokens))
        source = f"layer {layer} of the encoder"
    except ModelUnavailableError as error:
        console.print(f"{error}; random problems are solved instead")
        templates, evidence = normal_problems(tokens, 384, 12 * tokens, device)
        source = "random"
    except ValueError as error:
        raise click.UsageError(f"--{error}") from None
    measured = race(templates, evidence, rounds, alpha=alpha, singles=singles)
    ours = next(row.seconds for row in measured if row.name == "mem.solve")
    memory, arrays, _ = peak(templates, evidence, alpha)
    (n, d), count = templates.shape, len(evidence)
    table = Table(
        "solver",
        "problems",
        "µs a problem",
        "fastest",
        "ratio",
        "error",
        title=f"maximum entropy on the mean: {source}, n = {n}, d = {d}, {count} problems, α = {alpha:g}; mem.solve "
        f"takes {memory / 1e6:.1f} MB: its results, and {arrays:.1f} arrays of problems × n",
    )
    for row in measured:
        table.add_row(*_cells(row, ours))
    console.print(table)
    rows = [asdict(x) | {"ratio": x.seconds / ours} for x in measured]
    results = {"source": source, "n": n, "d": d, "alpha": alpha, "memory": memory, "arrays": arrays, "rows": rows}
    if device == "cpu" and torch.get_num_threads() > 1:
        results["thread_gain"] = thread_gain(templates, evidence, rounds, alpha=alpha)
        console.print(f"mem.solve is {results['thread_gain']:.2f} times as fast on {torch.get_num_threads()} threads as on one")
    return results


def _cells(row: Timing, ours: float) -> tuple[str, ...]:
    times = (f"{1e6 * x:.2f}" for x in (row.seconds, row.fastest))
    return row.name, str(row.problems), *times, f"{row.seconds / ours:.3g}", "" if row.error is None else f"{row.error:.1e}"


def _growth(console: Console, doublings: int, rounds: int, device: str) -> list[dict[str, Any]]:
    sizes = [BASE] + [
        tuple(x * 2**k if i == axis else x for i, x in enumerate(BASE)) for axis in range(3) for k in range(1, doublings + 1)
    ]
    measured: list[Growth] = list(growth([(n, d, rows) for n, d, rows in sizes], rounds, device))
    in_n = list(growth(list(GROWTH_IN_N), rounds, device)) if doublings else []
    table = Table("n", "d", "problems", "µs a problem", "error", "peak MB", "arrays", title="mem.solve on random problems")
    for row in [*measured, *in_n]:
        sizes_of = (str(x) for x in (row.n, row.d, row.rows))
        table.add_row(*sizes_of, f"{1e6 * row.seconds:.2f}", f"{row.error:.1e}", f"{row.memory / 1e6:.1f}", f"{row.arrays:.1f}")
    console.print(table)
    if in_n:
        console.print(f"time per problem grows as n^{exponent(in_n):.2f} from n = {in_n[0].n} to {in_n[-1].n}")
    return [asdict(row) for row in [*measured, *in_n]]


def _sinkhorn(console: Console, points: int, rounds: int) -> list[dict[str, Any]]:
    if not sinkhorn.peer_is_here():
        console.print("POT is not installed: Sinkhorn is not timed")
        return []
    measured = list(sinkhorn.measure(points, rounds))
    table = Table("solver", "ε", "ms", "ratio", "marginal error", title=f"entropic plans, {points} × {points}, float64, CPU")
    for row in measured:
        table.add_row(row.name, f"{row.temperature:g}", f"{1e3 * row.seconds:.2f}", f"{row.ratio:.2f}", f"{row.error:.1e}")
    console.print(table)
    return [asdict(row) for row in measured]
