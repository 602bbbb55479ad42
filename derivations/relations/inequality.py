"""An inequality: one expression is ≥ or > another."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, enclose_all
from derivations.calculus.deduction import LONGEST, deduced, factored
from derivations.calculus.parts import oriented
from derivations.calculus.printing import text
from derivations.calculus.screening import Fact
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.variables import Variable, fresh, variables_of
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import HYPOTHESES, PROVED, Hypothesis, Relation, Side
from derivations.relations.exporter import Exporter, Result
from derivations.relations.sameness import one_difference
from derivations.relations.taylor import Taylor
from derivations.relations.witnesses import witness


@dataclass(frozen=True)
class AtLeast(Hypothesis):
    """left ≥ right, or left > right when `strict`.

    `because` is a manifestly nonnegative form of left − right; `taylor` says at which point derivatives decide instead.
    """

    left: sp.Expr
    right: sp.Expr
    because: sp.Expr | None = field(default=None, kw_only=True)
    strict: bool = field(default=False, kw_only=True)
    taylor: Taylor | None = field(default=None, kw_only=True)

    @property
    def sign(self) -> Sign:
        """≥ or >."""
        return Sign.GREATER if self.strict else Sign.AT_LEAST

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """Both sides."""
        return self.left, self.right

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """Both sides and the form of their difference."""
        return self.sides if self.because is None else (*self.sides, self.because)

    @property
    def fact(self) -> Fact:
        """The difference, which is ≥ 0 or > 0."""
        return self.sides[0] - self.sides[1], self.strict, ()

    def remainder(self) -> str:
        """Which half of the proof failed: the sign of the nonnegative form, or that it is the difference."""
        difference = self.sides[0] - self.sides[1]
        if self.taylor is not None:
            return self.taylor.remainder(difference, self.strict, self.facts())
        if self.because is None:
            gap = sums.normal(difference)
        else:
            gap = self.because
            if strangers := set(variables_of(gap)) - set(self.variables()):
                return f"because: expected variables of the statement, got {', '.join(sorted(v.name for v in strangers))}"
            if not sums.equal(difference, gap):
                rest = sums.normal(difference - gap)
                return f"because is not left − right: they differ by {text(rest)} in normal form"
        if self._signed(gap) or (self.because is None and self._deduced(gap, difference)):
            return PROVED
        return f"no sign of {text(gap)}: expected every term {'≥ 0 and one > 0' if self.strict else '≥ 0'}"

    def _deduced(self, gap: sp.Expr, difference: sp.Expr) -> bool:
        """Whether the sign is found in another way than from the normal form as it is, the quick ways first."""
        forms = (form(gap) for form in (oriented, factored, _gathered))
        return (
            self._signed(difference)
            or any(map(self._signed, forms))
            or self._squared()
            or deduced(gap, self.strict, self.facts())
        )

    def _signed(self, gap: sp.Expr) -> bool:
        return strictly_positive(gap, self.facts()) if self.strict else nonnegative(gap, self.facts())

    def _squared(self) -> bool:
        """Whether left ≥ 0 and left² ≥ right², where roots are compared."""
        left, right = self.sides
        roots = any(part.exp == sp.S.Half for part in (left - right).atoms(sp.Pow))
        return roots and nonnegative(left, self.facts()) and deduced(sums.normal(left**2 - right**2), self.strict, self.facts())

    def contradicted_at(self, point: Point) -> Witness | None:
        """Two certified values in the wrong order."""
        left, right = enclose_all(self.sides, point)
        if not (left.is_finite() and right.is_finite()):
            return None
        if left < right or (self.strict and left <= right):
            return witness(point, left, right, "≤" if self.strict else "<")
        return None

    def holds_at(self, point: Point) -> bool:
        """Whether the inequality is certain at an exact point."""
        left, right = enclose_all(self.sides, point)
        return bool(left > right if self.strict else left >= right)

    def says_the_same(self, other: "AtLeast") -> bool:
        """Whether both are strict or neither is, and the sides have the same difference."""
        return self.strict == other.strict and one_difference(self.sides, other.sides)

    def implied(self) -> tuple[Relation, ...]:
        """The inequality; if it is strict, also the one with ≥."""
        return (self, replace(self, strict=False)) if self.strict else (self,)

    def stricter(self) -> "AtLeast | None":
        """The inequality with >, and with the form of the difference where this is > 0; None if it is strict."""
        if self.strict:
            return None
        proves = self.because is not None and strictly_positive(self.because, self.facts())
        return replace(self, strict=True, because=self.because if proves else None, at={})

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """One of the sides; another difference has another form."""
        return self._with_sides(side, because=None)

    def exported(self, to: Exporter[Result]) -> Result:
        """An inequality."""
        return to.inequality(self)


def _gathered(gap: sp.Expr) -> sp.Expr:
    """The sums over one range as a sum of a factored expression: Σ x_i² − 2 Σ x_i y_i + Σ y_i² = Σ (x_i − y_i)²."""
    bodies: dict[tuple[sp.Expr, sp.Expr], list[sp.Expr]] = {}
    indices: dict[tuple[sp.Expr, sp.Expr], Variable] = {}
    rest = []
    for term in sp.Add.make_args(gap):
        factors = sp.Mul.make_args(term)
        inside = [factor for factor in factors if isinstance(factor, sp.Sum)]
        if len(inside) != 1 or len(inside[0].limits) != 1 or sp.count_ops(term) > LONGEST:
            rest.append(term)
            continue
        index, *ends = inside[0].limits[0]
        own = indices.setdefault((ends[0], ends[1]), fresh(index))  # no other factor, nor a sum inside, has this index
        body = inside[0].function.xreplace({index: own})
        others = (factor for factor in factors if factor is not inside[0])  # the same sum inside of another is not replaced
        bodies.setdefault((ends[0], ends[1]), []).append(sp.Mul(*others, body))
    return sp.Add(*rest, *(sp.Sum(factored(sp.Add(*parts)), (indices[ends], *ends)) for ends, parts in bodies.items()))


HYPOTHESES.append(AtLeast)
