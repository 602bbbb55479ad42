"""Check the formulas, theorems and assertions of a document: each is a claim with a derivation that the machine verifies.

An author imports from here every name of `derivations.vocabulary`, where they are described, `equation`, which reads a claim
from its LaTeX, and `Notation`, which says what the symbols of a paper mean:

    from derivations import Equation, Steps, claim, index, positive, size, total, vector

The vocabulary is loaded when its first name is used.  Thus reading a ledger, listing documents or printing the commands' help
does not load SymPy, and the modules of this package can import one another by their full names without a circle.  The commands
are in `derivations.__main__`, the documents in one package each, such as `derivations.documents.eot`.
"""

import os
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from derivations.authored import guard_cells

STARTED = time.time()  # a source that changes later may differ from what was imported
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")  # read when SymPy is imported; its own 1000 is soon full

if TYPE_CHECKING:
    from derivations.papers.claims import equation as equation
    from derivations.reader.meaning.notation import Notation as Notation
    from derivations.vocabulary import *
else:
    _OF_PAPERS = {"equation": "derivations.papers.claims", "Notation": "derivations.reader.meaning.notation"}

    def __getattr__(name: str) -> Any:
        """An author's name, from its module (PEP 562); a look for a name of Python's, such as `__path__`, loads nothing."""
        home = _OF_PAPERS.get(name, "derivations.vocabulary")
        if name.startswith("_") or not hasattr(import_module(home), name):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *dir(import_module("derivations.vocabulary")), *_OF_PAPERS})


guard_cells()
