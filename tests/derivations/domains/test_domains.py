"""Each domain keeps what its module says of it: at drawn, formed and moved values, and with a value that would break it."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.admission import NotAdmittedError, admit
from derivations.calculus.far import looks, placed
from derivations.calculus.points import points
from derivations.calculus.search import along_coordinates, descent
from derivations.calculus.variables import Variable, complementary, coupling, index, interior, scalar, simplex, size, vector
from derivations.domains import DOMAINS, NAMED, Domain, Index, Interior, Positive, Real, Simplex, Size, Stochastic
from derivations.domains.base import Sign, flat, rows_of

m, n = size("m"), size("n")
p, q = simplex("p", m), interior("q", n)
VARIABLES: list[Variable] = [
    *(
        Variable("x", domain((m, n, m)[:axes]))
        for domain in DOMAINS
        if not domain.is_size and not domain.is_index and domain.name not in ("coupling", "slack")
        for axes in domain.axes
        if axes < 4
    ),
    coupling("x", p, q).label,
    complementary("x", p).label,
]
VALUED = [variable for variable in VARIABLES if not variable.domain.is_random]
one_each = pytest.mark.parametrize("variable", VALUED, ids=lambda v: f"{v.domain.name}{len(v.domain.shape)}")


def around(variable: Variable) -> list[Variable]:
    """A variable behind the sizes and vectors that its domain depends on."""
    return [m, n, *(each.label for each in variable.domain.marginals), variable]


def values(variable: Variable) -> Iterator[tuple[dict[Variable, Any], Any]]:
    """Points of the usual sample and far ones, with the variable's value."""
    names = around(variable)
    for point in points(names):
        yield point, point[variable]
    for look in islice(looks(names[2:], 1), 60):
        for point in placed(names, {m: 3, n: 2}, look):
            yield dict(point), point[variable]


def refused(variable: Variable, point: dict[Variable, Any]) -> bool:
    try:
        admit(point, around(variable))
    except NotAdmittedError:
        return True
    return False


def test_names_are_unique_and_files_know_them() -> None:
    assert list(NAMED) == [domain.name for domain in DOMAINS]
    assert len({domain.words for domain in DOMAINS}) == len(DOMAINS)


@one_each
def test_what_is_drawn_or_formed_is_admitted(variable: Variable) -> None:
    for point, _ in values(variable):
        assert not refused(variable, point), point


@one_each
def test_what_is_moved_is_admitted_and_moves(variable: Variable) -> None:
    """This holds for the values of other variables, too, that the domain depends on."""
    domain, rng, moved = variable.domain, random.Random(0), 0
    for point, value in islice(values(variable), 24, 60):
        start, kept = {**point, variable: _copied(value)}, _copied(value)
        for lower in descent(start, lambda _: rng.random(), lambda _: True, 30, seed=3):
            assert not refused(variable, dict(lower)), lower
            moved += lower[variable] != value
        for lower in along_coordinates(start, lambda _: rng.random(), lambda _: True, 40, Fraction(1, 100)):
            assert not refused(variable, dict(lower)), lower
            moved += bool(domain.ways) and lower[variable] != value
        assert start[variable] == kept
    assert moved > 30


def _copied(value: Any) -> Any:
    return [_copied(part) for part in value] if isinstance(value, list) else value


@one_each
def test_signs_hold_and_are_the_closest(variable: Variable) -> None:
    sign = variable.domain.sign
    numbers = [number for _, value in values(variable) for number in flat(value)]
    assert all(map(sign.fits, numbers))
    assert {Sign.ANY: min(numbers) < 0, Sign.NONNEGATIVE: 0 in numbers, Sign.POSITIVE: True}[sign]
    assert variable.assumptions0[sign.value]


@one_each
def test_sums_and_bounds_hold_and_all_that_hold_are_named(variable: Variable) -> None:
    domain, axes = variable.domain, len(variable.domain.shape)
    masses: dict[int, set[Fraction]] = {count: set() for count in range(1, axes + 1)}
    lengths, highest, along = set(), Fraction(0), dict.fromkeys(range(1, axes + 1), True)
    for point, value in values(variable):
        for count in masses:
            for part in _parts(value, axes - count):
                masses[count].add(sum(flat(part), Fraction(0)))
                along[count] &= any(number > 0 for number in flat(part))
        lengths |= {sum((number**2 for number in row), Fraction(0)) for row in (rows_of(value, axes) if axes else [])}
        highest = max([highest, *flat(value)])
        for axis, sums in domain.line_sums:
            lines = value if axis == 1 else list(zip(*value, strict=True))
            assert [sum(line) for line in lines] == ([1] * len(lines) if sums is None else point[sums.label])
        for other in domain.complements:
            assert all(x * y == 0 for x, y in zip(value, point[other.label], strict=True))
        if axes:
            assert all(number >= 0 for number in _bounds(variable, point, value))
    assert domain.unit_mass == next((count for count, sums in masses.items() if sums == {1}), 0) or domain.line_sums
    assert domain.unit_rows == (lengths == {1})
    assert not domain.below_one or highest <= 1
    assert highest > 1 or domain.below_one or domain.unit_rows
    assert all(along[count] for count in [domain.positive_along(even=False)] if count)


