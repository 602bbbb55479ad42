"""A claim as a theorem of Rocq with its proof: the statement of its relation, and the lines that lead to it."""

from dataclasses import dataclass

import sympy as sp

from derivations.calculus.sums import normal
from derivations.kernel import polynomials as po
from derivations.kernel.certificate import Certificate
from derivations.kernel.statements import Statement, stated
from derivations.kernel.terms import Names, NotExportedError, identifier, term, written
from derivations.relations import AtLeast, Relation

HEADER = """From AttentionProofs Require Import Script.
Local Open Scope ring_scope.
"""


@dataclass(frozen=True)
class Theorem:
    """An exported relation: its identifier, the theorem and the script that proves it."""

    name: str
    statement: str
    proof: str

    @property
    def source(self) -> str:
        """All of it."""
        return f"{self.statement}\nProof.\n{self.proof}\nQed.\n"


def theorem(id: str, relation: Relation) -> Theorem:
    """The theorem of a relation; raises NotExportedError where it has none, with the part that is to blame."""
    names = Names()
    statement = stated(relation, names)
    name = identifier(id.replace(".", "_").replace("-", "_"))
    lines = [f"move=> {' '.join(statement.introduced)}."]
    if isinstance(relation, AtLeast):
        lines += _inequality(relation, statement, names)
    else:
        lines += _equality(statement)
    return Theorem(name, _quantified(statement, name), "\n".join(lines))


def _quantified(statement: Statement, name: str) -> str:
    """The theorem, all of whose variables are bound in its type: the proof names them."""
    binders = " ".join(f"({each} : {type})" for each, type in (("R", "realType"), *statement.binders, *statement.hypotheses))
    return f"Theorem {name} : forall {binders},\n  {statement.conclusion}."


def _equality(statement: Statement) -> list[str]:
    certificate = Certificate(statement.facts)
    left = certificate.normal(statement.left)
    right = certificate.normal(statement.right)
    return [*certificate.lines, f"{certificate.rewriting([*left[1], *right[1]])}; fld."]


def _inequality(relation: AtLeast, statement: Statement, names: Names) -> list[str]:
    """The difference is a form whose sign can be seen."""
    if relation.taylor is not None:
        raise NotExportedError("an inequality by derivatives at a point")
    gap = relation.because if relation.because is not None else normal(relation.left - relation.right)
    form = term(sp.sympify(gap), names)
    certificate = Certificate(statement.facts)
    parts = [certificate.normal(each) for each in (statement.left, statement.right, form)]
    used = certificate.rewriting([n for _, lines in parts for n in lines])
    left, right = written(statement.left), written(statement.right)
    sign = "subr_gt0" if relation.strict else "subr_ge0"
    return [*certificate.lines, f"have gap : {left} - {right} = {written(form)}.", f"{{ {used}; fld. }}",
            f"rewrite -{sign} gap; positive."]


__all__ = ["HEADER", "NotExportedError", "Theorem", "po", "theorem"]
