"""What a link of a printed formula says, beside relations of the kernel: an optimum, or an expression that is only shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from derivations.calculus.printing import text
from derivations.calculus.variables import Variable
from derivations.latex.remainders import Expanded
from derivations.relations import Limit, Relation


@dataclass(frozen=True)
class Minimizer:
    """`candidate` at `places` is the only minimizer of `objective` at the rival; −objective where it is a maximum."""

    objective: sp.Expr
    candidate: sp.Expr
    places: tuple[Variable, ...]

    def __str__(self) -> str:
        return f"{text(self.candidate)} is the only minimizer of {text(self.objective)}"


@dataclass(frozen=True)
class Optimum:
    """`value` is the least value of `objective` at the rival; both are negated where it is the greatest."""

    objective: sp.Expr
    value: sp.Expr

    def __str__(self) -> str:
        return f"{text(self.value)} is the least value of {text(self.objective)}"


@dataclass(frozen=True)
class Shown:
    """An expression that is printed by itself: the objective of a problem, what a chapter is about."""

    value: sp.Expr

    def __str__(self) -> str:
        return text(self.value)


Said = Relation | Minimizer | Optimum | Shown | Expanded


@dataclass(frozen=True)
class Link:
    """One statement of a formula, with the premises under which it is made."""

    said: Said
    premises: tuple[Said, ...] = ()
    defined: str = ""  # the name that this link defines in the notation

    def __str__(self) -> str:
        return (" and ".join(map(str, self.premises)) + " imply " if self.premises else "") + str(self.said)


def sides(said: Said) -> Sequence[sp.Expr]:
    """The expressions that a link compares."""
    if isinstance(said, Minimizer):
        return said.objective, said.candidate
    if isinstance(said, Optimum):
        return said.objective, said.value
    if isinstance(said, Shown):
        return (said.value,)
    if isinstance(said, Limit):
        return sp.sympify(said.expr), sp.sympify(said.limit)
    return said.sides
