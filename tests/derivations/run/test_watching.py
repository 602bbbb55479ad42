"""`verify --watch` reacts to changed sources, and not to files that a run writes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from watchfiles import Change

from derivations.run import watching
from derivations.run.watching import Sources, rerun

PATIENCE = 20  # seconds


@contextmanager
def watched(folder: Path, log: Path) -> Iterator[Callable[[], int]]:
    """How often a command that adds a line to a log has run since the start."""
    command = [sys.executable, "-c", f"open({str(log)!r}, 'a').write('run\\n')"]
    stop = Event()
    watcher = Thread(target=rerun, args=(command, [folder], stop))
    watcher.start()
    try:
        yield lambda: len(log.read_text().splitlines()) if log.exists() else 0
    finally:
        stop.set()
        watcher.join()


def until(reached: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not reached() and time.monotonic() < end:
        time.sleep(0.05)
    return reached()


def test_a_saved_module_starts_the_command_again(tmp_path: Path) -> None:
    """The command runs at once, and again after a module was changed."""
    folder = tmp_path / "paper"
    folder.mkdir()
    with watched(folder, tmp_path / "log") as runs:
        assert until(lambda: runs() == 1)
        edits = iter(range(1000))
        assert until(lambda: (folder / "section1.py").write_text(f"# {next(edits)}\n") > 0 and runs() > 1)


def test_files_written_by_a_run_start_no_run() -> None:
    """Baselines, ledgers and compiled modules are not sources; printed lists of formulas are."""
    sources = Sources()
    for name in ("eot/baseline.json", "ledger.json", "eot/__pycache__/section1.cpython-311.pyc"):
        assert not sources(Change.modified, f"/somewhere/{name}"), name
    for name in ("eot/section1.py", "eot/source.txt"):
        assert sources(Change.modified, f"/somewhere/{name}"), name


def test_the_changed_files_are_named_and_a_failed_run_is_no_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def watch(*folders: str, raise_interrupt: bool, **_: object) -> Iterator[set[tuple[Change, str]]]:
        assert folders == ("one", "two")
        assert not raise_interrupt  # Ctrl-C ends it without a traceback
        yield {(Change.modified, "one/b.py"), (Change.added, "two/a.py"), (Change.deleted, "two/b.py")}

    monkeypatch.setattr(watching, "watch", watch)
    rerun([sys.executable, "-c", "raise SystemExit(1)"], ["one", "two"])  # type: ignore[list-item]
    assert capsys.readouterr().out == "changed: a.py, b.py\n"
