"""The meaning of each relation at an exact point, from its definition and decided by the independent evaluator.

An answer is True, False or None (cannot be told), with the values compared.
"""

import random
from fractions import Fraction
from functools import singledispatch
from itertools import product
from typing import Any

import sympy as sp

from derivations.calculus.variables import Variable, index
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Follows,
    ForAll,
    Limit,
    StrictUnlessEqual,
    UniqueMinimum,
    UniquePlan,
)
from tests.fuzz.arithmetic import Number, UncertainError, UndefinedError, add, agree, differ, interval, negative, sign
from tests.fuzz.evaluate import UnsupportedError, evaluate, precision, shown
from tests.fuzz.sample import _masses, names_of

Answer = tuple[bool | None, str]
Point = dict[Any, Any]
UNKNOWN: Answer = (None, "")
FAR = (10, 60, 300)  # powers of ten along the path of a limit


@singledispatch
def holds(relation: Any, point: Point, rng: random.Random) -> Answer:
    """Whether the statement holds at the point."""
    raise UnsupportedError(type(relation).__name__)


def meant(relation: Any, point: Point, rng: random.Random) -> bool | None:
    """Whether the point satisfies the hypotheses of the statement."""
    answers = [holds(hypothesis, point, rng)[0] for hypothesis in relation.given]
    return None if None in answers and False not in answers else all(answers)


def _values(*exprs: sp.Expr, point: Point, bits: int) -> list[Number]:
    return [evaluate(expr, point, bits) for expr in exprs]


def _decided(compare: Any, exprs: tuple[Any, ...], point: Point) -> Answer:
    """Compare at growing precision; an undefined side makes the statement fail."""
    for bits in (200, 700, 3000):
        try:
            values = _values(*exprs, point=point, bits=bits)
            with precision(bits):
                answer = compare(*values)
        except UndefinedError:
            return False, "undefined"
        except UnsupportedError:
            return UNKNOWN
        except UncertainError:
            continue
        if answer is not None:
            return answer, " and ".join(map(shown, values))
    return UNKNOWN


def _equal(left: Number, right: Number) -> bool | None:
    return False if differ(left, right) else True if agree(left, right) else None


def _order(strict: bool) -> Any:
    def compare(left: Number, right: Number) -> bool | None:
        try:
            side = sign(add(left, negative(right)))
        except UncertainError:
            return None
        return side > 0 if strict else side >= 0

    return compare


@holds.register
def _(relation: Equation, point: Point, rng: random.Random) -> Answer:
    return _decided(_equal, (relation.left, relation.right), point)


@holds.register
def _(relation: AtLeast, point: Point, rng: random.Random) -> Answer:
    return _decided(_order(relation.strict), (relation.left, relation.right), point)


@holds.register
def _(relation: Differs, point: Point, rng: random.Random) -> Answer:
    truth, why = _decided(_equal, (relation.left, relation.right), point)
    return (truth, why) if truth is None or why == "undefined" else (not truth, why)


@holds.register
def _(relation: StrictUnlessEqual, point: Point, rng: random.Random) -> Answer:
    apart = _decided(_equal, (relation.x, relation.y), point)[0]
    if apart is None:
        return UNKNOWN
    return _decided(_order(strict=not apart), (relation.left, relation.right), point)


@holds.register
def _(relation: ForAll, point: Point, rng: random.Random) -> Answer:
    """Whether the inequality holds at all values of the indices that they may have together."""
    answers: list[Answer] = []
    for chosen in product(*(range(1, int(v.domain.shape[0].xreplace(point)) + 1) for v in relation.over)):
        there = {**point, **dict(zip(relation.over, chosen, strict=True))}
        if all(there[v] != there.get(other) for v in relation.over for other in v.domain.other_than):
            answers.append(holds(relation.bound, there, rng))
    return next((answer for answer in answers if answer[0] is not True), (True, ""))


@holds.register
def _(relation: Follows, point: Point, rng: random.Random) -> Answer:
    for premise in relation.premises:
        if holds(premise, point, rng)[0] is not True:
            return None, "a premise fails"
    return holds(relation.conclusion, point, rng)


@holds.register
def _(relation: Limit, point: Point, rng: random.Random) -> Answer:
    """Whether the path approaches the limit far out, from every side; slow convergence gives no answer."""
    within = relation.to not in (0, sp.oo, -sp.oo) or relation.moving.domain.is_whole
    answers = [_approaches(relation, point, side) for side in ((1, -1) if within and relation.to.is_finite else (1,))]
    return next((answer for answer in answers if answer[0] is not True), answers[0])


def _approaches(relation: Limit, point: Point, side: int) -> Answer:
    try:
        claimed = None if relation.limit in (sp.oo, -sp.oo) else evaluate(relation.limit, point, 700)
        gaps = []
        for far in FAR:
            infinite = relation.to in (sp.oo, -sp.oo)
            end = Fraction(0) if infinite else Fraction(relation.to)
            moving = Fraction(10**far) * int(sp.sign(relation.to)) if infinite else end + Fraction(side, 10**far)
            value = evaluate(relation.expr, {**point, relation.variable: moving}, 4000)
            low, high = interval(value if claimed is None else add(value, negative(claimed))).bounds()
            gaps.append(low if claimed is None else max(Fraction(0), low, -high))
    except UndefinedError:
        return False, "undefined"
    except (UncertainError, UnsupportedError, TypeError):
        return UNKNOWN
    if claimed is None:
        grows = gaps[-1] > gaps[0] and gaps[-1] > 0 if relation.limit == sp.oo else gaps[-1] < gaps[0] and gaps[-1] < 0
        return (None, "") if grows else (False, "the path does not go there")
    if gaps[-1] > Fraction(1, 1000) and gaps[-1] > gaps[0] / 20:
        return False, f"the distances from the limit are {', '.join(f'{float(gap):.3g}' for gap in gaps if gap < 10**300)}"
    return (True, "the path comes near") if high - low < gaps[0] and gaps[-1] < Fraction(1, 10**90) else UNKNOWN


