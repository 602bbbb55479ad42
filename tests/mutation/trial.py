"""Trials of mutants: tests are collected once for a module, and each mutant is a fork of that process.

In the fork the code of every function of the module is exchanged for that of the mutant, wherever it has been imported to, and
the tests that reach the edited statement run, the quickest first, until one fails or ``ENOUGH`` have passed. Constants of the
module and defaults of its functions are exchanged, too. An edit of what runs while modules are imported is tried in a process
that has imported none of our modules yet.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.util
import itertools
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.edits import Mutant, marked

ENOUGH = 15.0                                                # seconds of tests, the quickest, that a mutant has to survive
FAULT = "the trial itself failed: "
FEW = 8                                                      # tests that may not bear the marks, or a fork
GRACE = 3.0                                                  # seconds beyond five times those of its tests
OPTIONS = ("-q", "--capture=no", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
OURS = ("numerics", "derivations", "evidence", "tests")
VALUES = (int, float, str, tuple, frozenset)
MEMORY = 24 * 2**30


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed by a test, or by its time; or survived, reached by so many tests."""

    fate: str
    by: str = ""
    seconds: float = 0.0


class Unbothered:
    """The plugin that sets Hypothesis to a run in which a failure is not shrunk, and nothing is kept."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Before tests are collected."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile("mutation", phases=(Phase.explicit, Phase.generate), database=None, deadline=None,
                                  report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
        settings.load_profile("mutation")


# ── a process of its own ────────────────────────────────────────────────────────────────────────────────────────────


def in_fork(work: Callable[[Callable[[Any], None]], None]) -> Iterator[Any]:
    """What a fork says while it works, item by item; ends when it does. Closing the iterator ends the fork."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            os.setpgid(0, 0)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            work(lambda item: _send(write, item))
            code = 0
        except Exception:
            _send(write, [FAULT, traceback.format_exc()])
        finally:
            os._exit(code)
    os.close(write)
    try:
        yield from _received(read)
    finally:
        os.close(read)
        _end(pid)


def _send(pipe: int, item: Any) -> None:
    line = (json.dumps(item) + "\n").encode()
    while line:
        line = line[os.write(pipe, line):]


