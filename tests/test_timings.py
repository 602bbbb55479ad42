"""The timings are the actual times of commands, and failures are reported."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests import timings
from tests.timings import ROOT, Command, Timing, best, main, run

BUSY = "import time\nwhile time.process_time() < 0.3: pass\n"
IDLE = "import time\ntime.sleep(0.3)\n"
BROKEN = "import sys\nprint('half done')\nsys.exit('key: expected 1, got 2')\n"


def script(folder: Path, text: str, **options: int) -> Command:
    (folder / "script.py").write_text(text)
    return Command("script", ("script",), 60, folder, project=folder, **options)


def test_the_processor_time_of_a_child_is_counted_and_its_sleep_is_not(tmp_path: Path) -> None:
    busy = run(script(tmp_path, BUSY))
    idle = run(script(tmp_path, IDLE))
    assert 0.3 <= busy.cpu <= busy.wall + 0.1  # two clocks, one of which ticks coarsely
    assert idle.wall >= 0.3
    assert idle.cpu < 0.3


def test_the_fastest_run_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter([Timing(3, 1), Timing(1, 2), Timing(2, 3), Timing(0, 0)])
    monkeypatch.setattr(timings, "run", lambda _: next(runs))
    assert best(script(tmp_path, "")) == Timing(1, 2)
    assert next(runs) == Timing(0, 0)  # three runs and no fourth


def test_a_failure_is_reported_and_exits_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_command(*_: object) -> Iterator[Command]:
        yield script(tmp_path, BROKEN)

    monkeypatch.setattr(timings, "commands", one_command)
    result = CliRunner().invoke(main, ["--json", str(tmp_path / "timings.json")])
    assert result.exit_code == 1
    (row,) = json.loads((tmp_path / "timings.json").read_text())
    assert (row["command"], row["target"], row["failure"]) == ("script", 60, "exit status 1: key: expected 1, got 2")
    assert "exit status 1" in result.output


def test_slow_commands_are_named(tmp_path: Path) -> None:
    command = script(tmp_path, "")
    cells = [list(timings.table({command: Timing(wall, 1)}).columns[-1].cells) for wall in (60, 60.1)]
    assert cells == [["kept"], ["missed"]]


def test_a_chapter_is_changed_in_a_copy_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[Command] = []
    monkeypatch.setattr(timings, "run", commands.append)
    ledger = tmp_path / "ledger.json"
    ledger.write_text("{}")
    before = (ROOT / timings.CHANGED).read_text()
    command = timings.incremental(tmp_path / "project", ledger)
    assert (ROOT / timings.CHANGED).read_text() == before
    assert (tmp_path / "project" / timings.CHANGED).read_text() == before + "# changed\n"
    assert [each.project for each in commands] == [command.project] == [tmp_path / "project"]
    (tmp_path / "project" / "ledger.json").write_text("of the run before")
    command.prepare()
    assert (tmp_path / "project" / "ledger.json").read_text() == "{}"
