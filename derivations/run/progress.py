"""The progress of `verify`, instead of pytest's terminal output: a bar on a terminal, else a line every ten seconds."""

import io
import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from derivations.run.pytest_plugin import PLUGIN, Collector

EVERY = 10.0  # seconds between two lines in a log
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Progress:
    """A pytest plugin that shows the progress of a run and records failures with their reasons."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("eta"))
        self.log = not sys.stdout.isatty()
        self.bar = Bar(*columns, TimeRemainingColumn(), transient=True, disable=self.log)
        self.task = self.bar.add_task("collecting", total=None)
        self.collector: Collector | None = None
        self.failures: list[str] = []
        self.interrupted = 0  # the number of the signal
        self.begun = time.monotonic()
        self.running = 0.0  # when the first test could run

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Record an interruption, since a package that is being imported may swallow KeyboardInterrupt; write to the log."""

        def interrupt(number: int, _: object) -> None:
            self.interrupted = number
            raise KeyboardInterrupt

        before = {each: signal.signal(each, interrupt) for each in SIGNALS}
        done = Event()
        thread = Thread(target=self._write, args=(done,), daemon=True)
        if self.log:
            thread.start()
        try:
            yield
        except KeyboardInterrupt:  # which pytest lets pass while it starts
            if not self.interrupted:
                raise
        finally:
            done.set()
            for each, handler in before.items():
                signal.signal(each, handler)

    def _write(self, done: Event) -> None:
        """Write a line to standard output every ten seconds, past pytest, which captures it."""
        try:
            output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", closefd=True)
        except (io.UnsupportedOperation, ValueError):  # it is no file
            return
        with output:
            while not done.wait(EVERY):
                print(self.line(), file=output, flush=True)

    def line(self) -> str:
        """How far the run is: verify: 40/200 checks, 1:15 elapsed, eta 4:00, eot.59."""
        now, task = time.monotonic(), self.bar.tasks[self.task]
        elapsed = f"{_clock(now - self.begun)} elapsed"
        if not task.total:
            return f"verify: {task.description}, {elapsed}"
        ran = task.completed - self._kept()
        eta = _clock((now - self.running) * (task.total - task.completed) / ran) if ran > 0 else "unknown"
        return f"verify: {task.completed:.0f}/{task.total:.0f} checks, {elapsed}, eta {eta}, {task.description}"

    def _kept(self) -> int:
        """The number of votes that the journal of an interrupted run had."""
        return len(self.collector.keeper.kept) if self.collector and self.collector.keeper else 0

    def _go_on(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt

    def _set_total(self, total: int) -> None:
        if not self.running:
            self.running = time.monotonic()
            self.bar.update(self.task, total=total + self._kept(), completed=self._kept())

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Start the bar."""
        self.collector = session.config.pluginmanager.get_plugin(PLUGIN)
        self.bar.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Set the number of tests, in a run without worker processes."""
        if session.items:
            self._set_total(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        """Set the number of tests, as a worker process reports it."""
        self._set_total(len(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record an error of collection."""
        self._go_on()
        if report.failed:
            self.failures.append(f"{report.nodeid}: {_reason(report.longreprtext)}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Advance the bar, and record a failure; nothing that was reported after an interruption counts."""
        self._go_on()
        if report.failed:
            self.failures.append(_reason(report.longreprtext))
        if report.when == "teardown":
            claim = re.search(r"\[(.+)\]$", report.nodeid)
            self.bar.update(self.task, advance=1, description=claim.group(1) if claim else report.nodeid.split("::")[-1])

    def pytest_sessionfinish(self) -> None:
        """Remove the bar."""
        self.bar.stop()


def _clock(seconds: float) -> str:
    """Return minutes and seconds: 4:05."""
    return f"{seconds // 60:.0f}:{seconds % 60:02.0f}" if seconds % 60 < 59.5 else f"{seconds // 60 + 1:.0f}:00"


def _reason(trace: str) -> str:
    """Return the line of a failure's text that states the reason."""
    lines = [line[1:].strip() for line in trace.splitlines() if line.startswith("E ")]
    return lines[0] if lines else trace.strip().splitlines()[-1]
