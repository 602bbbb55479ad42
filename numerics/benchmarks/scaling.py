"""How `deviation` scales with processes: python -m numerics.benchmarks.scaling [--processes 2].

The same run, from an empty folder, by one process and by several under torchrun, each on one thread, in turns. Times are
those of the whole command, including imports, models, tables and pictures, which one process makes alone.

Ratio       of elapsed times, one process to several; only a machine with an idle core for each process shows it
Work        CPU seconds of several processes together, to those of one: 1 if sharing the work adds none
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
class Scaling:
    """The gain from several processes.

    Attributes:
        processes: how many.
        ratio: of the elapsed times of one process and of several, median over the rounds.
        work: of the CPU seconds of several processes and of one, median over the rounds.
    """

    processes: int
    ratio: float
    work: float

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
        start, cpu_start = time.perf_counter(), _cpu()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        turn = Turn(processes, time.perf_counter() - start, _cpu() - cpu_start)
    if done.returncode:
        output = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise ValueError(f"arguments: expected a run of deviation that ends well, got {output[-1]}")
    return turn


def scaling(turns: Sequence[Turn]) -> Scaling:
    """Compare the turns of one process with those of several, round by round.

    Raises:
        ValueError: unless there are as many of one as of several.
    """
    alone, shared = ([turn for turn in turns if (turn.processes > 1) is several] for several in (False, True))
    counts = {turn.processes for turn in shared}
    if len(alone) != len(shared) or len(counts) != 1:
        raise ValueError(f"turns: expected as many of one process as of several, got {[turn.processes for turn in turns]}")
    pairs = list(zip(alone, shared, strict=True))
    ratio = statistics.median(one.seconds / several.seconds for one, several in pairs)
    return Scaling(counts.pop(), ratio, statistics.median(several.cpu / one.cpu for one, several in pairs))


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@click.command()
@click.option("--processes", type=click.IntRange(2), default=2, show_default=True)
@click.option("--model", default=ENCODER, show_default=True)
@click.option("--tokens", type=click.IntRange(2), default=256, show_default=True, help="of one input")
@click.option("--paragraphs", type=click.IntRange(1), default=16, show_default=True, help="of the text that is read")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), callback=options.writable, help="also write all numbers here")
def main(processes: int, model: str, tokens: int, paragraphs: int, rounds: int, path: Path | None) -> None:
    """Time `deviation` by one process and by several."""
    console, turns = Console(), []
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as text:
        text.write(" ".join([PARAGRAPH] * paragraphs))
        text.flush()
        arguments = ["--model", model, "--tokens", str(tokens), "--text", text.name]
        for _ in range(rounds):
            turns += [run(count, arguments) for count in (1, processes)]
    result = scaling(turns)
    table = Table("processes", "seconds", "CPU seconds")
    for turn in turns:
        table.add_row(str(turn.processes), f"{turn.seconds:.1f}", f"{turn.cpu:.1f}")
    console.print(table)
    console.print(f"{processes} processes are {result.ratio:.2f} times as fast as one, by {result.work:.2f} times its work: "
                  f"at most {result.bound:.2f} times on idle cores", soft_wrap=True)
    if path:
        results = {"turns": [asdict(turn) for turn in turns], "scaling": asdict(result) | {"bound": result.bound}}
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
