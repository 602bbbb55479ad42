"""Trials of mutants: tests are collected once, and each mutant is a fork of that process.

In the fork the code of every function of the module is exchanged for that of the mutant, wherever it has been imported to, and
the tests that reach the edited statement run until one fails, or for so many seconds: first those that are quick
and have killed other mutants of the function or the module. Constants of the module and defaults of its functions are
exchanged, too. An edit of what runs while modules are imported is tried in a process that has imported none of our modules yet.
"""

import gc
import importlib
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tests.mutation.edits import Mutant
from tests.mutation.forks import FAULT, Send, discard_streams, first_message, limit_cpu, run_in_fork
from tests.mutation.reach import OPTIONS, Afresh, Failures, Reach, Unbothered

GRACE = 3.0  # seconds of a test beyond ten times its own
OURS = ("numerics", "derivations", "evidence", "tests")
VALUES = (int, float, str, tuple, frozenset)
SIGNATURES = "/test_defaults.py"  # tests that look at functions without calling them
UNREACHED = "no test reaches the line"


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed by a test, or by its time; or survived, reached by so many tests."""

    fate: str
    by: str = ""
    seconds: float = 0.0


class Bench:
    """A plugin that tries mutants instead of running tests."""

    def __init__(self, wanted: Sequence[tuple[Mutant, Path]], reach: Reach, enough: float, send: Send) -> None:
        self.wanted, self.reach, self.enough, self.send = wanted, reach, enough, send
        self.items: dict[str, pytest.Item] = {}
        self.kills: Counter[tuple[str, str]] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run instead of the tests."""
        self.items = {item.nodeid: item for item in session.items}
        self.failures = Failures(session.items)
        session.config.pluginmanager.register(self.failures)
        for mutant, _ in self.wanted:
            importlib.import_module(mutant.module)
        gc.collect()
        functions: dict[str, list[FunctionType]] = {}
        for x in gc.get_objects():
            if type(x) is FunctionType:
                functions.setdefault(x.__code__.co_filename, []).append(x)
        gc.freeze()  # else garbage collection in a fork would copy pages
        try:
            for mutant, path in self.wanted:
                self.send([mutant.key, *self._tried(mutant, str(path), functions.get(str(path), []))])
        except RuntimeError as error:  # pytest would not report it
            self.send([FAULT, str(error)])
        return True

    def _tried(self, mutant: Mutant, path: str, functions: Sequence[FunctionType]) -> list[Any]:
        tests = self._tests(mutant)
        if not tests and (not mutant.scope or mutant.statement in self.reach.imported.get(mutant.module, ())):
            return ["afresh"]
        if not tests:
            return ["survived", UNREACHED, 0.0]
        limit = 30 + 20 * sum(map(self.reach.seconds.__getitem__, tests))
        started = time.monotonic()
        message = first_message(lambda send: self._run(mutant, path, functions, tests, send), limit)
        took = round(time.monotonic() - started, 3)
        match message:
            case "afresh":
                return ["afresh"]
            case "late" | "silent":
                return ["killed", "its time" if message == "late" else "an end of the process", took]
            case "passed":
                return ["survived", f"reached by {len(tests)} tests", took]
            case _:
                self.kills[mutant.module, message] += 1
                self.kills[f"{mutant.module} {mutant.scope}", message] += 3
                return ["killed", message, took]

    def _tests(self, mutant: Mutant) -> list[str]:
        """The tests that a mutant has to survive, the most promising first."""

        def cost(test: str) -> float:
            kills = self.kills[mutant.module, test] + self.kills[f"{mutant.module} {mutant.scope}", test]
            return (0.005 + self.reach.seconds[test]) / (1 + kills)

        reaching = reaching_of(mutant, self.reach)
        chosen, total = [], 0.0
        for test in sorted((test for test in reaching if test in self.items), key=cost):
            if not chosen or total + self.reach.seconds[test] <= self.enough:
                chosen.append(test)
                total += self.reach.seconds[test]
        return chosen

    def _run(self, mutant: Mutant, path: str, functions: Sequence[FunctionType], tests: Sequence[str], send: Send) -> None:
        code = mutant.compiled(path)
        if mutant.scope and not mutant.default:
            if not exchange(code, functions):
                send("afresh")
                return
        elif not exchange_values(code, mutant.module, path, functions):
            send("afresh")
            return
        for at, test in enumerate(tests):
            limit_cpu(GRACE + 10 * self.reach.seconds[test])
            if not self.failures.passes(self.items[test], self.items[tests[at + 1]] if at + 1 < len(tests) else None):
                send(test)
                return
        send("passed")


def reaching_of(mutant: Mutant, reach: Reach) -> list[str]:
    """The tests that reach the edited statement; for a default, those that reach the function or look at signatures; outside of
    functions, those that reach the module or bear its name."""
    if mutant.scope and not mutant.default:
        return reach.of(mutant.module, mutant.statement)
    first, last = mutant.lines if mutant.scope else (0, math.inf)
    reaching = {x for line, tests in reach.tests.get(mutant.module, {}).items() if first <= line <= last for x in tests}
    named = SIGNATURES if mutant.default else f"/test_{mutant.module.rpartition('.')[2]}.py"
    return sorted(reaching | {x for x in reach.seconds if x.partition("::")[0].endswith(named)})


