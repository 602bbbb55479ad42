"""One more relation: two quantities agree to a given order as a variable goes to 0, with every coefficient.

A quantity may depend on a vector that is known only through an equation v = t·F(v), such as the maximizer of a dual
problem with a vanishing weight t: its expansion follows from the equation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import sympy as sp

from derivations.calculus import series, sums
from derivations.calculus.balls import enclose
from derivations.calculus.printing import text
from derivations.calculus.series import Entry, Series
from derivations.calculus.variables import Domain, Kind, Variable, fresh, variables_of
from derivations.claims import Witness
from derivations.relations import Relation, witness


@dataclass(frozen=True)
class Solves:
    """`vector` is the solution of v_a = t·F_a(v) with v(0) = 0, where F is the function `equation`."""

    vector: sp.IndexedBase
    equation: Callable[[Entry], Entry]

    def path(self, variable: Variable, order: int) -> Entry:
        """The solution up to `order`, entry by entry."""
        at = Variable("a#0", Domain(Kind.INDEX, self.vector.shape))   # a name that `fresh` never gives
        found = series.polynomial(_solution(self, variable, at, order), variable)
        return lambda a: _with_names_of_its_own(found).xreplace({at: a})


def _with_names_of_its_own(expr: sp.Expr) -> sp.Expr:
    """The same sums under fresh bound names, so that an entry put into another sum is not captured there."""
    return expr.replace(lambda e: isinstance(e, sp.Sum), lambda e: e.xreplace({v: fresh(v) for v in e.bound_symbols}))


@cache
def _solution(unknown: Solves, variable: Variable, at: sp.Expr, order: int) -> Series:
    return series.solution(unknown.equation, variable, at, order)


@dataclass(frozen=True)
class Expansion(Relation):
    """left = right + o(variable^order) as variable → 0: the Taylor coefficients agree up to that order.

    Both sides are analytic at 0, so "= right + O(variable^(order+1))" is the same statement.  Vectors in `where` are
    functions of the variable, given by their equations.
    """

    left: sp.Expr
    right: sp.Expr
    variable: Variable
    order: int
    where: tuple[Solves, ...] = field(default=(), kw_only=True)

    def expanded(self) -> list[tuple[sp.Expr, sp.Expr]]:
        """The coefficients of both sides, degree by degree."""
        return _expanded(self)

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The coefficients of variable^order."""
        return self.expanded()[-1]

    def variables(self) -> list[Variable]:
        """The free variables, without the one that vanishes and the vectors that depend on it."""
        gone = {self.variable, *(unknown.vector.label for unknown in self.where)}
        found = variables_of(sp.Tuple(self.left, self.right, *self.sides, *self.about))
        return [v for v in found if v not in gone]

    def prove(self) -> bool:
        return all(sums.equal(left, right) for left, right in self.expanded())

    def refute(self) -> Witness | None:
        open_degrees = [(k, *pair) for k, pair in enumerate(self.expanded()) if not sums.equal(*pair)]
        for point in self.points() if open_degrees else ():
            for degree, left, right in open_degrees:
                found, claimed = enclose(left, point), enclose(right, point)
                if found.is_finite() and claimed.is_finite() and not found.overlaps(claimed):
                    return witness(point, found, claimed, "≠", f"the coefficient of {self.variable}^{degree}")
        return None

    def general(self) -> bool:
        return any(v.domain.kind is Kind.SIZE for v in self.variables()) or super().general()

    def scope(self) -> str:
        return f"{super().scope()}, as {self.variable} → 0"

    def __str__(self) -> str:
        return f"{text(self.left)} = {text(self.right)} + o({self.variable}^{self.order})"


@cache
def _expanded(relation: Expansion) -> list[tuple[sp.Expr, sp.Expr]]:
    variable, order = relation.variable, relation.order
    sides = []
    for side in map(sp.sympify, (relation.left, relation.right)):
        for unknown in relation.where:
            side = _replaced(side, unknown.vector, unknown.path(variable, order))
        sides.append(series.coefficients(side, variable, order))
    return list(zip(*sides, strict=True))


def _replaced(expr: sp.Expr, vector: sp.IndexedBase, path: Entry) -> sp.Expr:
    entries = {e: path(e.indices[0]) for e in expr.atoms(sp.Indexed) if e.base.label == vector.label}
    return expr.xreplace(entries)
