"""Domains of variables: axes, sizes, other indices and marginals that go with their kind, and no others."""

from typing import Any

import pytest
import sympy as sp
from sympy.tensor.indexed import IndexException

from derivations.calculus.variables import coupling, index, interior, scalar, simplex, size, vector
from derivations.domains import (
    Coupling,
    Domain,
    Index,
    Interior,
    Nonzero,
    Positive,
    Real,
    Simplex,
    Size,
    Slack,
    Stochastic,
    Unit,
)

m, n = size("m"), size("n")
j, i = index("j", m), index("i", n)
p, q, u = simplex("p", m), simplex("q", n), interior("u", m)
AXES = {
    Size: {0},
    Index: {1},
    Stochastic: {2},
    Simplex: {1, 2, 3},
    Interior: {1, 2, 3},
    Unit: {1, 2},
    Nonzero: {1, 2},
    Real: {0, 1, 2, 3, 4},
    Positive: {0, 1, 2, 3, 4},
}


@pytest.mark.parametrize("kind", AXES, ids=str)
@pytest.mark.parametrize("count", range(6))
def test_a_kind_has_its_numbers_of_axes(kind: type[Domain], count: int) -> None:
    if count in AXES[kind]:
        assert len(kind((m,) * count).shape) == count
    else:
        with pytest.raises(ValueError, match=r"^shape: expected axes like "):
            kind((m,) * count)


@pytest.mark.parametrize(
    ("domain", "named"),
    [
        ((Real, (sp.Integer(0),)), "shape: expected sizes ≥ 1, got 0"),
        ((Real, (scalar("x"),)), "shape: expected sizes"),
        ((Real, (m / 2,)), "shape: expected sizes ≥ 1, got m/2"),
        ((Index, (m,), (i,)), "other_than: expected indices in 1"),
        ((Real, (m,), (j,)), "other_than: expected indices"),
        ((Index, (m,), (m,)), "other_than: expected indices"),
        ((Coupling, (m, n)), "shape: expected that of the marginals"),
        ((Coupling, (n, m), (), (p, q)), "shape: expected"),
        ((Coupling, (m, n), (), (p, vector("a", n))), "marginals: expected"),
        ((Real, (m,), (), (p,)), "marginals: expected"),
        ((Slack, (m,), (), (u,)), "marginals: expected"),
        ((Slack, (m, n), (), (p,)), "shape: expected axes"),
        ((Coupling, (m,), (), (p,)), "shape: expected axes"),
    ],
)
def test_parts_that_do_not_go_with_the_kind_are_refused(domain: tuple[Any, ...], named: str) -> None:
    kind, *parts = domain
    with pytest.raises(ValueError, match=f"^{named}"):
        kind(*parts)


def test_parts_that_do() -> None:
    assert Index((m,), (j,)).other_than == (j,)
    assert Coupling((m, n), (), (u, q)).marginals == (u, q)
    assert Slack((m,), (), (p,)).marginals == (p,)
    assert coupling("P", p, q).shape == (m, n)


@pytest.mark.parametrize("kind", [Size, Index, Coupling, Slack])
def test_a_vector_is_of_numbers(kind: type[Domain]) -> None:
    with pytest.raises(ValueError, match="expected"):
        vector("a", m, kind=kind)
    with pytest.raises(ValueError, match="expected"):
        vector("a")


def test_a_vector_is_the_function_of_its_entries() -> None:
    M = vector("M", m, n)
    assert M(j, i) is M[j, i]
    with pytest.raises(IndexException, match="Rank"):
        M(j)
