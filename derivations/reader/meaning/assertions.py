"""Assertions of a printed formula besides relations: an optimum, or an expression that is merely shown."""

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from derivations.calculus.defined import Condition
from derivations.calculus.printing import text
from derivations.calculus.variables import Variable
from derivations.reader.meaning.remainders import Expanded
from derivations.records.normal_form import Sign
from derivations.relations import Relation


@dataclass(frozen=True)
class Minimizer:
    """`candidate` at `places` is the unique minimizer of `objective` (negated for a maximum), stated at the rival."""

    objective: sp.Expr
    candidate: sp.Expr
    places: tuple[Variable, ...]
    sign: ClassVar[Sign] = Sign.MINIMIZER

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The objective and the candidate."""
        return self.objective, self.candidate

    def __str__(self) -> str:
        return f"{text(self.candidate)} is the only minimizer of {text(self.objective)}"


@dataclass(frozen=True)
class Optimum:
    """`value` is the least value of `objective`, stated at the rival; both are negated for a maximum."""

    objective: sp.Expr
    value: sp.Expr
    sign: ClassVar[None] = None

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The objective and its least value."""
        return self.objective, self.value

    def __str__(self) -> str:
        return f"{text(self.value)} is the least value of {text(self.objective)}"


@dataclass(frozen=True)
class Shown:
    """An expression printed by itself, such as the objective of a problem."""

    value: sp.Expr
    sign: ClassVar[None] = None

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The expression."""
        return (self.value,)

    def __str__(self) -> str:
        return text(self.value)


Assertion = Relation | Minimizer | Optimum | Shown | Expanded


@dataclass(frozen=True)
class Link:
    """One assertion of a formula, with its premises."""

    assertion: Assertion
    premises: tuple[Assertion, ...] = ()
    defined: str = ""  # the name that this link defines in the notation
    required: tuple[Condition, ...] = ()  # what logarithms and roots of the whole formula require

    def __str__(self) -> str:
        return (" and ".join(map(str, self.premises)) + " imply " if self.premises else "") + str(self.assertion)
