"""Distribute tests to worker processes so that tests which share computations run in one process.

The tests of a file share its fixtures, as do those of a folder with a `conftest.py`.  The votes on the claims of a chapter
share derivations, instances and solutions, and so do the chapters of a document.
"""

from collections import Counter

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from derivations.ledger.incremental import voting_files
from derivations.register.catalogue import entries

OTHER = ""  # replaces the document, for tests that are no votes


class ByChapter(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Schedule test files in their order, then the votes, chapter by chapter.

    A process finishes its document, then takes the longest one without a process, then helps from the end of another's.
    """

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self.at: dict[WorkerController, str] = {}
        self.places: dict[str, int] = {}
        self.scopes: dict[str, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        if nodeid not in self.scopes:
            scope = home(nodeid)
            folder = scope.rpartition("/")[0]
            shares = folder and (self.config.rootpath / folder / "conftest.py").is_file()
            self.scopes[nodeid] = folder if shares else scope
        return self.scopes[nodeid]

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope = self._next(node)
        self.at[node] = document(scope)
        unit = self.workqueue.pop(scope)
        self.assigned_work.setdefault(node, {})[scope] = unit
        self.places = self.places or {nodeid: position for position, nodeid in enumerate(self.collection)}
        node.send_runtest_some([self.places[nodeid] for nodeid in unit])

    def _next(self, node: WorkerController) -> str:
        """The file or chapter that a process runs next."""
        left: Counter[str] = Counter()
        for scope, unit in self.workqueue.items():
            left[document(scope)] += len(unit)
        others = {at for worker, at in self.at.items() if worker is not node}
        free = [OTHER, self.at.get(node, OTHER), *sorted(left.keys() - others, key=lambda each: -left[each])]
        chosen = next((each for each in free if each in left), left.most_common(1)[0][0])
        scopes: list[str] = [scope for scope in self.workqueue if document(scope) == chosen]
        return scopes[-1] if chosen in others - {OTHER} else scopes[0]

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget a test that a process has run, and give the process more if it has nearly none left."""
        nodeid = self.registered_collections[node][item_index]
        scope = self._split_scope(nodeid)
        del self.assigned_work[node][scope][nodeid]
        if not self.assigned_work[node][scope]:
            del self.assigned_work[node][scope]
        self._reschedule(node)


def home(nodeid: str) -> str:
    """Return the module of the derivation that a test votes on (for a reprint, that of the original); else its file."""
    file, _, test = nodeid.partition("::")
    if file and file.rpartition("/")[2] not in {path.name for path in voting_files().values()}:
        return file
    name = test.partition("[")[2].removesuffix("]")
    while name not in entries():  # the name of an observation goes on after that of the claim
        name, dash, _ = name.rpartition("-")
        if not dash:
            return file
    entry = entries()[name]
    return entry.derivation.__module__ if entry.derivation else entry.module


def document(scope: str) -> str:
    """The document of a chapter; `OTHER` for a file."""
    return OTHER if "/" in scope or scope.endswith(".py") else scope.rpartition(".")[0]
