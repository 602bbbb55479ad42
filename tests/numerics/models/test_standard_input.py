"""No code of a model folder is run, whatever standard input contains."""

import os
import sys
from pathlib import Path

import pytest

from tests.numerics.models.folders import MARKER, custom_code
from tests.processes import forked, numerics


@pytest.mark.parametrize("command", ["temperature", "deviation"])
def test_a_yes_on_standard_input_runs_nothing(folder: Path, tmp_path: Path, command: str) -> None:
    custom_code(folder, known=False)
    run = forked(told_yes, command, "--model", str(folder), "--out", str(tmp_path / "out"), folder=tmp_path)
    assert run.returncode == 2, run.stderr
    assert "cannot load" in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.rglob(MARKER))


def told_yes(*arguments: str) -> None:
    """A command with a hundred times yes on its standard input."""
    reader, writer = os.pipe()
    os.write(writer, b"y\n" * 100)
    os.dup2(reader, 0)
    sys.stdin = os.fdopen(0)
    numerics(*arguments)
