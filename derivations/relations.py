"""Statements a machine can decide: each relation can try to prove itself and try to refute itself.

A proof is symbolic and holds for every size.  A refutation is an exact point where certified balls contradict the
relation, returned as a witness.  A relation that can do neither is undecided, which is never a pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, permutations

import sympy as sp
from flint import arb

from derivations.calculus import sums
from derivations.calculus.balls import Point, Value, digits, enclose, explicit, points
from derivations.calculus.powers import bregman
from derivations.calculus.printing import text
from derivations.calculus.variables import Kind, Variable, fresh, index, simplex, variables_of
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
        if not sums.lemmas_hold(gap):
            return False
        signed = sums.strictly_positive(gap) if self.strict else sums.nonnegative(gap)
        return signed and sums.equal(self.left - self.right, gap)

    def refute(self) -> Witness | None:
        return next(filter(None, map(self.fails_at, self.points())), None)

    def fails_at(self, point: Point) -> Witness | None:
        """The certified failure at an exact point, if there is one."""
        left, right = (enclose(side, point) for side in self.sides)
        if left < right or (self.strict and left <= right):
            return witness(point, left, right, "≤" if self.strict else "<")
        return None

    def holds_at(self, point: Point) -> bool:
        """Whether the inequality is certain at an exact point."""
        left, right = (enclose(side, point) for side in self.sides)
        return bool(left > right if self.strict else left >= right)

    def __str__(self) -> str:
        return f"{text(self.sides[0])} {'>' if self.strict else '≥'} {text(self.sides[1])}"


@dataclass(frozen=True)
class StrictUnlessEqual(Relation):
    """left ≥ right, with equality only where the two points `x` and `y` agree.

    The proof writes left − right as Σ weight · kl(point ‖ z), weights > 0: it vanishes only if every point equals z.
    With an `alpha` the divergence is that of x^α/(α(α−1)).
    """

    left: sp.Expr
    right: sp.Expr
    x: sp.Expr
    y: sp.Expr
    z: sp.Expr
    weights: tuple[sp.Expr, sp.Expr]
    alpha: sp.Expr | None = None

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.left, self.right

    def prove(self) -> bool:
        gap = sum(w * divergence(end, self.z, self.alpha) for w, end in zip(self.weights, (self.x, self.y), strict=True))
        signed = all(sums.strictly_positive(weight) for weight in self.weights) and sums.nonnegative(gap)
        return signed and sums.equal(self.left - self.right, gap) and sums.lemmas_hold(gap)

    def refute(self) -> Witness | None:
        for point in self.points():
            left, right = (enclose(side, point) for side in self.sides)
            x, y = enclose(self.x, point), enclose(self.y, point)
            if left < right or (left <= right and not x.overlaps(y)):
                return witness(point, left, right, "≤")
        return None

    def __str__(self) -> str:
        return f"{text(self.left)} > {text(self.right)} unless {text(self.x)} = {text(self.y)}"


@dataclass(frozen=True)
class Limit(Relation):
    """lim of `expr` as `variable` → `to` (from above at 0, from below elsewhere) equals `limit`.

    Calculus with symbols gives the limit for parameters in general position only (z t/(z t + 1) → 1 is false at
    z = 0), so a proof must also survive the exact points, where ties and zeros come first.
    """

    expr: sp.Expr
    variable: Variable
    to: sp.Expr
    limit: sp.Expr

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.expr, sp.sympify(self.limit)

    def computed(self, point: Point | None = None) -> sp.Expr | None:
        """The limit that calculus gives, in general or at a point of the other variables; None where it gives none."""
        plain = sp.Symbol(f"{self.variable.name}_", positive=True)
        path = sums.normal(self.expr) if point is None else explicit(sums.normal(self.expr), point)
        path = path.xreplace({self.variable: plain}).replace(sums.xlogx, lambda x: x * sp.log(x))
        try:
            found = sp.limit(path, plain, self.to, "+" if self.to == 0 else "-")
        except NotImplementedError:
            return None
        return None if found.has(sp.Limit, sp.AccumBounds, sp.nan, sp.zoo) else found

    def prove(self) -> bool:
        found, claimed = self.computed(), self.sides[1]
        if found is None or not (found == claimed or (found.is_finite and sums.equal(found, claimed))):
            return False
        return self.refute() is None

    def points(self) -> Iterator[dict[Variable, Value]]:
        """The first exact points for all variables but the one that moves."""
        return islice(points([v for v in self.variables() if v != self.variable], self.at), 12)

    def refute(self) -> Witness | None:
        for point in self.points():
            found, claimed = self.computed(point), explicit(self.sides[1], point)
            if found is None or not (found.is_number and claimed.is_number):
                continue
            if found.is_infinite or claimed.is_infinite:
                if found != claimed:
                    return _record(point, str(found), str(claimed), "≠", "the limit: ")
                continue
            left, right = enclose(found, {}), enclose(claimed, {})
            if left.is_finite() and right.is_finite() and not left.overlaps(right):
                return witness(point, left, right, "≠")
        return None

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
        spare = [w for w, p in zip(self.weights, self.premises, strict=True) if p.strict] + [self.slack]
        sharp = not self.conclusion.strict or any(sums.strictly_positive(sp.sympify(w)) for w in spare)
        return signed and sharp and sums.equal(self.conclusion.left - self.conclusion.right, combined)

    def refute(self) -> Witness | None:
        within = (point for point in self.points() if all(p.holds_at(point) for p in self.premises))
        return next(filter(None, map(self.conclusion.fails_at, within)), None)

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.premises))} imply {self.conclusion}"


@dataclass(frozen=True)
class UniqueMinimum(Relation):
    """`candidate` is the only minimizer of `objective` over the simplex of the given size.

    The proof is the identity objective(q) − objective(candidate) = factor · Σ_j kl(q_j ‖ candidate_j) for every q in
    the closed simplex, with factor > 0: each term is ≥ 0, and all vanish only at q = candidate.  With an `alpha` the
    divergence is that of x^α/(α(α−1)), for candidates with zeros; `slack(q)` ≥ 0 adds what the multipliers add.
    """

    objective: Callable[[Entry], sp.Expr]
    candidate: Entry
    over: Variable
    factor: sp.Expr
    alpha: sp.Expr | None = None
    slack: Callable[[Entry], sp.Expr] | None = None

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return self.objective(self.candidate), self.candidate(index("j", self.over))

    def prove(self) -> bool:
        q, j = self._rival(), fresh(index("j", self.over))
        spare = sp.S.Zero if self.slack is None else self.slack(lambda i: q[i])
        gap = self.factor * sums.total(j, divergence(q[j], self.candidate(j), self.alpha)) + spare
        inside = sums.strictly_positive if self.alpha is None else sums.nonnegative
        signed = bool(self.factor.is_positive) and sums.nonnegative(spare) and sums.lemmas_hold(gap)
        own = self.candidate(j)
        feasible = sums.equal(sums.total(j, own), 1) and (inside(own) or inside(sums.normal(own)))
        return signed and feasible and sums.equal(self.objective(lambda i: q[i]) - self.objective(self.candidate), gap)

    def _rival(self) -> sp.IndexedBase:
        q = simplex("q", self.over)
        if q.label in variables_of(sp.Tuple(*self.sides)):
            raise ValueError(f"q: it occurs in {self.sides[0]}, a problem that leaves this name to the rival is accepted")
        return q

    def refute(self) -> Witness | None:
        q, j = self._rival(), fresh(index("j", self.over))
        open_objective, own_value = self.objective(lambda i: q[i]), self.objective(self.candidate)
        names = variables_of(sp.Tuple(own_value, open_objective, self.candidate(j), self.over))
        for point in points([v for v in names if v not in (q.label, j)], self.at):
            size = point[self.over]
            assert isinstance(size, int)
            entries = [enclose(self.candidate(j), {**point, j: i}) for i in range(1, size + 1)]
            mass = sum(entries, arb(0))
            if not mass.overlaps(arb(1)):
                return witness(point, mass, arb(1), "≠", "the candidate's total mass")
            for entry in entries:
                if entry < 0:
                    return witness(point, entry, arb(0), "<", "an entry of the candidate")
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


def divergence(y: sp.Expr, x: sp.Expr, alpha: sp.Expr | None = None) -> sp.Expr:
    """kl(y ‖ x), or with an α > 1 the divergence of x^α/(α(α−1)).

    Raises ValueError for an α that is not known to exceed 1.
    """
    if alpha is None:
        return sums.kl(y, x)
    if not (alpha - 1).is_positive:
        raise ValueError(f"alpha: {alpha} was given, an exponent > 1 is accepted")
    return bregman(y, x, alpha)


def witness(point: Point, left: arb, right: arb, sign: str, what: str = "") -> Witness:
    """The record of a failure at an exact point."""
    return _record(point, digits(left), digits(right), sign, f"{what}: " if what else "")


def _record(point: Point, left: str, right: str, sign: str, about: str) -> Witness:
    inputs = ", ".join(f"{v.name} = {_shown(value)}" for v, value in point.items())
    place = f"at {inputs}: " if inputs else ""
    return Witness(inputs, left, right, f"{about}{place}{left} {sign} {right}")


def _shown(value: Value) -> str:
    return "(" + ", ".join(_shown(v) for v in value) + ")" if isinstance(value, Sequence) else str(value)


def _described(var: Variable) -> str:
    shape = "×".join(map(str, var.domain.shape))
    return f"{var.name} {var.domain.kind.value}" + (f" (length {shape})" if shape else "")


def _feasible_near(entries: list[arb]) -> Iterator[list[Fraction]]:
    """Exact points of the simplex: corners, the middle, then the candidate moved between each pair of coordinates."""
    for corner in range(len(entries)):
        yield [Fraction(int(i == corner)) for i in range(len(entries))]
    yield [Fraction(1, len(entries))] * len(entries)
    for resolution in (8, 64, 10**6):                        # simple numbers first
        counts = [max(0, round(float(e.mid()) * resolution)) for e in entries]
        start = [Fraction(count, max(1, sum(counts))) for count in counts]
        for share in (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)):
            for giver, taker in permutations(range(len(entries)), 2):
                moved = list(start)
                moved[giver] -= share * start[giver]
                moved[taker] += share * start[giver]
                if sum(moved) == 1:
                    yield moved
