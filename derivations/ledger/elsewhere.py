"""The files that a document of one's own reads outside of its folder: helper modules, data, whatever opens them.

Python reports every file that it opens.  What belongs to Python, to an installed package or to the project is left out, since
versions and hashes of sources cover it.  Files that a library in C opens are not seen.
"""

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

INSTALLED = tuple(
    f"{folder}{os.sep}" for folder in {*map(os.path.realpath, (sys.prefix, sys.base_prefix)), "/proc", "/sys", "/dev", "/etc"}
)
_OPENED: set[str] = set()


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        name, mode, flags = arguments
        reading = (
            not set("wax+") & set(mode) if isinstance(mode, str) else not (isinstance(flags, int) and flags & os.O_ACCMODE)
        )
        if reading and isinstance(name, str | bytes):
            _OPENED.add(os.path.abspath(os.fsdecode(name)))


sys.addaudithook(_note)


_TOLD: set[str] = set()


def opened_since() -> list[str]:
    """Return the files, of any kind but installed ones, that were opened since the last call."""
    new = {*map(os.path.realpath, _sources(_OPENED - _TOLD))}
    _TOLD.update(_OPENED)
    return sorted(path for path in new if not path.startswith(INSTALLED) and os.path.isfile(path))


def opened(known: Collection[Path], outputs: Iterable[str], paths: Iterable[str] | None = None) -> set[str]:
    """Return the files, those opened so far or `paths`, that are neither installed nor known nor named like an output."""
    left_out = {*map(os.path.realpath, known)}
    return {
        path
        for path in map(os.path.realpath, _sources(_OPENED) if paths is None else paths)
        if path not in left_out
        and not path.startswith(INSTALLED)
        and os.path.basename(path) not in outputs
        and os.path.isfile(path)
    }


def _sources(names: Iterable[str]) -> Iterator[str]:
    """Yield files; for compiled code, which Python opens instead of a module, the module."""
    for path in map(Path, sorted(names)):
        if path.parent.name != "__pycache__":
            yield str(path)
        elif path.suffix == ".pyc":
            yield str(path.parent.with_name(f"{path.name.partition('.')[0]}.py"))
