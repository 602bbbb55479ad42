"""Statements a machine can decide: each relation can try to prove itself and try to refute itself.

A proof is symbolic and holds for every size.  A refutation is an exact point where certified balls contradict the
relation, returned as a witness.  A relation that can do neither is undecided, which is never a pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations

import sympy as sp
from flint import arb

from derivations.calculus import sums
from derivations.calculus.balls import Point, Value, digits, enclose, points
from derivations.calculus.printing import text
from derivations.calculus.variables import Kind, Variable, index, simplex, variables_of
from derivations.claims import Witness

Entry = Callable[[sp.Expr], sp.Expr]                         # j ↦ the j-th entry of a vector


@dataclass(frozen=True)
class Relation(ABC):
    """A statement with a reason.

    `at` fixes some variables where a refutation is to be looked for; `about` names variables that the statement
    speaks of even where its two sides no longer show them.
    """

    reason: str = field(default="", kw_only=True)
    at: Mapping[Variable, Value] = field(default_factory=dict, kw_only=True, hash=False)
    about: tuple[sp.Expr, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def prove(self) -> bool:
        """Whether the relation is proved for all sizes and values; False means undecided."""

    @abstractmethod
    def refute(self) -> Witness | None:
        """An exact point where the relation certifiably fails, or None."""

    @property
    @abstractmethod
    def sides(self) -> tuple[sp.Expr, ...]:
        """The expressions that the relation compares."""

    @property
    def value(self) -> sp.Expr:
        """The expression that the numeric layers compare with what they computed."""
        return self.sides[-1]

    def variables(self) -> list[Variable]:
        """The free variables of the statement."""
        return variables_of(sp.Tuple(*self.sides, *self.about))

    def points(self) -> Iterator[dict[Variable, Value]]:
        """Exact sample points for all free variables, at the sizes of `at` where given."""
        return points(self.variables(), self.at)

    def general(self) -> bool:
        """Whether a proof is one for every size: sizes are symbolic, or the statement is about scalars."""
        names = {v for side in self.sides for v in side.atoms(Variable)} | set(self.variables())
        about_vectors = any(side.has(sp.Indexed, sp.Sum) for side in self.sides)
        return any(v.domain.kind is Kind.SIZE for v in names) or not about_vectors

    def scope(self) -> str:
        """The free variables and what they range over, in words."""
        names = [v for v in self.variables() if v.domain.kind is not Kind.INDEX]
        sizes = [f"{v} {v.domain.kind.value}" for v in names if v.domain.kind is Kind.SIZE]
        parts = sizes + [_described(v) for v in names if v.domain.kind is not Kind.SIZE]
        return "all " + ", ".join(parts) if parts else "no free variable"


@dataclass(frozen=True)
class Equation(Relation):
    """left = right."""

    left: sp.Expr
    right: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return sp.sympify(self.left), sp.sympify(self.right)

    def prove(self) -> bool:
        return sums.equal(self.left, self.right)

    def refute(self) -> Witness | None:
        for point in self.points():
            left, right = (enclose(side, point) for side in self.sides)
            if left.is_finite() and right.is_finite() and not left.overlaps(right):
                return witness(point, left, right, "≠")
        return None

    def __str__(self) -> str:
        return f"{text(self.sides[0])} = {text(self.sides[1])}"


@dataclass(frozen=True)
class AtLeast(Relation):
    """left ≥ right, or left > right when `strict`; `because` is a manifestly nonnegative form of left − right."""

    left: sp.Expr
    right: sp.Expr
    because: sp.Expr | None = field(default=None, kw_only=True)
    strict: bool = field(default=False, kw_only=True)

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return sp.sympify(self.left), sp.sympify(self.right)

    def prove(self) -> bool:
        gap = self.because if self.because is not None else sums.normal(self.left - self.right)
        if gap.has(sums.kl) and not sums.kl_is_a_divergence():
            return False
        signed = sums.strictly_positive(gap) if self.strict else sums.nonnegative(gap)
        return signed and sums.equal(self.left - self.right, gap)

    def refute(self) -> Witness | None:
        for point in self.points():
            left, right = (enclose(side, point) for side in self.sides)
            if left < right or (self.strict and left <= right):
                return witness(point, left, right, "≤" if self.strict else "<")
        return None

    def __str__(self) -> str:
        return f"{text(self.sides[0])} {'>' if self.strict else '≥'} {text(self.sides[1])}"


@dataclass(frozen=True)
class Limit(Relation):
    """lim of `expr` as `variable` → `to` (from above at 0) equals `limit`."""

    expr: sp.Expr
    variable: Variable
    to: sp.Expr
    limit: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.expr, sp.sympify(self.limit)

    def computed(self) -> sp.Expr:
        """The limit that calculus gives, an expression in the other variables."""
        plain = sp.Symbol(f"{self.variable.name}_", positive=True)
        return sp.limit(sums.normal(self.expr).xreplace({self.variable: plain}), plain, self.to, "+" if self.to == 0 else "-")

    def prove(self) -> bool:
        found = self.computed()
        return bool(found == self.limit) or (bool(found.is_finite) and sums.equal(found, self.limit))

    def refute(self) -> Witness | None:
        found = self.computed()
        if found.has(sp.Limit) or found == self.limit:
            return None
        if not found.is_finite or not self.sides[1].is_finite:
            return Witness("", str(found), str(self.limit), f"the limit is {found}, not {self.limit}")
        return Equation(found, self.limit, at=self.at).refute()

    def __str__(self) -> str:
        return f"lim_{{{self.variable} → {self.to}}} {text(self.expr)} = {text(self.sides[1])}"


@dataclass(frozen=True)
class Follows(Relation):
    """`conclusion` is a nonnegative combination of `premises`: its gap is Σ weight · premise gap (+ `slack` ≥ 0)."""

    premises: tuple[AtLeast, ...]
    conclusion: AtLeast
    weights: tuple[sp.Expr, ...]
    slack: sp.Expr = sp.S.Zero

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.conclusion.sides

    def variables(self) -> list[Variable]:
        return variables_of(sp.Tuple(*self.sides, *(side for p in self.premises for side in p.sides)))

    def prove(self) -> bool:
        combined = sum((w * (p.left - p.right) for w, p in zip(self.weights, self.premises, strict=True)), self.slack)
        signed = all(sums.nonnegative(sp.sympify(w)) for w in self.weights) and sums.nonnegative(self.slack)
        return signed and sums.equal(self.conclusion.left - self.conclusion.right, combined)

    def refute(self) -> Witness | None:
        for point in self.points():
            if all(enclose(p.left, point) >= enclose(p.right, point) for p in self.premises):
                left, right = (enclose(side, point) for side in self.sides)
                if left < right:
                    return witness(point, left, right, "<")
        return None

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.premises))} imply {self.conclusion}"


@dataclass(frozen=True)
class UniqueMinimum(Relation):
    """`candidate` is the only minimizer of `objective` over the simplex of the given size.

    The proof is the identity objective(q) − objective(candidate) = factor · Σ_j kl(q_j ‖ candidate_j) for every q in
    the closed simplex, with factor > 0: each term is ≥ 0, and all vanish only at q = candidate.
    """

    objective: Callable[[Entry], sp.Expr]
    candidate: Entry
    over: Variable
    factor: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.objective(self.candidate), self.candidate(index("j", self.over))

    def prove(self) -> bool:
        q, j = simplex("q", self.over), index("j", self.over)
        gap = self.factor * sums.total(j, sums.kl(q[j], self.candidate(j)))
        feasible = sums.equal(sums.total(j, self.candidate(j)), 1) and sums.strictly_positive(self.candidate(j))
        identity = sums.equal(self.objective(lambda i: q[i]) - self.objective(self.candidate), gap)
        return feasible and identity and bool(self.factor.is_positive) and sums.kl_is_a_divergence()

    def refute(self) -> Witness | None:
        j = index("j", self.over)
        q = simplex("q", self.over)
        open_objective, own_value = self.objective(lambda i: q[i]), self.objective(self.candidate)
        for point in points(variables_of(sp.Tuple(own_value, self.over)), self.at):
            size = point[self.over]
            assert isinstance(size, int)
            entries = [enclose(self.candidate(j), {**point, j: i}) for i in range(1, size + 1)]
            mass = sum(entries, arb(0))
            if not mass.overlaps(arb(1)):
                return witness(point, mass, arb(1), "≠", "the candidate's total mass")
            value = enclose(own_value, point)
            for better in _feasible_near(entries):
                challenger = enclose(open_objective, {**point, q.label: better})
                if challenger < value:
                    return witness({**point, q.label: better}, value, challenger, ">", "the objective, q is better")
        return None

    def __str__(self) -> str:
        q, j = simplex("q", self.over), index("j", self.over)
        return f"{text(self.candidate(j))} is the only minimizer of {text(self.objective(lambda i: q[i]))}"


@dataclass(frozen=True)
class Fails(Relation):
    """A disproof: `relation` certifiably fails at the point `relation.at`."""

    relation: Relation

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.relation.sides

    def prove(self) -> bool:
        return self.relation.refute() is not None

    def refute(self) -> Witness | None:
        return None

    def __str__(self) -> str:
        return f"not always: {self.relation}"


def witness(point: Point, left: arb, right: arb, sign: str, what: str = "") -> Witness:
    """The record of a failure at an exact point."""
    inputs = ", ".join(f"{v.name} = {_shown(value)}" for v, value in point.items())
    a, b = digits(left), digits(right)
    about = f"{what}: " if what else ""
    return Witness(inputs, a, b, f"{about}at {inputs}: {a} {sign} {b}")


def _shown(value: Value) -> str:
    return "(" + ", ".join(_shown(v) for v in value) + ")" if isinstance(value, Sequence) else str(value)


def _described(var: Variable) -> str:
    shape = "×".join(map(str, var.domain.shape))
    return f"{var.name} {var.domain.kind.value}" + (f" (length {shape})" if shape else "")


def _feasible_near(entries: list[arb]) -> Iterator[list[Fraction]]:
    """Exact points of the simplex: near the candidate, moved between each pair of coordinates, then the corners."""
    rounded = [max(Fraction(0), Fraction(float(e.mid())).limit_denominator(10**6)) for e in entries]
    if sum(rounded) > 0:
        start = [r / sum(rounded) for r in rounded]
        for share in (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)):
            for giver, taker in permutations(range(len(entries)), 2):
                moved = list(start)
                moved[giver] -= share * start[giver]
                moved[taker] += share * start[giver]
                yield moved
    for corner in range(len(entries)):
        yield [Fraction(int(i == corner)) for i in range(len(entries))]
    yield [Fraction(1, len(entries))] * len(entries)
