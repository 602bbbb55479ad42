"""The pytest plugin that selects tests by claim, collects evidence and writes the ledger.

A test votes on a claim through the marker `claim(id, layer)` and the fixture `record_evidence`.  Evidence travels
in `user_properties`, so it survives pytest-xdist.  A marked test that fails without evidence leaves an error behind.

PYTEST_DONT_REWRITE: there is no assertion here, and `verify` imports this module before pytest does.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything numeric is imported, here or in a worker

import ctypes
import gc
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

import derivations
from derivations.ledger import baseline, elsewhere, incremental, ledger, messages
from derivations.ledger.journal import place
from derivations.ledger.keeping import Keeper
from derivations.ledger.shards import parsed
from derivations.records.base import decoded, encoded, from_json
from derivations.records.claims import Evidence, Layer, Outcome
from derivations.records.documents import documents, outside
from derivations.register.catalogue import Catalogue, entries, ordered
from derivations.register.loading import SELDOM, check_interpreter
from derivations.register.selection import all_needs, needs_of, selected

gc.set_threshold(*SELDOM)

PLUGIN = "attention-proofs-ledger"
SYMBOLIC = "derivations.test_derivations"  # the only module whose tests vote for the symbolic layer
OPENED = "opened"
FINISHED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    group = parser.getgroup("attention-proofs")
    group.addoption("--claims", default="", metavar="ID,…", help="run only the tests that vote on these claims or documents")
    group.addoption("--ledger", default=None, metavar="FILE", help="write the ledger to FILE")
    group.addoption("--device", default="cpu", choices=("cpu", "cuda"), help="where the torch layer runs")
    group.addoption("--quick", action="store_true", help="fewer random instances, fewer rows of real models")
    group.addoption("--incremental", default=None, metavar="FILE", help="run only what a change touched since this ledger")
    group.addoption("--shard", default=None, metavar="I/K", help="say in the ledger that these claims are a shard of a run")
    group.addoption("--asked", default="", metavar="ID,…", help="with --shard: the claims or documents of the whole run")
    group.addoption("--model", default=None, metavar="NAME_OR_PATH", help="the pretrained model to capture from")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and, in the process that reports, the collector; make `-k ID` exact for a claim id."""
    config.addinivalue_line("markers", "claim(id, layer): the test is this layer's vote on this claim")
    try:
        check_interpreter()
        documents()
        baseline.load()
        if config.option.shard:
            parsed(config.option.shard)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    except click.UsageError as error:
        raise pytest.UsageError(error.message) from None
    if config.option.keyword in entries():
        config.option.claims, config.option.keyword = config.option.keyword, ""
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS:  # no other file votes on a claim
            config.args = [str(file) for file in incremental.voting_files().values()]
    if hasattr(config, "workerinput"):
        end_with_parent()
        return
    collector = Collector(config)
    config.pluginmanager.register(collector, PLUGIN)
    if config.option.ledger:
        try:
            collector.keeper = Keeper(config, collector)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None


