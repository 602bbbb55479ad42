"""python -m numerics cost: the cost of small runs of the commands, extrapolated to large ones."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.progress import track

from numerics.benchmarks.cost import (
    NEWTON_SIZES,
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

SECTIONS = ("solve", "newton", "deviation", "verify")
HEADS, WIDTH = 12, 384
"""The number of heads and the width of the pretrained encoder."""

MODEL = {"layers": 100, "tokens": 8192}
LIBRARY = 10_000
LARGE = {"n": 2048, "d": 1024, "rows": 100_000}

Costs = dict[str, list[Cost]]


@click.command()
@click.option("--only", type=click.Choice(SECTIONS), multiple=True, help="what to measure; everything if not given")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("cost"),
    show_default=True,
    callback=options.folder,
    help="folder for the numbers and the page, made if it is missing",
)
def cost(only: tuple[str, ...], out: Path) -> None:
    """Measure seconds and memory by size, fit their growth, and say what larger runs would cost."""
    out.mkdir(exist_ok=True)
    console, threads = Console(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            sections = {
                "solve": solve_costs(),
                "newton": solve_costs("newton", NEWTON_SIZES),
                "deviation": deviation_costs(),
                "verify": verify_costs(Path(folder)),
            }
            chosen = [name for name in SECTIONS if name in (only or SECTIONS)]
            costs = [
                each for name in chosen for each in track(sections[name], description=name, transient=True, console=console)
            ]
    except ModelUnavailableError as error:
        raise click.UsageError(str(error)) from error
    finally:
        torch.set_num_threads(threads)
    results = {"machine": machine(), "costs": [asdict(each) for each in costs]}
    with atomic_write(out / "cost.json") as path:
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with atomic_write(out / "cost.md") as path:
        path.write_text(page(results), encoding="utf-8")
    console.print(f"{out / 'cost.md'} and {out / 'cost.json'} written", soft_wrap=True)


def page(results: dict[str, Any]) -> str:
    """The numbers as one page of Markdown."""
    costs: dict[str, list[Cost]] = {}
    for each in results["costs"]:
        costs.setdefault(each["what"], []).append(Cost(**each))
    lines = [
        "# What runs cost",
        "",
        "Written by `python -m numerics cost` from the numbers in `cost.json`. Seconds are of CPU time on "
        f"{results['machine']}. Behind ± is one standard error of the fit. What is beyond the sizes in the tables is "
        "extrapolated, not measured: a factor in parentheses, as in (×/÷ 1.5), is what two standard errors of the fit "
        "make of it, if growth goes on as it was.",
        "",
    ]
    for name, (title, report) in REPORTS.items():
        if name in costs:
            lines += [f"## {title}", "", *_table(costs[name]), "", *report(costs), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(costs: Sequence[Cost]) -> list[str]:
    names = list(costs[0].sizes)
    head = [f"| {' | '.join(names)} | seconds | MB |", f"|{' --- |' * (len(names) + 2)}"]
    return head + [
        f"| {' | '.join(str(each.sizes[name]) for name in names)} | {each.seconds:.3g} | {each.megabytes:.3g} |"
        for each in costs
    ]


def _growth(costs: Sequence[Cost], quantity: str) -> str:
    fit = powers(costs, quantity)
    product = " · ".join(f"{name}^({power:.2f} ± {fit.error(name):.2f})" for name, power in fit.values.items() if name)
    factor = max(
        max(ratio, 1 / ratio)
        for ratio in (getattr(cost, quantity) / projected(costs, cost.sizes, quantity)[0] for cost in costs)
    )
    return f"{product} (off by a factor of {factor:.1f} at most)"


def _solve(costs: Costs) -> list[str]:
    seconds, megabytes = projected(costs["solve"], LARGE), projected(costs["solve"], LARGE, "megabytes")[0]
    return [
        f"Seconds grow as {_growth(costs['solve'], 'seconds')}, memory as {_growth(costs['solve'], 'megabytes')}.",
        f"{LARGE['rows']:,} problems on {LARGE['n']:,} templates of width {LARGE['d']:,} would take {_about(seconds)} and "
        f"{megabytes / 1000:.1f} GB, most of it the result.",
    ]


def _newton(costs: Costs) -> list[str]:
    return [
        "Where there are more than 2,048 templates, or more than four times the width, no Gram matrix is made, and every",
        f"row is solved by itself. Seconds grow as {_growth(costs['newton'], 'seconds')}.",
    ]


def _deviation(costs: Costs) -> list[str]:
    own = costs["deviation"]
    deepest = max(each.sizes["layers"] for each in own)
    by_tokens = [
        Cost(each.what, {"tokens": each.sizes["tokens"]}, each.seconds, each.megabytes)
        for each in own
        if each.sizes["layers"] == deepest
    ]
    sentences = [
        f"The first layers of the pretrained encoder ({HEADS} heads, width {WIDTH}), on one text.",
        f"Seconds grow as {_growth(own, 'seconds')}; memory as {_growth(by_tokens, 'megabytes')}, whatever the number of "
        "layers, which are measured one after the other. Where the fast solver's bounds of rounding are too wide for the "
        "study, as in some layers for long texts, rows take Newton's method, and the growth is not that of a power.",
    ]
    if "newton" not in costs:
        return sentences
    tokens, rows = MODEL["tokens"], HEADS * MODEL["tokens"]
    each, factor = projected(costs["newton"], {"n": tokens, "d": WIDTH, "rows": rows})
    seconds = MODEL["layers"] * each
    short = projected(own, {**MODEL, "tokens": 512})
    return [
        *sentences,
        "",
        f"A model of {MODEL['layers']} such layers would take {_about(short)} on one core for 512 tokens. For {tokens:,}",
        f"it has more templates than a Gram matrix is made for: {MODEL['layers'] * rows:,} problems by Newton's method,",
        f"{_about((seconds, factor))} on one core, {_time(seconds / 1000)} on 1,000. Layers and inputs are independent,",
        "and what is finished is kept in files, so that any number of machines can share the work.",
    ]


def _verify(costs: Costs) -> list[str]:
    own = costs["verify"]
    seconds, megabytes = (
        line([(cost.sizes["claims"], getattr(cost, name)) for cost in own]) for name in ("seconds", "megabytes")
    )
    (fixed, each), (resident, more) = ([fit.values[name] for name in ("", "x")] for fit in (seconds, megabytes))
    total, error = seconds.at({"x": LIBRARY})
    return [
        f"A run takes {fixed:.1f} ± {seconds.error(''):.1f} s at any rate and {each:.2f} ± {seconds.error('x'):.2f} s for "
        f"each claim, {resident:.0f} MB and {1000 * more:.0f} ± {1000 * megabytes.error('x'):.0f} kB for each claim, in "
        "one process.",
        f"A library of {LIBRARY:,} claims would take {_time(total)} (± {100 * error / total:.0f} %) on one core, "
        f"{_time(fixed + each * LIBRARY / 16)} in 16 shards of one core each",
        f"(`verify --shard i/16`), and {(resident + more * LIBRARY) / 1000:.1f} GB in one process.",
    ]


REPORTS: dict[str, tuple[str, Callable[[Costs], list[str]]]] = {
    "solve": ("`mem.solve`", _solve),
    "newton": ("`mem.solve` without a Gram matrix", _newton),
    "deviation": ("`python -m numerics deviation`", _deviation),
    "verify": ("`python -m derivations verify`", _verify),
}
"""The title and the sentences of each section of the page."""


def _about(estimate: tuple[float, float]) -> str:
    """Format seconds with their factor of error."""
    return f"{_time(estimate[0])} (×/÷ {estimate[1]:.1f})"


def _time(seconds: float) -> str:
    """Format seconds in a readable unit."""
    for unit, length in (("years", 31_557_600), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"
