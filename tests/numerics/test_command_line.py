"""The commands of the numeric layers: each is available, and none imports another."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from numerics import commands
from numerics.__main__ import NAMES, main


def test_every_module_is_a_command() -> None:
    modules = {path.stem for path in Path(commands.__path__[0]).glob("*.py")} - {"__init__", "options"}
    assert modules == {name.replace("-", "_") for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_command_is_called_by_its_name(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(main, ["deviaton"])
    assert result.exit_code == 2
    assert "No such command 'deviaton'" in result.output


def test_no_command_is_imported_for_another() -> None:
    code = (
        "import sys, numerics.__main__ as m; m.main(['ot-vit', '--sizes', '--help'], standalone_mode=False)\n"
        "sys.exit(any(x in sys.modules for x in ('numerics.commands.bench', 'numerics.commands.deviation', 'cvxpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
