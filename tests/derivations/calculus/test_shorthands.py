"""Shorthands have the values of their definitions."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import kl, xlogx
from derivations.calculus.shorthands import maximum, minimum, norm, relative, sigmoid, softplus, tanh
from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.domains import Nonnegative

m = size("m")
j = index("j", m)
x, y, z, w = scalar("x"), positive("y"), scalar("z", Nonnegative), scalar("w")
a = vector("a", m)


@pytest.mark.parametrize(
    ("shorthand", "arguments", "value"),
    [
        (sigmoid, (x,), 1 / (1 + math.exp(3))),
        (sigmoid, (1,), 1 / (1 + math.exp(-1))),
        (softplus, (x,), math.log1p(math.exp(-3))),
        (softplus, (0,), math.log(2)),
        (tanh, (x,), math.tanh(-3)),
        (tanh, (1,), math.tanh(1)),
        (maximum, (x, y), 2.0),
        (maximum, (y, x), 2.0),
        (minimum, (x, y), -3.0),
        (minimum, (y, x), -3.0),
        (maximum, (1, 2), 2.0),
        (minimum, (1, 2), 1.0),
        (relative, (z, y), 0.0),
        (relative, (y, 4), 2 * math.log(0.5)),
        (norm, (j, a[j]), 5.0),
    ],
)
def test_values(shorthand: Callable[..., sp.Expr], arguments: tuple[Any, ...], value: float) -> None:
    expr = shorthand(*arguments)
    assert float(enclose(expr, {x: -3, y: 2, z: 0, m: 2, a.label: [3, -4]}).mid()) == pytest.approx(value, rel=1e-14, abs=1e-14)


def test_a_relative_entropy_is_written_without_a_quotient() -> None:
    assert relative(z, y) == xlogx(z) - z * sp.log(y)


def test_a_divergence_is_nonnegative_only_where_it_is_known_to_be() -> None:
    assert kl(z, y).is_nonnegative
    for one, other in ((x, y), (z, z), (x, w)):
        assert kl(one, other).is_nonnegative is None
