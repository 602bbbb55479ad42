"""The claims of a chapter of our documents are frozen as soon as it was imported, by whomever: by `catalogue` or by an author.

Thus no module of another document can change them before they are examined.
"""

import re
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from derivations.register import catalogue, contents

CHAPTER = re.compile(r"derivations\.documents\.\w+\.\w+")


class Chapters(MetaPathFinder):
    """Finds the chapters of our documents by the other finders, and has their claims frozen once they are imported."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a chapter; None for another module."""
        if not CHAPTER.fullmatch(name):
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Freezing(spec.loader)
        return spec


class _Freezing(Loader):
    """Loads a chapter as another loader does, and freezes its claims."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module and freeze its claims."""
        from derivations.calculus.quick import shortcuts  # here, since finding chapters needs no SymPy

        with shortcuts():
            self.loader.exec_module(module)
        freeze_chapter(module.__name__)


def freeze_chapter(module: str) -> None:
    """Freeze the claims of a chapter of our documents, which was just imported.

    Raises ValueError unless it registered the claims that its text says it registers.
    """
    own = {id: entry for id, entry in catalogue.ENTRIES.items() if entry.module == module}
    stated = [each.id for each in contents.registered(module.split(".")[2]).values() if each.module == module]
    if list(own) != stated:
        other = next(iter(own.keys() ^ {*stated}), module)
        raise ValueError(f"claim: expected claims that {module} registers at its top, with ids written out, got {other}")
    for entry in own.values():
        entry.seal()
    catalogue.FROZEN.update(own)
