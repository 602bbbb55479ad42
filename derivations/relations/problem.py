"""A point is the only minimizer of a problem over a simplex, or row by row over plans with unit rows.

The objective is evaluated once, at a rival point with a reserved name, and the candidate is substituted into the resulting
expression, so that a function that inspects its argument gains nothing.  The proof is the identity

    objective(rival) − objective(candidate) = factor · Σ kl(rival ‖ candidate) (+ slack ≥ 0),  factor > 0,

for every rival in the closed simplex: each term is ≥ 0, and all vanish only where the rival is the candidate.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import sympy as sp
from flint import arb, fmpq

from derivations.calculus import admission, sums
from derivations.calculus.balls import Point, Value, enclose
from derivations.calculus.functions import Partial
from derivations.calculus.printing import text
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.variables import Variable, apart, fresh, variables_of
from derivations.domains import Index
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import PROVED, Relation, Side, first, foreign
from derivations.relations.equation import Equation
from derivations.relations.inequality import AtLeast
from derivations.relations.witnesses import witness

LARGEST = 4  # entries of a candidate whose rivals are tried


@dataclass(frozen=True)
class Problem(Relation):
    """The common part of both problems: `axes` are the ranges of the entries, and along the last axis entries sum to 1."""

    sign: ClassVar[Sign] = Sign.MINIMIZER
    _sense: ClassVar[int] = 1  # −1 where the objective is maximized

    @property
    @abstractmethod
    def axes(self) -> tuple[Variable, ...]:
        """The sizes of the candidate."""

    @property
    @abstractmethod
    def places(self) -> tuple[Variable, ...]:
        """An index for each axis, at which the candidate is shown."""

    @property
    @abstractmethod
    def open_objective(self) -> sp.Expr:
        """The objective at the rival."""

    @property
    @abstractmethod
    def entry(self) -> sp.Expr:
        """The candidate's entry at `places`."""

    @property
    @abstractmethod
    def gap(self) -> sp.Expr:
        """The claimed form of objective(rival) − objective(candidate)."""

    @property
    @abstractmethod
    def spare(self) -> sp.Expr:
        """The part of the gap that is not a divergence; it must be ≥ 0."""

    @property
    @abstractmethod
    def base(self) -> sp.IndexedBase:
        """The rival."""

    def candidate_at(self, indices: Sequence[sp.Expr]) -> sp.Expr:
        """The candidate's entry at other indices, which its sums do not capture."""
        entry = self.entry
        inner = {v: fresh(v) for part in entry.atoms(sp.Sum) for v in part.bound_symbols if v not in entry.free_symbols}
        return entry.xreplace(inner | dict(zip(self.places, indices, strict=True)))

    @property
    def own_value(self) -> sp.Expr:
        """The objective at the candidate."""

        def write() -> sp.Expr:
            entries = self.open_objective.atoms(sp.Indexed)
            own = {e: self.candidate_at(e.indices) for e in entries if e.base.label == self.base.label}
            return self.open_objective.xreplace(own)

        return once(self, "own value", write)

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The candidate's value, and its entry."""
        return self.own_value, self.entry

    @property
    def shown(self) -> tuple[sp.Expr, ...]:
        """The objective at the rival, and the candidate's entry."""
        return self.open_objective, self.entry

    @property
    def compared(self) -> tuple[sp.Expr, sp.Expr]:
        """The objective at a rival, and the candidate's entry, with readable names."""
        names = {v: Variable(v.name.split("#")[0], v.domain) for v in (self.base.label, *self.places)}
        rival = sp.IndexedBase(names[self.base.label], shape=self.base.shape)
        objective = self.open_objective.xreplace({self.base: rival, self.base.label: rival.label})
        return objective, self.candidate_at([names[place] for place in self.places])

    @property
    def evaluated(self) -> tuple[sp.Expr, ...]:
        """The candidate's entry."""
        return (self.entry,)

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """The sizes, the objective and the candidate."""
        return *self.axes, *self.shown

    @property
    def problem(self) -> "Problem":
        """Itself."""
        return self

    def mapped(self, change: Callable[[sp.Expr], sp.Expr]) -> Self:
        """The same candidate for another objective."""
        return replace(super().mapped(change), objective=lambda point: change(self.objective(point)))  # type: ignore[call-arg, attr-defined]

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """The candidate's entry."""

        def rebuilt(new: sp.Expr) -> Relation:
            return replace(self, candidate=lambda *at: new.xreplace(dict(zip(self.places, at, strict=True))), at={})  # type: ignore[call-arg]

        return self.entry, rebuilt

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The candidate as the argument of the minimum, as LaTeX."""
        objective = written(self.open_objective)
        return f"{written(self.entry)} = \\arg\\min_{{{_letter(self.base)}}} \\left\\{{{objective}\\right\\}}"

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """The objective at the rival and at the candidate, the candidate, and the gap."""
        return self.open_objective, *self.sides, self.gap

    def variables(self) -> list[Variable]:
        """The free variables of problem and candidate, without the indices of the entry and the rival."""
        # the objective at the candidate has the variables of both, and takes long to write
        names = variables_of(sp.Tuple(self.entry, self.open_objective, *self.axes, *self.about))
        names += [v for relation in self.given for v in relation.variables()]
        return [v for v in dict.fromkeys(names) if v != self.base.label and v not in self.places]

    def points(self) -> Iterator[dict[Variable, Value]]:
        """Exact sample points; larger candidates than of four entries have too many rivals."""
        return (point for point in super().points() if all(axis not in point or point[axis] <= LARGEST for axis in self.axes))  # type: ignore[operator]

    def malformed(self) -> str:
        """Return why there is no candidate or no value of the objective at it; empty otherwise."""
        if self.entry.has(self.base.label):
            return f"candidate: expected a point that does not depend on its rival, got {text(self.entry)}"
        if self._derives_rival():
            return "objective: expected no derivative of what depends on the rival, which is no function of anything"
        return foreign((self.open_objective, self.entry)) or super().malformed()

    def _derives_rival(self) -> bool:
        """Whether a derivative by the rival would also act on a candidate substituted for it."""
        return any(part.args[0].has(self.base.label) for part in self.open_objective.atoms(Partial))

    def trivial(self) -> bool:
        """Whether the objective does not depend on the rival."""
        return self.base.label not in self.open_objective.free_symbols

    def general(self) -> bool:
        """Whether the sizes of the candidate are symbols."""
        return super().general() and all(len(axis.free_symbols) > 0 for axis in self.axes)

    def _finite_at(self, point: Point) -> bool:
        return bool(enclose(self.own_value, point).is_finite())

    def _remainder(self, factor: sp.Expr, inside: bool) -> str:
        facts, own, last = self.facts(), self.entry, self.places[-1]
        known = {*self.variables(), self.base.label, *self.places}
        if strangers := set(variables_of(self.gap)) - known:
            return f"factor, slack: expected variables of the problem, got {', '.join(sorted(v.name for v in strangers))}"
        sign = strictly_positive if inside else nonnegative
        objective = self.open_objective - self.own_value
        return first(
            (
                PROVED if strictly_positive(factor, facts) else f"factor: expected > 0, no sign of {text(factor)}",
                PROVED if nonnegative(self.spare, facts) else f"slack: expected ≥ 0, no sign of {text(self.spare)}",
                PROVED if sums.equal(sums.total(last, own), 1) else "it is not shown that the candidate has total mass 1",
                PROVED if sign(own, facts) or sign(sums.normal(own), facts) else f"no sign of the candidate {text(own)}",
                PROVED
                if sums.equal(objective, self.gap)
                else f"objective(rival) − objective(candidate) is not the divergence: they differ by "
                f"{text(sums.normal(objective - self.gap))}",
            )
        )

    def consequences(self) -> tuple[Relation, ...]:
        """Return the identity with the divergence, the mass of the candidate and the sign of the slack."""
        objective, given = self.open_objective - self.own_value, self.given
        return (
            Equation(objective, self.gap, given=given),
            Equation(sums.total(self.places[-1], self.entry), 1, given=given),
            AtLeast(self.entry, 0, given=given),
            AtLeast(self.spare, 0, given=given),
        )

    def _infeasible(self, point: Point, entries: Sequence[arb]) -> Witness | None:
        mass = sum(entries, arb(0))
        if mass.is_finite() and not mass.overlaps(arb(1)):
            whose = "the candidate's total mass" if len(self.axes) == 1 else "the mass of a row of the candidate"
            return witness(point, mass, arb(1), "≠", whose)
        for entry in entries:
            if entry < 0:
                return witness(point, entry, arb(0), "<", "an entry of the candidate")
        return None

    def _beaten(self, point: Point, entries: Sequence[arb], rivals: Iterator[Sequence[Value]]) -> Witness | None:
        """Return a witness with a point that is certifiably better than the candidate, or another one that is as good."""
        value, label, objective = enclose(self.own_value, point), self.base.label, self.open_objective
        for other in rivals:
            at = {**point, label: other}
            challenger = enclose(objective, at)
            if not (value.is_finite() and challenger.is_finite()):
                continue
            tied = challenger == value and not all(map(arb.overlaps, entries, map(_ball, flat(other))))
            if challenger < value or tied:
                admission.admit(at, [*self.variables(), label])
                sign, word = ("=", "as good") if tied else (">" if self._sense > 0 else "<", "better")
                shown = self._sense * value, self._sense * challenger
                return witness(at, *shown, sign, f"the objective, {_letter(self.base)} is {word}")
        return None

    def __str__(self) -> str:
        used, shown = {v.name for v in self.variables()}, {}
        for own in (self.base.label, *self.places):
            letter = own.name.split("#")[0]
            while letter in used:  # an author's variable has this letter
                letter += "′"
            shown[own] = Variable(f"{letter}#shown", own.domain)
        entry, objective = (text(part.xreplace(shown)) for part in (self.entry, self._sense * self.open_objective))
        return f"{entry} is the only {'minimizer' if self._sense > 0 else 'maximizer'} of {objective}"


def position(name: str, size: Variable) -> Variable:
    """An index at which the candidate is shown, under a name that no author can give."""
    return Variable(f"{name}#entry", Index((size,)))


def flat(entries: Sequence[Any]) -> list[Any]:
    """The numbers of a vector, or of the rows of a matrix."""
    return [part for entry in entries for part in (entry if isinstance(entry, list) else [entry])]


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def _letter(base: sp.IndexedBase) -> str:
    return str(base.label.name).split("#")[0]


def once(relation: Problem, part: str, write: Callable[[], sp.Expr]) -> sp.Expr:
    """Call the author's function once and return that result from then on, so that it cannot change."""
    written = relation.__dict__.setdefault("_written", {})
    if part not in written:
        written[part] = apart(sp.sympify(write()))
    return written[part]
