"""An inequality that follows from others."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import compress, product

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point
from derivations.calculus.printing import text
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.sums import total
from derivations.calculus.variables import variables_of
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import PROVED, Relation, Side
from derivations.relations.exporter import Exporter, Result
from derivations.relations.inequality import AtLeast
from derivations.relations.sameness import all_the_same, same
from derivations.relations.universal import ForAll


@dataclass(frozen=True)
class Follows(Relation):
    """`conclusion` is a nonnegative combination of `premises`: its gap is Σ weight · premise gap (+ `slack` ≥ 0).

    A premise for all values of some indices has a weight in which they may occur, and is summed over them.  Only the
    implication is proved; a premise is an earlier step, another claim, or a declared hypothesis.
    """

    premises: tuple[AtLeast | ForAll, ...] = field()
    conclusion: AtLeast
    weights: tuple[sp.Expr, ...]
    slack: sp.Expr = sp.S.Zero

    @property
    def sign(self) -> Sign:
        """The sign of the conclusion."""
        return self.conclusion.sign

    @property
    def stated(self) -> AtLeast:
        """The conclusion."""
        return self.conclusion

    def says_the_same(self, other: "Follows") -> bool:
        """Whether the same conclusion is drawn from the same premises."""
        return same(self.conclusion, other.conclusion) and all_the_same(self.premises, other.premises)

    def rebuilt(self, change: Callable[[Relation], Relation]) -> Relation:
        """The implication between the premises and the conclusion as changed."""
        return replace(self, premises=tuple(map(change, self.premises)), conclusion=change(self.conclusion))  # type: ignore[arg-type]

    def mapped(self, change: Callable[[sp.Expr], sp.Expr]) -> "Follows":
        """The same premises with another conclusion, and other weights and slack."""
        weights, slack = tuple(map(change, self.weights)), change(self.slack)
        return replace(self, conclusion=self.conclusion.mapped(change), weights=weights, slack=slack)

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """A side of the conclusion."""
        expr, rebuilt = self.conclusion.editable(side)
        about = (*self.about, *self.sides)
        return expr, lambda new: replace(self, conclusion=rebuilt(new), about=about, at={})  # type: ignore[arg-type]

    def exported(self, to: Exporter[Result]) -> Result:
        """An implication."""
        return to.implication(self)

    def identities(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """The gap of the conclusion, and the combination of the premises."""
        return ((self.sides[0] - self.sides[1], self.combination),)

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """Both sides of the conclusion."""
        return self.conclusion.sides

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """All sides, the weights and the slack."""
        premised = [side for premise in self.premises for side in premise.sides]
        return *self.sides, *premised, *self.weights, self.slack

    def ill_posed(self) -> str:
        """Why there is nothing to prove: a premise or the conclusion is no inequality."""
        inequalities = [part for part in self.premises if type(part) is not ForAll]
        if wrong := [part for part in (*inequalities, self.conclusion) if type(part) is not AtLeast]:
            return f"premises: expected inequalities, got {type(wrong[0]).__name__}"
        ranging = {v for premise in self.premises for v in premise.ranging}
        if captured := [hypothesis for hypothesis in self.given if ranging.intersection(hypothesis.variables())]:
            named = ", ".join(sorted(v.name for v in ranging))
            return f"given: expected hypotheses without {named}, which a premise ranges over, got {captured[0]}"
        return super().ill_posed()

    def trivial(self) -> bool:
        """Whether the conclusion is trivial or one of the premises."""
        own = self.conclusion.sides[0] - self.conclusion.sides[1]
        repeated = any(sums.alike(own, gap) for premise in self.premises for gap in self._instances(premise))
        return super().trivial() or repeated

    def _instances(self, premise: AtLeast | ForAll) -> Iterator[sp.Expr]:
        """The gap of a premise, at all indices of the conclusion if it holds for all values of some."""
        free = [v for v in variables_of(sp.Tuple(*self.sides)) if v.domain.is_index]
        for chosen in product({*free, *premise.ranging}, repeat=len(premise.ranging)):
            yield (premise.sides[0] - premise.sides[1]).xreplace(dict(zip(premise.ranging, chosen, strict=True)))

    @property
    def combination(self) -> sp.Expr:
        """Σ weight · premise gap + slack, which must equal the gap of the conclusion."""
        return sp.Add(*[weighted(premise, w) for w, premise in zip(self.weights, self.premises, strict=True)], self.slack)

    def remainder(self) -> str:
        """Which half of the proof failed: the signs of weights and slack, or the identity."""
        if conditional := [part for part in (*self.premises, self.conclusion) if part.given]:
            return f"given: expected hypotheses of the whole implication, got some of {conditional[0]} alone"
        if len(self.weights) != len(self.premises) or not self.premises:
            return f"weights: expected one for each of {len(self.premises)} premises, got {len(self.weights)}"
        weights, slack, facts = self.weights, self.slack, self.facts()
        known = set(self.variables())
        own = [set(variables_of(w)) - set(premise.ranging) for w, premise in zip(weights, self.premises, strict=True)]
        if strangers := set().union(variables_of(slack), *own) - known:
            return f"weights: expected variables of the statement, got {', '.join(sorted(v.name for v in strangers))}"
        if unsigned := [part for part in (*weights, slack) if not nonnegative(part, facts)]:
            return f"weights and slack: expected ≥ 0, no sign of {text(unsigned[0])}"
        strict = [premise.sign is Sign.GREATER and not premise.ranging for premise in self.premises]
        if self.conclusion.strict and not any(strictly_positive(part, facts) for part in (*compress(weights, strict), slack)):
            return "no weight of a strict premise and no slack is > 0, which a strict conclusion needs"
        difference = self.sides[0] - self.sides[1]
        if not sums.equal(difference, self.combination):
            rest = sums.normal(difference - self.combination)
            return f"the conclusion is not this combination of the premises: they differ by {text(rest)}"
        return PROVED

    def contradicted_at(self, point: Point) -> Witness | None:
        """The conclusion's failure at a point where the premises hold."""
        return self.conclusion.contradicted_at(point)

    def holds_at(self, point: Point) -> bool:
        """Whether the conclusion is certain at an exact point."""
        return self.conclusion.holds_at(point)

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.premises))} imply {self.conclusion}"


def weighted(premise: AtLeast | ForAll, weight: sp.Expr) -> sp.Expr:
    """The contribution of a weighted premise to the gap of the conclusion."""
    gap = weight * (premise.sides[0] - premise.sides[1])
    return total(premise.ranging, gap) if premise.ranging else gap
