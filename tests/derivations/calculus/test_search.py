"""Descent over points of a domain: every point that it tries belongs to the domain, and it ends near where it is low."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from derivations import index, interior, positive, scalar, simplex, size, vector
from derivations.calculus.search import along_coordinates, descent
from derivations.calculus.variables import Variable, complementary, coupling, unit
from derivations.domains import Nonnegative, Nonzero, Stochastic

n, m = size("n"), size("m")
a, b, q, r = simplex("a", n), simplex("b", m), simplex("q", m), interior("r", m)
slack, plan, rows = complementary("c", q), coupling("P", a, b), vector("K", n, m, kind=Stochastic)
x, y, z, s, S = positive("x"), scalar("y"), scalar("z", Nonnegative), vector("s", m), vector("S", n, m)
THIRD, FINEST = Fraction(1, 3), Fraction(1, 10**12)
e, E = unit("e", m), unit("E", n, m)
f, F = vector("f", m, kind=Nonzero), vector("F", n, m, kind=Nonzero)
SIZES = {n: 2, m: 3, index("i", n): 1}


def wrong(point: Mapping[Variable, Any]) -> list[str]:
    """The names of what is not in its domain."""
    inside = {
        x: lambda v: v > 0,
        z: lambda v: v >= 0,
        y: lambda v: isinstance(v, Fraction),
        q.label: lambda v: sum(v) == 1 and min(v) >= 0,
        r.label: lambda v: sum(v) == 1 and min(v) > 0,
        slack.label: lambda v: min(v) >= 0 and not any(c * mass for c, mass in zip(v, point[q.label], strict=True)),
        plan.label: lambda v: (
            [*map(sum, v)] == [*point[a.label]]
            and [*map(sum, zip(*v, strict=True))] == [*point[b.label]]
            and all(part >= 0 for row in v for part in row)
        ),
        rows.label: lambda v: all(sum(row) == 1 and min(row) >= 0 for row in v),
        e.label: lambda v: sum(part**2 for part in v) == 1,
        E.label: lambda v: all(sum(part**2 for part in row) == 1 for row in v),
        f.label: any,
        F.label: lambda v: all(map(any, v)),
    }
    return [str(v) for v, value in point.items() if v in inside and not inside[v](value)]


STARTS: dict[str, dict[Variable, Any]] = {
    "numbers": {x: Fraction(1), y: Fraction(1), z: Fraction(1)},
    "masses": {q.label: [THIRD] * 3, r.label: [THIRD] * 3},
    "a multiplier": {q.label: [Fraction(0), *[Fraction(1, 2)] * 2], slack.label: [Fraction(1), *[Fraction(0)] * 2]},
    "a plan": {a.label: [Fraction(1, 2)] * 2, b.label: [THIRD] * 3, plan.label: [[Fraction(1, 6)] * 3 for _ in range(2)]},
    "rows": {rows.label: [[THIRD] * 3 for _ in range(2)]},
    "unit vectors": {e.label: [Fraction(1), 0, 0], E.label: [[Fraction(1), 0, 0] for _ in range(2)]},
    "vectors other than 0": {f.label: [Fraction(0), 0, 1], F.label: [[Fraction(0), 0, 1] for _ in range(2)]},
    "vectors": {s.label: [Fraction(1)] * 3, S.label: [[Fraction(1)] * 3 for _ in range(2)]},
}
GOALS: dict[str, dict[Variable, Any]] = {
    "numbers": {x: Fraction(3), y: Fraction(-2), z: Fraction(0)},
    "masses": {q.label: [Fraction(1), 0, 0], r.label: [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]},
    "a multiplier": {q.label: [Fraction(0), Fraction(1, 4), Fraction(3, 4)], slack.label: [Fraction(3), 0, 0]},
    "a plan": {plan.label: [[Fraction(1, 3), Fraction(1, 6), 0], [0, Fraction(1, 6), Fraction(1, 3)]]},
    "rows": {rows.label: [[1, 0, 0], [0, 0, 1]]},
    "unit vectors": {e.label: [0, Fraction(3, 5), Fraction(-4, 5)], E.label: [[-1, 0, 0], [0, Fraction(3, 5), Fraction(4, 5)]]},
    "vectors other than 0": {f.label: [0, 0, -1], F.label: [[-1, 0, 0], [0, 2, 1]]},
    "vectors": {s.label: [2, 2, -1], S.label: [[0, 3, 0], [1, 1, 1]]},
}


def flat(value: Any) -> list[float]:
    return [part for each in value for part in flat(each)] if isinstance(value, list) else [float(value)]


@pytest.mark.parametrize("name", STARTS)
def test_what_is_tried_is_in_the_domain_and_leads_to_the_lowest_point(name: str) -> None:
    start, goal = {**SIZES, **STARTS[name]}, GOALS[name]
    tried: list[Mapping[Variable, Any]] = []

    def height(point: Mapping[Variable, Any]) -> float:
        tried.append(point)
        return sum((one - other) ** 2 for v in goal for one, other in zip(flat(point[v]), flat(goal[v]), strict=True))

    path = list(descent(start, height, lambda point: not wrong(point), 800))
    assert path[0] == start
    assert [wrong(point) for point in tried if wrong(point)] == []
    assert all(point[v] == start[v] for point in tried for v in SIZES)
    heights = [height(point) for point in path]
    assert all(before > after for before, after in pairwise(heights))
    assert heights[-1] < 0.01 < heights[0]


def test_nothing_moves_that_cannot_and_nothing_is_taken_that_is_not_admitted() -> None:
    assert list(descent(SIZES, lambda point: 0.0, lambda point: True, 10)) == [SIZES]
    start = {**SIZES, x: Fraction(1)}
    assert list(descent(start, lambda point: -float(point[x]), lambda point: False, 50)) == [start]


def test_a_plateau_is_not_walked_on() -> None:
    start = {**SIZES, **STARTS["vectors"]}
    assert list(descent(start, lambda point: 1.0, lambda point: True, 50)) == [start]


def test_coordinates_shrink_to_a_point_within_the_domain() -> None:
    def height(point: Mapping[Variable, Any]) -> float:
        return float((point[z] - 2) ** 2 + (point[s.label][1] + THIRD) ** 2)

    start = {m: 2, z: Fraction(5), s.label: [Fraction(1), Fraction(2)]}
    *_, last = along_coordinates(start, height, lambda point: True, 5000, FINEST)
    assert height(last) < 1e-20
    assert last[s.label][0] == 1  # type: ignore[index]
    *_, last = along_coordinates(start, lambda point: float(point[z]), lambda point: True, 5000, FINEST)  # type: ignore[arg-type]
    assert 0 <= last[z] < 1e-9  # type: ignore[operator]


@pytest.mark.parametrize("name", ["numbers", "masses", "rows", "vectors other than 0", "vectors"])
def test_coordinates_stay_in_the_domain_and_lead_to_the_lowest_point(name: str) -> None:
    start, goal = {**SIZES, **STARTS[name]}, GOALS[name]

    def height(point: Mapping[Variable, Any]) -> float:
        return sum((one - other) ** 2 for v in goal for one, other in zip(flat(point[v]), flat(goal[v]), strict=True))

    path = list(along_coordinates(start, height, lambda point: True, 3000, FINEST))
    assert [wrong(point) for point in path if wrong(point)] == []
    assert height(path[-1]) < 1e-6


def test_few_tries_and_numbers_beyond_all_bounds_end_a_descent() -> None:
    start = {**SIZES, x: Fraction(1)}
    assert len(list(along_coordinates(start, lambda point: -float(point[x]), lambda point: True, 3, FINEST))) == 3  # type: ignore[arg-type]
    *_, last = along_coordinates(start, lambda point: -float(point[x]), lambda point: True, 10**4, FINEST)  # type: ignore[arg-type]
    assert 1e100 < float(last[x]) < 1e301  # type: ignore[arg-type]
