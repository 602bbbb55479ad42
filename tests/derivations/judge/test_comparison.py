"""Relations between statements of one claim: the step that a twin varies, repetitions, the print a correction answers."""

import pytest
import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import scalar
from derivations.judge.comparison import objections, related, repetitions, telling_sides
from derivations.relations import (
    AtLeast,
    Counterexample,
    Differs,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    UniqueMinimum,
)
from tests.attacks.vocabulary import a, b, k, l, m, one, t, two, u, w, x, y

SQUARE, FALSE = Equation((x + w) ** 2, x**2 + 2 * x * w + w**2), Equation((x + w) ** 2, x**2 + w**2)
MINIMUM = UniqueMinimum(lambda q: total(l, q(l) ** 2), lambda key: u[key], m, one)
BRANCH = Follows((AtLeast(x**2, w),), AtLeast(2 * x**2, 2 * w), (two,))
ORDER = Expansion(sp.exp(t * x), 1 + t * x, t, 1)


# ── comparisons ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("relation", "side"),
    [
        (FALSE, FALSE.left),
        (AtLeast(x, w), x),
        (Limit(1 / t + x, t, sp.oo, x), 1 / t + x),
        (ORDER, sp.exp(t * x)),
        (MINIMUM, MINIMUM.open_objective),
        (BRANCH, 2 * x**2),
    ],
)
def test_the_left_side(relation: Relation, side: sp.Expr) -> None:
    assert relation.shown[0] == side
    assert Fails(relation).core is relation
    assert relation.core is relation


@pytest.mark.parametrize(
    ("relation", "sides"),
    [
        (Equation(x, w), [x, w]),
        (Equation(x, 1), [x]),
        (Equation(2, 2), []),
        (BRANCH, [x**2, w, 2 * x**2, 2 * w]),
        (ORDER, [sp.exp(t * x), 1 + t * x]),
        (Limit(1 / t + x, t, sp.oo, x), [1 / t + x, x]),
    ],
)
def test_sides_that_are_no_numbers(relation: Relation, sides: list[sp.Expr]) -> None:
    assert telling_sides(relation) == sides


# ── twins ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("twin", "steps"),
    [
        (Equation(x, w + 1), [FALSE]),  # of the same kind and about the same variables
        (Equation(x, w + 1), [Limit(1 / t, t, sp.oo, 0), AtLeast(t, 0), FALSE]),
        (Equation(x * a[k], 1), [Equation(x + a[l], 0)]),  # indices do not count
        (AtLeast(y, (x + w) ** 2), [AtLeast(t, 0), Fails(FALSE)]),
        (AtLeast(y, x * (x + 2 * w) + w**2), [Equation(x, 1), SQUARE]),  # a side in common, in normal form
    ],
)
def test_versions_of_a_step(twin: Relation, steps: list[Relation]) -> None:
    assert related(twin, steps)


@pytest.mark.parametrize("stranger", [Equation(x, x + 1), AtLeast(x, w), Equation(x, scalar("v")), AtLeast(y, 1)])
def test_strangers_to_a_step(stranger: Relation) -> None:
    assert not related(stranger, [SQUARE, FALSE])


def failing(relation: Relation) -> Counterexample:
    failure = relation.counterexample()
    assert failure
    return failure


def repeated(*twins: Relation, printed: Relation | None = None) -> list[str]:
    """The message about twins that are called by their numbers."""
    refuted = {str(number): (twin, failing(twin)) for number, twin in enumerate(twins, start=1)}
    return list(repetitions(printed or SQUARE, refuted, failing(printed) if printed else None))


@pytest.mark.parametrize(
    "again",
    [
        FALSE,
        Equation(FALSE.right, FALSE.left),
        Equation(FALSE.left - 1, FALSE.right - 1),
        Equation(FALSE.left, FALSE.right, about=(a[1],)),
        Equation(FALSE.left, FALSE.right, at={x: 5, w: 7}),
    ],
    ids=str,
)
def test_one_mistake_made_twice(again: Relation) -> None:
    assert repeated(FALSE, again) == ["the twin '2' repeats the twin '1'"]
    assert repeated(again, printed=FALSE) == ["the twin '1' repeats the claim"]


@pytest.mark.parametrize(
    "other",
    [
        Equation(FALSE.left, 2 * SQUARE.right - FALSE.right),  # as much too large as the other is too small
        Equation(FALSE.left, x**2 - 2 * x * w + w**2),
        Equation(FALSE.left, FALSE.right + 1, at={x: 0, w: 0}),
        AtLeast(FALSE.right, FALSE.left),
        Differs(SQUARE.left, SQUARE.right),
    ],
    ids=str,
)
def test_two_mistakes(other: Relation) -> None:
    assert repeated(FALSE, other) == []
    assert repeated(other, printed=FALSE) == []
    assert repeated(other) == []


def test_other_mistakes_are_compared_by_their_visible_parts() -> None:
    wrong, more = Limit(1 / t + x, t, sp.oo, x + 1), Limit(1 / t + x, t, sp.oo, x + 2)
    assert repeated(wrong, Limit(1 / t + x, t, sp.oo, x + 1)) == ["the twin '2' repeats the twin '1'"]
    assert repeated(wrong, more, Equation(x, x + 1)) == []


# ── corrections ─────────────────────────────────────────────────────────────────────────────────────────────────────


def objected(printed: Relation, repaired: Relation, *, at: bool = False, replaces: str | None = None) -> list[str]:
    """The objections to a correction, if asked, only where the print fails."""
    message = objections(Fails(printed), repaired, failing(printed).point if at else None, replaces)
    return [each.partition(":")[0] for each in message]


