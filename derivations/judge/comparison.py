"""How statements of one claim relate: a twin to the claim and to other twins, a correction to the print.

A twin is a wrong version of the claim: it shares a side that is not a number with one of the steps, or it is a statement of
the same kind about the same variables; and it repeats neither the claim nor another twin.  A correction has the left side
of the print, or either side of an inequality (unless it says which part it replaces), differs from the print, and does not
fail where the print fails.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.admission import NotAdmittedError
from derivations.calculus.balls import Point, enclose
from derivations.calculus.variables import scalar, variables_of
from derivations.records import rendering
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations import Counterexample, Relation, agree, same


def subjects(relation: Relation) -> tuple[sp.Expr, ...]:
    """Return what a statement is about: its left side, and of an inequality, which may be read from either end, both."""
    return relation.shown if relation.ordered else relation.shown[:1]


def telling_sides(relation: Relation) -> list[sp.Expr]:
    """Return the sides that are not plain numbers, those of the premises included."""
    premised = [side for premise in relation.premises for side in premise.sides]
    return [side for side in (*premised, *relation.shown) if side.free_symbols]


# ── twins ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def related(twin: Relation, steps: Iterable[Relation]) -> bool:
    """Return whether a twin is a version of some step: of the same kind and variables, or with a side in common."""
    cores = [step.core for step in steps]
    if any(type(twin) is type(step) and _ranging(twin) == _ranging(step) for step in cores):
        return True
    pairs = [(one, other) for one in telling_sides(twin) for step in cores for other in telling_sides(step)]
    return any(sums.alike(*pair) for pair in pairs) or any(sums.equal(*pair) for pair in pairs)


def _ranging(relation: Relation) -> set[str]:
    """Return the names of the variables, not the variables themselves: a twin may differ from its claim in a domain only."""
    return {v.name for v in relation.variables() if not v.domain.is_index}


def repetitions(
    statement: Relation, refuted: Mapping[str, tuple[Relation, Counterexample]], printed: Counterexample | None
) -> Iterator[str]:
    """Yield a message for each refuted twin that repeats another twin, or the claim if that is refuted too.

    Two statements that fail by different amounts at their first point are different; only the rest is compared in normal form.
    """
    if printed:
        for name, (twin, failure) in refuted.items():
            if _one_failure(printed, failure, statement.core, twin) and same(statement.core, twin):
                yield f"the twin {name!r} repeats the claim"
    names = list(refuted)
    for position, name in enumerate(names):
        for earlier in names[:position]:
            (one, first), (other, second) = refuted[earlier], refuted[name]
            if _one_failure(first, second, one, other) and same(one, other):
                yield f"the twin {name!r} repeats the twin {earlier!r}"


def _one_failure(first: Counterexample, second: Counterexample, one: Relation, other: Relation) -> bool:
    if dict(one.at) != dict(other.at) or one.variables() != other.variables():
        return True  # different search: the points are not comparable, compare in full
    if first.witness.inputs != second.witness.inputs:
        return False
    if one.plain and other.plain:
        miss, again = (enclose(each.sides[0] - each.sides[1], first.point) for each in (one, other))
        beyond = not sums.alike(one.sides[0], other.sides[0])  # a right side too large is another mistake than one too small
        return bool(miss.overlaps(again) or (beyond and miss.overlaps(-again)))
    return {first.witness.left, first.witness.right} == {second.witness.left, second.witness.right}


# ── corrections ─────────────────────────────────────────────────────────────────────────────────────────────────────


def objections(printed: Relation, repaired: Relation, point: Point | None, replaces: str | None) -> Iterator[str]:
    """Yield each reason why a correction does not correct the print."""
    if repaired.disproved:
        yield "correction: expected a statement that holds as its last step, got a disproof"
        return
    print_ = printed.core
    if same(print_, repaired):
        yield "the correction repeats the print"
    if repaired.plain and repaired.sign is not Sign.EQUAL and _says_nothing(repaired):
        yield f"the correction says nothing: expected sides that differ by more than a number, got {repaired}"
    elif _is_so_of_anything(repaired, print_):
        yield f"the correction says nothing about its subject, since it holds for any quantity in its place: {repaired}"
    sides = [*repaired.shown[:1], *repaired.sides]
    if not replaces and not any(agree(about, side) for about in subjects(print_) for side in sides):
        yield (
            "the correction is not about the print's left side: expected the same left side, or "
            "`replaces` to say which part of the print it stands for"
        )
    if point is not None and (failure := _failure(repaired, point)):
        yield f"the correction fails where the print does: {rendering.witness(failure)}"


def _says_nothing(relation: Relation) -> bool:
    """Return whether the sides have variables but differ by a constant only: the statement is then independent of them."""
    if not variables_of(sp.Tuple(*relation.sides)):
        return False
    try:
        gap = sums.normal(relation.sides[0] - relation.sides[1])
    except ValueError:
        return False
    return not variables_of(gap)


def _failure(repaired: Relation, point: Point) -> Witness | None:
    """Return how a correction fails at the witness of the print; None if it holds or is not defined there."""
    names = repaired.variables()
    if not set(names) <= point.keys():
        return None
    try:
        return repaired.fails_at({v: point[v] for v in names})
    except NotAdmittedError:  # its hypotheses do not hold there
        return None


ANYTHING = scalar("any quantity")


def _is_so_of_anything(repaired: Relation, print_: Relation) -> bool:
    """Return whether a correction stays true if a side shared with the print is replaced by an arbitrary quantity.

    For example, L + y² ≥ L holds for every L.  If the shared side is a single variable, it is only tested whether it cancels
    as written.
    """
    if ANYTHING in {*repaired.variables(), *print_.variables()}:
        return True  # the statement uses the placeholder itself: nothing can be tested
    shared = (side for side in telling_sides(repaired) if any(agree(side, about) for about in subjects(print_)))
    about = [print_.shown[0], *shared]
    return any(part.free_symbols and _falls_out(repaired, part) and not _falls_out(print_, part) for part in about)


def _falls_out(relation: Relation, part: sp.Expr) -> bool:
    if isinstance(part, sp.Symbol | sp.Indexed):
        rests = (_put_in(other, part) for one, other in permutations(relation.sides, 2) if one == part)
        return any(rest.has(ANYTHING) and not (rest - ANYTHING).has(ANYTHING) for rest in rests)
    changed = _with_anything(relation, part)
    return changed is not None and changed.prove()


def _with_anything(relation: Relation, part: sp.Expr) -> Relation | None:
    """Return the statement with `part` replaced by `ANYTHING`; None if the part does not occur or is a premise."""

    def put(expr: sp.Expr) -> sp.Expr:
        return _put_in(sp.sympify(expr), part)

    if any(put(side) != side for premise in relation.premises for side in premise.sides):
        return None
    changed = relation.mapped(put)
    parts = (*changed.stated.expressions, *changed.stated.shown)
    return changed if any(side.has(ANYTHING) for side in parts) else None


def _put_in(expr: sp.Expr, part: sp.Expr) -> sp.Expr:
    """Return the expression with every occurrence of `part`, up to notation, replaced by `ANYTHING`."""
    if sums.alike(expr, part):
        return ANYTHING
    if isinstance(expr, sp.Add) and isinstance(part, sp.Add):
        rest = list(expr.args)
        for term in part.args:
            if (equal_term := next((own for own in rest if sums.alike(own, term)), None)) is None:
                break
            rest.remove(equal_term)
        else:
            return ANYTHING + sp.Add(*(_put_in(own, part) for own in rest))
    if isinstance(expr, sp.Sum):
        return sp.Sum(_put_in(expr.function, part), *expr.limits)
    return expr.func(*(_put_in(arg, part) for arg in expr.args)) if expr.args and not isinstance(expr, sp.Indexed) else expr
