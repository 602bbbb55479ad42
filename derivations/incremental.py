"""Which claims a change of the sources touches, so that `verify --incremental` runs only these again.

The evidence for a claim is a function of the modules that vote for it, with everything they import inside the project,
of the data beside them, of the packages' versions and of the options.  A ledger records the modules of each row and a
hash of every file; a row is outdated when one of the files that it rests on is another one, and stale when it is outdated
or incomplete, or needs a claim that is stale.  Modules are read and never imported here: nothing of torch or pytest is
loaded to find that nothing changed.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from derivations.documents import outside

ROOT = Path(__file__).parent.parent
PACKAGES = ("derivations", "numerics", "evidence")
ALWAYS = ("derivations.pytest_plugin", "pyproject.toml")     # what every test runs under
OUTPUT = frozenset({"baseline.json", "ledger.json"})         # written by a run, read by none
SETTINGS = ("python", "packages", "device", "quick", "model")


def voting_files() -> dict[str, Path]:
    """The two files of tests that speak for claims: the derivations, and the votes of the numeric layers."""
    return {"symbolic": ROOT / "derivations" / "test_derivations.py", "votes": ROOT / "evidence" / "test_votes.py"}


class Sources:
    """The files of the project, what they hold and what they import.

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
        for imported in [package, *_imported(_parsed(path), package.split("."))]:
            parts = imported.split(".")
            yield from (outer for n in range(1, len(parts) + 1) if (outer := ".".join(parts[:n])) in self.modules)

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
    """The files that are no modules, for each package that holds some, or whose folders do; those of the packages in it are
    their own."""
    inner_packages = {path.parent for path in folder.rglob("__init__.py")} - {folder}
    for inner in sorted({folder, *inner_packages}):
        files = sorted(path for path in inner.rglob("*")
                       if path.is_file() and path.suffix != ".py" and path.name not in OUTPUT
                       and path.parent.name != "__pycache__"              # which holds what was compiled, by Numba too
                       and (inner != folder or inner_packages.isdisjoint(path.parents)))
        if files:
            yield ".".join((package, *inner.relative_to(folder).parts)) + "/*", files


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _parsed(path: Path) -> ast.Module:
    """The syntax tree of a module; an empty one of what is no Python, which running it will say."""
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


@dataclass(frozen=True)
class Reason:
    """Why a claim is run again; the subject is the module, the data or the claim that it is about."""

    kind: ReasonKind
    subject: str = ""


def changed_files(sources: Sources, ledger: Mapping[str, Any]) -> set[str]:
    """The modules and data that are not as they were when the ledger was written."""
    before, now = ledger.get("files", {}), sources.hashes
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def outdated(sources: Sources, ledger: Mapping[str, Any]) -> set[str]:
    """The modules and data that the rows of a ledger rest on and that changed after it was written."""
    if "files" not in ledger:
        return set()
    own = {name for row in ledger["claims"] for name in row.get("sources", ())}
    return changed_files(sources, ledger) & sources.closure(own)


def outdated_rows(sources: Sources, ledger: Mapping[str, Any]) -> dict[str, Reason]:
    """The claims whose row, or a row of whose parts, rests on other sources than there are now, each with what changed."""
    rows = {row["id"]: row for row in ledger["claims"]}
    changed = changed_files(sources, ledger)
    reasons = {id: Reason(ReasonKind.OUTDATED, name) for id, row in rows.items() if (name := _touched(row, changed, sources))}
    silent = [id for id, row in rows.items() if "files" not in ledger or "sources" not in row]
    reasons |= dict.fromkeys(silent, Reason(ReasonKind.UNKNOWN))
    return {id: reasons[own] for id, row in rows.items() for own in (*row["parts"], id) if own in reasons}


def _touched(row: Mapping[str, Any], changed: set[str], sources: Sources) -> str | None:
    """One of the modules and data that a row rests on and that changed, if there is one."""
    return min(sources.closure(row.get("sources", ())) & changed, default=None) if changed else None


def other_settings(ledger: Mapping[str, Any], environment: Mapping[str, Any]) -> str | None:
    """Why nothing of a ledger can be used again under these settings, if so."""
    if "files" not in ledger:
        return "the last ledger does not say what it rests on"
    was = ledger["environment"]
    if not was.get("complete"):
        return "the last ledger is of a run that did not ask every layer"
    for name in SETTINGS:
        if was.get(name) != environment.get(name):
            return f"{name}: {_shown(was.get(name), environment.get(name))}"
    return "the files of a model of one's own are not watched" if environment.get("model") else None


def _shown(was: Any, now: Any) -> str:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        moved = [f"{key} {was.get(key)} → {now.get(key)}" for key in {**was, **now} if was.get(key) != now.get(key)]
        return ", ".join(moved)
    return f"{was} → {now}"


def stale(
    ledger: Mapping[str, Any],
    sources: Sources,
    needs: Mapping[str, Iterable[str]],
    voters: Mapping[str, Iterable[str]] | None = None,
) -> dict[str, Reason]:
    """The claims of `needs` whose row cannot be used again, each with the reason.

    `needs` gives what each claim rests on, `voters` the modules whose tests speak for each claim now, if that is known.
    """
    rows = {row["id"]: row for row in ledger["claims"]}
    changed = changed_files(sources, ledger)
    reasons: dict[str, Reason] = {}
    for id in needs:
        if why := _own_reason(rows.get(id), changed, sources, None if voters is None else set(voters.get(id, ()))):
            reasons[id] = why
    while more := {id: Reason(ReasonKind.NEED, need) for id, needed in needs.items() if id not in reasons
                   for need in needed if need in reasons}:
        reasons |= more
    return reasons


def _own_reason(
    row: Mapping[str, Any] | None, changed: set[str], sources: Sources, voters: set[str] | None
) -> Reason | None:
    if row is None:
        return Reason(ReasonKind.NEW)
    if not row.get("complete"):
        return Reason(ReasonKind.INCOMPLETE)
    if voters is not None and not voters <= set(row["sources"]):
        return Reason(ReasonKind.VOTER, min(voters - set(row["sources"])))
    if voters is not None and (silent := set(row["voters"]) - voters):
        return Reason(ReasonKind.LOST_VOTER, min(silent))
    touched = _touched(row, changed, sources)
    return Reason(ReasonKind.CHANGED, touched) if touched else None


def may_have_new_votes(sources: Sources, ledger: Mapping[str, Any], folders: Iterable[str]) -> bool:
    """Whether a module changed in a package whose tests speak for claims: only collecting them can tell for which."""
    prefixes = tuple(f"{folder}." for folder in folders)
    return any(name.startswith(prefixes) or name in folders for name in changed_files(sources, ledger))
