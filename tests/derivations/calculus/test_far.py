"""Points far from the usual sample belong to the domain, and reach the sizes and magnitudes that they promise."""

from fractions import Fraction
from itertools import islice

import pytest

from derivations import index, total
from derivations.calculus import far
from derivations.calculus.admission import admit
from derivations.calculus.variables import Variable
from tests.attacks.vocabulary import A, a, m, n, q, u, x
from tests.derivations.calculus import test_search as domains

k = index("k", m)
j = index("j", m, other_than=(k,))
i, l = index("i", n), index("l", m)  # noqa: E741
EVERY_KIND: list[Variable] = [
    v if isinstance(v, Variable) else v.label
    for v in (
        domains.n,
        domains.m,
        domains.a,
        domains.b,
        domains.q,
        domains.r,
        domains.slack,
        domains.plan,
        domains.rows,
        domains.x,
        domains.y,
        domains.z,
        domains.s,
        domains.S,
        domains.e,
        domains.E,
        domains.f,
        domains.F,
        k,
        j,
    )
]


@pytest.mark.parametrize("sizes", [(1, 2), (2, 2), (3, 8), (9, 2)])
def test_points_of_every_kind_belong_to_their_domain(sizes: tuple[int, int]) -> None:
    of = dict(zip((n, m), sizes, strict=True))
    drawn = list(islice(far.points_at(EVERY_KIND, of), 80))
    assert len(drawn) == 80
    for point in drawn:
        admit(point, EVERY_KIND)


def test_no_point_has_indices_that_cannot_differ() -> None:
    assert list(far.points_at(EVERY_KIND, {n: 2, m: 1})) == []


def test_indices_are_at_their_ends_and_at_numbers() -> None:
    drawn = list(far.points_at([m, l], {m: 9}, numbers=(4, 9, 40)))
    assert [point[l] for point in drawn] == [1, 2, 4, 9]


def test_every_pattern_has_weights_and_every_magnitude_occurs() -> None:
    for pattern in far.Pattern:
        for exponent in far.EXPONENTS:
            weights = far.weights(pattern, exponent, 5)
            assert len(weights) == 5
            assert all(weight > 0 or pattern is far.Pattern.ALONE for weight in weights)
    drawn = list(islice(far.points_at([m, x, u.label], {m: 3}), 400))
    assert {Fraction(10) ** exponent for exponent in far.EXPONENTS} <= {abs(point[x]) for point in drawn}  # type: ignore[arg-type]
    assert min(min(point[u.label]) for point in drawn) < Fraction(1, 10**299)  # type: ignore[arg-type]


def test_sizes_are_tried_together_and_each_by_itself() -> None:
    tried = list(far.ladders([m, n], (500, 501)))
    assert {m: 128, n: 128} in tried
    assert {m: 501, n: 1} in tried
    assert {m: 2, n: 500} in tried
    assert list(far.ladders([x], (500,))) == [{}]


def test_the_cost_of_sums_is_that_of_their_factors() -> None:
    def cost(expr: object, size: int) -> float:
        return far.cost([expr], [m], {m: size, n: size})  # type: ignore[list-item]

    single, double, nested = total(l, a[l]), total((l, k), a[l] * q[k]), total((i, l), A[i, l] * a[l])
    assert cost(single, 1000) - cost(single, 100) == 10 * (cost(single, 100) - cost(single, 10))
    assert cost(double, 100) < 3 * cost(single, 100)
    assert cost(nested, 100) > 100**2
    assert far.cost([x], [m, a.label], {m: 100}) > 100 + far.OVERHEAD