def _parts(value: Any, outer: int) -> list[Any]:
    return [value] if outer == 0 else [part for each in value for part in _parts(each, outer - 1)]


def _bounds(variable: Variable, point: dict[Variable, Any], value: Any) -> Iterator[Fraction]:
    """The values of a domain's bounds, at each entry."""
    base = sp.IndexedBase(variable, shape=variable.domain.shape)
    lengths = [point[part] for part in variable.domain.shape]
    for place in product(*(range(length) for length in lengths)):
        known: Any = value
        for at in place:
            known = known[at]
        entry = base[tuple(at + 1 for at in place)]
        for bound in variable.domain.bounds(entry):
            exact = {entry: sp.Rational(known)}
            for vector_ in variable.domain.marginals:
                exact |= {vector_[at + 1]: sp.Rational(each) for at, each in enumerate(point[vector_.label])}
            yield Fraction(str(bound.xreplace(exact)))


@one_each
def test_a_row_has_an_even_power_above_zero(variable: Variable) -> None:
    count, axes = variable.domain.positive_along(even=True), len(variable.domain.shape)
    for _, value in values(variable) if count else ():
        assert all(any(number != 0 for number in flat(part)) for part in _parts(value, axes - count))


@pytest.mark.parametrize("wide", [domain for domain in DOMAINS if not domain.is_size and not domain.is_index])
@one_each
def test_a_larger_domain_admits_all_of_a_smaller(wide: type[Domain], variable: Variable) -> None:
    narrow = type(variable.domain)
    if not wide.includes(narrow) or len(variable.domain.shape) not in wide.axes or variable.domain.marginals:
        return
    other = Variable("w", wide(variable.domain.shape))
    for point, value in values(variable):
        admit({m: point[m], n: point[n], other: value}, [m, n, other])


def test_which_domains_include_which() -> None:
    assert all(domain.includes(domain) for domain in DOMAINS)
    assert {domain for domain in DOMAINS if domain.includes(Interior)} == {
        *(NAMED[name] for name in ("interior", "simplex", "positive", "nonnegative", "nonzero", "real"))
    }
    assert not Positive.includes(Real)
    assert not Simplex.includes(Stochastic)
    assert not any(domain.includes(Index) for domain in DOMAINS if domain is not Index)
    assert Real.includes(Size)


def test_faces_have_zeros() -> None:
    rng = random.Random(0)
    faces = [Simplex((m,)).face([4], rng) for _ in range(20)]
    assert all(sum(face) == 1 for face in faces)
    assert sum(0 in face for face in faces) > 10
    assert Simplex((m, n)).face([4, 2], rng) is None
    assert Interior((m,)).face([4], rng) is None
    assert Real((m,)).face([4], rng) is None


def test_roles() -> None:
    x = scalar("x")
    assert [Real().is_whole, Positive().is_scale, Positive((m,)).is_scale, Real().is_scale] == [True, True, False, False]
    assert (m.domain.is_size, m.domain.is_integer, index("j", m).domain.is_integer, x.domain.is_integer) == (
        True,
        True,
        True,
        False,
    )
    assert [domain.name for domain in DOMAINS if domain.is_random] == ["random"]
    assert Simplex((m, n)).is_distribution
    assert not Stochastic((m, n)).is_distribution
    assert vector("v", m).label.domain == Real((m,)) != Real((n,))


@pytest.mark.parametrize(
    ("domain", "to", "expected"),
    [
        (Real(), sp.Integer(-3), True),
        (Positive(), sp.S.Zero, True),
        (Positive(), sp.Integer(-3), False),
        (Positive(), sp.oo, True),
        (Size(), sp.oo, True),
        (Size(), sp.S.One, False),
    ],
    ids=str,
)
def test_ends(domain: Domain, to: sp.Expr, expected: bool) -> None:
    assert bool(domain.is_end(to)) is expected
