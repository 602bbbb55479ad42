"""Match a link of a print with a step of a derivation: the same sides, the same gap, or the same optimum.

An equation that holds everywhere has to agree side by side, since all its rearrangements are true.  An equation for unknowns
(τ log p_j = s_j + λ) also agrees if left − right is a side of a step, as in the equivalence of two such equations.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, enclose_all
from derivations.calculus.division import product
from derivations.calculus.variables import Variable, variables_of
from derivations.domains import Index
from derivations.prints.expansions import on_ray, same_expansion
from derivations.prints.expressions import Naming, Values, in_normal_form, named, namings
from derivations.reader.meaning.assertions import Assertion, Link, Minimizer, Optimum, Shown
from derivations.reader.meaning.remainders import Expanded
from derivations.records.normal_form import Sign
from derivations.relations import Relation
from derivations.relations.base import ORDERS, POINTWISE
from derivations.relations.problem import Problem

COMPARED = ORDERS | {Sign.EQUAL}
FACTORS = 5  # of a product that is taken apart


@dataclass(frozen=True)
class Match:
    """How a link agrees with a step, and the pairs of expressions that are equal."""

    way: str
    pairs: tuple[tuple[sp.Expr, sp.Expr], ...]

    @property
    def normal(self) -> bool:
        """Whether all pairs agree in normal form, not only at exact points."""
        return all(in_normal_form(*pair) for pair in self.pairs)


SIDES, LOG_SIDES, RATIO, GAP, SQUARES, RESIDUAL, LOGS, VALUE, BODY, TERMS = (
    "both sides",
    "the logarithms of both sides",
    "the ratio of the sides",
    "the difference of the sides",
    "the difference of their squares",
    "left − right is a side",
    "log left − log right is a side",
    "the optimal value",
    "what it defines",
    "both sides up to the remainder",
)


def shown(step: Relation) -> tuple[sp.Expr, ...]:
    """Return the expressions that a step compares, and what else it shows unless it compares them at each point."""
    stated = step.stated
    return stated.shown if stated.sign in POINTWISE else (*stated.shown, *stated.parameters)


def premises(step: Relation) -> tuple[Relation, ...]:
    """Return the explicit premises and hypotheses of a step."""
    return (*step.core.premises, *step.core.given)


def match(link: Link, step: Relation, known: frozenset[str]) -> Match | None:
    """Return how a link agrees with a step, under the first matching of variables that fits; None if it does not."""
    assertion = link.assertion
    if not _comparable(assertion, step.stated):
        return None
    expressions = [*assertion.sides, *(side for each in link.premises for side in each.sides)]
    others = [*shown(step), *(side for each in premises(step) for side in shown(each))]
    for naming in namings(expressions, others, known):
        try:
            own = [named(each, naming) for each in expressions]
        except ValueError:  # a derivative by what the relation ties
            continue
        values = Values(variables_of(sp.Tuple(*own, *others)), step.stated.given)
        matched = _matched(assertion, step.stated, naming, values)
        if matched and all(_premised(each, step, naming, values) for each in link.premises):
            return matched
    return None


def _comparable(assertion: Assertion, step: Relation) -> bool:
    """Return whether a step is of a kind that may say what a print asserts."""
    if step.ranging:
        return False
    if isinstance(assertion, Optimum):
        return step.problem is not None or step.sign in ORDERS
    return assertion.sign is step.sign or (assertion.sign in ORDERS and step.ordered)


def _premised(premise: Assertion, step: Relation, naming: Naming, values: Values) -> bool:
    """Return whether a premise of a print is a premise of a step, or holds at the witness of a disproof."""
    if step.disproved and premise.sign in COMPARED:
        return _holds_at_the_witness(premise, step.disproved.at, naming)
    return any(_comparable(premise, each) and _matched(premise, each, naming, values) for each in premises(step))


def _holds_at_the_witness(premise: Assertion, at: Point, naming: Naming) -> bool:
    """Return whether a premise certainly holds at the point of a disproof, so that the implication fails there."""
    try:
        one, other = enclose_all([named(side, naming) for side in premise.sides], at)
    except (KeyError, ValueError):  # it has other variables
        return False
    if premise.sign is Sign.EQUAL:
        return bool(one == other) and one.is_exact()
    return bool(one > other if premise.sign is Sign.GREATER else one >= other)


def by_the_table(premise: Assertion) -> bool:
    """Return whether the table implies a premise: ε = τ for one symbol, x_t ≥ x_s if the table's x_s is x_t − σ_s."""
    if premise.sign is Sign.EQUAL:
        values = Values(variables_of(sp.Tuple(*premise.sides)))
        return sums.alike(*premise.sides) or values.same(*premise.sides)
    with suppress(ValueError):
        return isinstance(premise, Relation) and premise.ordered and premise.prove()  # sample points cannot prove an inequality
    return False


