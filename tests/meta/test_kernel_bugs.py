"""What the fuzzer (tests/fuzz) has met in the kernel, and what is right: one test for each, by the numbers of the list."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import derivative, kl
from derivations.calculus.variables import Kind, index, interior, positive, scalar, size, vector
from derivations.relations import Limit, StrictUnlessEqual

m = size("m")
i, j, l = (index(name, m) for name in "ijl")                 # noqa: E741
x, v, y, t = scalar("x"), scalar("v"), positive("y"), positive("t")
b, u = vector("b", m, kind=Kind.POSITIVE), interior("u", m)


def test_1_points_of_a_strict_inequality_have_values_for_what_is_compared() -> None:
    relation = StrictUnlessEqual(y * kl(b[j], u[l]) + x, x, b[i], u[j], u[l], (y, y))
    assert i in relation.variables()
    assert relation.refute() is not None


def test_2_what_is_undefined_has_no_power() -> None:
    assert not enclose(sp.Pow(sp.Pow(x, x), v), {x: Fraction(-1, 3), v: 0}).is_finite()


def test_3_a_derivative_is_defined_only_where_its_function_is() -> None:
    assert not enclose(derivative(1 / x, y) * y, {x: 0, y: 1}).is_finite()
    assert enclose(derivative(y / x, y), {x: 2, y: 1}).is_finite()


def test_4_a_limit_that_is_undefined_somewhere_is_ill_posed_and_not_refuted_there() -> None:
    relation = Limit(x * t / (x**2 * t + 1), t, sp.oo, 1 / x)
    assert not relation.prove()
    assert "x ≠ 0" in relation.explain()
    assert relation.refute() is None
