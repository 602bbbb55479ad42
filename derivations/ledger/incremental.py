"""Find the claims that a change of the sources affects, so that `verify --incremental` re-runs only these.

The evidence for a claim is a function of the modules that vote for it, with everything they import inside the project,
of the data beside them, of the packages' versions and of the options; for a document of one's own, also of the files that it
opens elsewhere.  A ledger records the modules of each row and a hash of every file, unless the file changed during the run; a
row is outdated when a file that it depends on has changed, and stale when it is outdated
or incomplete, or needs a claim that is stale.  Modules are parsed here and never imported, so that finding no change
loads neither torch nor pytest.
"""

import ast
import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from derivations.ledger import elsewhere
from derivations.ledger.runs import runs_of
from derivations.records.documents import NOTATION, outside

ROOT = Path(__file__).parents[2]
PACKAGES = ("derivations", "numerics", "evidence")
ALWAYS = ("derivations.run.pytest_plugin", "derivations.conftest", "evidence.conftest", "pyproject.toml")
"""Files that affect every test, where they exist: pytest imports them, and no module does."""

PLUGINS = {"evidence.test_votes": "evidence.pytest_plugin"}
"""The plugin that pytest imports for the tests of a module."""

OUTPUT = frozenset({"baseline.json", "ledger.json", "ledger.json.journal"})  # written by commands, not an input of evidence
SETTINGS = ("python", "packages", "device", "quick", "model", "profile")


def voting_files() -> dict[str, Path]:
    """Return the two test files that vote on claims: the one of the derivations and the one of the numeric layers."""
    return {"symbolic": ROOT / "derivations" / "test_derivations.py", "votes": ROOT / "evidence" / "test_votes.py"}


class Sources:
    """The files of the project, with their hashes and imports.

    `folders` gives each package's folder by its name.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.modules = {name: path for package, folder in folders.items() for name, path in _modules(package, folder)}
        self.data = {name: paths for package, folder in folders.items() for name, paths in _data(package, folder)}
        self._imports: dict[str, frozenset[str]] = {}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """A short hash for every module, for the data of every folder, and for the settings of the project."""
        hashes = {name: _hash([path]) for name, path in self.modules.items()}
        hashes |= {name: _hash(paths) for name, paths in self.data.items()}
        settings = ROOT / "pyproject.toml"
        return hashes | ({"pyproject.toml": _hash([settings])} if settings.is_file() else {})

    def imports(self, name: str) -> frozenset[str]:
        """The modules of the project that a module imports, at its top or in a function, and the data beside it."""
        if name not in self._imports:
            path = self.modules.get(name)
            self._imports[name] = frozenset() if path is None else frozenset(self._read(name, path))
        return self._imports[name]

    def _read(self, name: str, path: Path) -> Iterable[str]:
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        if f"{package}/*" in self.data:
            yield f"{package}/*"
        if f"{package}.{NOTATION}" in self.modules:  # which the print layer imports by name
            yield f"{package}.{NOTATION}"
        if name in PLUGINS:
            yield PLUGINS[name]
        for imported in [package, *_imported(_parsed(path), package.split("."))]:
            parts = imported.split(".")
            yield from (outer for n in range(1, len(parts) + 1) if (outer := ".".join(parts[:n])) in self.modules)

    def opened_elsewhere(self, paths: Iterable[str] | None = None) -> set[str]:
        """Return the files that are neither of the project nor installed, of these or of those that this process opened."""
        known = [*self.modules.values(), *(path for paths in self.data.values() for path in paths)]
        return elsewhere.opened(known, OUTPUT, paths)

    def unchanged_since(self, before: Mapping[str, str], time: float) -> dict[str, str]:
        """Return those hashes of an earlier reading that are still right, of files that did not change after a time.

        A file that changed and changed back, as an editor may leave it, has its old hash but not its old time.
        """
        paths = {**{name: [path] for name, path in self.modules.items()}, **self.data}
        return {
            name: hash
            for name, hash in before.items()
            if self.hashes.get(name) == hash and all(path.stat().st_ctime < time for path in paths.get(name, ()))
        }

    def closure(self, names: Iterable[str]) -> set[str]:
        """The modules, and everything of the project that they import, directly or not."""
        todo, seen = [*names, *ALWAYS], set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self.imports(name)
        return seen


def folders() -> dict[str, Path]:
    """The folders of the project's packages and of the documents outside of it, by name."""
    return {**{name: ROOT / name for name in PACKAGES}, **outside()}