@holds.register
def _(relation: Expansion, point: Point, rng: random.Random) -> Answer:
    near = []
    try:
        for digits in (40, 80):
            shifted = {**point, relation.variable: Fraction(1, 10**digits)}
            bits = 1200 + 8 * digits * (relation.order + 1)
            with precision(bits):
                gap = add(evaluate(relation.left, shifted, bits), negative(evaluate(relation.right, shifted, bits)))
                near.append(max(map(abs, interval(gap).bounds())) * 10 ** (digits * relation.order))
    except UndefinedError:
        return False, "undefined"
    except (UncertainError, UnsupportedError):
        return UNKNOWN
    if near[1] > Fraction(1, 10**20) and near[1] * 100 > near[0]:
        return False, f"the remainder over t^{relation.order} is {float(near[0]):.3g} and {float(near[1]):.3g}"
    return True, "the remainder vanishes"


@holds.register
def _(relation: UniqueMinimum, point: Point, rng: random.Random) -> Answer:
    q, j = relation.base, index("own_j", relation.over)
    own, objective, entry = relation.objective(relation.candidate), relation.objective(lambda i: q[i]), relation.candidate(j)
    point = {**point, **({relation.over: len(point[q.label])} if q.label in point and relation.over not in point else {})}
    length = point[relation.over]
    try:
        entries = [evaluate(entry, {**point, j: at}) for at in range(1, length + 1)]
    except UndefinedError:
        return False, "undefined"
    except UncertainError:
        return UNKNOWN
    return _minimum(relation, point, rng, entries, [entries], own, objective, q.label)


@holds.register
def _(relation: UniquePlan, point: Point, rng: random.Random) -> Answer:
    plan, i, j = relation.base, index("own_i", relation.rows), index("own_j", relation.columns)
    own, objective = relation.objective(relation.candidate), relation.objective(lambda x, y: plan[x, y])
    entry = relation.candidate(i, j)
    try:
        rows = [
            [evaluate(entry, {**point, i: x, j: y}) for y in range(1, point[relation.columns] + 1)]
            for x in range(1, point[relation.rows] + 1)
        ]
    except UndefinedError:
        return False, "undefined"
    except UncertainError:
        return UNKNOWN
    return _minimum(relation, point, rng, rows, rows, own, objective, plan.label)


def _minimum(
    relation: Any,
    point: Point,
    rng: random.Random,
    entries: Any,
    rows: list[list[Number]],
    own: sp.Expr,
    objective: sp.Expr,
    label: Variable,
) -> Answer:
    """Whether the candidate is feasible and better than some rivals."""
    for row in rows:
        mass: Any = Fraction(0)
        for number in row:
            mass = add(mass, number)
            if differ(number, Fraction(0)) and sign(number) < 0:
                return False, "a negative entry"
        if differ(mass, Fraction(1)):
            return False, f"the mass is {shown(mass)}"
    weights = point.get(label)
    rivals = (
        [weights]
        if weights is not None
        else [
            made if len(rows) > 1 or entries is rows else made[0]
            for made in ([_masses(len(row), True, rng.choice(("simple", "odd")), rng) for row in rows] for _ in range(4))
        ]
    )
    answers = []
    for rival in rivals:
        flat = [value for row in (rival if entries is rows else [rival]) for value in row]
        mine = [value for row in rows for value in row]
        if not any(differ(x, y) for x, y in zip(mine, flat, strict=True)):
            continue
        answer, why = _decided(_order(strict=True), (objective, own), {**point, label: rival})
        if answer is False:
            return False, why if why == "undefined" else f"the rival {rival} has {why}"
        answers.append(answer)
    return (True, "the rival is worse") if weights is not None and answers == [True] else UNKNOWN


def claims_of(relation: Any) -> list[sp.Expr]:
    """The expressions of a statement for which the normal form and balls are checked."""
    if isinstance(relation, Equation | Differs | AtLeast | StrictUnlessEqual):
        because = getattr(relation, "because", None)
        return [sp.sympify(part) for part in (relation.left, relation.right, because) if part is not None]
    if isinstance(relation, Follows):
        return [part for one in (*relation.premises, relation.conclusion) for part in claims_of(one)]
    return []


def open_names(relation: Any) -> list[Variable]:
    """The variables for which a point is drawn, including those of the hypotheses."""
    own = _own_names(relation)
    others = names_of(side for hypothesis in relation.given for side in claims_of(hypothesis))
    return own + [name for name in others if name not in own and name != getattr(relation, "variable", None)]


def _own_names(relation: Any) -> list[Variable]:
    if isinstance(relation, Limit | Expansion):
        sides = (relation.expr, relation.limit) if isinstance(relation, Limit) else (relation.left, relation.right)
        return [name for name in names_of(map(sp.sympify, sides)) if name != relation.variable]
    if isinstance(relation, UniqueMinimum):
        q, j = relation.base, index("own_j", relation.over)
        exprs = (relation.objective(lambda i: q[i]), relation.candidate(j), relation.over)
        return [name for name in names_of(exprs) if name not in (q.label, j)]
    if isinstance(relation, UniquePlan):
        rival = relation.base
        exprs = (
            relation.objective(lambda x, y: rival[x, y]),
            relation.candidate(index("own_i", relation.rows), index("own_j", relation.columns)),
            relation.rows,
            relation.columns,
        )
        return [name for name in names_of(exprs) if name != rival.label and name.name not in ("own_i", "own_j")]
    return names_of(claims_of(relation))
