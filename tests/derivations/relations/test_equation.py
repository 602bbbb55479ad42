"""Equalities, inequations and disproofs: their proofs, and the points at which they fail."""

from fractions import Fraction

import pytest
import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.domains import Nonzero, Real
from derivations.relations import AtLeast, Differs, Equation, Fails

x, w, y = scalar("x"), scalar("w"), positive("y")


def test_an_equality() -> None:
    assert Equation((x + 1) ** 2, x**2 + 2 * x + 1).remainder() == ""
    assert Equation(x, w).remainder() == "left − right = -w + x in normal form, expected 0"
    assert Equation(x, w).contradicted_at({x: 1, w: 1}) is None
    witness = Equation(x, w).contradicted_at({x: 1, w: 2})
    assert witness is not None
    assert (witness.left, witness.sign, witness.right) == ("1.00000000000", "≠", "2.00000000000")
    assert str(Equation(x, w)) == "x = w"


def test_a_length_divides_only_where_it_is_not_0() -> None:
    m = size("m")
    l = index("l", m)  # noqa: E741
    for kind, undecided in ((Nonzero, ""), (Real, "it is not shown that Σ_l(u[l]**2) ≠ 0")):
        u = vector("u", m, kind=kind)
        one = Equation(total(l, u[l] ** 2 / total(l, u[l] ** 2)), 1)
        assert one.ill_posed() == undecided


def test_a_difference() -> None:
    assert Differs(y + x**2, 0).remainder() == ""
    assert Differs(x, w, given=(AtLeast(x, w, strict=True),)).remainder() == ""
    assert Differs(x, w).remainder() == "it is not shown that -w + x ≠ 0"
    assert Differs(x, w).fact == (x - w, None, ())
    assert str(Differs(x, w)) == "x ≠ w"


@pytest.mark.parametrize(
    ("relation", "point", "fails", "holds"),
    [
        (Differs(x, w), {x: 1, w: 1}, True, False),
        (Differs(x, w), {x: 1, w: 2}, False, True),
        (Differs(sp.exp(x), sp.exp(w)), {x: 1, w: 1}, False, False),  # two balls that overlap decide nothing
        (Differs(sp.exp(x), 1), {x: 0}, True, False),
        (Differs(x, sp.Rational(1, 3)), {x: Fraction(1, 3)}, True, False),
        (Differs(1 / x, 1 / w), {x: 0, w: 0}, False, False),
        (Differs(1 / x, w), {x: 0, w: 1}, False, False),
        (Differs(w, 1 / x), {x: 0, w: 1}, False, False),
        (Differs(1 / x, 1 / x), {x: 0}, False, False),
    ],
    ids=str,
)
def test_a_difference_at_a_point(relation: Differs, point: dict[sp.Expr, int], fails: bool, holds: bool) -> None:
    witness = relation.contradicted_at(point)
    assert (witness.sign if witness else None) == ("=" if fails else None)
    assert relation.holds_at(point) is holds


def test_a_disproof() -> None:
    wrong = Fails(AtLeast(x, w))
    assert wrong.explain() == wrong.remainder() == ""
    assert Fails(AtLeast(x**2, 0)).explain() == "no sample point contradicts x**2 ≥ 0"
    assert Fails(Fails(AtLeast(x, w))).explain() == "expected a statement to disprove, got a disproof"
    assert wrong.counterexample() is None
    assert wrong.contradicted_at({x: 0, w: 1}) is None
    assert wrong.sides == (x, w)
    assert wrong.variables() == AtLeast(x, w).variables()
    assert wrong.scope() == AtLeast(x, w).scope()
    assert str(wrong) == "not always: x ≥ w"


def test_a_disproof_at_its_point() -> None:
    assert Fails(AtLeast(x, w), at={x: 0, w: 1}).explain() == ""
    assert Fails(AtLeast(x, w), at={x: 1, w: 0}).explain() != ""
    both = Fails(AtLeast(x, w, at={w: 1}), at={x: 0})
    assert dict(both.relation.at) == {w: 1, x: 0}
    assert next(both.points()) == {x: 0, w: 1}
    assert dict(Fails(AtLeast(x, w, at={x: 0})).relation.at) == {x: 0}
    a = vector("a", sp.Integer(2))
    assert dict(Fails(AtLeast(a[1], a[2]), at={a: [0, 1]}).relation.at) == {a.label: [0, 1]}
    assert dict(Fails(AtLeast(a[1], a[2]), at={a: [0, 1]}).at) == {a.label: [0, 1]}


@pytest.mark.parametrize("more", [{"about": (y,)}, {"given": (AtLeast(x, 0),)}], ids=str)
def test_a_disproof_has_no_separate_hypotheses(more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^about, given: expected at the relation that is disproved"):
        Fails(AtLeast(x, w), **more)  # type: ignore[arg-type]
