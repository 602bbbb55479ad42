"""Domains of points: for each kind of variable the last admitted value and the first refused one."""

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.admission import NotAdmittedError, admit, completed
from derivations.calculus.variables import (
    Variable,
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
from derivations.domains import Nonnegative, Nonzero, Positive, Random

m, n = size("m"), size("n")
j = index("j", m)
k, e = index("k", m, other_than=(j,)), index("e", m + 1)
x, y, z = scalar("x"), positive("y"), scalar("z", Nonnegative)
a, b, c, A = vector("a", m), vector("b", m, kind=Positive), vector("c", m, kind=Nonnegative), vector("A", n, m)
q, u, S, R = simplex("q", m), interior("u", m), simplex("S", n, m), stochastic("R", n, m)
d, D = unit("d", m), unit("D", n, m)
f, F = vector("f", m, kind=Nonzero), vector("F", n, m, kind=Nonzero)
P, mu = coupling("P", interior("v", n), u), complementary("mu", q)
v = interior("v", n)
random_variable = Variable("some", Random())
half, third, tiny = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10**12)
PLAN = {n: 2, m: 2, v.label: [half, half], u.label: [third, 1 - third]}

Points = dict[str, dict[Variable, Any]]
ADMITTED: Points = {
    "a size": {m: 1},
    "a real": {x: -tiny},
    "0": {z: 0},
    "a positive": {y: tiny},
    "the first index": {m: 3, j: 1},
    "the last index": {m: 3, j: 3},
    "an index over a range that is computed": {m: 3, e: 4},
    "an index other than another": {m: 2, j: 1, k: 2},
    "a vector": {m: 2, a.label: [-1, third]},
    "a tuple": {m: 2, a.label: (-1, third)},
    "a positive vector": {m: 2, b.label: [tiny, 1]},
    "a nonnegative vector": {m: 2, c.label: [0, 1]},
    "a matrix": {n: 1, m: 2, A.label: [[1, 2]]},
    "a corner": {m: 2, q.label: [0, 1]},
    "an inner point": {m: 2, u.label: [third, 1 - third]},
    "a point of a simplex of pairs": {n: 1, m: 2, S.label: [[third, 1 - third]]},
    "rows of mass 1": {n: 2, m: 2, R.label: [[third, 1 - third], [0, 1]]},
    "a unit vector": {m: 2, d.label: [Fraction(3, 5), Fraction(-4, 5)]},
    "unit rows": {n: 2, m: 2, D.label: [[0, 1], [-1, 0]]},
    "a vector other than 0": {m: 2, f.label: [0, -tiny]},
    "rows other than 0": {n: 2, m: 2, F.label: [[0, 1], [-1, 0]]},
    "a plan": {**PLAN, P.label: [[third, half - third], [0, half]]},
    "multipliers": {m: 2, q.label: [0, 1], mu.label: [5, 0]},
}
REFUSED: dict[str, tuple[dict[Variable, Any], str]] = {
    "a vector of another length than 1": ({m: 2, d.label: [half, half]}, "vectors of length 1 for d, got (1/2, 1/2)"),
    "a row that is": ({n: 2, m: 2, D.label: [[0, 1], [half, half]]}, "vectors of length 1 for D, got "),
    "the vector 0": ({m: 2, f.label: [0, 0]}, "vectors other than 0 for f, got (0, 0)"),
    "a row of 0": ({n: 2, m: 2, F.label: [[0, 1], [0, 0]]}, "vectors other than 0 for F, got "),
    "no size": ({m: 0}, "a size ≥ 1 for m, got 0"),
    "half a size": ({m: Fraction(3, 2)}, "an integer for m, got 3/2"),
    "a true size": ({m: True}, "an integer for m, got True"),
    "a negative positive": ({y: -tiny}, "positive numbers for y, got -1/1000000000000"),
    "a positive 0": ({y: 0}, "positive numbers for y, got 0"),
    "below 0": ({z: -tiny}, "numbers ≥ 0 for z, got -1/1000000000000"),
    "a float": ({x: 0.5}, "exact rational numbers for x, got 0.5"),
    "a text": ({x: "1"}, "exact rational numbers for x, got '1'"),
    "a truth value": ({x: True}, "exact rational numbers for x, got True"),
    "the index 0": ({m: 3, j: 0}, "an index in 1…3 for j, got 0"),
    "an index beyond": ({m: 3, j: 4}, "an index in 1…3 for j, got 4"),
    "an index beyond a range that is computed": ({m: 3, e: 5}, "an index in 1…4 for e, got 5"),
    "half an index": ({m: 3, j: half}, "an integer for j, got 1/2"),
    "an index that is another": ({m: 2, j: 1, k: 1}, "an index other than j = 1 for k, got 1"),
    "a vector that is too long": ({m: 2, a.label: [1, 2, 3]}, "2 entries for a, got (1, 2, 3)"),
    "a vector that is too short": ({m: 2, a.label: [1]}, "2 entries for a, got (1)"),
    "no vector": ({m: 2, a.label: 1}, "1 axes of entries for a, got 1"),
    "a text for a vector": ({m: 2, a.label: "12"}, "1 axes of entries for a, got '12'"),
    "a matrix for a vector": ({m: 1, a.label: [[1]]}, "1 axes of entries for a, got ((1))"),
    "a text for a row": ({n: 1, m: 2, A.label: ["12"]}, "2 axes of entries for A, got ('12')"),
    "texts for entries": ({m: 2, a.label: ["1", "2"]}, "exact rational numbers for a, got ('1', '2')"),
    "one entry that is a row": ({m: 2, a.label: [1, [2]]}, "1 axes of entries for a, got (1, (2))"),
    "one row that is a number": ({n: 2, m: 1, A.label: [[1], 2]}, "2 axes of entries for A, got ((1), 2)"),
    "an empty vector": ({m: 2, a.label: []}, "rows of one length for a, got ()"),
    "ragged rows": ({n: 2, m: 2, A.label: [[1], [1, 2]]}, "rows of one length for A, got ((1), (1, 2))"),
    "an empty row": ({n: 2, m: 2, A.label: [[], [1, 2]]}, "rows of one length for A, got ((), (1, 2))"),
    "a transposed matrix": ({n: 1, m: 2, A.label: [[1], [2]]}, "1×2 entries for A, got ((1), (2))"),
    "a vector with a 0": ({m: 2, b.label: [0, 1]}, "positive numbers for b, got (0, 1)"),
    "a vector below 0": ({m: 2, c.label: [-tiny, 1]}, "numbers ≥ 0 for c, got (-1/1000000000000, 1)"),
    "a mass below 0": ({m: 2, q.label: [-tiny, 1 + tiny]}, "numbers ≥ 0 for q, got "),
    "masses of more than 1": ({m: 2, q.label: [tiny, 1]}, "entries with sum 1 for q, got (1/1000000000000, 1)"),
    "inner masses of less than 1": ({m: 2, u.label: [tiny, half]}, "entries with sum 1 for u, got "),
    "an inner point on the boundary": ({m: 2, u.label: [0, 1]}, "positive numbers for u, got (0, 1)"),
    "pairs with rows of mass 1": ({n: 2, m: 1, S.label: [[1], [1]]}, "entries with sum 1 for S, got "),
    "one row of another mass": ({n: 2, m: 1, R.label: [[1], [half]]}, "rows with sum 1 for R, got "),
    "columns of mass 1": ({n: 2, m: 2, R.label: [[third, third], [1 - third, 1 - third]]}, "rows with sum 1 for R, got "),
    "a plan of other rows": (
        {**PLAN, P.label: [[third, half], [0, half - third]]},
        "a plan with the marginals (1/2, 1/2) and (1/3, 2/3) for P, got ",
    ),
    "a plan of other columns": (
        {**PLAN, P.label: [[half, 0], [half, 0]]},
        "a plan with the marginals (1/2, 1/2) and (1/3, 2/3)",
    ),
    "a plan without a marginal": ({n: 1, m: 1, v.label: [1], P.label: [[1]]}, "a point that gives u a value for P, got ((1))"),
    "multipliers where masses are": ({m: 2, q.label: [0, 1], mu.label: [5, 1]}, "0 wherever q is positive for mu, got (5, 1)"),
    "multipliers without masses": ({m: 2, mu.label: [5, 1]}, "a point that gives q a value for mu, got (5, 1)"),
    "a value of what is random": ({random_variable: 1}, "no value: it is random for some, got 1"),
    "no size for an index": ({j: 1}, "a point that gives m an integer value for j, got 1"),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_is_admitted(name: str) -> None:
    point = ADMITTED[name]
    admit(point, iter(point))
    assert completed(point, iter(point)) == point


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    point, accepted = REFUSED[name]
    with pytest.raises(NotAdmittedError) as caught:
        admit(point, list(point))
    assert str(caught.value).startswith(f"at: expected {accepted}"), caught.value


@pytest.mark.parametrize(
    ("point", "names", "message"),
    [
        ({x: 1}, [y, z], "at: expected a variable of the statement (y, z), got x real"),
        ({x: 1}, [], "at: expected a variable of the statement (none), got x real"),
        ({x**2: 1}, [x], "at: expected a variable of the statement (x), got x**2"),
    ],
    ids=str,
)
def test_only_variables_of_the_statement(point: dict[Any, Any], names: list[Variable], message: str) -> None:
    for check in (admit, completed):
        with pytest.raises(NotAdmittedError) as caught:
            check(point, names)
        assert str(caught.value) == message


def test_a_point_is_complete() -> None:
    with pytest.raises(NotAdmittedError, match=r"^at: expected a value of y, got none$"):
        admit({x: 1}, iter([y, x]))


def test_sizes_follow_from_lengths() -> None:
    point = completed({A.label: [[1, 2]], x: 3}, [A.label, m, n, x, y])
    assert point == {A.label: [[1, 2]], x: 3, n: 1, m: 2}
    assert completed({vector("w", sp.Integer(2)).label: [1, 2]}, [vector("w", sp.Integer(2)).label]) is not None
    with pytest.raises(NotAdmittedError, match=r"^at: expected m = 2 entries for a, got \(1, 2, 3\)$"):
        completed({A.label: [[1, 2]], a.label: [1, 2, 3]}, [A.label, a.label, m, n])
    with pytest.raises(NotAdmittedError, match="expected m = 2 entries for a"):
        completed({m: 2, a.label: [1]}, [a.label, m])


def test_a_partial_point_is_checked_as_far_as_possible() -> None:
    assert completed({j: 7}, [m, j]) == {j: 7}  # the size is drawn later, and then the index is checked
    assert completed({k: 1}, [m, j, k]) == {k: 1}
    assert completed({mu.label: [1, 1]}, [m, q.label, mu.label]) == {mu.label: [1, 1], m: 2}
    for point, names in (({m: 2, j: 7}, [m, j]), ({m: 2, j: 1, k: 1}, [m, j, k]), ({q.label: [1, 1]}, [m, q.label])):
        with pytest.raises(NotAdmittedError):
            completed(point, names)
