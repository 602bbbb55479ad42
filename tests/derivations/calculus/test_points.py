"""The sample points: their sizes, the numbers of each round, zeros and ties, all inside of the domain."""

import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import islice

import pytest
import sympy as sp

from derivations.calculus.admission import NotAdmittedError, admit
from derivations.calculus.points import CORNERS, LATER, POSITIONS, SMALL, points
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

m, n, d = size("m"), size("n"), size("d")
i, j, h = index("i", m), index("j", m), index("h", n)
k = index("k", m, other_than=(j,))
x, y, z = scalar("x"), positive("y"), scalar("z", Nonnegative)
a, b, c, A = vector("a", m), vector("b", m, kind=Positive), vector("c", m, kind=Nonnegative), vector("A", n, m)
q, u, v, S = simplex("q", m), interior("u", m), interior("v", n), simplex("S", n, m)
P, R, T, mu = coupling("P", v, u), stochastic("R", n, m), coupling("T", q, q), complementary("mu", q)
e, E = unit("e", m), unit("E", n, m)
f, F = vector("f", m, kind=Nonzero), vector("F", n, m, kind=Nonzero)
EVERYTHING = [m, n, i, j, h, k, x, y, z, *(base.label for base in (a, b, c, A, q, u, v, S, P, R, T, mu, e, E, f, F))]
SEEDS = range(60)
ALL = range(SMALL + len(LATER))
MIDDLE = range(CORNERS, SMALL)


def quarters(low: int, high: int) -> set[Fraction]:
    return {Fraction(number, 4) for number in range(low, high + 1)}


ODD = {Fraction(1, 7), Fraction(22, 7), Fraction(1, 3), Fraction(355, 113), Fraction(5, 11), Fraction(13, 17)}
CLOSE = {1 + Fraction(number, 10**7) for number in range(-3, 4)}
WIDE = {Fraction(digit) * Fraction(10) ** power for digit in range(1, 10) for power in range(-6, 5)}
# the sizes of a later round, and the positive numbers that it draws from
ROUNDS: list[tuple[tuple[int, int], set[Fraction]]] = [
    ((2, 3), {Fraction(1)}),
    ((4, 5), quarters(1, 12)),
    ((3, 2), {Fraction(number, 100) for number in range(1, 16)}),
    ((2, 4), set(map(Fraction, range(4, 41)))),
    ((2, 3), ODD),
    ((3, 4), CLOSE),
    ((2, 2), CLOSE),
    ((5, 4), quarters(1, 12)),
    ((3, 3), {Fraction(1, 7)}),
    ((2, 2), set(map(Fraction, range(50, 2001)))),
    ((2, 3), WIDE),
    ((7, 6), quarters(1, 30)),
    ((4, 2), ODD),
    ((3, 2), {Fraction(number, 10000) for number in range(1, 100)}),
    ((2, 2), WIDE),
    ((6, 5), WIDE),
    ((2, 5), {Fraction(number, 10) for number in range(12, 101)}),
]
TIED, SPARSE, EVEN = (0, 8, 14), (7, 12, 15), (5, 6)


def sample(*names: Variable, rounds: range) -> list[list[dict[Variable, object]]]:
    """The points of each round, for all seeds."""
    samples: list[list[dict[Variable, object]]] = [[] for _ in rounds]
    for seed in SEEDS:
        for turn, point in enumerate(points(names, seed=seed, rounds=rounds.stop)):
            if turn in rounds:
                samples[turn - rounds.start].append(point)
    return samples


def test_every_point_is_in_the_domain() -> None:
    seen = 0
    for point in points(EVERYTHING):
        admit(point, EVERYTHING)
        seen += 1
    assert seen > len(ALL)


def test_sizes_come_in_turns() -> None:
    drawn = [(point[m], point[n], point[d]) for point in points([m, n, d])]
    assert [one for one, _, _ in drawn] == [1, 2, 3] * 8 + [sizes[0] for sizes, _ in ROUNDS]
    assert [other for _, other, _ in drawn[SMALL:]] == [sizes[1] for sizes, _ in ROUNDS]
    assert [third for _, _, third in drawn[SMALL:]] == [sizes[0] for sizes, _ in ROUNDS]
    assert set(drawn[:9]) >= {(1, 1, 1), (2, 2, 2), (3, 3, 3), (1, 2, 3), (2, 3, 1), (3, 1, 2)}
    assert len(set(drawn[:SMALL])) == 9


