"""Equality of relations: sample points separate different ones, and normal forms decide the rest."""

import pytest
import sympy as sp

from derivations.calculus import sums
from derivations.calculus.functions import kl
from derivations.calculus.sums import total
from derivations.calculus.variables import index, interior, positive, scalar, size, vector
from derivations.domains import Nonnegative
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    StrictUnlessEqual,
    UniqueMaximum,
    UniqueMinimum,
    UniquePlan,
    agree,
    same,
)

m = size("m")
j, k = index("j", m), index("k", m)
s = vector("s", m)
tau = positive("tau")
z = total(k, sp.exp(s[k] / tau))


def test_points_separate_statements_before_normal_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "equal", lambda *_: pytest.fail("a normal form was asked for"))
    assert not same(Equation(z, tau * s[j]), Equation(z, 2 * tau * s[j]))
    assert not same(AtLeast(z, tau), AtLeast(z, 0))
    assert not same(AtLeast(s[j] ** 2, 0), AtLeast(s[j] ** 2, s[j] ** 4 / 10**6))


def test_expressions_equal_at_all_points_are_compared_by_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Equation(z**2, (tau + 1) ** 2), Equation(z * total(k, sp.exp(s[k] / tau)), tau**2 + 2 * tau + 1)
    assert same(one, other)
    monkeypatch.setattr(sums, "equal", lambda *_: False)
    assert not same(one, other)


def test_a_difference_that_no_point_shows_is_not_sameness() -> None:
    """The sides differ only far from the sample points, so that their normal forms decide."""
    far = s[j] * sums.plus(s[j] - 10**12)
    assert not same(Equation(s[j] + far, 0), Equation(s[j], 0))


x, w, v, t = scalar("x"), scalar("w"), scalar("v"), positive("t")
y, b = scalar("y", Nonnegative), positive("b")
u, r, n = interior("u", m), interior("r", m), size("n")
one, two = sp.S.One, sp.Integer(2)
premise, other = AtLeast(x, w), AtLeast(w, v)


def minimum(prior: sp.IndexedBase = u, factor: sp.Expr = tau, over: sp.Expr = m) -> UniqueMinimum:
    return UniqueMinimum(lambda p: factor * total(k, kl(p(k), prior[k])), lambda key: prior[key], over, factor)


def implied(*premises: AtLeast, conclusion: AtLeast | None = None) -> Follows:
    return Follows(premises, conclusion or AtLeast(x, v), (one,) * len(premises))