def _matched(assertion: Assertion, step: Relation, naming: Naming, values: Values) -> Match | None:
    match assertion:
        case Minimizer():
            return _same_minimizer(assertion, step.problem, naming, values) if step.problem else None
        case Optimum():
            return _same_value(assertion, step, naming, values)
        case Expanded():
            terms = same_expansion(assertion, step.expansion, naming, values) if step.expansion else None
            return Match(TERMS, terms) if terms else None
        case Shown():
            return None
    if assertion.sign not in POINTWISE:
        pairs = tuple((named(one, naming), other) for one, other in zip(shown(assertion), shown(step), strict=True))
        same = all(values.same(*pair) or (at >= len(step.shown) and pair[0] == pair[1]) for at, pair in enumerate(pairs))
        return Match(SIDES, pairs) if same else None
    one, other = (named(side, naming) for side in assertion.sides)
    left, right = step.sides
    if assertion.ordered:
        strong = assertion.sign is not Sign.GREATER or step.sign is not Sign.AT_LEAST
        return _same_gap(one, other, left - right, values) if strong else None
    return _same_equation(one, other, left, right, values)


def _same_gap(one: sp.Expr, other: sp.Expr, gap: sp.Expr, values: Values) -> Match | None:
    """Match one ≥ other with gap ≥ 0: the same difference, one of squared lengths, or a positive multiple."""
    ways = [(GAP, one - other)] + ([(SQUARES, one**2 - other**2)] if _norms(one, other) else [])
    for way, own in ways:
        for scale in (sp.S.One, *(v**power for v in _positive(sp.Tuple(own, gap)) for power in (1, -1, 2, -2))):
            if values.same(own, scale * gap):
                return Match(way, ((own, scale * gap),))
    return None


def _norms(one: sp.Expr, other: sp.Expr) -> bool:
    """Return whether both sides are lengths, which are nonnegative, so that their squares may be compared."""
    for side in (one, other):
        factors = sp.Mul.make_args(side)
        roots = [f for f in factors if f.is_Pow and f.exp == sp.S.Half]
        if not roots or not all(f in roots or f.is_nonnegative for f in factors):
            return False
    return True


def _same_equation(one: sp.Expr, other: sp.Expr, left: sp.Expr, right: sp.Expr, values: Values) -> Match | None:
    for a, b in ((left, right), (right, left), (-left, -right), (-right, -left)):
        if values.same(one, a) and values.same(other, b) and not _about_nothing(one, other, a, b):
            return Match(SIDES, ((one, a), (other, b)))
    if values.positive(one) and values.positive(other):
        logs = (sp.log(one), left), (sp.log(other), right)
        if all(values.same(*pair) for pair in logs) and not _about_nothing(one, other, left, right):
            return Match(LOG_SIDES, logs)
    gap = one - other
    if values.vanishes(gap):
        return None
    if 0 not in (one, other) and any(values.same(x, sign * y) for x in (one, other) for y in (left, right) for sign in (1, -1)):
        return None  # one side is shared, the other differs
    for own in (sign * scale * gap for scale in _scales(left - right) for sign in (1, -1)):
        if values.same(own, left - right):
            return Match(GAP, ((own, left - right),))
    across = product(one, right), product(other, left)
    if not values.vanishes(left) and not values.vanishes(right) and values.same(*across):
        return Match(RATIO, (across,))
    for side in (left, right):
        if residual := _residual(RESIDUAL, gap, side, values):
            return residual
        if (
            values.positive(one)
            and values.positive(other)
            and (residual := _residual(LOGS, sp.log(one) - sp.log(other), side, values))
        ):
            return residual
    return None


def _residual(way: str, gap: sp.Expr, side: sp.Expr, values: Values) -> Match | None:
    """Match a side with left − right of an equation, up to a positive number or a factor."""
    for reduced in _without_factors(side):
        if values.constant(reduced):
            continue
        for scale in _scales(side):
            for sign in (1, -1):
                if values.same(sign * scale * gap, reduced):
                    return Match(way, ((sign * scale * gap, reduced),))
    return None


def _scales(side: sp.Basic) -> Iterator[sp.Expr]:
    yield sp.S.One
    yield from _positive(side)


def _positive(expr: sp.Basic) -> list[Variable]:
    """Return the positive scalar variables of an expression."""
    return [v for v in variables_of(expr) if v.domain.is_scale]


def _about_nothing(one: sp.Expr, other: sp.Expr, a: sp.Expr, b: sp.Expr) -> bool:
    """Return whether two equations between constants, such as Σ p = 1, are unrelated: any two true ones agree side by side."""
    constant = any(not variables_of(side) for side in (one, other, a, b))
    return constant and {v.name for v in variables_of(sp.Tuple(one, other))} != {v.name for v in variables_of(sp.Tuple(a, b))}


def _without_factors(side: sp.Expr) -> Iterator[sp.Expr]:
    """Yield a side, and what remains without some of its factors: the residual of a multiplied equation."""
    yield side
    factors = sp.Mul.make_args(side)
    if len(factors) <= FACTORS:
        yield from (factor for factor in factors if isinstance(factor, sp.Add))