def test_as_many_rounds_as_wanted() -> None:
    assert len(list(points([x]))) == len(ALL)
    assert len(list(points([x], rounds=3))) == 3
    assert list(points([x, y], seed=5)) == list(points([x, y], seed=5)) != list(points([x, y], seed=6))


@pytest.mark.parametrize(("var", "numbers"), [(x, quarters(-12, 12)), (y, quarters(1, 12)), (z, quarters(0, 12))], ids=str)
def test_early_numbers_are_quarters(var: Variable, numbers: set[Fraction]) -> None:
    drawn = {point[var] for turn in sample(var, rounds=MIDDLE) for point in turn}
    assert drawn == numbers


def test_corners_are_ties_and_zeros() -> None:
    for turn, drawn in enumerate(sample(m, x, z, a.label, c.label, b.label, rounds=range(CORNERS))):
        zero = {x, a.label} if turn < 3 else {z, c.label}
        for point in drawn:
            for name in (a.label, c.label, b.label):
                assert len(set(point[name])) == 1, point  # type: ignore[arg-type]
        for name in (x, z, a.label, c.label):
            values = {point[name] if name in (x, z) else point[name][0] for point in drawn}  # type: ignore[index]
            assert (values == {0}) == (name in zero), (turn, name)
    assert not any(
        set(point[a.label]) == {0} and len(point[a.label]) > 1  # type: ignore[arg-type]
        for turn in sample(m, a.label, rounds=MIDDLE)
        for point in turn[:9]
    )


def test_later_numbers() -> None:
    for number, drawn in enumerate(sample(m, b.label, a.label, x, rounds=ALL)[SMALL:]):
        check_numbers(number, drawn)


def check_numbers(number: int, drawn: list[dict[Variable, object]]) -> None:
    _, numbers = ROUNDS[number]
    values = {entry for point in drawn for entry in point[b.label]}  # type: ignore[attr-defined]
    assert values <= numbers
    assert min(values) <= sorted(numbers)[len(numbers) // 20] <= sorted(numbers)[-1 - len(numbers) // 20] <= max(values)
    signs = Counter(entry > 0 for point in drawn for entry in point[a.label])  # type: ignore[attr-defined]
    for point in drawn:
        one = {abs(entry) for entry in (*point[a.label], *point[b.label], point[x])}  # type: ignore[misc]
        if number in TIED:
            assert len(one) == 1
    assert number in TIED or len({abs(point[x]) for point in drawn}) > 1  # type: ignore[arg-type]
    assert signs[False] == 0 if number in TIED else 0.3 < signs[True] / signs.total() < 0.7


def test_later_masses() -> None:
    for number, drawn in enumerate(sample(m, q.label, rounds=ALL)[SMALL:]):
        check_masses(number, drawn)


def check_masses(number: int, drawn: list[dict[Variable, object]]) -> None:
    masses = [point[q.label] for point in drawn]
    zeros = sum(0 in each for each in masses)  # type: ignore[operator]
    assert zeros > len(masses) / 3 if number in SPARSE else not zeros
    ratios = [max(each) / min(each) for each in masses if 0 not in each]  # type: ignore[call-overload,operator]
    if number in EVEN:
        assert 1 < max(ratios) <= Fraction(105, 95)
    else:
        assert 3 < max(ratios) <= 9


def test_early_masses_are_corners_first() -> None:
    corners = [point[q.label] for turn in sample(m, q.label, rounds=range(CORNERS)) for point in turn]
    assert all(each == [1, *[0] * (len(each) - 1)] for each in corners)  # type: ignore[arg-type]
    inside = [point[u.label] for turn in sample(m, u.label, rounds=range(CORNERS)) for point in turn]
    assert all(min(each) > 0 for each in inside)  # type: ignore[call-overload]
    rows = [point[R.label] for turn in sample(m, n, R.label, rounds=range(CORNERS)) for point in turn]
    assert all(sorted(row)[-1] == 1 for each in rows for row in each)  # type: ignore[attr-defined]
    assert {row.index(1) for each in rows for row in each if len(row) == 3} == {0, 1, 2}  # type: ignore[attr-defined]
    later = [point[R.label] for turn in sample(m, n, R.label, rounds=MIDDLE) for point in turn]
    assert any(0 in row and 1 not in row for each in later for row in each)  # type: ignore[attr-defined]
    assert any(len(set(row)) == len(row) == 3 for each in later for row in each)  # type: ignore[attr-defined]
    assert max(row[0].denominator for each in later for row in each if row[0]) > 18  # type: ignore[attr-defined]


def test_multipliers_live_where_masses_are_0() -> None:
    drawn = [point for turn in sample(m, q.label, mu.label, rounds=range(CORNERS, SMALL)) for point in turn]
    drawn = [point for point in drawn if point[m] == 3]
    assert sum(0 in point[q.label] for point in drawn) > len(drawn) / 2  # type: ignore[operator]
    slacks = {slack for point in drawn for slack, mass in zip(point[mu.label], point[q.label], strict=True) if not mass}  # type: ignore[call-overload]
    assert slacks == quarters(0, 8)
    masses = {mass for point in drawn for mass in point[q.label]}  # type: ignore[attr-defined]
    assert {Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)} <= masses


