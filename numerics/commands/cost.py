"""python -m numerics cost: what the commands cost where they are small, and what they would cost where they are not."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.progress import track

from numerics.benchmarks.cost import (
    Cost,
    deviation_costs,
    line,
    machine,
    powers,
    projected,
    solve_costs,
    verify_costs,
)
from numerics.commands import options
from numerics.experiments.output import atomic_write
from numerics.models.encoder import ModelUnavailableError

SECTIONS = ("solve", "deviation", "verify")
MODEL = {"layers": 100, "tokens": 8192}
LIBRARY = 10_000
LARGE = {"n": 2048, "d": 1024, "rows": 100_000}


@click.command()
@click.option("--only", type=click.Choice(SECTIONS), multiple=True, help="what to measure; everything if not given")
@click.option("--out", type=click.Path(path_type=Path), default=Path("cost"), show_default=True, callback=options.folder,
              help="folder for the numbers and the page, made if it is missing")
def cost(only: tuple[str, ...], out: Path) -> None:
    """Measure seconds and memory by size, fit their growth, and say what larger runs would cost."""
    out.mkdir(exist_ok=True)
    console, threads = Console(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            sections = {"solve": solve_costs(), "deviation": deviation_costs(), "verify": verify_costs(Path(folder))}
            wanted = [name for name in SECTIONS if name in (only or SECTIONS)]
            found = [each for name in wanted
                     for each in track(sections[name], description=name, transient=True, console=console)]
    except ModelUnavailableError as error:
        raise click.UsageError(str(error)) from error
    finally:
        torch.set_num_threads(threads)
    results = {"machine": machine(), "costs": [asdict(each) for each in found]}
    with atomic_write(out / "cost.json") as path:
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with atomic_write(out / "cost.md") as path:
        path.write_text(page(results), encoding="utf-8")
    console.print(f"{out / 'cost.md'} and {out / 'cost.json'} written", soft_wrap=True)


def page(results: dict[str, Any]) -> str:
    """The numbers as one page of Markdown."""
    costs = [Cost(**each) for each in results["costs"]]
    lines = ["# What runs cost", "",
             f"Written by `python -m numerics cost` from the numbers in `cost.json`; seconds are of CPU time on "
             f"{results['machine']}. What is beyond the sizes in the tables is extrapolated, not measured.", ""]
    for name, told in (("solve", _solve), ("deviation", _deviation), ("verify", _verify)):
        if own := [each for each in costs if each.what == name]:
            lines += [f"## `{name}`", "", *_table(own), "", *told(own), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(costs: Sequence[Cost]) -> list[str]:
    names = list(costs[0].sizes)
    head = [f"| {' | '.join(names)} | seconds | MB |", f"|{' --- |' * (len(names) + 2)}"]
    return head + [f"| {' | '.join(str(each.sizes[name]) for name in names)} | {each.seconds:.3g} | {each.megabytes:.3g} |"
                   for each in costs]


def _growth(costs: Sequence[Cost], quantity: str) -> str:
    return " · ".join(f"{name}^{power:.2f}" for name, power in powers(costs, quantity).items() if name)


def _solve(costs: Sequence[Cost]) -> list[str]:
    seconds, megabytes = (projected(costs, LARGE, quantity) for quantity in ("seconds", "megabytes"))
    return [f"Seconds grow as {_growth(costs, 'seconds')}, memory as {_growth(costs, 'megabytes')}.",
            f"100,000 problems on 2,048 templates of width 1,024 would take {_time(seconds)} and {megabytes / 1000:.1f} GB, "
            "most of it the result.",
            "Beyond 2,048 templates, or four times the width, no Gram matrix is made: every row is left to Newton's method."]


def _deviation(costs: Sequence[Cost]) -> list[str]:
    deepest = max(each.sizes["layers"] for each in costs)
    by_tokens = [Cost(each.what, {"tokens": each.sizes["tokens"]}, each.seconds, each.megabytes) for each in costs
                 if each.sizes["layers"] == deepest]
    seconds, megabytes = projected(costs, MODEL), projected(by_tokens, {"tokens": MODEL["tokens"]}, "megabytes")
    return ["The first layers of the pretrained encoder (12 heads, width 384), with its trained weights.",
            f"Seconds grow as {_growth(costs, 'seconds')}; memory as {_growth(by_tokens, 'megabytes')}, whatever the number of "
            "layers, which are measured one after the other.", "",
            f"A model of {MODEL['layers']} such layers and {MODEL['tokens']:,} tokens would take {_time(seconds)} on one",
            f"core and {_time(seconds / 64)} on 64;",
            f"{megabytes / 1000:.0f} GB if all its queries were taken at once, which are taken in blocks.",
            "Above 2,048 templates the solver works without a Gram matrix, and the exponent of the tokens no longer holds:",
            "read this as a lower bound."]


def _verify(costs: Sequence[Cost]) -> list[str]:
    fixed, each = line([(cost.sizes["claims"], cost.seconds) for cost in costs])
    resident, more = line([(cost.sizes["claims"], cost.megabytes) for cost in costs])
    return [f"A run takes {fixed:.1f} s at any rate and {each:.2f} s for each claim, {resident:.0f} MB and "
            f"{1000 * more:.0f} kB for each claim, in one process.",
            f"A library of {LIBRARY:,} claims would take {_time(fixed + each * LIBRARY)} on one core, "
            f"{_time(fixed + each * LIBRARY / 16)} in 16 shards of one core each",
            f"(`verify --shard i/16`), and {(resident + more * LIBRARY) / 1000:.1f} GB in one process."]


def _time(seconds: float) -> str:
    """Seconds in the unit in which they are read."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"
