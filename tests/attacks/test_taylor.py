"""Inequalities by derivatives at a point where the function, the point or the derivatives are not what they seem."""

import pytest
import sympy as sp

from derivations.calculus.functions import derivative
from derivations.relations import AtLeast, Taylor
from tests.attacks import Table, refused
from tests.attacks.vocabulary import a, j, one, t, tau, two, w, x, y, z

nowhere = sp.sqrt(-(x**2) - 1)  # ≥ 0 wherever it is defined
third = sp.Rational(1, 3)

MOVED: Table = {
    "a slope (t − τ)² − 1 at τ, where its variable becomes τ too": lambda: AtLeast(
        derivative(third * (t - tau) ** 3 - t + tau, t), 0, taylor=Taylor(t, tau)
    ),
    "the same on the whole line": lambda: AtLeast(derivative(third * (x - w) ** 3 - x + w, x), 0, taylor=Taylor(x, w)),
    "the same at an entry": lambda: AtLeast(derivative(third * (x - a[j]) ** 3 - x + a[j], x), 0, taylor=Taylor(x, a[j])),
    "the same in a product": lambda: AtLeast(y * derivative(third * (x - w) ** 3 - x + w, x), 0, taylor=Taylor(x, w)),
    "a second slope": lambda: AtLeast(
        derivative(derivative((x - w) ** 4 / 12 - x**2 / 2 + x * w, x), x), 0, taylor=Taylor(x, w)
    ),
    "false near one number only": lambda: AtLeast(
        derivative(third * (t - tau) ** 3 + (t - tau) * (10**9 * (x - sp.Rational(7, 59)) ** 2 - sp.Rational(1, 10**9)), t),
        0,
        taylor=Taylor(t, tau),
    ),
}

NOWHERE: Table = {
    "a point that is nowhere": lambda: AtLeast(z**6 / 6 + (x**2 + 1) * z**4 / 4, sp.Rational(1, 12), taylor=Taylor(z, nowhere)),
    "a point that is nowhere, and false near one number only": lambda: AtLeast(
        z**6 / 6 + (w**2 + 1) * z**4 / 4 + 10**9 * (w - sp.Rational(7, 59)) ** 2,
        (w**2 + 1) ** 3 / 12,
        taylor=Taylor(z, sp.sqrt(-(w**2) - 1)),
    ),
    "a point under a root of either sign": lambda: AtLeast(z**2 * 0 + w, w + 1, taylor=Taylor(z, sp.sqrt(w), 1)),
    "a point that is no number of the calculus": lambda: AtLeast(
        z**2 + x, x, taylor=Taylor(z, sp.Symbol("o", nonnegative=True))
    ),
    "a floating point": lambda: AtLeast((z - sp.Rational(3, 10)) ** 2, 0, taylor=Taylor(z, sp.Float(0.1) * 3)),
}

ATTACKS = MOVED | NOWHERE


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


def test_control() -> None:
    assert AtLeast(derivative(third * (x - w) ** 3, x), 0, taylor=Taylor(x, w)).prove()
    assert AtLeast(derivative((x - w) ** 3 + x, x), one, taylor=Taylor(x, w, 2)).prove()
    assert AtLeast(t / tau - 1, sp.log(t / tau), taylor=Taylor(t, tau)).prove()
    assert AtLeast(two * sp.sqrt(y) * z, 0, taylor=Taylor(z, 0, 1)).prove()
