"""Data that a chapter shares is computed in one process, and no process waits while others have work."""

from collections.abc import Iterable
from itertools import chain, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.remote import Producer

from derivations.ledger.incremental import ROOT
from derivations.register.catalogue import entries
from derivations.run.pytest_plugin import pytest_xdist_make_scheduler
from derivations.run.scheduling import ByChapter, document, home

VOTES, SYMBOLIC = "evidence/test_votes.py::test_torch[{}]", "derivations/test_derivations.py::test_symbolic[{}]"
FILES = ["tests/test_a.py::test_1", "tests/test_a.py::test_2", "tests/sub/test_b.py::test_3[eot.46]"]
QUIET = Producer("tests", enabled=False)
CLAIMS = [id for id in entries() if not id.startswith("inference")]
TESTS = [*FILES, *(test.format(id) for id in CLAIMS for test in (SYMBOLIC, VOTES))]


class Process:
    """A worker that records the tests sent to it."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.shutting_down, self.gateway = False, SimpleNamespace(id="a worker")

    def send_runtest_some(self, indices: Iterable[int]) -> None:
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


class Options:
    """The part of pytest's configuration that a scheduler reads."""

    def __init__(self, processes: int, dist: str = "load") -> None:
        self.dist, self.option = dist, self
        self.tx, self.loadscopereorder, self.maxprocesses = [f"{processes}*popen"], False, None
        self.rootpath = ROOT

    def getvalue(self, name: str) -> Any:
        return getattr(self, name)

    getoption = getvalue


def executed(processes: int, tests: list[str] = TESTS, quick: int = 1) -> list[list[str]]:
    """The tests that each process runs, in order; the first runs `quick` tests while the others run one."""
    scheduler = ByChapter(Options(processes), QUIET)  # type: ignore[arg-type]
    workers, done = [Process() for _ in range(processes)], [0] * processes
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    while any(count < len(worker.sent) for count, worker in zip(done, workers, strict=True)):
        for number, worker in enumerate(workers):
            for _ in range(quick if number == 0 else 1):
                if done[number] < len(worker.sent):
                    scheduler.mark_test_complete(worker, worker.sent[done[number]])
                    done[number] += 1
    assert scheduler.tests_finished
    assert not scheduler.has_pending
    return [[tests[index] for index in worker.sent] for worker in workers]


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_every_test_runs_once(processes: int) -> None:
    assert sorted(chain(*executed(processes))) == sorted(TESTS)


def test_a_chapter_and_a_file_run_in_one_process() -> None:
    first, second = ({home(test) for test in tests} for tests in executed(2))
    assert first.isdisjoint(second)
    assert "tests/sub/test_b.py" in first | second  # a file that names a claim is no vote on it


def test_fixtures_shared_in_a_folder_are_made_in_one_process() -> None:
    report = [f"tests/derivations/report/test_{name}.py::test_{name}" for name in ("site", "browser", "formulas")]
    others = [f"tests/derivations/test_{name}.py::test_{name}" for name in ("a", "b", "c")]
    first, second = ({*tests} for tests in executed(2, [*report, *others]))
    assert first >= {*report} or second >= {*report}
    assert first & {*others}
    assert second & {*others} or second == {*report}


def test_files_come_first() -> None:
    for tests in executed(2):
        votes = [document(home(test)) != "" for test in tests]
        assert votes == sorted(votes)


def test_processes_are_at_different_documents() -> None:
    first, second = ([document(home(test)) for test in tests if document(home(test))] for tests in executed(2))
    assert first[0] != second[0]
    for documents in (first, second):
        changes = sum(a != b for a, b in pairwise(documents))
        assert changes <= len(set(documents))


def test_who_helps_with_a_document_begins_at_its_end() -> None:
    votes = [VOTES.format(id) for id in CLAIMS if id.startswith("eot.")]
    chapters = [*dict.fromkeys(map(home, votes))]
    first, second = executed(2, votes)
    assert (home(first[0]), home(second[0])) == (chapters[0], chapters[-1])


@pytest.mark.parametrize("quick", [1, 3])
def test_the_work_is_shared(quick: int) -> None:
    first, second = map(len, executed(2, quick=quick))
    assert abs(first / quick - second) < 0.2 * len(TESTS)


def test_a_reprint_runs_with_its_original() -> None:
    assert home(SYMBOLIC.format("inference.thm1")) == home(VOTES.format("deciphering.thm1"))
    assert home("::test_symbolic[eot.46]") == "derivations.documents.eot.section5_gradient"  # as `verify` names it
    assert home("test_votes.py::test_observation[eot.46-torch-in-models]") == "derivations.documents.eot.section5_gradient"


def test_the_tests_of_a_process_that_ended_run_in_another() -> None:
    scheduler, workers = ByChapter(Options(2), QUIET), [Process(), Process()]  # type: ignore[arg-type]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, TESTS)
    scheduler.schedule()
    crashed, other = workers
    scheduler.mark_test_complete(crashed, crashed.sent[0])
    assert scheduler.remove_node(crashed) == TESTS[crashed.sent[1]]
    done = 0
    while done < len(other.sent):
        scheduler.mark_test_complete(other, other.sent[done])
        done += 1
    assert sorted([crashed.sent[0], *other.sent]) == list(range(len(TESTS)))


def test_other_distribution_modes_are_unchanged() -> None:
    assert isinstance(pytest_xdist_make_scheduler(Options(2), None), ByChapter)  # type: ignore[arg-type]
    assert pytest_xdist_make_scheduler(Options(2, "worksteal"), None) is None  # type: ignore[arg-type]
