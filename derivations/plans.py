"""One more relation: a matrix is the only minimizer over the plans with unit rows and free columns.

The proof is that of `UniqueMinimum`, row by row and added up; the refutation moves all rows of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import sympy as sp
from flint import arb

from derivations.calculus import sums
from derivations.calculus.balls import enclose, points
from derivations.calculus.printing import text
from derivations.calculus.variables import Variable, fresh, index, stochastic, variables_of
from derivations.claims import Witness
from derivations.relations import Relation, _feasible_near, witness

Entries = Callable[[sp.Expr, sp.Expr], sp.Expr]              # (i, j) ↦ the entry of a matrix


@dataclass(frozen=True)
class UniquePlan(Relation):
    """`candidate` is the only minimizer of `objective` over the nonnegative matrices whose rows sum to 1.

    The proof is the identity objective(P) − objective(candidate) = factor · Σ_ij kl(P_ij ‖ candidate_ij) for every such
    P, with factor > 0: each term is ≥ 0, and all vanish only at P = candidate.
    """

    objective: Callable[[Entries], sp.Expr]
    candidate: Entries
    rows: Variable
    columns: Variable
    factor: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The candidate's value, and the candidate."""
        return self.objective(self.candidate), self.candidate(index("i", self.rows), index("j", self.columns))

    def _rival(self) -> sp.IndexedBase:
        rival = stochastic("R", self.rows, self.columns)
        if rival.label in variables_of(sp.Tuple(*self.sides)):
            raise ValueError(f"R: it occurs in {self.sides[0]}, a problem that leaves this name to the rival is accepted")
        return rival

    def prove(self) -> bool:
        """Whether the candidate is feasible and the identity proved."""
        rival, i, j = self._rival(), fresh(index("i", self.rows)), fresh(index("j", self.columns))
        gap = self.factor * sums.total((i, j), sums.kl(rival[i, j], self.candidate(i, j)))
        feasible = sums.equal(sums.total(j, self.candidate(i, j)), 1) and sums.strictly_positive(self.candidate(i, j))
        identity = sums.equal(self.objective(lambda x, y: rival[x, y]) - self.objective(self.candidate), gap)
        return feasible and identity and bool(self.factor.is_positive) and sums.kl_is_a_divergence()

    def refute(self) -> Witness | None:
        """A point where the candidate is certifiably infeasible, or a plan certifiably better."""
        rival, i, j = self._rival(), fresh(index("i", self.rows)), fresh(index("j", self.columns))
        open_objective, own_value = self.objective(lambda x, y: rival[x, y]), self.objective(self.candidate)
        for point in islice(points(variables_of(sp.Tuple(own_value, self.rows, self.columns)), self.at), 12):
            n, m = point[self.rows], point[self.columns]
            assert isinstance(n, int)
            assert isinstance(m, int)
            entries = [[enclose(self.candidate(i, j), {**point, i: x, j: y}) for y in range(1, m + 1)]
                       for x in range(1, n + 1)]
            for row in entries:
                mass = sum(row, arb(0))
                if not mass.overlaps(arb(1)):
                    return witness(point, mass, arb(1), "≠", "the mass of a row of the candidate")
                if any(entry < 0 for entry in row):
                    return witness(point, min(row, key=lambda e: float(e.mid())), arb(0), "<", "an entry of the candidate")
            value = enclose(own_value, point)
            for better in _plans_near(entries):
                challenger = enclose(open_objective, {**point, rival.label: better})
                if challenger < value:
                    return witness({**point, rival.label: better}, value, challenger, ">", "the objective, R is better")
        return None

    def __str__(self) -> str:
        rival, i, j = stochastic("R", self.rows, self.columns), index("i", self.rows), index("j", self.columns)
        return f"{text(self.candidate(i, j))} is the only minimizer of {text(self.objective(lambda x, y: rival[x, y]))}"


def _plans_near(entries: list[list[arb]]) -> Iterator[list[list[Fraction]]]:
    """Exact plans with unit rows: the k-th exact point of the simplex near each row."""
    yield from map(list, zip(*(_feasible_near(row) for row in entries), strict=False))