def end_with_parent() -> None:
    """Let the kernel end this worker process when the process that reports is killed; an interruption is for that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def requested_claims(config: pytest.Config) -> set[str] | None:
    """Return the requested claims, None for all; raises pytest.UsageError for an unknown one."""
    try:
        return selected(config.option.claims) if config.option.claims else None
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, object, object]:
    """Tag the tests of every claim, and deselect those that were not requested or that no change affects.

    Each test then lists all tests of its claim that will run, and says whether another plugin deselected one.
    """
    _select(config, items)
    selected_tests = _by_claim(items)
    result = yield
    for claim, remaining in _by_claim(items).items():
        for item in remaining:
            item.user_properties.append(("tests", [[test.nodeid, _layer(test)] for test in remaining]))
            item.user_properties.append(("deselected", len(remaining) < len(selected_tests[claim])))
    return result


def _by_claim(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the tests that vote on each claim."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if marker := item.get_closest_marker("claim"):
            tests.setdefault(marker.args[0], []).append(item)
    return tests


def _layer(item: pytest.Item) -> str:
    marker = item.get_closest_marker("claim")
    assert marker is not None
    return str(marker.args[1])


def _select(config: pytest.Config, items: list[pytest.Item]) -> None:
    voters: dict[str, set[str]] = {}
    for item in items:
        if marker := item.get_closest_marker("claim"):
            id, layer = marker.args
            if id not in entries():
                raise pytest.UsageError(f"{item.nodeid}: expected the id of a claim, got {id}")
            if layer == Layer.SYMBOLIC and item.module.__name__ != SYMBOLIC:  # type: ignore[attr-defined]
                raise pytest.UsageError(f"{item.nodeid}: expected a numeric layer, got {layer}, reserved for {SYMBOLIC}")
            item.user_properties.append(("claim", [id, str(layer)]))
            item.user_properties.append(("voters", _modules(item)))
            voters.setdefault(id, set()).update(_modules(item))
    _side_by_side(items)
    chosen = requested_claims(config)
    if chosen is None:
        return
    if config.option.incremental:
        last, settings = last_ledger(config), ledger.settings(*map(config.getoption, ("device", "quick", "model")))
        chosen &= set(incremental.stale(last, incremental.project(), needs_of(chosen), voters, settings))
    done = votes_kept(config)
    remaining = [
        item
        for item in items
        if item.nodeid not in done and (marker := item.get_closest_marker("claim")) and marker.args[0] in chosen
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in remaining])
    items[:] = remaining


def votes_kept(config: pytest.Config) -> set[str]:
    """Return the tests whose votes the journal of an interrupted run has."""
    if hasattr(config, "workerinput"):
        return set(config.workerinput["kept"])
    collector = config.pluginmanager.get_plugin(PLUGIN)
    return set(collector.keeper.kept) if collector and collector.keeper else set()


def last_ledger(config: pytest.Config) -> dict[str, Any]:
    """Return the last ledger with its rows of unchanged claims; an empty one if there is none yet."""
    path = Path(config.option.incremental)
    return ledger.current(ledger.read(path), requested_claims(config)) if path.exists() else {"environment": {}, "claims": []}


def _side_by_side(items: list[pytest.Item]) -> None:
    """Put all tests of one claim together, after other tests, so that layers in one process reuse each other's results."""
    markers = {item: item.get_closest_marker("claim") for item in items}
    positions = {id: position for position, id in enumerate(ordered(marker.args[0] for marker in markers.values() if marker))}
    items.sort(key=lambda item: positions[marker.args[0]] if (marker := markers[item]) else -1)


