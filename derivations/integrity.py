"""Whether the kernel in this process is the one that was written: its functions are compared with those first imported.

An author's modules are Python and run in this process.  That one of them replaces a function of the kernel, by accident or
on purpose, is detected; code that hides its traces from this module too cannot be excluded (see `docs/trust.md`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import derivations.canonical
import derivations.comparison
import derivations.examination
import derivations.relations
import derivations.symbolic  # noqa: F401  (with all that they import)

KERNEL = ("derivations.calculus", "derivations.relations", "derivations.claims", "derivations.examination",
          "derivations.comparison", "derivations.canonical", "derivations.symbolic")


def _modules() -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if name.startswith(tuple(f"{part}." for part in KERNEL)) or name in KERNEL:
            yield module


def _functions() -> Iterator[tuple[str, object]]:
    """Every function and class of the kernel, and every attribute of its classes, by name."""
    for module in _modules():
        for name, value in list(vars(module).items()):
            if callable(value):
                yield f"{module.__name__}.{name}", value
            if isinstance(value, type) and value.__module__ == module.__name__:
                for part, own in list(vars(value).items()):
                    if callable(own) or isinstance(own, property | classmethod | staticmethod):
                        yield f"{module.__name__}.{name}.{part}", own


AS_WRITTEN = dict(_functions())


def changed_names() -> list[str]:
    """The names of the kernel that no longer mean what they meant when it was imported."""
    now = dict(_functions())
    return sorted(name for name, value in AS_WRITTEN.items() if now.get(name) is not value)
