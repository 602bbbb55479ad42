"""One-edit mutants of a statement, generated to test how much a proof or a vote can distinguish.

A mutant differs from the statement in one place of its derived side: a sign, a factor or power, an index, a term, an
exponent, a function, a delta, a mean, or ≥ that becomes >.  A vote's share of refuted mutants is its power.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain, groupby, islice, zip_longest

import sympy as sp

from derivations.calculus.balls import Point, Value, enclose_all, explicit
from derivations.calculus.edits import Edit, edits
from derivations.calculus.points import CORNERS
from derivations.calculus.printing import text
from derivations.calculus.signs import nonnegative
from derivations.calculus.sums import alike, appearance, equal, normal
from derivations.calculus.variables import Variable, variables_of
from derivations.records import rendering
from derivations.records.normal_form import Sign
from derivations.relations import Relation
from derivations.relations.base import Side
from derivations.relations.further import descended, failure
from derivations.relations.witnesses import inputs

MOST = 12  # mutants per statement
TIES = 12  # points of small sizes searched for an equality
WEAK = 0.8  # votes with less power are listed
NEAR = 12  # points built from an author's values

INFINITIES = (sp.oo, -sp.oo, sp.zoo)

STRICT = "> for ≥"


@dataclass(frozen=True)
class Mutant:
    """A statement that differs from the original by one edit of one side; `name` describes the edit, `edited` is that side."""

    name: str
    relation: Relation
    edited: sp.Expr
    side: Side = "right"


class Fate(StrEnum):
    """The result of the symbolic layer for a mutant."""

    REFUTED = "refuted"
    EQUIVALENT = "equivalent"  # also proved
    UNDEFINED = "undefined"  # undefined at every sample point
    UNDECIDED = "undecided"


COUNTED = (Fate.REFUTED, Fate.UNDECIDED)  # fates that count for the power


@dataclass(frozen=True)
class Trial:
    """The result for one mutant; `detail` says where it was refuted or how it was proved."""

    name: str
    fate: Fate
    detail: str = ""


def power(trials: Iterable[Trial]) -> float | None:
    """Return the share of refuted mutants among those not equivalent to the statement; None if there are no such mutants."""
    counted = [t for t in trials if t.fate in COUNTED]
    return sum(t.fate is Fate.REFUTED for t in counted) / len(counted) if counted else None


# ── which mutants there are ─────────────────────────────────────────────────────────────────────────────────────────


@cache
def mutants(relation: Relation, side: Side = "right", most: int = MOST) -> tuple[Mutant, ...]:
    """Return mutants of one side of a statement, balanced over kinds of edit; weaker inequalities are left out."""
    relation = relation.core
    parts, stricter = relation.editable(side), relation.stricter()
    if parts is None:
        return ()
    expr, rebuilt = parts
    chosen: list[tuple[str, sp.Expr]] = []
    seen = {appearance(expr)}
    for edit in _spread(edits(expr, relation_variables(relation))):
        if len(chosen) == most - bool(stricter):
            break
        try:
            new = edit.made(expr)
        except (ValueError, TypeError, ZeroDivisionError):  # an edit that SymPy or the calculus cannot write down
            continue
        if new.has(sp.nan, sp.zoo, sp.oo) or (shown := appearance(new)) in seen:
            continue
        if relation.ordered and not _stronger(relation, expr, new, side):
            continue
        seen.add(shown)
        chosen.append((edit.name, new))
    named = tuple(Mutant(name, rebuilt(new), new, side) for name, new in _named(chosen))
    return (*named, Mutant(STRICT, stricter, expr, side)) if stricter else named


def relation_variables(relation: Relation) -> list[Variable]:
    """The variables that an edit may use: those of the two sides, and the indices of a candidate."""
    shown = set(variables_of(sp.Tuple(*relation.sides)))
    return [*(v for v in relation.variables() if v in shown), *relation.places]


def _spread(choices: Sequence[Edit]) -> Iterator[Edit]:
    """Alternate between kinds of edit, and within a kind begin with edits far apart in the expression."""
    sorts: dict[str, list[Edit]] = {}
    for edit in choices:
        sorts.setdefault(edit.sort, []).append(edit)
    for row in zip_longest(*map(_far_apart, sorts.values())):
        yield from filter(None, row)


def _far_apart(choices: list[Edit]) -> list[Edit]:
    """Return the first, the last, the middle one, and so on."""
    order: list[int] = []
    step = max(1, len(choices) - 1)
    while len(order) < len(choices):
        order += [n for n in range(0, len(choices), step) if n not in order]
        step = max(1, step // 2)
    return [choices[n] for n in order]


def _named(choices: Sequence[tuple[str, sp.Expr]]) -> list[tuple[str, sp.Expr]]:
    """Make the names of edits unique."""
    names = [name for name, _ in choices]
    return [
        (f"{name} ({names[: n + 1].count(name)})" if names.count(name) > 1 else name, new)
        for n, (name, new) in enumerate(choices)
    ]


# ── inequalities ────────────────────────────────────────────────────────────────────────────────────────────────────


def _stronger(relation: Relation, old: sp.Expr, new: sp.Expr, side: Side) -> bool:
    """Return whether the edit makes the inequality stronger at some sample point."""
    sign = 1 if side == "right" else -1
    pairs = (enclose_all((new, old), point) for point in sample(relation))
    return any(bool((edited - before) * sign > 0) for edited, before in pairs)


# ── what becomes of them ────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4)  # since much is known at each point
def sample(relation: Relation) -> tuple[Point, ...]:
    """Exact points of the domain where the premises hold, generic ones first and ties and zeros last."""
    anywhere = replace(relation, at={})
    indices = {v for v in relation.variables() if v.domain.is_index}
    rounds = groupby(anywhere.points(), lambda point: [id(value) for v, value in point.items() if v not in indices])
    points = [selected for _, same in rounds if (selected := _some([p for p in same if _given(relation, p)]))]
    return tuple(chain.from_iterable((*points[CORNERS:], *points[:CORNERS])))


def _some(points: list[Point]) -> list[Point]:
    """Return the middle, the first and the last of some points that differ in their indices only."""
    return [points[n] for n in dict.fromkeys((len(points) // 2, 0, len(points) - 1))] if points else []


def _given(relation: Relation, point: Point) -> bool:
    return all(premise.holds_at(point) for premise in relation.premises)


def near(relation: Relation, hints: Sequence[Mapping[Variable, Value]]) -> Iterator[Point]:
    """Points at values that an author gave for the statement or its twins."""
    names = set(relation.variables())
    for hint in hints:
        if hint and set(hint) <= names:
            there = replace(relation, at=hint)
            yield from islice((p for p in there.points() if _given(relation, p)), NEAR)


def tried(relation: Relation, hints: Sequence[Mapping[Variable, Value]] = ()) -> tuple[Trial, ...]:
    """Return the result for each mutant of a statement; `hints` are points at which its twins fail."""
    return tuple(fate(relation, mutant, hints) for mutant in mutants(relation))


@dataclass(frozen=True)
class _Hint:
    """A point as a cache key: compared by value, but left out of the hash, since its values need not be hashable."""

    at: Mapping[Variable, Value] = field(hash=False)


def fate(relation: Relation, mutant: Mutant, hints: Sequence[Mapping[Variable, Value]] = ()) -> Trial:
    """Return whether a mutant is refuted at an exact point or proved; cached, since every layer of a claim needs it."""
    return _fate(relation, mutant, tuple(_Hint(deepcopy(dict(hint))) for hint in hints))


@cache
def _fate(relation: Relation, mutant: Mutant, hints: Sequence[_Hint]) -> Trial:
    relation = relation.core
    other, defined = mutant.relation, False
    starts = _starts(relation, hints)
    try:
        for point in starts:
            if witness := failure(other, point):
                return Trial(mutant.name, Fate.REFUTED, rendering.witness(witness))
            defined = defined or _defined(other, point)
    except ValueError:  # an expansion of what is not analytic
        return Trial(mutant.name, Fate.UNDEFINED)
    if not defined:
        return Trial(mutant.name, Fate.UNDEFINED)
    if reason := _equivalent(relation, mutant):
        return Trial(mutant.name, Fate.EQUIVALENT, reason)
    counterexample = other.refute()
    reason = rendering.witness(counterexample) if counterexample else _searched(other, starts) if other.ordered else ""
    return Trial(mutant.name, Fate.REFUTED, reason) if reason else Trial(mutant.name, Fate.UNDECIDED, str(other))


@lru_cache(maxsize=4)
def _starts(relation: Relation, hints: Sequence[_Hint]) -> tuple[Point, ...]:
    """The points at which a failure of the mutants of a statement is looked for first."""
    return *sample(relation), *near(relation, [hint.at for hint in hints])


def _searched(other: Relation, starts: Sequence[Point]) -> str:
    """Search for a failure of an inequality by descent towards points where it is tight; empty if none is found."""
    if counterexample := descended(other, starts):
        return rendering.witness(counterexample.witness)
    return _tied(other, starts) if other.plain and other.sign is Sign.GREATER else ""


def _tied(other: Relation, starts: Sequence[Point]) -> str:
    """Return an exact point of small sizes at which both sides of a strict inequality are equal; empty if none is found."""

    def extent(point: Point) -> int:
        return sum(int(str(value)) for v, value in point.items() if v.domain.is_size)

    for point in sorted(starts, key=extent)[:TIES]:
        left, right = (explicit(side, point) for side in other.sides)
        if left.is_finite and equal(left, right):
            other.admit(point)
            return f"at {inputs(point)}: both sides are {text(normal(left))}"
    return ""


def _defined(relation: Relation, point: Point) -> bool:
    """Return whether both sides have values at a point; for an optimum, whether the first entry of the candidate has one."""
    finite = (side for side in relation.evaluated if not (side.has(*INFINITIES) and side.is_infinite))
    return all(ball.is_finite() for ball in enclose_all(finite, {**point, **dict.fromkeys(relation.places, 1)}))


def _equivalent(relation: Relation, mutant: Mutant) -> str:
    """Return how a mutant is proved; empty if it is not."""
    parts = relation.editable(mutant.side)
    assert parts is not None
    old, new, other = parts[0], mutant.edited, mutant.relation
    try:
        if mutant.name == STRICT:
            return "provable too" if other.prove() else ""
        if not relation.ordered and equal(old, new):  # an ordered one's sides differ, as it is stronger somewhere
            return "the same in normal form"
        follows = _weaker if mutant.side == "right" else _more
        if relation.ordered and (reason := follows(relation, old, new)):
            return reason
        return "provable too" if not _fails_to_be_proved(relation, other) and other.prove() else ""
    except ValueError:  # outside the scope of the normal form
        return ""


def _fails_to_be_proved(relation: Relation, other: Relation) -> bool:
    """Return whether expressions that a proof needs to be equal certainly differ at a sample point."""
    sides = (enclose_all(pair, point) for pair in other.identities() for point in sample(relation))
    return any(one.is_finite() and two.is_finite() and not one.overlaps(two) for one, two in sides)


def _at_most(relation: Relation, one: sp.Expr, other: sp.Expr) -> bool:
    """Return whether one expression is provably at most another; sample points first refute most cases quickly."""
    values = (enclose_all((one, other), point) for point in sample(relation))
    return not any(bool(a > b) for a, b in values) and nonnegative(normal(other - one), relation.facts())


def _more(relation: Relation, old: sp.Expr, new: sp.Expr) -> str:
    """Return "weaker" if the edited left side is at least the old one, so that the mutant follows; else empty."""
    return "weaker" if _at_most(relation, old, new) else ""


def _weaker(relation: Relation, old: sp.Expr, new: sp.Expr) -> str:
    """Return how a mutant with an edited right side follows from the proved inequality; empty if it does not."""
    facts, left = relation.facts(), relation.sides[0]
    if _at_most(relation, new, old):
        return "weaker"
    if nonnegative(normal(left - new), facts):
        return "provable too"
    shares = [sp.Rational(1, 2), *(1 / v for v in relation.variables() if v.domain.is_size)]
    if nonnegative(left, facts) and any(alike(new, share * old) for share in shares):
        return "weaker: a share of what is at most something ≥ 0"
    fixed = set(variables_of(sp.Tuple(left, *(side for h in (*relation.given, *relation.premises) for side in h.sides))))
    for v in set(variables_of(old)) - fixed:
        if v.domain.is_scale and new in (old.xreplace({v: 2 * v}), old.xreplace({v: v**2})):
            return f"the statement itself for another {v}"
    return ""
