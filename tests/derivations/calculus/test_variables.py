"""Domains of variables: axes, sizes, other indices and marginals that go with their kind, and no others."""

from __future__ import annotations

import pytest
import sympy as sp
from sympy.tensor.indexed import IndexException

from derivations.calculus.variables import Domain, Kind, coupling, index, interior, scalar, simplex, size, vector

m, n = size("m"), size("n")
j, i = index("j", m), index("i", n)
p, q, u = simplex("p", m), simplex("q", n), interior("u", m)
AXES = {
    Kind.SIZE: {0},
    Kind.INDEX: {1},
    Kind.STOCHASTIC: {2},
    Kind.SIMPLEX: {1, 2, 3},
    Kind.INTERIOR: {1, 2, 3},
    Kind.UNIT: {1, 2},
    Kind.NONZERO: {1, 2},
    Kind.REAL: {0, 1, 2, 3, 4},
    Kind.POSITIVE: {0, 1, 2, 3, 4},
}


@pytest.mark.parametrize("kind", AXES, ids=str)
@pytest.mark.parametrize("count", range(6))
def test_a_kind_has_its_numbers_of_axes(kind: Kind, count: int) -> None:
    if count in AXES[kind]:
        assert len(Domain(kind, (m,) * count).shape) == count
    else:
        with pytest.raises(ValueError, match=r"^shape: expected axes like "):
            Domain(kind, (m,) * count)


@pytest.mark.parametrize(
    ("domain", "named"),
    [
        ((Kind.REAL, (sp.Integer(0),)), "shape: expected sizes ≥ 1, got 0"),
        ((Kind.REAL, (scalar("x"),)), "shape: expected sizes"),
        ((Kind.REAL, (m / 2,)), "shape: expected sizes ≥ 1, got m/2"),
        ((Kind.INDEX, (m,), (i,)), "other_than: expected indices in 1"),
        ((Kind.REAL, (m,), (j,)), "other_than: expected indices"),
        ((Kind.INDEX, (m,), (m,)), "other_than: expected indices"),
        ((Kind.COUPLING, (m, n)), "shape: expected that of the marginals"),
        ((Kind.COUPLING, (n, m), (), (p, q)), "shape: expected"),
        ((Kind.COUPLING, (m, n), (), (p, vector("a", n))), "marginals: expected"),
        ((Kind.REAL, (m,), (), (p,)), "marginals: expected"),
        ((Kind.SLACK, (m,), (), (u,)), "marginals: expected"),
        ((Kind.SLACK, (m, n), (), (p,)), "shape: expected axes"),
        ((Kind.COUPLING, (m,), (), (p,)), "shape: expected axes"),
    ],
)
def test_parts_that_do_not_go_with_the_kind_are_refused(domain: tuple[object, ...], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}"):
        Domain(*domain)  # type: ignore[arg-type]


def test_parts_that_do() -> None:
    assert Domain(Kind.INDEX, (m,), (j,)).other_than == (j,)
    assert Domain(Kind.COUPLING, (m, n), (), (u, q)).marginals == (u, q)
    assert Domain(Kind.SLACK, (m,), (), (p,)).marginals == (p,)
    assert coupling("P", p, q).shape == (m, n)


@pytest.mark.parametrize("kind", [Kind.SIZE, Kind.INDEX, Kind.COUPLING, Kind.SLACK])
def test_a_vector_is_of_numbers(kind: Kind) -> None:
    with pytest.raises(ValueError, match="expected"):
        vector("a", m, kind=kind)
    with pytest.raises(ValueError, match="expected"):
        vector("a")


def test_a_vector_is_the_function_of_its_entries() -> None:
    M = vector("M", m, n)
    assert M(j, i) is M[j, i]
    with pytest.raises(IndexException, match="Rank"):
        M(j)
