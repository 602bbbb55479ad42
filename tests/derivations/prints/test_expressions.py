"""Variables are matched by name and shape, and values are compared at exact points where the hypotheses hold."""

import pytest
import sympy as sp

from derivations import AtLeast, index, interior, positive, scalar, size, total, vector
from derivations.calculus.sums import alike
from derivations.calculus.variables import Variable
from derivations.domains import Random
from derivations.prints import expressions
from derivations.prints.expressions import LATER, NAMINGS, SAMPLES, Values, in_normal_form, named, namings, sample_points

m, n = size("m"), size("n")
j, k, l = index("j", m), index("k", m), index("l", m)  # noqa: E741
i = index("i", n)
x, y, tau, eps = scalar("x"), scalar("y"), positive("tau"), positive("eps")
s, u, w = vector("s", m), vector("u", m), vector("w", n)


def matched(*pair: tuple[sp.Expr, sp.Expr], known: frozenset[str] = frozenset()) -> list[dict[str, str]]:
    one, other = zip(*pair, strict=True)
    return [{str(a): str(b) for a, b in naming.items()} for naming in namings(one, other, known)]


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_name_that_both_have_is_matched_with_itself() -> None:
    assert matched((x + s[j], x - s[j])) == [{}]
    assert matched((x + y, x - y)) == [{}]


def test_other_names_are_matched_by_shape() -> None:
    assert matched((s[j], u[k])) == [{"j": "k", "s": "u"}]
    assert matched((x, tau)) == [{"x": "tau"}]
    assert matched((s[j], w[i])) == [{}]  # vectors of other lengths
    assert matched((x, s[j])) == [{}]
    assert matched((s[j] + s[k], u[k] + u[l])) == [{"j": "l", "s": "u"}]
    assert {tuple(sorted(each.items())) for each in matched((s[j] * k, u[l] * index("h", m)))} == {
        (("j", "l"), ("k", "h"), ("s", "u")),
        (("j", "h"), ("k", "l"), ("s", "u")),
    }


def test_a_name_of_the_table_belongs_to_its_symbol() -> None:
    assert matched((x, tau), known=frozenset({"tau"})) == [{}]
    assert matched((x, tau), known=frozenset({"x"})) == [{"x": "tau"}]
    assert matched((s[j], s[k]), known=frozenset({"k"})) == [{"j": "k"}]  # an index may be renamed freely


def test_sizes_and_bound_names_stay() -> None:
    assert matched((m, n)) == [{}]
    hidden = Variable("x#", x.domain)
    assert matched((hidden, y)) == [{}]


def test_a_name_of_another_sort_is_no_twin() -> None:
    """One is an index and the other a number, or one is a vector."""
    number, place = scalar("j"), index("j", m)
    assert matched((number, place + 0 * number)) == [{}]
    assert matched((number, place)) == [{}]
    assert matched((vector("x", m)[j], x + s[j])) == [{"x": "s"}]


def test_only_so_many_matchings_are_tried() -> None:
    many = [sum(scalar(f"{letter}{number}") for number in range(5)) for letter in "ab"]
    assert len(matched((many[0], many[1]))) == NAMINGS


def test_names_of_vectors_are_replaced_with_their_shapes() -> None:
    assert alike(named(total(j, s[j] * tau), {s.label: u.label, tau: eps}), total(j, u[j] * eps))
    assert named(s[j] + x, {}) == s[j] + x


# ── points ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_points_are_in_general_position() -> None:
    points = sample_points((m, j, k, s.label, tau))
    assert len(points) == SAMPLES
    assert all(point[m] != 1 for point in points)
    assert sum(point[j] != point[k] for point in points) >= 3
    assert points[0][j] != points[0][k]
    assert len({str(point) for point in points}) == SAMPLES
    assert len({str(point[s.label]) for point in points}) < SAMPLES  # some differ in their indices only
    assert len({str(point[s.label]) for point in points}) >= 3
    assert points[0][m] == 4 == max(point[m] for point in points)  # the largest of all samples
    first, *_ = sample_points((m, j, k, l, s.label))
    assert len({first[j], first[k], first[l]}) == 3


def test_points_satisfy_the_hypotheses() -> None:
    given = (AtLeast(x, 0, strict=True), AtLeast(tau, x))
    points = sample_points((x, tau), given)
    assert points
    assert all(0 < point[x] <= point[tau] for point in points)  # type: ignore[operator]
    assert len(sample_points((x,), (AtLeast(y, 5),))) == SAMPLES  # which is about something else
    assert LATER > 2


def test_random_vectors_have_no_points() -> None:
    assert sample_points((x, scalar("e", Random))) == ()
    assert not Values([scalar("e", Random)]).same(sp.S.Zero, sp.S.Zero)


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_expressions_are_the_same_where_both_are_defined() -> None:
    values = Values([x, tau])
    assert values.same(sp.exp(x) * sp.exp(tau), sp.exp(x + tau))
    assert not values.same(x, sp.Abs(x))
    assert not values.same(sp.log(-tau), sp.log(-tau))  # nowhere defined
    assert not values.same(sp.log(x), x)
    assert values.same(sp.log(x), sp.log(x))
    assert not values.same(sp.log(x**2) / 2, sp.log(x))  # defined at x < 0, too


def test_where_two_expressions_are_apart() -> None:
    values = Values([x, tau])
    first = values.apart(x, sp.Abs(x))
    assert first is not None
    assert values.points[first][x] < 0  # type: ignore[operator]
    assert all(point[x] >= 0 for point in values.points[:first])  # type: ignore[operator]
    assert values.apart(x + tau, tau + x) is None
    assert values.apart(sp.log(-tau), tau) is None
    assert values.at(sp.log(-tau), 0) is None
    assert values.at(scalar("z"), 0) is None


@pytest.mark.parametrize(
    ("expr", "positive", "constant", "vanishes"),
    [
        (tau, True, False, False),
        (-tau, False, False, False),
        (x, False, False, False),
        (sp.exp(x), True, False, False),
        (sp.Integer(2), True, True, False),
        (sp.S.Zero, False, True, True),
        (x - x + tau * 0, False, True, True),
        ((x + 1) ** 2 - x**2 - 2 * x, True, True, False),
        ((x + 1) ** 2 - x**2 - 2 * x - 1, False, True, True),
        (sp.log(-tau), False, True, True),
    ],
)
def test_what_a_value_is_at_all_points(expr: sp.Expr, positive: bool, constant: bool, vanishes: bool) -> None:
    values = Values([x, tau])
    assert (values.positive(expr), values.constant(expr), values.vanishes(expr)) == (positive, constant, vanishes)


def test_interior_points_have_no_zeros() -> None:
    p = interior("p", m)
    assert Values([m, p.label, j]).positive(p[j])


def test_what_has_no_normal_form_is_the_same_as_written_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(one: sp.Expr, other: sp.Expr) -> bool:
        raise ValueError("no normal form")

    monkeypatch.setattr(expressions.sums, "equal", fails)
    assert in_normal_form(x + y, y + x)
    assert not in_normal_form(x, y)