def _same_minimizer(assertion: Minimizer, step: Problem, naming: Naming, values: Values) -> Match | None:
    if len(assertion.places) != len(step.places):
        return None
    objective, candidate = named(assertion.objective, naming), named(assertion.candidate, naming)
    entry = step.entry.xreplace(
        {own: naming.get(printed, printed) for own, printed in zip(step.places, assertion.places, strict=True)}
    )
    wide = Values(variables_of(sp.Tuple(objective, step.open_objective, candidate, entry)), step.given)
    if wide.same(objective, step.open_objective) and wide.same(candidate, entry):
        return Match(SIDES, ((objective, step.open_objective), (candidate, entry)))
    return None


def _same_value(assertion: Optimum, step: Relation, naming: Naming, values: Values) -> Match | None:
    objective, value = named(assertion.objective, naming), named(assertion.value, naming)
    if posed := step.problem:
        pairs = (objective, posed.open_objective), (value, posed.own_value)
        return Match(VALUE, pairs) if all(values.same(*pair) for pair in pairs) else None
    own = [v for v in variables_of(objective) if v.name.endswith("#rival")]
    for label in variables_of(sp.Tuple(*step.sides)):  # a bound over the whole simplex
        if len(own) == 1 and own[0].domain == label.domain and label.domain.is_distribution:
            at = named(objective, {own[0]: label})
            wide = Values(variables_of(sp.Tuple(at, value, *step.sides)), step.given)
            gap, proved = at - value, step.sides[0] - step.sides[1]
            if wide.same(gap, proved):
                return Match(GAP, ((gap, proved),))
    return None


# ── definitions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def defined_in(assertion: Assertion, step: Relation, known: frozenset[str]) -> Match | None:
    """Find the right side of a definition, or a problem at equal weights, among the sides of a step and their parts."""
    body = _at_uniform(assertion) if isinstance(assertion, Minimizer | Optimum) else assertion.sides[-1]
    if not isinstance(assertion, Minimizer | Optimum | Shown) and assertion.sign is not Sign.EQUAL:
        return None
    if assertion.sign is Sign.EQUAL and not Values(variables_of(sp.Tuple(*assertion.sides))).same(*assertion.sides):
        return None  # the table has another definition
    return _occurs(body, step, known)


def _occurs(body: sp.Expr, step: Relation, known: frozenset[str]) -> Match | None:
    """Find an expression among the sides of a step and their parts; for an expansion, also on the ray t ↦ tλ."""
    if not variables_of(body):
        return None
    bodies = [body]
    if step.expansion:
        vectors = [v for v in variables_of(body) if len(v.domain.shape) == 1 and v.domain.is_whole]
        bodies += [on_ray(body, v, step.expansion.variable) for v in vectors]
    for part in _parts(step):
        for each in bodies:
            if matched := _same_part(each, part, known):
                return matched
    return None


def _same_part(body: sp.Expr, part: sp.Expr, known: frozenset[str]) -> Match | None:
    for naming in namings([body], [part], known):
        own = named(body, naming)
        values = Values(variables_of(sp.Tuple(own, part)))
        if values.same(own, part) and set(variables_of(own)) == set(variables_of(part)):
            return Match(BODY, ((own, part),))
    return None


def _at_uniform(assertion: Minimizer | Optimum) -> sp.Expr:
    """Return the objective of a problem at the point with equal entries."""
    entries = [e for e in assertion.objective.atoms(sp.Indexed) if e.base.label.name.endswith("#rival")]
    return sp.sympify(assertion.objective.xreplace({e: 1 / e.base.shape[-1] for e in entries}))


def _parts(step: Relation) -> Iterator[sp.Expr]:
    """Yield the sides of a step, their summands, factors and differentiated expressions, and parts of products and sums."""
    seen: set[sp.Expr] = set()
    todo: Sequence[sp.Expr] = [sp.sympify(each) for each in shown(step)]
    while todo:
        later: list[sp.Expr] = []
        for part in todo:
            if part in seen or isinstance(part, sp.Indexed | Variable | sp.Number):
                continue
            seen.add(part)
            yield _with_free_indices(part)
            if isinstance(part, sp.Mul | sp.Add) and len(part.args) <= FACTORS:
                yield from (
                    _with_free_indices(part.func(*subset))
                    for count in range(2, len(part.args))
                    for subset in combinations(part.args, count)
                )
            later += [each for each in part.args if isinstance(each, sp.Expr)]
        todo = later


def _with_free_indices(part: sp.Expr) -> sp.Expr:
    """Return a part of a sum with its bound indices made free."""
    bound = [v for v in part.free_symbols if isinstance(v, Variable) and v.domain.is_index and "#" in v.name]
    return part.xreplace(
        {
            v: Variable(f"{v.name.split('#')[0]}of{n}", Index(v.domain.shape))
            for n, v in enumerate(sorted(bound, key=lambda v: v.name))
        }
    )
