"""LaTeX in and out: formulas are read into relations, relations are written as formulas, papers become documents.

Reading goes in three steps.  `grammar.lark` gives brackets, scripts and commands their structure, `syntax` gives operators
their precedence, and `elaboration` gives every symbol the meaning that a `Notation` declares, entry by entry.  `statements`
makes relations of formulas, `claims` makes claims of them, and `new` a document of a whole paper.

A name is loaded when it is first used, since the kernel writes its steps with `writing` and `claims` uses the kernel.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derivations.latex.claims import equation as equation
    from derivations.latex.notation import Notation as Notation
    from derivations.latex.statements import read as read
    from derivations.latex.writing import statement as statement
    from derivations.latex.writing import written as written

_MODULE_OF = {"equation": "claims", "Notation": "notation", "read": "statements", "statement": "writing", "written": "writing"}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """A name of the package, from the module that defines it (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
