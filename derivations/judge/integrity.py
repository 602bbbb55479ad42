"""Detect changes of the kernel in this process by comparing its functions and constants with those first imported.

Authors' modules are Python and run in this process.  If one of them replaces a function of the kernel, or of SymPy's or
Python's own that it calls most, by accident or on purpose, it is detected, unless the code hides its traces from this module
too (see `docs/trust.md`).
"""

import builtins
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from types import BuiltinFunctionType, ModuleType

import sympy as sp
from sympy.core.assumptions import StdFactKB

from derivations.calculus.quick import installed

KERNEL = (
    "derivations.domains",
    "derivations.calculus",
    "derivations.relations",
    "derivations.judge.verdicts",
    "derivations.records.claims",
    "derivations.records.base",
    "derivations.records.normal_form",
    "derivations.judge.examination",
    "derivations.judge.comparison",
    "derivations.judge.symbolic",
)


def _all_of_kernel() -> Iterator[str]:
    """Import every module of the kernel, so that none is first seen after an author could have replaced something in it."""
    for name in KERNEL:
        yield name
        for part in pkgutil.iter_modules(getattr(import_module(name), "__path__", ())):
            import_module(f"{name}.{part.name}")
            yield f"{name}.{part.name}"


MODULES = tuple(_all_of_kernel())


def _modules() -> Iterator[ModuleType]:
    """Return the current modules under the kernel's names."""
    yield from (module for name in MODULES if (module := sys.modules.get(name)))


NODES = (
    sp.Add,
    sp.Mul,
    sp.Pow,
    sp.exp,
    sp.log,
    sp.Abs,
    sp.sign,
    sp.Sum,
    sp.Symbol,
    sp.Indexed,
    sp.IndexedBase,
    sp.KroneckerDelta,
    sp.Integer,
    sp.Rational,
    sp.Tuple,
    StdFactKB,
)
BUILTINS = tuple(
    name
    for name, value in vars(builtins).items()  # without those that interactive shells replace
    if isinstance(value, BuiltinFunctionType | type) and name != "input"
)
CACHED = ("__annotations__", "__msgspec_cache__", "__slotnames__")  # which Python, msgspec and copyreg add to classes


def _functions() -> Iterator[tuple[str, object]]:
    """Every function and class of the kernel, and every attribute of its classes, by name; the same of what it builds on."""
    yield from _foundations()
    for module in _modules():
        for name, value in list(vars(module).items()):
            if callable(value):
                yield f"{module.__name__}.{name}", value
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield from (
                    (f"{module.__name__}.{name}.{part}", own) for part, own in list(vars(value).items()) if part not in CACHED
                )


def _foundations() -> Iterator[tuple[str, object]]:
    """SymPy's public functions, the attributes of the classes that expressions are made of, and Python's own functions."""
    yield from ((f"sympy.{name}", value) for name, value in list(vars(sp).items()) if callable(value))
    for owner in dict.fromkeys(base for node in NODES for base in node.__mro__ if base.__module__.startswith("sympy.")):
        yield from (
            (f"{owner.__module__}.{owner.__name__}.{part}", value)
            for part, value in installed(owner).items()
            if part not in CACHED
        )
    yield from ((f"builtins.{name}", vars(builtins).get(name)) for name in BUILTINS)


GROWING = ("derivations.calculus.variables._KNOWN",)  # the variables that were made so far


def _constants() -> Iterator[tuple[str, str]]:
    """Return the representation of every table and number of the kernel, by name."""
    for module in _modules():
        for name, value in list(vars(module).items()):
            own = f"{module.__name__}.{name}"
            if name.isupper() and isinstance(value, int | float | str | tuple | list | dict | frozenset) and own not in GROWING:
                yield own, repr(value)


AS_WRITTEN = dict(_functions())
CONSTANTS = dict(_constants())


def changed_names() -> list[str]:
    """Return the kernel's names whose objects have changed since it was imported, and those that were added to it."""
    functions, constants = dict(_functions()), dict(_constants())
    added = (functions.keys() - AS_WRITTEN.keys()) | (constants.keys() - CONSTANTS.keys())
    return sorted(
        [
            *added,
            *(name for name, value in AS_WRITTEN.items() if functions.get(name) is not value),
            *(name for name, shown in CONSTANTS.items() if constants.get(name) != shown),
        ]
    )
