"""The pytest plugin that selects tests by claim, collects evidence and writes the ledger.

A test speaks for a claim through the marker `claim(id, layer)` and the fixture `record_evidence`.  Evidence travels
in `user_properties`, so it survives pytest-xdist.  A marked test that fails without evidence leaves an error behind.

PYTEST_DONT_REWRITE: there is no assertion here, and `verify` imports this module before pytest does.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from derivations import ledger
from derivations.catalogue import DOCUMENTS, entries
from derivations.claims import Evidence, Layer, Outcome

PLUGIN = "attention-proofs-ledger"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    group = parser.getgroup("attention-proofs")
    group.addoption("--claims", default="", metavar="ID,…", help="run only what speaks for these claims or documents")
    group.addoption("--ledger", default=None, metavar="FILE", help="write the ledger to FILE")
    group.addoption("--device", default="cpu", choices=("cpu", "cuda"), help="where the torch layer runs")
    group.addoption("--quick", action="store_true", help="fewer random instances, fewer rows of real models")
    group.addoption("--model", default=None, metavar="NAME_OR_PATH", help="the pretrained model to capture from")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and, in the process that reports, the collector; make `-k ID` exact for a claim id."""
    config.addinivalue_line("markers", "claim(id, layer): the test speaks for this claim in this layer")
    if config.option.keyword in entries():
        config.option.claims, config.option.keyword = config.option.keyword, ""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(config), PLUGIN)


def selected(pattern: str) -> set[str]:
    """The ids named by a comma-separated list of ids and documents; raises ValueError for an unknown one."""
    known = entries()
    chosen: set[str] = set()
    for name in filter(None, pattern.split(",")):
        if name in known:
            chosen.add(name)
        elif name in DOCUMENTS:
            chosen |= {id for id in known if id.startswith(f"{name}.")}
        else:
            raise ValueError(f"{name} is neither a claim nor a document")
    return chosen


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tag every claim's test, and leave out what was not asked for."""
    for item in items:
        if marker := item.get_closest_marker("claim"):
            id, layer = marker.args
            if id not in entries():
                raise pytest.UsageError(f"{item.nodeid}: the claim {id} does not exist")
            item.user_properties.append(("claim", [id, str(layer)]))
    if not config.option.claims:
        return
    try:
        wanted = selected(config.option.claims)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    kept = [item for item in items if (marker := item.get_closest_marker("claim")) and marker.args[0] in wanted]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture
def record_evidence(request: pytest.FixtureRequest) -> Callable[[Evidence], None]:
    """Hand evidence to the ledger."""
    def record(evidence: Evidence) -> None:
        request.node.user_properties.append(("evidence", json.dumps(asdict(evidence))))

    return record


class Collector:
    """Gathers evidence in the reporting process, and judges and writes at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.start = time.perf_counter()
        self.evidence: list[Evidence] = []
        self.spoken_for: set[str] = set()
        self.failed: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.result: dict[str, Any] | None = None
        self.problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the evidence of one test."""
        if report.failed:
            self.failed.append(report.nodeid)
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skipped[reason.removeprefix("Skipped: ")] += 1
        if report.when != "call" and not report.failed:
            return
        sent = [value for name, value in report.user_properties if name == "evidence"]
        self.evidence += [ledger.evidence_from(json.loads(str(value))) for value in sent]
        claim = dict(report.user_properties).get("claim")
        if isinstance(claim, list):
            self.spoken_for.add(claim[0])
            if report.failed and not sent:
                detail = str(report.longrepr).strip().splitlines()[-1]
                self.evidence.append(Evidence(claim[0], Layer(claim[1]), Outcome.ERROR, "", detail=detail))

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """Judge what was found; a problem turns a passing session into a failing one."""
        yield
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not self.spoken_for:
            return
        order = [id for id in entries() if id in self.spoken_for]
        devices = sorted({e.environment.split(",")[0] for e in self.evidence})
        surroundings = ledger.environment(devices, time.perf_counter() - self.start, 0, self.skipped)
        self.result = ledger.build(self.evidence, order, surroundings)
        self.problems = ledger.problems(self.result, ledger.load_baseline())
        if self.config.option.ledger:
            ledger.write(self.result, Path(self.config.option.ledger))
        if self.problems and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what the verdicts are, and every problem by the name of its claim."""
        if self.result:
            counts = ", ".join(f"{count} {verdict}" for verdict, count in self.result["summary"]["by_verdict"].items())
            terminalreporter.write_line(f"claims: {counts}")
        for problem in self.problems:
            terminalreporter.write_line(f"PROBLEM {problem}", red=True)
