"""Arithmetic of values: exact where possible, otherwise a ball that contains the truth; or undefined."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
from flint import arb, fmpq

from derivations.calculus.arithmetic import FUNCTIONS, added, as_ball, exp, integer_power, power, undefined
from derivations.calculus.functions import kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus

q = fmpq
log, modulus, sign = FUNCTIONS[sp.log], FUNCTIONS[sp.Abs], FUNCTIONS[sp.sign]
x_log_x, positive_part, inverse = FUNCTIONS[xlogx], FUNCTIONS[plus], FUNCTIONS[reciprocal]
divergence, lemma, tsallis = FUNCTIONS[kl], FUNCTIONS[pinsker], FUNCTIONS[bregman]
around_0, around_1 = arb(0, 0.5), arb(1, 0.25)

EXACT: dict[str, tuple[Callable[[], Any], fmpq]] = {
    "no terms": (lambda: added([]), q(0)),
    "terms": (lambda: added([q(1, 2), q(1, 3)]), q(5, 6)),
    "a power": (lambda: power(q(2, 3), q(3)), q(8, 27)),
    "the power 0": (lambda: power(q(2, 3), q(0)), q(1)),
    "a power of 0": (lambda: power(q(0), q(2)), q(0)),
    "a root of 0": (lambda: power(q(0), q(1, 2)), q(0)),
    "a negative power": (lambda: power(q(2, 3), q(-2)), q(9, 4)),
    "a negative base": (lambda: power(q(-2), q(3)), q(-8)),
    "a root of a square": (lambda: power(q(4, 9), q(1, 2)), q(2, 3)),
    "a root's third power": (lambda: power(q(4, 9), q(3, 2)), q(8, 27)),
    "a root in a denominator": (lambda: power(q(4, 9), q(-1, 2)), q(3, 2)),
    "the largest exact power": (lambda: integer_power(q(1), 4096), q(1)),
    "e⁰": (lambda: exp(q(0)), q(1)),
    "log 1": (lambda: log(q(1)), q(0)),
    "0 log 0": (lambda: x_log_x(q(0)), q(0)),
    "1 log 1": (lambda: x_log_x(q(1)), q(0)),
    "a modulus": (lambda: modulus(q(-3, 2)), q(3, 2)),
    "a positive part": (lambda: positive_part(q(3, 2)), q(3, 2)),
    "no positive part": (lambda: positive_part(q(-3, 2)), q(0)),
    "a sign": (lambda: sign(q(3)), q(1)),
    "a sign of less than 1": (lambda: sign(q(1, 2)), q(1)),
    "a sign of more than −1": (lambda: sign(q(-1, 2)), q(-1)),
    "another sign": (lambda: sign(q(-3)), q(-1)),
    "a divergence of equals": (lambda: divergence(q(2), q(2)), q(0)),
    "a divergence of 0": (lambda: divergence(q(0), q(2)), q(2)),
    "a lemma's divergence of 0": (lambda: lemma(q(0), q(2)), q(1, 2)),
    "a divergence of squares": (lambda: tsallis(q(3), q(1), q(2)), q(2)),
    "a divergence of cubes": (lambda: tsallis(q(2), q(1), q(3)), q(2, 3)),
    "an inverse": (lambda: inverse(q(2, 3)), q(3, 2)),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact(name: str) -> None:
    compute, expected = EXACT[name]
    value = compute()
    assert isinstance(value, fmpq)
    assert value == expected


BALLS: dict[str, tuple[Callable[[], Any], float]] = {
    "a root": (lambda: power(q(2), q(1, 2)), math.sqrt(2)),
    "a root of a quotient": (lambda: power(q(4, 3), q(1, 2)), math.sqrt(4 / 3)),
    "a root of a quotient whose denominator is a square": (lambda: power(q(3, 4), q(1, 2)), math.sqrt(3 / 4)),
    "a third root": (lambda: power(q(8, 27), q(1, 3)), 2 / 3),
    "a power of a ball": (lambda: power(arb(2), q(3)), 8.0),
    "a real power": (lambda: power(q(2), arb(3)), 8.0),
    "a large power": (lambda: integer_power(q(1), 4097), 1.0),
    "e": (lambda: exp(q(1)), math.e),
    "e of a ball": (lambda: exp(arb(0)), 1.0),
    "a log of less than 1": (lambda: log(q(1, 2)), -math.log(2)),
    "a log": (lambda: log(q(2)), math.log(2)),
    "a log of a ball": (lambda: log(arb(2)), math.log(2)),
    "2 log 2": (lambda: x_log_x(q(2)), 2 * math.log(2)),
    "a divergence": (lambda: divergence(q(3), q(2)), 3 * math.log(1.5) - 1),
    "a divergence of a ball": (lambda: divergence(arb(3), q(2)), 3 * math.log(1.5) - 1),
    "a divergence against a ball": (lambda: divergence(q(3), arb(2)), 3 * math.log(1.5) - 1),
    "a lemma's divergence": (lambda: lemma(q(3), q(1)), 3 * math.log(3) - 2 - 3 * 4 / (2 * 5)),
    "a divergence of roots": (lambda: tsallis(q(2), q(3), q(3, 2)), (2**1.5 - 3**1.5 - 1.5 * 3**0.5 * (2 - 3)) / (1.5 * 0.5)),
}


@pytest.mark.parametrize("name", BALLS)
def test_a_ball_contains_the_truth(name: str) -> None:
    compute, truth = BALLS[name]
    value = compute()
    assert isinstance(value, arb)
    assert value.is_finite()
    assert abs(float(value) - truth) < 1e-12
    assert float(value.rad()) < 1e-9


NOWHERE: dict[str, Callable[[], Any]] = {
    "undefined": undefined,
    "0 to the power 0 of a ball": lambda: power(q(0), arb(0)),
    "0 to a negative power": lambda: power(q(0), q(-1)),
    "0 to a negative root": lambda: power(q(0), q(-1, 2)),
    "a root of a negative": lambda: power(q(-4), q(1, 2)),
    "a negative to a real power": lambda: power(q(-1), arb(1)),
    "what has no value to the power 0": lambda: integer_power(undefined(), 0),
    "an inverse of 0": lambda: inverse(q(0)),
    "an inverse of a ball around 0": lambda: inverse(around_0),
    "log 0": lambda: log(q(0)),
    "a log of a negative": lambda: log(q(-1)),
    "a log of a ball around 0": lambda: log(around_0),
    "a negative's x log x": lambda: x_log_x(q(-1)),
    "a sign of 0": lambda: sign(q(0)),
    "a sign of a ball around 0": lambda: sign(around_0),
    "a divergence against 0": lambda: divergence(q(1), q(0)),
    "a divergence of a negative": lambda: divergence(q(-1), q(1)),
    "0 against 0": lambda: divergence(q(0), q(0)),
    "0 against a negative": lambda: divergence(q(0), q(-1)),
    "a lemma against 0": lambda: lemma(q(1), q(0)),
    "a lemma of 0 against 0": lambda: lemma(q(0), q(0)),
    "a lemma of a negative": lambda: lemma(q(-1), q(1)),
    "a divergence of exponent 1": lambda: tsallis(q(1), q(1), q(1)),
    "a divergence of a ball around exponent 1": lambda: tsallis(q(1), q(1), around_1),
    "a divergence of a negative, by squares": lambda: tsallis(q(-1), q(1), q(2)),
    "a divergence against a negative, by squares": lambda: tsallis(q(1), q(-1), q(2)),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_undefined_values(name: str) -> None:
    value = NOWHERE[name]()
    assert isinstance(value, arb)
    assert not value.is_finite()


def test_a_ball_around_0_has_powers() -> None:
    square = integer_power(around_0, 2)
    assert square.is_finite()
    assert square.contains(q(1, 4))
    assert integer_power(around_0, 0) == 1
    assert not power(around_0, q(1, 2)).is_finite()
    assert power(around_1, q(1, 2)).overlaps(arb(1))


def test_values_at_0_are_defined_where_functions_are() -> None:
    assert tsallis(q(0), q(0), q(2)) == 0
    assert tsallis(q(0), q(2), q(2)) == 2
    assert modulus(around_0).overlaps(arb(0))
    assert as_ball(q(1, 2)) == arb("0.5")
    assert as_ball(arb(2)) == 2
