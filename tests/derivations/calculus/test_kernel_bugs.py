"""Bugs of the kernel that the fuzzer (tests/fuzz) found, and the right answers: one test for each."""

from fractions import Fraction

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import derivative, kl, pinsker
from derivations.calculus.powers import plus
from derivations.calculus.sums import normal, total
from derivations.calculus.variables import index, interior, positive, scalar, size, vector
from derivations.domains import Positive
from derivations.relations import AtLeast, Equation, Expansion, Limit, Solves, StrictUnlessEqual, UniqueMinimum

m = size("m")
i, j, l = (index(name, m) for name in "ijl")  # noqa: E741
x, v, y, t = scalar("x"), scalar("v"), positive("y"), positive("t")
b, u = vector("b", m, kind=Positive), interior("u", m)


def test_1_both_sides_of_a_strict_inequality_are_defined_at_its_points() -> None:
    relation = StrictUnlessEqual(y * kl(b[j], u[l]) + x, x, b[i], u[j], u[l], (y, y))
    assert i in relation.variables()
    assert relation.refute() is not None


def test_2_undefined_expressions_have_no_power() -> None:
    assert not enclose(sp.Pow(sp.Pow(x, x), v), {x: Fraction(-1, 3), v: 0}).is_finite()


def test_3_a_derivative_is_defined_only_where_its_function_is() -> None:
    assert not enclose(derivative(1 / x, y) * y, {x: 0, y: 1}).is_finite()
    assert enclose(derivative(y / x, y), {x: 2, y: 1}).is_finite()


def test_4_a_partly_undefined_limit_is_ill_posed_and_not_refuted() -> None:
    relation = Limit(x * t / (x**2 * t + 1), t, sp.oo, 1 / x)
    assert not relation.prove()
    assert "x ≠ 0" in relation.explain()
    assert relation.refute() is None


def test_5_the_exponential_of_a_sum_never_becomes_a_product() -> None:
    at, center = vector("a", m), total(i, u[i] * b[i])
    shifted = sp.exp(center * x) * total(j, u[j] * sp.exp((b[j] - center) * x))
    assert Equation(shifted, total(j, u[j] * sp.exp(b[j] * x))).prove()
    fixed = sp.exp(total(j, b[j] * x))
    path = Solves(at, lambda e: lambda k: b[k] * fixed)
    assert Expansion(at[i], t * b[i] * fixed, t, 1, where=(path,)).prove()


def test_6_a_candidate_with_an_entry_of_many_digits_is_rounded_at_once() -> None:
    weights = lambda e: u[e] * sp.exp(10**9 * b[e]) / total(i, u[i] * sp.exp(10**9 * b[i]))  # noqa: E731
    problem = UniqueMinimum(lambda q: total(i, kl(q(i), weights(i))), weights, m, sp.S.One)
    assert problem.refute() is None


def test_the_value_of_a_limit_may_contain_variables() -> None:
    assert y in Limit(x + t, t, y, 1).variables()
    assert Limit(x + t, t, y, 1).refute() is not None
    assert Limit(x + t, t, y, x + y).prove()


def test_a_divergence_has_no_value_where_its_denominator_vanishes() -> None:
    assert not AtLeast(pinsker(sp.S.Zero, x), 0).prove()
    assert not enclose(pinsker(sp.S.Zero, x), {x: 0}).is_finite()


def test_a_kink_has_no_normal_form() -> None:
    with pytest.raises(ValueError, match="derivatives are known"):
        normal(derivative(plus(x), x))


def test_a_derivative_is_undefined_where_its_variable_is() -> None:
    one, two = Fraction(1), Fraction(2)
    slope = derivative(sp.S.Zero, b[i - 1])
    assert not enclose(slope, {m: 2, i: 1, b.label: [one, two]}).is_finite()
    assert enclose(slope, {m: 2, i: 2, b.label: [one, two]}) == 0