def project() -> Sources:
    """The sources of the project, with the documents outside of it."""
    return Sources(folders())


def _modules(package: str, folder: Path) -> Iterable[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.py")):
        yield ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__"), path


def _data(package: str, folder: Path) -> Iterable[tuple[str, list[Path]]]:
    """Yield the data files of each package, those in its plain subfolders included; a nested package has its own entry."""
    inner_packages = {path.parent for path in folder.rglob("__init__.py")} - {folder}
    for inner in sorted({folder, *inner_packages}):
        files = sorted(
            path
            for path in inner.rglob("*")
            if path.is_file()
            and path.suffix != ".py"
            and path.name not in OUTPUT
            and path.parent.name != "__pycache__"  # caches of compiled code, Numba's included
            and (inner != folder or inner_packages.isdisjoint(path.parents))
        )
        if files:
            yield ".".join((package, *inner.relative_to(folder).parts)) + "/*", files


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module; an empty one on a syntax error, which importing the module will report."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:
        return ast.Module([], [])


def _imported(tree: ast.Module, package: list[str]) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if called in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)


# ── what is stale ───────────────────────────────────────────────────────────────────────────────────────────────────


class ReasonKind(StrEnum):
    """Why a row of a ledger is outdated, or a claim is run again."""

    NEW = "new"
    INCOMPLETE = "incomplete"
    VOTER = "another voter"
    LOST_VOTER = "a voter less"
    CHANGED = "changed"
    OUTDATED = "outdated"
    UNKNOWN = "unknown"
    NEED = "a need was run again"
    OTHER_VOTERS = "other voters"
    SETTINGS = "other settings"


@dataclass(frozen=True)
class Reason:
    """Why a claim is run again; the subject is the module, the data or the claim that it is about."""

    kind: ReasonKind
    subject: str = ""


def hashes_elsewhere(names: Iterable[str], before: float = math.inf) -> dict[str, str]:
    """Return the hash of each of these files that is outside of the project, exists, and did not change after a time."""
    paths = [path for path in map(Path, names) if path.is_absolute() and path.is_file() and path.stat().st_ctime < before]
    return {str(path): _hash([path]) for path in paths}


def changed_files(sources: Sources, run: Mapping[str, Any]) -> set[str]:
    """Return the modules and data files that changed since a run."""
    before = run.get("files", {})
    now = sources.hashes | hashes_elsewhere(before)
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def outdated(sources: Sources, ledger: Mapping[str, Any]) -> set[str]:
    """Return the changed modules and data files that some row of the ledger depends on."""
    recorded = {date: changed_files(sources, run) for date, run in runs_of(ledger).items() if "files" in run}
    return {name for row in ledger["claims"] for name in _touching(row, recorded.get(row.get("run", ""), set()), sources)}


