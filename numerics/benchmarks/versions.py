"""Versions of ``mem.solve`` side by side: python -m numerics.benchmarks.versions COMMIT ....

Every version runs in a process of its own, from the files of its commit, on the same problems; they take turns. Each turn
times a float64 product with the Gram matrix too, in the same process: the ratio of both hardly depends on what else the machine
does. Seconds are of CPU time, on one thread.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from safetensors.torch import save_file

from numerics.benchmarks.mem import layer_problems

ROOT = Path(__file__).parents[2]
PROBLEMS = "problems.safetensors"

_TURN = """
import json, statistics, sys, time, torch
from safetensors.torch import load_file
from numerics import mem
torch.set_num_threads(1)
problems = load_file(sys.argv[1])
templates, evidence = problems["templates"], problems["evidence"]
gram, weights = templates @ templates.mT, (evidence @ templates.mT).softmax(-1)

def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start

solution = mem.solve(templates, evidence)
error = float((solution.error / (1 + solution.dual.norm(dim=-1))).max())
print(json.dumps([bool(solution.converged.all()), error]), flush=True)
for _ in sys.stdin:
    products = [seconds(lambda: weights @ gram) for _ in range(20)]
    print(json.dumps([statistics.median(products), seconds(lambda: mem.solve(templates, evidence))]), flush=True)
"""


@dataclass(frozen=True)
class Version:
    """One version in a race.

    Attributes:
        commit: its abbreviated hash.
        date, subject: of the commit.
        seconds: median over the turns, per problem.
        ratio: median over the turns, to the product with the Gram matrix.
        certified: whether all rows are.
        error: the largest certified relative error of λ.
    """

    commit: str
    date: str
    subject: str
    seconds: float
    ratio: float
    certified: bool
    error: float


def race(commits: list[str], rounds: int) -> list[Version]:
    """Time the solver of each commit on the problems of a real attention layer.

    Raises:
        ValueError: for a commit that is not there, or that cannot solve them.
    """
    descriptions = [_git("show", "-s", "--format=%h\n%as\n%s", commit).splitlines() for commit in commits]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problems = layer_problems()
        save_file(dict(zip(("templates", "evidence"), problems, strict=True)), folder / PROBLEMS)
        processes: dict[str, subprocess.Popen[str]] = {}
        first: dict[str, tuple[float, float]] = {}
        turns: dict[str, list[tuple[float, float]]] = {}
        try:
            for commit in commits:  # the compilation of one after the other
                processes[commit] = _start(commit, folder)
                first[commit] = _answer(processes[commit], commit)
            for _ in range(rounds):
                for commit, process in processes.items():
                    turns.setdefault(commit, []).append(_turn(process, commit))
        finally:
            for process in processes.values():
                process.kill()
                process.communicate()
    versions = []
    for commit, (short, date, subject) in zip(commits, descriptions, strict=True):
        (certified, error), own = first[commit], turns[commit]
        seconds = statistics.median(solve for _, solve in own) / len(problems[1])
        ratio = statistics.median(b / a for a, b in own)
        versions.append(Version(short, date, subject, seconds, ratio, bool(certified), error))
    return versions


def _start(commit: str, folder: Path) -> "subprocess.Popen[str]":
    tree = folder / commit
    tree.mkdir()
    archive = subprocess.run(["git", "archive", commit, "numerics"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
    command = [sys.executable, "-c", _TURN, str(folder / PROBLEMS)]
    return subprocess.Popen(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _turn(process: "subprocess.Popen[str]", commit: str) -> tuple[float, float]:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return _answer(process, commit)


def _answer(process: "subprocess.Popen[str]", commit: str) -> tuple[float, float]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise ValueError(f"commit: expected one whose mem.solve runs here, got {commit}")
    one, other = json.loads(line)
    return one, other


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"commit: expected one of this repository, got {arguments[-1]}")
    return done.stdout


@click.command()
@click.argument("commits", nargs=-1, required=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="also write all numbers to this file")
def main(commits: tuple[str, ...], rounds: int, path: Path | None) -> None:
    """Time the solver of each commit."""
    versions = race(list(commits), rounds)
    table = Table("commit", "date", "µs a problem", "Gram products", "error")
    for version in versions:
        error = f"{version.error:.1e}" if version.certified else f"{version.error:.1e}, not certified"
        table.add_row(version.commit, version.date, f"{1e6 * version.seconds:.1f}", f"{version.ratio:.1f}", error)
    Console().print(table)
    if path:
        rows = [asdict(version) for version in versions]
        path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
