"""LaTeX in and out: formulas are read into relations, relations are written as formulas, papers become documents.

Reading goes in three steps.  `grammar.lark` gives brackets, scripts and commands their structure, `syntax` gives operators
their precedence, and `elaboration` gives every symbol the meaning that a `Notation` declares, entry by entry.  `statements`
makes relations of formulas, `claims` makes claims of them, and `new` a document of a whole paper.
"""

from derivations.latex.claims import equation as equation
from derivations.latex.notation import Notation as Notation
from derivations.latex.statements import read as read
from derivations.latex.writing import statement as write

__all__ = ["Notation", "equation", "read", "write"]