NOTHING = "the correction says nothing"
ANYTHING = "the correction says nothing about its subject, since it holds for any quantity in its place"
LEFT, FAILS = "the correction is not about the print's left side", "the correction fails where the print does"


@pytest.mark.parametrize(
    "repaired",
    [
        SQUARE,
        AtLeast((x + w) ** 2, 0),
        Equation(SQUARE.right, SQUARE.left),
        Differs((x + w) ** 2, -1 - x**2),
        AtLeast((x + w) ** 2, -((x + w) ** 2)),
    ],
    ids=str,
)
def test_a_proper_correction_has_no_objection(repaired: Relation) -> None:
    assert objected(FALSE, repaired, at=True) == []


@pytest.mark.parametrize(
    ("repaired", "objection"),
    [
        (FALSE, "the correction repeats the print"),
        (Fails(SQUARE), "correction"),
        (AtLeast((x + w) ** 2, (x + w) ** 2 - 1), NOTHING),
        (Differs(1 - (x + w) ** 2, -((x + w) ** 2)), NOTHING),
        (Equation((x - w) ** 2, x**2 - 2 * x * w + w**2), LEFT),
    ],
    ids=str,
)
def test_objections_to_improper_corrections(repaired: Relation, objection: str) -> None:
    assert objection in objected(FALSE, repaired)


def test_an_inequality_is_about_both_of_its_sides() -> None:
    printed = AtLeast(t, sp.exp(t))
    assert objected(printed, AtLeast(sp.exp(2 * t), sp.exp(t))) == []
    assert objected(printed, AtLeast(t, sp.log(t))) == []
    assert objected(printed, AtLeast(sp.exp(2 * t), t**2)) == [LEFT]
    assert objected(printed, AtLeast(sp.exp(t) + t, sp.exp(t))) == [ANYTHING]


def test_a_part_that_is_named_may_be_replaced() -> None:
    repaired = Equation((x - w) ** 2, x**2 - 2 * x * w + w**2)
    assert objected(FALSE, repaired, replaces="the sign of w") == []
    assert LEFT not in objected(FALSE, FALSE, replaces="the sign of w")


def test_a_correction_holds_where_the_print_fails() -> None:
    assert objected(FALSE, Equation((x + w) ** 2, x**2 + x * w + w**2), at=True) == [FAILS]
    assert objected(FALSE, Equation((x + w) ** 2, x**2 + x * w + w**2)) == []
    assert objected(FALSE, Equation((x + w) ** 2, (x + w) ** 2 * y), at=True) == []  # it has a variable more
    assert objected(FALSE, AtLeast(x + w, (x + w) ** 2, given=(AtLeast(-1, x**2),)), at=True, replaces="all") == []


def test_equations_of_numbers_are_statements() -> None:
    assert objected(AtLeast(1, 2), AtLeast(1, 0)) == []


def test_expressions_without_normal_form_are_not_called_trivial() -> None:
    odd = sp.Sum(a[l], (l, 1, m - 1))
    printed = Equation(odd, 0)
    assert NOTHING not in objected(printed, AtLeast(odd, -(w**2)))


def test_a_correction_that_holds_of_anything() -> None:
    printed = AtLeast(x + w, 1)
    assert objected(printed, AtLeast(x + w + y * w**2, x + w)) == [ANYTHING]
    assert objected(printed, AtLeast((x + w) ** 2, 0), replaces="the power") == [ANYTHING]
    assert objected(Equation((x + w) ** 2, 0), AtLeast(x**2 + 2 * x * w + w**2 + y, x**2 + 2 * x * w + w**2)) == [ANYTHING]
    assert objected(Equation(x * w, 0), AtLeast(x + w + y, x + w), replaces="the product") == []
    assert objected(printed, AtLeast(x + y, x), replaces="a part") == []  # the print is not about x alone
    assert objected(SQUARE, AtLeast(total(l, (x + w) ** 2 * b[l]), 0), replaces="the weights") == []
    odd = scalar("any quantity")
    assert objected(AtLeast(odd, 1), AtLeast(odd**2 + 1, odd), replaces="all") == [ANYTHING]
    assert objected(AtLeast(x, 1), AtLeast(odd**2 + x, odd), replaces="all") == [ANYTHING]


def test_a_correction_in_which_a_variable_cancels() -> None:
    printed = AtLeast(x, 1)
    assert objected(printed, AtLeast(x + y, x)) == [ANYTHING]
    assert objected(printed, AtLeast(x, x - w**2)) == [ANYTHING]
    assert objected(printed, AtLeast(x, 2 * x)) == []
    assert objected(printed, AtLeast(x, w)) == []
    assert objected(printed, AtLeast(x + y, 2 * x), replaces="a half") == []
    assert objected(AtLeast(x, x + y), AtLeast(x + y, x)) == []  # as it does in the print
    assert objected(AtLeast(a[l], 1), AtLeast(a[l] + b[l], a[l])) == [ANYTHING]


def test_a_consequence_of_the_part_is_no_correction() -> None:
    part, same = (x + w) ** 2, x**2 + 2 * x * w + w**2
    follows = Follows((AtLeast(part, 0),), AtLeast(part + same, part), (one,))
    assert objected(FALSE, follows) == []
    assert objected(FALSE, Follows((AtLeast(y, 0),), AtLeast(part + 2 * y, part), (two,))) == [ANYTHING]
    assert objected(FALSE, Follows((AtLeast(y, 0),), AtLeast(2 * y, 0), (two,)), replaces="all") == []
