"""Two quantities agree to a given order as a variable goes to 0, with every coefficient.

A quantity may depend on a vector that is known only through an equation v = t·F(v), such as the maximizer of a dual
problem with a vanishing weight t: its expansion follows from the equation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import FunctionType
from typing import ClassVar

import sympy as sp

from derivations.calculus import series, sums
from derivations.calculus.balls import Point
from derivations.calculus.defined import Condition, Sense, conditions, shown, undefined
from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial
from derivations.calculus.printing import text
from derivations.calculus.screening import Facts
from derivations.calculus.signs import nonzero, strictly_positive
from derivations.calculus.variables import Variable, apart, variables_of
from derivations.domains import Index
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.records.theorems import IMPLICIT_FUNCTION, Theorem
from derivations.relations.base import PROVED, Entry, Relation, Side, foreign, remaining
from derivations.relations.exporter import Exporter, Result
from derivations.relations.witnesses import differ


@dataclass(frozen=True)
class Solves:
    """`vector` is the solution of v_a = t·F_a(v) with v(0) = 0, where F is the function `equation`."""

    vector: sp.IndexedBase
    equation: Callable[[Entry], Entry]

    @property
    def index(self) -> Variable:
        """The index at which the equation is written, with a name that `fresh` never produces."""
        return Variable("a#0", Index(self.vector.shape))

    def image(self) -> sp.Expr:
        """F_a(v) with canonical bound names, so that equal equations are written alike."""
        written = apart(sp.sympify(self.equation(lambda a: self.vector[a])(self.index)))
        sums_in_it = (part for part in sp.preorder_traversal(written) if isinstance(part, sp.Sum))
        bound = dict.fromkeys(v for part in sums_in_it for v in part.bound_symbols if isinstance(v, Variable))
        names = {v: Variable(f"{v.name.split('#')[0]}#0.{n}", v.domain) for n, v in enumerate(bound)}
        return written.xreplace(names)


@dataclass(frozen=True)
class Expansion(Relation):
    """left = right + o(variable^order) as variable → 0: the Taylor coefficients agree up to that order.

    Both sides are analytic at 0, so "= right + O(variable^(order+1))" is the same statement.  Vectors in `where` are
    functions of the variable, given by their equations.
    """

    sign: ClassVar[Sign] = Sign.EXPANSION
    left: sp.Expr
    right: sp.Expr
    variable: Variable
    order: int
    where: tuple[Solves, ...] = field(default=(), kw_only=True)

    @cached_property
    def images(self) -> tuple[sp.Expr, ...]:
        """F(v) of each equation, evaluated once, so that the author's function cannot return something else later."""
        return tuple(unknown.image() for unknown in self.where)

    @cached_property
    def expanded(self) -> list[tuple[sp.Expr, sp.Expr]]:
        """The coefficients of both sides, degree by degree.

        F is expanded at every order, so that it has a value at 0.  Raises ValueError for what is not analytic at 0.
        """
        solved = tuple((unknown.vector, unknown.index, image) for unknown, image in zip(self.where, self.images, strict=True))
        sides = (_coefficients(side, solved, self.variable, self.order) for side in (self.left, self.right))
        return list(zip(*sides, strict=True))

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The coefficients of variable^order."""
        return self.expanded[-1]

    @property
    def shown(self) -> tuple[sp.Expr, ...]:
        """Both quantities."""
        return self.left, self.right

    @property
    def compared(self) -> tuple[sp.Expr, sp.Expr]:
        """Both Taylor polynomials."""
        left, right = (
            sp.Add(*[coefficient * self.variable**degree for degree, coefficient in enumerate(side)])
            for side in zip(*self.expanded, strict=True)
        )
        return left, right

    @property
    def parameters(self) -> tuple[sp.Expr, ...]:
        """The variable and the order."""
        return self.variable, sp.Integer(self.order)

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """Both quantities, the variable and the order; the last coefficients, for quantities that equations define."""
        return *super().parts, *self.sides

    @property
    def moving(self) -> Variable:
        """The variable that goes to 0."""
        return self.variable

    @property
    def expansion(self) -> "Expansion":
        """Itself."""
        return self

    @property
    def relies_on(self) -> tuple[Theorem, ...]:
        """The theorems that it quotes, and the one by which equations define functions."""
        return (*self.quotes, IMPLICIT_FUNCTION) if self.where else self.quotes

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """The right side."""
        return self.right, lambda new: replace(self, right=new, at={})

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The expansion with its remainder as LaTeX."""
        rest = f"o\\left({written(self.variable)}^{{{self.order}}}\\right)"
        return f"{written(self.left)} = {written(self.right)} + {rest}"

    def exported(self, to: Exporter[Result]) -> Result:
        """An expansion."""
        return to.expansion(self)

    def variables(self) -> list[Variable]:
        """The free variables, without the one that goes to 0 and the vectors that depend on it."""
        eliminated = {self.variable, *(unknown.vector.label for unknown in self.where)}
        names = variables_of(sp.Tuple(self.left, self.right, *self.sides, *self.about))
        names += [v for relation in self.given for v in relation.variables()]
        return [v for v in dict.fromkeys(names) if v not in eliminated]

    def moving_names(self) -> tuple[Variable, ...]:
        """The variable that goes to 0, and the unknown vectors."""
        return self.variable, *(unknown.vector.label for unknown in self.where)

    def trivial(self) -> bool:
        """Whether both quantities are the same expression as written."""
        return sums.alike(self.left, self.right)

    def malformed(self) -> str:
        """Return why there are no coefficients: an invalid variable or order, or a quantity not analytic at 0; else empty."""
        if type(self.variable) is not Variable or not self.variable.domain.is_independent:
            return f"variable: expected a free scalar, got {self.variable}"
        if any(self.variable in hypothesis.variables() for hypothesis in self.given):
            return f"given: expected hypotheses that do not depend on {self.variable}, got {self.given[0]}"
        if not all(type(unknown) is Solves and isinstance(unknown.equation, FunctionType) for unknown in self.where):
            return "where: expected equations that are functions"
        labels = [unknown.vector.label for unknown in self.where]
        if len(set(labels)) < len(labels) or any(not v.domain.is_whole or len(v.domain.shape) != 1 for v in labels):
            return f"where: expected equations of different free vectors, got {', '.join(map(str, labels))}"
        if not isinstance(self.order, int | sp.Integer) or isinstance(self.order, bool) or self.order < 0:
            return f"order: expected an integer ≥ 0, got {self.order}"
        if strange := foreign((self.left, self.right, *self.images)):
            return strange
        if self._derives_solutions():
            return f"where: expected no derivative of what depends on {', '.join(map(str, labels))}, which moves"
        return self._not_analytic() or super().malformed()

    def _derives_solutions(self) -> bool:
        """Return whether a derivative contains a solution, which would be ambiguous: at a fixed solution, or along the path."""
        labels = [unknown.vector.label for unknown in self.where]
        parts = (part for side in (self.left, self.right, *self.images) for part in side.atoms(Partial))
        return any(part.args[0].has(*labels) for part in parts) if labels else False

    def _not_analytic(self) -> str:
        try:
            _ = self.expanded
        except ValueError as error:
            return str(error)
        return ""

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """The functions F of the equations, and all coefficients."""
        return *self.images, *(coefficient for pair in self.expanded for coefficient in pair)

    def _undefined(self) -> str:
        facts = self.facts()
        coefficients = (coefficient for pair in self.expanded for coefficient in pair)
        missing = [condition for coefficient in coefficients for condition in undefined(coefficient, facts)]
        missing += [
            condition
            for part in (self.left, self.right, *self.images)
            for condition in conditions(part)
            if not self._holds_near_0(condition, facts)
        ]
        return f"it is not shown that {missing[0]}" if missing else ""

    def _holds_near_0(self, condition: Condition, facts: Facts) -> bool:
        """Whether a condition holds for all small values of the variable: it holds always, or strictly at 0."""
        moves = condition.expr.has(*self._varying())
        if shown(condition, facts) and (not moves or condition.sense is Sense.NONNEGATIVE):
            return True
        if not moves or condition.sense in (Sense.INDEX, Sense.INTEGER):
            return False
        start = condition.expr.replace(lambda e: isinstance(e, Partial), lambda e: differentiate(*e.args))
        zeros = {e: sp.S.Zero for e in start.atoms(sp.Indexed) if e.base.label in self._varying()}
        start = start.xreplace(zeros).xreplace({self.variable: sp.S.Zero})
        try:
            start = sums.normal(start)
        except ValueError:
            return False
        return nonzero(start, facts) if condition.sense is Sense.NONZERO else strictly_positive(start, facts)

    def _varying(self) -> tuple[sp.Expr, ...]:
        return self.variable, *(unknown.vector.label for unknown in self.where)

    def remainder(self) -> str:
        """The lowest degree at which the coefficients are not proved equal."""
        for degree, (left, right) in enumerate(self.expanded):
            if not sums.equal(left, right):
                return f"the coefficient of {self.variable}^{degree}: {remaining(sums.normal(left - right))}"
        return PROVED

    def contradicted_at(self, point: Point) -> Witness | None:
        """Two different coefficients of one degree."""
        for degree, (left, right) in enumerate(self.expanded):
            if failure := differ(point, left, right, f"the coefficient of {self.variable}^{degree}"):
                return failure
        return None

    def scope(self) -> str:
        """The free variables, and the variable that goes to 0."""
        return f"{super().scope()}, as {self.variable} → 0"

    def __str__(self) -> str:
        return f"{text(self.left)} = {text(self.right)} + o({self.variable}^{self.order})"


@lru_cache(maxsize=1024)
def _coefficients(
    side: sp.Expr, solved: tuple[tuple[sp.IndexedBase, Variable, sp.Expr], ...], variable: Variable, order: int
) -> series.Series:
    """The coefficients of a quantity, in which each vector is the solution of its equation."""
    small: frozenset[sp.Dummy] = frozenset()
    for vector, index, image in solved:
        known = series.solution(image, vector, index, variable, order)
        side, more = series.substituted(side, vector, index, known)
        small |= more
    if side.has(*(vector for vector, *_ in solved)):
        raise ValueError("where: expected equations each of which uses only later ones, got a coupled system")
    return series.coefficients(side, variable, order, small)
