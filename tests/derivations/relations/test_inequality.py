"""Inequalities: the forms of a difference that show its sign, and the message if none does."""

from fractions import Fraction

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.deduction import factored
from derivations.calculus.functions import kl
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, index, positive, scalar, size, vector
from derivations.domains import Nonnegative
from derivations.records import rendering
from derivations.relations import AtLeast, Differs, Follows, StrictUnlessEqual
from derivations.relations.inequality import _gathered
from derivations.relations.unless_equal import divergence

x, w, v = scalar("x"), scalar("w"), scalar("v")
y, t, tau = positive("y"), positive("t"), positive("tau")
z = scalar("z", Nonnegative)
m = size("m")
j, l = index("j", m), index("l", m)  # noqa: E741
a, b, matrix = vector("a", m), vector("b", m), vector("A", m, m)
one, two = sp.S.One, sp.Integer(2)
squares = sp.Add(*[scalar(f"v{number}") ** 2 for number in range(7)])  # more terms than bounds are tried for
ordered = AtLeast(x, w)

PROVED = {
    "as written": AtLeast((x - w) ** 2, 0),
    "in normal form": AtLeast((x + 1) ** 2 - 2 * x, 0),
    "by positive parts in one orientation": AtLeast(sp.Abs(x) + x + squares, 2 * plus(x)),
    "by squares": AtLeast(sp.sqrt(x**2 + y), x),
    "by squares, strictly": AtLeast(sp.sqrt(x**2 + y), x, strict=True),
    "by squares of roots alone": AtLeast(sp.sqrt(y + t), sp.sqrt(y)),
    "by squares in one sum": AtLeast(total(j, a[j] ** 2) + total(l, b[l] ** 2), 2 * total(j, a[j] * b[j])),
    "by another form": AtLeast(x**2 + w**2, 2 * x * w, because=(x - w) ** 2),
    "by a hypothesis": AtLeast(2 * x, 2 * w, given=(ordered,)),
    "strictly by a strict hypothesis": AtLeast(2 * x, 2 * w, strict=True, given=(AtLeast(x, w, strict=True),)),
    "by a hypothesis that two differ": AtLeast((x - w) ** 2, 0, strict=True, given=(Differs(x, w),)),
}


@pytest.mark.parametrize("name", PROVED)
def test_is_proved(name: str) -> None:
    assert PROVED[name].explain() == ""
    assert PROVED[name].refute() is None


LEFT_OPEN = {
    "no sign": (AtLeast(x, w), "no sign of -w + x: expected every term ≥ 0"),
    "no strict sign": (AtLeast(z, 0, strict=True), "no sign of z: expected every term ≥ 0 and one > 0"),
    "another form that is none": (
        AtLeast(x**2 + w**2, 2 * x * w, because=(x + w) ** 2),
        "because is not left − right: they differ by -4*w*x in normal form",
    ),
    "another form without a sign": (AtLeast(x**2, w, because=x**2 - w), "no sign of -w + x**2: expected every term ≥ 0"),
    "another form without a sign, where the difference has one": (
        AtLeast((x - w) ** 2, 0, because=x**2 - 2 * x * w + w**2),
        "no sign of w**2 - 2*w*x + x**2: expected every term ≥ 0",
    ),
    "another form of other variables": (
        AtLeast(x, 0, because=positive("o") + v),
        "because: expected variables of the statement, got o, v",
    ),
    "squares of what may be negative": (AtLeast(x - sp.sqrt(t), x - sp.sqrt(t + y) - w), None),
    "a negative root": (AtLeast(-sp.sqrt(x**2 + y), x), None),
    "the sum for the difference of a hypothesis": (AtLeast(x, -w, given=(ordered,)), None),
    "the hypothesis the other way round": (AtLeast(w, x, given=(ordered,)), None),
    "strictly by a hypothesis that is not strict": (AtLeast(2 * x, 2 * w, strict=True, given=(ordered,)), None),
}


@pytest.mark.parametrize("name", LEFT_OPEN)
def test_stays_undecided(name: str) -> None:
    relation, message = LEFT_OPEN[name]
    assert relation.explain() == message if message else relation.explain()


@pytest.mark.parametrize(
    ("relation", "point", "failure", "holds"),
    [
        (AtLeast(x, 0), {x: -1}, "<", False),
        (AtLeast(x, 0), {x: 0}, None, True),
        (AtLeast(x, 0, strict=True), {x: 0}, "≤", False),
        (AtLeast(x, 0, strict=True), {x: 1}, None, True),
        (AtLeast(1 / x, 0), {x: 0}, None, False),
        (AtLeast(0, 1 / x), {x: 0}, None, False),
        (AtLeast(sp.exp(x), sp.exp(x)), {x: 1}, None, False),  # two balls that overlap
    ],
    ids=str,
)
def test_at_a_point(relation: AtLeast, point: dict[sp.Expr, int], failure: str | None, holds: bool) -> None:
    witness = relation.contradicted_at(point)
    assert (witness.sign if witness else None) == failure
    assert relation.holds_at(point) is holds


