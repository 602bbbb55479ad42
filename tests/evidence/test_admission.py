"""Every invalid reading is refused, and the message names claim, key, value and the accepted values."""

import math

import pytest
import sympy as sp
import torch

from derivations.calculus.sums import total
from derivations.calculus.variables import (
    complementary,
    coupling,
    index,
    interior,
    positive,
    scalar,
    simplex,
    size,
    stochastic,
    unit,
    vector,
)
from derivations.domains import Nonnegative, Nonzero
from derivations.records.claims import Layer
from derivations.relations import AtLeast, Differs, Equation, Follows, Relation
from evidence.admission import admit, settled
from evidence.harness import Formula, NotAReadingError, Reading, Vote, compare_reading, float64

m, n = size("m"), size("n")
j, l = index("j", m), index("l", m)  # noqa: E741
k = index("k", m, other_than=(j,))
x, y, w = scalar("x"), positive("y"), scalar("w", Nonnegative)
s, p, u = vector("s", m), simplex("p", m), interior("u", m)
mu, R = complementary("mu", p), stochastic("R", m, n)
e, E = unit("e", m), unit("E", m, n)
F = vector("F", m, n, kind=Nonzero)
a, b = simplex("a", m), simplex("b", n)
P = coupling("P", a, b)
i = index("i", n)

CLAIM = "eot.46"


def admitted(
    relation: Relation,
    point: dict[str, object],
    routes: dict[str, object] | None = None,
    tolerance: object = 1e-9,
    computed: str = "left",
) -> Vote:
    """A reading whose route agrees."""
    vote, formula = Vote(CLAIM, Layer.TORCH), Formula(relation)
    routes_read = {"own": float64(1.0)} if routes is None else routes
    compare_reading(vote, formula, {}, Reading(point, routes_read, tolerance, computed))  # type: ignore[arg-type]
    return vote


ONE = Equation(x, sp.S.One)


@pytest.mark.parametrize("tolerance", [math.inf, -math.inf, math.nan, 0.0, -1e-9, 1.0, 0.1, 1e6, "1e-9", None])
def test_a_tolerance_is_finite_positive_and_small(tolerance: object) -> None:
    with pytest.raises(NotAReadingError, match=f"{CLAIM}: tolerance: expected .*, got"):
        admitted(ONE, {"x": 1.0}, tolerance=tolerance)


def test_a_tolerance_is_small_beside_the_compared_numbers() -> None:
    assert admitted(Equation(x, x), {"x": 1e9}, {"own": float64(1e9)}, tolerance=1.0).instances == 1


@pytest.mark.parametrize(
    "routes",
    [
        {},
        {"own": 1.0},
        {"own": torch.tensor(1)},
        {"own": torch.tensor(1.0 + 0j)},
        {"own": torch.tensor(True)},
        {"own": torch.empty(0, dtype=torch.float64)},
        {"own": float64(1.0), "other": None},
    ],
)
def test_routes_are_real_floating_tensors(routes: dict[str, object]) -> None:
    with pytest.raises(NotAReadingError, match=f"{CLAIM}: route.*expected (at least one|a real floating)"):
        admitted(ONE, {"x": 1.0}, routes)


def test_the_computed_side_is_left_or_right() -> None:
    with pytest.raises(NotAReadingError, match="computed: expected left or right, got 'both'"):
        admitted(ONE, {"x": 1.0}, computed="both")


