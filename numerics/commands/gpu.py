"""python -m numerics gpu: everything meant for a CUDA device, in one run, with a verdict for each precision."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from numerics.benchmarks.precision import cells, verdict
from numerics.benchmarks.rates import PRECISIONS, rates
from numerics.commands import options
from numerics.experiments.output import atomic_write

ROOT = Path(__file__).parents[2]
NOT_MEASURED = "not measured: there is no CUDA device"
WITHOUT = (
    "No GPU was measured: neither its speed, nor its errors, nor its votes. The steps ran on the CPU, on small inputs, "
    "which shows that they run."
)


@dataclass(frozen=True)
class Step:
    """A command to run, for a while at most; its output goes to a file of its name."""

    name: str
    arguments: Sequence[str]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """How a step ended: "passed", "failed", "ran out of time", or why it was not run; with the last lines it printed."""

    name: str
    command: str
    ended: str
    seconds: float
    said: str


def steps(device: str, folder: Path) -> Iterator[Step]:
    """Return the steps for a device; on the CPU the same commands run with the smallest inputs that exercise them."""
    card = device == "cuda"
    if (ROOT / "tests" / "numerics").is_dir():
        files = [] if card else ["tests/numerics/test_attention.py", "tests/numerics/test_regularizers.py"]
        yield Step("tests", ["pytest", "-q", "-p", "no:cacheprovider", *(files or ["tests/numerics"]), "-k", device], 120)
    votes = [] if card else ["eot.46", "eot.59", "eot.s7.fisher-scaled"]
    yield Step("votes", ["derivations", "verify", *votes, "--device", device, "--json", str(folder / "ledger.json")], 210)
    sections = ["--only", "closed-forms", "--only", "mem", "--only", "growth"]  # the others take no device
    small = ["--rounds", "1", "--queries", "16", "--keys", "16", "--tokens", "16", "--singles", "0"]
    small += ["--solver-rounds", "1", "--doublings", "0"]
    numbers = ["--device", device, "--json", str(folder / "bench.json")]
    yield Step("bench", ["numerics", "bench", *numbers, *sections, *([] if card else small)], 120)
    few = [] if card else ["--model", str(ROOT / "numerics/models/tiny/tiny-gpt"), "--tokens", "32"]
    yield Step("deviation", ["numerics", "deviation", "--device", device, "--out", str(folder / "deviation"), *few], 120)


def run_step(step: Step, folder: Path) -> Outcome:
    """Run one step in its own process, so that a crash does not affect the others. After a timeout
    its child processes are ended too: they would keep the GPU busy."""
    start, command = time.perf_counter(), [sys.executable, "-m", *step.arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(step.seconds)
            ended = "passed" if status == 0 else f"failed with status {status}"
        except subprocess.TimeoutExpired:
            ended = f"ran out of its {step.seconds:g} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        printed = output.read().decode(errors="replace")
    with atomic_write(folder / f"{step.name}.txt") as path:
        path.write_text(printed, encoding="utf-8")
    last = "\n".join(printed.strip().splitlines()[-3:])
    return Outcome(step.name, f"python -m {' '.join(step.arguments)}", ended, time.perf_counter() - start, last)


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("gpu"),
    show_default=True,
    callback=options.folder,
    help="folder for the page, the numbers and what each step printed, made if it is missing",
)
@click.option("--size", type=click.IntRange(1), default=4096, show_default=True, help="of the matrices that are multiplied")
def gpu(out: Path, size: int) -> None:
    """Run everything that is meant for a GPU: tests, votes, benchmarks, the deviation study, and every precision.

    Without a GPU the same steps run on the CPU with smaller inputs; the page says what was not measured.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out.mkdir(exist_ok=True)
    folder, console = out.resolve(), Console()
    results: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if device == "cuda" else NOT_MEASURED,
        "torch": torch.__version__,
    }
    errors = list(cells(device))
    results["errors"] = [asdict(cell) for cell in errors]
    results["verdicts"] = {precision: verdict(errors, precision) for precision in PRECISIONS}
    results["rates"] = [asdict(rate) for rate in rates(device, size)] if device == "cuda" else []
    outcomes = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        todo = list(steps(device, folder))
        task = bar.add_task("", total=len(todo))
        for step in todo:
            bar.update(task, description=step.name)
            outcomes.append(run_step(step, folder))
            bar.advance(task)
    results["steps"] = [asdict(outcome) for outcome in outcomes]
    with atomic_write(folder / "gpu.json") as path:
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with atomic_write(folder / "gpu.md") as path:
        path.write_text(page(results), encoding="utf-8")
    for outcome in outcomes:
        console.print(f"{outcome.name:10} {outcome.ended} ({outcome.seconds:.0f} s)")
    for precision, words in results["verdicts"].items():
        console.print(f"{precision:10} {words}", soft_wrap=True)
    console.print(f"{out / 'gpu.md'} and {out / 'gpu.json'} written; device: {results['device']}", soft_wrap=True)
    wrong = any(cell.error > 1 for cell in errors) or any(outcome.ended != "passed" for outcome in outcomes)
    raise SystemExit(1 if wrong else 0)


def page(results: dict[str, Any]) -> str:
    """The numbers as one page of Markdown."""
    lines = [
        "# What a card was asked",
        "",
        f"Device: {results['device']}; torch {results['torch']}",
        "",
        *([WITHOUT, ""] if results["device"] == NOT_MEASURED else []),
        "| precision | verdict |",
        "| --- | --- |",
    ]
    lines += [f"| {precision} | {words} |" for precision, words in results["verdicts"].items()]
    lines += [
        "",
        "Errors of closed forms, in units of what the precision allows (at most 1 is right):",
        "",
        "| closed form | " + " | ".join(PRECISIONS) + " |",
        "| --- |" + " --- |" * len(PRECISIONS),
    ]
    errors = {(cell["form"], cell["precision"]): f"{cell['error']:.2g}" for cell in results["errors"]}
    for form in dict.fromkeys(cell["form"] for cell in results["errors"]):
        lines.append(f"| {form} | " + " | ".join(errors.get((form, precision), "") for precision in PRECISIONS) + " |")
    lines += [
        "",
        "Rates: "
        + (", ".join(f"{rate['what']} {rate['giga']:.0f} · 10⁹ a second" for rate in results["rates"]) or NOT_MEASURED),
        "",
    ]
    for step in results["steps"]:
        lines += [
            f"## {step['name']}: {step['ended']}, {step['seconds']:.0f} s",
            "",
            f"`{step['command']}`",
            "",
            "```",
            step["said"],
            "```",
            "",
        ]
    return "\n".join(lines)