def convex(*weights: sp.Expr, first: sp.Expr = z, second: sp.Expr = tau, gap: sp.Expr | None = None) -> StrictUnlessEqual:
    """Weighted divergences of two points from y."""
    sizes = (*weights, one, one)[:2]
    return StrictUnlessEqual(
        sizes[0] * kl(first, y) + sizes[1] * kl(second, y) + v if gap is None else gap, v, first, second, y, weights
    )


def test_two_divergences_vanish_only_where_two_points_agree() -> None:
    assert convex(one, two).explain() == ""
    assert convex(one, two).refute() is None
    by_alpha = StrictUnlessEqual(bregman(z, y, two) + t * bregman(tau, y, two), 0, z, tau, y, (one, t), two)
    assert by_alpha.explain() == ""


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (convex(one), "weights: expected two, got 1"),
        (convex(one, two, one), "weights: expected two, got 3"),
        (convex(one, z), "weights: expected positive ones of divergences, got 1, z"),
        (convex(-one, two), "weights: expected positive ones of divergences, got -1, 2"),
        (convex(one, positive("o"), gap=kl(z, y) + kl(tau, y) + v), "weights: expected variables of the statement, got o"),
        (
            convex(one, two, gap=kl(z, y) + kl(tau, y) + v),
            "left − right is not the weighted sum of divergences 2*kl(tau ‖ y) + kl(z ‖ y)",
        ),
        (
            convex(one, two, gap=v - kl(z, y) - 2 * kl(tau, y)),
            "left − right is not the weighted sum of divergences 2*kl(tau ‖ y) + kl(z ‖ y)",
        ),
        (convex(one, two, second=z), "x, y: expected two points, got z twice"),
        (convex(one, two, first=t * (tau + 1), second=t * tau + t), "x, y: expected two points, got t*(tau + 1) twice"),
        (convex(one, two, second=x), "it is not shown that x ≥ 0"),
    ],
    ids=str,
)
def test_statements_that_are_no_sum_of_divergences(relation: StrictUnlessEqual, message: str) -> None:
    assert relation.explain() == message


@pytest.mark.parametrize(
    ("relation", "point", "fails"),
    [
        (StrictUnlessEqual(x, w, z, tau, y, (one, one)), {x: 1, w: 0, z: 1, tau: 2, y: 1}, False),
        (StrictUnlessEqual(x, w, z, tau, y, (one, one)), {x: 0, w: 1, z: 1, tau: 2, y: 1}, True),
        (StrictUnlessEqual(x, w, z, tau, y, (one, one)), {x: 0, w: 1, z: 1, tau: 1, y: 1}, True),
        (StrictUnlessEqual(x, w, z, tau, y, (one, one)), {x: 0, w: 0, z: 1, tau: 1, y: 1}, False),
        (StrictUnlessEqual(x, w, z, tau, y, (one, one)), {x: 0, w: 0, z: 1, tau: 2, y: 1}, True),
        (StrictUnlessEqual(1 / x, w, z, tau, y, (one, one)), {x: 0, w: 1, z: 1, tau: 2, y: 1}, False),
        (StrictUnlessEqual(x, 1 / w, z, tau, y, (one, one)), {x: 0, w: 0, z: 1, tau: 2, y: 1}, False),
    ],
    ids=str,
)
def test_where_it_fails(relation: StrictUnlessEqual, point: dict[sp.Expr, int], fails: bool) -> None:
    witness = relation.contradicted_at(point)
    assert (witness is not None) is fails
    assert witness is None or "≤" in rendering.witness(witness)


def test_a_divergence_needs_an_exponent_above_1() -> None:
    assert divergence(z, y) == kl(z, y)
    assert divergence(z, y, sp.Rational(3, 2)) == bregman(z, y, sp.Rational(3, 2))
    assert divergence(z, y, 1 + t) == bregman(z, y, 1 + t)
    for alpha in (one, sp.Rational(1, 2), t, x, 1 + z):
        with pytest.raises(ValueError, match=r"^alpha: expected an exponent > 1, got "):
            divergence(z, y, alpha)


