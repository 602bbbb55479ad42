"""A point is the only minimizer, or the only maximizer, of a problem over a simplex."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, enclose
from derivations.calculus.variables import Variable, rival
from derivations.domains import Simplex
from derivations.records.claims import Witness
from derivations.relations.base import Entry
from derivations.relations.exporter import Exporter, Result
from derivations.relations.problem import Problem, once, position
from derivations.relations.rivals import feasible_near
from derivations.relations.unless_equal import divergence


@dataclass(frozen=True)
class UniqueMinimum(Problem):
    """`candidate` is the only minimizer of `objective` over the simplex of the given size.

    With an `alpha` the divergence is that of x^α/(α(α−1)), for candidates with zeros; `slack(q)` ≥ 0 adds what the
    multipliers add.
    """

    objective: Callable[[Entry], sp.Expr]
    candidate: Entry
    over: Variable
    factor: sp.Expr
    alpha: sp.Expr | None = None
    slack: Callable[[Entry], sp.Expr] | None = None

    @property
    def base(self) -> sp.IndexedBase:
        """The rival, a point of the simplex."""
        return rival("q", Simplex, self.over)

    @property
    def axes(self) -> tuple[Variable, ...]:
        """The size of the simplex."""
        return (self.over,)

    @property
    def places(self) -> tuple[Variable, ...]:
        """The index of the entry that is shown."""
        return (position("j", self.over),)

    @property
    def open_objective(self) -> sp.Expr:
        """The objective at the rival."""
        return once(self, "objective", lambda: self._sense * self.objective(lambda i: self.base[i]))

    @property
    def entry(self) -> sp.Expr:
        """The candidate's j-th entry."""
        return once(self, "candidate", lambda: self.candidate(self.places[0]))

    @property
    def spare(self) -> sp.Expr:
        """The slack at the rival."""
        return sp.S.Zero if self.slack is None else once(self, "slack", lambda: self.slack(lambda i: self.base[i]))  # type: ignore[misc]

    @property
    def gap(self) -> sp.Expr:
        """factor · Σ_j D(q_j ‖ candidate_j) + slack(q)."""
        (j,) = self.places
        terms = once(self, "terms", lambda: sums.total(j, divergence(self.base[j], self.entry, self.alpha)))
        return self.factor * terms + self.spare

    def remainder(self) -> str:
        """Which part of the proof failed."""
        return self._remainder(sp.sympify(self.factor), inside=self.alpha is None)

    def contradicted_at(self, point: Point) -> Witness | None:
        """A point where the candidate is certifiably infeasible, or another certifiably better."""
        (j,), size = self.places, point[self.over]
        assert isinstance(size, int)
        entries = [enclose(self.entry, {**point, j: i}) for i in range(1, size + 1)]
        return self._infeasible(point, entries) or self._beaten(point, entries, feasible_near(entries))

    def exported(self, to: Exporter[Result]) -> Result:
        """The only optimum over a simplex."""
        return to.minimizer(self)


@dataclass(frozen=True)
class UniqueMaximum(UniqueMinimum):
    """`candidate` is the only maximizer of `objective`: the only minimizer of −objective."""

    _sense: ClassVar[int] = -1
