"""A progress bar with an ETA for `verify`, which replaces pytest's terminal output."""

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from derivations.pytest_plugin import PLUGIN, Collector


class Progress:
    """A pytest plugin that shows the progress of a run and records failures with their reasons."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("eta"))
        self.bar = Bar(*columns, TimeRemainingColumn(), transient=True, disable=not sys.stdout.isatty())
        self.task = self.bar.add_task("starting", total=None)
        self.collector: Collector | None = None
        self.failures: list[str] = []
        self.interrupted = False

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Record an interruption, since a package that is being imported may swallow KeyboardInterrupt."""
        def interrupt(*_: object) -> None:
            self.interrupted = True
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _go_on(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Start the bar."""
        self.collector = session.config.pluginmanager.get_plugin(PLUGIN)
        self.bar.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Set the number of tests, in a run without worker processes."""
        if session.items:
            self.bar.update(self.task, total=len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        """Set the number of tests, as a worker process reports it."""
        self.bar.update(self.task, total=len(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record an error of collection."""
        self._go_on()
        if report.failed:
            self.failures.append(f"{report.nodeid}: {_reason(report.longreprtext)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Advance the bar, and record a failure."""
        self._go_on()
        if report.failed:
            self.failures.append(_reason(report.longreprtext))
        if report.when == "teardown":
            claim = re.search(r"\[(.+)\]$", report.nodeid)
            self.bar.update(self.task, advance=1, description=claim.group(1) if claim else report.nodeid.split("::")[-1])

    def pytest_sessionfinish(self) -> None:
        """Remove the bar."""
        self.bar.stop()


def _reason(trace: str) -> str:
    """Return the line of a failure's text that states the reason."""
    lines = [line[1:].strip() for line in trace.splitlines() if line.startswith("E ")]
    return lines[0] if lines else trace.strip().splitlines()[-1]
