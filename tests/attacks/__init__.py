"""Illegitimate ways to a green verdict, each a few lines and one reason.

An attack is a statement that is false, undefined somewhere in its declared domain, or about nothing; a correction, a
premise, a twin or a vote that does not say what it is taken for; or evidence that nobody found.  Its name says what is
wrong with it.  None may be believed: a relation is not proved, an examination reports a fault, a run ends with a problem.

The classes A1–D10 are those in which the first edition was attacked; the rest is new.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import FunctionType

from derivations.relations import Relation

Make = Callable[[], Relation]  # a relation that may refuse to be built
Table = dict[str, Make]
TRUTHS = ("test_truths", "test_accusations")  # valid statements, and checks of the suite itself


def refused(make: Make) -> bool:
    """Whether a statement is rejected: its construction or its proof fails, or it is vacuous."""
    try:
        return make().prove() is not True
    except (ValueError, TypeError):  # SymPy raises TypeError for truth values
        return True


def refuted(make: Make) -> bool:
    """Whether a false statement is refuted by a witness, and not proved."""
    return make().refute() is not None and refused(make)


def attacks() -> dict[str, int]:
    """The number of attacks in each module of this package."""
    names = [info.name for info in pkgutil.iter_modules(__path__) if info.name.startswith("test_")]
    return {name: sum(map(_rows, _tests(name))) for name in sorted(names) if name not in TRUTHS}


def _tests(name: str) -> Iterator[FunctionType]:
    module = importlib.import_module(f"{__name__}.{name}")
    return (
        value
        for key, value in vars(module).items()
        if key.startswith("test_") and not key.startswith("test_control") and isinstance(value, FunctionType)
    )


def _rows(test: FunctionType) -> int:
    """The number of tests that pytest collects from a function."""
    rows = 1
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            rows *= len(mark.args[1])
    return rows