@pytest.mark.parametrize(
    ("premises", "conclusion", "trivial"),
    [
        ((ordered,), ordered, True),
        ((ordered,), AtLeast(0, w - x), True),
        ((ordered,), AtLeast(x, -w), False),
        ((ordered,), AtLeast(2 * x, 2 * w), False),
        ((AtLeast(v, 0), ordered), ordered, True),
        ((ordered,), AtLeast(x, x), True),
    ],
    ids=str,
)
def test_a_premise_is_no_conclusion(premises: tuple[AtLeast, ...], conclusion: AtLeast, trivial: bool) -> None:
    assert Follows(premises, conclusion, (one,) * len(premises)).trivial() is trivial


def test_incomplete_combinations_of_premises() -> None:
    wrong = Follows((ordered,), AtLeast(3 * x, 2 * w), (two,))
    assert wrong.explain() == "the conclusion is not this combination of the premises: they differ by x"
    assert Follows((ordered,), AtLeast(3 * x, 2 * w), (two, one)).explain() == (
        "weights: expected one for each of 1 premises, got 2"
    )
    assert wrong.contradicted_at({x: -1, w: Fraction(-1)}) is not None


@pytest.mark.parametrize(("outer", "inner"), [(j, l), (l, j)])
def test_sums_that_are_gathered_capture_no_index_of_a_sum_inside(outer: Variable, inner: Variable) -> None:
    """The index of one sum is bound inside of the other."""
    plain = sp.Sum(a[inner] ** 2, (inner, 1, m))
    nested = sp.Sum(b[outer] * sp.Abs(sp.Sum(matrix[inner, outer], (inner, 1, m))), (outer, 1, m))
    point = {m: 2, a.label: [1, 2], b.label: [3, 5], matrix.label: [[1, 20], [300, 4000]]}
    for gap in (plain + nested, plain - nested):
        assert enclose(gap - _gathered(gap), point) == 0


S, T = total(l, sp.Abs(b[l])), total(l, a[l])
WITH_FUNCTIONS_OF_THE_SUM = [
    T * sp.exp(-T) - total(l, a[l] * sp.exp(-a[l])),
    T * sp.Abs(T) - total(l, a[l] * sp.Abs(a[l])),
    S * sp.sqrt(S),
    S / (1 + S),
    T / S,
    T**2,
    sp.exp(T),
    T * a[l] * sp.exp(a[l] - T),
    T * plus(T) * sp.Abs(total(j, a[j] * total(l, matrix[j, l]))),
    total((j, l), matrix[j, l]) * sp.Abs(T),
    total(j, a[j] * sp.exp(-total(l, matrix[j, l] * a[j]))) * sp.exp(-T),
]


@pytest.mark.parametrize("gap", WITH_FUNCTIONS_OF_THE_SUM, ids=str)
def test_sums_that_are_gathered_are_replaced_in_no_other_factor(gap: sp.Expr) -> None:
    """A sum occurs also in a function, a power or a denominator, and its index in other factors."""
    values = [Fraction(1), Fraction(-3), Fraction(1, 2)]
    for length in (1, 2, 3):
        point = {
            m: length,
            l: length,
            a.label: values[:length],
            b.label: values[-length:],
            matrix.label: [[row - 2 * column for column in range(length)] for row in range(length)],
        }
        difference = enclose(gap, point) - enclose(_gathered(gap), point)
        assert difference.contains(0)
        assert difference.rad() < 2.0**-50


K7 = sp.Mul(*(m - number for number in range(1, 8))) ** 2  # > 0 beyond the sizes of the sample alone
SHAPES = {
    "exponential": lambda r: sp.exp(-r),
    "modulus": sp.Abs,
    "root": lambda r: sp.sqrt(1 + r**2),
    "positive part": plus,
    "fraction": lambda r: 1 / (1 + r**2),
    "sigmoid": lambda r: 1 / (1 + sp.exp(-r)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", [one, K7], ids=["everywhere", "beyond small sizes"])
def test_a_function_of_a_sum_is_no_sum_of_the_function(shape: str, factor: sp.Expr) -> None:
    """Neither is at least the other: at entries of one sign one is greater, at those of two signs the other."""
    f = SHAPES[shape]
    of_sum, of_terms = factor * T * f(T), factor * total(l, a[l] * f(a[l]))
    for left, right in ((of_sum, of_terms), (of_terms, of_sum)):
        for strict in (False, True):
            assert AtLeast(left, right, strict=strict).explain().startswith("no sign")


def test_factors_of_an_exponential_of_a_sum_have_no_product() -> None:
    assert factored(x * sp.exp(T) + sp.exp(T)) == (x + 1) * sp.exp(T)