def _changed_since(sources: Sources, ledger: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the files that changed since each run of a ledger."""
    return {date: changed_files(sources, run) for date, run in runs_of(ledger).items()}


def outdated_rows(sources: Sources, ledger: Mapping[str, Any]) -> dict[str, Reason]:
    """Return, by claim, why its row or the row of one of its parts is outdated."""
    rows = {row["id"]: row for row in ledger["claims"]}
    changed, runs = _changed_since(sources, ledger), runs_of(ledger)
    reasons = {
        id: Reason(ReasonKind.OUTDATED, name)
        for id, row in rows.items()
        if (name := _touched(row, changed[row.get("run", "")], sources))
    }
    silent = [id for id, row in rows.items() if "files" not in runs[row.get("run", "")] or "sources" not in row]
    reasons |= dict.fromkeys(silent, Reason(ReasonKind.UNKNOWN))
    return {id: reasons[own] for id, row in rows.items() for own in (*row["parts"], id) if own in reasons}


def _touched(row: Mapping[str, Any], changed: set[str], sources: Sources) -> str | None:
    """Return the first changed module or data file that a row depends on; None if there is none."""
    return min(_touching(row, changed, sources), default=None)


def _touching(row: Mapping[str, Any], changed: set[str], sources: Sources) -> set[str]:
    """Return the changed files that a row depends on, for one of an outside document all changed files elsewhere."""
    if not changed:
        return set()
    own = row.get("sources", ())
    from_outside = not outside().keys().isdisjoint(name.partition(".")[0] for name in own)
    return {name for name in changed if from_outside and Path(name).is_absolute()} | (sources.closure(own) & changed)


def profile() -> str:
    """Return the profile by which Hypothesis draws instances."""
    return os.environ.get("HYPOTHESIS_PROFILE", "gate")


def other_settings(run: Mapping[str, Any], environment: Mapping[str, Any]) -> str | None:
    """Return why no row of a run can be reused under these settings; None if rows can be reused, also by a quick run."""
    if "files" not in run:
        return "the last run does not record its source files"
    was = run["environment"]
    if not was.get("complete"):
        return "the last run did not include every layer"
    for name in SETTINGS:
        if was.get(name) != environment.get(name) and (name != "quick" or was.get(name)):
            return f"{name}: {_shown(was.get(name), environment.get(name))}"
    return "the files of a model given by --model are not tracked" if environment.get("model") else None


def _shown(was: Any, now: Any) -> str:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        changed = [f"{key} {was.get(key)} → {now.get(key)}" for key in {**was, **now} if was.get(key) != now.get(key)]
        return ", ".join(changed)
    return f"{was} → {now}"


def stale(
    ledger: Mapping[str, Any],
    sources: Sources,
    needs: Mapping[str, Iterable[str]],
    voters: Mapping[str, Iterable[str]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Reason]:
    """The claims of `needs` whose row cannot be used again, each with the reason.

    `needs` maps each claim to the claims it rests on; `voters` maps it to the modules that vote on it now, if known, and
    `settings` are those of the run that would use the rows.
    """
    rows = {row["id"]: row for row in ledger["claims"]}
    changed = _changed_since(sources, ledger)
    others = {date: why for date, run in runs_of(ledger).items() if settings and (why := other_settings(run, settings))}
    reasons: dict[str, Reason] = {}
    for id in needs:
        row = rows.get(id)
        if row is None:
            reasons[id] = Reason(ReasonKind.NEW)
        elif other := others.get(run := row.get("run", "")):
            reasons[id] = Reason(ReasonKind.SETTINGS, other)
        elif own := _own_reason(row, changed[run], sources, None if voters is None else set(voters.get(id, ()))):
            reasons[id] = own
    while more := {
        id: Reason(ReasonKind.NEED, need)
        for id, needed in needs.items()
        if id not in reasons
        for need in needed
        if need in reasons
    }:
        reasons |= more
    return reasons


def _own_reason(row: Mapping[str, Any], changed: set[str], sources: Sources, voters: set[str] | None) -> Reason | None:
    if not row.get("complete"):
        return Reason(ReasonKind.INCOMPLETE)
    if voters is not None and not voters <= set(row["sources"]):
        return Reason(ReasonKind.VOTER, min(voters - set(row["sources"])))
    if voters is not None and (silent := set(row["voters"]) - voters):
        return Reason(ReasonKind.LOST_VOTER, min(silent))
    touched = _touched(row, changed, sources)
    return Reason(ReasonKind.CHANGED, touched) if touched else None


def may_have_new_votes(sources: Sources, ledger: Mapping[str, Any], folders: Iterable[str]) -> bool:
    """Return whether a module changed in a package of votes: only test collection can tell which claims it votes on."""
    prefixes = tuple(f"{folder}." for folder in folders)
    changed = set[str]().union(*_changed_since(sources, ledger).values())
    return any(name.startswith(prefixes) or name in folders for name in changed)