def test_plans_are_vertices_first_and_mixed_later() -> None:
    corners = [point[P.label] for turn in sample(m, n, u.label, v.label, P.label, rounds=range(CORNERS)) for point in turn]
    assert all(sum(entry > 0 for row in plan for entry in row) <= len(plan) + len(plan[0]) - 1 for plan in corners)  # type: ignore[attr-defined]
    assert all(plan[0][0] > 0 for plan in corners)  # type: ignore[index]
    shares = set()
    for turn in sample(m, n, u.label, v.label, P.label, rounds=MIDDLE):
        for point in turn:
            left, right, plan = point[v.label], point[u.label], point[P.label]
            if len(left) > 1 and len(right) > 1:  # type: ignore[arg-type]
                last = plan[-1][0] / (left[-1] * right[0])  # type: ignore[index]
                shares.add(last if last < 1 else Fraction(1))
    assert shares >= {Fraction(number, 4) for number in range(5)}


def test_indices_take_every_value_and_differ_as_declared() -> None:
    values = [(point[m], point[j], point[k]) for point in points([m, j, k], rounds=3)]
    assert values == [(2, 1, 2), (2, 2, 1), (3, 1, 2), (3, 1, 3), (3, 2, 1), (3, 2, 3), (3, 3, 1), (3, 3, 2)]
    assert [point[k] for point in points([m, j, k], {m: 3, j: 2}, rounds=1)] == [1, 3]
    assert [point[j] for point in points([m, j, k], {m: 3, k: 2}, rounds=1)] == [1, 3]


def test_later_rounds_draw_a_subset_of_the_indices() -> None:
    one_round = [point for point in points([m, i, j]) if point[m] == 7]
    assert len(one_round) == POSITIONS == 8
    assert [(point[i], point[j]) for point in one_round[:2]] == [(1, 1), (7, 7)]
    assert len({(point[i], point[j]) for point in one_round}) == 8
    assert len([point for point in points([m, i]) if point[m] == 7]) == 7


def test_fixed_values_are_respected() -> None:
    fixed = {a.label: [1, 2], x: Fraction(1, 3)}
    drawn = list(points([m, n, x, y, a.label], fixed))
    assert all(point[m] == 2 and point[x] == Fraction(1, 3) and point[a.label] == [1, 2] for point in drawn)
    assert {point[n] for point in drawn[:SMALL]} == {1, 2, 3}
    with pytest.raises(NotAdmittedError):
        next(points([m, u.label], {u.label: [1, 1]}))


def test_matrices_are_filled_row_by_row() -> None:
    for point in islice(points([m, n, A.label, S.label]), 6, None):
        assert len(point[A.label]) == len(point[S.label]) == point[n]  # type: ignore[arg-type]
        assert {len(row) for row in (*point[A.label], *point[S.label])} == {point[m]}  # type: ignore[misc]
        assert sum(entry for row in point[S.label] for entry in row) == 1  # type: ignore[attr-defined]
    cube = vector("cube", n, m, sp.Integer(2)).label
    last = list(points([m, n, cube]))[-1]
    assert [len(last[cube]), len(last[cube][0]), len(last[cube][0][0])] == [last[n], last[m], 2]  # type: ignore[arg-type,index]


def test_the_sample_is_the_same_in_every_process() -> None:
    """A statement has the same witness wherever it is tried: hashes of names, which differ, decide nothing."""
    program = (
        "from tests.derivations.calculus.test_points import EVERYTHING, points\n"
        "print([sorted(map(str, point.items())) for point in points(EVERYTHING)])"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert first == second != ""


def test_random_variables_have_no_samples() -> None:
    with pytest.raises(ValueError, match=r"^domain: expected one with exact samples for w, got random"):
        next(points([Variable("w", Random())]))
