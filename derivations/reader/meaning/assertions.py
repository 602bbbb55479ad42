"""What a link of a printed formula can assert besides a relation: an optimum, or an expression that is merely shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from derivations.calculus.printing import text
from derivations.calculus.variables import Variable
from derivations.reader.meaning.remainders import Expanded
from derivations.relations import Limit, Relation


@dataclass(frozen=True)
class Minimizer:
    """`candidate` at `places` is the unique minimizer of `objective` (negated for a maximum), stated at the rival."""

    objective: sp.Expr
    candidate: sp.Expr
    places: tuple[Variable, ...]

    def __str__(self) -> str:
        return f"{text(self.candidate)} is the only minimizer of {text(self.objective)}"


@dataclass(frozen=True)
class Optimum:
    """`value` is the least value of `objective`, stated at the rival; both are negated for a maximum."""

    objective: sp.Expr
    value: sp.Expr

    def __str__(self) -> str:
        return f"{text(self.value)} is the least value of {text(self.objective)}"


@dataclass(frozen=True)
class Shown:
    """An expression printed by itself, such as the objective of a problem."""

    value: sp.Expr

    def __str__(self) -> str:
        return text(self.value)


Assertion = Relation | Minimizer | Optimum | Shown | Expanded


@dataclass(frozen=True)
class Link:
    """One assertion of a formula, with its premises."""

    assertion: Assertion
    premises: tuple[Assertion, ...] = ()
    defined: str = ""  # the name that this link defines in the notation

    def __str__(self) -> str:
        return (" and ".join(map(str, self.premises)) + " imply " if self.premises else "") + str(self.assertion)


def sides(assertion: Assertion) -> Sequence[sp.Expr]:
    """The expressions that a link compares."""
    if isinstance(assertion, Minimizer):
        return assertion.objective, assertion.candidate
    if isinstance(assertion, Optimum):
        return assertion.objective, assertion.value
    if isinstance(assertion, Shown):
        return (assertion.value,)
    if isinstance(assertion, Limit):
        return sp.sympify(assertion.expr), sp.sympify(assertion.limit)
    return assertion.sides
