"""Numbers with slopes: Rocq's conventions where mathematics has no value, and slopes inside of slopes."""

from collections.abc import Callable
from typing import Any

import pytest
from flint import arb

from derivations.rocq.duals import FUNCTIONS, Dual, add, exp, inverse, kl, ln, multiply, power, sqrt, xlogx


def slope(function: Callable[[Any], Any], at: int, level: int = 1) -> Any:
    return function(Dual(level, arb(at), arb(1))).slope


def close(value: arb, expected: arb | float) -> bool:
    return bool(abs(value - expected) < 1e-12)


@pytest.mark.parametrize(
    ("function", "at", "value"),
    [
        (inverse, 0, 0),
        (inverse, 4, 0.25),
        (ln, 0, 0),
        (ln, -1, 0),
        (ln, 1, 0),
        (sqrt, -4, 0),
        (sqrt, 4, 2),
        (xlogx, 0, 0),
        (exp, 0, 1),
        (FUNCTIONS["plus"], -3, 0),
        (FUNCTIONS["plus"], 3, 3),
    ],
)
def test_values(function: Callable[[Any], Any], at: int, value: float) -> None:
    assert close(function(arb(at)), value)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (inverse, arb(-1) / 4),
        (ln, arb(1) / 2),
        (sqrt, 1 / (2 * arb(2).sqrt())),
        (exp, arb(2).exp()),
        (xlogx, arb(2).log() + 1),
        (lambda x: power(x, 3), 12),
        (lambda x: multiply(x, x), 4),
        (lambda x: add(x, x), 2),
        (lambda x: multiply(arb(5), x), 5),
        (lambda x: add(x, arb(5)), 1),
        (lambda x: kl(x, arb(4)), -arb(2).log()),
        (lambda x: kl(arb(4), x), -1),
    ],
)
def test_slopes_at_two(function: Callable[[Any], Any], expected: arb | float) -> None:
    assert close(slope(function, 2), expected)


@pytest.mark.parametrize(
    ("function", "expected"), [(lambda x: power(x, 3), 12), (inverse, 0.25), (ln, -0.25), (exp, arb(2).exp())]
)
def test_a_slope_of_a_slope(function: Callable[[Any], Any], expected: arb | float) -> None:
    assert close(slope(lambda x: slope_of(function, x), 2), expected)


def slope_of(function: Callable[[Any], Any], at: Any) -> Any:
    result = function(Dual(2, at, arb(1)))
    return result.slope


def test_kinds_of_infinitesimals_are_kept_apart() -> None:
    """In x(x + y) the slope along y has a slope along x, and none along y."""
    both = multiply(Dual(1, arb(3), arb(1)), add(Dual(1, arb(3), arb(1)), Dual(2, arb(5), arb(1))))
    assert both.level == 2
    assert (both.slope.level, both.slope.value, both.slope.slope) == (1, 3, 1)
    assert (both.value.value, both.value.slope) == (24, 11)
