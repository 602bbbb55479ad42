"""Commands in separate processes that start in milliseconds: they are forked from one with imported libraries.

The catalogue is not loaded there, nor any vote: a process puts the claims together as `python -m derivations` does.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import derivations as project

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "cvxpy",
        "matplotlib.figure",
        "pytest",
        "transformers",
        "transformers.models.gpt2.modeling_gpt2",
        "transformers.models.byt5",
        "derivations.papers.new",
        "derivations.run.notebooks",
        "derivations.run.pytest_plugin",
        "evidence.harness",
        "numerics.commands.deviation",
        "numerics.mem",
        "tests.warm",
        "ipykernel.kernelapp",
    ]
)
# A pytest that such a process runs finds plugins imported already, which it then cannot rewrite, and warns of.
ALREADY_IMPORTED = "-W ignore::pytest.PytestAssertRewriteWarning"


Completed = subprocess.CompletedProcess[str]


def forked(function: Callable[..., object], *arguments: Any, folder: Path, **environment: str) -> Completed:
    """Call a function of a module in a separate process, in a folder and with additional environment variables."""
    with tempfile.TemporaryDirectory() as outputs:
        out, err = Path(outputs, "out"), Path(outputs, "err")
        process = started(function, *arguments, folder=folder, out=out, err=err, **environment)
        process.join(600)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"{function.__name__}{arguments}: expected an end within 600 s")
        return subprocess.CompletedProcess(arguments, process.exitcode, out.read_text("utf-8"), err.read_text("utf-8"))


def started(
    function: Callable[..., object], *arguments: Any, folder: Path, out: Path, err: Path, **environment: str
) -> BaseProcess:
    """Start a function of a module in a separate process, as `forked` does, with its output in two files."""
    surroundings = {**os.environ, "PYTEST_ADDOPTS": ALREADY_IMPORTED, **environment}
    process = FORKS.Process(target=_called, args=(function, arguments, folder, surroundings, out, err))
    process.start()
    return process


def derivations(folder: Path, *arguments: str, **environment: str) -> Completed:
    """`python -m derivations` with these arguments, in a folder."""
    return forked(run_command, *arguments, folder=folder, **environment)


def _called(
    function: Callable[..., object],
    arguments: tuple[Any, ...],
    folder: Path,
    surroundings: dict[str, str],
    out: Path,
    err: Path,
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs the tests in the background
    for path, standard in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), standard)
    surround(folder, surroundings)
    function(*arguments)


def surround(folder: Path, environment: dict[str, str]) -> None:
    """Let this process start in another folder, from which it also imports, with other variables of the environment."""
    project.STARTED = time.time()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))


def numerics(*arguments: str) -> None:
    """Run `python -m numerics` in this process, which should be a separate one."""
    from numerics.__main__ import main

    main(arguments)


def run_command(*arguments: str) -> None:
    """Run `python -m derivations` in this process, which should be a separate one."""
    from derivations.__main__ import run

    sys.argv = ["derivations", *arguments]
    run()
