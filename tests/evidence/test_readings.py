"""Readings: a position counts only if both compared numbers are finite."""

import math

import pytest
import sympy as sp
import torch
from torch import Tensor

from derivations.calculus.functions import derivative, kl, reciprocal, xlogx
from derivations.calculus.parts import plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.domains import Nonnegative
from derivations.relations import AtLeast, Differs, Equation, Fails, Follows, Limit, Relation
from evidence.bridge import clashes, evaluate
from evidence.harness import float64
from evidence.readings import MARGIN, REFUTING_FACTOR, Comparison, Formula, Miss, Reading, compare, standing_for

m = size("m")
j, l = index("j", m), index("l", m)  # noqa: E741
k = index("k", m, other_than=(j,))
x, y, z = scalar("x"), positive("y"), scalar("z", Nonnegative)
s = vector("s", m)
NAN, INF = math.nan, math.inf
TOLERANCE = 1e-9


def compared(relation: Relation, route: object, computed: str = "left", **point: object) -> Comparison:
    formula = Formula(relation)
    reading = Reading(point, {"own": float64(route)}, TOLERANCE, computed)  # type: ignore[arg-type]
    return compare(formula, reading, formula.axes(reading.point))["own"]


@pytest.mark.parametrize(("value", "route"), [(1000.0, 1.0), (1000.0, INF), (1000.0, NAN), (1.0, NAN), (1.0, INF)])
def test_nonfinite_values_are_not_compared(value: float, route: float) -> None:
    comparison = compared(Equation(x, sp.exp(x)), route, x=value)
    assert (comparison.compared, comparison.incomparable, comparison.miss) == (0, 1, 0.0)


def test_a_quotient_of_zeros_is_not_compared() -> None:
    comparison = compared(Equation(s[j], (sp.exp(s[j]) - 1) / s[j]), [math.e - 1, 5.0], m=2, s=float64([1.0, 0.0]))
    assert (comparison.compared, comparison.incomparable) == (1, 1)


def test_an_index_that_clashes_is_known_from_the_point() -> None:
    formula, point = Formula(Equation(s[j] - s[k], s[j] - s[k])), {"m": 2, "s": float64([1.0, 3.0])}
    assert clashes(formula.axes(point), point).tolist() == [[True, False], [False, True]]
    comparison = compared(formula_of(s[j] - s[k]), [[NAN, -2.0], [2.0, 7.0]], **point)
    assert (comparison.compared, comparison.incomparable, comparison.miss) == (2, 0, 0.0)
    assert compared(formula_of(s[j] - s[k]), [[0.0, -2.0], [NAN, 7.0]], **point).incomparable == 1


def formula_of(expr: sp.Expr) -> Equation:
    return Equation(expr, expr)


def test_a_fixed_index_clashes_with_an_open_one() -> None:
    assert clashes([k], {"m": 3, "j": 2}).tolist() == [False, True, False]


@pytest.mark.parametrize(("route", "agrees", "refuted"), [(2.0, True, False), (1.0, False, True), (0.0, False, True)])
def test_equality_refutes_a_strict_inequality(route: float, agrees: bool, refuted: bool) -> None:
    comparison = compared(AtLeast(x, y, strict=True), route, x=0.0, y=1.0)
    assert (comparison.miss <= 1, comparison.miss > REFUTING_FACTOR) == (agrees, refuted)


@pytest.mark.parametrize(
    ("computed", "route", "agrees"), [("left", 3.0, True), ("left", 1.0, False), ("right", 1.0, True), ("right", 3.0, False)]
)
def test_the_side_that_is_computed_decides_the_direction(computed: str, route: float, agrees: bool) -> None:
    assert (compared(AtLeast(x, y), route, computed, x=2.0, y=2.0).miss <= 1) is agrees


def test_the_conclusion_of_an_implication_may_be_strict() -> None:
    strict = Follows((AtLeast(x, 0),), AtLeast(x + 1, 0, strict=True), (sp.S.One,), sp.S.One)
    assert compared(strict, 0.0, x=0.0).miss == pytest.approx(MARGIN)


def test_numbers_that_should_differ() -> None:
    assert compared(Differs(x, y), 2.0, x=2.0, y=1.0).miss <= 1
    assert compared(Differs(x, y), 1.0, x=1.0, y=1.0).miss > REFUTING_FACTOR


