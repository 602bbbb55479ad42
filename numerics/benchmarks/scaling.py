"""How `deviation` scales with processes: python -m numerics.benchmarks.scaling [--processes 2].

The same run, from an empty folder, by one process and by several under torchrun, each on one thread, in turns. Imports, models,
tables and pictures take the same time however long the text is, and no number of processes shortens it; a run on a text of one
word, in the same round, measures it.

Ratio       of elapsed times, one process to several; only a machine with an idle core for each process shows it
Growth      the same ratio of what the long text takes beyond the single word
Work        CPU seconds of several processes together, to those of one: 1 if sharing the work makes none
Bound       processes / work: the ratio on idle cores if all processes were busy to the end
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from numerics.commands import options
from numerics.experiments.models_and_texts import ENCODER
from numerics.models.encoder import PARAGRAPH

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Turn:
    """One run of the command.

    Attributes:
        processes: how many shared it.
        seconds: that it took.
        cpu: seconds of CPU time, of all processes together.
    """

    processes: int
    seconds: float
    cpu: float


@dataclass(frozen=True)
class Round:
    """Runs of one process and of several, on the text and on one word."""

    alone: Turn
    shared: Turn
    alone_on_a_word: Turn
    shared_on_a_word: Turn


@dataclass(frozen=True)
class Scaling:
    """The gain of several processes.

    Attributes:
        processes: how many.
        ratio: of the elapsed times of one process and of several, median over the rounds.
        growth_ratio: the same ratio of what the text takes beyond one word.
        work: of the CPU seconds of several processes and of one, median over the rounds.
        growth_work: the same ratio of what the text takes beyond one word.
    """

    processes: int
    ratio: float
    growth_ratio: float
    work: float
    growth_work: float

    @property
    def bound(self) -> float:
        """The ratio on idle cores if all processes were busy to the end."""
        return self.processes / self.work


def run(processes: int, arguments: Sequence[str]) -> Turn:
    """Run `deviation` into an empty folder.

    Raises:
        ValueError: if it fails, with the last line that it wrote.
    """
    torchrun = ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", "-m"] if processes > 1 else []
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", *torchrun, "numerics", "deviation", "--out", f"{folder}/out", *arguments]
        start, before = time.perf_counter(), _cpu()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        turn = Turn(processes, time.perf_counter() - start, _cpu() - before)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise ValueError(f"arguments: expected a run of deviation that succeeds, got {lines[-1]}")
    return turn


def scaling(rounds: Sequence[Round]) -> Scaling:
    """Compare one process with several, round by round.

    Raises:
        ValueError: unless there are rounds, all of the same number of processes.
    """
    counts = {turn.processes for x in rounds for turn in (x.shared, x.shared_on_a_word)}
    if len(counts) != 1:
        raise ValueError(f"rounds: expected one number of processes in all of them, got {sorted(counts)}")
    return Scaling(
        counts.pop(),
        statistics.median(x.alone.seconds / x.shared.seconds for x in rounds),
        statistics.median(
            (x.alone.seconds - x.alone_on_a_word.seconds) / (x.shared.seconds - x.shared_on_a_word.seconds) for x in rounds
        ),
        statistics.median(x.shared.cpu / x.alone.cpu for x in rounds),
        statistics.median((x.shared.cpu - x.shared_on_a_word.cpu) / (x.alone.cpu - x.alone_on_a_word.cpu) for x in rounds),
    )


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@click.command()
@click.option("--processes", type=click.IntRange(2), default=2, show_default=True)
@click.option("--model", default=ENCODER, show_default=True)
@click.option("--tokens", type=click.IntRange(2), default=256, show_default=True, help="of one input")
@click.option("--paragraphs", type=click.IntRange(1), default=12, show_default=True, help="of the text that is read")
@click.option("--rounds", type=click.IntRange(1), default=2, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), callback=options.writable, help="also write all numbers here")
def main(processes: int, model: str, tokens: int, paragraphs: int, rounds: int, path: Path | None) -> None:
    """Time `deviation` by one process and by several."""
    console, measured = Console(), []
    table = Table("text", "processes", "seconds", "CPU seconds")
    with tempfile.TemporaryDirectory() as folder:
        texts = {"text": " ".join([PARAGRAPH] * paragraphs), "one word": "attention"}
        for name, text in texts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for _ in range(rounds):
            turns = []
            for name in texts:
                for count in (1, processes):
                    turn = run(count, ["--model", model, "--tokens", str(tokens), "--text", str(Path(folder, name))])
                    table.add_row(name, str(count), f"{turn.seconds:.1f}", f"{turn.cpu:.1f}")
                    turns.append(turn)
            measured.append(Round(*turns))
    result = scaling(measured)
    console.print(table)
    console.print(
        f"{processes} processes are {result.ratio:.2f} times as fast as one, by {result.work:.2f} times its work: at "
        f"most {result.bound:.2f} times on idle cores; on what the text takes beyond one word, "
        f"{result.growth_ratio:.2f} times as fast, by {result.growth_work:.2f} times the work",
        soft_wrap=True,
    )
    if path:
        results = {"rounds": [asdict(x) for x in measured], "scaling": asdict(result) | {"bound": result.bound}}
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