SAME: dict[str, tuple[Relation, Relation]] = {
    "other names of bound indices": (Equation(total(j, s[j]), x), Equation(total(k, s[k]), x)),
    "sides exchanged": (Equation(x, w), Equation(w, x)),
    "sides exchanged, and moved": (Equation(x + 1, w), Equation(w - 1, x)),
    "sides moved": (Equation(x, w), Equation(x - w, 0)),
    "sides of a difference exchanged": (Differs(x, w), Differs(w, x)),
    "an inequality moved": (AtLeast(x, w), AtLeast(x - w, 0)),
    "a strict inequality moved": (AtLeast(x, w, strict=True), AtLeast(0, w - x, strict=True)),
    "another reason": (AtLeast(x**2, 0, reason="one"), AtLeast(x**2, 0, because=x**2)),
    "one hypothesis, written otherwise": (AtLeast(x, 0, given=(premise,)), AtLeast(x, 0, given=(AtLeast(x - w, 0),))),
    "hypotheses in another order": (AtLeast(x, 0, given=(premise, other)), AtLeast(x, 0, given=(other, premise))),
    "disproofs": (Fails(Equation(x, w)), Fails(Equation(w, x))),
    "implications": (implied(premise, other), implied(other, premise)),
    "minimizers": (minimum(), minimum()),
    "plans": tuple(UniquePlan(lambda p: total((j, k), s[j] * p(j, k)), lambda a, c: u[c], m, m, one) for _ in "12"),  # type: ignore[dict-item]
    "limits": (Limit(x / t, t, sp.oo, 0), Limit(x / t, t, sp.oo, 0 * x)),
    "limits of one expression": (Limit((x + 1) ** 2 / t, t, sp.oo, 0), Limit((x**2 + 2 * x + 1) / t, t, sp.oo, 0)),
    "expansions": (Expansion(sp.exp(t), 1 + t, t, 1), Expansion(sp.exp(t), t + 1, t, 1)),
    "strict unless equal": (StrictUnlessEqual(x, w, y, b, t, (one, one)), StrictUnlessEqual(x, w, y, b, tau, (two, one))),
}
DIFFERENT: dict[str, tuple[Relation, Relation]] = {
    "another value": (Equation(x, w), Equation(x, w + 1)),
    "another sign": (Equation(x, w), Equation(x, -w)),
    "another side": (Equation(x, w), Equation(x, v)),
    "an equality and an inequality": (Equation(x, w), AtLeast(x, w)),
    "an equality and its denial": (Equation(x, w), Differs(x, w)),
    "another difference": (Differs(x, w), Differs(x, v)),
    "the other direction": (AtLeast(x, w), AtLeast(w, x)),
    "a weaker inequality": (AtLeast(x, w), AtLeast(x, w - 1)),
    "strict or not": (AtLeast(x, w, strict=True), AtLeast(x, w)),
    "twice the difference": (AtLeast(x, w), AtLeast(2 * x, 2 * w)),
    "a hypothesis more": (AtLeast(x, 0, given=(premise,)), AtLeast(x, 0)),
    "a hypothesis less": (AtLeast(x, 0, given=(premise,)), AtLeast(x, 0, given=(premise, other))),
    "another hypothesis": (AtLeast(x, 0, given=(premise,)), AtLeast(x, 0, given=(other,))),
    "a disproof and its statement": (Fails(Equation(x, w)), Equation(x, w)),
    "disproofs of others": (Fails(Equation(x, w)), Fails(Equation(x, v))),
    "another conclusion": (implied(premise, other), implied(premise, other, conclusion=AtLeast(x, w))),
    "another premise": (implied(premise, other), implied(premise, AtLeast(w, v + 1))),
    "a premise more": (implied(premise), implied(premise, other)),
    "another prior": (minimum(), minimum(r)),
    "another objective": (minimum(), minimum(factor=2 * tau)),
    "another candidate": (minimum(), UniqueMinimum(lambda p: tau * total(k, kl(p(k), u[k])), lambda key: r[key], m, tau)),
    "a maximum": (minimum(), UniqueMaximum(lambda p: tau * total(k, kl(p(k), u[k])), lambda key: u[key], m, tau)),
    "another limit": (Limit(x / t, t, sp.oo, 0), Limit(x / t, t, sp.oo, 1)),
    "another path": (Limit(x / t, t, sp.oo, 0), Limit(w / t, t, sp.oo, 0)),
    "another end": (Limit(x / t, t, sp.oo, 0), Limit(x / t, t, 0, 0)),
    "another variable": (Limit(t / b, t, sp.oo, 0), Limit(t / b, b, sp.oo, 0)),
    "another order": (Expansion(sp.exp(t), 1 + t, t, 1), Expansion(sp.exp(t), 1 + t, t, 0)),
    "another quantity": (Expansion(sp.exp(t), 1 + t, t, 1), Expansion(1 / (1 - t), 1 + t, t, 1)),
    "another expansion": (Expansion(sp.exp(t), 1 + t, t, 1), Expansion(sp.exp(t), 1 + 2 * t, t, 1)),
    "what vanishes": (Expansion(sp.exp(t + b), 1 + t, t, 1), Expansion(sp.exp(t + b), 1 + t, b, 1)),
    "another point that may be equal": (
        StrictUnlessEqual(x, w, y, b, t, (one, one)),
        StrictUnlessEqual(x, w, y, tau, t, (one, one)),
    ),
    "another of two points": (StrictUnlessEqual(x, w, y, b, t, (one, one)), StrictUnlessEqual(x, w, tau, b, t, (one, one))),
    "another side of a strict one": (
        StrictUnlessEqual(x, w, y, b, t, (one, one)),
        StrictUnlessEqual(x, v, y, b, t, (one, one)),
    ),
}


@pytest.mark.parametrize("name", [*SAME, *DIFFERENT])
def test_same(name: str) -> None:
    first, second = (SAME | DIFFERENT)[name]
    assert same(first, second) is same(second, first) is (name in SAME)


def test_expressions_agree_or_not() -> None:
    assert agree(total(j, s[j]), total(k, s[k]))
    assert agree((x + 1) ** 2, x**2 + 2 * x + 1)
    assert not agree(x, x + 1)
    assert not agree(sp.sqrt(x**2), x)


def test_undefined_expressions_are_compared_by_normal_form() -> None:
    assert agree(sp.gamma(x) + sp.gamma(x), 2 * sp.gamma(x))
    assert not agree(sp.gamma(x), sp.gamma(x) + 1)
