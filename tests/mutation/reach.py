"""Which tests reach which statements of the modules, and how long they take: recorded once, and kept by content.

Tests run in a process in which each statement of the modules notes that it was reached. A test file runs again once it, a
helper of the tests, or a module that it reached has changed.
"""

import hashlib
import importlib.abc
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.edits import marked
from tests.mutation.forks import FAULT, Send, run_in_fork
from tests.mutation.targets import ROOT

FEW = 8  # tests that may not bear the marks, or a fork
OPTIONS = ("-q", "--capture=no", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")


class Unbothered:
    """A plugin that sets Hypothesis to a run without shrinking and without a database."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Before tests are collected."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutation",
            phases=(Phase.explicit, Phase.generate),
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutation")


class Failures:
    """The plugin that counts the phases of tests that failed.

    Random numbers that a test module draws from a generator of its own begin anew for each test: else what a test does would
    depend on those before it, of which a mutant runs others.
    """

    def __init__(self, items: Iterable[pytest.Item]) -> None:
        self.count = 0
        self.generators = {
            item.nodeid.partition("::")[0]: [
                (x, x.get_state())
                for x in vars(item.getparent(pytest.Module).obj).values()  # type: ignore[union-attr]
                if type(x).__name__ == "Generator" and hasattr(x, "get_state")
            ]
            for item in items
        }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """After each phase of a test."""
        self.count += report.failed

    def passes(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Run a test as pytest does."""
        before = self.count
        for generator, state in self.generators[item.nodeid.partition("::")[0]]:
            generator.set_state(state)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return self.count == before


class Afresh(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import modules from other code than their sources'."""

    def __init__(self, paths: Mapping[str, Path], run: Callable[[str, str, dict[str, Any]], None]) -> None:
        self.paths, self.run = paths, run

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find these modules only."""
        return importlib.util.spec_from_file_location(name, self.paths[name], loader=self) if name in self.paths else None

    def exec_module(self, module: Any) -> None:
        """Run the code."""
        self.run(module.__name__, str(self.paths[module.__name__]), module.__dict__)


@dataclass
class Reach:
    """Of the tests: their seconds, and what they reach.

    Attributes:
        seconds: of each test that passes, of processor time.
        tests: of each module, the tests that reach each line.
        imported: of each module, the lines that are reached while it is imported.
        files: of each test file, a digest.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    imported: dict[str, set[int]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def of(self, module: str, line: int) -> list[str]:
        """The tests that reach a line, the quickest first."""
        return sorted(self.tests.get(module, {}).get(line, ()), key=self.seconds.__getitem__)

    def digest(self, tests: Iterable[str]) -> str:
        """A digest of the tests and their present sources."""
        lines = sorted(f"{test} {self.files[test.partition('::')[0]]}" for test in tests)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def recorded(modules: Mapping[str, Path], tests: Sequence[Path], record: Path | None, wanted: Iterable[str] = ()) -> Reach:
    """What tests reach, from the file where it is kept as far as that holds.

    Args:
        modules: the modules in which reached statements are noted, with their sources.
        tests: files of tests.
        kept: the file; nothing is kept if None.
        wanted: the modules of which it has to hold; all if none is named.

    Raises:
        RuntimeError: if tests fail, or there are none.
    """
    known: dict[str, Any] = json.loads(record.read_text(encoding="utf-8")) if record is not None and record.exists() else {}
    now = {module: _digest(path) for module, path in modules.items()}
    requested = {module: now[module] for module in wanted or modules}
    files = {_name(path): _digest(path, *_helpers(path)) for path in tests}
    anew = [path for path in tests if not _holds(known.get(_name(path)), files[_name(path)], requested)]
    for name, entry in _record(modules, anew, files, now) if anew else ():
        known[name] = entry
        if record is not None:
            record.parent.mkdir(exist_ok=True)
            scratch = record.with_suffix(f".{os.getpid()}")
            scratch.write_text(json.dumps(known), encoding="utf-8")
            scratch.replace(record)
    return _read({name: known[name] for name in files}, files, now)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def _helpers(path: Path) -> list[Path]:
    """The files that tests of a package import and that are not tests."""
    if not path.is_relative_to(ROOT / "tests"):
        return []
    top = ROOT / "tests" / path.relative_to(ROOT / "tests").parts[0]
    return [x for x in sorted(top.rglob("*.py")) if not x.name.startswith("test_")] if top.is_dir() else []


def _holds(entry: Mapping[str, Any] | None, digest: str, now: Mapping[str, str]) -> bool:
    return entry is not None and entry["digest"] == digest and all(now.get(m, x) == x for m, x in entry["modules"].items())


def _read(entries: Mapping[str, Mapping[str, Any]], files: Mapping[str, str], now: Mapping[str, str]) -> Reach:
    reach = Reach(files=dict(files))
    for entry in entries.values():
        for test, (seconds, lines) in entry["tests"].items():
            reach.seconds[test] = seconds
            for module, reached in lines.items():
                for line in reached:
                    reach.tests.setdefault(module, {}).setdefault(line, []).append(test)
        for module, (digest, reached) in entry["imported"].items():
            if now.get(module) == digest:
                reach.imported.setdefault(module, set()).update(reached)
    return reach


def _record(
    modules: Mapping[str, Path], tests: Sequence[Path], files: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield entries of test files, each after its last test."""
    imported: dict[str, Any] = {}
    entries: dict[str, dict[str, Any]] = {}
    failed = []
    for message, *rest in run_in_fork(lambda send: _run(modules, tests, send)):
        if message == FAULT:
            raise RuntimeError(*rest)
        if message == "imported":
            imported = {module: [now[module], lines] for module, lines in rest[0].items()}
            continue
        test, seconds, passed, lines = message, *rest
        name = test.partition("::")[0]
        if name not in entries:
            yield from list(entries.items())[-1:]
            entries[name] = {"digest": files[name], "modules": {}, "imported": imported, "tests": {}}
        entries[name]["modules"] |= {module: now[module] for module in lines}
        if passed:
            entries[name]["tests"][test] = [round(seconds, 4), lines]
        else:
            failed.append(test)
    if not entries or len(failed) > FEW:
        raise RuntimeError(f"expected tests that pass, got those of {len(entries)} files, of which fail: {', '.join(failed)}")
    yield from list(entries.items())[-1:]
    for path in tests:  # without a test that is ours to run
        if _name(path) not in entries:
            yield _name(path), {"digest": files[_name(path)], "modules": {}, "imported": {}, "tests": {}}


def _run(modules: Mapping[str, Path], tests: Sequence[Path], send: Send) -> None:
    seen: dict[str, set[int]] = {module: set() for module in modules}

    def run(module: str, path: str, names: dict[str, Any]) -> None:
        names["REACHED"] = seen[module]
        exec(marked(Path(path).read_text(encoding="utf-8"), path), names)

    sys.meta_path.insert(0, Afresh(modules, run))
    pytest.main([*OPTIONS, *map(str, tests)], plugins=[Unbothered(), Recorder(seen, send)])


class Recorder:
    """A plugin that records what each test reaches."""

    def __init__(self, seen: Mapping[str, set[int]], send: Send) -> None:
        self.seen, self.send = seen, send

    def _lines(self) -> dict[str, list[int]]:
        by_module = {module: sorted(lines) for module, lines in self.seen.items() if lines}
        for lines in self.seen.values():
            lines.clear()
        return by_module

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run instead of pytest's loop."""
        items = [item for item in session.items if not item.get_closest_marker("claim")]
        failures = Failures(items)
        session.config.pluginmanager.register(failures)
        self.send(["imported", self._lines()])
        for at, item in enumerate(items):
            started = time.process_time()
            passed = failures.passes(item, items[at + 1] if at + 1 < len(items) else None)
            self.send([item.nodeid, time.process_time() - started, passed, self._lines()])
        return True