def exchange(module: CodeType, functions: Iterable[FunctionType]) -> bool:
    """Replace the code of every function by that of a new compilation of its module; return whether all could be replaced."""
    complete = True
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
    for function in functions:
        new = codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new
        elif new is not None:
            complete = False
    return complete


def exchange_values(code: CodeType, module: str, path: str, functions: Sequence[FunctionType]) -> bool:
    """Give constants of a module, and defaults of its functions, the values that they have in another version of it, wherever
    they have been imported to; whether there was one that differs."""
    names: dict[str, Any] = {"__name__": module, "__file__": path}
    exec(code, names)
    live = sys.modules[module].__dict__
    in_loop = False
    for name, new in names.items():
        old = live.get(name)
        if isinstance(new, VALUES) and isinstance(old, VALUES) and repr(new) != repr(old):
            in_loop = True
            for other in [x.__dict__ for x in list(sys.modules.values()) if type(x) is ModuleType]:
                if other.get(name) is old:
                    other[name] = new
    fresh = [x for x in gc.get_objects() if type(x) is FunctionType and x.__globals__ is names]
    changed = {(x.__code__.co_qualname, x.__code__.co_firstlineno): x for x in fresh}
    for function in functions:
        new = changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if new is None:
            continue
        if repr((new.__defaults__, new.__kwdefaults__)) != repr((function.__defaults__, function.__kwdefaults__)):
            in_loop = True
            function.__defaults__, function.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    return in_loop


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


class UntilFailure:
    """A plugin that sends the first failing test, or that the module cannot be imported."""

    def __init__(self, send: Send) -> None:
        self.send = send

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """After each phase of a test."""
        if report.failed:
            self.send(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """After a file is collected."""
        if report.failed:
            self.send(f"import of {report.nodeid}")


def afresh(mutant: Mutant, path: Path, tests: Sequence[Path], seconds: float) -> Result:
    """Try a mutant in a fork of a process that has imported none of the relevant modules."""

    def work(send: Callable[[Any], None]) -> None:
        discard_streams()
        for name in [name for name in sys.modules if name.split(".")[0] in OURS and not name.startswith("tests.mutation")]:
            del sys.modules[name]
        sys.meta_path.insert(0, Afresh({mutant.module: path}, lambda _, path, names: exec(mutant.compiled(path), names)))
        code = pytest.main([*OPTIONS, "-x", *map(str, tests)], plugins=[Unbothered(), UntilFailure(send)])
        send("passed" if code == pytest.ExitCode.OK else f"pytest's exit status {int(code)}")

    started = time.monotonic()
    message = first_message(work, seconds)
    took = round(time.monotonic() - started, 3)
    if message == "passed":
        return Result("survived", "reached at import", took)
    return Result("killed", {"late": "its time", "silent": "an end of the process"}.get(message, message), took)


def preload(modules: Iterable[str]) -> None:
    """Import slow packages once, and not in each fork."""
    with warnings.catch_warnings(action="ignore"):
        for module in modules:
            importlib.import_module("torch._decomp.decompositions_for_jvp" if module.startswith("numerics.") else "sympy")


def tried(
    wanted: Sequence[tuple[Mutant, Path]],
    tests: Sequence[Path],
    mirrors: Mapping[str, Sequence[Path]],
    reach: Reach,
    enough: float,
) -> Iterator[tuple[Mutant, Result]]:
    """Each mutant with what became of it.

    Args:
        wanted: mutants with the sources of their modules.
        tests: files of tests.
        mirrors: of each module, the files of tests for what is tried afresh.
        reach: what the tests reach.
        enough: seconds of tests that a mutant has to survive.

    Raises:
        RuntimeError: if the tests cannot be collected.
    """
    by_key = {mutant.key: (mutant, path) for mutant, path in wanted}
    later, count = [], 0

    def work(send: Send) -> None:
        pytest.main([*OPTIONS, *map(str, tests)], plugins=[Unbothered(), Bench(wanted, reach, enough, send)])

    for message, *rest in run_in_fork(work):
        if message == FAULT:
            raise RuntimeError(*rest)
        count += 1
        if rest[0] == "afresh":
            later.append(by_key[message])
        else:
            yield by_key[message][0], Result(*rest)
    if count != len(wanted):
        raise RuntimeError(f"expected tests in {', '.join(map(str, tests))}, got none that can be collected")
    for mutant, path in later:
        seconds = sum(
            x
            for test, x in reach.seconds.items()
            if any(test.startswith(p.name) or f"/{p.name}::" in test for p in mirrors[mutant.module])
        )
        yield mutant, afresh(mutant, path, mirrors[mutant.module], 60 + 10 * seconds)