THIRDS = float64([1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("expr", "point", "accepted"),
    [
        (x, {}, r"x: expected a value \(real\) for the statement, got no value"),
        (s[1], {"s": float64([1.0])}, "m: expected a value"),
        (x, {"x": math.nan}, "x: expected finite numbers"),
        (x, {"x": math.inf}, "x: expected finite numbers"),
        (x, {"x": True}, "x: expected a number or a tensor"),
        (x, {"x": "1"}, "x: expected a number or a tensor"),
        (x, {"x": float64([1.0])}, r"x: expected shape \(\)"),
        (y, {"y": 0.0}, "y: expected numbers > 0"),
        (w, {"w": -1e-12}, "w: expected numbers ≥ 0"),
        (m, {"m": 0}, "m: expected an integer ≥ 1"),
        (m, {"m": 1.0}, "m: expected an integer ≥ 1"),
        (m, {"m": True}, "m: expected an integer ≥ 1"),
        (s[j], {"m": 2, "s": float64([1.0, 2.0]), "j": 3}, "j: expected an integer in 1…2, got 3"),
        (s[j] - s[k], {"m": 2, "s": float64([1.0, 2.0]), "j": 2, "k": 2}, "k: expected an integer other than j"),
        (s[j], {"m": 3, "s": float64([1.0, 2.0])}, r"s: expected shape \(3,\), got shape \(2,\)"),
        (p[j], {"m": 3, "p": float64([0.5, 0.5, 0.1])}, "p: expected numbers whose sum is 1"),
        (p[j], {"m": 3, "p": float64([1.5, -0.5, 0.0])}, "p: expected numbers ≥ 0"),
        (u[j], {"m": 3, "u": float64([0.5, 0.5, 0.0])}, "u: expected numbers > 0"),
        (R[j, i], {"m": 1, "n": 2, "R": float64([[0.5, 0.4]])}, "R: expected rows whose sums are 1"),
        (e[j], {"m": 2, "e": float64([0.6, 0.7])}, "e: expected vectors of length 1"),
        (E[j, i], {"m": 2, "n": 2, "E": float64([[0.6, -0.8], [1.0, 1.0]])}, "E: expected vectors of length 1"),
        (F[j, i], {"m": 2, "n": 2, "F": float64([[0.6, -0.8], [0.0, 0.0]])}, "F: expected vectors other than 0"),
        (mu[j], {"m": 3, "p": THIRDS, "mu": THIRDS}, "mu: expected 0 wherever p is positive"),
        (
            P[j, i],
            {"m": 1, "n": 2, "a": float64([1.0]), "b": float64([0.5, 0.5]), "P": float64([[0.4, 0.6]])},
            "P: expected column sums b",
        ),
        (
            P[j, i],
            {"m": 1, "n": 2, "a": float64([1.0]), "b": float64([0.5, 0.5]), "P": float64([[0.4, 0.4]])},
            "P: expected row sums a",
        ),
        (s[j], {"m": 2, "s": float64([1.0, math.nan])}, "s: expected finite numbers"),
        (u[j], {"m": 2, "u": float64([1.0, 0.0])}, "u: expected numbers > 0"),
        (R[j, i], {"m": 2, "n": 2, "R": float64([[0.5, 0.5], [0.5, 0.4]])}, "R: expected rows whose sums are 1"),
        (mu[j], {"m": 2, "p": float64([0.0, 1.0]), "mu": float64([1.0, 1.0])}, "mu: expected 0 wherever p is positive"),
    ],
)
def test_values_lie_in_their_domains(expr: sp.Expr, point: dict[str, object], accepted: str) -> None:
    with pytest.raises(NotAReadingError, match=f"{CLAIM}: {accepted}"):
        admitted(Equation(expr, 1 + expr - expr, about=(expr,)) if expr.is_Symbol else Equation(expr, expr), point)


PLAN = float64([[0.125, 0.0, 0.125], [0.25, 0.25, 0.25]])


@pytest.mark.parametrize(
    ("expr", "point"),
    [
        (m, {"m": 1}),
        (s[j], {"m": 1, "s": float64([1.0]), "j": 1}),
        (s[j] - s[k], {"m": 2, "s": float64([1.0, 2.0]), "j": 2, "k": 1}),
        (F[j, i], {"m": 2, "n": 2, "F": float64([[0.0, 1.0], [-1.0, 0.0]])}),
        (w, {"w": 0.0}),
        (x, {"x": -3}),
        (p[1], {"m": 2, "p": float64([0.0, 1.0])}),
        (u[1], {"m": 2, "u": float64([0.25, 0.75])}),
        (mu[1], {"m": 2, "p": float64([0.0, 1.0]), "mu": float64([5.0, 0.0])}),
        (R[1, 2], {"m": 3, "n": 2, "R": float64([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]])}),
        (P[1, 2], {"m": 2, "n": 3, "a": float64([0.25, 0.75]), "b": float64([0.375, 0.25, 0.375]), "P": PLAN}),
    ],
    ids=str,
)
def test_values_in_their_domains_are_admitted(expr: sp.Expr, point: dict[str, object]) -> None:
    admit(CLAIM, Formula(Equation(expr, expr)), {}, Reading(point, {"own": float64(1.0)}, 1e-9))  # type: ignore[arg-type]