def _received(pipe: int) -> Iterator[Any]:
    rest = b""
    while chunk := os.read(pipe, 2**16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from map(json.loads, lines)


def _end(pid: int) -> None:
    for target in (-pid, pid):
        try:
            os.kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(pid, 0)


def first_word(work: Callable[[Callable[[Any], None]], None], seconds: float) -> Any:
    """The first thing that a fork says in so many seconds; "late" if it says nothing in time, "silent" if it ends before."""
    with closing(_limited(work, seconds)) as words:
        word = next(words)
    if str(word).startswith(FAULT):
        raise RuntimeError(word)
    return word


def _limited(work: Callable[[Callable[[Any], None]], None], seconds: float) -> Iterator[Any]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            work(lambda item: _send(write, item))
        except Exception:
            _send(write, f"{FAULT}{traceback.format_exc()}")
        finally:
            os._exit(1)
    os.close(write)
    try:
        ready, _, _ = select.select([read], [], [], seconds)
        yield next(_received(read), "silent") if ready else "late"
    finally:
        os.close(read)
        _end(pid)


# ── tests that are collected ────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Reach:
    """Which tests reach which lines of the module, and how long they take."""

    lines: dict[int, list[int]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    imported: set[int] = field(default_factory=set)


class Bench:
    """The plugin that runs mutants where pytest would run tests."""

    def __init__(self, module: str, path: Path, wanted: Sequence[Mutant], say: Callable[[Any], None]) -> None:
        self.module, self.path, self.wanted, self.say = module, str(path), wanted, say
        self.reach = Reach()
        self.seen: set[int] = set()
        sys.meta_path.insert(0, Afresh(module, path, self._run_marked))

    def _run_marked(self, path: str, names: dict[str, Any]) -> None:
        names["REACHED"] = self.seen
        exec(marked(Path(path).read_text(encoding="utf-8"), path), names)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of the tests: a run of all of them that notes what they reach, then the mutants."""
        self.reach.imported = set(self.seen)
        items = [item for item in session.items if not item.get_closest_marker("claim")]
        ids = [item.nodeid for item in items]
        for at, seconds, passed, lines in in_fork(lambda say: self._base(items, say)):
            if not passed:
                self.reach.failed.append(ids[at])
                continue
            self.reach.seconds[at] = seconds
            for line in lines:
                self.reach.lines.setdefault(line, []).append(at)
        self.say(["base", len(ids), sum(self.reach.seconds.values()), self.reach.failed])
        try:
            for mutant in self.wanted:
                self.say([mutant.key, *self._tried(mutant, items)])
        except RuntimeError as error:                        # pytest would say it to nobody
            self.say([FAULT, str(error)])
        return True

    def _base(self, items: list[pytest.Item], say: Callable[[Any], None]) -> None:
        for at, item in enumerate(items):
            self.seen.clear()
            started = time.monotonic()
            passed = passes(item, items[at + 1] if at + 1 < len(items) else None)
            say([at, time.monotonic() - started, passed, sorted(self.seen)])

    def _tried(self, mutant: Mutant, items: list[pytest.Item]) -> list[Any]:
        reaching = sorted(self.reach.lines.get(mutant.statement, []), key=self.reach.seconds.__getitem__)
        if not mutant.scope:
            reaching = sorted(self.reach.seconds, key=self.reach.seconds.__getitem__)
        elif not reaching and mutant.statement in self.reach.imported:
            return ["afresh"]
        if not reaching:
            return ["survived", "no test reaches the line", 0.0]
        total = itertools.accumulate(self.reach.seconds[at] for at in reaching)
        reaching = [at for at, seconds in zip(reaching, total, strict=True) if at == reaching[0] or seconds <= ENOUGH]
        limit = GRACE + 5 * sum(self.reach.seconds[at] for at in reaching)
        started = time.monotonic()
        word = first_word(lambda say: self._run(mutant, [items[at] for at in reaching], say), limit)
        took = round(time.monotonic() - started, 3)
        match word:
            case "afresh":
                return ["afresh"]
            case "late" | "silent":
                return ["killed", "its time" if word == "late" else "an end of the process", took]
            case "passed":
                return ["survived", f"reached by {len(reaching)} tests", took]
            case _:
                return ["killed", word, took]

    def _run(self, mutant: Mutant, items: list[pytest.Item], say: Callable[[Any], None]) -> None:
        code = mutant.compiled(self.path)
        if mutant.scope:
            exchange(code, self.path)
        elif not exchange_values(code, self.module, self.path):
            say("afresh")
            return
        for at, item in enumerate(items):
            if not passes(item, items[at + 1] if at + 1 < len(items) else None):
                say(item.nodeid)
                return
        say("passed")


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run a test."""
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def exchange(module: CodeType, path: str) -> None:
    """Give every function that was defined at a path the code that a new compilation of it has."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
    for function in [x for x in gc.get_objects() if type(x) is FunctionType and x.__code__.co_filename == path]:
        new = codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new


def exchange_values(code: CodeType, module: str, path: str) -> bool:
    """Give constants of a module, and defaults of its functions, the values that they have in another version of it, wherever
    they have been imported to; whether there was one that differs."""
    names: dict[str, Any] = {"__name__": module, "__file__": path, "REACHED": set()}
    exec(code, names)
    live = sys.modules[module].__dict__
    found = False
    for name, new in names.items():
        old = live.get(name)
        if isinstance(new, VALUES) and isinstance(old, VALUES) and repr(new) != repr(old):
            found = True
            for other in [x.__dict__ for x in list(sys.modules.values()) if type(x) is ModuleType]:
                if other.get(name) is old:
                    other[name] = new
    functions = [x for x in gc.get_objects() if type(x) is FunctionType and x.__code__.co_filename == path]
    changed = {(x.__code__.co_qualname, x.__code__.co_firstlineno): x for x in functions if x.__globals__ is names}
    for function in functions:
        new = changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if new is None or function.__globals__ is names:
            continue
        if repr((new.__defaults__, new.__kwdefaults__)) != repr((function.__defaults__, function.__kwdefaults__)):
            found = True
            function.__defaults__, function.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


# ── a process without our modules ───────────────────────────────────────────────────────────────────────────────────


class Afresh(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a module from another code than its source's."""

    def __init__(self, module: str, path: Path, run: Callable[[str, dict[str, Any]], None]) -> None:
        self.module, self.path, self.run = module, path, run

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """The module's, and no other's."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.module else None

    def exec_module(self, module: Any) -> None:
        """Run the code."""
        self.run(str(self.path), module.__dict__)


class UntilFailure:
    """Says the first test that fails, or that the module cannot be imported."""

    def __init__(self, say: Callable[[Any], None]) -> None:
        self.say = say

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """After each phase of a test."""
        if report.failed:
            self.say(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """After a file is collected."""
        if report.failed:
            self.say(f"import of {report.nodeid}")


def afresh(mutant: Mutant, path: Path, tests: Sequence[Path], seconds: float) -> Result:
    """Try a mutant in a fork of a process that has imported none of our modules that matter."""
    def work(say: Callable[[Any], None]) -> None:
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        for name in [name for name in sys.modules if name.split(".")[0] in OURS and not name.startswith("tests.mutation")]:
            del sys.modules[name]
        sys.meta_path.insert(0, Afresh(mutant.module, path, lambda path, names: exec(mutant.compiled(path), names)))
        code = pytest.main([*OPTIONS, "-x", *map(str, tests)], plugins=[Unbothered(), UntilFailure(say)])
        say("passed" if code == pytest.ExitCode.OK else f"pytest's exit status {int(code)}")

    started = time.monotonic()
    word = first_word(work, seconds)
    took = round(time.monotonic() - started, 3)
    if word == "passed":
        return Result("survived", "reached at import", took)
    return Result("killed", {"late": "its time", "silent": "an end of the process"}.get(word, word), took)


def tried(module: str, path: Path, tests: Sequence[Path], wanted: Sequence[Mutant]) -> Iterator[tuple[Mutant, Result]]:
    """Each mutant with what became of it.

    Raises:
        RuntimeError: if a test fails without any edit, or there is none.
    """
    with warnings.catch_warnings(action="ignore"):           # once, not in each fork
        for name in ("torch._decomp.decompositions_for_jvp",) if module.startswith("numerics.") else ("sympy",):
            importlib.import_module(name)
    by_key = {mutant.key: mutant for mutant in wanted}
    later, base = [], None

    def work(say: Callable[[Any], None]) -> None:
        bench = Bench(module, path, wanted, say)
        pytest.main([*OPTIONS, *map(str, tests)], plugins=[Unbothered(), bench])

    for word, *rest in in_fork(work):
        if word == FAULT:
            raise RuntimeError(*rest)
        if word == "base":
            base = rest
            if len(rest[2]) > FEW or not rest[0]:
                raise RuntimeError(f"{module}: expected tests that pass, got {rest[0]} of which fail: {', '.join(rest[2])}")
        elif rest[0] == "afresh":
            later.append(by_key[word])
        else:
            yield by_key[word], Result(*rest)
    if base is None:
        raise RuntimeError(f"{module}: expected tests in {', '.join(map(str, tests))}, got none that can be collected")
    for mutant in later:
        yield mutant, afresh(mutant, path, tests, 30 + 5 * base[1])