def test_a_number_refutes_infinity() -> None:
    assert compared(Limit(1 / y, y, sp.S.Zero, sp.oo), 7.0).miss == math.inf
    assert compared(Limit(1 / y, y, sp.S.Zero, sp.oo), INF).incomparable == 1


def test_the_gap_of_an_inequality_is_relative() -> None:
    assert compared(AtLeast(x, x - 10**9), 1.0, x=1.0).gap == pytest.approx(1)
    assert compared(AtLeast(x, x / 2), 4.0, x=4.0).gap == pytest.approx(1 / 2)
    assert compared(AtLeast(x, x), 0.0, x=0.0).gap == 0


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="own: expected shape"):
        compared(Equation(s[j], s[j]), [1.0], m=2, s=float64([1.0, 2.0]))


@pytest.mark.parametrize(
    "relation",
    [
        Equation(scalar("z") + positive("z"), x),
        Equation(total(l, s[l]), vector("s", size("n"))[index("j", size("n"))]),
        Fails(Equation(x, positive("x"))),
    ],
)
def test_two_variables_of_one_name_are_refused(relation: Relation) -> None:
    with pytest.raises(ValueError, match="expected one variable of a name"):
        Formula(relation)


def test_every_number_of_a_comparison() -> None:
    comparison = compared(Equation(s[j], 2 * s[j]), [1.0, -7.0, 3.0], m=3, s=float64([1.0, -6.0, 2.0]))
    assert comparison == Comparison(5.0 / TOLERANCE, 3, 0, gap=0.25, largest=12.0, derived=12.0, worst=Miss((2,), -7.0, -12.0))
    comparison = compared(Equation(s[j], 2 * s[j]), [1.0, -7.0, NAN], "right", m=3, s=float64([1.0, -6.0, 2.0]))
    assert comparison == Comparison(1.0 / TOLERANCE, 2, 1, gap=0.0, largest=7.0, derived=6.0, worst=Miss((2,), -7.0, -6.0))
    assert compared(Equation(x, x / 2), -4.0, x=-4.0).gap == 0.5


def test_the_worst_position_is_counted_from_1_without_clashing_ones() -> None:
    comparison = compared(formula_of(s[j] - s[k]), [[NAN, -2.0], [2.5, NAN]], m=2, s=float64([1.0, 3.0]))
    assert comparison.worst == Miss((2, 1), 2.5, 2.0)


def test_a_route_may_have_a_gradient() -> None:
    assert compared(Equation(x, y), torch.tensor(1.0, dtype=torch.float64, requires_grad=True), x=1.0, y=1.0).miss == 0


def test_where_nothing_is_compared_nothing_is_large() -> None:
    assert compared(Equation(x, sp.exp(x)), 1.0, x=1000.0) == Comparison(0.0, 0, 1, INF, 0.0, 0.0, None)


def test_a_strict_inequality_is_one_by_ten_tolerances_and_the_one_of_agreement() -> None:
    def miss(route: float) -> float:
        reading = Reading({"x": 0.0, "y": 1.0}, {"own": float64(route)}, 0.5)
        return compare(Formula(AtLeast(x, y, strict=True)), reading, [])["own"].miss

    assert (miss(1.0), miss(6.0), miss(6.5)) == (11.0, 1.0, 0.0)


@pytest.mark.parametrize("infinite", [sp.oo, -sp.oo])
def test_every_number_must_be_finite_to_refute_infinity(infinite: sp.Expr) -> None:
    point = {"m": 2, "s": float64([1.0, 2.0])}
    half = compared(Limit(s[j] / y, y, sp.S.Zero, infinite), [7.0, INF], **point)
    assert (half.miss, half.compared, half.incomparable) == (0.0, 0, 2)
    assert compared(Limit(s[j] / y, y, sp.S.Zero, infinite), [7.0, -8.0], **point) == Comparison(INF, 2, 0, INF, 8.0, INF)


