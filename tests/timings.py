"""How long the commands take compared with their targets: python -m tests.timings [--all] [--ledger FILE] [--json FILE].

Seconds on the clock and of the processors, of the fastest of three runs where a run is short.  The exit status is 1 if a
command fails; one that takes too long is named, and does not fail, since the machine may be busy with something else.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
PACKAGES = ("derivations", "evidence", "numerics")
CHANGED = "derivations/documents/eot/section5_gradient.py"  # a chapter in the middle: others rest on it
VERIFY = ("derivations", "verify", "--json", "one.json")
SUITE = ("pytest", "-q", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Command:
    """A module to run with its arguments, and its target in seconds; `prepare` is called before each run."""

    name: str
    arguments: tuple[str, ...]
    target: float
    folder: Path
    runs: int = 3
    project: Path = ROOT
    prepare: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Timing:
    """The seconds of one run, and the failure, if there was one."""

    wall: float
    cpu: float
    failure: str = ""


def run(command: Command) -> Timing:
    """Run a command once, timed from outside, as a user would."""
    command.prepare()
    surroundings = {**os.environ, "PYTHONPATH": str(command.project)}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    cpu, start = _cpu(), time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-m", *command.arguments],
        cwd=command.folder,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, cpu = time.perf_counter() - start, _cpu() - cpu
    message = (result.stderr.strip() or result.stdout.strip() or "no output").splitlines()[-1]
    return Timing(wall, cpu, f"exit status {result.returncode}: {message}" if result.returncode else "")


def _cpu() -> float:
    """The processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best(command: Command) -> Timing:
    """The fastest of all runs, or the first that fails."""
    timings: list[Timing] = []
    for _ in range(command.runs):
        timings.append(run(command))
        if timings[-1].failure:
            return timings[-1]
    return min(timings, key=lambda timing: timing.wall)


def commands(folder: Path, ledger: Path, everything: bool) -> Iterator[Command]:
    """The commands with their targets, run in a separate folder; the long ones only if all are requested."""
    last = folder / "ledger.json"
    if everything:
        yield Command("verify", ("derivations", "verify"), 180, folder, runs=1)
        yield Command("pytest -n auto", (*SUITE, "-n", "auto"), 480, ROOT, runs=1)
    elif ledger.is_file():
        shutil.copy(ledger, last)
    yield Command("list", ("derivations", "list"), 1, folder)
    yield Command("show eot.46", ("derivations", "show", "eot.46"), 1, folder)
    yield Command("verify --only symbolic eot.46", (*VERIFY, "--only", "symbolic", "eot.46"), 2, folder)
    yield Command("verify eot.32 (no model)", (*VERIFY, "eot.32"), 5, folder)
    yield Command("verify eot.46 (a model)", (*VERIFY, "eot.46"), 5, folder)
    yield Command("pytest -k eot.46", (*SUITE, "-k", "eot.46"), 10, ROOT)
    if last.is_file():
        yield incremental(folder / "project", last)


def incremental(project: Path, ledger: Path) -> Command:
    """`verify --incremental` in a copy of the project where one chapter has changed since the ledger was written."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, project / package)
    shutil.copy2(ROOT / "pyproject.toml", project)
    shutil.copy(ledger, project)
    arguments = ("derivations", "verify", "--incremental")
    run(Command("the ledger brought up to date", arguments, 0, project, project=project))
    current = (project / ledger.name).read_bytes()
    chapter = project / CHANGED
    chapter.write_text(chapter.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    return Command(
        "verify --incremental, a chapter changed",
        arguments,
        10,
        project,
        project=project,
        prepare=lambda: (project / ledger.name).write_bytes(current),
    )


def table(timings: dict[Command, Timing]) -> Table:
    """One line for each command, with whether it meets its target."""
    shown = Table("command", "target (s)", "wall (s)", "cpu (s)", "")
    for command, timing in timings.items():
        verdict = "kept" if timing.wall <= command.target else "missed"
        shown.add_row(command.name, f"{command.target:g}", f"{timing.wall:.2f}", f"{timing.cpu:.2f}", timing.failure or verdict)
    return shown


@click.command()
@click.option("--all", "everything", is_flag=True, help="also time the whole of `verify` and of the tests: many minutes")
@click.option("--ledger", type=Path, default=ROOT / "ledger.json", help="of a whole run, for `list` and `verify --incremental`")
@click.option("--json", "path", type=Path, help="write the timings here too")
def main(everything: bool, ledger: Path, path: Path | None) -> None:
    """Time the commands, and print their times with the targets."""
    with tempfile.TemporaryDirectory() as folder:
        timings = {command: best(command) for command in commands(Path(folder), ledger, everything)}
    Console().print(table(timings))
    if not everything and not ledger.is_file():
        click.echo(f"--ledger: expected one that `verify` wrote, got none at {ledger}: `verify --incremental` is not timed")
    if path:
        rows = [{"command": command.name, "target": command.target, **asdict(timing)} for command, timing in timings.items()]
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    raise SystemExit(1 if any(timing.failure for timing in timings.values()) else 0)


if __name__ == "__main__":
    main()