class Plain(torch.Tensor):
    """A tensor of a custom class."""


def test_only_plain_values_are_read() -> None:
    weight = torch.nn.Parameter(float64([1.0]))
    reading = settled(CLAIM, Reading({"x": weight, "m": 2, "n": True}, {"own": weight}, 1e-9, "right"))
    assert type(reading.point["x"]) is type(reading.routes["own"]) is torch.Tensor
    assert not reading.routes["own"].requires_grad
    assert (reading.point["m"], reading.point["n"], reading.tolerance, reading.computed) == (2, True, 1e-9, "right")
    with pytest.raises(NotAReadingError, match=f"{CLAIM}: own: expected a plain tensor, got one of "):
        settled(CLAIM, Reading({}, {"own": float64([1.0]).as_subclass(Plain)}, 1e-9))  # type: ignore[arg-type]
    with pytest.raises(NotAReadingError, match=f"{CLAIM}: check: expected a Reading, got one of "):
        settled(CLAIM, {"own": 1.0})  # type: ignore[arg-type]


def test_an_infinite_tolerance_is_refused() -> None:
    with pytest.raises(NotAReadingError, match="tolerance: expected a finite float > 0, got inf"):
        admitted(ONE, {"x": 1.0}, tolerance=math.inf)


def test_hypotheses_hold() -> None:
    premise = AtLeast(x, y)
    implied = Follows((premise,), AtLeast(2 * x, 2 * y), (sp.Integer(2),))
    assert admitted(implied, {"x": 1.0, "y": 1.0}, {"own": float64(2.0)}).instances == 1
    with pytest.raises(NotAReadingError, match="point: expected one at which x ≥ y holds, as is given"):
        admitted(implied, {"x": 0.5, "y": 1.0}, {"own": float64(2.0)})
    with pytest.raises(NotAReadingError, match=r"x ≠ y holds, as is given, got one that misses by 0$"):
        admitted(Equation(x, x, given=(Differs(x, y),)), {"x": 1.0, "y": 1.0})


def test_hypotheses_hold_at_every_open_index() -> None:
    ordered = Equation(s[j], s[j], given=(AtLeast(s[j], 0),))
    with pytest.raises(NotAReadingError, match="point: expected one at which"):
        admitted(ordered, {"m": 2, "s": float64([1.0, -1.0])}, {"own": float64([1.0, -1.0])})


def test_a_value_of_a_variable_that_only_a_twin_has_is_needed() -> None:
    vote = Vote(CLAIM, Layer.TORCH)
    with pytest.raises(NotAReadingError, match="y: expected a value \\(positive\\) for the twin 'y for 1'"):
        compare_reading(
            vote,
            Formula(ONE),
            {"y for 1": Formula(Equation(x, y), "twin 'y for 1'")},
            Reading({"x": 1.0}, {"own": float64(1.0)}, 1e-9),
        )


def test_rounding_of_masses_is_admitted() -> None:
    share = torch.softmax(torch.linspace(-3, 3, 50, dtype=torch.float64), 0)
    point = {"m": 50, "p": share}
    assert admitted(Equation(total(l, p[l] ** 2), sp.S.One), point, {"own": float64(1.0)}).instances == 1