def _modules(item: pytest.Item) -> list[str]:
    """Return the modules that contribute to a test: its own, and the module of its check."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    checks = [value.module for value in values if isinstance(getattr(value, "module", None), str)]
    return sorted({item.module.__name__, *checks})  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute the tests by chapter, unless another way is requested."""
    if config.getvalue("dist") != "load":
        return None
    from derivations.run.scheduling import ByChapter  # here, since only the distributing process needs it

    return ByChapter(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Record which claims a test looks up, since its evidence depends on their derivations too."""
    Catalogue.accessed_ids.clear()
    has_documents = bool(outside())
    result = yield
    item.user_properties.append(("used", sorted(Catalogue.accessed_ids)))
    if has_documents:
        item.user_properties.append(("opened", elsewhere.opened_since()))
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the files that a worker process opened to the process that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[OPENED] = sorted(incremental.project().opened_elsewhere())


@pytest.fixture
def record_evidence(request: pytest.FixtureRequest) -> Callable[[Evidence], None]:
    """Hand evidence to the ledger."""

    def record(evidence: Evidence) -> None:
        request.node.user_properties.append(("evidence", encoded(evidence).decode()))

    return record


class Collector:
    """Gathers evidence in the reporting process, and judges and writes at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.start = time.perf_counter()
        self.evidence: list[Evidence] = []
        self.claims_with_evidence: set[str] = set()
        self.failed: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.result: dict[str, Any] | None = None
        self.problems: list[str] = []
        self.misplaced: list[str] = []
        self.voters: dict[str, set[str]] = {}
        self.used: dict[str, set[str]] = {}
        self.incomplete: set[str] = set()
        self.expected: dict[str, dict[str, str]] = {}
        self.reported: set[str] = set()
        self.uncollected = False
        self.sources = incremental.project()
        self.files: dict[str, str] = {}
        self.opened: set[str] = set()
        self.started = derivations.STARTED
        self.keeper: Keeper | None = None

    def pytest_sessionstart(self) -> None:
        """Record the hashes of the source files before the tests run."""
        if self.config.option.ledger:
            self.files = self.sources.hashes

    def recorded_files(self) -> dict[str, str]:
        """Return the hashes of all sources unchanged during the run, for outside documents also of files elsewhere."""
        now = incremental.project()
        files = now.unchanged_since(self.files, self.started)
        opened = (self.opened | now.opened_elsewhere()) - self.outputs() if outside() else set[str]()
        return files | dict.fromkeys(opened, "") | incremental.hashes_elsewhere(opened, self.started)

    def outputs(self) -> set[str]:
        """Return the files that the run itself writes."""
        ledgers = [Path(path) for path in (self.config.option.ledger, self.config.option.incremental) if path]
        return {os.path.realpath(path) for each in ledgers for path in (each, place(each))}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of a file whose tests are not known, which does not stop a run with worker processes."""
        self.uncollected |= report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker process which votes the journal of an interrupted run has."""
        node.workerinput["kept"] = self.keeper.kept if self.keeper else []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take note of the files that a worker process opened."""
        self.opened.update(getattr(node, "workeroutput", {}).get(OPENED, ()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the evidence of one test."""
        properties: dict[str, Any] = dict(reversed(report.user_properties))  # of several, the first counts
        claim = properties.get("claim")
        if claim and not report.passed:
            self.incomplete.add(claim[0])
        if claim and (report.when == "call" or not report.passed):
            self.reported.add(report.nodeid)
        if report.failed:
            self.failed.append(report.nodeid)
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skipped[reason.removeprefix("Skipped: ")] += 1
        accepted = len(self.misplaced)
        if report.when == "call" or report.failed:
            self._take(report, properties)
        if self.keeper and claim:
            self.keeper.note(report, clean=len(self.misplaced) == accepted)

    def _take(self, report: pytest.TestReport, properties: dict[str, Any]) -> None:
        claim, accepted = properties.get("claim"), len(self.misplaced)
        sent = self.sent(report, claim)
        self.evidence += sent
        if claim and len(self.misplaced) > accepted:
            self.incomplete.add(claim[0])
        if isinstance(claim, list):
            self.claims_with_evidence.add(claim[0])
            self.expected.setdefault(claim[0], {}).update(properties.get("tests", ()))
            if properties.get("deselected"):
                self.incomplete.add(claim[0])
            self.voters.setdefault(claim[0], set()).update(properties.get("voters", ()))
            self.used.setdefault(claim[0], set()).update(properties.get("used", ()))
            if report.failed and not sent:
                detail = str(report.longrepr).strip().splitlines()[-1]
                self.evidence.append(Evidence(claim[0], Layer(claim[1]), Outcome.ERROR, "", detail=detail))

    def sent(self, report: pytest.TestReport, claim: list[str] | None) -> list[Evidence]:
        """Return the evidence that a test recorded, if it matches the claim, layer and outcome of the test."""
        recorded, where = [], report.nodeid
        for value in [value for name, value in report.user_properties if name == "evidence"]:
            try:
                recorded.append(from_json(decoded(str(value)), Evidence))
            except ValueError as error:
                self.misplaced.append(f"{where}: expected evidence, got something else ({error})")
        for evidence in recorded:
            if claim is None or [evidence.claim, str(evidence.layer)] != list(claim):
                spoken = f"{evidence.claim} ({evidence.layer})"
                expected = f"{claim[0]} ({claim[1]})" if claim else "none, for it has no marker"
                self.misplaced.append(f"{where}: expected evidence for {expected}, got some for {spoken}")
        if len({(e.outcome, e.correction) for e in recorded}) > 1:
            self.misplaced.append(f"{where}: expected one outcome, got {', '.join(e.outcome for e in recorded)}")
        return [e for e in recorded if claim is not None and [e.claim, str(e.layer)] == list(claim)]

    def silent(self) -> list[Evidence]:
        """Return an error for each test that did not end although another one on its claim did."""
        missing = [
            (id, node, layer)
            for id, tests in self.expected.items()
            for node, layer in tests.items()
            if node not in self.reported
        ]
        self.incomplete.update(id for id, _, _ in missing)
        return [Evidence(id, Layer(layer), Outcome.ERROR, "", detail=f"{node} did not end") for id, node, layer in missing]

    def options(self) -> dict[str, Any]:
        """Return the claims that were requested and the options of the run."""
        options = self.config.option
        requested = [name for name in options.claims.split(",") if name] or list(documents())
        part, of = parsed(options.shard) if options.shard else (None, None)
        shard = {"part": part, "of": of, "asked": options.asked.split(",")} if options.shard else None
        return {
            "asked": requested,
            "quick": options.quick,
            "device": options.device,
            "model": options.model,
            "profile": incremental.profile(),
            "complete": self.asks_all(),
            "shard": shard,
        }

    def asks_all(self) -> bool:
        """Return whether the run includes every test that votes on the requested claims."""
        options, where = self.config.option, self.config.invocation_params.dir
        folders = [(where / path).resolve() for path in self.config.args]
        covered = all(any(file.is_relative_to(folder) for folder in folders) for file in incremental.voting_files().values())
        narrowed = options.keyword or options.markexpr or options.deselect or options.ignore or options.ignore_glob
        return bool(options.claims) and covered and not narrowed

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """Judge the evidence and write the ledger; a problem turns a passing session into a failing one."""
        yield
        option = self.config.option
        reused = self.reused() if option.incremental else {}
        self.problems = [*self.misplaced]
        if (self.problems or self.uncollected) and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        ended = exitstatus in (*FINISHED, pytest.ExitCode.NO_TESTS_COLLECTED) and not self.uncollected
        if not ended or not (self.claims_with_evidence or reused):
            return
        self.evidence += self.silent()
        surroundings = ledger.environment([], time.perf_counter() - self.start, 0, self.skipped) | self.options()
        if option.incremental:
            surroundings["incremental"] = {"ran": len(self.claims_with_evidence), "because": self.why()}
        computed = reused.keys() | self.claims_with_evidence
        surroundings["complete"] &= computed >= (requested_claims(self.config) or set())
        own = self.ledger_of(self.claims_with_evidence, surroundings)
        rows = reused | {row["id"]: row for row in own["claims"]}
        self.result = {**own, **ledger.assemble([rows[id] for id in ordered(rows)], own["environment"])}
        self.problems += baseline.problems(self.result, baseline.load(), complete=surroundings["complete"])
        if self.keeper:
            self.keeper.store(own, reused)
            self.keeper.journal.close(keep=False)
        if exitstatus != pytest.ExitCode.TESTS_FAILED:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED if self.problems else pytest.ExitCode.OK

    def pytest_unconfigure(self) -> None:
        """Leave the journal of a run that was interrupted to the next one."""
        if self.keeper:
            self.keeper.journal.close(keep=True)

    def ledger_of(self, ids: Collection[str], environment: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ledger of claims that this run computed."""
        layers = list(Layer)  # in an order that does not depend on who was first
        evidence = sorted((e for e in self.evidence if e.claim in ids), key=lambda e: (layers.index(e.layer), e.where, e.scope))
        surroundings = {**environment, "devices": sorted({e.environment.split(",")[0] for e in evidence})}
        fresh = ledger.build(evidence, ordered(ids), surroundings)
        rows = [{**row, **self.rests_on(row["id"]), "run": surroundings["date"]} for row in fresh["claims"]]
        return ledger.assemble(rows, surroundings) | {"files": self.recorded_files()}

    def reused(self) -> dict[str, dict[str, Any]]:
        """Return the requested rows of the last ledger that did not run again."""
        requested = selected(self.config.option.claims)
        last = last_ledger(self.config)
        return {row["id"]: row for row in last["claims"] if row["id"] in requested - self.claims_with_evidence}

    def why(self) -> str:
        """Return why claims ran again."""
        last, settings = last_ledger(self.config), ledger.settings(*map(self.config.getoption, ("device", "quick", "model")))
        reasons = incremental.stale(last, self.sources, needs_of(selected(self.config.option.claims)), settings=settings)
        other = incremental.Reason(incremental.ReasonKind.OTHER_VOTERS)
        return messages.because({id: reasons.get(id, other) for id in self.claims_with_evidence})

    def rests_on(self, id: str) -> dict[str, Any]:
        """Return what the next incremental run needs to know about a claim: voters, sources, and whether all tests ran."""
        voters = sorted(self.voters[id])
        derived = {name for used in (id, *self.used.get(id, ()), *all_needs(id)) for name in entries()[used].modules}
        return {"voters": voters, "sources": sorted({*voters, *derived}), "complete": id not in self.incomplete}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of claims by verdict, and every problem with the id of its claim."""
        if self.result:
            counts = ", ".join(f"{count} {verdict}" for verdict, count in self.result["summary"]["by_verdict"].items())
            terminalreporter.write_line(f"claims: {counts}")
        for problem in self.problems:
            terminalreporter.write_line(f"PROBLEM {problem}", red=True)
