"""A plan is the only minimizer of a problem over plans with unit rows."""

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, enclose
from derivations.calculus.printing import text
from derivations.calculus.variables import Variable, rival
from derivations.domains import Stochastic
from derivations.records.claims import Witness
from derivations.relations.base import Entry
from derivations.relations.exporter import Exporter, Result
from derivations.relations.problem import Problem, flat, once, position
from derivations.relations.rivals import plans_near
from derivations.relations.unless_equal import divergence

Entries = Callable[[sp.Expr, sp.Expr], sp.Expr]  # (i, j) ↦ the entry of a matrix


@dataclass(frozen=True)
class UniquePlan(Problem):
    """`candidate` is the only minimizer of `objective` over the nonnegative matrices whose rows sum to 1.

    The factor may be one for each row, as where every row has a temperature of its own.
    """

    objective: Callable[[Entries], sp.Expr]
    candidate: Entries
    rows: Variable
    columns: Variable
    factor: sp.Expr | Entry

    @property
    def base(self) -> sp.IndexedBase:
        """The rival, a plan with unit rows."""
        return rival("R", Stochastic, self.rows, self.columns)

    @property
    def axes(self) -> tuple[Variable, ...]:
        """Rows and columns."""
        return self.rows, self.columns

    @property
    def places(self) -> tuple[Variable, ...]:
        """The indices of the entry that is shown."""
        return position("i", self.rows), position("j", self.columns)

    @property
    def open_objective(self) -> sp.Expr:
        """The objective at the rival."""
        return once(self, "objective", lambda: self.objective(lambda x, y: self.base[x, y]))

    @property
    def entry(self) -> sp.Expr:
        """The candidate's entry (i, j)."""
        return once(self, "candidate", lambda: self.candidate(*self.places))

    @property
    def spare(self) -> sp.Expr:
        """Nothing is added to the divergence."""
        return sp.S.Zero

    @property
    def weight(self) -> sp.Expr:
        """The factor of the row that is shown."""
        factor, row = self.factor, self.places[0]
        return once(self, "factor", lambda: factor(row) if callable(factor) else factor)

    @property
    def gap(self) -> sp.Expr:
        """Σ_i factor_i · Σ_j kl(R_ij ‖ candidate_ij)."""
        return once(
            self, "terms", lambda: sums.total(self.places, self.weight * divergence(self.base[self.places], self.entry))
        )

    def remainder(self) -> str:
        """Which part of the proof failed: the factor of a row must not depend on the column or on the rival."""
        if self.weight.free_symbols & {self.places[1], self.base.label}:
            return f"factor: expected one for each row, got {text(self.weight)}"
        return self._remainder(self.weight, inside=True)

    def contradicted_at(self, point: Point) -> Witness | None:
        """A point where the candidate is certifiably infeasible, or a plan certifiably better."""
        (i, j), n, m = self.places, point[self.rows], point[self.columns]
        assert isinstance(n, int)
        assert isinstance(m, int)
        entries = [[enclose(self.entry, {**point, i: x, j: y}) for y in range(1, m + 1)] for x in range(1, n + 1)]
        wrong = next(filter(None, (self._infeasible(point, row) for row in entries)), None)
        return wrong or self._beaten(point, flat(entries), plans_near(entries))

    def exported(self, to: Exporter[Result]) -> Result:
        """The only optimal plan."""
        return to.plan(self)