def test_the_parts_of_a_formula() -> None:
    formula = Formula(Fails(AtLeast(s[j], x, strict=True, given=(AtLeast(s[l], y),))), "print")
    assert (formula.left, formula.right, formula.ordered, formula.strict, formula.apart) == (s[j], x, True, True, False)
    assert formula.names == ["j", "m", "s", "x"]
    assert formula.indices == [j]
    assert formula.axes({"m": 2}) == [j]
    assert formula.axes({"m": 2, "j": 1}) == []
    assert [v.name for v in formula.variables] == ["j", "m", "s", "x", "l", "y"]
    assert Formula(Limit(1 / y + x, y, sp.S.Zero, x)).variables == [x]


def test_an_edited_formula_has_another_side() -> None:
    formula = Formula(AtLeast(x, y))
    left, right = formula.edited("left", 2 * x, True), formula.edited("right", 2 * y, False)
    assert (left.left, left.right, left.strict) == (2 * x, y, True)
    assert (right.left, right.right, right.strict) == (x, 2 * y, False)
    assert (formula.left, formula.right, formula.strict) == (x, y, False)


@pytest.mark.parametrize(
    ("computed", "twin", "value"),
    [
        ("left", Equation(x + 1, y), 3.0),
        ("left", Equation(x, 2 * y), None),
        ("left", Equation(x + y - y, 2 * y), None),
        ("right", Equation(2 * x, y), None),
        ("right", Equation(x, 2 * y), 8.0),
        ("left", Limit(x + 1 / y, y, sp.oo, 2 * x), None),
    ],
)
def test_a_twin_of_the_computed_side_is_evaluated_separately(computed: str, twin: Relation, value: float | None) -> None:
    reading = Reading({"x": 2.0, "y": 4.0}, {"own": float64(7.0), "other": float64(7.0)}, TOLERANCE, computed)  # type: ignore[arg-type]
    reading_of_twin = standing_for(Formula(twin), Formula(Equation(x, y)), reading, [])
    if value is None:
        assert reading_of_twin is reading
    else:
        assert {name: float(route) for name, route in reading_of_twin.routes.items()} == {"own": value, "other": value}


# ── the numbers themselves ──────────────────────────────────────────────────────────────────────────────────────────


def number(expr: sp.Expr, **point: object) -> float:
    return float(evaluate(expr, point, []))  # type: ignore[arg-type]


def test_sums_begin_at_their_lower_limit() -> None:
    values: Tensor = float64([1.0, 2.0, 4.0])
    assert number(sp.Sum(s[l], (l, 2, m)), m=3, s=values) == 6
    assert number(sp.Sum(s[l], (l, 2, m)), m=1, s=values[:1]) == 0


def test_an_entry_out_of_range_is_refused() -> None:
    with pytest.raises(IndexError, match="counted from 1"):
        number(s[j - 1], m=3, j=1, s=float64([1.0, 2.0, 4.0]))


def test_derivatives_do_not_ask_the_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("derivations.calculus.sums.normal", lambda expr: sp.S.Zero)
    point = {"m": 3, "s": float64([1.0, 2.0, 4.0]), "j": 2, "l": 2}
    assert number(derivative(total(l, s[l] ** 2), s[j]), **point) == 4
    assert number(kl(y, y / 2), y=2.0) == pytest.approx(2 * math.log(2) - 1)
    assert number(derivative(derivative(x**3, x), x), x=2.0) == 12


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (xlogx(y - 1), 0.0),
        (sp.Abs(x), 3.0),
        (delta(j, j + 1), 0.0),
        (delta(j, j), 1.0),
        (xlogx(z), 2 * math.log(2)),
        (plus(x), 0.0),
        (plus(-x), 3.0),
        (plus(x + 3.5), 0.5),
        (sp.sign(x), -1.0),
        (reciprocal(x + 1), -0.5),
        (reciprocal(y - 1), INF),
        (1 / (y - 1), INF),
        (1 / (j - 1), NAN),
        (sp.pi * y, math.pi),
        (sp.E * y, math.e),
    ],
)
def test_functions_of_the_calculus(expr: sp.Expr, value: float) -> None:
    assert number(expr, y=1.0, x=-3.0, z=2.0, j=1, m=2) == pytest.approx(value, rel=1e-15, abs=0.0, nan_ok=True)


def test_values_are_real_and_in_float64() -> None:
    assert math.isnan(number(sp.sqrt(x), x=-1.0))
    assert evaluate(x, {"x": torch.tensor(0.1, dtype=torch.float64)}, []).dtype == torch.float64
